# SPDX-License-Identifier: Apache-2.0
"""Tests the oracle with NumPy in place of the library. Unmodified NumPy must show no difference,
and every seeded fault must be detected.

    seeded_faults.py --caller libconformance_caller.so [--cases 3000] [--seed 1]
    [--fault several]
"""

import argparse
import itertools
import sys

import numpy as np

import build
import oracle
from numpy_library import FAULTS, NumpyLibrary


def random_cases(seed):
    """Draws cases as the oracle does, without bfloat16, which NumPy lacks."""
    drawing = oracle.Drawing(seed, None, control=True, failing=True)
    while True:
        case = drawing.next()
        if not build.is_bfloat16(case):
            yield case


def first_difference(library, count, seed):
    """Returns how many cases were compared until a difference was found, and the difference.
    Returns (None, None) if there is no difference."""
    for number, case in enumerate(itertools.islice(random_cases(seed), count)):
        text = oracle.difference(case, library)
        if text:
            return number + 1, case, text
    return None, None, None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--caller', required=True,
                        help='path of the test library conformance_caller')
    parser.add_argument('--cases', type=int, default=3000, help='number of cases without a fault')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--fault', help='run only faults whose name starts with this')
    options = parser.parse_args()
    np.seterr(all='ignore')
    number, case, text = first_difference(
        NumpyLibrary(None, options.caller), options.cases, options.seed
    )
    failed = number is not None
    print(f'no fault: {f"DIFFERS {text} {case}" if failed else f"equal in {options.cases} cases"}')
    chosen = {name: fault for name, fault in FAULTS.items() if name.startswith(options.fault or '')}
    for name, fault in chosen.items():
        library = NumpyLibrary(fault, options.caller)
        number, case, text = first_difference(library, 60_000, options.seed)
        failed |= number is None
        print(f'{name}: {"NOT FOUND" if number is None else f"case {number}, {text}"}', flush=True)
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
