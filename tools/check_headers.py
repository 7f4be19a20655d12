#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles every public header alone: *.h as C11 and C++17, *.hpp as C++17 and C++20. With two
compilers, the first one uses the older standard and the second one the newer standard, which
covers both compilers and both standards in half the time.

The dialect's device headers (device_*.hpp) are compiled alone for a GPU instead.
"""

import pathlib
import subprocess
import tempfile

import source_tree as tree

# The headers of each folder are compiled with two include folders, their own folder and the first
# folder of this list.
INCLUDES = ("abi/include", "kernels/include", "bindings/cpp/include", "backends/sdk/include")
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Wundef", "-Werror"]
DEVICE_COMPILER = "clang++-19"
DEVICE = ["-x", "cuda", "-std=c++17", "--cuda-device-only", "-nocudainc", "-nocudalib",
          "--cuda-gpu-arch=sm_75", "--cuda-feature=+ptx63", "-Wno-unknown-cuda-version"]


def languages(header):
    if header.suffix == ".h":
        return [("c", "c11"), ("c++", "c++17")]
    return [("c++", "c++17"), ("c++", "c++20")]


def commands(header, compilers):
    """Returns the commands that must compile the header."""
    if header.name.startswith("device_"):
        return [[DEVICE_COMPILER, *DEVICE, "-Wall", "-Wextra", "-Werror"]]
    commands = [[compiler, "-x", language, f"-std={standard}", *WARNINGS]
                for compiler in compilers for language, standard in languages(header)]
    return commands if len(compilers) < 2 else commands[::3]


def compile_alone(command, includes, header, folder):
    """Includes the header twice, which also detects a missing include guard."""
    source = pathlib.Path(folder, "alone")
    source.write_text(f"#include <{header}>\n#include <{header}>\ntypedef int not_empty;\n")
    options = [f"-I{include}" for include in includes]
    return subprocess.run([*command, *options, "-fsyntax-only", str(source)],
                          capture_output=True, text=True)


def main():
    parser = tree.parser(__doc__)
    parser.add_argument("--cc", action="append", default=[], help="C and C++ compiler driver")
    args = parser.parse_args()
    contract = args.root / "abi/include"

    findings, examined = [], 0
    headers = [(args.root / include, header) for include in INCLUDES
               for header in tree.files(args.root / include, {".h", ".hpp"})]
    with tempfile.TemporaryDirectory() as folder:
        for include, header in headers:
            for command in commands(header, args.cc):
                examined += 1
                result = compile_alone(command, {include, contract}, header, folder)
                if result.returncode != 0:
                    how = " ".join(command[:4])
                    findings.append(f"{header} alone, {how}:\n{result.stderr}")
    tree.finish("headers", findings, examined)


if __name__ == "__main__":
    main()
