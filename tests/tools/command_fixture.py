# SPDX-License-Identifier: Apache-2.0
"""Runs the gufunc command in a separate folder, for the tests in this folder."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np


class CommandTest(unittest.TestCase):
    command = ''
    folders = []  # further folders in the arguments of the test

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.here = pathlib.Path(self.folder.name)
        self.out = self.here / 'o.npy'

    def tearDown(self):
        self.folder.cleanup()

    def save(self, name, array):
        np.save(self.here / name, array)
        return self.here / name

    def contents(self):
        return {path.name: path.read_bytes() for path in self.here.iterdir() if path.is_file()}

    def run_tool(self, *arguments):
        done = subprocess.run([self.command, *map(str, arguments)], capture_output=True, text=True)
        return done.returncode, done.stdout, done.stderr

    def ok(self, *arguments):
        code, out, err = self.run_tool(*arguments)
        self.assertEqual(code, 0, f'{arguments}: {err}')
        return out

    def fails(self, code, text, *arguments):
        """Expects that the command exits with `code`, prints nothing on stdout and one message on
        stderr, and changes no files."""
        before = self.contents()
        found, out, err = self.run_tool(*arguments)
        self.assertEqual((found, out), (code, ''), f'{arguments}: {err}')
        self.assertTrue(err.startswith('gufunc: '), err)
        self.assertIn(text, err)
        self.assertEqual(self.contents(), before)


def main():
    """Parses the arguments of a test (GUFUNC [FOLDER...]) and runs it."""
    CommandTest.command = os.path.abspath(sys.argv[1])
    CommandTest.folders = [pathlib.Path(folder) for folder in sys.argv[2:]]
    del sys.argv[1:]
    unittest.main(module='__main__')
