# SPDX-License-Identifier: Apache-2.0
"""Helpers that the checks share: the files of the source tree, and the reporting of findings."""

import argparse
import os
import pathlib
import subprocess
import sys

SKIPPED_FOLDERS = {"build", "target", "__pycache__"}
CODE = {".c", ".cc", ".cpp", ".h", ".hpp", ".def"}
BINDINGS = {".rs", ".go", ".jl", ".pyi"}
TEXT = CODE | BINDINGS | {".py", ".cmake", ".md", ".map", ".sh", ".json", ".txt", ".in", ".i"}


def all_files(root):
    """Returns the paths of all files, relative to `root` and sorted. In a git repository, files
    that git ignores are left out. Symbolic links without a target are left out too."""
    if (root / ".git").exists():
        listing = ["git", "-C", root, "ls-files", "-z", "-co", "--exclude-standard"]
        names = subprocess.run(listing, check=True, capture_output=True, text=True).stdout
        paths = [pathlib.Path(name) for name in names.split("\0") if name]
    else:
        paths = [pathlib.Path(folder, name).relative_to(root)
                 for folder, _, names in os.walk(root) for name in names]
    return sorted({path for path in paths if (root / path).is_file()})


def is_hidden(path):
    return any(part.startswith(".") and part != ".ci" for part in path.parts[:-1])


def files(root, suffixes):
    """Yields the tree's files with one of `suffixes`, relative to `root`, in a fixed order."""
    for path in all_files(root):
        if path.suffix in suffixes and SKIPPED_FOLDERS.isdisjoint(path.parts[:-1]):
            if not is_hidden(path):
                yield path


def parser(description):
    """Returns an argument parser with --root, the option that all checks have."""
    result = argparse.ArgumentParser(description=description)
    result.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).parents[1])
    return result


def finish(name, findings, examined):
    """Prints the findings, and exits with 1 if there are any or if nothing was examined."""
    for finding in findings:
        print(finding)
    if examined == 0:
        print(f"{name}: nothing was examined")
    print(f"{name}: {examined} examined, {len(findings)} found")
    sys.exit(1 if findings or examined == 0 else 0)
