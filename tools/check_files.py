#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the size, width, names and first lines of text files. Also checks that the tree contains
no build output, and no binary file that .gitattributes does not mark as binary."""

import collections
import fnmatch
import re

import source_tree as tree

MAX_LINES = 1200  # catches accidents; it is not a limit on the length of ordinary files
MAX_COLUMNS = 100
MAX_PROSE = 120  # columns of text pages; table rows may be longer
LICENCE = "SPDX-License-Identifier: Apache-2.0"
# The notice of generated files, whose length and width are not checked.
GENERATED = re.compile(r"enerated by .*\bdo not edit", re.IGNORECASE)
LEFT_OPEN = re.compile(r"\b(TO" r"DO|FIX" r"ME|X" r"XX)\b")
ONE_STRING = re.compile(r'\s*(\w+=)?"[^"]*"')  # CMake cannot continue a string on the next line
SAME_NAME_ALLOWED = {"CMakeLists.txt", "README.md", "__init__.py", "lib.rs"}
PUBLIC = ("abi/include/", "kernels/include/", "bindings/cpp/include/")
MEASURED = tree.CODE | tree.BINDINGS | {".py", ".cmake"}
NEEDS_LICENCE = MEASURED | {".map"}


def examine(path, text):
    lines = text.splitlines()
    source = path.suffix in MEASURED or path.name == "CMakeLists.txt"
    measured = source and not GENERATED.search("\n".join(lines[:3]))
    if measured and len(lines) > MAX_LINES:
        yield f"{path}: {len(lines)} lines, over {MAX_LINES}"
    if path.suffix in NEEDS_LICENCE and LICENCE not in "".join(lines[:2]):
        yield f"{path}:1: does not start with its SPDX line"
    if text and not text.endswith("\n"):
        yield f"{path}: the last line has no end"
    for number, line in enumerate(lines, 1):
        if measured and len(line) > MAX_COLUMNS and not ONE_STRING.fullmatch(line):
            yield f"{path}:{number}: {len(line)} columns, over {MAX_COLUMNS}"
        if path.suffix == ".md" and len(line) > MAX_PROSE and not line.startswith("|"):
            yield f"{path}:{number}: {len(line)} columns, over {MAX_PROSE}"
        if LEFT_OPEN.search(line):
            yield f"{path}:{number}: left open: {line.strip()}"
        if line != line.rstrip():
            yield f"{path}:{number}: ends in spaces"


def binary_patterns(root):
    attributes = root / ".gitattributes"
    lines = attributes.read_text().splitlines() if attributes.exists() else []
    return [line.split()[0].lstrip("/") for line in lines if line.endswith(" binary")]


def find_outputs(root):
    """Yields findings about build outputs and binary files."""
    marked = binary_patterns(root)
    for path in tree.all_files(root):
        if not tree.SKIPPED_FOLDERS.isdisjoint(path.parts):
            yield f"{path}: is a build output"
        elif not any(fnmatch.fnmatch(str(path), pattern) for pattern in marked):
            if b"\0" in (root / path).read_bytes():
                yield f"{path}: is binary, and .gitattributes does not mark it"


def main():
    root = tree.parser(__doc__).parse_args().root
    findings, names, examined = [], collections.defaultdict(list), 0
    for path in tree.files(root, tree.TEXT):
        if path.suffix == ".txt" and path.name != "CMakeLists.txt":
            continue  # a data file
        examined += 1
        names[path.name].append(str(path))
        findings += examine(path, (root / path).read_text())
    for name, paths in names.items():
        # A public header and a core component may share a name: <gufunc/array.h>, core/array.
        public = sum(path.startswith(PUBLIC) for path in paths)
        if max(public, len(paths) - public) > 1 and name not in SAME_NAME_ALLOWED:
            findings.append(f"{name}: one name, several files: {', '.join(paths)}")
    findings += find_outputs(root)
    tree.finish("files", findings, examined)


if __name__ == "__main__":
    main()
