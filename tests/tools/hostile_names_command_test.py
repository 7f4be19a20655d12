# SPDX-License-Identifier: Apache-2.0
"""Checks that gufunc and gufcc print no control characters that file names, arguments, archives,
modules or sources contain, because a terminal would interpret the characters.

hostile_names_command_test.py GUFUNC GUFCC INCLUDE_FOLDER"""

import json
import os
import pty
import subprocess
import zipfile

import command_fixture
import numpy as np

# A line feed, the sequence that clears a screen, its C1 form, a character that reverses text, and a
# byte that is not UTF-8.
HOSTILE = 'x\n\t\x1b[2J\x7f\u009b2J\u202e\udcff'
ESCAPED = r'x\n\t\x1b[2J\x7f\u009b2J\u202e\xff'


class HostileNames(command_fixture.CommandTest):
    def run_bytes(self, *arguments, **more):
        """Returns status, stdout and stderr. Checks that a terminal would not interpret any
        character of the output."""
        done = subprocess.run([*map(os.fsencode, map(str, arguments))], cwd=self.here,
                              capture_output=True, **more)
        texts = [text.decode() for text in (done.stdout, done.stderr)]
        for text in texts:
            self.assertTrue(text.replace('\n', '').isprintable(), (arguments, text))
        return done.returncode, *texts

    def prints(self, expected, *arguments):
        code, out, err = self.run_bytes(self.command, *arguments)
        self.assertEqual((code, err), (0, ''), arguments)
        self.assertEqual(out, expected)

    def refused(self, code, expected, *arguments, **more):
        found, out, err = self.run_bytes(self.command, *arguments, **more)
        self.assertEqual((found, out), (code, ''), arguments)
        self.assertTrue(err.startswith(expected), err)
        self.assertEqual(err.count('\n'), 1, err)

    def test_file_names(self):
        name = HOSTILE + '.npy'
        self.save(name, np.arange(3.0))
        self.prints(f'{ESCAPED}.npy: float64, shape (3,), C order, 3 elements, 24 bytes\n', 'info',
                    name)
        code, out, _ = self.run_bytes(self.command, 'info', '--json', name)
        self.assertTrue(out.isascii())
        self.assertEqual((code, json.loads(out)[0]['file']),
                         (0, name.replace('\udcff', '\N{REPLACEMENT CHARACTER}')))
        code, out, _ = self.run_bytes(self.command, 'run', 'negative', '--json', name, '-o',
                                      f'o{name}')
        self.assertEqual((code, out.isascii()), (0, True))
        self.refused(2, f'gufunc: --into {ESCAPED}.npz: expected an existing .npy file', 'run',
                     'negative', name, '--into', f'{HOSTILE}.npz')
        (self.here / name).write_bytes(b'short')
        self.refused(3, f'gufunc: {ESCAPED}.npy: not a usable .npy file', 'run', 'negative', name)

    def test_arguments(self):
        quoted = f"'{ESCAPED}'"
        for code, expected, *arguments in (
            (3, f'{ESCAPED}: no such file, and not a literal', 'run', 'negative', HOSTILE),
            (3, f'{ESCAPED}: cannot read: No such file', 'info', HOSTILE),
            (4, f'no ufunc named {quoted}', 'run', HOSTILE, '1'),
            (2, f'no command {quoted}', HOSTILE),
            (2, f"list has no option '--{ESCAPED}'", 'list', f'--{HOSTILE}'),
            (2, f'The following argument was not expected: {ESCAPED}', 'list', HOSTILE),
            (3, f'--module {ESCAPED}: cannot open', 'list', '--module', HOSTILE),
            (2, f'--axis: expected an integer, several (0,2), none or (), got {quoted}', 'reduce',
             'add', '1', '--axis', HOSTILE),
            (2, f"literal 'f4:{ESCAPED}': {quoted} is not a number", 'run', 'negative',
             f'f4:{HOSTILE}'),
            (3, f'{ESCAPED}/o.npy: cannot create a file beside', 'run', 'negative', '1', '-o',
             f'{HOSTILE}/o.npy'),
        ):
            self.refused(code, f'gufunc: {expected}', *arguments)

    def test_warnings(self):
        code, out, err = self.run_bytes(self.command, 'run', 'negative', '1',
                                        env={**os.environ, 'GUFUNC_BACKEND_PATH_ADD': HOSTILE})
        self.assertEqual((code, out), (0, '-1\n'))
        self.assertEqual(err, f"gufunc: warning: no plugins are looked for in '{ESCAPED}', a "
                              'relative path\n')

    def test_file_contents(self):
        path = self.here / 'x.npz'
        with zipfile.ZipFile(path, 'w') as archive:
            with archive.open('a\u009b\u202e.npy', 'w') as file:
                np.save(file, np.arange(3.0))
        self.prints('x.npz: 1 array\n  a\\u009b\\u202e: float64, shape (3,), C order, 3 elements, '
                    '24 bytes\n', 'info', 'x.npz')
        header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (\x1b[2J\xff,), }\n"
        (self.here / 'a.npy').write_bytes(b'\x93NUMPY\1\0' + bytes([len(header), 0]) + header)
        self.refused(3, 'gufunc: a.npy: not a usable .npy file: expected an extent of shape, '
                        r"digits only, at character 51, got '\x1b[2J\xff'", 'info', 'a.npy')

    def test_modules(self):
        compiler, include = self.folders
        # This name contains no line feed, because no #include can spell one, and no tab, because
        # messages of a compiler may contain tabs.
        source = HOSTILE.replace('\n\t', '') + '.guf.cpp'
        with open(os.fsencode(self.here / source), 'wb') as file:
            file.write(b'#include <gufunc/kernel.hpp>\nGUF_DEVICE float f(float x) { return x; }\n'
                       b'GUF_UFUNC(f, "f->f", "doc=a\x1b[2J\xc2\x9b");\n')
        build = (compiler, '-I', include, '--no-cache', '--targets', 'host', '--name', 'm')
        code, out, err = self.run_bytes(*build, '-o', 'm.so', '--', source)
        self.assertEqual((code, out, err), (0, '', ''))
        code, out, err = self.run_bytes(compiler, '-I', include, '--list', '--', source)
        self.assertEqual((code, out.split('\n')[1], err),
                         (0, r'f     elementwise  f->f   a\x1b[2J\u009b', ''))
        doc = r'a\x1b[2J\u009b'
        self.prints(f'm.so: module m\n  m:f  1 in, 1 out  {doc}\n', 'info', 'm.so')
        for command in (('list',), ('describe', 'f')):
            code, out, err = self.run_bytes(self.command, *command, '--module', 'm.so')
            self.assertEqual((code, err), (0, ''))
            self.assertIn(f'  {doc}\n', out)
            code, out, err = self.run_bytes(self.command, *command, '--module', 'm.so', '--json')
            self.assertEqual((code, err, out.isascii()), (0, '', True))

        for arguments, code, expected in (
            ((HOSTILE,), 1, f'gufcc: error: cannot read the source {ESCAPED}'),
            ((f'--{HOSTILE}', source), 2, f'The following argument was not expected: --{ESCAPED}'),
        ):
            found, out, err = self.run_bytes(compiler, *arguments)
            self.assertEqual((found, out), (code, ''))
            self.assertTrue(err.startswith(expected), err)
        with open(os.fsencode(self.here / source), 'ab') as file:
            file.write(b'GUF_DEVICE int g() { return \x1b[2J; }\nGUF_UFUNC(nothing, "f->f");\n')
        code, out, err = self.run_bytes(*build, '-o', 'm.so', '--', source)
        self.assertEqual((code, out), (1, ''))
        self.assertTrue(err.startswith(ESCAPED.replace(r'\n\t', '') + '.guf.cpp:'), err)

    def test_terminal(self):
        ours, theirs = pty.openpty()
        done = subprocess.run([self.command, 'run', 'negative', os.fsencode(HOSTILE)],
                              stdin=theirs, stdout=theirs, stderr=theirs)
        os.close(theirs)
        shown = os.read(ours, 10000).decode()
        os.close(ours)
        self.assertEqual(done.returncode, 3)
        self.assertEqual(shown, f'gufunc: {ESCAPED}: no such file, and not a literal (2, 2.5, '
                                '1+2j, f4:2, True)\r\n')


if __name__ == '__main__':
    command_fixture.main()
