# SPDX-License-Identifier: Apache-2.0
"""Runs the 36 special cases of NumPy's semantics by name. NumPy and the library must both return
the expected result.

    corner_cases.py --library build/release/lib/libgufunc.so.0.1 --module numpy_functions.so
    [--device cuda:0] [--case 8] [--without 33] [--list]

The module provides functions that the standard library lacks. If a function is still missing, the
case prints the name of the function. No case is skipped silently. Exits with 1 if a result
differs."""

import argparse
import os
import sys
import traceback

import numpy as np

import abi
from corner_arithmetic import ARITHMETIC
from corner_both import Both
from corner_calls import CALLS
from corner_methods import METHODS

CORNERS = sorted(ARITHMETIC + CALLS + METHODS)


def run(number, name, check, both):
    """Runs a case and prints one line: "ok" or the difference, and notes."""
    both.notes = []
    try:
        check(both)
        verdict = 'ok' if both.answers else 'DIFFERS: nothing was compared'
    except Exception as error:  # noqa: BLE001 - every exception is a failure
        where = traceback.extract_tb(error.__traceback__)[1]
        verdict = f'DIFFERS {type(error).__name__}: {error} (line {where.lineno})'
    print(f'{number:2} {name}: {verdict}, {both.answers} answers', flush=True)
    for note in dict.fromkeys(both.notes):
        print(f'     {note}')
    both.answers = 0
    return not verdict.startswith('DIFFERS')


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument('--library', required=True)
    parser.add_argument('--module', required=True,
                        help='module compiled from numpy_functions.guf.cpp')
    parser.add_argument('--device', help='device of all calls (default cpu)')
    parser.add_argument('--case', type=int, help='run only this case')
    parser.add_argument('--without', type=int, help='run all cases except this one')
    parser.add_argument('--list', action='store_true', help='only print the names')
    options = parser.parse_args()
    assert [number for number, _, _ in CORNERS] == list(range(1, 37))
    if options.list:
        print('\n'.join(f'{number} {name}' for number, name, _ in CORNERS))
        return 0
    np.seterr(all='ignore')
    both = Both(abi.Library(os.path.abspath(options.library)))
    if options.device:
        both.library.use_device(options.device)
    both.library.load_module(os.path.abspath(options.module))
    chosen = [c for c in CORNERS if options.case in (None, c[0]) and options.without != c[0]]
    good = [run(*corner, both) for corner in chosen]
    print(f'{sum(good)} of {len(good)} corner cases differ nowhere')
    return 0 if all(good) else 1


if __name__ == '__main__':
    sys.exit(main())
