#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that every status code is explained, and that some test expects it by name.

The check reads the tests and does not run them. A test expects a code if its source names the code,
except in comments, in negations (EXPECT_NE, !=), and where the test itself sets or handles the code
(return, =, case)."""

import re

import source_tree as tree

CODE = re.compile(r"^\s*(GUF_E_[A-Z_]+) = \d+")
MENTION = re.compile(r"\bGUF_E_[A-Z_]+\b")
COMMENT = re.compile(r'("(?:[^"\\\n]|\\.)*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
# The text before a code that the test mentions but does not expect: an open EXPECT_NE, or a
# statement in which the test itself sets or handles the code.
DENIED = re.compile(r"_NE\([^;]*$|(?:!=|\breturn|\bcase|[^=!<>]=)\s*$")
TESTS = ("tests/unit/", "tests/abi/", "tests/plugins/", "tests/gufcc/")


def expected_in(text):
    """Yields the codes that the text of a test expects."""
    text = COMMENT.sub(lambda match: '""' if match[1] else " ", text)
    for match in MENTION.finditer(text):
        if not DENIED.search(text[:match.start()][-400:]):
            yield match[0]


def main():
    root = tree.parser(__doc__).parse_args().root
    header = (root / "abi/include/gufunc/status.h").read_text()
    codes = [match[1] for match in map(CODE.match, header.splitlines()) if match]
    expected = set()
    for path in tree.files(root, tree.CODE):
        if path.as_posix().startswith(TESTS):
            expected.update(expected_in((root / path).read_text()))
    texts = (root / "abi/src/status.cc").read_text()
    findings = [f"{code}: no test expects it" for code in codes if code not in expected]
    findings += [f"{code}: guf_status_text lacks it" for code in codes if code not in texts]
    tree.finish("error codes", findings, len(codes))


if __name__ == "__main__":
    main()
