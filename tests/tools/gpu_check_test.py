# SPDX-License-Identifier: Apache-2.0
"""Runs gpu-check and roc-check with simulated drivers. Every part of the check must run and be in
the table of results, the table must be valid JSON, a failing part must fail the whole run, and
missing parts must be reported.

    gpu_check_test.py TOOLS BUILD DEVICE [TEST ...]"""

import contextlib
import importlib.machinery
import importlib.util
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import types
import unittest
import unittest.mock

TOOLS, BUILD, DEVICE = pathlib.Path(), pathlib.Path(), ''
EVERY_KERNEL_FAILS = {'GUFUNC_SIM_FAULT': 'exec_kernel:0:700'}
SUSPECTED = ('f32 division near the limits', 'complex64 sin and sqrt', 'remainder f64', 'bfloat16',
             'float to integer casts')
# Replacements of the modules of other libraries, with the functions that against_device.py uses.
STAND_INS = {
    'cupy': '''
class Device:
    def __init__(self, index): pass
    use = synchronize = lambda self: None
cuda = type('cuda', (), {'Device': Device})
def asarray(one): return one.__cuda_array_interface__['data'][0]
def add(a, b, out): assert a != b != out
def negative(a, out): assert a != out
sin = negative
''',
    'torch': '''
cuda = type('cuda', (), {'is_available': staticmethod(lambda: False)})
''',
    'numba': '''
class cuda:
    is_available = staticmethod(lambda: True)
    select_device = staticmethod(lambda index: None)
    synchronize = staticmethod(lambda: None)
    as_cuda_array = staticmethod(lambda one: one)
def vectorize(signatures, target):
    assert signatures[0].startswith('float32(float32')
    return lambda function: lambda *operands, out: None
''',
}


class Checks(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.here = pathlib.Path(self.folder.name)

    def tearDown(self):
        self.folder.cleanup()

    def check(self, *options, build=None, **environment):
        """Returns (exit status, rows, complete output). The rows of the printed table must be equal
        to the rows in the JSON file."""
        tool = 'roc-check' if DEVICE.startswith('roc') else 'gpu-check'
        out = self.here / 'table.json'
        out.unlink(missing_ok=True)
        done = subprocess.run(
            [TOOLS / tool, '--build', build or BUILD, '--python', sys.executable, '--json', out,
             *options], capture_output=True, text=True, env={**os.environ, **environment})
        table = json.loads(out.read_text()) if out.exists() else {'rows': []}
        self.assertNotIn('Traceback', done.stderr)
        for row in table['rows']:
            self.assertIn(row['name'], done.stdout)
        if table['rows']:
            self.assertEqual(table['device'].split(':')[0], DEVICE.split(':')[0])
            self.assertEqual(table['passed'], done.returncode == 0)
        return done.returncode, table['rows'], done.stdout + done.stderr

    def states(self, rows, part):
        return {row['name']: row['state'] for row in rows if row['part'] == part}


class EveryPart(Checks):
    def test_every_part(self):
        mode = '--slow' if DEVICE.startswith('roc') else '--short'
        code, rows, text = self.check(mode)
        self.assertEqual(code, 0, text)
        for part, least in {'device': 1, 'every_function': 1, 'oracle': 1, 'raw_kernels': 1,
                            'device_tests': 4, 'examples': 8}.items():
            found = self.states(rows, part)
            self.assertEqual(set(found.values()), {'passed'}, f'{part}: {found}')
            self.assertGreaterEqual(len(found), least, part)
        fixed = self.states(rows, 'fixed_cases')
        self.assertEqual(set(fixed), {'corner_cases', 'fold_order', 'structured_methods',
                                      'state_reductions'})
        self.assertLessEqual(set(fixed.values()), {'passed', 'skipped'})
        self.benchmarks(rows, mode)
        reasons = [row['detail'] for row in rows if row['state'] in ('skipped', 'not measured')]
        self.assertTrue(all(reasons), reasons)
        # Functions whose results differed on an emulator have separate rows, to be checked on AMD
        # hardware.
        self.assertEqual(set(self.states(rows, 'every_function')),
                         {'each in each type', *SUSPECTED})
        every = next(row['detail'] for row in rows if row['part'] == 'every_function')
        self.assertRegex(every, r'(\d{3,}) of \1 cases')

    def benchmarks(self, rows, mode):
        found = self.states(rows, 'benchmarks')
        self.assertEqual(set(found.values()), {'measured'}, found)
        import gpu_check_bench
        suspects = self.states(rows, 'suspects')
        self.assertEqual(set(suspects), set(gpu_check_bench.SUSPECTS), 'each has a row')
        for name in ('plan_launch/add', 'driver_launch', 'call_small', 'driver_copy/4096',
                     'rows/cumulative_power/4096', 'elementwise/add_f32/4096',
                     'reduce/sum_all/4096'):
            self.assertIn(name, found)
        bars = self.states(rows, 'bars')
        copies = [state for name, state in bars.items() if 'bytes' in name]
        self.assertEqual(copies, ['not measured'] * 6, 'three sizes, elementwise and rows')
        launches = {state for name, state in bars.items() if 'plan_launch' in name}
        self.assertLessEqual(launches, {'not measured'} if mode == '--slow' else {'met', 'not met'})
        peers = self.states(rows, 'peers')
        self.assertLessEqual({'cupy', 'numba-cuda', 'pytorch'}, set(peers))
        for who in ('gufunc', 'driver copy'):
            self.assertEqual(peers[f'add f32 4096: {who}'], 'measured')


class Limit(Checks):
    def test_it_ends_in_time(self):
        """After the time limit, the running part is stopped, each later part has a row, and the
        table is complete."""
        mode = '--slow' if DEVICE.startswith('roc') else '--short'
        begun = time.monotonic()
        code, rows, text = self.check('--limit', '5', mode)
        self.assertLess(time.monotonic() - begun, 20, text)
        table = json.loads((self.here / 'table.json').read_text())
        self.assertTrue(table['complete'])
        cut = {row['part'] for row in rows if row['state'] == 'cut'}
        self.assertLessEqual({'device_bench', 'peers'}, cut, text)
        for part in ('every_function', 'oracle', 'fixed_cases', 'raw_kernels', 'device_tests',
                     'examples', 'sanitizer'):
            self.assertTrue(self.states(rows, part), f'{part} has no row')
        self.assertIn('the limit of 5 s was reached', text)


class DefaultLimit(unittest.TestCase):
    """Without --limit, a run ends after 480 seconds, so that it completes on a machine that is
    rented for ten minutes."""

    def setUp(self):
        loader = importlib.machinery.SourceFileLoader('gpu_check', str(TOOLS / 'gpu-check'))
        self.tool = importlib.util.module_from_spec(
            importlib.util.spec_from_loader('gpu_check', loader))
        loader.exec_module(self.tool)

    def limit(self, *options):
        """Returns the limit that the report of a run with these options receives."""
        class Stop(Exception):
            pass

        def report(_, limit):
            raise Stop(limit)

        with (unittest.mock.patch.object(self.tool, 'Report', report),
              unittest.mock.patch.object(self.tool, 'what_is_wrong', lambda *_: ''),
              unittest.mock.patch.object(self.tool, 'set_library_path', lambda _: None),
              unittest.mock.patch.object(sys, 'argv', ['gpu-check', *options]),
              self.assertRaises(Stop) as stopped):
            self.tool.main()
        return stopped.exception.args[0]

    def test_it_is_480_seconds(self):
        self.assertEqual(self.limit(), 480)
        self.assertEqual(self.limit('--limit', '7'), 7)

    def test_it_is_documented(self):
        text = io.StringIO()
        with (unittest.mock.patch.object(sys, 'argv', ['gpu-check', '--help']),
              contextlib.redirect_stdout(text), self.assertRaises(SystemExit)):
            self.tool.main()
        self.assertIn('(default 480)', text.getvalue())
        self.assertIn('at most eight minutes', text.getvalue())

    def test_a_packed_folder_uses_it(self):
        import gpu_check_pack
        self.assertNotIn('--limit', gpu_check_pack.START)


class Failures(Checks):
    def test_a_failure_of_each_part(self):
        code, rows, text = self.check('--short', **EVERY_KERNEL_FAILS)
        self.assertEqual(code, 1, text)
        for part in ('every_function', 'oracle', 'raw_kernels', 'device_tests', 'examples',
                     'benchmarks', 'peers'):
            self.assertIn('FAILED', self.states(rows, part).values(), part)
        fixed = self.states(rows, 'fixed_cases')
        refused = fixed.pop('structured_methods', None)  # the loops of this part run on the host
        self.assertIn(refused, (None, 'passed'))
        self.assertLessEqual(set(fixed.values()), {'FAILED', 'skipped'}, fixed)

    def test_what_is_missing(self):
        code, rows, text = self.check('--json', '/nonexistent/table.json')
        self.assertEqual((code, rows), (2, []))
        self.assertIn('--json: ', text)
        code, rows, text = self.check(build='/nonexistent')
        self.assertEqual((code, rows), (2, []))
        self.assertIn('/nonexistent is no finished build', text)
        code, rows, text = self.check('--device', f'{DEVICE.split(":")[0]}:7')
        self.assertEqual((code, rows[0]['state']), (2, 'FAILED'))
        self.assertIn('no such index', text)
        code, rows, text = self.check('--python', '/nonexistent')
        self.assertEqual((code, rows), (2, []))
        self.assertIn('/nonexistent is no Python with NumPy 2', text)
        code, rows, text = self.check('--limit', '0')
        self.assertEqual((code, rows), (2, []))
        self.assertIn('--limit: expected a number of seconds above 0, got 0', text)
        (self.here / 'sim').mkdir()
        code, rows, text = self.check(LD_LIBRARY_PATH=str(self.here / 'sim'))
        if code != 0:  # no driver of this vendor is installed
            self.assertEqual((code, rows[0]['state']), (2, 'FAILED'))
            self.assertTrue(rows[0]['detail'])

    def test_memory_is_too_small(self):
        code, rows, text = self.check('--short', '--only', 'device_bench', '--only', 'peers',
                                      GUFUNC_SIM_MEMORY='8192')
        found = self.states(rows, 'benchmarks')
        self.assertEqual(found['elementwise/add_f32/4096'], 'skipped', text)
        self.assertEqual(self.states(rows, 'peers')['add f32 4096'], 'skipped', text)

    def test_sanitizer(self):
        tool = self.here / 'compute-sanitizer'
        head = ('#!/bin/sh\n[ "$GUFUNC_NO_MEMORY_CACHE" = 1 ] || exit 7\n'
                'shift 4\n"$@" > /dev/null || exit $?\n')
        path = f'{self.here}:{os.environ["PATH"]}'
        for word, code in (('0 errors', 0), ('3 errors', 9)):
            tool.write_text(f'{head}echo "========= ERROR SUMMARY: {word}"\nexit {code}\n')
            tool.chmod(0o755)
            found, rows, text = self.check('--short', '--only', 'sanitizer', PATH=path)
            if DEVICE.startswith('roc'):
                self.assertEqual((found, rows[-1]['state']), (0, 'skipped'))
                continue
            self.assertEqual(found, 1 if code else 0, text)
            self.assertEqual(len(self.states(rows, 'sanitizer')), 2)
            self.assertIn(word, rows[-1]['detail'])

    def test_a_sanitizer_that_is_cut_fails_nothing(self):
        import gpu_check_parts
        import gpu_check_report
        options = types.SimpleNamespace(slow=False, short=False, device='cuda:0', json=None)
        report = gpu_check_report.Report(options, 600)
        parts = gpu_check_parts.Parts(TOOLS.parent, BUILD, sys.executable, options, report)
        parts.part('sanitizer', 'cut', ['sleep', '30'], 0.2, slow=True)
        parts.part('oracle', 'hangs', ['sleep', '30'], 0.2)
        self.assertEqual([row['state'] for row in report.rows], ['cut', 'FAILED'])

    def test_every_row_is_written_at_once(self):
        import gpu_check_report
        out = self.here / 'rows.json'
        options = types.SimpleNamespace(slow=False, short=False, device=DEVICE, json=str(out))
        report = gpu_check_report.Report(options, 60)
        for number in (1, 2):
            report.row('part', f'row {number}', 'passed')
            table = json.loads(out.read_text())
            self.assertEqual((len(table['rows']), table['complete']), (number, False))
        report.finish()
        self.assertTrue(json.loads(out.read_text())['complete'])

    def test_peers(self):
        for name, text in STAND_INS.items():
            (self.here / f'{name}.py').write_text(text)
        code, rows, text = self.check('--short', '--only', 'peers', PYTHONPATH=str(self.here))
        self.assertEqual(code, 0, text)
        found = self.states(rows, 'peers')
        self.assertEqual(found['pytorch'], 'skipped')
        for work in ('add', 'negative', 'sin'):
            for who in ('gufunc', 'driver copy', 'cupy', 'numba-cuda'):
                self.assertEqual(found[f'{work} f32 4096: {who}'], 'measured', text)


def elf_files(folder):
    """Yields each ELF file in the folder, and the names of its sections."""
    for file in sorted(folder.rglob('*')):
        if file.is_file() and file.read_bytes()[:4] == b'\x7fELF':
            done = subprocess.run(['readelf', '-S', '-W', file], capture_output=True, text=True)
            yield file, re.findall(r'\] (\.[\w.]+)', done.stdout)


class Pack(unittest.TestCase):
    """A packed folder must run without the build tree and without the libraries of this system."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.here = pathlib.Path(self.folder.name) / 'pack'

    def tearDown(self):
        self.folder.cleanup()

    def pack(self, build=None):
        return subprocess.run([TOOLS / 'gpu-check', '--pack', self.here, '--build', build or BUILD,
                               '--device', DEVICE], capture_output=True, text=True)

    def test_the_folder_is_complete(self):
        import gpu_check_pack
        done = self.pack()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertLess(sum(file.stat().st_size for file in self.here.rglob('*')), 60 << 20)
        there = {file.name for file in self.here.rglob('*.so*')}
        known = (*gpu_check_pack.SYSTEM, *gpu_check_pack.FALLBACK)
        native = 0
        modules = {file for pattern in gpu_check_pack.MODULES
                   for file in (self.here / 'build/release').glob(pattern)}
        for file, sections in elf_files(self.here):
            native += 1
            self.assertFalse([name for name in sections if name.startswith('.debug')], file)
            if file not in modules:  # gufcc decides what a module contains
                self.assertNotIn('.symtab', sections, file)
            text = subprocess.run(['readelf', '-d', file], capture_output=True, text=True).stdout
            for line in text.splitlines():
                if '(NEEDED)' in line:
                    name = line.split('[')[1].rstrip(']')
                    self.assertTrue(name in there or name.startswith(known), f'{file}: {name}')
        self.assertGreater(native, 20)
        self.assertIn('is not empty', self.pack().stderr)

    def test_it_runs_by_one_command(self):
        self.assertEqual(self.pack().returncode, 0)
        kept = {name: value for name, value in os.environ.items() if 'GUFUNC_SIM' in name}
        done = subprocess.run(
            [self.here / 'gpu-check', '--short', '--only', 'raw_kernels', '--only', 'examples',
             '--only', 'fixed_cases'],
            capture_output=True, text=True, cwd='/',
            env={**kept, 'PATH': '/usr/bin:/bin', 'PYTHON': sys.executable,
                 'LD_LIBRARY_PATH': os.environ['LD_LIBRARY_PATH']})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        table = json.loads((self.here / 'gpu-check.json').read_text())
        self.assertTrue(table['complete'])
        passed = {row['part'] for row in table['rows'] if row['state'] == 'passed'}
        self.assertLessEqual({'raw_kernels', 'examples', 'fixed_cases'}, passed)

    def test_what_cannot_be_packed(self):
        done = self.pack('/nonexistent')
        self.assertEqual(done.returncode, 2)
        self.assertIn('/nonexistent has no lib/libgufunc.so.0.1', done.stderr)


class PackSmallBuild(unittest.TestCase):
    """Packs a build of one vendor, one architecture and few programs. The test compiles small
    programs and libraries in place of the files of such a build."""

    PROGRAMS = ('bin/gufunc', 'bin/tests/raw_kernels_test')
    MODULES = ('examples/modules/one.so', 'tests/abi/kernels/modules/raw_kernels.so')

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        root = pathlib.Path(self.folder.name)
        self.build, self.here = root / 'build', root / 'pack'
        self.vendor = DEVICE.split(':')[0]
        self.plugin = f'lib/gufunc/1/libgufunc_backend_{self.vendor}.so'
        (root / 'small.c').write_text('static int two(void) { return 2; }\n'
                                      'int four(void) { return 2 * two(); }\n'
                                      'int main(void) { return 0; }\n')
        subprocess.run(['cc', '-g', '-fPIC', '-c', 'small.c', '-o', 'small.o'], cwd=root,
                       check=True)
        for kind, names in (('-pie', self.PROGRAMS),
                            ('-shared', ('lib/libgufunc.so.0.1', self.plugin, *self.MODULES,
                                         'lib/gufunc/1/libgufunc_backend_cpu.so'))):
            for name in names:
                (self.build / name).parent.mkdir(parents=True, exist_ok=True)
                subprocess.run(['cc', kind, root / 'small.o', '-o', self.build / name], check=True)

    def tearDown(self):
        self.folder.cleanup()

    def pack(self):
        return subprocess.run([TOOLS / 'gpu-check', '--pack', self.here, '--build', self.build,
                               '--device', DEVICE], capture_output=True, text=True)

    def test_it_is_complete_and_stripped(self):
        for file, sections in elf_files(self.build):
            self.assertLessEqual({'.symtab', '.debug_info'}, set(sections), file)
        done = self.pack()
        self.assertEqual(done.returncode, 0, done.stderr)
        there = self.here / 'build/release'
        found = {str(file.relative_to(there)): sections for file, sections in elf_files(there)}
        own = {str(file.relative_to(self.build)) for file, _ in elf_files(self.build)}
        self.assertEqual(set(found), own, 'no file of the other vendor is required')
        for name, sections in found.items():
            if name in self.MODULES:  # a module contains a digest of its bytes
                self.assertEqual((there / name).read_bytes(), (self.build / name).read_bytes())
                continue
            self.assertNotIn('.symtab', sections, name)
            self.assertFalse([one for one in sections if one.startswith('.debug')], name)
        start = (self.here / 'gpu-check').read_text()
        self.assertIn(f'--device {DEVICE} ', start)

    def test_what_is_required(self):
        (self.build / self.plugin).unlink()
        done = self.pack()
        self.assertEqual(done.returncode, 2)
        self.assertIn(f'has no {self.plugin}', done.stderr)

    def test_a_folder_above_60_mib(self):
        """The message names the largest file, and a build for one architecture as the remedy."""
        large = self.build / 'bench/modules/large.so'
        large.parent.mkdir(parents=True)
        with large.open('wb') as file:
            file.truncate(60 << 20)
        done = self.pack()
        self.assertEqual(done.returncode, 2)
        self.assertIn('expected at most 60', done.stderr)
        self.assertIn('bench/modules/large.so of 60 MiB', done.stderr)
        self.assertIn('A build for one architecture is smaller', done.stderr)


class Bars(unittest.TestCase):
    """Tests how the check evaluates measured times."""

    def judged(self, ratio, above):
        import gpu_check_bench
        import gpu_check_report
        options = types.SimpleNamespace(slow=False, short=False, device=DEVICE, json=None)
        report = gpu_check_report.Report(options, 60)
        bench = gpu_check_bench.Benchmarks(TOOLS.parent, BUILD, sys.executable, options, report)
        for size in (64 << 20, 256 << 20):
            bench.found[f'driver_copy/{size}'] = {'bytes_per_second': 1e12}
            bench.found[f'elementwise/add_f32/{size}'] = {'bytes_per_second': ratio * 1e12}
        bench.found['driver_launch'] = {'ns': 2000.0}
        bench.found['plan_launch/add'] = {'ns': 2000.0 + above}
        bench.errors[f'elementwise/add_f32/{1 << 30}'] = 'GUF_E_DEVICE_MEMORY: too large'
        bench.bars()
        return {row['name']: (row['state'], row['detail']) for row in report.rows}

    def test_bars(self):
        found = self.judged(0.951, 499)
        self.assertEqual(found['elementwise/add_f32/67108864'][0], 'met')
        self.assertEqual(found['plan_launch/add over the driver'][0], 'met')
        self.assertEqual(found['elementwise of 1073741824 bytes'],
                         ('not measured', 'GUF_E_DEVICE_MEMORY: too large'))
        self.assertEqual(found['rows of 67108864 bytes'][0], 'not measured')
        found = self.judged(0.949, 501)
        self.assertEqual(found['elementwise/add_f32/67108864'][0], 'not met')
        self.assertEqual(found['elementwise/add_f32/268435456'][0], 'not met')
        self.assertEqual(found['plan_launch/add over the driver'][0], 'not met')

    def test_a_part_is_cut(self):
        import gpu_check_report
        done = gpu_check_report.run(['sh', '-c', 'echo 7 of 9; sleep 30'], 0.5, {})
        self.assertIsNone(done.code)
        self.assertEqual(done.last(), '7 of 9')
        self.assertLess(done.seconds, 20)


if __name__ == '__main__':
    TOOLS, BUILD, DEVICE = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
    sys.path.insert(0, str(TOOLS))
    del sys.argv[1:4]
    unittest.main()
