# SPDX-License-Identifier: Apache-2.0
"""Compares every function in every supported dtype, and every method, with NumPy 2, on a few
elements each. This part of the oracle is fast enough for slow devices.

    every_function.py --library build/release/lib/libgufunc.so.0.1 [--module numpy_functions.so]
    [--device cuda:0] [--rounds 1] [--every 1] [--seconds 60] [--only NAME ...]

The exit status is 1 if a result differs. After the time limit, the program stops and prints how
many cases it has run."""

import argparse
import os
import random
import sys
import time
import warnings

import numpy as np

import abi
import cases
import method_cases
import oracle
import several_cases

SHAPES = ([7], [3, 5], [2, 3, 4], [33])
METHODS = 'reduce accumulate reduceat outer at'.split()


def small_method(rng, method, name, letter):
    make = getattr(method_cases, f'random_{method}')
    if method in ('outer', 'at'):
        return make(rng, name, letter)
    return make(rng, name, letter, shape=rng.choice(SHAPES))


def work(rng):
    """Yields every case as a pair of its name and a function that draws it."""
    folded = list(dict.fromkeys(method_cases.FOLDED))
    for name in cases.NAMES:
        for letter in cases.DTYPES:
            shape = [2] if name in cases.GUFUNCS else rng.choice(SHAPES)
            yield name, lambda n=name, d=letter, s=shape: cases.random_case(
                rng, dtypes=d, shape=s, names=[n])
    for _ in range(len(cases.NAMES)):
        yield 'bfloat16', lambda: cases.random_bfloat16_case(rng)
    for method in METHODS:
        for name in folded:
            for letter in cases.DTYPES:
                yield f'{name}.{method}', lambda m=method, n=name, d=letter: small_method(
                    rng, m, n, d)
    for name in cases.SEVERAL:
        for letter in several_cases.DTYPES:
            for _ in range(2):
                yield name, lambda n=name, d=letter: several_cases.random_several_case(rng, [n], d)
    for _ in range(40):
        yield 'clip', lambda: several_cases.random_several_case(rng, ['clip'])


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument('--library', required=True)
    parser.add_argument('--module', help='module compiled from numpy_functions.guf.cpp')
    parser.add_argument('--device', help='device of all calls (default cpu)')
    parser.add_argument('--rounds', type=int, default=1, help='number of repetitions of all cases')
    parser.add_argument('--every', type=int, default=1, help='run only every N-th case')
    parser.add_argument('--seconds', type=float, default=float('inf'), help='stop after this time')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--only', nargs='+', metavar='NAME',
                        help='run only these functions and methods, such as sin and add.reduce')
    options = parser.parse_args()
    np.seterr(all='ignore')
    os.environ['GUFUNC_NUM_THREADS'] = '2'  # the library reads this when it is first used
    library = abi.Library(os.path.abspath(options.library))
    if options.device:
        library.use_device(options.device)
    if options.module:
        library.load_module(os.path.abspath(options.module))
    rng = random.Random(options.seed)
    todo = [one for _ in range(options.rounds) for one in work(rng)]
    todo = [one for one in todo if options.only is None or one[0] in options.only]
    todo = todo[:: options.every]
    started, done, names, differing = time.monotonic(), 0, set(), 0
    for name, make in todo:
        if time.monotonic() - started > options.seconds:
            break
        text = oracle.difference({**make(), 'threads': 1}, library)
        done += 1
        names.add(name)
        if text:
            differing += 1
            print(f'DIFFERS {name}: {text}', flush=True)
    print(f'{done} of {len(todo)} cases, {len(names)} functions and methods: {differing} differ')
    return 1 if differing or not done else 0


if __name__ == '__main__':
    # The cases intentionally contain casts and operations about which NumPy warns.
    warnings.simplefilter('ignore')
    sys.exit(main())
