#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs clang-tidy over the core, the C API layer, the backends and the tools. All sources of a
folder are checked as one file, which reduces the CPU time for the core and the C API layer from
510 s to 85 s. The sources of a folder must therefore not define the same name in their unnamed
namespaces. A folder that passed is not checked again until one of its files changes; the cache
($XDG_CACHE_HOME/gufunc/tidy) serves all checkouts."""

import collections
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess

import source_tree as tree

# g++ options that clang does not know. clang also reports deprecated uses inside libstdc++.
DROPPED = re.compile("-fno-gnu-unique|-mmemset-strategy=.*")
FOLDERS = ["core", "abi/src", "tools",
           "backends/cpu", "backends/gpu", "backends/cuda", "backends/roc", "backends/emulator"]
ADDED = ["-Wno-unknown-warning-option", "-Wno-deprecated-declarations", "-Wno-ignored-gch"]


def commands(build, root, folders):
    """Yields (file, arguments) for the sources of `folders` in compile_commands.json."""
    for entry in json.loads((build / "compile_commands.json").read_text()):
        path = pathlib.Path(entry["directory"], entry["file"]).resolve()
        if not any(path.is_relative_to(root / folder) for folder in folders):
            continue
        words = [w for w in shlex.split(entry["command"]) if not DROPPED.fullmatch(w)]
        while words[0] == "env" or "=" in words[0] or pathlib.Path(words[0]).name == "ccache":
            words.pop(0)
        yield path, words[1:] + ADDED, entry["directory"]


def without_outputs(words):
    """Returns the compiler's arguments without `-o x`, `-c x` and dependency files."""
    kept, skip = [], False
    for word in words:
        if not skip and word not in {"-o", "-c", "-MD", "-MT", "-MF"}:
            kept.append(word)
        skip = word in {"-o", "-c", "-MT", "-MF"}
    return kept


class Group:
    """The sources of a folder that have the same compiler arguments. They are checked as one file,
    so that their headers are parsed once."""

    def __init__(self, name, build, words, directory):
        self.name, self.words, self.directory = name, words, directory
        self.text, self.places = build / "tidy" / f"{name}.cc", []
        self.lines = 0

    def write(self, sources):
        self.text.parent.mkdir(exist_ok=True)
        with self.text.open("w") as text:
            for path in sources:
                source = path.read_text()
                self.places.append((self.lines, path))
                self.lines += source.count("\n")
                text.write(source)

    def located(self, output):
        """Maps the line numbers in clang-tidy's output back to the sources."""
        def place(found):
            line = int(found[1])
            start, path = [p for p in self.places if p[0] < line][-1]
            return f"{path}:{line - start}:"

        return re.sub(re.escape(str(self.text)) + r":(\d+):", place, output)


def fingerprint(args, group, config):
    """Hashes everything that clang-tidy's result depends on: the preprocessed text and the
    settings, without the path of the checkout."""
    text = subprocess.check_output([args.clang, *group.words, "-E", "-C", "-P", str(group.text)],
                                   cwd=group.directory, text=True)
    whole = "\0".join([text, args.version, *group.words]).replace(str(args.root), "")
    return hashlib.sha256(whole.encode() + config).hexdigest()


def cache_folder():
    home = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(home) / "gufunc" / "tidy"


def examine(args, group, sources, config):
    group.write(sources)
    stamp = cache_folder() / fingerprint(args, group, config)
    if stamp.exists():
        return ""
    settings = f"--config-file={args.root / '.clang-tidy'}"
    result = subprocess.run(
        [args.clang_tidy, "--quiet", settings, str(group.text), "--", *group.words],
        cwd=group.directory, capture_output=True, text=True)
    if result.returncode == 0:
        stamp.parent.mkdir(parents=True, exist_ok=True)
        stamp.touch()
        return ""
    return group.located(result.stdout + result.stderr)


def groups(args):
    """Yields (Group, sources) for each group of sources with the same compiler arguments."""
    alike = collections.defaultdict(list)
    for path, words, directory in commands(args.build, args.root, args.folder or FOLDERS):
        own = [w for w in without_outputs(words) if pathlib.Path(directory, w).resolve() != path]
        words = ("-iquote", str(path.parent), *own)
        alike[path.parent.relative_to(args.root), words, directory].append(path)
    for number, ((folder, words, directory), sources) in enumerate(alike.items()):
        name = f"{'-'.join(folder.parts)}-{number}"
        yield Group(name, args.build, words, directory), sources


def main():
    parser = tree.parser(__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--folder", action="append", help=f"default: {', '.join(FOLDERS)}")
    parser.add_argument("--clang-tidy", default="clang-tidy-19")
    parser.add_argument("--clang", default="clang++-19")
    args = parser.parse_args()
    args.root, args.build = args.root.resolve(), args.build.resolve()
    args.version = subprocess.check_output([args.clang_tidy, "--version"], text=True)
    config = (args.root / ".clang-tidy").read_bytes()

    jobs = list(groups(args))
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        results = list(pool.map(lambda job: examine(args, *job, config), jobs))
    examined = sum(len(sources) for _, sources in jobs)
    tree.finish("tidy", [result for result in results if result], examined)


if __name__ == "__main__":
    main()
