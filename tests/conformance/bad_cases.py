# SPDX-License-Identifier: Apache-2.0
"""Draws calls and methods with one argument that NumPy should reject: an axis, indices, a mask, an
initial value, or a dtype. Most of the arguments are invalid; NumPy decides which."""

import cases
import keyword_cases
import method_cases

FAR = [2**31, 2**40, 2**63 - 1, -(2**63)]


def random_bad_case(rng):
    kind = rng.choice(['axes', 'axes', 'indices', 'indices', 'mask', 'initial', 'signature'])
    case = SPOIL[kind](rng)
    case['bad'] = kind
    return case


def plain_method(rng, method, names=None):
    """Returns a method case with valid arguments, mostly without an output."""
    name = rng.choice(names or method_cases.FOLDED)
    case = getattr(method_cases, f'random_{method}')(rng, name, rng.choice(['bhiq', 'fd', 'BHIQ']))
    for key in ('where', 'initial', 'dtype'):
        case.pop(key, None)
    if case['method'] != 'at' and rng.random() < 0.6:
        case['output'] = None
    return case


def source_ndim(case):
    return len(case['inputs'][0].get('shape', []))


# ---- axes


def bad_axes(rng):
    if rng.random() < 0.4:
        return bad_core_axes(rng)
    method = rng.choice(['reduce', 'reduce', 'accumulate', 'reduceat'])
    case = plain_method(rng, method)
    ndim = source_ndim(case)
    one = rng.choice([ndim, ndim + 1, -ndim - 1, -ndim - 2, *FAR[: 1 if method == 'reduce' else 4]])
    if method != 'reduce' or rng.random() < 0.4:
        case['axis'] = one
    elif not ndim:  # NumPy treats an axis and a list of one axis differently
        case['axis'] = rng.choice([1, -2])
    elif rng.random() < 0.6:  # the same axis twice, as equal numbers or as a negative number too
        axis = rng.randrange(ndim)
        case['axis'] = [axis, rng.choice([axis, axis - ndim])]
    else:
        case['axis'] = rng.sample(range(ndim), min(ndim, 2)) + [one]
    return case


def bad_core_axes(rng):
    """Draws invalid axes=, axis= and keepdims= of matmul and vecdot."""
    name = rng.choice(cases.GUFUNCS)
    buffers = cases.Buffers(rng)
    inputs, output = cases.random_gufunc(rng, name, buffers, 'fd')
    case = {'op': name, 'seed': rng.randrange(1 << 31), 'casting': None, 'order': 'K'}
    case.update(inputs=inputs, output=output, buffers=buffers.list)
    draw, far = rng.random(), rng.choice([7, 64, -9, *FAR[:1]])
    if draw < 0.3:
        case['axis'] = far
    elif draw < 0.5:
        case['axis'], case['keepdims'], case['output'] = -1, True, None
    else:
        case['output'] = None
        counts = keyword_cases.core_counts(case)
        case['axes'] = [list(range(-n, 0)) for n in counts]
        group = rng.choice([k for k, n in enumerate(counts) if n])
        if draw < 0.8:
            case['axes'][group][0] = far
        elif counts[group] > 1:
            case['axes'][group][0] = case['axes'][group][1]
        else:
            case['axes'].pop(0)
    return case


# ---- indices


def bad_indices(rng):
    case = plain_method(rng, rng.choice(['reduceat', 'at']))
    if not case['indices']:
        return case
    if case['method'] == 'at' and len(case['indices']) > len(case['output']['shape']):
        return case  # there is already one index array too many
    spec, far = rng.choice(case['indices']), rng.choice([50, 1000, -50, *FAR])
    draw = rng.random()
    if spec['values'] and draw < 0.6:
        spec['values'][rng.randrange(len(spec['values']))] = far
        spec['dtype'] = 'q'
    elif draw < 0.75:  # indices that are not integers
        spec['values'] = [abs(value) for value in spec['values']]
        spec['dtype'] = rng.choice('fdFe')
    elif case['method'] == 'at':
        if draw < 0.9:
            case['indices'] += [dict(spec) for _ in range(len(case['output']['shape']))]
        else:  # index arrays that cannot be broadcast
            case['indices'] = [method_cases.indexed(rng, [0] * n, [n], 'q') for n in (2, 3)]
    else:
        spec['shape'] = [1, len(spec['values'])]
    return case


# ---- masks and initial values


def bad_mask(rng):
    if rng.random() < 0.5:
        case = plain_method(rng, 'reduce')
    else:
        case = cases.random_case(rng)
        while case['op'] in cases.GUFUNCS or any('weak_int' in view for view in case['inputs']):
            case = cases.random_case(rng)
    shape = [view['shape'] for view in case['inputs'] if 'shape' in view] or [[]]
    shape = max(shape, key=len)
    shape = shape if len(shape) < 9 else [3]
    draw = rng.random()
    buffers = cases.Buffers(rng)
    buffers.list = case['buffers']
    if draw < 0.4:
        case['where'] = buffers.view(rng.choice('bBhiqfd'), shape)  # a mask whose dtype is not bool
    elif 'method' in case and draw < 0.6:
        case['op'] = rng.choice(['maximum', 'minimum', 'fmax', 'subtract', 'divide'])
        case['where'] = buffers.view('?', shape)  # masked elements would need an initial value
    else:
        case['where'] = buffers.view('?', method_cases.spoilt(rng, [n + 2 for n in shape] or [3]))
    if case['output']:
        case['output'] = None
    return case


def bad_initial(rng):
    case = plain_method(rng, 'reduce', 'add multiply bitwise_or maximum minimum'.split())
    draw = rng.random()
    if draw < 0.2:
        case['initial'] = {'weak_complex': [1.5, -0.5]}
    elif draw < 0.4:
        case['initial'] = {'weak_float': rng.choice([float('nan'), float('inf'), -float('inf')])}
    elif draw < 0.8:
        case['initial'] = {'weak_int': rng.choice([2**63, 2**64 - 1, -(2**63) - 1, -(2**63)])}
    else:  # there are no elements and no initial value
        case['initial'] = 'none'
        case['axis'] = 0
        if case['inputs'][0].get('shape'):
            case['inputs'][0]['shape'] = [0, *case['inputs'][0]['shape'][1:]]
            case['output'] = None
    return case


# ---- types


def bad_signature(rng):
    if rng.random() < 0.3:
        case = plain_method(rng, rng.choice(['reduce', 'accumulate', 'reduceat', 'outer']))
        case['op'] = rng.choice('bitwise_and bitwise_or bitwise_xor equal divide'.split())
        case['dtype'] = rng.choice('efdFD?' if case['op'] != 'divide' else '?bhiqBHIQ')
        return case
    case = cases.random_case(rng)
    while not all('buffer' in view for view in case['inputs']) or case['order'] == 'A':
        case = cases.random_case(rng)
    for key in ('dtype', 'axes', 'axis', 'keepdims'):
        case.pop(key, None)
    letters = rng.sample('?bhiqBHIQefdFD', len(case['inputs']) + 1)
    case['signature'] = [letter if rng.random() < 0.8 else None for letter in letters]
    if not any(case['signature']):
        case['signature'][0] = letters[0]
    return case


SPOIL = {
    'axes': bad_axes,
    'indices': bad_indices,
    'mask': bad_mask,
    'initial': bad_initial,
    'signature': bad_signature,
}
