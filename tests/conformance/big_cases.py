# SPDX-License-Identifier: Apache-2.0
"""Draws calls and methods that are large enough for several threads, and results that are large
enough for non-temporal stores. Such cases are drawn rarely, because each of them takes as long as
dozens or thousands of other cases."""

import cases
import method_cases

# Number of elements from which threads share work (backends/cpu/loops/work_split.h).
SHARED = 32 * 1024
WOKEN = 128 * 1024  # number of elements from which sleeping threads are woken
NON_TEMPORAL_BYTES = 64 << 20  # bytes of a result from which non-temporal stores are used
ELEMENTWISE = cases.ELEMENTWISE[1] + cases.ELEMENTWISE[2]
EXACT = 'add subtract multiply maximum minimum negative absolute square'.split()
FOLDED = (
    'add add add multiply maximum minimum fmax fmin subtract logical_and logical_or logical_xor '
    'bitwise_and bitwise_or bitwise_xor'
).split()


def random_size(rng):
    if rng.random() < 0.2:
        return rng.randint(WOKEN, WOKEN * 9 // 8)
    return rng.randint(SHARED, SHARED * 5 // 4)


def random_big_shape(rng):
    """Returns a shape of one to three axes with the long axes first or last."""
    size, draw = random_size(rng), rng.random()
    if draw < 0.4:
        return [size]
    if draw < 0.55:  # many short rows
        shape = [rng.randint(2, 9)]
    elif draw < 0.85:  # long enough for tiles
        shape = [rng.randint(16, 500)]
    else:
        shape = [rng.randint(2, 30), rng.randint(2, 30)]
    rest = 1
    for extent in shape:
        rest *= extent
    shape.append(size // rest + 1)
    rng.shuffle(shape)
    return shape


def random_big_case(rng, number):
    """Draws a large case. One in four checks floating-point flags, and one in four is a method. Few
    are invalid, so that most calls do use several threads."""
    if number % 4 == 0:
        case = random_big_method_case(rng)
    else:
        watched = number % 4 == 1
        dtypes = rng.choice('fdfdiqBH' if watched else ['?bhiqBHIQ', 'efd', 'FD', *'bhiqefdFD'])
        shape, names = random_big_shape(rng), ELEMENTWISE
        if rng.random() < 0.05:
            shape, names = [rng.randint(1000, 4000)], cases.GUFUNCS  # core dimensions add work
        case = cases.random_case(rng, dtypes=dtypes, shape=shape, names=names)
        case['casting'] = None
        for key in ('dtype', 'signature'):
            case.pop(key, None)
        case['fp_flags'] = watched
        if rng.random() < 0.8:
            lay_across(case, shape)
    for buffer in case['buffers']:
        if case.get('fp_flags'):
            buffer['values'] = rng.choice(['small', 'special', 'special'])
    return {**case, 'big': 'shared'}


def lay_across(case, shape):
    """Changes the layouts so that the first input is in Fortran order and all others are in C
    order."""
    order = 'F'
    for view in case['inputs']:
        if len(shape) < 2 or view.get('shape') != shape:
            continue
        strides, step = [], 1
        for extent in shape if order == 'F' else shape[::-1]:
            strides.append(step)
            step *= extent
        view.update(strides=strides if order == 'F' else strides[::-1], offset=0)
        case['buffers'][view['buffer']].update(misaligned=False, swapped=False)
        order = 'C'


def random_big_method_case(rng):
    method = rng.choice(['reduce', 'reduce', 'accumulate', 'reduceat'])
    name = rng.choice(FOLDED)
    # subtract is a left fold. It is drawn only with dtypes for which NumPy's result has the same
    # bits as the fold, because for other dtypes method_judge.py computes the fold with calls of the
    # library, which takes a second.
    dtypes = rng.choice('bhiqBHIQfd' if name == 'subtract' else '?bhiqBHIQefdFD')
    case = method_cases.maker(method)(rng, name, dtypes, shape=random_big_shape(rng))
    if name == 'subtract':
        case.pop('dtype', None)
        case['output'] = None
    if rng.random() < 0.3 and 'initial' not in case and not case['output']:
        case['fp_flags'] = True
    return case


def random_non_temporal_case(rng):
    """Draws a call with a contiguous result of slightly more than 64 MiB. The inputs have the same
    dtype, and are full arrays, or a row and a column."""
    dtype = rng.choice('ddqqQDfi')
    size = NON_TEMPORAL_BYTES // {'f': 4, 'i': 4, 'D': 16}.get(dtype, 8) + rng.randint(1, 5000)
    buffers = cases.Buffers(rng)
    name = rng.choice(EXACT[:2] if dtype == 'D' else EXACT)
    whole = rng.random() < 0.4
    shape = [size] if whole else [size // 20_000 + 1, 20_000 + rng.randint(0, 9)]
    few = [[size], [1]] if whole else [[shape[0], 1], [shape[1]]]
    inputs = [plain_view(buffers, dtype, extents) for extents in few]
    if name in cases.ELEMENTWISE[1]:
        inputs = inputs[1:]
        inputs[0] = {**inputs[0], 'shape': shape, 'strides': [0] * (len(shape) - 1) + [1]}
        if whole:
            inputs[0]['strides'] = [0]
    output = plain_view(buffers, dtype, shape, rng.randint(0, 7)) if rng.random() < 0.3 else None
    return {
        'op': name,
        'seed': rng.randrange(1 << 31),
        'casting': None,
        'order': 'K',
        'inputs': inputs,
        'output': output,
        'buffers': buffers.list,
        'big': 'non_temporal',
    }


def plain_view(buffers, dtype, shape, offset=0):
    """Returns a C-contiguous, aligned view of ordinary values."""
    strides, span = [], 1
    for extent in reversed(shape):
        strides.insert(0, span if extent > 1 else 0)
        span *= extent
    buffer = buffers.add(dtype, span + offset)
    buffers.list[buffer].update(misaligned=False, swapped=False, values='small')
    return {'buffer': buffer, 'offset': offset, 'shape': shape, 'strides': strides}
