#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs clang-tidy over the core and the border; a file that passed is not read again unchanged."""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import shlex
import subprocess

import house_tree as tree

# g++ has options that clang does not know; clang finds deprecated uses inside g++'s own library.
DROPPED = {"-fno-gnu-unique"}
ADDED = ["-Wno-unknown-warning-option", "-Wno-deprecated-declarations"]


def commands(build, root, folders):
    """Yields (file, arguments) for the sources of `folders` in compile_commands.json."""
    for entry in json.loads((build / "compile_commands.json").read_text()):
        path = pathlib.Path(entry["directory"], entry["file"]).resolve()
        if not any(path.is_relative_to(root / folder) for folder in folders):
            continue
        words = [w for w in shlex.split(entry["command"]) if w not in DROPPED]
        while pathlib.Path(words[0]).name == "ccache":
            words.pop(0)
        yield path, words[1:] + ADDED, entry["directory"]


def without_outputs(words):
    """The compiler's arguments without `-o x`, `-c x` and dependency files."""
    kept, skip = [], False
    for word in words:
        if not skip and word not in {"-o", "-c", "-MD", "-MT", "-MF"}:
            kept.append(word)
        skip = word in {"-o", "-c", "-MT", "-MF"}
    return kept


def fingerprint(clang, path, words, directory, config):
    """Hashes everything clang-tidy's verdict depends on: the preprocessed text and the settings."""
    text = subprocess.check_output([clang, *words, "-E", "-C", str(path)], cwd=directory)
    return hashlib.sha256(text + config + repr(words).encode()).hexdigest()


def examine(args, path, words, directory, config):
    words = without_outputs(words)
    stamp = args.build / "tidy" / fingerprint(args.clang, path, words, directory, config)
    if stamp.exists():
        return ""
    result = subprocess.run([args.clang_tidy, "--quiet", str(path), "--", *words], cwd=directory,
                            capture_output=True, text=True)
    if result.returncode == 0:
        stamp.parent.mkdir(exist_ok=True)
        stamp.touch()
        return ""
    return result.stdout + result.stderr


def main():
    parser = tree.parser(__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--folder", action="append", help="default: core and abi/src")
    parser.add_argument("--clang-tidy", default="clang-tidy-19")
    parser.add_argument("--clang", default="clang++-19")
    args = parser.parse_args()
    args.root, args.build = args.root.resolve(), args.build.resolve()
    config = (args.root / ".clang-tidy").read_bytes()

    jobs = list(commands(args.build, args.root, args.folder or ["core", "abi/src"]))
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        results = list(pool.map(lambda job: examine(args, *job, config), jobs))
    tree.finish("tidy", [result for result in results if result], len(jobs))


if __name__ == "__main__":
    main()
