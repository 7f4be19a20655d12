# SPDX-License-Identifier: Apache-2.0
"""The oracle: compares random calls and methods through the C ABI with NumPy 2.

    oracle.py --library build/release/lib/libgufunc.so.0.1 --cases 100000 [--seconds 60] [--seed N]
    [--module numpy_functions.so] [--caller libconformance_caller.so] [--device cuda:0] [--keep]
    [--only calls|methods|datetimes|overlaps|fp_flags|bad|several|big|non_temporal|failing]

Stops after the number of cases or of seconds, whichever comes first. Saved cases (rows/*.json) run
first. The library must behave in the same way with the module of another function loaded. With
--caller some calls run under other floating-point control words, and some loops fail. Without
--seed each commit has its own seed, which is printed; --seed N repeats the cases of that seed. The
library's operands are next to inaccessible pages, and a case that ends the process is printed.
Other failing cases are reduced to a small case, which --keep saves to rows/. GUFUNC_CPU_ISA selects
the ISA level. The exit status is 1 if a result differs, or if there were too few cases of a
kind."""

import argparse
import copy
import hashlib
import json
import mmap
import os
import pathlib
import random
import re
import struct
import subprocess
import sys
import time
import traceback
import warnings
from collections import Counter

import numpy as np

import abi
import bad_cases
import big_cases
import caller
import cases
import failing_cases
import failing_judge
import fresh_process
import judge
import keyword_cases
import method_cases
import method_judge
import several_cases
import several_judge
import tally
import time_cases

ROWS = pathlib.Path(__file__).with_name('rows')


def simpler(case):
    """Yields the cases that are one simplification away from the given case, the simplest cases
    first."""
    keywords = ('keepdims',) if 'method' in case else keyword_cases.KEYS
    for key in ('control', 'threads', 'where', 'dtype', 'fp_flags', *keywords):
        if case.get(key):
            yield {**case, key: None}
    if 'initial' in case:
        yield {key: value for key, value in case.items() if key != 'initial'}
    if case['casting']:
        yield {**case, 'casting': None}
    if case['order'] != 'K':
        yield {**case, 'order': 'K'}
    if case['output'] and case.get('method') != 'at':
        yield {**case, 'output': None}
    for number, view in enumerate(case.get('outputs', [])):
        if view:
            changed = copy.deepcopy(case)
            changed['outputs'][number] = None
            yield changed
    yield from fewer_indices(case)
    for number, buffer in enumerate(case['buffers']):
        for key, plain in (('misaligned', False), ('swapped', False), ('values', 'small')):
            if buffer[key] != plain:
                changed = copy.deepcopy(case)
                changed['buffers'][number][key] = plain
                yield changed
    for axis in range(1, 1 + max((len(view['shape']) for view in views_of(case)), default=0)):
        changed = copy.deepcopy(case)
        for view in views_of(changed):
            if len(view['shape']) >= axis and view['shape'][-axis] > 1:
                view['shape'][-axis] //= 2
        yield changed


def views_of(case):
    specs = [*case['inputs'], case['output'], *case.get('outputs', []), case.get('where')]
    return [spec for spec in specs if spec and 'shape' in spec]


def fewer_indices(case):
    """Yields cases with simpler indices of reduceat and at, and with half of the one-dimensional
    indices."""
    for key, plain in (('swapped', False), ('step', 1)):
        if any(spec.get(key, plain) != plain for spec in case.get('indices', [])):
            yield {**case, 'indices': [{**spec, key: plain} for spec in case['indices']]}
    for half in (slice(1, None, 2), slice(0, None, 2)):
        if any(
            len(spec['values']) > 1 and len(spec['shape']) == 1 for spec in case.get('indices', [])
        ):
            changed = copy.deepcopy(case)
            for spec in changed['indices']:
                if len(spec['shape']) == 1 and spec['shape'][0] > 1:
                    spec['values'] = spec['values'][half]
                    spec['shape'] = [len(spec['values'])]
            yield changed


def shrink(case, library):
    """Returns the simplest case that can be reached by single steps and still differs."""
    progress = True
    while progress:
        progress = False
        for candidate in simpler(case):
            if candidate != case and difference(candidate, library):
                case, progress = candidate, True
                break
    return case


def judge_of(case):
    if 'fails' in case:
        return failing_judge
    if 'outputs' in case:
        return several_judge
    return method_judge if 'method' in case else judge


def judged(case, library):
    """Returns the judge's description of the difference from NumPy, or None if there is no
    difference."""
    library.control = case.get('control')
    try:
        return judge_of(case).difference(case, library)
    finally:
        library.control = None


def difference(case, library):
    try:
        text = judged(case, library)
        if text and hasattr(library, 'lib') and keyword_cases.remembers(case, text):
            text = fresh_process.difference(case, library)
        return None if text and keyword_cases.finds_late(case, text) else text
    except Exception as error:  # noqa: BLE001 - an error in the judge must not hide the case
        return f'the judge failed: {type(error).__name__}: {error}'


def kept_rows():
    for path in sorted(ROWS.glob('*.json')):
        yield path.name, json.loads(path.read_text())


def report(case, text, library, keep):
    case = shrink(case, library)
    print(f'DIFFERS {difference(case, library) or text}\n  {json.dumps(case)}', flush=True)
    if keep:
        ROWS.mkdir(exist_ok=True)
        name = hashlib.sha256(json.dumps(case, sort_keys=True).encode()).hexdigest()[:12]
        (ROWS / f'{kind_of(case).replace(".", "-")}-{name}.json').write_text(
            json.dumps(case, indent=1) + '\n'
        )


def random_case(rng, count, only):
    if only != 'calls' and (only == 'methods' or count % 2):
        if count % 32 == 1:
            return method_cases.random_bfloat16_method_case(rng)
        return method_cases.random_method_case(rng)
    return cases.random_bfloat16_case(rng) if count % 16 == 0 else cases.random_case(rng)


def random_fp_flag_case(rng, number):
    """Draws a case with checked floating-point flags, without casts and with many special
    values."""
    letter = rng.choice('fdfdfdeiqBH')
    if number % 2:
        case = method_cases.random_fp_flag_method_case(rng, letter)
    else:
        case = cases.random_case(rng, dtypes=letter)
    for buffer in case['buffers']:
        buffer['values'] = rng.choice(['small', 'special', 'special'])
    return {**case, 'fp_flags': True}


class Drawing:
    """Draws the cases of a seed. Each kind has its own random generator."""

    THREADS = (1, 2, 3, 7)  # the last number is the maximum number of threads of the process
    BIG_EVERY, NON_TEMPORAL_EVERY, FAILING_EVERY = 128, 50_000, 64
    CONTROL_EVERY = 8
    KINDS = (
        'numbers overlaps datetimes overlaps fp_flags overlaps datetimes bad several '
        'numbers overlaps datetimes overlaps fp_flags overlaps datetimes bad overlaps'
    ).split()

    def __init__(self, seed, only, control=False, failing=False):
        self.only, self.count = only, 0
        self.control, self.failing = control, failing
        other_kinds = ['threads', 'control', 'big', 'non_temporal', 'failing']
        kinds = [*dict.fromkeys(self.KINDS), *other_kinds]
        self.rngs = {kind: random.Random(f'{kind} {seed}') for kind in kinds}
        self.drawn = Counter()

    def next(self):
        """Returns a case of the next kind, or of the selected kind, with a number of threads."""
        case = {**self.draw(), 'threads': self.rngs['threads'].choice(self.THREADS)}
        rng = self.rngs['control']
        if self.control and rng.randrange(self.CONTROL_EVERY) == 0:
            case['control'] = rng.choice([*caller.CONTROLS])
        return case

    def next_kind(self):
        if self.only is not None:
            return 'numbers' if self.only in ('calls', 'methods') else self.only
        if self.count % self.NON_TEMPORAL_EVERY == self.NON_TEMPORAL_EVERY - 1:
            return 'non_temporal'
        if self.count % self.BIG_EVERY == self.BIG_EVERY - 2:
            return 'big'
        if self.failing and self.count % self.FAILING_EVERY == self.FAILING_EVERY - 3:
            return 'failing'
        return self.KINDS[self.count % len(self.KINDS)]

    def draw(self):
        kind = self.next_kind()
        self.count += 1
        return self.make(kind)

    def make(self, kind):
        rng, number = self.rngs[kind], self.drawn[kind]
        self.drawn[kind] += 1
        if kind == 'datetimes':
            method = number % 3 == 2
            make = time_cases.random_time_method_case if method else time_cases.random_time_case
            return {**make(rng), 'fp_flags': number % 5 == 0}
        if kind == 'fp_flags':
            return random_fp_flag_case(rng, number)
        if kind == 'overlaps':
            if number % 2:
                return method_cases.random_overlapping_method_case(rng)
            return cases.random_case(rng, overlaps=True)
        if kind == 'several':
            return several_cases.random_several_case(rng, several_cases.NAMES)
        if kind == 'bad':
            return bad_cases.random_bad_case(rng)
        if kind == 'big':
            return big_cases.random_big_case(rng, number)
        if kind == 'non_temporal':
            return big_cases.random_non_temporal_case(rng)
        if kind == 'failing':
            return failing_cases.random_failing_case(rng)
        return random_case(rng, number, self.only)


def kind_of(case):
    """Returns the key under which a case is counted: the ufunc, and for a method also the
    method."""
    return f'{case["op"]}.{case["method"]}' if 'method' in case else case['op']


def commit_seed():
    """Returns a seed that depends only on the current commit, or 1 outside git."""
    command = ['git', '-C', str(ROWS.parent), 'rev-parse', '--short=8', 'HEAD']
    try:
        return int(subprocess.run(command, capture_output=True, text=True).stdout[:8] or '1', 16)
    except OSError:
        return 1


class Watched:
    """Runs the cases in a child process, for which the parent waits. If the library accesses
    invalid memory, a signal or a sanitizer ends the child, and the parent reports the case."""

    RETURNED = -1

    def __init__(self):
        self.count = mmap.mmap(-1, 8)  # number of the running case, or RETURNED; shared

    def begin(self, count):
        struct.pack_into('q', self.count, 0, count)

    def run(self, body, describe):
        child = os.fork()
        if child == 0:
            code = 70
            try:
                code = body()
                self.begin(self.RETURNED)
            except BaseException:  # noqa: BLE001 - the parent receives only the exit status
                traceback.print_exc()
            finally:
                sys.stdout.flush()
                os._exit(code)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        (count,) = struct.unpack_from('q', self.count, 0)
        if count == self.RETURNED:
            return status
        how = f'signal {-status}' if status < 0 else f'exit status {status}'
        print(f'CRASHES {how} in case {count}\n  {describe(count)}', flush=True)
        return 1


def drawing_of(options):
    control = bool(options.caller)
    failing = control and not options.device
    return Drawing(options.seed, options.only, control, failing)


def describe_case(options, count):
    """Draws the case with the given number again."""
    if count == 0:
        return 'a kept row'
    drawing = drawing_of(options)
    for _ in range(count):
        case = drawing.next()
    return json.dumps(case)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument('--library', required=True)
    parser.add_argument('--module', help='module compiled from numpy_functions.guf.cpp')
    parser.add_argument('--caller', help='path of the test library conformance_caller')
    parser.add_argument('--device', help='device of all calls (default cpu)')
    parser.add_argument('--cases', type=int, default=100_000)
    parser.add_argument('--seconds', type=float, default=float('inf'), help='stop after this time')
    parser.add_argument('--seed', type=int, default=commit_seed(),
                        help="default: a seed that depends on the commit")
    kinds = ['calls', 'methods', *dict.fromkeys(Drawing.KINDS[1:])]
    kinds += ['big', 'non_temporal', 'failing']
    parser.add_argument('--only', choices=kinds, help='run only this kind of cases (default: all)')
    parser.add_argument('--keep', action='store_true', help='write failing cases to rows/')
    options = parser.parse_args()
    watched = Watched()
    return watched.run(
        lambda: compare(parser, options, watched), lambda count: describe_case(options, count)
    )


def compare(parser, options, watched):
    """Runs the cases and returns the exit status."""
    np.seterr(all='ignore')
    os.environ['GUFUNC_NUM_THREADS'] = str(max(Drawing.THREADS))  # read at the first use
    library = abi.Library(os.path.abspath(options.library))
    if options.device:
        library.use_device(options.device)
    if options.module:
        library.load_module(os.path.abspath(options.module))
    if options.only == 'failing' and (options.device or not options.caller):
        parser.error('--only failing needs --caller, and no --device')
    if options.caller:
        library.use_caller(os.path.abspath(options.caller))
    print(f'seed {options.seed}', flush=True)
    kinds = Counter()
    failures, per_op, methods, outcomes = 0, Counter(), Counter(), Counter()
    started = time.monotonic()
    for name, case in kept_rows():
        text = difference(case, library)
        if text:
            failures += 1
            print(f'DIFFERS row {name}: {text}', flush=True)
    drawing = drawing_of(options)
    while drawing.count < options.cases and time.monotonic() - started < options.seconds:
        case = drawing.next()
        watched.begin(drawing.count)
        per_op[case['op']] += 1
        methods[case.get('method', 'call')] += 1
        text = difference(case, library)
        outcomes['differs' if text else 'equal'] += 1
        tally.TALLY['under a control word'] += 'control' in case
        if text:
            failures += 1
            kinds[f'{kind_of(case)}: {re.sub("[0-9].*", "", text)}'] += 1
            if failures <= 20:
                report(case, text, library, options.keep)
    expected_names = {
        None: cases.NAMES + cases.SEVERAL,
        'calls': cases.NAMES,
        'datetimes': ['isnat'],
        'several': cases.SEVERAL + ['clip'],
    }
    expected = expected_names.get(options.only, [])
    count = drawing.count
    enough = count >= max(5000, 200 * len(expected))
    missing = [name for name in expected if enough and per_op[name] < 20]
    seconds = time.monotonic() - started
    print(
        f'{count} random calls of {len(per_op)} ufuncs in {seconds:.1f} s against NumPy '
        f'{np.__version__}: {outcomes["equal"]} equal, {failures} differ',
        flush=True,
    )
    print(', '.join(f'{method} {times}' for method, times in sorted(methods.items())))
    few = tally.report(count, options.only, bool(options.device), bool(options.caller))
    for kind, times in kinds.most_common(40):
        print(f'{times:6} {kind}')
    if missing:
        print(f'hardly called: {missing}')
    return 1 if failures or missing or few else 0


if __name__ == '__main__':
    warnings.simplefilter('ignore')  # the cases cause warnings of NumPy on purpose
    sys.exit(main())
