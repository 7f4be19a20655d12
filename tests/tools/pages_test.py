# SPDX-License-Identifier: Apache-2.0
"""The manual page and the completions of the gufunc command: what is checked in is what its help
says, and shells and man(1) accept it.

pages_test.py GUFUNC MAKE_PAGES"""

import os
import pathlib
import shutil
import subprocess
import sys
import unittest

GUFUNC = MAKE_PAGES = ''


class Pages(unittest.TestCase):
    def folder(self):
        return pathlib.Path(MAKE_PAGES).parent / 'pages'

    def test_are_what_help_says(self):
        done = subprocess.run([sys.executable, MAKE_PAGES, GUFUNC, '--check'], capture_output=True,
                              text=True)
        self.assertEqual((done.returncode, done.stdout), (0, ''), done.stderr)

    def test_man_formats_the_page(self):
        if shutil.which('man') is None:
            self.skipTest('no man')
        done = subprocess.run(['man', '--warnings', '-l', self.folder() / 'gufunc.1'],
                              capture_output=True, text=True,
                              env={**os.environ, 'MANPAGER': 'cat', 'MANWIDTH': '80',
                                   'LC_ALL': 'C.UTF-8'})
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        for word in ('reduceat', '--chunk', "NumPy's universal functions", 'EXIT STATUS'):
            self.assertIn(word, done.stdout)

    def completed(self, *words):
        """What bash offers for the last word."""
        script = ('PATH=$1:$PATH; source "$2"; shift 2; COMP_WORDS=("$@"); '
                  'COMP_CWORD=$(($# - 1)); _gufunc; printf "%s\\n" "${COMPREPLY[@]}"')
        done = subprocess.run(['bash', '-c', script, 'bash', os.path.dirname(GUFUNC),
                               self.folder() / 'gufunc.bash', 'gufunc', *words],
                              capture_output=True, text=True, cwd=self.folder())
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        return done.stdout.split()

    def test_bash_completes(self):
        self.assertEqual(self.completed('acc'), ['accumulate'])
        self.assertEqual(self.completed('red'), ['reduce', 'reduceat'])
        self.assertEqual(self.completed('run', 'subtr'), ['subtract'])
        self.assertEqual(self.completed('run', 'add', '--thr'), ['--threads'])
        self.assertEqual(self.completed('reduce', 'add', '--keep'), ['--keepdims'])
        self.assertEqual(self.completed('run', 'add', '--casting', 's'), ['safe', 'same_kind'])
        self.assertEqual(self.completed('help', 'out'), ['outer'])
        self.assertEqual(self.completed('run', 'add', 'gufunc.f'), ['gufunc.fish'])

    def test_other_shells_accept_the_files(self):
        for shell, name in (('zsh', '_gufunc'), ('fish', 'gufunc.fish')):
            if shutil.which(shell) is not None:
                done = subprocess.run([shell, '-n', self.folder() / name], capture_output=True)
                self.assertEqual((done.returncode, done.stderr), (0, b''))


if __name__ == '__main__':
    GUFUNC, MAKE_PAGES = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    del sys.argv[1:3]
    unittest.main()
