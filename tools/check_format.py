#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that clang-format would make no changes; --fix makes the changes."""

import subprocess

import source_tree as tree


def main():
    parser = tree.parser(__doc__)
    parser.add_argument("--clang-format", default="clang-format-19")
    parser.add_argument("--fix", action="store_true")
    args = parser.parse_args()

    paths = [str(path) for path in tree.files(args.root, tree.CODE - {".def"})]
    mode = ["-i"] if args.fix else ["--dry-run", "--Werror"]
    findings = []
    for start in range(0, len(paths), 50):
        batch = paths[start:start + 50]
        result = subprocess.run([args.clang_format, "--style=file", *mode, *batch], cwd=args.root,
                                capture_output=True, text=True)
        if result.returncode != 0:
            findings.append(result.stderr)
    tree.finish("format", findings, len(paths))


if __name__ == "__main__":
    main()
