# SPDX-License-Identifier: Apache-2.0
"""Tests the oracle with NumPy in place of the library. Unmodified NumPy must show no difference,
and every seeded fault must be detected.

The script also tests that there is a guard page at each end of an operand of the library: a read
of one byte or of one element outside an operand must end a child process.

    seeded_faults.py --library libgufunc.so --caller libconformance_caller.so [--cases 3000]
    [--seed 1] [--fault several]
"""

import argparse
import itertools
import os
import signal
import sys
import traceback

import numpy as np

import abi
import build
import judge
import method_judge
import oracle
import several_judge
from numpy_library import FAULTS, NumpyLibrary, ReadsOutside

GUARDED = {'calls': judge, 'methods': method_judge, 'several operands': several_judge}
ENDS = ('reads beyond', 'reads before')


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


def outcome(body):
    """Runs `body` in a child process. Returns 'ends' if a guard page ends the process, and 'runs'
    if `body` returns."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            body()
            code = 0
        except BaseException:  # noqa: BLE001 - the parent receives only the exit status
            traceback.print_exc()
        finally:
            os._exit(code)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return {0: 'runs', -signal.SIGSEGV: 'ends'}.get(status, f'exit status {status}')


def judge_cases(library, judges, count, seed):
    """Compares cases of one judge with NumPy."""
    chosen = (case for case in random_cases(seed) if oracle.judge_of(case) is judges)
    for case in itertools.islice(chosen, count):
        text = oracle.difference(case, library)
        if text:
            raise AssertionError(text)


def addition(seed):
    """Returns a call with int64 elements that fill their buffers. Of the two inputs, one begins and
    the other ends at a guard page; the seed decides which."""
    buffer = {'dtype': 'q', 'n': 100, 'misaligned': False, 'swapped': False, 'values': 'small'}
    views = [{'buffer': i, 'offset': 0, 'shape': [100], 'strides': [1]} for i in range(2)]
    return {'op': 'failing_add_status', 'seed': seed, 'buffers': [buffer, buffer], 'inputs': views,
            'output': None, 'casting': None, 'order': 'K', 'threads': 1}


def run_loop(options, case, how):
    """Runs the library with a host loop that reads outside its inputs, or, if `how` is None, with
    the same loop as it is."""
    library = abi.Library(os.path.abspath(options.library))
    library.use_caller(os.path.abspath(options.caller))
    library.control = None
    if how:
        library.caller.read_outside(how)
    found = judge.run_library(case, library)
    if found.error:
        raise found.error


def guards_fail(options):
    """Prints which reads outside an operand end a child process. Returns whether one is missed."""
    failed = False
    for how, (name, judges) in itertools.product((None, *ENDS), GUARDED.items()):
        library = ReadsOutside(how, options.caller)
        seen = outcome(lambda: judge_cases(library, judges, 300, options.seed))
        failed |= seen != ('ends' if how else 'runs')
        print(f'guard pages: {name} of NumPy, {how or "as it is"}: {seen}')
    for how, seed in itertools.product((None, *ENDS), (0, 1)):
        seen = outcome(lambda: run_loop(options, addition(seed), how))
        failed |= seen != ('ends' if how else 'runs')
        print(f'guard pages: a loop of the library, seed {seed}, {how or "as it is"}: {seen}')
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--library', required=True)
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
    if not options.fault or 'guard pages'.startswith(options.fault):
        failed |= guards_fail(options)
    chosen = {name: fault for name, fault in FAULTS.items() if name.startswith(options.fault or '')}
    for name, fault in chosen.items():
        library = NumpyLibrary(fault, options.caller)
        number, case, text = first_difference(library, 60_000, options.seed)
        failed |= number is None
        print(f'{name}: {"NOT FOUND" if number is None else f"case {number}, {text}"}', flush=True)
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
