#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the backends of different vendors contain no copies of the same code, because common
code belongs in backends/gpu."""

import source_tree as tree

VENDORS = ("backends/cuda", "backends/roc")
LONGEST_RUN = 20  # lines


def lines_of(root, folder):
    """Yields each file of the folder as (path, [(number, text)]), without blank lines and
    comments."""
    for path in tree.files(root / folder, tree.CODE):
        text = (root / folder / path).read_text().splitlines()
        kept = [(number, line.strip()) for number, line in enumerate(text, 1)]
        yield f"{folder}/{path}", [
            (number, line) for number, line in kept if line and not line.startswith("//")]


def longest_common(ours, theirs):
    """Returns the longest run of lines that both files contain: its length, and its start in each
    file."""
    best, before = (0, 0, 0), [0] * (len(theirs) + 1)
    for i, (_, line) in enumerate(ours):
        here = [0] * (len(theirs) + 1)
        for j, (_, other) in enumerate(theirs):
            if line == other:
                here[j + 1] = before[j] + 1
                best = max(best, (here[j + 1], i - here[j + 1] + 1, j - here[j + 1] + 1))
        before = here
    return best


def main():
    root = tree.parser(__doc__).parse_args().root
    findings, examined = [], 0
    others = list(lines_of(root, VENDORS[1]))
    for path, ours in lines_of(root, VENDORS[0]):
        for other, theirs in others:
            examined += 1
            length, i, j = longest_common(ours, theirs)
            if length > LONGEST_RUN:
                findings.append(f"{path}:{ours[i][0]}: {length} lines as in "
                                f"{other}:{theirs[j][0]}, "
                                f"over {LONGEST_RUN}: they belong to backends/gpu")
    tree.finish("duplicates", findings, examined)


if __name__ == "__main__":
    main()
