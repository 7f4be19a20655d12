# SPDX-License-Identifier: Apache-2.0
"""Runs the examples and the code blocks of the README, and compares their output.

python_examples_test.py MODULES_FOLDER BINDING_FOLDER
"""

import pathlib
import re
import subprocess
import sys
import unittest

MODULES, FOLDER = sys.argv.pop(1), pathlib.Path(sys.argv.pop(1))


def run(*command, text=None):
    return subprocess.run([sys.executable, *command], input=text, capture_output=True, text=True,
                          timeout=120)


class Examples(unittest.TestCase):
    def check(self, name, *arguments):
        result = run(FOLDER / "examples" / f"python_{name}.py", *arguments)
        self.assertEqual(result.stderr, "")
        self.assertEqual(result.stdout, (FOLDER / "examples" / f"python_{name}.out").read_text())

    def test_builtin(self):
        self.check("builtin")

    def test_own(self):
        self.check("own_ufunc", MODULES)
        self.check("own_gufunc", MODULES)

    def test_devices(self):
        for device in ("cpu", "cuda:0", "roc:0"):
            if run("-c", f"import gufunc; gufunc.Device('{device}')").returncode == 0:
                self.check("device_stream", device)
                self.check("chunked", device)
            else:
                self.assertNotEqual(device, "cpu")

    def test_readme(self):
        """Runs every Python block and compares its output with the comments in the block."""
        text = (FOLDER / "README.md").read_text()
        blocks = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
        self.assertTrue(blocks)
        for block in blocks:
            result = run("-", text=block)
            self.assertEqual(result.returncode, 0, result.stderr)
            printed = " ".join(result.stdout.split())
            for expected in re.findall(r"# prints (.*)$", block, re.MULTILINE):
                self.assertIn(expected, printed)


if __name__ == "__main__":
    unittest.main()
