# SPDX-License-Identifier: Apache-2.0
"""Runs the same calls and methods on a device whose waves have 32 lanes and on a device whose waves
have 64 lanes. The bytes of the results and the errors must be equal.

    wave_bits.py --library LIBGUFUNC [--module numpy_functions.so] [--cases 3000] [--seed 1]

The program starts one process per device. Each process prints the target of its device, and then
one line per case.
"""

import argparse
import hashlib
import os
import subprocess
import sys

ARCHES = {'gfx942': 64, 'gfx1100': 32}


def digesting(base):
    """Returns a subclass of a library class that computes a digest of the bytes of all results
    since the last query."""

    class Digesting(base):
        def __init__(self, path):
            super().__init__(path)
            self.hash, self.results = hashlib.sha256(), 0

        def note(self, arrays, options):
            given = [a[1] if isinstance(a, tuple) else a for a in arrays]
            if options.get('where') is not None and any(isinstance(a, tuple) for a in arrays):
                return  # masked elements of an allocated result are undefined
            for array in given:
                self.hash.update(getattr(array, 'bits', array).tobytes())
                self.results += 1

        def check(self, status):
            self.hash.update(b'%d' % status)
            super().check(status)

        def call(self, name, inputs, outputs, **options):
            results = super().call(name, inputs, outputs, **options)
            self.note(results, options)
            return results

        def reduce(self, *inputs, **options):
            result = super().reduce(*inputs, **options)
            self.note([result], options)
            return result

        def accumulate(self, *inputs, **options):
            result = super().accumulate(*inputs, **options)
            self.note([result], options)
            return result

        def outer_of_several(self, *inputs, **options):
            results = super().outer_of_several(*inputs, **options)
            self.note(results, options)
            return results

        def at(self, *inputs, **options):
            result = super().at(*inputs, **options)
            self.note([result], options)
            return result

    return Digesting


def run(options):
    import numpy as np
    import oracle

    np.seterr(all='ignore')
    library = digesting(oracle.abi.Library)(os.path.abspath(options.library))
    library.use_device('roc:0')
    print(library.target())
    if options.module:
        library.load_module(os.path.abspath(options.module))
    drawing, differ = oracle.Drawing(options.seed, None), 0
    for number in range(options.cases):
        case = drawing.next()
        text = oracle.difference(case, library)
        differ += bool(text)
        print(library.hash.hexdigest(), number, oracle.kind_of(case), text or 'equal')
        library.hash = hashlib.sha256()
    print(f'{library.results} results')
    return 1 if differ else 0


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument('--library', required=True)
    parser.add_argument('--module', help='module compiled from numpy_functions.guf.cpp')
    parser.add_argument('--cases', type=int, default=3000)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--run', action='store_true', help='run as one of the two processes')
    options = parser.parse_args()
    if options.run:
        return run(options)
    report = {}
    for arch in ARCHES:
        command = [sys.executable, '-W', 'ignore', *sys.argv, '--run']
        environment = {**os.environ, 'GUFUNC_SIM_ARCH': arch}
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        report[arch] = done.stdout.splitlines()
        if done.returncode or not report[arch] or report[arch][0] != arch:
            text = '\n'.join(line for line in report[arch] if not line.endswith('equal'))
            print(f'{arch}: exit {done.returncode}\n{text[:2000]}\n{done.stderr[-2000:]}')
            return 1
    first, second = (lines[1:] for lines in report.values())
    others = [pair for pair in zip(first, second, strict=True) if pair[0] != pair[1]]
    for pair in others[:10]:
        print('DIFFERS', *pair, sep='\n  ')
    waves = ' and '.join(f'{lanes} lanes ({arch})' for arch, lanes in ARCHES.items())
    print(f'{options.cases} cases on waves of {waves}, {first[-1]}: {len(others)} differ')
    few = int(first[-1].split()[0]) < options.cases // 2
    return 1 if others or few else 0


if __name__ == '__main__':
    sys.exit(main())
