# SPDX-License-Identifier: Apache-2.0
"""Runs the gufunc command as a user does: input files, output files and text, exit codes, and no
partial results.

command_line_test.py GUFUNC MODULE_FOLDER"""

import itertools
import json
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import unittest

import numpy as np

GUFUNC, MODULES = '', pathlib.Path()


def gufunc(*arguments):
    done = subprocess.run([GUFUNC, *map(str, arguments)], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


class CommandLine(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.here = pathlib.Path(self.folder.name)

    def tearDown(self):
        self.folder.cleanup()

    def save(self, name, array):
        np.save(self.here / name, array)
        return self.here / name

    def ok(self, *arguments):
        code, out, err = gufunc(*arguments)
        self.assertEqual(code, 0, f'{arguments}: {err}')
        return out

    def fails(self, code, text, *arguments):
        found, out, err = gufunc(*arguments)
        self.assertEqual((found, out), (code, ''), f'{arguments}: {err}')
        self.assertIn(text, err)

    def files(self):
        return sorted(path.name for path in self.here.iterdir())

    def test_version_and_lists(self):
        self.assertRegex(self.ok('--version'), r'^gufunc \d+\.\d+\.\d+\n$')
        self.assertIn('cpu', self.ok('devices'))
        names = [row['name'] for row in json.loads(self.ok('list', '--json'))]
        self.assertEqual(names, sorted(names))
        self.assertIn('matmul', names)
        self.assertIn('ff->f', json.loads(self.ok('describe', 'add', '--json'))['loops'])
        states = {row['backend']: row['state'] for row in json.loads(self.ok('devices', '--json'))}
        self.assertEqual(states['cpu'], 'GUF_OK')

    def test_prints_as_numpy(self):
        for array in (
            np.arange(5.0),
            np.arange(6).reshape(2, 3),
            np.array(2.5),
            np.array([1 + 2j, 0]),
            np.array([True, False]),
            np.array([1e-9, 1.0, 3e7]),
            np.arange(2000.0),
        ):
            path = self.save('a.npy', array)
            name = 'logical_or' if array.dtype == bool else 'add'
            self.assertEqual(
                self.ok('run', name, path, 'False' if array.dtype == bool else '0').rstrip('\n'),
                str(array),
            )

    def test_literals(self):
        path = self.save('a.npy', np.ones(3, np.float32))
        out = self.here / 'o.npy'
        for literal, dtype in (
            ('2', 'f4'),
            ('2.5', 'f4'),
            ('-2', 'f4'),
            ('f8:2', 'f8'),
            ('1+2j', 'c8'),
            ('i4:2', 'f8'),
            ('f2:0.5', 'f4'),
            ('True', 'f4'),
            ('-.5', 'f4'),
            ('inf', 'f4'),
            ('-inf', 'f4'),
        ):
            self.ok('run', 'add', path, literal, '-o', out)
            self.assertEqual(np.load(out).dtype, np.dtype(dtype), literal)
        self.assertEqual(
            self.ok('run', 'add', 'u8:18446744073709551615', 'u8:0').strip(), '18446744073709551615'
        )
        self.fails(2, "literal 'u1:300'", 'run', 'add', path, 'u1:300')
        self.fails(2, "literal 'f9:3'", 'run', 'add', path, 'f9:3')
        self.fails(3, 'no such file, and not a literal', 'run', 'add', path, 'nothing.npy')
        self.fails(
            4, 'out of bounds', 'run', 'add', self.save('b.npy', np.ones(2, np.uint8)), '300'
        )

    def test_negative_numbers(self):
        a = self.save('a.npy', np.arange(6.0).reshape(2, 3))
        for axis in (['--axis', '-1'], ['--axis=-1'], ['--axis', '-2']):
            expected = np.vecdot(*[np.load(a)] * 2, axis=int(axis[-1].split('=')[-1]))
            self.assertEqual(self.ok('run', 'vecdot', a, a, *axis).strip(), str(expected))
        for value in ('-1', 'n=-1'):
            self.fails(2, f"--dim: expected NAME=SIZE with a size of at least 0, got '{value}'\n",
                       'run', 'add', a, a, '--dim', value)
        self.assertEqual(self.ok('run', 'add', '-2', '-3').strip(), '-5')
        self.assertEqual(self.ok('run', 'add', '--', '-2', '-3').strip(), '-5')
        self.fails(3, 'not a literal', 'run', 'add', a, ':2')

    def test_complex_literals_need_a_complex_dtype(self):
        for literal in ('f4:1+2j', 'f8:2j', 'e:0j', '?:1j'):
            self.fails(2, 'not a value of', 'run', 'add', literal, '1')
        self.assertEqual(self.ok('run', 'add', 'c8:1+2j', '1').strip(), '(2+2j)')

    def test_errors_are_numpys_when_stderr_is_no_terminal(self):
        code, _, err = gufunc('run', 'power', 'i8:2', 'i8:-1')
        self.assertEqual(code, 4)
        self.assertIn('Integers to negative integer powers are not allowed', err)
        self.assertNotIn('stream', err)

    def test_warnings_of_the_library(self):
        found = {**os.environ, 'GUFUNC_BACKENDS': 'cpu,nosuch'}
        for arguments, code in ((('devices',), 0), (('run', 'nosuch', '1'), 4)):
            done = subprocess.run([GUFUNC, *arguments], capture_output=True, text=True, env=found)
            self.assertEqual(done.returncode, code, done.stderr)
            if code == 0:
                self.assertRegex(done.stderr,
                                 "(?m)^gufunc: warning: .*'nosuch', which is not installed")
        self.assertEqual(gufunc('run', 'add', '1', '2')[2], '')

    def test_layouts_and_dtypes(self):
        out = self.here / 'o.npy'
        for dtype in '? b h i q B H I Q e f d F D >i4 >f8 >c8'.split():
            for order in 'CF':
                array = np.asarray(np.arange(6).reshape(2, 3) % 2, dtype, order=order)
                self.ok('run', 'logical_not', self.save('a.npy', array), '-o', out)
                np.testing.assert_array_equal(np.load(out), np.logical_not(array))
        self.ok('run', 'negative', self.save('a.npy', np.ones((2, 3))), '-o', out, '--order', 'F')
        self.assertTrue(np.load(out).flags.f_contiguous)

    def test_bfloat16_only_as_raw(self):
        path = self.save('a.npy', np.array([0x3F80, 0x4000], np.uint16).view('V2'))
        out = self.here / 'o.npy'
        self.fails(3, '--raw', 'run', 'add', path, path, '-o', out)
        self.ok('run', 'add', path, path, '-o', out, '--raw')
        np.testing.assert_array_equal(np.load(out).view(np.uint16), [0x4000, 0x4080])

    def test_options(self):
        a, out = self.save('a.npy', np.arange(4.0)), self.here / 'o.npy'
        mask = self.save('m.npy', np.array([True, False, True, True]))
        into = self.save('into.npy', np.full((2, 4), 9.0, np.float32))
        self.ok('run', 'add', a, '1', '--where', mask, '--into', into)
        np.testing.assert_array_equal(np.load(into), [[1, 9, 3, 4]] * 2)
        self.fails(
            4,
            "from dtype('float64') to dtype('float32')",
            'run',
            'add',
            a,
            a,
            '--casting',
            'safe',
            '--into',
            into,
        )
        self.ok('run', 'add', a, a, '--dtype', 'complex128', '-o', out)
        self.assertEqual(np.load(out).dtype, np.complex128)
        self.fails(2, "--casting: expected no, equiv, safe, same_kind or unsafe, got 'sloppy'\n",
                   'run', 'add', a, a, '--casting', 'sloppy')
        self.ok('run', 'square', a, '--inplace')
        np.testing.assert_array_equal(np.load(a), [0, 1, 4, 9])
        self.assertEqual(
            json.loads(self.ok('run', 'vecdot', a, a, '--json'))['outputs'][0]['shape'], []
        )
        code, _, err = gufunc('run', 'exp', a, '-o', out, '--time', '--threads', '1')
        self.assertEqual(code, 0)
        self.assertIn('elements/s', err)
        self.assertIn(', 1 thread)', err)
        # --time and explain must report the same number of threads.
        for keywords in ([], ['--threads', '1'], ['--threads', '2']):
            report = self.ok('explain', 'exp', a, *keywords)
            most = re.search(r'^threads: (?:up to )?(\d+)', report, re.MULTILINE)[1]
            code, _, err = gufunc('run', 'exp', a, '-o', out, '--time', *keywords)
            self.assertEqual(re.search(r', (\d+) threads?\):', err)[1], most)

    def values(self, *arguments):
        return json.loads(self.ok('run', *arguments, '--json'))['outputs'][0]['values']

    def test_json_has_every_value_as_a_number(self):
        many = np.arange(6000.0).reshape(2, 3, 1000) / 7
        found = self.values('negative', self.save('a.npy', many))
        self.assertEqual(found, (-many).tolist())
        for dtype in ('?', 'i1', 'u1', 'i8', 'u8', 'f2', 'f4', 'f8'):
            array = np.array([[0, 1], [1, 0]], dtype)
            found = self.values('maximum', self.save('a.npy', array), 'False')
            self.assertEqual(str(found), str(array.tolist()))
        high = np.array([2**64 - 1], np.uint64)
        self.assertEqual(self.values('maximum', self.save('a.npy', high), 'u8:0'), [2**64 - 1])
        half = np.array([0.1, 6e-8, 65504], np.float16)
        self.assertEqual(self.values('multiply', self.save('a.npy', half), '1'), half.tolist())
        odd = np.array([np.nan, np.inf, -np.inf, -0.0])
        found = self.values('multiply', self.save('a.npy', odd), '1')
        self.assertEqual(str(found), "['nan', 'inf', '-inf', -0.0]")
        pair = np.array([1 + 2j, complex(np.inf, 0.5)])
        found = self.values('add', self.save('a.npy', pair), '0')
        self.assertEqual(found, [[1, 2], ['inf', 0.5]])
        self.assertEqual(self.values('add', '2', '3'), 5)
        self.assertEqual(self.values('negative', self.save('a.npy', np.ones((2, 0)))), [[], []])

    def test_failures_leave_nothing_behind(self):
        a, b = self.save('a.npy', np.ones(3)), self.save('b.npy', np.ones(4))
        before = self.files()
        self.fails(
            4,
            'could not be broadcast together with shapes (3,) (4,)',
            'run',
            'add',
            a,
            b,
            '-o',
            self.here / 'o.npy',
        )
        powers = self.save('a.npy', np.array([2, 3, 4])), self.save('b.npy', np.array([1, -1, 2]))
        self.fails(
            4,
            'Integers to negative integer powers',
            'run',
            'power',
            *powers,
            '-o',
            self.here / 'o.npy',
        )
        self.fails(4, 'Integers to negative integer powers', 'run', 'power', *powers, '--inplace')
        np.testing.assert_array_equal(np.load(powers[0]), [2, 3, 4])
        self.fails(3, 'cannot create', 'run', 'add', a, a, '-o', self.here / 'no' / 'o.npy')
        self.fails(5, 'cuda', 'run', 'add', a, a, '--device', 'cuda:0')
        self.fails(4, 'nosuch', 'run', 'nosuch', a)
        self.fails(2, '', 'run', 'add', a, '--frobnicate')
        self.assertEqual(self.files(), before)

    def test_output_replaces_regular_files_only(self):
        a, fifo = self.save('a.npy', np.ones(3)), self.here / 'fifo'
        os.mkfifo(fifo)
        (self.here / 'folder').mkdir()
        for link, target in (('to_fifo', 'fifo'), ('nowhere', 'none'), ('circle', 'circle')):
            (self.here / link).symlink_to(target)
        before = self.files()
        for name in ('fifo', 'folder', 'to_fifo', 'nowhere', 'circle'):
            self.fails(3, 'is not a regular file', 'run', 'negative', a, '-o', self.here / name)
        self.assertTrue(fifo.is_fifo())
        self.assertEqual(self.files(), before)
        link = self.here / 'link.npy'
        link.symlink_to(self.save('target.npy', np.zeros(1)).name)
        self.ok('run', 'negative', a, '-o', link)
        self.assertTrue(link.is_symlink())
        np.testing.assert_array_equal(np.load(self.here / 'target.npy'), [-1] * 3)

    def test_rewritten_files_keep_mode_and_owner(self):
        a, into = self.save('a.npy', np.ones(3)), self.save('into.npy', np.zeros(3))
        root = os.geteuid() == 0
        for path, options in ((into, ('--into', into)), (a, ('--inplace',))):
            path.chmod(0o640)
            if root:
                os.chown(path, 12345, 12346)
            old = path.stat()
            self.ok('run', 'negative', a, *options)
            new = path.stat()
            self.assertNotEqual(new.st_ino, old.st_ino)
            self.assertEqual(
                (new.st_mode, new.st_uid, new.st_gid), (old.st_mode, old.st_uid, old.st_gid)
            )

    def test_files_that_are_not_writable_are_not_rewritten(self):
        a, into = self.save('a.npy', np.ones(3)), self.save('into.npy', np.zeros(3))
        self.here.chmod(0o777)
        into.chmod(0o444)
        other = {'user': 65534, 'group': 65534} if os.geteuid() == 0 else {}
        done = subprocess.run(
            [GUFUNC, 'run', 'negative', a, '--into', into], capture_output=True, text=True, **other
        )
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn('into.npy: cannot write: Permission denied', done.stderr)
        np.testing.assert_array_equal(np.load(into), np.zeros(3))
        self.assertEqual(self.files(), ['a.npy', 'into.npy'])

    def test_a_file_over_the_limit_leaves_nothing_behind(self):
        a = self.save('a.npy', np.ones(3000))
        done = subprocess.run(
            [GUFUNC, 'run', 'negative', a, '-o', self.here / 'o.npy'],
            capture_output=True,
            text=True,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024)),
        )
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn('o.npy: cannot allocate space for: File too large', done.stderr)
        self.assertEqual(self.files(), ['a.npy'])

    def test_damaged_files(self):
        whole = self.save('a.npy', np.arange(3.0)).read_bytes()
        path = self.here / 'a.npy'
        for length in range(0, len(whole), 7):
            path.write_bytes(whole[:length])
            self.fails(3, 'a.npy', 'run', 'negative', path, '-o', self.here / 'o.npy')
        self.assertEqual(self.files(), ['a.npy'])

    def module(self, name):
        return MODULES / f'{name}.so'

    def test_modules(self):
        a, b, c = (
            self.save(n, np.array(v, np.float32))
            for n, v in (
                ('a.npy', [0, 0.25, 0.5, 0.75, 1]),
                ('b.npy', [10, 10.1, 10.5, 10.7, 11]),
                ('c.npy', [1, 0.9, 0.3, 0.6, 0.1]),
            )
        )
        text = self.ok('run', 'discriminant', a, b, c, '--module', self.module('discriminant'))
        self.assertEqual(text.strip(), '[10.       10.055347 10.47139  10.615555 10.981803]')
        self.assertIn(
            'discriminant:discriminant', self.ok('list', '--module', self.module('discriminant'))
        )
        self.fails(3, '', 'run', 'discriminant', a, b, c, '--module', a)

    def test_raw_kernels(self):
        module = self.module('raw_matmul')
        rows = json.loads(self.ok('list', '--module', module, '--json'))
        row = next(row for row in rows if row['name'] == 'raw_matmul:matmul_tiled_d')
        self.assertEqual(row['kernel'], 'const float64[,], const float64[,], float64[,]')
        self.assertEqual((row['threads'], row['shared']), (256, 4352))
        self.assertIn('raw_matmul:matmul_naive_f', self.ok('list', '--module', module))
        report = self.ok('describe', 'count_in_circle', '--module', self.module('raw_counting'))
        self.assertIn('raw kernel\n  accepts   uint64, int64, uint64*\n', report)
        self.assertIn('threads   at most 256 in a block', report)
        for command in (('run', 'count_in_circle', '1', '2'), ('reduce', 'count_in_circle', '1')):
            self.fails(2, "'count_in_circle' is a raw kernel, not a ufunc", *command,
                       '--module', self.module('raw_counting'))

    def test_roles(self):
        self.assertEqual(
            json.loads(self.ok('describe', 'add', '--json'))['roles'], ['in', 'in', 'out']
        )
        power = ('cumulative_power', '--module', self.module('cumulative_power'))
        self.assertIn('1 in, 0 out\n  roles     inout\n', self.ok('describe', *power))
        self.assertEqual(json.loads(self.ok('describe', *power, '--json'))['roles'], ['inout'])
        a = self.save('a.npy', np.ones(4))
        report = json.loads(self.ok('explain', power[0], a, '--inplace', *power[1:], '--json'))
        self.assertEqual([operand['role'] for operand in report['operands']], ['inout'])

    def test_results_go_to_one_place(self):
        a, into = self.save('a.npy', np.ones(3)), self.save('into.npy', np.zeros(3))
        places = [('-o', self.here / 'o.npy'), ('--into', into), ('--inplace',)]
        for left, right in itertools.combinations(places, 2):
            self.fails(2, 'expected only one of them', 'run', 'negative', a, *left, *right)
        self.fails(2, 'expected only one of them',
                   'explain', 'negative', a, '--into', into, '--inplace')
        self.fails(2, 'expected only one of them',
                   'run', 'negative', 'x', '--into', into, '--inplace')
        self.assertEqual(self.files(), ['a.npy', 'into.npy'])
        np.testing.assert_array_equal(np.load(into), np.zeros(3))
        np.testing.assert_array_equal(np.load(a), np.ones(3))


if __name__ == '__main__':
    GUFUNC, MODULES = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
    del sys.argv[1:3]
    unittest.main()
