# SPDX-License-Identifier: Apache-2.0
"""Runs the gdb commands of docs/kernels.md that set breakpoints in a kernel.

kernel_breakpoints_test.py SOURCE_ROOT BIN_FOLDER"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = BIN = pathlib.Path()


class KernelBreakpoints(unittest.TestCase):
    def test_commands_of_the_page(self):
        page = (ROOT / 'docs/kernels.md').read_text()
        commands = re.search(r'```sh\n(gufcc -g .*?)```', page, re.S).group(1)
        self.assertIn('break discriminant.guf.cpp:8', commands)
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(ROOT / 'examples/kernels/discriminant.guf.cpp', folder)
            environment = {**os.environ, 'PATH': f'{BIN}:{os.environ["PATH"]}', 'HOME': folder,
                           'GUFUNC_CACHE_DIR': f'{folder}/cache', 'DEBUGINFOD_URLS': ''}
            done = subprocess.run(['bash', '-e', '-c', commands], cwd=folder, env=environment,
                                  input='backtrace\nprint b\ncontinue\nquit\n', text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=100)
        if 'ptrace: Operation not permitted' in done.stdout:
            self.skipTest('no process may be traced here')
        self.assertRegex(done.stdout, r'Breakpoint 1[.0-9]*, discriminant<double>')
        self.assertIn('return guf::sqrt(b * b - T(4) * a * c);', done.stdout)
        self.assertRegex(done.stdout, r'#0  .*discriminant<double> \(')
        self.assertRegex(done.stdout, r'#[1-9] .*guf::host::elementwise<')
        self.assertIn('$1 = 5\n', done.stdout)
        self.assertIn('\n1.0\n', done.stdout)


if __name__ == '__main__':
    ROOT, BIN = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    del sys.argv[1:3]
    unittest.main()
