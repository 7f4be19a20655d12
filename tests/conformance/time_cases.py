# SPDX-License-Identifier: Apache-2.0
"""Random calls and methods on datetime64 and timedelta64, beside integers and floats."""

import cases
import keyword_cases
import method_cases

UNITS = ['Y', 'M', 'W', 'D', 'h', 'm', 's', 'ms', 'us', 'ns', 'ps', 'fs', 'as']
NAMES = {
    1: 'negative absolute sign isnat isnat'.split(),
    2: (
        'add add subtract subtract multiply divide floor_divide remainder maximum minimum fmax fmin '
        'equal not_equal less less_equal greater greater_equal logical_and'
    ).split(),
}
FOLDED = 'add add add maximum minimum fmax fmin subtract logical_or multiply equal'.split()
KEYS = ['where', 'dtype', 'signature', 'initial']


def random_dtype(rng, units):
    kind = rng.choice('Mm')
    # NumPy refuses generic datetimes beside years and months by their values.
    if rng.random() < 0.05 and not {'Y', 'M'} & set(units):
        return kind + '8'
    multiple = rng.choice(['', '', '', '', '2', '3', '7', '25', '60', '400', '1000'])
    return f'{kind}8[{multiple}{rng.choice(units)}]'


def random_dtypes(rng):
    """Mostly a few units that mix well, with now and then a number beside them."""
    units = rng.choice(
        [['s'], ['D', 'h', 's'], ['s', 'ms', 'us', 'ns'], ['Y', 'M'], ['D', 'M'], UNITS]
    )
    times = [random_dtype(rng, units) for _ in range(4)]
    kind = rng.choice('MmmmX')
    times = [kind + time[1:] if kind != 'X' else time for time in times]
    return times + list(rng.choice(['', '', '', 'q', 'qd', '?iqQ', 'efd', 'D']))


def random_name(rng, own):
    """Of a function that knows times, or now and then of any."""
    nin = rng.choice([1, 2, 2, 2, 2])
    return nin, rng.choice((own if rng.random() < 0.97 else cases.ELEMENTWISE)[nin])


def random_input(rng, buffers, shape, dtypes):
    view = cases.random_input(rng, buffers, shape, dtypes)
    while 'weak_complex' in view:
        view = cases.random_input(rng, buffers, shape, dtypes)
    return view


def fixed_letter(dtype):
    """dtype= and signature= name classes, not units; now and then a unit, which is refused."""
    return dtype.split('[')[0]


def random_time_case(rng):
    nin, name = random_name(rng, NAMES)
    dtypes, buffers, shape = random_dtypes(rng), cases.Buffers(rng), cases.random_shape(rng)
    inputs = [random_input(rng, buffers, shape, dtypes) for _ in range(nin)]
    pool = dtypes + ['?', 'q', 'd'] if rng.random() < 0.5 else dtypes
    case = {
        'op': name,
        'seed': rng.randrange(1 << 31),
        'casting': rng.choice(cases.CASTINGS),
        'order': rng.choice('KKKCF'),
        'inputs': inputs,
        'output': cases.random_output(rng, buffers, shape, inputs, pool),
    }
    weak = any('weak_int' in view for view in inputs)
    overlaps = case['output'] and any(
        case['output']['buffer'] == view.get('buffer') for view in inputs
    )
    if rng.random() < 0.12 and not weak and not overlaps:
        case['where'] = buffers.view('?', cases.narrowed(rng, shape))
    if rng.random() < 0.06:
        case['dtype'] = fixed_letter(rng.choice(pool))
    elif rng.random() < 0.03:
        case['signature'] = [
            fixed_letter(rng.choice(pool)) if rng.random() < 0.4 else None for _ in range(nin + 1)
        ]
    if rng.random() < 0.05:
        keyword_cases.add_dimensions(rng, {**case, 'buffers': buffers.list})
    case['buffers'] = buffers.list
    return case


def random_time_method_case(rng):
    method = rng.choice(method_cases.METHODS)
    make = getattr(method_cases, f'random_{method}')
    name = rng.choice(FOLDED if method != 'outer' else NAMES[2])
    dtypes = random_dtypes(rng)
    case = make(rng, name, dtypes)
    if case.get('dtype'):
        case['dtype'] = fixed_letter(rng.choice(dtypes))
    return case
