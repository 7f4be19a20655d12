#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that every status code is explained, and that some test expects it by name."""

import re

import house_tree as tree

CODE = re.compile(r"^\s*(GUF_E_[A-Z_]+) = \d+")
# A line of a test that names a code expects it: tables and EXPECT lines alike.
TESTS = ("tests/unit/", "tests/abi/", "tests/plugins/", "tests/module/", "tests/conformance/")


def main():
    root = tree.parser(__doc__).parse_args().root
    header = (root / "abi/include/gufunc/status.h").read_text()
    codes = [match[1] for match in map(CODE.match, header.splitlines()) if match]
    expected = set()
    for path in tree.files(root, tree.CODE | {".py"}):
        if path.as_posix().startswith(TESTS):
            expected |= set(re.findall(r"\bGUF_E_[A-Z_]+\b", (root / path).read_text()))
    texts = (root / "abi/src/status.cc").read_text()
    findings = [f"{code}: no test expects it" for code in codes if code not in expected]
    findings += [f"{code}: guf_status_text does not know it" for code in codes if code not in texts]
    tree.finish("error codes", findings, len(codes))


if __name__ == "__main__":
    main()
