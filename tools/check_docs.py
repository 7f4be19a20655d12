#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the documents against the tree: snippets, links, environment variables."""

import re

import house_tree as tree

# <!-- from examples/x.c --> before a fenced block: the block stands in that file, line for line.
SNIPPET = re.compile(r"<!-- from (\S+) -->\n+```\w*\n(.*?)```", re.DOTALL)
LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)(#[^)]*)?\)")
VARIABLE = re.compile(r'"((?:GUFUNC|GUFCC)_[A-Z0-9_]+)"')
DOCUMENTED = re.compile(r"^\| `((?:GUFUNC|GUFCC)_[A-Z0-9_]+)` \|", re.MULTILINE)
READS_VARIABLES = ("core/", "abi/src/", "backends/", "tools/gufunc/", "tools/gufcc/")


def snippets(root, path, text):
    for name, block in SNIPPET.findall(text):
        if not (root / name).is_file():
            yield f"{path}: takes a snippet from {name}, which does not exist"
        elif block not in (root / name).read_text():
            yield f"{path}: its snippet from {name} is not what that file says"


def links(root, path, text):
    for target, _ in LINK.findall(text):
        if not (root / path.parent / target).exists():
            yield f"{path}: links to {target}, which does not exist"


def variables(root):
    read = {}
    for path in tree.files(root, tree.CODE | {".py", ".in"}):
        if path.as_posix().startswith(READS_VARIABLES):
            for name in VARIABLE.findall((root / path).read_text()):
                read.setdefault(name, path)
    page = root / "docs/environment.md"
    documented = set(DOCUMENTED.findall(page.read_text() if page.is_file() else ""))
    for name in sorted(set(read) - documented):
        yield f"{read[name]}: reads {name}, which docs/environment.md does not list"
    for name in sorted(documented - set(read)):
        yield f"docs/environment.md: lists {name}, which nothing reads"


def main():
    root = tree.parser(__doc__).parse_args().root
    findings, examined = list(variables(root)), 0
    for path in tree.files(root, {".md"}):
        examined += 1
        text = (root / path).read_text()
        findings += [*snippets(root, path, text), *links(root, path, text)]
    tree.finish("docs", findings, examined)


if __name__ == "__main__":
    main()
