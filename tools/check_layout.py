#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares public structs and enum values with abi/layout.txt; --write writes the file.

A struct that starts with struct_size may grow at its end; nothing else may ever move.
"""

import difflib
import pathlib
import re
import subprocess
import tempfile

import source_tree as tree

COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
STRUCT = re.compile(r"typedef struct (guf_\w+) \{(.*?)\} \1;", re.DOTALL)
ENUM = re.compile(r"enum (?:guf_\w+ )?\{(.*?)\}", re.DOTALL)
FUNCTION_POINTER = re.compile(r"\((?:\*\s*(?:const\s*)?)+(\w+)\)\s*\(")
LAST_NAME = re.compile(r"(\w+)\s*(?:\[[^\]]*\]\s*)*$")


def field_names(body):
    """Yields the field names that the body of a struct declares."""
    for declaration in body.split(";"):
        pointer = FUNCTION_POINTER.search(declaration)
        if pointer:
            yield pointer[1]
        elif declaration.strip():
            for part in declaration.split(","):
                yield LAST_NAME.search(part.strip())[1]


def lines_of_program(text):
    """Yields C statements that print the layout of every declaration in the text."""
    for name, body in STRUCT.findall(text):
        yield f'printf("{name} size %zu\\n", sizeof({name}));'
        for field in field_names(body):
            place = f"offsetof({name}, {field}), sizeof((({name} *)0)->{field})"
            yield f'printf("{name}.{field} offset %zu size %zu\\n", {place});'
    for body in ENUM.findall(text):
        for constant in re.findall(r"\b(GUF_\w+)\s*(?:=|,|$)", body):
            yield f'printf("{constant} = %lld\\n", (long long){constant});'


def layout(include, compiler):
    headers = [str(h) for h in tree.files(include, {".h"})]
    statements = []
    for header in headers:
        statements += lines_of_program(COMMENT.sub("", (include / header).read_text()))
    program = ["#include <stddef.h>", "#include <stdio.h>", *[f"#include <{h}>" for h in headers],
               "int main(void) {", *statements, "}"]
    with tempfile.TemporaryDirectory() as folder:
        source, binary = pathlib.Path(folder, "layout.c"), pathlib.Path(folder, "layout")
        source.write_text("\n".join(program))
        subprocess.run([compiler, "-std=c11", "-I", include, source, "-o", binary], check=True)
        return subprocess.check_output([binary], text=True).splitlines()


def main():
    parser = tree.parser(__doc__)
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    listing = args.root / "abi/layout.txt"

    found = layout(args.root / "abi/include", args.cc)
    if args.write:
        listing.write_text("\n".join(found) + "\n")
    expected = listing.read_text().splitlines()
    findings = [line for line in difflib.unified_diff(expected, found, "abi/layout.txt", "headers",
                                                      lineterm="", n=0)]
    tree.finish("layout", findings, len(found))


if __name__ == "__main__":
    main()
