# SPDX-License-Identifier: Apache-2.0
"""The benchmarks of gpu-check. device_bench compares the library with the driver, and
against_device.py compares it with other libraries. The results are then compared with the bars,
which are the slowest acceptable results. All benchmarks of one size run interleaved in one process.
The comparisons use the minimum of the repetitions of each benchmark."""

import json
import tempfile

from gpu_check_report import run

MIB = 1 << 20
SIZES = (MIB // 256, 4 * MIB, 64 * MIB, 256 * MIB, 1024 * MIB)  # bytes per operand
JUDGED_FROM = 64 * MIB
# The slowest acceptable results, as fractions of the speed of the driver's copy of the same number
# of bytes.
BARS = {'elementwise': 0.95, 'rows': 0.90}
# Benchmarks that are expected to be slow, so that every result is acceptable.
SUSPECTS = ('sin_f16', 'exp_f16', 'add_bf16', 'add_rows_of_125', 'sum_rows_of_8',
            'sum_rows_of_1000', 'sum_i8', 'sum_i32', 'cumsum_f32', 'cast_f32_to_f64',
            'cast_f16_to_f32', 'transpose_f32', 'transpose_i8', 'negative_at', 'matmul_one',
            'matmul_of_4x4')
SUSPECT_SECONDS = 6  # time limit of each suspect
LAUNCH_BAR = 500  # maximum time of a launch in ns, in addition to the driver's own launch
# Errors that mean a missing feature of the device or machine. Every other error is a failure.
LACKS = ('GUF_E_DEVICE_MEMORY', 'GUF_E_NO_IMAGE', ' is in none of the folders',
         ' has no image for this device', 'the driver has no ')


def minima(text):
    """Parses device_bench's JSON into {name: {'ns', 'bytes_per_second', 'allocations'}} and {name:
    error}."""
    found, errors = {}, {}
    for one in json.loads(text)['benchmarks']:
        name = one.get('run_name', one['name']).removesuffix('/real_time')
        if one.get('error_occurred'):
            errors[name] = one['error_message']
        elif one.get('run_type') == 'iteration':
            # A launch is measured in CPU time, so other load on the machine does not matter.
            field = 'cpu_time' if '/real_time' not in one['name'] else 'real_time'
            ns = one[field] * {'ns': 1, 'us': 1e3, 'ms': 1e6}[one['time_unit']]
            if name not in found or ns < found[name]['ns']:
                found[name] = {'ns': ns, 'bytes_per_second': one.get('bytes_per_second'),
                               'allocations': one.get('allocations')}
    return found, errors


class Benchmarks:
    def __init__(self, root, build, python, options, report):
        self.root, self.build, self.python = root, build, python
        self.options, self.report = options, report
        self.small = options.slow or options.short
        self.found, self.errors = {}, {}
        self.why_not = 'slow device' if options.slow else 'a short run'

    def sizes(self):
        return SIZES[:1] if self.small else SIZES

    def slice(self, name, pattern, seconds, lost, repetitions=15):
        """Runs one device_bench process with interleaved repetitions of the matching benchmarks.
        If the process exceeds its time, it is ended, and the row of the bar `lost` (the bar that
        could not be measured) reports the reason."""
        folders = [self.build / 'bench/modules', self.build / 'examples/modules']
        repetitions, least = (3, 0.0005) if self.small else (repetitions, 0.01)
        # A number without a unit works with old and new versions of Google Benchmark.
        done = run([self.build / 'bin/device_bench', '--benchmark_format=json',
                    '--benchmark_enable_random_interleaving=true',
                    f'--benchmark_repetitions={repetitions}', f'--benchmark_min_time={least}',
                    f'--benchmark_filter={pattern}'],
                   min(seconds, self.report.left()),
                   {'GUFUNC_BENCH_DEVICE': self.options.device,
                    'GUFUNC_BENCH_MODULES': ':'.join(map(str, folders))})
        if done.missing():
            self.report.row('benchmarks', name, 'skipped', done.missing())
        elif done.code is None:
            self.errors[lost] = f'cut after {done.seconds:.0f} s'
            self.report.row('benchmarks', name, 'cut', self.errors[lost])
        elif done.code:
            self.report.row('benchmarks', name, 'FAILED', f'exit {done.code}')
            print((done.output + done.errors)[-4000:], flush=True)
        else:
            found, errors = minima(done.output)
            self.add_rows(found, errors)
            return found
        return {}

    def add_rows(self, found, errors):
        self.found.update(found)
        self.errors.update(errors)
        for name, one in found.items():
            ns, rate = one['ns'], one['bytes_per_second']
            detail = f'{rate / 1e9:.1f} GB/s' if rate else f'{ns:.0f} ns'
            if one['allocations'] is not None:
                detail += f', {one["allocations"]:.2g} allocations'
            self.report.row('benchmarks', name, 'measured', detail, **one)
        for name, text in errors.items():
            lacks = any(one in text for one in LACKS)
            self.report.row('benchmarks', name, 'skipped' if lacks else 'FAILED', text)

    def device_bench(self):
        program = self.build / 'bin/device_bench'
        if not program.exists():
            self.why_not = f'{program} was not built'
            self.report.row('benchmarks', 'device_bench', 'skipped', self.why_not)
        else:
            self.slice('launches', 'launch|call_small', 30, 'driver_launch')
            for size in self.sizes():
                self.slice(f'{size} bytes', f'/{size}/', 40 if self.options.slow else 25,
                           f'driver_copy/{size}')
            self.suspects(SIZES[0] if self.small else JUDGED_FROM)
        self.bars()

    def suspects(self, size):
        """Runs each benchmark in its own process, so that a slow benchmark cannot use the time of
        the others."""
        copy = self.found.get(f'driver_copy/{size}')
        for name in SUSPECTS:
            full = f'suspect/{name}/bytes:{size}'
            found = self.slice(full, f'^{full}/', SUSPECT_SECONDS * (5 if self.small else 1), full,
                               repetitions=3)
            if copy and full in found:
                ratio = found[full]['bytes_per_second'] / copy['bytes_per_second']
                self.report.row('suspects', name, 'measured', f'{ratio:.3f} of the copy',
                                found=ratio)

    def bar(self, name, expected, found, text):
        """Adds a row that states whether a bar is met, or why it was not measured."""
        if found is None:
            self.report.row('bars', name, 'not measured', text, expected=expected)
        else:
            met = found >= expected if expected <= 1 else found <= expected
            self.report.row('bars', name, 'met' if met else 'not met', text, expected=expected,
                            found=found)

    def bars(self):
        for kind, expected in BARS.items():
            for size in (size for size in SIZES if size >= JUDGED_FROM):
                self.copies(kind, expected, size)
        bare = self.found.get('driver_launch')
        launches = [name for name in self.found if name.startswith('plan_launch/')]
        for name in launches or ['plan_launch']:
            if self.options.slow or bare is None or name not in self.found:
                why = self.errors.get('driver_launch', self.why_not)
                self.bar(f'{name} over the driver', LAUNCH_BAR, None, why)
                continue
            above = self.found[name]['ns'] - bare['ns']
            self.bar(f'{name} over the driver', LAUNCH_BAR, above,
                     f'{above:.0f} ns above {bare["ns"]:.0f}, expected at most {LAUNCH_BAR}')

    def copies(self, kind, expected, size):
        copy = self.found.get(f'driver_copy/{size}')
        names = [name for name in self.found
                 if name.startswith(f'{kind}/') and name.endswith(f'/{size}')]
        if copy is None or not names:
            lost = [text for name, text in self.errors.items() if name.endswith(f'/{size}')]
            self.bar(f'{kind} of {size} bytes', expected, None, (lost or [self.why_not])[0])
            return
        for name in names:
            ratio = self.found[name]['bytes_per_second'] / copy['bytes_per_second']
            self.bar(name, expected, ratio, f'{ratio:.3f} of the copy, expected {expected}')

    def peers(self):
        """Measures gufunc, CuPy, numba-cuda and PyTorch in one process."""
        with tempfile.NamedTemporaryFile('r', suffix='.json') as out:
            command = [self.python, self.root / 'bench/against_device.py', '--library',
                       self.build / 'lib/libgufunc.so.0.1', '--device', self.options.device,
                       '--json', out.name]
            command += ['--bytes', SIZES[0], '--rounds', 3] if self.small else ['--seconds', 60]
            done = run(command, min(90, self.report.left()), {})
            rows = json.loads(out.read() or '[]')
        for row in rows:
            self.report.row('peers', **row)
        if done.code is None:
            self.report.row('peers', 'against_device.py', 'cut', f'{done.seconds:.0f} s')
        elif done.code:
            self.report.row('peers', 'against_device.py', 'FAILED', f'exit {done.code}')
            print((done.output + done.errors)[-4000:], flush=True)
