# SPDX-License-Identifier: Apache-2.0
"""The parts of gpu-check that check results: by comparison with NumPy, by comparison with expected
output, and by tests. Each part has a time limit."""

import re
import shutil

from gpu_check_report import run

# Tests of the C interface. Their cases that need a simulated driver or two devices are skipped.
DEVICE_TESTS = ('device_graphs', 'device_copies', 'device_chunks', 'device_state')
# Example programs whose output does not depend on the device, with their source folders and
# arguments.
PROGRAMS = {
    'device_arrays': ('c', ()),
    'chunks': ('c', ()),
    'tracing': ('c', ()),
    'raw_counting': ('c', ('raw_counting.so',)),
    'raw_matmul': ('cpp', ('raw_matmul.so',)),
    'chunk_loop': ('cpp', ('discriminant.so',)),
    'numba_calls': ('cpp', ('',)),
    'numba_arrays': ('cpp', ()),
}
# Functions whose results differed from the host with HIP 6.4.3 on an emulated gfx942. The emulator
# is the suspected cause.
DIFFERED = {'f32 division near the limits': ['divide'], 'complex64 sin and sqrt': ['sin', 'sqrt'],
            'remainder f64': ['remainder'], 'bfloat16': ['bfloat16'],
            'float to integer casts': ['add.reduce', 'add.accumulate']}
FOR_BENCHMARKS = 150  # seconds reserved for the benchmarks


class Parts:
    def __init__(self, root, build, python, options, report):
        self.root, self.build, self.python = root, build, python
        self.options, self.report = options, report
        self.small = options.slow or options.short
        self.modules = build / 'examples/modules'
        functions = build / 'tests/conformance/modules/numpy_functions.so'
        self.functions = ['--module', functions] if functions.exists() else []

    def part(self, part, name, command, seconds, expected='', environment=None, slow=False):
        """Runs a command and adds one row with its result. Returns True if the command succeeded.
        With `slow`, a command that exceeds its time limit is not a failure."""
        report, limit = self.report, min(seconds, self.report.left(FOR_BENCHMARKS))
        done = run(command, limit, environment or {})
        if done.missing():
            report.row(part, name, 'skipped', done.missing())
        elif done.code is None:
            # A command that exceeds its time counts as hanging, except on slow devices.
            cut = slow or self.options.slow or limit < seconds
            report.row(part, name, 'cut' if cut else 'FAILED',
                       f'cut after {done.seconds:.0f} s; last output: {done.last() or "nothing"}')
        else:
            report.row(part, name, 'FAILED' if done.code else 'passed', done.last(expected))
        if done.code:
            print((done.output + done.errors)[-4000:], flush=True)
        return done.code == 0

    def script(self, name):
        return [self.python, self.root / 'tests/conformance' / f'{name}.py', '--library',
                self.build / 'lib/libgufunc.so.0.1']

    def takes(self, name, option):
        return option in run([*self.script(name)[:2], '--help'], 60, {}).output

    def every_function(self):
        seconds = 240 if self.options.slow else 40
        command = [*self.script('every_function'), *self.functions, '--device', self.options.device,
                   '--seconds', seconds]
        command += ['--every', 7] if self.options.short else []
        rounds = 1 if self.small else 20
        command += ['--rounds', rounds]
        self.part('every_function', 'each in each type', command, seconds + 30, ' cases, ')
        for name, functions in DIFFERED.items():
            command = [*self.script('every_function'), '--device', self.options.device,
                       '--rounds', 1 if self.small else 10, '--seconds', 10, '--only', *functions]
            self.part('every_function', name, command, 30, ' cases, ')

    def oracle(self):
        cases, seconds = (300, 60) if self.small else (100_000, 110)
        command = [*self.script('oracle'), *self.functions, '--device', self.options.device,
                   '--cases', cases, '--seconds', seconds]
        self.part('oracle', 'random calls', command, seconds + 30, ' random calls')

    def fixed_cases(self):
        """Runs the suites with fixed cases instead of random calls."""
        few = {'corner_cases': ['--without', 33],  # corner case 33 has 2^31 elements
               'fold_order': ['--cases', 20],
               'structured_methods': ['--cases', 60], 'state_reductions': ['--cases', 60]}
        markers = {'corner_cases': ' corner cases ', 'fold_order': ' folds ',
                 'structured_methods': ' cases, seed ', 'state_reductions': ' with a state, seed '}
        needs = {'corner_cases': self.functions,
                 'state_reductions': ['--module', self.modules / 'reductions.so']}
        for name, fewer in few.items():
            module = needs.get(name, [])
            if not self.takes(name, '--device'):
                self.report.row('fixed_cases', name, 'skipped', 'it does not run on a device yet')
            elif name in needs and not (module and module[1].exists()):
                self.report.row('fixed_cases', name, 'skipped', 'its module was not built')
            else:
                command = [*self.script(name), *module, '--device', self.options.device]
                fewer = fewer if self.small and self.takes(name, fewer[0]) else []
                self.part('fixed_cases', name, command + fewer, 120,
                          markers[name])

    def raw_kernels(self):
        module = self.build / 'tests/abi/kernels/modules/raw_kernels.so'
        self.program('raw_kernels', 'raw_kernels', [], {
            'GUFUNC_TEST_DEVICE': self.options.device, 'GUFUNC_TEST_RAW_MODULE': str(module)})

    def device_tests(self):
        backend, index = self.options.device.split(':')
        if index != '0':
            self.report.row('device_tests', 'all', 'skipped', 'these tests use the first device')
            return
        for name in DEVICE_TESTS:
            self.program('device_tests', name, [f'--gtest_filter=On/*/{backend}'],
                         {'GUFUNC_TEST_REAL_DRIVER': '1'})

    def program(self, part, name, arguments, environment):
        path = self.build / f'bin/tests/{name}_test'
        if not path.exists():
            self.report.row(part, name, 'skipped', f'{path} was not built')
            return
        self.part(part, name, [path, *arguments], 60 if self.options.slow else 30, '[  PASSED  ]',
                  environment)

    def examples(self):
        for name, (folder, modules) in PROGRAMS.items():
            path = self.build / 'examples/programs' / name
            if not path.exists():
                self.report.row('examples', name, 'skipped', f'{path} was not built')
                continue
            arguments = [self.modules / module for module in modules]
            limit = min(60 if self.options.slow else 15, self.report.left(FOR_BENCHMARKS))
            done = run([path, *arguments, self.options.device], limit, {})
            expected = (self.root / 'examples' / folder / f'{name}.out').read_text()
            if done.code == 0 and done.output == expected:
                self.report.row('examples', name, 'passed', 'prints the content of its .out file')
                continue
            why = (f'cut after {done.seconds:.0f} s' if done.code is None
                   else 'prints other text' if done.code == 0 else f'exit {done.code}')
            cut = done.code is None and self.options.slow
            self.report.row('examples', name, 'cut' if cut else 'FAILED', why)
            print((done.output + done.errors)[-2000:], flush=True)

    def sanitizer(self):
        """Runs a small selection of calls and the raw kernels under compute-sanitizer."""
        tool = shutil.which('compute-sanitizer')
        if self.options.slow or not tool or not self.options.device.startswith('cuda'):
            why = ('slow device' if self.options.slow else 'for NVIDIA alone'
                   if not self.options.device.startswith('cuda') else 'not installed')
            self.report.row('sanitizer', 'compute-sanitizer', 'skipped', why)
            return
        checked = [tool, '--error-exitcode', '9', '--target-processes', 'all']
        calls = [*self.script('every_function'), *self.functions, '--device', self.options.device,
                 '--every', 7, '--seconds', 30]
        # Disable the memory pool, because compute-sanitizer would not detect an access outside of a
        # block if the address is inside the memory of the pool.
        blocks = {'GUFUNC_NO_MEMORY_CACHE': '1'}
        # The tool instruments complete images when they are loaded, which may take long.
        if self.python:
            self.part('sanitizer', 'each function', checked + calls, 50, 'ERROR SUMMARY', blocks,
                      slow=True)
        raw = self.build / 'bin/tests/raw_kernels_test'
        if raw.exists():
            module = self.build / 'tests/abi/kernels/modules/raw_kernels.so'
            self.part('sanitizer', 'raw_kernels', [*checked, raw], 30, 'ERROR SUMMARY', {
                **blocks, 'GUFUNC_TEST_DEVICE': self.options.device,
                'GUFUNC_TEST_RAW_MODULE': str(module)}, slow=True)


def is_numpy_2(python):
    done = run([python, '-c', 'import numpy; print(numpy.__version__)'], 60, {})
    return bool(re.match(r'[2-9]|[1-9]\d', done.output))
