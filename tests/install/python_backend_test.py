#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests how bindings/python/build_backend.py handles settings, with a cmake that only records its
arguments, and its progress line on a terminal."""

import os
import pathlib
import pty
import sys
import tempfile
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bindings/python"))
import build_backend  # noqa: E402

CMAKE = f"""#!{sys.executable}
import pathlib, sys
folder = pathlib.Path(__file__).parent
with open(folder / "calls", "a") as calls:
    calls.write("\\0".join(sys.argv[1:]) + "\\n")
if "--build" in sys.argv:
    print("[1/2] first\\n[2/2] second", flush=True)
else:
    build = pathlib.Path(sys.argv[sys.argv.index("-B") + 1] if "-B" in sys.argv else sys.argv[1])
    build.mkdir(parents=True, exist_ok=True)
    (build / "CMakeCache.txt").write_text(
        "CMAKE_PROJECT_VERSION:STRING=0.1.0\\nGUFUNC_BUILD_BACKENDS:STRING=cpu\\n"
        "_Python_EXECUTABLE:INTERNAL={sys.executable}\\n")
"""


class Backend(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name).resolve()
        cmake = self.folder / "cmake"
        cmake.write_text(CMAKE)
        cmake.chmod(0o755)

    def build(self, settings=None, environment=None):
        """Builds a wheel and returns the calls of cmake."""
        settings = {"build-dir": str(self.folder / "tree"), **(settings or {})}
        path = f"{self.folder}:{os.environ['PATH']}"
        with mock.patch.dict(os.environ, {**(environment or {}), "PATH": path}), \
                mock.patch("make_wheel.make", lambda *_: pathlib.Path("gufunc.whl")), \
                mock.patch("build_backend.SECONDS_BETWEEN_REPORTS", -1):
            self.assertEqual(build_backend.build_wheel("wheels", settings), "gufunc.whl")
        return [line.split("\0") for line in (self.folder / "calls").read_text().splitlines()]

    def test_the_cpu_backend_alone_without_settings(self):
        configured, built = self.build(environment={"CMAKE_ARGS": ""})
        self.assertIn("-DGUFUNC_BUILD_BACKENDS=cpu", configured)
        self.assertIn("-DGUFUNC_CUDA_TARGETS=all", configured)
        self.assertIn("-DGUFUNC_ROC_TARGETS=all", configured)
        self.assertIn("-DGUFUNC_BUILD_TESTS=OFF", configured)
        self.assertEqual(built[-2:], ["product", "gufunc_python_package"])

    def test_settings_come_after_the_environment_and_the_defaults(self):
        configured, _ = self.build(
            {"cmake.define.GUFUNC_BUILD_BACKENDS": "cpu;cuda", "cmake.args": "-Wno-dev '-DA=b c'"},
            {"CMAKE_ARGS": "-DGUFUNC_BUILD_BACKENDS=cpu;roc -DB=2"})
        backends = [word for word in configured if word.startswith("-DGUFUNC_BUILD_BACKENDS=")]
        self.assertEqual([word.split("=")[1] for word in backends], ["cpu", "cpu;roc", "cpu;cuda"])
        self.assertEqual([word for word in configured if word in ("-DA=b c", "-DB=2", "-Wno-dev")],
                         ["-DB=2", "-Wno-dev", "-DA=b c"])

    def test_a_tree_that_is_there_is_configured_again_for_settings_only(self):
        self.assertEqual(len(self.build(environment={"CMAKE_ARGS": ""})), 2)
        self.assertEqual(len(self.build(environment={"CMAKE_ARGS": ""})), 3)
        calls = self.build({"cmake.define.X": "1"}, {"CMAKE_ARGS": ""})
        self.assertEqual(calls[3], [str(self.folder / "tree"), "-DX=1"])

    def test_an_unknown_setting_is_refused(self):
        with self.assertRaisesRegex(ValueError, "'builddir' is unknown: expected build-dir"):
            self.build({"builddir": "x"})

    def test_a_failed_build_is_an_error(self):
        (self.folder / "cmake").write_text("#!/bin/sh\nexit 3\n")
        with self.assertRaisesRegex(RuntimeError, "exit status 3"):
            self.build()

    def test_the_terminal_shows_progress(self):
        child, terminal = pty.fork()
        if child == 0:
            try:
                os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
                os.dup2(1, 2)
                self.build()
            finally:
                os._exit(0)
        shown = b""
        try:
            while block := os.read(terminal, 4096):
                shown += block
        except OSError:  # the child closed the terminal
            pass
        os.waitpid(child, 0)
        self.assertRegex(shown.decode(), r"gufunc: configuring")
        self.assertRegex(shown.decode(), r"gufunc: built 2 of 2 files \(\d+ s\)")


if __name__ == "__main__":
    unittest.main()
