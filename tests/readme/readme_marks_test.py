#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that every command block in a README has a mark that states that the block is run or why
it is not run, and that the check detects seeded faults."""

import pathlib
import sys
import tempfile

import readme_blocks

SEEDED = {
    "```sh\nmake\n```\n": True,
    "<!-- run -->\n```sh\nmake\n```\n": False,
    "<!-- run, prints missing.out -->\n```sh\nmake\n```\n": True,
    "<!-- run by tests/a_test.py, prints README.md, needs go -->\n\n```sh\nmake\n```\n": False,
    "<!-- runs -->\n```console\nmake\n```\n": True,
    "<!-- not run: -->\n```bash\nmake\n```\n": True,
    "<!-- not run: it requests a password -->\n```bash\nmake\n```\n": False,
    "```cmake\nproject(x)\n```\n": False,
}


def main():
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        for text, faulty in SEEDED.items():
            (root / "README.md").write_text(text)
            if bool(list(readme_blocks.unmarked(root))) != faulty:
                sys.exit(f"expected {'a fault' if faulty else 'no fault'} in:\n{text}")
    faults = list(readme_blocks.unmarked())
    if faults:
        sys.exit("\n".join(faults))
    print("every block of commands is marked")


if __name__ == "__main__":
    main()
