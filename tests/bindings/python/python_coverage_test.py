# SPDX-License-Identifier: Apache-2.0
"""Every function of the C interface is in the raw layer, or called by the extension's own sources;
and everything public is documented.

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
# Objects retain by being there; a module that is linked into a program needs one in C.
RAW_ONLY = {"guf_module_register"}


class Coverage(unittest.TestCase):
    def functions(self):
        return set(re.findall(r"^(guf_\w+)", (ROOT / "abi/symbols.txt").read_text(), re.MULTILINE))

    def test_every_function_is_reached(self):
        sources = "".join(path.read_text() for path in (FOLDER / "src").glob("*.c"))
        raw = {name for name in dir(lowlevel) if name.startswith("guf_")}
        missing = {name for name in self.functions()
                   if name not in raw and not re.search(rf"\b{name}\(", sources)
                   and not name.endswith("_retain") and name != "guf_device_release"}
        missing -= {name for name in self.functions() if re.search(rf"\b{name}\b", sources)}
        self.assertEqual(missing - RAW_ONLY, set())
        self.assertGreater(len(self.functions()), 100)

    def test_raw_functions_are_used_above(self):
        """What the raw layer has, the package offers under a name of its own."""
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
                continue  # .info.doc
            if not inspect.getdoc(value):
                bare.append(name)
            if inspect.isclass(value):
                bare += [f"{name}.{key}" for key, member in vars(value).items()
                         if not key.startswith("_") and callable(member)
                         and not inspect.getdoc(member)]
        self.assertEqual(bare, [])


if __name__ == "__main__":
    unittest.main()
