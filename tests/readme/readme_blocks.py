# SPDX-License-Identifier: Apache-2.0
"""The command blocks of README.md and of the bindings' READMEs, and their marks.

A comment before a block of commands states how it is tested:

    <!-- run -->                        the block is run after the page's previous block, in the
                                        same shell
    <!-- run by tests/x_test.py -->     the block is run, and tests/x_test.py runs it too
    <!-- run, prints FILE -->           the block is run, and the output of the page must contain
                                        the content of FILE
    <!-- run, needs PROGRAM -->         the block is run, or if PROGRAM is missing, this block and
                                        the rest of the page are skipped
    <!-- not run: REASON -->            the block is not run
"""

import dataclasses
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^(?:<!-- (?P<mark>[^\n]*) -->\n+)?```(?P<language>\w*)\n(?P<text>.*?)^```",
                   re.DOTALL | re.MULTILINE)
RUN = re.compile(r"run(?: by (?P<by>[\w./-]+\w))?"
                 r"(?:, prints (?P<prints>[^\s,]+))?(?:, needs (?P<needs>\w+))?$")
NOT_RUN = re.compile(r"not run: \w.{10,}$")
COMMANDS = {"sh", "bash", "console", "shell"}


@dataclasses.dataclass
class Block:
    page: pathlib.Path  # relative to the root
    line: int
    mark: str
    text: str

    @property
    def run(self):
        """Returns the match if the block is run, otherwise None."""
        return RUN.match(self.mark)


def pages(root=ROOT):
    """Returns the pages. README.md comes first, because the commands of the bindings' READMEs need
    the installation that README.md makes."""
    return [pathlib.Path("README.md"),
            *sorted(p.relative_to(root) for p in root.glob("bindings/*/README.md"))]


def blocks(page, root=ROOT):
    """Returns the command blocks of a page."""
    text = (root / page).read_text()
    for match in FENCE.finditer(text):
        if match["language"] in COMMANDS:
            line = text.count("\n", 0, match.start("language")) + 1
            yield Block(page, line, match["mark"] or "", match["text"])


def unmarked(root=ROOT):
    """Yields errors in the marks as text."""
    for page in pages(root):
        for block in blocks(page, root):
            if not block.run and not NOT_RUN.match(block.mark):
                yield (f"{page}:{block.line}: a block of commands has to be marked "
                       f"<!-- run ... --> or <!-- not run: REASON -->, got '{block.mark}'")
            elif block.run and block.run["prints"] and not (root / block.run["prints"]).is_file():
                yield f"{page}:{block.line}: {block.run['prints']} does not exist"
