#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that some handwritten test in C or C++ names every public function, that some test expects
every status code, and that every status code is explained.

The check reads the tests and does not run them. A test names a function or code if its source
contains the name outside comments and strings. It expects a code if it names the code, except in
negations (EXPECT_NE, !=), and where the test itself sets or handles the code (return, =, case)."""

import re

import check_symbols
import source_tree as tree

CODE = re.compile(r"^\s*(GUF_E_[A-Z_]+) = \d+")
MENTION = re.compile(r"\bGUF_E_[A-Z_]+\b")
FUNCTION = re.compile(r"\bguf_\w+\b")
COMMENT = re.compile(r'("(?:[^"\\\n]|\\.)*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
# The text before a code that the test mentions but does not expect: an open EXPECT_NE, or a
# statement in which the test itself sets or handles the code.
DENIED = re.compile(r"_NE\([^;]*$|(?:!=|\breturn|\bcase|[^=!<>]=)\s*$")
EXPECTING = ("tests/unit/", "tests/abi/", "tests/plugins/", "tests/gufcc/")


def code_of(path):
    """Returns the text of a file without comments and with empty strings."""
    return COMMENT.sub(lambda match: '""' if match[1] else " ", path.read_text())


def expected_in(text):
    """Yields the codes that the code of a test expects."""
    for match in MENTION.finditer(text):
        if not DENIED.search(text[:match.start()][-400:]):
            yield match[0]


def main():
    root = tree.parser(__doc__).parse_args().root
    header = (root / "abi/include/gufunc/status.h").read_text()
    codes = [match[1] for match in map(CODE.match, header.splitlines()) if match]
    functions = check_symbols.declarations(root / "abi/include")
    expected, named = set(), set()
    for path in tree.files(root, tree.CODE):
        if path.parts[0] == "tests":
            text = code_of(root / path)
            named.update(FUNCTION.findall(text))
            if path.as_posix().startswith(EXPECTING):
                expected.update(expected_in(text))
    texts = (root / "abi/src/status.cc").read_text()
    findings = [f"{code}: no test expects it" for code in codes if code not in expected]
    findings += [f"{code}: guf_status_text lacks it" for code in codes if code not in texts]
    findings += [f"{name}: no C or C++ test in tests/ names it"
                 for name in sorted(functions - named)]
    tree.finish("abi tests", findings, len(codes) + len(functions))


if __name__ == "__main__":
    main()
