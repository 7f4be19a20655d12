# SPDX-License-Identifier: Apache-2.0
"""Checks that the pages of bindings/python/reference match the package's docstrings and stubs, and
that every public name has a docstring.

python_reference_test.py ROOT
"""

import importlib
import pathlib
import sys
import tempfile
import unittest

import gufunc

ROOT = pathlib.Path(sys.argv.pop(1))
FOLDER = ROOT / "bindings/python/reference"
sys.path.insert(0, str(FOLDER))
reference = importlib.import_module("make_reference")
STUB = '''class Box:
    height: int
    def __init__(self, side: int) -> None: ...
    @property
    def side(self) -> int: ...
    def open(self, key: str = "x") -> list[int]: ...
'''


def module(texts):
    class Box:
        __doc__ = texts.get("Box")

        @property
        def side(self):
            pass

        def open(self, key="x"):
            pass

        open.__doc__ = texts.get("open")

    Box.side = property(Box.side.fget, doc=texts.get("side"))
    return Box


class Reference(unittest.TestCase):
    def setUp(self):
        self.stubs = reference.Stubs(ROOT / "bindings/python/gufunc")
        self.made, self.missing = reference.pages(gufunc, self.stubs)

    def test_all_is_reported(self):
        self.assertEqual(self.missing, [])

    def test_all_public_names_are_there(self):
        index = self.made["README.md"]
        self.assertEqual([name for name in self.stubs.exported if f"| `{name}` |" not in index], [])
        self.assertGreater(sum(text.count("\n## ") for text in self.made.values()), 110)

    def test_pages_are_those_of_the_package(self):
        self.assertEqual({path.name for path in FOLDER.glob("*.md")}, set(self.made))
        for page, text in self.made.items():
            self.assertEqual((FOLDER / page).read_text(), text,
                             f"{page}: run cmake --build --preset release --target regenerate")
            self.assertLessEqual(len(text.splitlines()), 400, page)

    def test_unhelpful_texts_are_found(self):
        stub = self.box()
        texts = {"Box": "A box of some height.", "side": "How wide.", "open": "Its contents."}
        self.assertEqual(reference.undocumented("Box", module(texts), stub), [])
        for left_out, name in (("Box", "Box"), ("side", "Box.side"), ("open", "Box.open")):
            rest = {key: text for key, text in texts.items() if key != left_out}
            self.assertIn(name, reference.undocumented("Box", module(rest), stub))
        vague = module({**texts, "Box": "A box."})
        self.assertEqual(reference.undocumented("Box", vague, stub), ["Box.height"])

    def test_how_a_class_is_shown(self):
        texts = {"Box": "A box.\n\nheight  in metres", "side": "How | wide.", "open": "Opens."}
        shown = "\n".join(reference.section("Box", module(texts), self.box()))
        for line in ("Box(side: int)", "- `height`: in metres",
                     "| `side` | `int` | How \\| wide. |", "Box.open(key: str = 'x') -> list[int]"):
            self.assertIn(line, shown.splitlines())

    @staticmethod
    def box():
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            (folder / "__init__.pyi").write_text("from ._box import *\n")
            (folder / "_box.pyi").write_text(STUB)
            return reference.Stubs(folder).modules["_box"]["Box"]


if __name__ == "__main__":
    unittest.main()
