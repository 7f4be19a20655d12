# SPDX-License-Identifier: Apache-2.0
"""Checks that the stubs and the package's modules declare the same names with the same signatures,
with mypy's stubtest. Also checks programs with mypy and the stubs: mypy must find the errors in a
wrong program, and no errors in a correct program and in the package.

python_stubs_test.py ROOT
"""

import importlib.util
import inspect
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import gufunc

ROOT = pathlib.Path(sys.argv.pop(1))
STUBS = ROOT / "bindings/python/gufunc"
# Names that stubtest does not compare: SWIG generates the module lowlevel. The names for `import *`
# are defined by the stubs. __buffer__ does not exist before Python 3.12. Only `inspect.signature`
# reads __signature__.
NOT_COMPARED = [r"gufunc\.lowlevel\..*", r"gufunc\.((cuda|roc|hsa)\.)?__all__",
                r"gufunc\._array\.Array\.__buffer__", r"gufunc\._ufunc\.Ufunc\.__signature__"]
GOOD = '''
from typing import Any, assert_type

import gufunc
import numpy as np
from gufunc import cuda, hsa, roc
from numpy.typing import NDArray

a = gufunc.array([1.0, 4.0])
assert_type(a, gufunc.Array)
assert_type(-a[1:] + 1, gufunc.Array)
assert_type(a.shape, tuple[int, ...])
assert_type(a.dtype, gufunc.dtype)
gufunc.add.reduce(a, axis=0, keepdims=True)
with cuda.device(0) as device, roc.stream() as stream:
    assert_type(device, gufunc.Device)
    assert_type(cuda.to_device(a, stream=stream), gufunc.Array)
    assert_type(roc.device_array_like(a), gufunc.Array)
    assert_type(stream.record(), gufunc.Event)
assert_type(hsa.finegrain_array(3), gufunc.Array)
module = gufunc.load("module.so")
assert_type(module["f"], gufunc.Ufunc)
module.kernel("k")[1, 32, stream, 0](a, 3)
cuda.kernel(module, "k").device.synchronize(timeout=1.5)
x = np.array([1.0, 4.0])
assert_type(a.numpy(), NDArray[Any])
for result in (gufunc.sqrt(x), gufunc.add(x, 1), gufunc.add(2.5, x), gufunc.less(x, [1, 2]),
               gufunc.add(x, x, where=x > 1, out=None), gufunc.add.accumulate(x),
               gufunc.add.reduceat(x, [0]), gufunc.matmul(x, x, axes=[0, 0, ()])):
    assert_type(result, NDArray[Any])
for array in (gufunc.sqrt(a), gufunc.add(a, x), gufunc.add(x, a), gufunc.multiply(a, 2),
              gufunc.add(a, 1, stream=None, device="cuda:0"), gufunc.add.reduce(a),
              gufunc.add.accumulate(a), gufunc.add.reduceat(a, [0])):
    assert_type(array, gufunc.Array)
out = np.empty(2, np.float32)
assert_type(gufunc.sqrt(x, out=out, casting="unsafe"), NDArray[Any])
assert_type(gufunc.add(x, a, out), NDArray[Any])
assert_type(gufunc.add(x, x, out=a), gufunc.Array)
assert_type(gufunc.add(x, x, out=(a,)), gufunc.Array)
assert_type(gufunc.add.reduce(x, out=a), gufunc.Array)
assert_type(gufunc.add(1, 2), Any)
assert_type(gufunc.add(x, 1, device="cuda:0"), Any)
assert_type(module["f"](x), Any)
try:
    gufunc.build("f.guf.cpp").f(a)
except gufunc.BuildError as error:
    assert_type(error.command, tuple[str, ...])
except gufunc.Error as error:
    assert_type((error.status, error.name, error.argument), tuple[int, str, int])
'''
BAD = ["gufunc.arrange(3)", "gufunc.array([1]).shape = (2,)", "gufunc.empty()",
       "gufunc.Stream('cpu').synchronize('soon')", "gufunc.Event().record('s')",
       "gufunc.cuda.to_device()", "gufunc.roc.legacy_default_stream()",
       "gufunc.cuda.device_array(3, shape=4)", "gufunc.Context().names() + 1",
       "gufunc.load('m.so', data=True)", "gufunc.sqrt(1, 2, 3)", "gufunc.add(1)",
       "gufunc.add(1, 2, wher=True)", "gufunc.sqrt(gufunc.ones(2)).shape()",
       "gufunc.add.accumulate(gufunc.ones(2)).lists()", "gufunc.ufunc_from_pointer(0, 'd->d')"]


def internal():
    """Yields the private names of the package's modules."""
    for path in sorted(STUBS.glob("_*.pyi")):
        if path.stem not in ("__init__", "_vendor_module"):
            module = importlib.import_module(f"gufunc.{path.stem}")
            for name, value in vars(module).items():
                report = getattr(gufunc, name, None) is value or name in (
                    "CurrentContext", "DeviceKernel", "Gpus", "Launch", "Registered")
                if not report or inspect.ismodule(value):
                    yield re.escape(f"gufunc.{path.stem}.{name}")


class Stubs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        # Only the stubs are copied, so that mypy does not read missing names from the sources.
        shutil.copytree(STUBS, self.folder / "stubs/gufunc",
                        ignore=shutil.ignore_patterns("*.py", "__pycache__"))

    def run_tool(self, *command, where="stubs"):
        environment = dict(os.environ, MYPYPATH=str(self.folder / where))
        done = subprocess.run([sys.executable, "-m", *map(str, command)], capture_output=True,
                              text=True, cwd=self.folder, env=environment)
        return done.returncode, done.stdout + done.stderr

    def test_modules_and_stubs_are_alike(self):
        # There is no module _vendor_module. Its declarations are checked in the modules that import
        # its names.
        stubs = self.folder / "stubs/gufunc"
        module = (stubs / "_vendor_module.pyi").read_text()
        (stubs / "_vendor_module.pyi").unlink()
        for path in (stubs / "cuda.pyi", stubs / "roc.pyi"):
            path.write_text(path.read_text().replace("from ._vendor_module import *\n", module))
        # All ufuncs have the same class, but the stubs have a class for each number of operands.
        path = stubs / "__init__.pyi"
        text = path.read_text()
        ufuncs = re.findall(r"^(\w+): (_Unary|_Binary)$", text, re.MULTILINE)
        path.write_text(re.sub(r": (_Unary|_Binary)$", ": Ufunc", text, flags=re.MULTILINE))
        self.assertGreater(len(ufuncs), 40)
        for name, kind in ufuncs:
            ufunc = getattr(gufunc, name)
            self.assertEqual((ufunc.nin, ufunc.nout), (1 if kind == "_Unary" else 2, 1), name)
        allowed = self.folder / "allowed"
        allowed.write_text("\n".join([*NOT_COMPARED, *internal()]))
        code, text = self.run_tool("mypy.stubtest", "gufunc", "--concise", "--allowlist", allowed,
                                   "--ignore-unused-allowlist")
        self.assertEqual(code, 0, text)

    def test_the_package_is_checked(self):
        package = self.folder / "whole/gufunc"
        shutil.copytree(STUBS, package, ignore=shutil.ignore_patterns("__pycache__"))
        command = ("mypy", "--cache-dir", self.folder / "cache", "-p", "gufunc")
        code, text = self.run_tool(*command, where="whole")
        self.assertEqual(code, 0, text)
        self.assertIn("no issues found in", text)
        with (package / "_operators.py").open("a") as module:
            module.write("from ._errors import make_nothing\n")
        code, text = self.run_tool(*command, where="whole")
        self.assertIn("make_nothing", text)
        self.assertEqual(code, 1)

    def check(self, text):
        (self.folder / "program.py").write_text(text)
        return self.run_tool("mypy", "--strict", "--cache-dir", self.folder / "cache", "program.py")

    def test_programs_are_checked(self):
        code, text = self.check(GOOD)
        self.assertEqual(code, 0, text)
        code, text = self.check("import gufunc\n" + "\n".join(BAD))
        found = {int(line) - 2 for line in re.findall(r"^program.py:(\d+): error", text, re.M)}
        self.assertEqual([BAD[i] for i in range(len(BAD)) if i not in found], [])


if __name__ == "__main__":
    if importlib.util.find_spec("mypy") is None:
        print("skipped: no mypy")
        sys.exit(77)
    unittest.main()
