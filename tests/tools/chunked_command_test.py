# SPDX-License-Identifier: Apache-2.0
"""Tests gufunc run --chunk with files that are larger than the device and the memory limit of the
process.

chunked_command_test.py GUFUNC MODULES

GUFUNC_TEST_CHUNK_ELEMENTS is the number of elements per file. A simulated device has an eighth as
many bytes of memory as a file has.
GUFUNC_TEST_ANON_LIMIT is the maximum number of bytes of anonymous memory that a run may use; 0
means no limit."""

import os
import re
import subprocess
import time

import command_fixture
import numpy as np

DEVICES = os.environ.get('GUFUNC_TEST_DEVICES', 'cpu').split(',')
ELEMENTS = int(os.environ.get('GUFUNC_TEST_CHUNK_ELEMENTS', '100000'))
LIMIT = int(os.environ.get('GUFUNC_TEST_ANON_LIMIT', '0'))
STEP = 1 << 20  # number of elements that this test processes at a time


def anonymous_bytes(process):
    try:
        with open(f'/proc/{process}/status') as status:
            found = re.search(r'RssAnon:\s+(\d+) kB', status.read())
    except OSError:
        found = None
    return int(found[1]) << 10 if found else 0


class Chunked(command_fixture.CommandTest):
    def module(self, name):
        return '--module', self.folders[0] / f'{name}.so'

    def inputs(self, count, dtype='f8', seed=7):
        """Writes the inputs a, b and c of the discriminant in pieces."""
        rng = np.random.default_rng(seed)
        paths = []
        for name, low, high in (('a', 0, 1), ('b', 10, 11), ('c', 0, 1)):
            paths.append(self.here / f'{name}.npy')
            file = np.lib.format.open_memmap(paths[-1], 'w+', dtype, (count,))
            for at in range(0, count, STEP):
                file[at:at + STEP] = rng.uniform(low, high, len(file[at:at + STEP]))
            del file
        return paths

    def same(self, paths, device):
        a, b, c, out = (np.load(path, mmap_mode='r') for path in (*paths, self.out))
        self.assertEqual(out.shape, a.shape)
        for at in range(0, len(a), STEP):
            x, y, z = (v[at:at + STEP] for v in (a, b, c))
            expected = np.sqrt(y * y - 4 * x * z)
            self.assertTrue(np.array_equal(out[at:at + STEP], expected), f'{device}, from {at} on')

    def test_files_larger_than_device_and_memory(self):
        paths = self.inputs(ELEMENTS)
        environment = dict(os.environ, GUFUNC_SIM_MEMORY=str(ELEMENTS))
        # The chunk size is chosen such that three chunks of four operands use two thirds of the
        # device's memory.
        chunk = ELEMENTS // 18
        for device in DEVICES:
            command = [self.command, 'run', 'discriminant', *self.module('discriminant'), *paths,
                       '-o', self.out, '--device', device, '--chunk', chunk]
            run = subprocess.Popen(list(map(str, command)), env=environment, text=True,
                                   stderr=subprocess.PIPE)
            peak = 0
            while run.poll() is None:
                peak = max(peak, anonymous_bytes(run.pid))
                time.sleep(0.001)
            self.assertEqual(run.returncode, 0, run.stderr.read())
            run.stderr.close()
            self.same(paths, device)
            if LIMIT != 0:
                print(f'{device}: {4 * ELEMENTS >> 17} MiB of files, chunks of {chunk} bytes, '
                      f'at most {peak >> 20} MiB of anonymous memory')
                self.assertGreater(peak, 0, device)
                self.assertLessEqual(peak, LIMIT, device)
            self.out.unlink()

    def test_a_device_that_is_too_small(self):
        paths = self.inputs(50000)
        os.environ['GUFUNC_SIM_MEMORY'] = '400000'
        try:
            for device in DEVICES:
                if device != 'cpu':
                    self.fails(6, 'GUF_E_DEVICE_MEMORY', 'run', 'discriminant',
                               *self.module('discriminant'), *paths, '-o', self.out, '--device',
                               device, '--chunk', '1G')
        finally:
            del os.environ['GUFUNC_SIM_MEMORY']

    def test_layouts_types_and_masks(self):
        rng = np.random.default_rng(3)
        x = rng.integers(-9, 9, (5, 1, 70)).astype('f8')
        y = rng.integers(1, 9, (40, 70)).astype('>i2')
        mask = rng.integers(0, 2, (40, 1)).astype('?')
        files = self.save('x.npy', x), self.save('y.npy', np.asfortranarray(y))
        old = rng.integers(0, 9, (5, 40, 70)).astype('f8')
        where = self.save('w.npy', mask)
        for device in DEVICES:
            for chunk in ('500', '10K', '1G'):
                more = ('--device', device, '--chunk', chunk)
                self.ok('run', 'add', *files, '-o', self.out, *more)
                np.testing.assert_array_equal(np.load(self.out), x + y)
                into = self.save('into.npy', old)
                self.ok('run', 'add', *files, '--into', into, '--where', where, *more)
                np.testing.assert_array_equal(np.load(into), np.where(mask, x + y, old))
                mine = self.save('mine.npy', x)
                self.ok('run', 'negative', mine, '--inplace', *more)
                np.testing.assert_array_equal(np.load(mine), -x)

    def test_several_results(self):
        x = np.random.default_rng(4).uniform(-50, 50, (300, 3)).astype('f4')
        path, parts = self.save('x.npy', x), [self.here / 'f.npy', self.here / 'e.npy']
        for device in DEVICES:
            self.ok('run', 'frexp', path, '-o', parts[0], '-o', parts[1], '--device', device,
                    '--chunk', '1000')
            for part, expected in zip(parts, np.frexp(x)):
                np.testing.assert_array_equal(np.load(part), expected)

    def test_what_reads_its_output(self):
        rows = np.repeat(np.arange(1, 41, dtype='f4')[:, None], 4, 1)
        path = self.save('rows.npy', rows)
        powers = rows[:, :1] ** np.arange(1, 5)
        run = 'run', 'cumulative_power', *self.module('cumulative_power')
        self.ok(*run, path, '-o', self.out, '--chunk', '100')
        expected = np.cumsum(powers, axis=1, dtype='f4')
        np.testing.assert_array_equal(np.load(self.out), expected)
        np.testing.assert_array_equal(np.load(path), rows)
        self.ok(*run, path, '--inplace', '--chunk', '100')
        np.testing.assert_array_equal(np.load(path), expected)
        swapped = self.save('swapped.npy', rows.astype('>f4'))
        self.fails(2, 'cumulative_power writes operands that it reads', *run, swapped,
                   '-o', self.out, '--chunk=100')
        doubles = self.save('wider.npy', rows.astype('i4'))
        self.fails(2, 'argument 0 must be a .npy file of float', *run, doubles, '-o', self.out,
                   '--chunk', '100')

    def test_reported_times(self):
        path = self.save('x.npy', np.ones(3))
        for device in DEVICES:
            code, _, err = self.run_tool('run', 'negative', path, '--time', '--device', device)
            self.assertEqual(code, 0, err)
            words = r', \d+ threads?\): ' if device == 'cpu' else r', \d+ units?\): '
            self.assertRegex(err, f'negative on {device} .*{words}')

    def test_what_is_none(self):
        path = self.save('x.npy', np.ones(3))
        for text in ('', '0', 'x', '-1', '5X', '5KK', '1.5M', '9' * 20, '99999999999G',
                     '17179869184G'):
            self.fails(2, '--chunk: expected a number of bytes below 2^64, such as 65536, 64K, 8M '
                       f"or 1G, got '{text}'\n", 'run', 'negative', path, '-o', self.out,
                       '--chunk', text)
        self.fails(2, '--chunk: expected -o, --into or --inplace',
                   'run', 'negative', path, '--chunk', '1M')


if __name__ == '__main__':
    command_fixture.main()
