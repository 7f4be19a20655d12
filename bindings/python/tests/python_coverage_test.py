# SPDX-License-Identifier: Apache-2.0
"""Checks that every function of the C interface is in the raw layer or is called by the extension's
sources, that the package and its stubs export the same names, and that every public name is
documented.

python_coverage_test.py ROOT
"""

import builtins
import importlib
import inspect
import pathlib
import re
import sys
import unittest

import gufunc
from gufunc import lowlevel

ROOT = pathlib.Path(sys.argv.pop(1))
FOLDER = ROOT / "bindings/python"
sys.path.insert(0, str(FOLDER / "reference"))
reference_stubs = importlib.import_module("reference_stubs")
COMMENTS = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
ROW = re.compile(r"^\| `(guf_\w+)` \| \w+ \| (\w+) \|", re.MULTILINE)  # column of Python
# These functions are not needed: Python objects own the references, devices are never freed,
# guf_module_register is for modules that are linked into a C program, and guf_apply is a short form
# of guf_call for C.
NOT_HERE = re.compile(r"guf_\w+_retain|guf_device_release|guf_module_register|guf_apply")

# Names that the stubs declare for other modules of the package.
INTERNAL = {"as_device", "as_stream", "make_error", "make_refusal"}


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


class Exports(unittest.TestCase):
    def setUp(self):
        self.stubs = reference_stubs.Stubs(FOLDER / "gufunc")

    def test_modules_and_stubs_export_the_same_names(self):
        exported = self.stubs.exported
        for module in sorted(set(exported.values()) - {"_build"}):
            listed = set(importlib.import_module(f"gufunc.{module}").__all__)
            declared = {name for name in self.stubs.modules[module]
                        if not name.startswith("_") and name not in INTERNAL}
            in_stub = {name for name, other in exported.items() if other == module}
            for where, names in (("__all__ of the module lacks", declared - listed),
                                 ("the stub does not declare", listed - declared),
                                 ("__all__ of the stub lacks", declared - in_stub)):
                self.assertEqual(names, set(), f"gufunc.{module}: {where} these names")

    def test_package_and_stubs_export_the_same_names(self):
        declared = {*self.stubs.exported, *self.stubs.ufuncs}
        self.assertEqual({*gufunc.__all__} - declared, set(),
                         "the stubs do not declare these names of the package")
        # `import *` leaves out the names of Python's built-in functions.
        found = {*gufunc.__all__, *(vars(builtins).keys() & vars(gufunc).keys())}
        self.assertEqual(declared - found, set(),
                         "the package does not export these names of the stubs")


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
