# SPDX-License-Identifier: Apache-2.0
"""Helpers that the checks share: the files of the source tree, and the reporting of findings."""

import argparse
import os
import pathlib
import sys

SKIPPED_FOLDERS = {"build", "target", "__pycache__"}
CODE = {".c", ".cc", ".cpp", ".h", ".hpp", ".def"}
BINDINGS = {".rs", ".go", ".jl", ".pyi"}
TEXT = CODE | BINDINGS | {".py", ".cmake", ".md", ".map", ".sh", ".json", ".txt", ".in", ".i"}


def files(root, suffixes):
    """Yields the tree's files with one of `suffixes`, relative to `root`, in a fixed order."""
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(
            f for f in folders if f not in SKIPPED_FOLDERS and (f == ".ci" or not f.startswith("."))
        )
        for name in sorted(names):
            path = pathlib.Path(folder, name)
            if path.suffix in suffixes:
                yield path.relative_to(root)


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
