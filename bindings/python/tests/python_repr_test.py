# SPDX-License-Identifier: Apache-2.0
"""Tests docstrings, names, and the repr of info structs."""

import builtins
import pydoc
import unittest

import gufunc


class Report(unittest.TestCase):
    def test_ufuncs_have_their_own_documentation(self):
        self.assertTrue(gufunc.add.__doc__.startswith("add(x1, x2, /, out=None, **keywords)"))
        self.assertIn(gufunc.add.info.doc, gufunc.add.__doc__)
        self.assertIn("dd->d", gufunc.add.__doc__)
        self.assertTrue(gufunc.sin.__doc__.startswith("sin(x, /"))
        self.assertIn(gufunc.matmul.signature, gufunc.matmul.__doc__)
        self.assertTrue(gufunc.Ufunc.__doc__.startswith("A universal"))
        made = gufunc.create("described", 2, 1, doc="what it does")
        self.assertEqual(made.__doc__.splitlines()[2], "what it does")
        self.assertIn("Loops: none", made.__doc__)
        self.assertIn("reduce", pydoc.render_doc(gufunc.Ufunc))

    def test_names(self):
        for name in ("cuda", "roc", "hsa", "build", "BuildError", "add", "Array"):
            self.assertIn(name, dir(gufunc))
        space = {}
        exec("from gufunc import *", space)
        for name in ("abs", "pow"):
            self.assertNotIn(name, space)
            self.assertTrue(hasattr(gufunc, name))
        self.assertNotIn("lowlevel", space)
        self.assertEqual(set(space) & set(vars(builtins)) - {"__builtins__"}, set())
        for name in ("add", "build", "Array", "Error", "errstate"):
            self.assertIn(name, space)

    def test_infos(self):
        self.assertIn("name='cpu'", repr(gufunc.backends()))
        self.assertIn("nin=2", repr(gufunc.add.info))
        self.assertIn("spec='cpu'", repr(gufunc.Device("cpu").info))
        self.assertNotIn("Swig", repr([gufunc.add.info, *gufunc.backends()]))


if __name__ == "__main__":
    unittest.main()
