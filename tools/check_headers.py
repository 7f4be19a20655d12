#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles every public header alone: *.h as C11 and C++17, *.hpp as C++ of its own standard."""

import pathlib
import subprocess
import tempfile

import house_tree as tree

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Wundef", "-Werror"]


def languages(header):
    if header.suffix == ".h":
        return [("c", "c11"), ("c++", "c++17")]
    return [("c++", "c++17"), ("c++", "c++20")]


def compile_alone(compiler, include, header, language, standard, folder):
    """Includes the header twice, so that a missing guard shows too."""
    source = pathlib.Path(folder, "alone.c" if language == "c" else "alone.cc")
    source.write_text(f"#include <{header}>\n#include <{header}>\ntypedef int not_empty;\n")
    return subprocess.run(
        [compiler, "-x", language, f"-std={standard}", *WARNINGS, "-I", str(include),
         "-fsyntax-only", str(source)],
        capture_output=True, text=True)


def main():
    parser = tree.parser(__doc__)
    parser.add_argument("--cc", action="append", default=[], help="C and C++ compiler driver")
    args = parser.parse_args()
    include = args.root / "abi/include"

    findings, examined = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for header in tree.files(include, {".h", ".hpp"}):
            for compiler in args.cc:
                for language, standard in languages(header):
                    examined += 1
                    result = compile_alone(compiler, include, header, language, standard, folder)
                    if result.returncode != 0:
                        findings.append(f"{header} alone, {compiler} {standard}:\n{result.stderr}")
    tree.finish("headers", findings, examined)


if __name__ == "__main__":
    main()
