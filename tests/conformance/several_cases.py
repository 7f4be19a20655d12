# SPDX-License-Identifier: Apache-2.0
"""Draws random calls of the functions with two outputs, of clip, which has three inputs, and of
divmod.outer. In these cases the key `outputs`, which has one entry per output, replaces the key
`output`."""

import big_cases
import cases
import keyword_cases
import time_cases

OPERANDS = {name: (cases.TABLE.function(name).nin, cases.TABLE.function(name).nout)
            for name in cases.SEVERAL}
OPERANDS['clip'] = (3, 1)
# Functions of two inputs and clip are drawn more often, because they have more loops.
NAMES = [name for name in OPERANDS for _ in range(3 if OPERANDS[name][0] > 1 else 1)]
DTYPES = '?bhiqBHIQefd'  # array_functions.py calls clip with complex numbers
RESULTS = {
    name: ''.join(letter for letter in DTYPES if cases.TABLE.function(name).returns(letter))
    for name in cases.SEVERAL
}
RESULTS['clip'] = DTYPES


def one_datetime_class(rng):
    """Draws dtypes for clip that are all datetime64 or all timedelta64. NumPy has special rules for
    calls that mix the two, and the library has no loops for such calls."""
    kind, found = rng.choice('mM'), []
    while not found:
        found = [dtype for dtype in time_cases.random_dtypes(rng) if dtype.startswith(f'{kind}8[')]
    return found


def random_input(rng, buffers, shape, dtypes):
    view = cases.random_input(rng, buffers, shape, dtypes)
    datetimes = any(dtype[0] in 'mM' for dtype in dtypes)
    while 'weak_complex' in view or datetimes and not ('buffer' in view or 'scalar' in view):
        view = cases.random_input(rng, buffers, shape, dtypes)
    return view


def random_outputs(rng, case, buffers, shape, dtypes):
    """Draws outputs. Each may be absent or be in an input's buffer. Two outputs usually are in
    different buffers. In some cases both outputs are present and are in the same buffer, where they
    may overlap."""
    taken, outputs = set(), []
    for _ in range(OPERANDS[case['op']][1]):
        output = cases.random_output(rng, buffers, shape, case['inputs'], dtypes)
        if output and output['buffer'] in taken:
            output = buffers.view(rng.choice(dtypes), output['shape'])
        if output:
            taken.add(output['buffer'])
        outputs.append(output)
    # Outputs overlap only if no cast is unsafe. An unsafe cast can leave elements undefined. The
    # comparison with NumPy finds the undefined elements of each output separately, so it cannot
    # find undefined elements that another output overwrites.
    if len(outputs) == 2 and case['casting'] != 'unsafe' and rng.random() < 0.3:
        first = outputs[0] or buffers.view(rng.choice(dtypes), shape)
        outputs = [first, buffers.view_beside(first, first['shape'])]
    return outputs


def random_types(rng, case):
    """Sometimes adds dtype= or signature=, mostly with the dtypes of existing loops."""
    nin, nout = OPERANDS[case['op']]
    letters = RESULTS[case['op']] if rng.random() < 0.8 else DTYPES
    draw = rng.random()
    if draw < 0.12:
        case['dtype'] = rng.choice(letters)
    elif draw < 0.3:
        one = rng.choice(letters)
        signature = [one if rng.random() < 0.4 else None for _ in range(nin + nout)]
        if rng.random() < 0.3:
            signature[rng.randrange(nin + nout)] = rng.choice(letters)
        if any(signature):
            case['signature'] = signature


def add_mask(rng, case, buffers, shape):
    """Sometimes adds a mask. Calls with weak integers get no mask, because NumPy fails on a weak
    integer out of range with a mask."""
    weak = any('weak_int' in view for view in case['inputs'])
    if not weak and rng.random() < 0.2:
        case['where'] = buffers.view('?', cases.narrowed(rng, shape))


def random_several_case(rng, names=NAMES, dtypes=None):
    name = rng.choice(names)
    nin = OPERANDS[name][0]
    kinds = [DTYPES, rng.choice(DTYPES), rng.choice(['bhiqBHIQ', 'efd', 'fd', 'iqd'])]
    dtypes = dtypes or rng.choice(kinds)
    datetimes = name in ('divmod', 'clip') and rng.random() < 0.25
    if datetimes:
        dtypes = one_datetime_class(rng) if name == 'clip' else time_cases.random_dtypes(rng)
    buffers, shape = cases.Buffers(rng), cases.random_shape(rng)
    if rng.random() < 0.02 and not datetimes:
        shape = big_cases.random_big_shape(rng)
    case = {
        'op': name,
        'seed': rng.randrange(1 << 31),
        'casting': rng.choice(cases.CASTINGS),
        'order': rng.choice('KKKCF'),
        'inputs': [random_input(rng, buffers, shape, dtypes) for _ in range(nin)],
        'output': None,
    }
    if name == 'divmod' and rng.random() < 0.1:
        return outer_of(rng, case, buffers, dtypes, datetimes)
    if datetimes and case['casting'] == 'unsafe':
        case['casting'] = None  # NumPy cannot store an integer in a datetime without a unit
    case['fp_flags'] = rng.random() < 0.2
    case['outputs'] = random_outputs(rng, case, buffers, shape, dtypes)
    add_mask(rng, case, buffers, shape)
    case['buffers'] = buffers.list
    if datetimes:
        time_cases.without_implementation_defined(case)
    else:
        random_types(rng, case)
    if rng.random() < 0.05:
        keyword_cases.add_dimensions(rng, case)
    return case


def outer_of(rng, case, buffers, dtypes, datetimes):
    """Draws a call of divmod.outer whose outputs share no memory with the inputs."""
    shapes = [[rng.randint(1, 5) for _ in range(rng.choice([0, 1, 2]))] for _ in range(2)]
    case['inputs'] = [buffers.view(rng.choice(dtypes), shape) for shape in shapes]
    whole = shapes[0] + shapes[1]
    case['outputs'] = [
        buffers.view(rng.choice(dtypes), whole) if rng.random() < 0.5 else None for _ in range(2)
    ]
    case['outer'] = True
    if all(case['outputs']) and rng.random() < 0.3:
        case['outputs'][1] = buffers.view_beside(case['outputs'][0], whole)
    if rng.random() < 0.2:
        case['where'] = buffers.view('?', whole)
    if rng.random() < 0.12 and not datetimes:
        case['dtype'] = rng.choice(RESULTS['divmod'])
    case['casting'] = None
    return {**case, 'buffers': buffers.list}
