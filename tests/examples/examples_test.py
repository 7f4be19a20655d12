# SPDX-License-Identifier: Apache-2.0
"""Runs every example as a reader would: `gufunc run` with the modules, and the example programs.

    examples_test.py GUFUNC EXAMPLES_BUILD_FOLDER EXAMPLES_SOURCE_FOLDER [ELEMENTS]

Expected numbers are computed with NumPy, which rounds the result of each operation of the formula
in the stated type. The expected numbers of published examples are copied from the published
tables."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

import numpy as np

GUFUNC, BUILD, SOURCE, ELEMENTS = '', pathlib.Path(), pathlib.Path(), 100_000
HERMITE_ROWS = [
    [1, 0, -0.70710677, 0],
    [1, 1, 0, -0.8164966],
    [1, 2, 2.1213202, 0.8164966],
    [1, 3, 5.656854, 7.3484693],
    [1, 4, 10.606602, 21.22891],
]


def discriminant(a, b, c):
    return np.sqrt(b * b - a.dtype.type(4) * a * c)


def cumulative_power(rows):
    result, power = rows.copy(), rows[..., 0].copy()
    for i in range(1, rows.shape[-1]):
        power = power * rows[..., 0]
        result[..., i] = result[..., i - 1] + power
    return result


def hermite(rows):
    """Computes the recurrence in the dtype of `rows`. The factorial, root and quotient are computed
    in f64 and rounded once."""
    h, kind = rows.copy(), rows.dtype.type
    for k in range(1, rows.shape[-1] - 1):
        h[..., k + 1] = h[..., 1] * h[..., k] - kind(k) * h[..., k - 1]
    factorial = 1.0
    for k in range(2, rows.shape[-1]):
        factorial *= k
        h[..., k] = h[..., k].astype('f8') / np.sqrt(factorial)
    return h


class Examples(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.here = pathlib.Path(self.folder.name)

    def tearDown(self):
        self.folder.cleanup()

    def command(self, module, name, inputs, *options):
        arguments = [GUFUNC, 'run', name, '--module', BUILD / 'modules' / f'{module}.so', *options]
        for i, value in enumerate(inputs):
            if isinstance(value, np.ndarray):
                np.save(self.here / f'in{i}.npy', value)
                value = self.here / f'in{i}.npy'
            arguments.append(value)
        return subprocess.run([str(a) for a in arguments], capture_output=True, text=True)

    def run_ufunc(self, module, name, inputs, *options, into=None):
        out = self.here / 'out.npy'
        if into is not None:
            np.save(out, into)
        done = self.command(module, name, inputs, *options, '-o' if into is None else '--into', out)
        self.assertEqual(done.returncode, 0, done.stderr)
        return np.load(out)

    def refused(self, text, module, name, inputs, *options):
        done = self.command(module, name, inputs, *options, '-o', self.here / 'out.npy')
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn(text, done.stderr)

    def same(self, found, expected):
        """Compares dtype, shape and values, bit for bit, including the sign of zeros."""
        expected = np.asarray(expected)
        self.assertEqual((found.dtype, found.shape), (expected.dtype, expected.shape))
        np.testing.assert_array_equal(found, expected)
        self.assertTrue(np.array_equal(np.signbit(found), np.signbit(expected)))

    def test_discriminant(self):
        a, b, c = [0, 0.25, 0.5, 0.75, 1], [10, 10.1, 10.5, 10.7, 11], [1, 0.9, 0.3, 0.6, 0.1]
        found = self.run_ufunc('discriminant', 'discriminant', [np.array(x) for x in (a, b, c)])
        self.same(
            found,
            [10, 10.055346836385107, 10.471389592599447, 10.615554625171498, 10.981803130633876],
        )
        found = self.run_ufunc(
            'discriminant', 'discriminant', [np.array(x, 'f4') for x in (a, b, c)]
        )
        self.same(found, np.array([10, 10.055347, 10.47139, 10.615555, 10.981803], 'f4'))
        probe = self.run_ufunc(
            'discriminant', 'discriminant', [np.array([x], 'f4') for x in (0.1, 10.1, 0.1)]
        )
        self.same(probe, np.array([10.09802], 'f4'))

    def test_discriminant_loops(self):
        for inputs, dtype in (
            ([np.ones(1, 'i1')] * 3, 'f4'),
            ([np.ones(1, 'f2')] * 3, 'f4'),
            ([np.ones(1, 'f4'), '3', '2'], 'f4'),
            (['1', '3', '2'], 'f8'),
        ):
            self.assertEqual(
                self.run_ufunc('discriminant', 'discriminant', inputs).dtype, np.dtype(dtype)
            )

    def test_discriminant_on_many(self):
        for dtype in ('f4', 'f8'):
            for n in (10_000, ELEMENTS):
                rng = np.random.default_rng(n)
                a, b, c = (
                    rng.uniform(low, high, n).astype(dtype)
                    for low, high in ((0, 1), (10, 11), (0, 1))
                )
                found = self.run_ufunc('discriminant', 'discriminant', [a, b, c])
                self.same(found, discriminant(a, b, c))
                wide = [x.astype(np.longdouble) for x in (a, b, c)]
                truth = np.sqrt(wide[1] ** 2 - 4 * wide[0] * wide[2])
                ulps = np.abs(found - truth) / np.spacing(found).astype(np.longdouble)
                self.assertLessEqual(ulps.max(), 1, f'{dtype} n={n}')

    def test_device_function(self):
        x, y, z = ([2, 1.5, 0.5, 3, 10], [3, 2.5, -2, 0.5, 0], [4, 0.3, 7, 0.1, 3])
        # The limit is the error bound of power plus one rounding for the division.
        for dtype, bar in (('f4', 3), ('f8', 2)):
            inputs = [np.array(v, dtype) for v in (x, y, z)]
            found = self.run_ufunc('device_function', 'power_over', inputs)
            wide = [v.astype(np.longdouble) for v in inputs]
            truth = wide[0] ** wide[1] / wide[2]
            self.assertLessEqual((np.abs(found - truth) / np.spacing(found)).max(), bar)

    def test_matmulcore(self):
        for dtype in ('i8', 'f4', 'f8'):
            a, b = np.arange(6).reshape(2, 3).astype(dtype), (
                np.arange(12).reshape(3, 4) - 5
            ).astype(dtype)
            self.same(
                self.run_ufunc('matmulcore', 'matmulcore', [a, b]),
                np.array([[5, 8, 11, 14], [-4, 8, 20, 32]], dtype),
            )
        empty = self.run_ufunc('matmulcore', 'matmulcore', [np.ones((2, 0)), np.ones((0, 3))])
        self.same(empty, np.zeros((2, 3)))
        self.refused(
            'mismatch in its core dimension 0',
            'matmulcore',
            'matmulcore',
            [np.ones((2, 3)), np.ones((2, 3))],
        )

    def test_foo(self):
        x = np.array([0, 1, 2, 3, 0.5])
        expected = np.array(
            [[0, 0, 0, 0], [1, 2, 3, 4], [2, 4, 8, 16], [3, 6, 15, 42], [0.5, 1, 1.25, 1.375]]
        )
        self.same(self.run_ufunc('foo', 'foo', [x, '4']), expected)
        self.same(self.run_ufunc('foo', 'foo_any', [x, '0'], '--dim', 'n=4'), expected)
        self.same(self.run_ufunc('foo', 'foo_any', [x, '0'], into=np.full((5, 4), 9.0)), expected)
        self.same(self.run_ufunc('foo', 'foo', [np.array([2.0]), '1']), np.array([[2.0]]))
        self.same(self.run_ufunc('foo', 'foo', [x, '0']), np.empty((5, 0)))
        self.refused('', 'foo', 'foo', [np.ones(2), np.array([3, 4])])
        self.refused('foo_any', 'foo', 'foo_any', [x, '4'])

    def test_cumulative_power(self):
        rows = np.repeat(np.arange(1, 5, dtype='f4')[:, None], 4, 1)
        expected = np.array(
            [[1, 2, 3, 4], [2, 6, 14, 30], [3, 12, 39, 120], [4, 20, 84, 340]], 'f4'
        )
        self.same(cumulative_power(rows), expected)
        self.same(self.run_ufunc('cumulative_power', 'cumulative_power', [rows]), expected)
        self.same(
            self.run_ufunc(
                'cumulative_power', 'cumulative_power', [rows], into=np.full((4, 4), 9, 'f4')
            ),
            expected,
        )
        in_place = self.command('cumulative_power', 'cumulative_power', [rows], '--inplace')
        self.assertEqual(in_place.returncode, 0, in_place.stderr)
        self.same(np.load(self.here / 'in0.npy'), expected)
        third = np.full(3, 1.1, 'f4')
        self.same(
            self.run_ufunc('cumulative_power', 'cumulative_power', [third])[2],
            np.float32(3.6410000324249268),
        )
        columns = np.array([[2.0, 3], [0, 0], [0, 0]])
        self.same(
            self.run_ufunc('cumulative_power', 'cumulative_power', [columns], '--axis', '0'),
            np.array([[2.0, 3], [6, 12], [14, 39]]),
        )

    def test_hermite(self):
        rows = np.zeros((5, 4), 'f4')
        rows[:, 0], rows[:, 1] = 1, np.arange(5)
        found = self.run_ufunc('hermite', 'hermite', [rows])
        np.testing.assert_allclose(found, np.array(HERMITE_ROWS, 'f4'), rtol=2e-7, atol=0)
        self.same(found, hermite(rows))
        self.same(
            self.run_ufunc('hermite', 'hermite', [rows], into=np.full((5, 4), 9, 'f4')),
            hermite(rows),
        )
        for x, expected in (
            (
                0.5,
                [
                    1,
                    0.5,
                    -0.5303300858899106,
                    -0.5613413993878117,
                    0.318943976924893,
                    0.5733970523882208,
                ],
            ),
            (
                -1.5,
                [
                    1,
                    -1.5,
                    0.8838834764831843,
                    0.4592793267718459,
                    -1.1099250396986278,
                    0.3337684334797106,
                ],
            ),
        ):
            row = np.array([1, x, 0, 0, 0, 0])
            np.testing.assert_allclose(
                self.run_ufunc('hermite', 'hermite', [row]), expected, rtol=3e-15
            )

    def test_moving_mean(self):
        self.same(
            self.run_ufunc('moving_mean', 'moving_mean', [np.arange(10.0), '3']),
            np.array([0, 0.5, 1, 2, 3, 4, 5, 6, 7, 8]),
        )
        rows = np.arange(6.0).reshape(2, 3)
        self.same(
            self.run_ufunc('moving_mean', 'moving_mean', [rows, np.array([1, 2])]),
            np.array([[0, 1, 2], [3, 3.5, 4.5]]),
        )

    def program(self, name, *arguments):
        done = subprocess.run(
            [BUILD / 'programs' / name, *arguments], capture_output=True, text=True
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_programs(self):
        module = BUILD / 'modules' / 'discriminant.so'
        self.assertEqual(
            self.program('discriminant_c', module), (SOURCE / 'c' / 'discriminant.out').read_text()
        )
        for name in ('histogram', 'host_loop', 'reduction'):
            self.assertEqual(self.program(name), (SOURCE / 'c' / f'{name}.out').read_text())
        self.assertEqual(
            self.program('discriminant_cpp', module),
            (SOURCE / 'cpp' / 'discriminant.out').read_text(),
        )
        self.assertEqual(self.program('stencil'), (SOURCE / 'cpp' / 'stencil.out').read_text())
        self.assertEqual(
            self.program('use_backend', BUILD / 'backends/libgufunc_backend_minimal.so'),
            (SOURCE / 'backend' / 'use_backend.out').read_text(),
        )

    def test_programs_on_devices(self):
        for device in os.environ.get('GUFUNC_TEST_DEVICES', 'cpu').split(','):
            for name in ('device_arrays', 'chunks', 'tracing'):
                expected = (SOURCE / 'c' / f'{name}.out').read_text()
                self.assertEqual(self.program(name, device), expected, device)
            modules = BUILD / 'modules'
            for name, *more in (
                ('array_functions',),
                ('chunk_loop', modules / 'discriminant.so'),
                ('numba_calls', modules),
                ('numba_arrays',),
            ):
                expected = (SOURCE / 'cpp' / f'{name}.out').read_text()
                self.assertEqual(self.program(name, *more, device), expected, device)

    def test_tracing(self):
        for device in os.environ.get('GUFUNC_TEST_DEVICES', 'cpu').split(','):
            path = self.here / 'trace.json'
            with unittest.mock.patch.dict(os.environ, GUFUNC_TRACE=str(path)):
                self.program('tracing', device)
            events = json.loads(path.read_text())
            sums = [e for e in events if e.get('cat') == 'launch' and e['name'].startswith('add (')]
            self.assertEqual(len(sums), 20, 'ten calls, and ten launches on the stream')

    def test_raw_kernels(self):
        for device in os.environ.get('GUFUNC_TEST_DEVICES', 'cpu').split(','):
            for folder, name in (('c', 'raw_counting'), ('cpp', 'raw_matmul')):
                expected = (SOURCE / folder / f'{name}.out').read_text()
                module = BUILD / 'modules' / f'{name}.so'
                self.assertEqual(self.program(name, module, device), expected, device)
        self.assertNotIn('DIFFERS', expected)
        counted = (SOURCE / 'c' / 'raw_counting.out').read_text().splitlines()
        self.assertIn(f': {self.points_in_circle()} of 409600 points', counted[0])
        hashed = np.arange(10000, dtype='u4') * np.uint32(2654435761) % np.uint32(1000)
        values = hashed.astype('f4') / np.float32(1000)
        bins = np.bincount((values * values * np.float32(8)).astype(int), minlength=8)
        self.assertEqual([int(line) for line in counted[1:]], bins.tolist())

    def points_in_circle(self):
        """Returns the first numbers that the example raw_counting uses, from an independent
        implementation of Philox."""
        sequence, position = np.meshgrid(np.arange(4096, dtype='u8'), np.arange(100, dtype='u8'))
        low = np.uint64(0xFFFFFFFF)
        c = [position, np.zeros_like(position), sequence, np.zeros_like(position)]
        k = [np.uint64(2026), np.uint64(0)]
        for _ in range(10):
            a, b = np.uint64(0xD2511F53) * c[0], np.uint64(0xCD9E8D57) * c[2]
            c = [(b >> np.uint64(32)) ^ c[1] ^ k[0], b & low,
                 (a >> np.uint64(32)) ^ c[3] ^ k[1], a & low]
            k = [(k[0] + np.uint64(0x9E3779B9)) & low, (k[1] + np.uint64(0xBB67AE85)) & low]
        x, y = c[0] * 2.0**-32, c[1] * 2.0**-32
        return np.count_nonzero(x * x + y * y < 1)

    def test_reductions(self):
        printed = self.program('statistics', BUILD / 'modules' / 'reductions.so')
        self.assertEqual(printed, (SOURCE / 'c' / 'statistics.out').read_text())
        x = (np.arange(1000) * 37 + 11) % 256 / 16
        large = x[x >= 4]
        expected = [
            (x.max(), x.argmax()),
            (x.min(), x.argmin()),
            (x.min(), x.max()),
            (x.mean(), x.var()),
            (large.mean(), large.var()),
        ]
        found = [[float(word) for word in line.split()[1:]] for line in printed.splitlines()]
        np.testing.assert_allclose(found, expected, rtol=1e-14)

    def test_programs_report_errors(self):
        for name in ('discriminant_c', 'discriminant_cpp'):
            done = subprocess.run(
                [BUILD / 'programs' / name, self.here / 'none.so'], capture_output=True, text=True
            )
            self.assertEqual((done.returncode, done.stdout), (1, ''))
            self.assertIn('GUF_E_IO', done.stderr)


if __name__ == '__main__':
    GUFUNC, BUILD, SOURCE = (
        os.path.abspath(sys.argv[1]),
        pathlib.Path(sys.argv[2]),
        pathlib.Path(sys.argv[3]),
    )
    if sys.argv[4:]:
        ELEMENTS = int(sys.argv[4])
    del sys.argv[1:]
    unittest.main()
