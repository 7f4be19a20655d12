# SPDX-License-Identifier: Apache-2.0
"""Checks that every function of the C interface is in the raw layer or is called by the extension's
sources, and that every public name is documented.

python_coverage_test.py ROOT
"""

import inspect
import pathlib
import re
import sys
import unittest

import gufunc
from gufunc import lowlevel

ROOT = pathlib.Path(sys.argv.pop(1))
FOLDER = ROOT / "bindings/python"
COMMENTS = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
ROW = re.compile(r"^\| `(guf_\w+)` \| \w+ \| (\w+) \|", re.MULTILINE)  # column of Python
# These functions are not needed: Python objects own the references, devices are never freed,
# guf_module_register is for modules that are linked into a C program, and guf_apply is a short form
# of guf_call for C.
NOT_HERE = re.compile(r"guf_\w+_retain|guf_device_release|guf_module_register|guf_apply")


class Coverage(unittest.TestCase):
    def functions(self):
        return set(re.findall(r"^(guf_\w+)", (ROOT / "abi/symbols.txt").read_text(), re.MULTILINE))

    def test_every_function_is_reached(self):
        sources = "".join(COMMENTS.sub(" ", path.read_text())
                          for path in (FOLDER / "src").glob("*.c"))
        reached = {name for name in self.functions()
                   if hasattr(lowlevel, name) or re.search(rf"\b{name}\b", sources)}
        missing = self.functions() - reached
        self.assertEqual({name for name in missing if not NOT_HERE.fullmatch(name)}, set())
        self.assertGreater(len(self.functions()), 100)

    def test_table_lists_all_devices(self):
        """The table in docs/bindings.md lists the functions that only the raw layer uses, and the
        functions that it lacks."""
        report = dict(ROW.findall((ROOT / "docs/bindings.md").read_text()))
        self.assertEqual(set(report), self.functions())
        self.assertEqual([name for name, word in report.items()
                          if word != "yes" and hasattr(lowlevel, name) != (word == "raw")], [])
        self.assertEqual({name for name, word in report.items() if word == "no"},
                         {name for name in report if NOT_HERE.fullmatch(name)})

    def test_raw_functions_are_used_above(self):
        """The package uses every function of the raw layer."""
        package = "".join(path.read_text() for path in (FOLDER / "gufunc").glob("*.py"))
        unused = {name for name in dir(lowlevel)
                  if name.startswith("guf_") and callable(getattr(lowlevel, name))
                  and not inspect.isclass(getattr(lowlevel, name))
                  and not re.search(rf"\b{name}\b", package)}
        self.assertEqual(unused - {"guf_version"}, set())


class Documentation(unittest.TestCase):
    def test_everything_public_is_documented(self):
        bare = []
        for name, value in vars(gufunc).items():
            if name.startswith("_") or inspect.ismodule(value):
                continue
            if isinstance(value, gufunc.Ufunc):
                continue  # documented in .info.doc
            if not inspect.getdoc(value):
                bare.append(name)
            if inspect.isclass(value):
                bare += [f"{name}.{key}" for key, member in vars(value).items()
                         if not key.startswith("_") and callable(member)
                         and not inspect.getdoc(member)]
        self.assertEqual(bare, [])


if __name__ == "__main__":
    unittest.main()
