# SPDX-License-Identifier: Apache-2.0
"""Builds a wheel, installs it in a new environment, and uses it there without the build tree.
Arguments: the source tree, the build tree, the version, cmake, and a kernel's source."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE, BUILD, VERSION, CMAKE, KERNEL = sys.argv[1:6]
PROGRAM = """
import sys
import gufunc
from gufunc import _library, cuda

inside = sys.argv[1]
assert gufunc.__file__.startswith(inside), gufunc.__file__
assert _library.library_path().startswith(inside), _library.library_path()
assert gufunc.add([1, 2], 3).tolist() == [4, 5]
for backend in gufunc.backends():
    assert backend.path.startswith(inside), backend.path
names = sorted(backend.name for backend in gufunc.backends())
assert names == ["cpu", "cuda", "roc"], names
maps = open("/proc/self/maps").read()
assert sys.argv[3] not in maps.replace(sys.argv[3] + "/sim", ""), "something of the build tree"
if cuda.is_available():
    there = cuda.to_device([1.0, 2.0])
    assert gufunc.add(there, there).tolist() == [2, 4]
module = gufunc.build(sys.argv[2], cache=sys.argv[1] + "/cache")
assert module.discriminant(0.25, 10.0, 1.0) > 9
print("works", cuda.is_available())
"""


def run(*command, **keywords):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, **keywords)
    if done.returncode != 0:
        raise AssertionError(f"{command}: {done.stdout}{done.stderr}")
    return done.stdout


class Wheel(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name).resolve()

    def pack(self, folder):
        return pathlib.Path(run(sys.executable, f"{SOURCE}/bindings/python/make_wheel.py",
                                "--build", BUILD, "--output", self.scratch / folder, "--version",
                                VERSION, "--cmake", CMAKE).strip())

    def test_a_wheel_installs_and_works(self):
        wheel = self.pack("wheels")
        self.assertEqual(wheel.read_bytes(), self.pack("again").read_bytes())
        self.check("--no-deps", wheel)

    def test_the_repository_installs_and_works(self):
        """One command installs the package from the existing build tree. Nothing is downloaded."""
        self.check("--config-settings", f"build-dir={BUILD}", f"{SOURCE}/bindings/python")

    def check(self, *what):
        place = self.scratch / "environment"
        run(sys.executable, "-m", "venv", place)
        python = place / "bin/python"
        clean = {name: value for name, value in os.environ.items()
                 if name not in ("PYTHONPATH", "GUFUNC_LIBRARY", "GUFUNC_GUFCC")}
        # cmake must not load the libraries of the simulated drivers.
        plain = {name: value for name, value in clean.items() if name != "LD_LIBRARY_PATH"}
        run(python, "-m", "pip", "install", "--no-index", "--disable-pip-version-check", *what,
            env=plain)
        text = run(python, "-c", PROGRAM, place, KERNEL, BUILD, env=clean, cwd=self.scratch)
        self.assertEqual(text, "works True\n")
        shown = run(python, "-m", "pip", "show", "--disable-pip-version-check", "gufunc", env=clean)
        self.assertIn(f"Version: {VERSION}", shown)
        run(python, "-m", "pip", "uninstall", "-y", "--disable-pip-version-check", "gufunc",
            env=clean)
        left = subprocess.run([python, "-c", "import gufunc"], capture_output=True, env=clean,
                              cwd=self.scratch)
        self.assertNotEqual(left.returncode, 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
