# SPDX-License-Identifier: Apache-2.0
"""Tests that gufunc.build runs gufcc once per content, which includes all dependencies of the
module."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import gufunc
import numpy as np
from gufunc import _build

SOURCE = """#include <gufunc/kernel.hpp>
GUF_DEVICE double twice_plus(double x) { return 2 * x + ADDED; }
GUF_UFUNC(twice_plus, "d->d");
"""
INCLUDING = """#include <gufunc/kernel.hpp>
#include "amount.h"
GUF_DEVICE double plus(double x) { return x + AMOUNT; }
GUF_UFUNC(plus, "d->d");
"""


class Build(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.calls = self.folder / "calls"
        compiler, self.compiler = self.folder / "gufcc", _build.find_gufcc()
        compiler.write_text(
            f'#!/bin/sh\necho >>"{self.calls}"\nexec "{self.compiler}" "$@"\n')  # records each run
        compiler.chmod(0o755)
        os.environ["GUFUNC_GUFCC"] = str(compiler)
        self.addCleanup(os.environ.pop, "GUFUNC_GUFCC")

    def count(self):
        return len(self.calls.read_text().splitlines()) if self.calls.exists() else 0

    def build(self, source, **keywords):
        return gufunc.build(source, cache=self.folder / "cache", **keywords)

    def test_a_text_is_built_once(self):
        module = self.build(SOURCE, name="one_text", define=["ADDED=1"])
        np.testing.assert_array_equal(module.twice_plus(np.arange(3.0)), [1, 3, 5])
        self.assertEqual(self.count(), 1)
        path = self.build(SOURCE, name="one_text", define=["ADDED=1"], load_module=False)
        self.assertTrue(path.exists())
        self.assertEqual(self.count(), 1)
        other = self.build(SOURCE, name="other_text", define=["ADDED=5"])
        self.assertEqual(self.count(), 2)
        self.assertEqual(other.twice_plus(1.0), 7.0)

    def test_names_and_lists(self):
        for name in ("../../outside", "a/b", "", "a.b", "é", 3):
            with self.subTest(name), self.assertRaisesRegex(gufunc.CallError, "name: expected"):
                self.build(SOURCE, name=name, define=["ADDED=1"])
        self.assertEqual([path.name for path in self.folder.iterdir()], ["gufcc"])
        amount = self.folder / "headers" / "amount.h"
        amount.parent.mkdir()
        amount.write_text("#define AMOUNT 10 * TIMES\n")
        module = self.build(INCLUDING, name="one_of_each", include=str(amount.parent),
                            define="TIMES=2")
        self.assertEqual(module.plus(1.0), 21.0)

    def test_what_is_included_counts(self):
        source = self.folder / "plus.guf.cpp"
        source.write_text(INCLUDING)
        (self.folder / "amount.h").write_text("#define AMOUNT 10\n")
        first = self.build(source, name="plus_ten", load_module=False)
        self.assertEqual(self.build(source, name="plus_ten", load_module=False), first)
        self.assertEqual(self.count(), 1)
        before = first.read_bytes()
        (self.folder / "amount.h").write_text("#define AMOUNT 20\n")
        second = self.build(source, name="plus_ten", load_module=False)
        self.assertEqual(self.count(), 2)
        self.assertNotEqual(second.read_bytes(), before)
        self.assertEqual(gufunc.load(second).plus(1.0), 21.0)

    def test_failures_leave_nothing(self):
        with self.assertRaises(gufunc.BuildError) as caught:
            self.build(SOURCE.replace("ADDED", "nothing"), name="broken")
        self.assertIn("nothing", str(caught.exception))
        self.assertIn("--name=broken", caught.exception.command)
        self.assertEqual(list((self.folder / "cache").iterdir()), [])
        with self.assertRaises(FileNotFoundError):
            self.build(self.folder / "missing.guf.cpp")
        os.environ["GUFUNC_GUFCC"] = str(self.folder / "no_such_compiler")
        found = _build.find_gufcc()  # the search continues with the next location
        self.assertTrue(os.access(found, os.X_OK))

    def test_two_at_once(self):
        program = ("import gufunc, sys\n"
                   "module = gufunc.build(sys.argv[1], cache=sys.argv[2], name='together')\n"
                   "print(module.plus(1.0))\n")
        source = self.folder / "together.guf.cpp"
        source.write_text(INCLUDING.replace('#include "amount.h"', "#define AMOUNT 3"))
        both = [subprocess.Popen([sys.executable, "-c", program, source, self.folder / "cache"],
                                 stdout=subprocess.PIPE, text=True) for _ in range(2)]
        for process in both:
            self.assertEqual(process.communicate()[0], "4.0\n")
            self.assertEqual(process.returncode, 0)

    def test_what_another_has_finished_stays(self):
        """While this process compiles a module, another process completes and loads the same
        module."""
        source = self.folder / "meanwhile.guf.cpp"
        source.write_text(INCLUDING.replace('#include "amount.h"', "#define AMOUNT 3"))
        program = self.folder / "other.py"
        program.write_text("import gufunc, os, sys\n"
                           "made = gufunc.build(sys.argv[1], cache=sys.argv[2],"
                           " load_module=False)\n"
                           "print(made, os.stat(made).st_ino)\n")
        report, compiler = self.folder / "report", self.folder / "gufcc"
        compiler.write_text(
            f'#!/bin/sh\nif mkdir "{report}.begun" 2>/dev/null; then\n'
            f'"{sys.executable}" "{program}" "{source}" "{self.folder}/cache" >"{report}"\n'
            '[ $? = 0 ] || exit 9\n'
            f'fi\nexec "{self.compiler}" "$@"\n')
        made = self.build(source, load_module=False)
        path, inode = report.read_text().split()
        self.assertEqual((str(made), os.stat(made).st_ino), (path, int(inode)))
        self.assertEqual(len(list((self.folder / "cache").iterdir())), 1)

    def test_a_damaged_cache_is_built_anew(self):
        first = self.build(SOURCE, name="damaged", define=["ADDED=1"], load_module=False)
        first.unlink()
        second = self.build(SOURCE, name="damaged", define=["ADDED=1"])
        self.assertEqual(second.twice_plus(1.0), 3.0)
        self.build(SOURCE, name="damaged", define=["ADDED=1"], load_module=False)
        self.assertEqual(self.count(), 2)


if __name__ == "__main__":
    unittest.main()
