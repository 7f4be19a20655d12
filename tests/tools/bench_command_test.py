# SPDX-License-Identifier: Apache-2.0
"""Runs `gufunc bench` with small arrays: the table, the JSON file, the plot, peers and errors. A
module of Python that stands for PyTorch is in a folder of the test.

bench_command_test.py GUFUNC EXAMPLE_MODULES"""

import fractions
import json
import math
import os
import pathlib
import pty
import re
import signal
import stat
import subprocess
import sys
import time
import unittest
import unittest.mock
import xml.etree.ElementTree

import command_fixture
import numpy as np

SVG = '{http://www.w3.org/2000/svg}'
ROOT = pathlib.Path(__file__).resolve().parents[2]
QUICK = ['--seconds', '0.05', '--python', sys.executable]
ROW = ['method', 'dtype', 'inputs', 'outputs', 'layout', 'shape', 'elements', 'bytes', 'values',
       'device', 'threads', 'threads_used', 'rounds', 'gufunc', 'copy', 'peers']
TIME = ['ns_per_call', 'ns_per_element', 'gb_per_s', 'calls_per_round']

# The part of PyTorch that bench_peers.py uses, with NumPy's functions. `subtract` takes 10 ms, and
# `maximum` saves its first operand.
TORCH = '''
import os, sys, time
import numpy
__version__ = '9.9'
for name in 'bool int8 int32 int64 uint64 float16 float32 float64 complex128'.split():
    globals()[name] = numpy.dtype(name)

class Tensor:
    def __init__(self, array): self.array = array
    def to(self, device): return self
    def as_strided(self, shape, strides):
        steps = [step * self.array.itemsize for step in strides]
        return Tensor(numpy.lib.stride_tricks.as_strided(self.array, shape, steps))
    def dim(self): return self.array.ndim

class device:
    def __init__(self, text): self.type = text

class version: hip = None

class cuda:
    is_available = staticmethod(lambda: False)

def get_num_threads(): return 1
def set_num_threads(count): pass
def frombuffer(flat, dtype): return Tensor(flat.view(dtype))
def add(x, y, out): numpy.add(x.array, y.array, out=out.array)
def isnan(x): return numpy.isnan(x.array)
def subtract(x, y, out): time.sleep(0.01)
def maximum(x, y, out): numpy.save(__file__.replace('torch.py', 'x.npy'), x.array)
def sum(x, axis, dtype, out): numpy.add.reduce(x.array, axis, dtype, out.array)
def exp(x, out):
    sys.stderr.write('the last words\\n')
    os._exit(7)
print('a line on standard output')
'''


class BenchCommand(command_fixture.CommandTest):
    def bench(self, *arguments):
        """Returns the rows of the table as dicts, the JSON report, and stderr."""
        file = self.here / 'bench.json'
        code, out, err = self.run_tool('bench', *QUICK, *arguments, '--json', file)
        self.assertEqual(code, 0, err)
        lines = out.splitlines()
        names = re.split(r'  +', lines[2])
        names = [f'{names[i - 1][:-3]} ratio' if name == 'ratio' else name
                 for i, name in enumerate(names)]
        rows = [dict(zip(names, line.split())) for line in lines[3:]]
        self.assertTrue(all(len(row) == len(names) for row in rows), out)
        return rows, json.loads(file.read_text()), err

    def with_torch(self, text=TORCH):
        (self.here / 'torch.py').write_text(text)
        return unittest.mock.patch.dict(os.environ, PYTHONPATH=str(self.here))

    def test_table_and_json(self):
        rows, report, _ = self.bench('add', '--dtype', 'f32,float64', '--size', '10,1e3', '--peers',
                                     'numpy', '--threads', '1,2')
        self.assertEqual(list(report), ['schema', 'version', 'function', 'signature', 'library',
                                        'machine', 'python', 'peers', 'missing', 'seconds', 'rows'])
        self.assertEqual((report['schema'], report['version'], report['function']),
                         ('gufunc-bench', 1, 'add'))
        self.assertEqual(report['peers'], {'numpy': np.__version__})
        self.assertEqual((report['missing'], report['seconds']), ({}, 0.05))
        self.assertEqual(list(report['machine']), ['cpu', 'cores', 'threads', 'devices'])
        self.assertEqual([device['spec'] for device in report['machine']['devices']], ['cpu'])
        self.assertEqual(len(rows), len(report['rows']))
        self.assertEqual([(row['dtype'], row['threads'], row['shape']) for row in rows],
                         [(dtype, threads, shape) for dtype in ('float32', 'float64')
                          for threads in '12' for shape in ('10', '1000')])
        for row, found in zip(rows, report['rows']):
            self.assertEqual(list(found), ROW)
            size = np.dtype(found['dtype']).itemsize
            self.assertEqual(found['bytes'], 3 * size * found['elements'])
            self.assertEqual((found['inputs'], found['outputs']),
                             ([found['dtype']] * 2, [found['dtype']]))
            self.assertEqual(found['values'], [-1, 1])
            self.assertGreaterEqual(found['rounds'], 3)
            self.check_times(row, found)

    def check_times(self, row, found):
        """Compares a row of the table with its JSON, and the derived numbers with the times."""
        own, numpy = found['gufunc'], found['peers']['numpy']
        self.assertEqual(list(own), TIME)
        self.assertEqual(list(numpy), TIME + ['ratio'])
        self.assertAlmostEqual(numpy['ratio'], numpy['ns_per_call'] / own['ns_per_call'])
        for times in (own, numpy):
            self.assertGreater(times['ns_per_call'], 0)
            self.assertAlmostEqual(times['ns_per_element'] * found['elements'],
                                   times['ns_per_call'])
            self.assertAlmostEqual(times['gb_per_s'] * times['ns_per_call'], found['bytes'])
        for name, value in (('gufunc ns', own['ns_per_element']), ('GB/s', own['gb_per_s']),
                            ('copy GB/s', found['copy']['gb_per_s']),
                            ('numpy ns', numpy['ns_per_element']),
                            ('numpy ratio', numpy['ratio'])):
            self.assertAlmostEqual(float(row[name]), value, delta=0.006 + value * 0.01)

    def test_ratio_is_the_time_of_the_peer_by_the_time_of_gufunc(self):
        with self.with_torch():
            rows, report, _ = self.bench('subtract', '--size', '100', '--peers', 'torch')
        torch = report['rows'][0]['peers']['torch']
        self.assertGreater(torch['ns_per_call'], 10e6)
        self.assertLess(torch['ns_per_call'], 500e6)
        self.assertGreater(torch['ratio'], 100)
        self.assertGreater(float(rows[0]['torch ratio']), 100)

    def test_json_on_stdout(self):
        out = self.ok('bench', 'negative', *QUICK, '--size', '10', '--peers', 'none', '--json', '-')
        report = json.loads(out)
        self.assertEqual((report['python'], report['peers'], report['missing']), (None, {}, {}))
        self.assertEqual(report['rows'][0]['peers'], {})

    def test_plot(self):
        svg = self.here / 'plot.svg'
        for plot, unit in (('throughput', 'GB/s'), ('time', 'ns per element')):
            self.ok('bench', 'multiply', *QUICK, '--size', '10,100', '--peers', 'numpy', '--dtype',
                    'f4,f8', '--svg', svg, '--plot', plot)
            tree = xml.etree.ElementTree.parse(svg).getroot()
            lines = [line.get('class') for line in tree.iter(SVG + 'polyline')]
            self.assertEqual(lines, ['gufunc', 'copy', 'numpy'] * 2)
            for line in tree.iter(SVG + 'polyline'):
                points = [tuple(map(float, point.split(','))) for point in
                          line.get('points').split()]
                self.assertEqual(len(points), 2)
                self.assertLess(points[0][0], points[1][0])
                self.assertTrue(all(0 < y < float(tree.get('height')) for _, y in points))
            texts = [text.text for text in tree.iter(SVG + 'text')]
            self.assertEqual(texts.count(unit), 2)
            self.assertEqual(texts.count('elements'), 2)
            for text in ('float32, contiguous, cpu, 1 thread', 'copy (memory roofline)', '10',
                         '100'):
                self.assertIn(text, texts)
            self.assertIn('prefers-color-scheme: dark', svg.read_text())
            self.assertIn('.copy { stroke: #666; stroke-dasharray', svg.read_text())
            self.assertEqual(list(tree.iter(SVG + 'script')), [])
        self.assertEqual(stat.S_IMODE(svg.stat().st_mode) & 0o700, 0o600)

    def test_axes_have_two_ticks(self):
        """Also if no two powers of ten, or no two of 1, 2 and 5 times these, are in the range."""
        svg = self.here / 'plot.svg'
        for sizes, expected in (
            ('1000', ['1000', '1500']),  # 667 to 1500
            ('1000000', ['1e6', '1.5e6']),
            ('11000,12000', ['1e4', '1.2e4']),  # 9565 to 13800
            ('30', ['20', '40']),
            ('3', ['2', '4']),
            ('10,100', ['10', '100']),
            ('1,1e6', ['1', '10', '100', '1000', '1e4', '1e5', '1e6']),
        ):
            self.ok('bench', 'negative', '--seconds', '1e-3', '--size', sizes, '--peers', 'none',
                    '--svg', svg)
            texts = list(xml.etree.ElementTree.parse(svg).iter(SVG + 'text'))
            x_ticks = [text.text for text in texts if text.get('text-anchor') == 'middle' and
                       text.text[0].isdigit()]
            y_ticks = [text.text for text in texts if text.get('text-anchor') == 'end']
            self.assertEqual(x_ticks, expected)
            self.assertGreaterEqual(len(set(y_ticks)), 2, y_ticks)

    def test_the_throughput_of_the_plot(self):
        """The circles of a library are at the height of its figures: y is logarithmic."""
        svg, file = self.here / 'plot.svg', self.here / 'r.json'
        self.ok('bench', 'add', *QUICK, '--size', '10,1e3,1e5', '--peers', 'numpy', '--svg', svg,
                '--json', file)
        rows = json.loads(file.read_text())['rows']
        found = {'gufunc': [row['gufunc'] for row in rows], 'copy': [row['copy'] for row in rows],
                 'numpy': [row['peers']['numpy'] for row in rows]}
        values, heights = [], []
        for circle in xml.etree.ElementTree.parse(svg).iter(SVG + 'circle'):
            values.append(found[circle.get('class')].pop(0)['gb_per_s'])
            heights.append(float(circle.get('cy')))
        self.assertEqual(len(values), 9)
        slope, offset = np.polyfit(np.log(values), heights, 1)
        self.assertLess(slope, 0)
        np.testing.assert_allclose(slope * np.log(values) + offset, heights, atol=0.2)

    def test_layouts(self):
        rows, report, _ = self.bench('add', '--layout', 'contiguous,strided,broadcast,transposed',
                                     '--size', '1000,20x30', '--dtype', 'f8', '--peers', 'numpy')
        self.assertEqual([row['shape'] for row in rows],
                         ['1000', '20x30', '1000', '20x30', '31x32', '20x30', '31x32', '20x30'])
        found = {(row['layout'], row['shape'][0]): row['bytes'] for row in report['rows']}
        self.assertEqual(found['strided', 20], 3 * 600 * 8)
        self.assertEqual(found['broadcast', 20], (2 * 600 + 30) * 8)
        self.assertEqual(found['transposed', 31], 3 * 31 * 32 * 8)
        self.assertTrue(all(row['numpy ratio'] != '-' for row in rows))

    def test_methods(self):
        rows, report, _ = self.bench('add', '--method', 'reduce,accumulate', '--size', '20x30',
                                     '--axis', '1', '--dtype', 'f4,i2', '--peers', 'numpy',
                                     '--layout', 'contiguous,transposed')
        self.assertEqual(len(rows), 8)
        reduced = [row for row in report['rows'] if row['method'] == 'reduce']
        self.assertEqual([row['outputs'] for row in reduced],
                         [['float32']] * 2 + [['int64']] * 2)
        self.assertEqual(reduced[0]['bytes'], (600 + 20) * 4)
        self.assertTrue(all(row['numpy ratio'] != '-' for row in rows))
        _, report, _ = self.bench('maximum', '--method', 'reduce', '--size', '20x30', '--axis',
                                  'none', '--peers', 'numpy')
        self.assertEqual(report['rows'][0]['bytes'], 601 * 8)

    @unittest.skipUnless('GUFUNC_SIM_EMULATION' in os.environ, 'no simulated devices')
    def test_devices(self):
        rows, report, _ = self.bench('add', '--device', 'cpu,cuda,roc:0', '--size', '100',
                                     '--threads', '1,2', '--method', 'call,reduce', '--peers',
                                     'numpy')
        self.assertEqual([(row['method'], row['device'], row['threads']) for row in rows],
                         [(method, device, threads) for device, counts in
                          (('cpu', '12'), ('cuda:0', '-'), ('roc:0', '-'))
                          for method in ('call', 'reduce') for threads in counts])
        self.assertEqual([device['spec'] for device in report['machine']['devices']],
                         ['cpu', 'cuda:0', 'roc:0'])
        self.assertEqual(report['rows'][-1]['peers'], {'numpy': {'reason': 'only on the cpu'}})
        self.assertGreater(report['rows'][-1]['copy']['gb_per_s'], 0)

    @unittest.skipUnless('GUFUNC_SIM_EMULATION' in os.environ, 'no simulated devices')
    def test_memory_of_devices(self):
        """PyTorch has operands of its own on a GPU: 24 MB, and a result of 8 MB."""
        size = ['bench', 'add', '--device', 'cuda:0', '--size', '1e6', '--memory']
        self.fails(6, 'need 0.05 GB on cuda:0, more than 0.02 GB, the value of --memory', *size,
                   '20M', '--peers', 'none')
        with self.with_torch():
            self.fails_late(6, 'need 0.08 GB on cuda:0, more than 0.08 GB, the value of --memory',
                            *size, '76M', '--peers', 'numpy,torch', '--python', sys.executable)

    def test_dtypes_of_loops(self):
        rows, report, _ = self.bench('ldexp', '--dtype', 'f4', '--size', '100', '--peers', 'numpy')
        self.assertEqual(report['rows'][0]['inputs'], ['float32', 'int32'])
        self.assertNotEqual(rows[0]['numpy ratio'], '-')
        for name, dtype in (('gcd', 'int64'), ('sin', 'float64'), ('logical_not', 'float64')):
            _, report, _ = self.bench(name, '--size', '10', '--peers', 'none')
            self.assertEqual(report['rows'][0]['dtype'], dtype)
        for row in json.loads(self.ok('list', '--json')):
            if row['name'] != 'isnat' and re.fullmatch(r'[(),>-]+', row['signature']):
                self.ok('bench', row['name'], '--size', '2', '--seconds', '1e-3', '--peers', 'none')

    def test_core_dimensions(self):
        rows, report, _ = self.bench('matmul', '--size', '10', '--dim', 'n=2', '--dim', 'k=3',
                                     '--dim', 'm=4', '--dtype', 'f4', '--peers', 'numpy')
        self.assertEqual(report['rows'][0]['bytes'], 10 * (6 + 12 + 8) * 4)
        self.assertEqual(report['rows'][0]['elements'], 10)
        self.assertNotEqual(rows[0]['numpy ratio'], '-')
        self.fails(2, '--dim: expected k=SIZE, a core dimension of (n?,k),(k,m?)->(n?,m?)',
                   'bench', 'matmul', '--dim', 'n=2')
        self.fails(2, '--dim: expected NAME=SIZE with a core dimension of (n),(n)->() and a size '
                   "of at least 1, got 'n=0'", 'bench', 'vecdot', '--dim', 'n=0')
        self.fails(4, '--dim n=2: add has no core dimensions', 'bench', 'add', '--dim', 'n=2')
        self.fails(4, '--size: an operand of shape 1000000000x1000000000 has more than 1e+15 '
                   'elements', 'bench', 'vecdot', '--size', '1e9', '--dim', 'n=1e9')
        self.fails(4, '--layout strided: vecdot has core dimensions', 'bench', 'vecdot', '--dim',
                   'n=3', '--layout', 'strided')

    def test_core_dimensions_with_rules(self):
        _, report, _ = self.bench('diff', '--size', '10', '--dim', 'n=5', '--peers', 'none')
        self.assertEqual(report['rows'][0]['bytes'], 10 * (5 + 4) * 8)
        _, report, _ = self.bench('convolve', '--size', '10', '--dim', 'n=5', '--dim', 'm=3',
                                  '--peers', 'none')
        self.assertEqual(report['rows'][0]['bytes'], 10 * (5 + 3 + 3) * 8)
        self.bench('diff', '--size', '10', '--dim', 'n=5', '--dim', 'p=4', '--peers', 'none')
        self.fails(4, '--dim: ', 'bench', 'diff', '--dim', 'n=5', '--dim', 'p=5')
        self.fails(2, '--dim: expected n=SIZE, a core dimension of (n)->(p)', 'bench', 'diff')

    def test_modules(self):
        module = self.folders[0] / 'discriminant.so'
        rows, report, _ = self.bench('discriminant', '--module', module, '--size', '10', '--peers',
                                     'numpy')
        self.assertEqual(report['function'], 'discriminant:discriminant')
        self.assertEqual((rows[0]['numpy ns'], rows[0]['numpy ratio']), ('-', '-'))
        self.assertEqual(report['rows'][0]['peers'],
                         {'numpy': {'reason': 'no ufunc discriminant'}})

    def test_peers(self):
        with self.with_torch():
            rows, report, err = self.bench('add', '--size', '100', '--peers', 'torch,numpy,cupy')
            self.assertEqual(err, 'gufunc: not measured: cupy (not installed)\n')
            self.assertEqual(report['peers'], {'numpy': np.__version__, 'torch': '9.9'})
            self.assertEqual(report['missing'], {'cupy': 'not installed'})
            self.assertGreater(float(rows[0]['torch ratio']), 0)
            self.assertNotIn('cupy ns', rows[0])
            rows, report, _ = self.bench('isnan', '--size', '100', '--peers', 'torch')  # no out=
            self.assertGreater(float(rows[0]['torch ratio']), 0)
            rows, report, _ = self.bench('add', '--method', 'call,reduce,accumulate', '--size',
                                         '100', '--peers', 'torch')
            self.assertEqual([row['torch ratio'] == '-' for row in rows], [False, False, True])
            self.assertEqual(report['rows'][2]['peers'],
                             {'torch': {'reason': 'no accumulate of add'}})
        with self.with_torch('raise OSError("libcuda.so.1")'):
            _, _, err = self.bench('add', '--size', '10', '--peers', 'torch')
            self.assertEqual(err, 'gufunc: not measured: torch (OSError: libcuda.so.1)\n')
        (self.here / 'numpy.py').write_text('raise ModuleNotFoundError("gone", name="numpy")')
        with self.with_torch():
            _, _, err = self.bench('add', '--size', '10', '--peers', 'torch,numpy')
        self.assertEqual(err, 'gufunc: not measured: numpy (not installed), torch (needs numpy)\n')

    def test_modules_of_the_current_folder_are_not_peers(self):
        (self.here / 'numpy.py').write_text('raise OSError')
        done = subprocess.run([self.command, 'bench', 'add', *QUICK, '--size', '10', '--peers',
                               'numpy'], capture_output=True, text=True, cwd=self.here)
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        self.assertNotIn(' -', done.stdout.splitlines()[-1])

    def test_python_that_fails(self):
        file, svg = self.here / 'r.json', self.here / 'r.svg'
        with self.with_torch():
            code, out, err = self.run_tool('bench', 'exp', *QUICK, '--size', '10', '--peers',
                                           'torch', '--json', file, '--svg', svg)
        self.assertEqual(code, 6)
        self.assertEqual(err, f'gufunc: {sys.executable} ended while it prepared a row: exit code '
                         '7: the last words\n')
        self.assertEqual(out.count('\n'), 3)  # no row was complete
        self.assertFalse(file.exists() or svg.exists())
        script = self.here / 'python'
        for text, code, message in (
            ('exit 3', 6, 'ended while it looked for libraries: exit code 3'),
            ('kill -9 $$', 6, 'ended while it looked for libraries: signal 9 (Killed)'),
            ('echo hello; cat', 6, "expected an answer with 'versions', got 'hello'"),
            ("echo '{}'; cat", 6, "expected an answer with 'versions', got '{}'"),
        ):
            script.write_text(f'#!/bin/sh\n{text}\n')
            script.chmod(0o755)
            self.fails_late(code, message, 'bench', 'add', '--python', script)
        self.fails_late(3, '/python: cannot start: No such file or directory', 'bench', 'add',
                        '--python', '/nowhere/python')

    def fails_late(self, code, text, *arguments):
        found, out, err = self.run_tool(*arguments)
        self.assertEqual((found, out), (code, ''), err)
        self.assertIn(text, err)
        self.assertEqual(err.count('\n'), 1)

    def test_no_python(self):
        with unittest.mock.patch.dict(os.environ, PATH='/nowhere'):
            code, _, err = self.run_tool('bench', 'add', '--seconds', '0.05', '--size', '10')
        self.assertEqual(code, 0, err)
        self.assertIn('gufunc: not measured: cupy (python3 was not found), numba (', err)

    def test_values(self):
        _, report, _ = self.bench('add', '--size', '10', '--peers', 'none', '--values', '0.5:2')
        self.assertEqual(report['rows'][0]['values'], [0.5, 2])
        for dtype, values, text in (
            ('u1', '0:300', '--values 0:300: uint8 holds values from 0 to 255'),
            ('f16', '0:1e6', '--values 0:1000000: float16 holds values from -65504 to 65504'),
            ('bf16', '0:3.4e38', 'bfloat16 holds values from -3.3895313892515355e+38 to '),
            ('f32', '-1e39:0', 'float32 holds values from -3.4028234663852886e+38 to '),
            ('f64', '0:1e400', 'float64 holds values from -1.7976931348623157e+308 to '),
            ('bool', '0:2', '--values 0:2: bool holds values from 0 to 1'),
            ('i1', '-129:0', '--values -129:0: int8 holds values from -128 to 127'),
            ('i8', '0:9223372036854775808', '--values 0:9223372036854775808: int64 holds values '
             'from -9223372036854775808 to 9223372036854775807'),
            ('u8', '0:18446744073709551616', 'uint64 holds values from 0 to 18446744073709551615'),
            ('i4', '0.2:0.8', '--values 0.2:0.8: no int32 is between these numbers'),
        ):
            self.fails(4, text, 'bench', 'add', '--dtype', dtype, '--values', values)
        for text in ('1', '2:1', 'a:b', '0:inf', ':', ''):
            self.fails(2, '--values: expected LOW:HIGH with finite numbers, LOW not above HIGH, '
                       f"got '{text}'", 'bench', 'add', '--values', text)

    def test_values_are_in_the_range(self):
        """The first operand of `maximum`, whose 65521 values are all random, fills the range: its
        least and its greatest value are close to the limits."""
        most = '1.7976931348623157e308'
        with self.with_torch():
            for dtype, values in (
                ('i1', '-128:127'), ('i1', '127:127'), ('i4', '0.5:2.5'), ('bool', '0:1'),
                ('i8', '-9223372036854775808:9223372036854775807'),
                ('i8', '9223372036854775800:9223372036854775807'),
                ('u8', '0:18446744073709551615'),
                ('u8', '18446744073709551614:18446744073709551615'),
                ('f8', '-1e308:1e308'), ('f8', f'-{most}:{most}'), ('f8', '0.1:0.1'),
                ('f4', '-3.4e38:3.4e38'), ('f16', '-65504:65504'), ('c16', f'-{most}:{most}'),
            ):
                self.bench('maximum', '--dtype', dtype, '--size', '65521', '--values', values,
                           '--peers', 'torch')
                found = np.load(self.here / 'x.npy')
                limits = [fractions.Fraction(limit) for limit in values.split(':')]
                if found.dtype.kind in 'biu':
                    limits = [math.ceil(limits[0]), math.floor(limits[1])]
                else:  # rounded to the dtype
                    limits = [fractions.Fraction(found.real.dtype.type(limit).item())
                              for limit in values.split(':')]
                for part in (found.real, found.imag) if dtype == 'c16' else (found,):
                    self.check_uniform(part, *limits)

    def check_uniform(self, found, least, most):
        self.assertTrue(np.isfinite(found).all())
        low, high = (fractions.Fraction(limit.item()) for limit in (found.min(), found.max()))
        one = fractions.Fraction(1) if found.dtype.kind in 'biu' else 0
        margin = (most - least + one) / 1000
        self.assertTrue(least <= low <= least + margin, (low, least))
        self.assertTrue(most - margin <= high <= most, (high, most))

    def test_invalid_options(self):
        for size in ('0', '-5', '1e30', '1.5', '', '10x', '0x10', 'nan', '1e3000', '10x0',
                     'x'.join('2' * 9), '1e10x1e10'):
            self.fails(2, '--size: ', 'bench', 'add', '--size', size)
        self.fails(2, '--layout: expected a list of contiguous, strided, broadcast, transposed, '
                   "got 'fortran'", 'bench', 'add', '--layout', 'fortran')
        self.fails(2, "--method: expected a list of call, reduce, accumulate, got 'outer'", 'bench',
                   'add', '--method', 'outer')
        self.fails(2, "--peers: expected a list of numpy, numba, torch, cupy, got 'jax'", 'bench',
                   'add', '--peers', 'numpy,jax')
        for seconds in ('0', '-1', 'inf', 'x', '1e9'):
            self.fails(2, '--seconds: expected a number above 0, up to 3600, got '
                       f"'{seconds}'", 'bench', 'add', '--seconds', seconds)
        self.fails(2, '--threads: ', 'bench', 'add', '--threads', '1,x')
        self.fails(2, "--memory: expected a number of bytes", 'bench', 'add', '--memory', '4T')
        for plot in ('bars', 'throughput,time'):
            self.fails(2, f"--plot: expected throughput or time, got '{plot}'", 'bench', 'add',
                       '--plot', plot)
        self.fails(2, '--axis none: --method accumulate needs one axis', 'bench', 'add', '--axis',
                   'none', '--method', 'reduce,accumulate')
        self.fails(2, '--axis: expected --method reduce or accumulate', 'bench', 'add', '--axis',
                   '1')
        self.fails(4, "--dtype: ", 'bench', 'add', '--dtype', 'f9')
        self.fails(2, "--dtype: expected a number or bool, got 'M8[s]'", 'bench', 'add', '--dtype',
                   'M8[s]')
        self.fails(4, '--dtype int32: sin has no loop with this input, expected one of float16, ',
                   'bench', 'sin', '--dtype', 'i4')
        self.fails(4, 'did you mean', 'bench', 'sinn')
        self.fails(4, '--layout broadcast: sin has one input', 'bench', 'sin', '--layout',
                   'broadcast')
        self.fails(4, '--layout broadcast: a reduce of add has one input', 'bench', 'add',
                   '--method', 'reduce', '--layout', 'broadcast')
        self.fails(4, 'reduce only supported for binary functions', 'bench', 'sin', '--method',
                   'reduce')
        self.fails(4, 'axis 1 is out of bounds', 'bench', 'add', '--method', 'reduce', '--axis',
                   '1')
        self.fails(5, "'nodevice'", 'bench', 'add', '--device', 'nodevice')
        self.fails(4, 'isnat: bench supports only numbers and bool, and its first loop has '
                   'datetime64', 'bench', 'isnat')

    def test_values_that_are_given_twice(self):
        for option, texts, value in (
            ('--size', ('10,10', '1e1,10', '10,20,1e1'), '10'),
            ('--size', ('20x30,2e1x30',), '20x30'),
            ('--dtype', ('f4,f32', 'float32,f4'), 'float32'),
            ('--threads', ('2,02',), '2'),
            ('--device', ('cpu,cpu',), 'cpu'),
            ('--method', ('call,call',), 'call'),
            ('--layout', ('strided,contiguous,strided',), 'strided'),
            ('--peers', ('numpy, numpy',), 'numpy'),
        ):
            for text in texts:
                self.fails(2, f'{option}: {value} is given twice', 'bench', 'add', option, text)
        self.fails(2, '--dim: n is given twice', 'bench', 'vecdot', '--dim', 'n=3', '--dim', 'n=4')
        for sizes in ('100,10x10', '10x10,100', '101,100'):
            first, second = sizes.split(',')
            self.fails(2, f'--size: {first} and {second} are both 10x10 in the layout transposed',
                       'bench', 'add', '--layout', 'contiguous,transposed', '--size', sizes)

    def test_memory(self):
        large = ['bench', 'add', '--size', '10,1e9', '--memory']
        # gufunc and the copy
        self.fails(6, '--size 1000000000: the operands of float64 need 48.00 GB, more than 1.07 '
                   'GB, the value of --memory', *large, '1G', '--peers', 'none')
        with self.with_torch():
            for layout, peers, needed in (
                ('contiguous', 'numpy', 72),
                ('contiguous', 'numpy,torch', 80),  # torch may allocate a result
                ('strided', 'numpy', 104),
            ):
                limit = f'{needed * 10**9 // 2**30}G'  # less than `needed`, more than without peers
                self.fails_late(6, f'need {needed}.00 GB, more than ', *large, limit, '--layout',
                                layout, '--peers', peers, '--python', sys.executable)
        self.fails(6, 'half of the available memory; --memory sets another limit', 'bench', 'add',
                   '--size', '1e13')

    def test_files(self):
        folder = self.here / 'folder'
        folder.mkdir()
        for option in ('--json', '--svg'):
            self.fails(3, f'{option} {folder}: is not a regular file', 'bench', 'add', option,
                       folder)
            self.fails(3, f'{option} /nowhere/r: cannot create a file beside: No such file or '
                       'directory', 'bench', 'add', option, '/nowhere/r')
        self.fails(2, 'the same file', 'bench', 'add', '--json', folder / 'r', '--svg',
                   f'{folder}/../folder/r')
        self.fails(2, "--svg: expected a file, got '-'", 'bench', 'add', '--svg', '-')
        self.fails(3, "--json '': cannot create a file beside: ", 'bench', 'add', '--json', '')

    def run_until_a_row(self, file):
        """Starts a long bench in a terminal, and returns the process and its output up to the first
        row."""
        main, other = pty.openpty()
        process = subprocess.Popen(
            [self.command, 'bench', 'add', '--seconds', '1', '--size', '10,20,30,40,50,60',
             '--python', sys.executable, '--peers', 'numpy', '--json', file],
            stdout=subprocess.PIPE, stderr=other, text=True, start_new_session=True)
        os.close(other)
        lines = [process.stdout.readline() for _ in range(4)]
        return process, main, lines

    def test_interrupt(self):
        file = self.here / 'r.json'
        process, main, lines = self.run_until_a_row(file)
        os.killpg(process.pid, signal.SIGINT)
        self.assertEqual(process.wait(), -signal.SIGINT)
        lines += process.stdout.read().splitlines()
        process.stdout.close()
        self.assertIn(' 10 ', lines[3])
        self.assertLess(len(lines), 9)
        self.assertEqual(self.contents(), {})
        progress = os.read(main, 65536).decode()
        os.close(main)
        self.assertIn('row 1 of 6: call float64 contiguous 10, ', progress)
        self.assertIn('\r\x1b[K', progress)
        self.assertNotIn('Traceback', progress)
        self.no_children(process.pid)

    def no_children(self, session):
        """Waits until no process of the session is left: Python ends when its input ends."""
        for _ in range(100):
            left = [path for path in pathlib.Path('/proc').glob('[0-9]*/stat')
                    if session_of(path) == session]
            if not left:
                return
            time.sleep(0.1)
        self.fail(f'processes {left} are left')


def session_of(stat_file):
    try:
        return int(stat_file.read_text().rpartition(')')[2].split()[3])
    except OSError:  # the process has ended
        return None


class Documentation(command_fixture.CommandTest):
    def test_the_example_of_the_page(self):
        """Runs the command of docs/bench.md, and compares the columns of the table."""
        page = (ROOT / 'docs/bench.md').read_text()
        command, output = re.search(r'```\n\$ gufunc (bench .*?)\n(.*?)```', page, re.S).groups()
        words = command.split()
        done = subprocess.run([self.command, *words, *QUICK], capture_output=True, text=True,
                              cwd=self.here)
        self.assertEqual(done.returncode, 0, done.stderr)
        shown, printed = output.splitlines(), done.stdout.splitlines()
        self.assertEqual(len(printed), len(shown))
        self.assertEqual(printed[1], shown[1])
        self.assertEqual(printed[2], shown[2])
        for ours, theirs in zip(printed[3:], shown[3:]):
            self.assertEqual(ours.split()[:6], theirs.split()[:6])
        json_form = re.search(r'```json\n(.*?)```', page, re.S).group(1)
        file = words[words.index('--json') + 1]
        report = json.loads((self.here / file).read_text())
        example = json.loads(json_form)
        self.assertEqual(list(example), list(report))
        self.assertEqual(list(example['machine']), list(report['machine']))
        self.assertEqual(list(example['rows'][0]), list(report['rows'][0]))


if __name__ == '__main__':
    command_fixture.main()
