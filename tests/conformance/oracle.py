# SPDX-License-Identifier: Apache-2.0
"""The oracle: random calls through the C ABI, compared with NumPy 2.

    oracle.py --library build/release/lib/libgufunc.so.0.1 --cases 100000 [--seconds 60] [--seed N]
    [--keep]

Kept rows (rows/*.json) run first. Each run draws its own seed and prints it; --seed N repeats the
calls of one that failed. A failing case shrinks to a small one; --keep writes it to rows/.
GUFUNC_CPU_ISA chooses the instruction level. Exit 1 when anything differs."""

import argparse
import copy
import hashlib
import json
import os
import pathlib
import random
import re
import sys
import time
import warnings
from collections import Counter

import numpy as np

import abi
import cases
import judge
import keyword_cases

ROWS = pathlib.Path(__file__).with_name('rows')


def simpler(case):
    """Cases a step simpler than this one, simplest first."""
    for key in ('where', 'dtype', *keyword_cases.KEYS):
        if case.get(key):
            yield {**case, key: None}
    if case['casting']:
        yield {**case, 'casting': None}
    if case['order'] != 'K':
        yield {**case, 'order': 'K'}
    if case['output']:
        yield {**case, 'output': None}
    for number, buffer in enumerate(case['buffers']):
        for key in ('misaligned', 'swapped'):
            if buffer[key]:
                changed = copy.deepcopy(case)
                changed['buffers'][number][key] = False
                yield changed
    views = [
        view
        for view in case['inputs'] + [case['output'], case.get('where')]
        if view and 'shape' in view
    ]
    for axis in range(1, 1 + max((len(view['shape']) for view in views), default=0)):
        changed = copy.deepcopy(case)
        for view in changed['inputs'] + [changed['output'], changed.get('where')]:
            if view and 'shape' in view and len(view['shape']) >= axis and view['shape'][-axis] > 1:
                view['shape'][-axis] //= 2
        yield changed


def shrink(case, library):
    """The simplest case on the way down that still differs."""
    progress = True
    while progress:
        progress = False
        for candidate in simpler(case):
            if candidate != case and difference(candidate, library):
                case, progress = candidate, True
                break
    return case


def difference(case, library):
    try:
        text = judge.difference(case, library)
        if text and keyword_cases.remembers(case):
            text = keyword_cases.difference_afresh(case, library.lib._name)
        return text
    except Exception as error:  # noqa: BLE001 - a broken judge must not hide the case
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
        (ROWS / f'{case["op"]}-{name}.json').write_text(json.dumps(case, indent=1) + '\n')


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument('--library', required=True)
    parser.add_argument('--cases', type=int, default=100_000)
    parser.add_argument('--seconds', type=float, default=float('inf'), help='stop after this long')
    parser.add_argument('--seed', type=int, default=int(time.time()), help='else from the clock')
    parser.add_argument('--keep', action='store_true', help='write failing cases to rows/')
    options = parser.parse_args()
    np.seterr(all='ignore')
    library = abi.Library(os.path.abspath(options.library))
    print(f'seed {options.seed}', flush=True)
    kinds = Counter()
    failures, per_op, outcomes, started = 0, Counter(), Counter(), time.monotonic()
    for name, case in kept_rows():
        text = difference(case, library)
        if text:
            failures += 1
            print(f'DIFFERS row {name}: {text}', flush=True)
    rng, count = random.Random(options.seed), 0
    while count < options.cases and time.monotonic() - started < options.seconds:
        case = cases.random_bfloat16_case(rng) if count % 16 == 0 else cases.random_case(rng)
        count += 1
        per_op[case['op']] += 1
        text = difference(case, library)
        outcomes['differs' if text else 'equal'] += 1
        if text:
            failures += 1
            kinds[f'{case["op"]}: {re.sub("[0-9].*", "", text)}'] += 1
            if failures <= 20:
                report(case, text, library, options.keep)
    missing = [name for name in cases.NAMES if count >= 5000 and per_op[name] < 20]
    seconds = time.monotonic() - started
    print(
        f'{count} random calls of {len(per_op)} ufuncs in {seconds:.1f} s against NumPy '
        f'{np.__version__}: {outcomes["equal"]} equal, {failures} differ',
        flush=True,
    )
    for kind, times in kinds.most_common(40):
        print(f'{times:6} {kind}')
    if missing:
        print(f'hardly called: {missing}')
    return 1 if failures or missing else 0


if __name__ == '__main__':
    warnings.simplefilter('ignore')  # NumPy's: casts and operations that the cases are made to have
    sys.exit(main())
