# SPDX-License-Identifier: Apache-2.0
"""Draws random method calls (reduce, accumulate, reduceat, outer, at) as plain data."""

from cases import (
    DRAWN,
    DTYPES,
    ELEMENTWISE,
    GUFUNCS,
    Buffers,
    known_order,
    many_axes,
    narrowed,
    random_input,
)

METHODS = ['reduce'] * 5 + ['accumulate'] * 2 + ['reduceat'] * 2 + ['outer', 'at', 'at']
FOLDED = (
    'add add add add multiply multiply multiply maximum minimum maximum minimum fmax fmin '
    'logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor subtract subtract '
    'divide left_shift right_shift'
).split()
RAISES_FLAGS = 'add add multiply multiply subtract divide floor_divide remainder'.split()
KINDS = ['?bhiqBHIQ', 'efd', 'FD', 'efdFD', 'iqfd', DTYPES]
WEAK_INITIAL = [0, 1, -1, 3, 100, 128, 300, 2**40, 2**63, 2**64 - 1, -(2**63)]
INDEX_DTYPES = 'qqqqqiihbBHI'


# state_reductions.py compares the methods of ldexp, whose operands have different types.
MIXED = {'ldexp'}
# Functions whose results are rounded twice, so that they may differ by one after a cast to integer.
INEXACT = set(
    'arccos arccosh arcsin arcsinh arctan arctanh cbrt cosh deg2rad degrees exp2 expm1 log10 log1p '
    'log2 rad2deg radians sinh tan tanh'.split()
)


def without(names, excluded):
    return [name for name in names if name not in excluded]


def random_name(rng):
    draw = rng.random()
    if draw < 0.8:
        return rng.choice(FOLDED)
    binary, others = without(ELEMENTWISE[2], MIXED), ELEMENTWISE[1] + GUFUNCS
    return rng.choice(binary if draw < 0.98 else others)


def random_dtypes(rng):
    return rng.choice([rng.choice(DTYPES), rng.choice(KINDS), rng.choice(DTYPES)])


def random_shape(rng):
    if DRAWN['many axes'] and rng.random() < 0.04:
        return many_axes(rng)
    draw = rng.random()
    if draw < 0.04:  # more dimensions than kernels support
        return [rng.choice([1, 1, 2]) for _ in range(rng.randint(8, 14))]
    if draw < 0.06:
        return [rng.choice([1, 1, 1, 1, 1, 2]) for _ in range(rng.randint(30, 64))]
    if draw < 0.14:  # the tree has many base blocks
        return [rng.choice([127, 128, 129, 256, 257, 300, 512, 1000, rng.randint(129, 3000)])]
    if draw < 0.20:
        return rng.choice([[rng.randint(100, 300), rng.randint(1, 4)], [2, rng.randint(100, 300)]])
    ndim = rng.choice([0, 1, 1, 1, 2, 2, 2, 3, 3, 4])
    top = {0: 1, 1: 40, 2: 20, 3: 7, 4: 4}[ndim]
    return [0 if rng.random() < 0.04 else rng.randint(1, top) for _ in range(ndim)]


def random_source(rng, buffers, shape, dtypes):
    """Draws the operand to reduce."""
    if not shape and rng.random() < 0.2:
        return {'scalar': rng.choice(dtypes), 'seed': rng.randrange(1 << 30)}
    view = buffers.view(rng.choice(dtypes), shape)
    if shape and rng.random() < 0.05:  # a broadcast axis
        view['strides'][rng.randrange(len(shape))] = 0
    return view


def random_axis(rng, ndim):
    """Returns an int, several axes, or "all"; rarely an invalid axis. For a 0-d operand -1 and 0
    are valid."""
    if rng.random() < 0.02:
        return rng.choice([ndim, -ndim - 1, 2**40, -(2**63)])
    if not ndim:
        return rng.choice([0, -1, 'all'])
    one = rng.randrange(-ndim, ndim)
    draw = rng.random()
    if draw < 0.45:
        return one
    if draw < 0.6:
        return 'all'
    axes = rng.sample(range(ndim), rng.randint(0, ndim))
    axes = [a - ndim if rng.random() < 0.3 else a for a in axes]
    if axes and rng.random() < 0.04:
        axes.append(rng.choice([axes[0], axes[0] % ndim - ndim, ndim + 1]))
    return axes


def reduced_shape(shape, axis, keepdims):
    """Returns the shape of the result, or any shape if the axes are invalid."""
    ndim = len(shape)
    axes = range(ndim) if axis == 'all' else [axis] if isinstance(axis, int) else axis
    gone = {a % ndim for a in axes if ndim}
    if keepdims:
        return [1 if i in gone else n for i, n in enumerate(shape)]
    return [n for i, n in enumerate(shape) if i not in gone]


def spoilt(rng, shape):
    """Returns a different shape: with one axis more, with one axis less, or with longer axes."""
    draw = rng.random()
    if draw < 0.3 or not shape:
        return ([1] * rng.randint(1, 2) + shape)[-64:]
    if draw < 0.5:
        return shape[1:]
    axis = rng.randrange(len(shape))
    return shape[:axis] + [shape[axis] + rng.choice([1, 2])] + shape[axis + 1 :]


def random_output(rng, buffers, shape, sources, dtypes):
    """Draws an output: None, a new view, or a view that shares memory with an operand."""
    if not buffers.overlaps and rng.random() < 0.5:
        return None
    if not buffers.overlaps and rng.random() < 0.05:
        shape = spoilt(rng, shape)
    views = [view for view in sources if 'buffer' in view]
    if views and (buffers.overlaps or rng.random() < 0.5):
        source = rng.choice(views)
        if source['shape'] == shape and 0 not in source['strides'] and rng.random() < 0.4:
            return dict(source)
        return buffers.view_beside(source, shape)
    return buffers.view(rng.choice(dtypes if rng.random() < 0.6 else DTYPES), shape)


def random_initial(rng, dtypes):
    draw = rng.random()
    if draw < 0.2:
        return 'none'
    if draw < 0.6:
        return {'weak_int': rng.choice(WEAK_INITIAL[:4] if draw < 0.5 else WEAK_INITIAL)}
    if draw < 0.8:
        return {'weak_float': rng.choice([0.0, -0.0, 0.5, -3.25, 1e30, float('inf')])}
    if draw < 0.85:
        return {'weak_complex': [1.5, -0.5]}
    return {'scalar': rng.choice(dtypes), 'seed': rng.randrange(1 << 30)}


def base(rng, method, name):
    return {
        'method': method,
        'op': name,
        'seed': rng.randrange(1 << 31),
        'casting': None,
        'order': 'K',
    }


def random_reduce(rng, name, dtypes, overlaps=False, shape=None):
    case, buffers = base(rng, 'reduce', name), Buffers(rng, overlaps)
    shape = random_shape(rng) if shape is None else shape
    source = random_source(rng, buffers, shape, dtypes)
    if rng.random() < 0.93:
        case['axis'] = random_axis(rng, len(shape))
    axis = case.get('axis', 0)
    if rng.random() < 0.25:
        case['keepdims'] = True
    if rng.random() < 0.25:
        case['initial'] = random_initial(rng, dtypes)
    if rng.random() < 0.2:
        case['where'] = buffers.view('?', narrowed(rng, shape))
        if rng.random() < 0.6 and 'initial' not in case:
            case['initial'] = {'weak_int': rng.choice([0, 1])}
    if rng.random() < 0.12:
        case['dtype'] = rng.choice(DTYPES)
    result = reduced_shape(shape, axis, case.get('keepdims'))
    output = random_output(rng, buffers, result, [source], dtypes)
    return {**case, 'inputs': [source], 'output': output, 'buffers': buffers.list}


def random_reduce_over_mask(rng):
    """Draws a reduction to logical results under a mask that is in the same memory, often with more
    rows than the library reduces in one block."""
    name = rng.choice(['logical_and', 'logical_or', 'logical_xor'])
    case, buffers = base(rng, 'reduce', name), Buffers(rng, True)
    rows = rng.choice([rng.randint(1, 40), rng.randint(300, 9000)])
    shape, case['axis'] = [rows, rng.randint(1, 4)], 1
    if rng.random() < 0.3:
        shape, case['axis'] = shape[::-1], 0
    source = random_source(rng, buffers, shape, rng.choice(['?', '?bB', 'iqd']))
    case['where'] = buffers.view('?', shape)
    output = buffers.view_beside(case['where'], [rows])
    return {**case, 'inputs': [source], 'output': output, 'buffers': buffers.list}


def random_one_axis(rng, ndim):
    if rng.random() < 0.02:
        return rng.choice([ndim, -ndim - 1, -(2**63)] if ndim else [1, -2])
    return rng.randrange(-ndim, ndim) if ndim else rng.choice([0, -1])


def random_accumulate(rng, name, dtypes, overlaps=False, shape=None):
    case, buffers = base(rng, 'accumulate', name), Buffers(rng, overlaps)
    shape = random_shape(rng) if shape is None else shape
    source = random_source(rng, buffers, shape, dtypes)
    case['axis'] = random_one_axis(rng, len(shape))
    if rng.random() < 0.12:
        case['dtype'] = rng.choice(DTYPES)
    output = random_output(rng, buffers, shape, [source], dtypes)
    if output and len(output['shape']) != len(shape):
        output = None  # NumPy 2 would read the missing extents of this output, and crash
    return {**case, 'inputs': [source], 'output': output, 'buffers': buffers.list}


def random_reduceat(rng, name, dtypes, overlaps=False, shape=None):
    case, buffers = base(rng, 'reduceat', name), Buffers(rng, overlaps)
    shape = random_shape(rng) if shape is None else shape
    source = random_source(rng, buffers, shape, dtypes)
    case['axis'] = axis = random_one_axis(rng, len(shape))
    extent = shape[axis % len(shape)] if shape else 1
    count = rng.choice([0, 1, 2, 3, 5, rng.randint(0, 40)])
    indices = [rng.randrange(extent) for _ in range(count)] if extent else []
    if rng.random() < 0.5:
        indices.sort()
    if rng.random() < 0.05:
        indices.insert(rng.randint(0, len(indices)), rng.choice([extent, -1, extent + 7, 2**40]))
    letter = rng.choice(INDEX_DTYPES)
    case['indices'] = [indexed(rng, indices, [len(indices)], letter)]
    if rng.random() < 0.02:  # integers out of range, or a number of axes other than one
        wrong = rng.choice([{'dtype': 'Q'}, {'dtype': 'd'}, {'shape': [1, len(indices)]}])
        if 'Q' not in wrong.values() or all(i >= 0 for i in indices):
            case['indices'][0].update(wrong)
    if rng.random() < 0.12:
        case['dtype'] = rng.choice(DTYPES)
    result = list(shape)
    if shape:
        result[axis % len(shape)] = len(indices)
    output = random_output(rng, buffers, result, [source], dtypes)
    if output and output['shape'] != result:
        output = None  # NumPy accepts outputs that are longer along the axis, and crashes for other
                       # outputs
    return {**case, 'inputs': [source], 'output': output, 'buffers': buffers.list}


def indexed(rng, values, shape, letter):
    """Returns an array of indices, in a different dtype if the dtype `letter` cannot represent
    them."""
    bits = {'b': 7, 'B': 8, 'h': 15, 'H': 16, 'i': 31, 'I': 32, 'q': 63, 'Q': 64}[letter]
    low = 0 if letter in 'BHIQ' else -(1 << bits)
    if any(not low <= v < 1 << bits for v in values):
        letter = 'q'
    step, swapped = rng.choice([1, 1, 1, 2, -1]), rng.random() < 0.1
    return {'values': values, 'shape': shape, 'dtype': letter, 'step': step, 'swapped': swapped}


def random_outer(rng, name, dtypes, overlaps=False):
    case, buffers = base(rng, 'outer', name), Buffers(rng, overlaps)
    inputs = []
    for _ in range(2):
        shape = [rng.randint(1, 5) for _ in range(rng.choice([0, 1, 1, 2, 3]))]
        if shape and rng.random() < 0.05:
            shape[0] = 0
        view = random_input(rng, buffers, shape, dtypes)
        while any(key.startswith('weak') for key in view):  # `outer` of NumPy has no weak scalars
            view = random_input(rng, buffers, shape, dtypes)
        inputs.append(view)
    shape = [n for view in inputs for n in view.get('shape', [])]
    case['order'] = rng.choice('KKKCFA')
    if rng.random() < 0.1:
        case['where'] = buffers.view('?', narrowed(rng, shape))
    if rng.random() < 0.1:
        case['dtype'] = rng.choice(DTYPES)
    case['order'] = known_order(case, buffers)
    output = random_output(rng, buffers, shape, inputs, dtypes)
    if output and case.get('where') and any(output['buffer'] == v.get('buffer') for v in inputs):
        case['where'] = None
    return {**case, 'inputs': inputs, 'output': output, 'buffers': buffers.list}


def random_indices(rng, shape):
    """Returns index arrays for the first axes of `shape`, which broadcast together."""
    count = rng.randint(0 if rng.random() < 0.05 else 1, len(shape)) if shape else 0
    if rng.random() < 0.01:
        count = len(shape) + 1
    common = [
        rng.randint(0 if rng.random() < 0.05 else 1, 6) for _ in range(rng.choice([0, 1, 1, 1, 2]))
    ]
    indices = []
    for axis in range(count):
        extent = shape[axis] if axis < len(shape) else 1
        own = narrowed(rng, common) if axis else common
        size = 1
        for n in own:
            size *= n
        values = [rng.randrange(-extent, extent) for _ in range(size)] if extent else [0] * size
        if values and rng.random() < 0.02:
            values[rng.randrange(size)] = rng.choice([extent, -extent - 1, 2**40])
        letter = rng.choice(INDEX_DTYPES + 'Q')
        if letter in 'BHIQ':
            values = [v % extent if extent and -extent <= v < 0 else v for v in values]
        indices.append(indexed(rng, values, own, letter))
    return indices, common


def random_at(rng, name, dtypes):
    if rng.random() < 0.15:
        name = rng.choice(without(ELEMENTWISE[1], INEXACT))
    case, buffers = base(rng, 'at', name), Buffers(rng)
    shape = [
        0 if rng.random() < 0.03 else rng.randint(1, 6)
        for _ in range(rng.choice([0, 1, 1, 1, 2, 2, 3]))
    ]
    array = buffers.view(rng.choice(dtypes), shape)
    case['indices'], common = random_indices(rng, shape)
    picked = common * bool(case['indices']) + shape[len(case['indices']) :]
    inputs = []
    if name not in ELEMENTWISE[1]:
        view = random_input(rng, buffers, picked, dtypes)
        while any(key.startswith('weak') for key in view):  # `at` of NumPy has no weak scalars
            view = random_input(rng, buffers, picked, dtypes)
        if 'buffer' in view and rng.random() < 0.15 and view['shape'] == shape:
            view = {**array, 'shape': list(shape), 'strides': list(array['strides'])}
        inputs.append(view)
    return {**case, 'inputs': inputs, 'output': array, 'buffers': buffers.list}


def random_bfloat16_method_case(rng):
    """Draws methods with bfloat16 only. NumPy reduces in float32, and the result is rounded
    once."""
    name = rng.choice('add add multiply maximum minimum fmax fmin logical_and'.split())
    make = rng.choice([random_reduce, random_reduce, random_accumulate, random_reduceat])
    case = make(rng, name, 'f')
    for key in ('where', 'initial', 'dtype'):
        case.pop(key, None)
    case['output'], used = None, case['inputs'][0]
    if 'buffer' in used:
        case['buffers'] = case['buffers'][:1]
        case['buffers'][0].update(dtype='E', swapped=False)
    return case


def random_truth_case(rng):
    """Draws sums and products of floats with a bool output, which is true where the sum or product
    is nonzero."""
    make = rng.choice([random_reduce, random_reduce, random_accumulate, random_reduceat])
    case = make(rng, rng.choice(['add', 'multiply', 'multiply']), rng.choice('efd'))
    buffers, output = Buffers(rng), case['output']
    buffers.list = case['buffers']
    if make is random_reduce:
        shape = case['inputs'][0].get('shape', [])
        result = reduced_shape(shape, case.get('axis', 0), case.get('keepdims'))
        case['output'] = buffers.view('?', result)
    elif output and not any(output['buffer'] == view.get('buffer') for view in case['inputs']):
        buffers.list[output['buffer']].update(dtype='?', misaligned=False, swapped=False)
    return case


def random_unfit_case(rng):
    """Draws a method whose operand has floats and whose loop has an integer dtype, which cannot
    represent some of the floats."""
    make = rng.choice([random_reduce, random_accumulate, random_reduceat])
    case = make(rng, random_name(rng), rng.choice('efd'))
    return {**case, 'dtype': rng.choice('bhiqBHIQ')}


def random_method_case(rng):
    draw = rng.random()
    if draw < 0.08:
        return random_truth_case(rng) if draw < 0.04 else random_unfit_case(rng)
    method = rng.choice(METHODS)
    return maker(method)(rng, random_name(rng), random_dtypes(rng))


def random_overlapping_method_case(rng):
    """Places the output in the buffer of an input or of the mask."""
    if rng.random() < 0.15:
        return random_reduce_over_mask(rng)
    make = maker(rng.choice('reduce reduce accumulate reduceat outer'.split()))
    return make(rng, rng.choice(FOLDED), rng.choice([rng.choice('bhiqBHIQfd'), 'bhiq', 'fd']), True)


def random_fp_flag_method_case(rng, dtypes):
    """Draws a method of a function that can raise floating-point flags, without casts."""
    case = maker(rng.choice(METHODS))(rng, rng.choice(RAISES_FLAGS), dtypes)
    case.pop('dtype', None)
    if 'initial' in case and 'where' not in case:
        del case['initial']
    return case


def maker(method):
    return {
        'reduce': random_reduce,
        'accumulate': random_accumulate,
        'reduceat': random_reduceat,
        'outer': random_outer,
        'at': random_at,
    }[method]
