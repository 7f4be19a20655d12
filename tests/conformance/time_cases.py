# SPDX-License-Identifier: Apache-2.0
"""Draws random calls and methods with datetime64 and timedelta64, together with integers and
floats."""

import re

import cases
import keyword_cases
import method_cases

UNITS = ['Y', 'M', 'W', 'D', 'h', 'm', 's', 'ms', 'us', 'ns', 'ps', 'fs', 'as']
NAMES = {
    1: 'negative absolute sign isnat isnat isnan isinf isfinite positive'.split(),
    2: (
        'add add subtract subtract multiply divide floor_divide remainder maximum minimum fmax '
        'fmin equal not_equal less less_equal greater greater_equal logical_and'
    ).split(),
}
CLASSES = ['m8', 'M8', 'd', 'f', '?', 'i', 'D']  # classes that signature= can contain
FOLDED = 'add add add maximum minimum fmax fmin subtract logical_or multiply equal'.split()


def leave_out(left_out):
    """Removes functions from the lists from which cases draw functions."""
    for names in NAMES.values():
        names[:] = [name for name in names if name not in left_out]


def random_dtype(rng, units):
    kind = rng.choice('Mm')
    if rng.random() < 0.05:
        return rng.choice(['m8', 'm8', 'M8'])
    multiple = rng.choice(['', '', '', '', '2', '3', '7', '25', '60', '400', '1000'])
    return f'{kind}8[{multiple}{rng.choice(units)}]'


def random_dtypes(rng):
    """Returns dtypes of datetime types, mostly with a few similar units, and sometimes dtypes of
    numbers."""
    units = rng.choice(
        [['s'], ['D', 'h', 's'], ['s', 'ms', 'us', 'ns'], ['Y', 'M'], ['D', 'M'], UNITS]
    )
    dtypes = [random_dtype(rng, units) for _ in range(4)]
    kind = rng.choice('MmmmX')
    dtypes = [kind + dtype[1:] if kind != 'X' and '[' in dtype else dtype for dtype in dtypes]
    return dtypes + list(rng.choice(['', '', '', 'q', 'qd', '?iqQ', 'efd', 'D']))


def random_name(rng, own):
    """Draws a number of inputs and a function, mostly one that supports datetime types."""
    nin = rng.choice([1, 2, 2, 2, 2])
    if rng.random() < 0.97:
        return nin, rng.choice(own[nin])
    # For gcd and lcm, NumPy's message depends on the units, although no unit has a loop.
    return nin, rng.choice(method_cases.without(cases.ELEMENTWISE[nin], ('gcd', 'lcm')))


def random_input(rng, buffers, shape, dtypes):
    view = cases.random_input(rng, buffers, shape, dtypes)
    while 'weak_complex' in view:
        view = cases.random_input(rng, buffers, shape, dtypes)
    return view


def dtype_keyword(rng, name, used):
    """Draws dtype=, which is a class of datetime types. A class with a unit is rejected. Some
    functions of NumPy examine only the class, and others also the unit. dtype= mostly repeats the
    classes of the operands, for which all functions behave in the same way."""
    if rng.random() < 0.2:
        return random_unit(rng)
    classes = {dtype.split('[')[0] for dtype in used}
    if len(classes) != 1 or not classes <= {'M8', 'm8'} or name in ('multiply', 'divide'):
        return None
    return rng.choice(sorted(classes))


def random_unit(rng):
    return f'{rng.choice("mM")}8[{rng.choice(["", "25"])}{rng.choice(UNITS)}]'


def add_signature(rng, case):
    """Sometimes adds signature= with the classes of the operands, or with another class or a
    unit."""
    used = used_dtypes(case)
    if len(used) != len(case['inputs']):
        return
    signature = [dtype.split('[')[0] if rng.random() < 0.6 else None for dtype in used] + [None]
    draw = rng.random()
    if draw < 0.3:
        signature[rng.randrange(len(signature))] = random_unit(rng)
    elif draw < 0.6 and any(dtype[0] in 'mM' for dtype in used):
        signature[rng.randrange(len(signature))] = rng.choice(CLASSES)
    if any(signature):
        case['signature'] = signature


def used_dtypes(case):
    return [
        view['scalar'] if 'scalar' in view else case['buffers'][view['buffer']]['dtype']
        for view in case['inputs']
        if 'scalar' in view or 'buffer' in view
    ]


def holders(case):
    """Yields each place of the case that contains a dtype, in buffers and in scalars, as (dict,
    key)."""
    initial = case.get('initial')
    scalars = [*case['inputs'], initial if isinstance(initial, dict) else {}]
    yield from ((buffer, 'dtype') for buffer in case['buffers'])
    yield from ((spec, 'scalar') for spec in scalars if 'scalar' in spec)


def all_dtypes(case):
    return [holder[key] for holder, key in holders(case)]


def without_implementation_defined(case):
    """Changes cases in which NumPy 2.4's result depends on its implementation, and returns the
    case. If a timedelta has no unit, NumPy may leave swapped bytes swapped, so no buffer is
    swapped. In `at`, and if another dtype has the unit year or month, NumPy's treatment of a
    datetime without a unit depends on its value, or NumPy crashes, so such datetimes become M8[s].
    NumPy overflows when it converts distant years or months to days, so such datetimes get small
    values.
    """
    buffers, method = case['buffers'], case.get('method')
    far = any(re.match(r'M8\[[0-9]*[YM]\]', buffer['dtype']) for buffer in buffers)
    calendar = any(re.search(r'\[[0-9]*[YM]\]', dtype) for dtype in all_dtypes(case))
    if calendar or method == 'at':
        for holder, key in holders(case):
            holder[key] = 'M8[s]' if holder[key] == 'M8' else holder[key]
    generic = 'm8' in used_dtypes(case) or any(buffer['dtype'] == 'm8' for buffer in buffers)
    for buffer in buffers:
        if generic:
            buffer['swapped'] = False
        if far:
            buffer['values'] = 'small'
    return case


def only_iterator_refuses(case, theirs):
    """Returns whether only NumPy's iterator rejects the call, because an output has no unit.
    If NumPy does not use its iterator, it copies the numbers of steps."""
    outputs = filter(None, [case['output'], *case.get('outputs', [])])
    without = any(case['buffers'][view['buffer']]['dtype'] in ('m8', 'M8') for view in outputs)
    return without and case['casting'] == 'unsafe' and 'to generic units' in theirs.text


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
    case['buffers'] = buffers.list
    without_implementation_defined(case)
    draw = rng.random()
    if draw < 0.08 and not weak:
        case['dtype'] = dtype_keyword(rng, name, used_dtypes(case))
    elif draw < 0.16 and not weak:
        add_signature(rng, case)
    if rng.random() < 0.05:
        keyword_cases.add_dimensions(rng, case)
    return case


def random_time_method_case(rng):
    method = rng.choice(method_cases.METHODS)
    make = getattr(method_cases, f'random_{method}')
    name = rng.choice(FOLDED if method != 'outer' else NAMES[2])
    dtypes = random_dtypes(rng)
    case = make(rng, name, dtypes)
    if isinstance(case.get('initial'), dict) and rng.random() < 0.4:
        case['initial'] = {'scalar': random_dtype(rng, UNITS), 'seed': rng.randrange(1 << 30)}
    if case.get('dtype'):
        case['dtype'] = dtype_keyword(rng, name, used_dtypes(case))
    without_implementation_defined(case)
    # The values are small, because a sum that becomes not-a-time in an intermediate step stays
    # not-a-time and would depend on the order of the reduction.
    if name == 'add' and method in ('reduce', 'reduceat'):
        initial = case.get('initial')
        for holder in case['buffers'] + [initial if 'scalar' in (initial or ()) else {}]:
            holder['values'] = 'small'
    # NumPy stores partial results in an output of a different unit, and rounds each partial result.
    output = case['output']
    if name == 'add' and method == 'reduce' and output and rng.random() < 0.5:
        sum_into_datetimes(case)
    elif method in ('reduce', 'accumulate', 'reduceat') and output:
        if case['buffers'][output['buffer']]['dtype'] not in used_dtypes(case):
            case['output'] = None
    return case


def sum_into_datetimes(case):
    """Changes a sum of timedeltas so that the output is a datetime of the same unit. The sum is
    then the epoch plus all values."""
    source, output = case['inputs'][0], case['buffers'][case['output']['buffer']]
    own = used_dtypes(case)[0]
    if own.startswith('m8[') and source.get('buffer') != case['output']['buffer']:
        output['dtype'] = 'M' + own[1:]
    else:
        case['output'] = None
