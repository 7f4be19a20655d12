#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the documents match the tree: snippets equal their files, links lead to files,
environment variables are documented, lists of the dtypes' letters are complete, and all named files
and tests exist."""

import itertools
import re

import source_tree as tree

# A fenced block after <!-- from examples/x.c -->. The file examples/x.c must contain all lines of
# the block.
SNIPPET = re.compile(r"<!-- from (\S+) -->\n+```\w*\n(.*?)```", re.DOTALL)
LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)(#[^)]*)?\)")
VARIABLE = re.compile(r'"((?:GUFUNC|GUFCC)_[A-Z0-9_]+)"')
DOCUMENTED = re.compile(r"^\| `((?:GUFUNC|GUFCC)_[A-Z0-9_]+)` \|", re.MULTILINE)
FENCED = re.compile(r"```.*?```", re.DOTALL)
CODE_WORD = re.compile(r"`([^`\s]+)`")
PLACEHOLDER = re.compile(r"(^|/)[A-Z](/|$)")  # a path with a letter for a name: backends/X
TEST = re.compile(r"(conformance|lint)_[\w-]+$|(?!gufunc_add_)[\w-]+_test$")
DTYPE = re.compile(r"^GUF_DTYPE\(\w+, \"\w+\", '(.)'", re.MULTILINE)
LETTERS = re.compile(r"\? b(?: \w)+")
CORNERS = re.compile(r"corner (\d+(?:(?:, | to )\d+)*)")
CORNER = re.compile(r"^    \((\d+), '", re.MULTILINE)
# In CMakeLists.txt: foreach loops over names, and commands that add a test.
CMAKE = re.compile(r"(endforeach)\(|foreach\((\w+) IN ITEMS ([^)]*)\)|(foreach)\("
                   r"|(gufunc_add_(?:unit_test|abi_test|gtest|check)|add_test"
                   r"|add_conformance(?:_test)?)\(\s*(?:NAME\s+)?"
                   r"([^\s)]+)")
PREFIX = {"gufunc_add_check": "lint_", "add_conformance": "conformance_",
          "add_conformance_test": "conformance_"}
READS_VARIABLES = ("core/", "abi/src/", "backends/", "tools/gufunc/", "tools/gufcc/",
                   "bindings/python/gufunc/")


def snippets(root, path, text):
    for name, block in SNIPPET.findall(text):
        if not (root / name).is_file():
            yield f"{path}: contains a snippet from {name}, which does not exist"
        elif block not in (root / name).read_text():
            yield f"{path}: its snippet from {name} differs from that file"


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


def known_letters(root):
    table = root / "abi/include/gufunc/dtypes.def"
    return " ".join(DTYPE.findall(table.read_text() if table.is_file() else ""))


def letters(root):
    """Checks that lists of dtype letters in documents and public headers begin with the letters of
    dtypes.def, in the order of that file."""
    known = known_letters(root)
    for path in tree.files(root, {".md", ".h", ".hpp"}):
        for found in LETTERS.findall((root / path).read_text()):
            if not found.startswith(known):
                yield f"{path}: lists the letters {found}, dtypes.def has {known}"


def write_letters(root):
    """Writes the letters of dtypes.def into these lists. Other letters of a list follow them."""
    known = known_letters(root)

    def complete(match):
        others = [letter for letter in match[0].split() if letter not in known.split()]
        return " ".join([known, *others])

    for path in tree.files(root, {".md", ".h", ".hpp"}):
        text = (root / path).read_text()
        if (written := LETTERS.sub(complete, text)) != text:
            (root / path).write_text(written)


def tests(root):
    """The names of all tests, from CMakeLists.txt and from the test sources."""
    names = set()
    for path in tree.files(root, {".txt"}):
        if path.name != "CMakeLists.txt":
            continue
        loops = []
        for end, variable, items, other, adds, name in CMAKE.findall((root / path).read_text()):
            if end:
                loops.pop()
            elif variable or other:
                loops.append([(variable, item) for item in items.split()])
            else:
                prefix = PREFIX.get(adds, "")
                for values in itertools.product(*filter(None, loops)):
                    full = name
                    for known, item in values:
                        full = full.replace("${" + known + "}", item)
                    names.add(prefix + full)
    sources = {p.stem for p in tree.files(root, tree.CODE | {".py"}) if p.parts[0] == "tests"}
    return names | {f"{name}_seeded" for name in names if name.startswith("lint_")} | sources


def corner_cases(root):
    pages = root.glob("tests/conformance/corner_*.py")
    return {int(number) for page in pages for number in CORNER.findall(page.read_text())}


def cited(root, path, text, known_tests, known_corners):
    folders = {p.name for p in root.iterdir() if p.is_dir()} - tree.SKIPPED_FOLDERS
    for word in CODE_WORD.findall(FENCED.sub("", text)):
        if "/" in word and word.split("/")[0] in folders and not PLACEHOLDER.search(word):
            if not any(root.glob(word)):
                yield f"{path}: names {word}, which does not exist"
        elif TEST.match(word) and word not in known_tests:
            yield f"{path}: names the test {word}, which does not exist"
    for numbers in CORNERS.findall(text):
        for number in map(int, re.findall(r"\d+", numbers)):
            if number not in known_corners:
                yield f"{path}: names corner {number}, which does not exist"


def main():
    parser = tree.parser(__doc__)
    parser.add_argument("--write", action="store_true", help="write the lists of letters")
    args = parser.parse_args()
    root = args.root
    if args.write:
        write_letters(root)
        return
    findings, examined = [*variables(root), *letters(root)], 0
    known = tests(root), corner_cases(root)
    for path in tree.files(root, {".md"}):
        examined += 1
        text = (root / path).read_text()
        findings += [*snippets(root, path, text), *links(root, path, text),
                     *cited(root, path, text, *known)]
    tree.finish("docs", findings, examined)


if __name__ == "__main__":
    main()
