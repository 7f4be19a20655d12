# SPDX-License-Identifier: Apache-2.0
"""Measures how much host time the launch of a plan takes in addition to the driver's own call. The
functions of the simulated drivers return immediately (GUFUNC_SIM_EMPTY), so the result is the time
that the library and the plugin take.

    launch_cost.py --build build/release [--repetitions 40] [--device cuda:0 ...] [--silicon]

The benchmarks of a device run interleaved in one process. The results are minima of the thread's
CPU time, and every allocation of the process is counted. --silicon uses the real driver. The exit
status is 1 if a launch allocates memory. Times do not affect the exit status, and are meaningful
only on a machine without other load.
"""

import argparse
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'tools'))
from gpu_check_bench import minima  # noqa: E402

BAR = 200  # limit in nanoseconds, in addition to an empty driver call


def measure(build, device, options):
    environment = {**os.environ, 'GUFUNC_BENCH_DEVICE': device,
                   'GUFUNC_BENCH_MODULES': str(build / 'bench/modules')}
    if not options.silicon:
        kernels = sorted(map(str, (build / 'kernels/standard').glob('*/*.emu.so')))
        environment.update(GUFUNC_SIM_EMPTY='1', LD_LIBRARY_PATH=str(build / 'sim'),
                           GUFUNC_SIM_EMULATION=':'.join(kernels))
    command = [build / 'bin/device_bench', '--benchmark_filter=_launch',
               '--benchmark_format=json', '--benchmark_enable_random_interleaving=true',
               f'--benchmark_repetitions={options.repetitions}', '--benchmark_min_time=0.002']
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return minima(done.stdout)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument('--build', type=pathlib.Path, required=True)
    parser.add_argument('--repetitions', type=int, default=40)
    parser.add_argument('--device', nargs='*', default=['cuda:0', 'roc:0'])
    parser.add_argument('--silicon', action='store_true', help='use the installed driver')
    options = parser.parse_args()
    bad = 0
    for device in options.device:
        found, errors = measure(options.build.resolve(), device, options)
        for name, text in errors.items():
            print(f'{device} {name}: {text}')
        bad += len(errors)
        bare = found.pop('driver_launch', {'ns': 0.0})
        print(f'{device:<8} the driver\'s own call      {bare["ns"]:7.1f} ns')
        for name, one in sorted(found.items()):
            above = one['ns'] - bare['ns']
            verdict = 'met' if above <= BAR else 'not met'
            print(f'{device:<8} {name:<25} {above:8.1f} ns above it, {one["allocations"]:g} '
                  f'allocations; at most {BAR}: {verdict}')
            bad += one['allocations'] != 0
        bad += not found
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
