# SPDX-License-Identifier: Apache-2.0
"""Checks the manual pages of gufunc and gufcc and the completions of gufunc. The committed files
must match the help, and shells and man(1) must accept them.

pages_test.py GUFUNC GUFCC MAKE_PAGES"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

GUFUNC = GUFCC = MAKE_PAGES = ''


class Pages(unittest.TestCase):
    def folder(self):
        return pathlib.Path(MAKE_PAGES).parent / 'pages'

    def test_pages_equal_the_help(self):
        for program in (GUFUNC, GUFCC):
            done = subprocess.run([sys.executable, MAKE_PAGES, program, '--check'],
                                  capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stdout), (0, ''), done.stderr)

    def test_gufcc_page_has_every_option(self):
        page = self.gufcc_page().read_text()
        options = re.findall(r'^  (-\S+)', subprocess.run([GUFCC, '--help'], capture_output=True,
                                                          text=True, check=True).stdout, re.M)
        self.assertGreater(len(options), 20)
        listed = re.findall(r'^\.TP\n((?:\\fB.*))', page, re.M)
        self.assertEqual(len(listed), len(options))
        for names, row in zip(options, listed):
            for name in names.split(','):
                self.assertIn('\\fB' + name.replace('-', '\\-') + '\\fR', row)
        for variable in ('GUFUNC_CACHE_DIR', 'CUDA_HOME'):
            self.assertIn(f'.B {variable}\n', page)

    def gufcc_page(self):
        return pathlib.Path(MAKE_PAGES).parent.parent / 'gufcc/pages/gufcc.1'

    def test_man_formats_the_pages(self):
        if shutil.which('man') is None:
            self.skipTest('no man')
        for page, words in (
            (self.folder() / 'gufunc.1',
             ('reduceat', '--chunk', "NumPy's universal functions", 'EXIT STATUS')),
            (self.gufcc_page(),
             ('--targets', 'strict|fast|vendor', 'Kernel sources', 'EXIT STATUS', 'ENVIRONMENT')),
        ):
            done = subprocess.run(['man', '--warnings', '-l', page], capture_output=True, text=True,
                                  env={**os.environ, 'MANPAGER': 'cat', 'MANWIDTH': '80',
                                       'LC_ALL': 'C.UTF-8'})
            self.assertEqual((done.returncode, done.stderr), (0, ''))
            for word in words:
                self.assertIn(word, done.stdout)

    def completed(self, *words):
        """Returns bash's completions of the last word of a command line."""
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
        self.assertEqual(self.completed('bench', 'add', '--layout', 'st'), ['strided'])
        self.assertEqual(self.completed('help', 'out'), ['outer'])
        self.assertEqual(self.completed('run', 'add', 'gufunc.f'), ['gufunc.fish'])

    def test_other_shells_accept_the_files(self):
        for shell, name in (('zsh', '_gufunc'), ('fish', 'gufunc.fish')):
            if shutil.which(shell) is not None:
                done = subprocess.run([shell, '-n', self.folder() / name], capture_output=True)
                self.assertEqual((done.returncode, done.stderr), (0, b''))


if __name__ == '__main__':
    GUFUNC, GUFCC, MAKE_PAGES = map(os.path.abspath, sys.argv[1:4])
    del sys.argv[1:4]
    unittest.main()
