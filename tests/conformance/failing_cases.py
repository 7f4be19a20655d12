# SPDX-License-Identifier: Apache-2.0
"""Draws random calls and methods whose loop, a program's own int64 addition, fails at some
element."""

import caller
import cases
import method_cases

HOW = {
    'numpy': ['throws', 'throws an int'],
    'status': ['returns', 'returns', 'throws', 'throws an int'],
    'error': ['returns', 'returns', 'throws', 'throws an int'],
}


def random_failure(rng, size):
    """Chooses where the loop fails: at one of the first elements, at any element, or never."""
    kind = rng.choice([*caller.KINDS])
    after = rng.choice([0, 0, rng.randint(0, 3), rng.randint(0, max(size, 1)), max(size - 1, 0)])
    return {
        'kind': kind,
        'how': rng.choice(HOW[kind]),
        'after': after,
        'sticky': rng.random() < 0.5,
    }


def elements(case):
    """Returns the approximate number of elements for which a call or method runs the loop."""
    shapes = [view['shape'] for view in case['inputs'] if 'shape' in view]
    size = 1
    for extent in max(shapes, key=len, default=[]):
        size *= extent
    return size


def random_call(rng):
    """Draws a call, sometimes with enough elements for several threads."""
    shape = [rng.randint(2000, 20_000)] if rng.random() < 0.2 else None
    dtypes = rng.choice(['q', 'q', 'bhiq'])
    overlaps, case = rng.random() < 0.2, {}
    while case.get('op') != 'add':  # only logical results can be written to a mask
        case = cases.random_case(rng, overlaps, dtypes, shape, ['add'])
    # The function has only an int64 loop, so values that int64 cannot represent are not drawn.
    for number, view in enumerate(case['inputs']):
        if any(key.startswith('weak') or key == 'scalar' for key in view):
            case['inputs'][number] = {'weak_int': rng.randint(-9, 12)}
    case.pop('signature', None)
    return {**case, 'dtype': 'q', 'casting': None}


def random_method(rng):
    method = rng.choice(method_cases.METHODS)
    case = {}
    while len(case.get('inputs', [])) != 1 + (method == 'outer'):  # `at` may draw a unary function
        case = method_cases.maker(method)(rng, 'add', 'q')
    if case.get('initial', 'none') != 'none':
        case['initial'] = {'weak_int': rng.randint(-9, 12)}
    if method != 'at':
        case['dtype'] = 'q'
    return {**case, 'op': 'add'}


def random_failing_case(rng):
    case = random_method(rng) if rng.random() < 0.5 else random_call(rng)
    return {**case, 'fails': random_failure(rng, elements(case))}
