# SPDX-License-Identifier: Apache-2.0
"""Draws random calls as plain data. A case is a JSON object that describes one call completely."""

import math
import pathlib
import sys

import keyword_cases

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / 'tools'))

import ops_table  # noqa: E402

# The functions of the library that the oracle calls. Append new names. A function with a tilde may
# round its result more than once, so its results must be within an error bound (judge.py). The
# results of all other functions on real numbers must be exact.
LISTED = '''
add subtract multiply divide true_divide floor_divide remainder maximum minimum fmax fmin equal
not_equal less less_equal greater greater_equal logical_and logical_or logical_xor bitwise_and
bitwise_or bitwise_xor power~ left_shift right_shift negative absolute square sqrt reciprocal sign
logical_not invert exp~ log~ sin~ cos~ matmul vecdot floor ceil trunc rint isnan isinf isfinite
signbit positive fabs conjugate copysign fmod gcd lcm bitwise_count ldexp degrees~ rad2deg~ radians~
deg2rad~ exp2~ expm1~ log1p~ log2~ log10~ tan~ sinh~ cosh~ tanh~ arcsin~ arccos~ arctan~ arcsinh~
arccosh~ arctanh~ cbrt~ arctan2~ hypot~ float_power~ logaddexp~ logaddexp2~ heaviside nextafter
spacing divmod modf frexp matvec vecmat
'''.split()
ROUNDED = {name[:-1] for name in LISTED if name.endswith('~')}
LISTED = [name.rstrip('~') for name in LISTED]
# Functions that NumPy and SciPy do not have as ufuncs. array_functions.py and linear_algebra.py
# compare them with the functions that NumPy and SciPy have.
ARRAY_FUNCTIONS = '''
clip select softmax log_softmax logsumexp cross norm diff convolve sort argsort
searchsorted searchsorted_right median interp partition quantile percentile
det slogdet inv solve solve1 cholesky cholesky_upper qr eigh eigvalsh linspace arange
'''.split()
TABLE = ops_table.read()


def unlisted(table, listed):
    """Returns the functions of ops.def that are not listed, except functions that accept datetime
    types only, which time_cases.py lists."""
    datetimes = {name for name, f in table.functions.items() if not f.has_inputs(DTYPES)}
    return [name for name in table.functions if name not in datetimes and name not in listed]


def named(fits):
    return [name for name in LISTED if fits(TABLE.function(name))]


DTYPES = '?bhiqBHIQefdFD'
if unlisted(TABLE, LISTED + ARRAY_FUNCTIONS):
    sys.exit(
        f'cases.py: expected every function of ops.def in LISTED or ARRAY_FUNCTIONS, got none of '
        f'{unlisted(TABLE, LISTED + ARRAY_FUNCTIONS)}'
    )
SEVERAL = named(lambda f: f.nout > 1)  # several_cases.py draws these functions
ELEMENTWISE = {
    nin: named(lambda f, nin=nin: f.elementwise and (f.nin, f.nout) == (nin, 1)) for nin in (2, 1)
}
TRUTHS = [name for name in ELEMENTWISE[2] + ELEMENTWISE[1]
          if TABLE.function(name).returns_only(ops_table.BOOL)]
GUFUNCS = named(lambda f: not f.elementwise)
NAMES = ELEMENTWISE[1] + ELEMENTWISE[2] + GUFUNCS
# Functions that cannot be called with bfloat16.
WITHOUT_BFLOAT16 = named(lambda f: not f.has_inputs('E'))
# Functions that cast integers to floating-point numbers.
FLOATING = named(lambda f: not f.has_inputs(ops_table.BOOL + ops_table.INTEGERS))
CASTINGS = [None, None, None, 'no', 'equiv', 'safe', 'same_kind', 'unsafe']


# Optional kinds of choices. They are off for the corpus, so that the numbered cases of the corpus
# stay the same.
DRAWN = {'many axes': True}


def keep_first(count):
    """Restricts the lists from which cases draw functions to the first `count` functions of LISTED.
    Returns the functions that this removes from the lists."""
    kept = set(LISTED[:count])
    for names in (*ELEMENTWISE.values(), TRUTHS, GUFUNCS, NAMES):
        names[:] = [name for name in names if name in kept]
    return LISTED[count:]


def layout(rng, shape, allow_gaps=True):
    """Returns the strides of an array without internal overlap, the offset of its first element,
    and its span, all in elements."""
    if DRAWN['many axes'] and 0 in shape and len(shape) > 4:  # no element uses these strides
        return [rng.choice([1, -1, 0, 3, 2**20]) for _ in shape], 0, 0
    order = list(range(len(shape)))
    if rng.random() < 0.4:
        rng.shuffle(order)
    strides, step = [0] * len(shape), 1
    for axis in reversed(order):
        if allow_gaps and len(shape) <= 8 and rng.random() < 0.25:
            step *= rng.choice([2, 3])
        strides[axis] = step
        step *= max(shape[axis], 1)
    offset = 0
    for axis, extent in enumerate(shape):
        if rng.random() < 0.2:
            offset += strides[axis] * (max(extent, 1) - 1)
            strides[axis] = -strides[axis]
    return strides, offset, step


def many_axes(rng):
    """Returns up to 64 axes of extents 0, 1 and 2. If no extent is 0, few axes are longer than
    1."""
    ndim = rng.randint(5, 64)
    if rng.random() < 0.5:
        shape = [1] * ndim
        for axis in rng.sample(range(ndim), rng.randint(0, 5)):
            shape[axis] = 2
        return shape
    shape = [rng.choice([1, 2]) if rng.random() < 12 / ndim else 1 for _ in range(ndim)]
    for axis in rng.sample(range(ndim), rng.choice([1, 2, 3, ndim // 2, ndim])):
        shape[axis] = 0
    return shape


def random_shape(rng):
    if DRAWN['many axes'] and rng.random() < 0.02:
        return many_axes(rng)
    if rng.random() < 0.01:  # transposed operands of this size are copied in tiles
        return [rng.randint(16, 70), rng.randint(16, 70)] + [3] * rng.randint(0, 1)
    ndim = rng.choice([0, 1, 1, 1, 2, 2, 3, 4])
    top = {0: 1, 1: 600 if rng.random() < 0.2 else 40, 2: 9, 3: 5, 4: 4}[ndim]
    return [0 if rng.random() < 0.03 else rng.randint(1, top) for _ in range(ndim)]


class Buffers:
    def __init__(self, rng, overlaps=False):
        self.rng, self.list = rng, []
        self.overlaps = overlaps  # if set, outputs are placed in an input's buffer where possible

    def add(self, dtype, span):
        self.list.append(
            {
                'dtype': dtype,
                'n': max(span, 1) + self.rng.choice([0, 0, 3]),
                'misaligned': self.rng.random() < 0.05,
                'swapped': self.rng.random() < 0.05,
                'values': self.rng.choice(['small', 'small', 'mixed', 'mixed', 'special']),
            }
        )
        return len(self.list) - 1

    def view(self, dtype, shape):
        strides, offset, span = layout(self.rng, shape)
        return {
            'buffer': self.add(dtype, span),
            'offset': offset,
            'shape': shape,
            'strides': strides,
        }

    def view_beside(self, source, shape):
        """Returns a view of another view's buffer. The buffer grows if necessary."""
        strides, offset, span = layout(self.rng, shape)
        holder = self.list[source['buffer']]
        holder['n'] = max(holder['n'], span + 4)
        return {
            'buffer': source['buffer'],
            'offset': offset + self.rng.randint(0, holder['n'] - span),
            'shape': shape,
            'strides': strides,
        }


def narrowed(rng, shape):
    """Returns a shape that broadcasts to `shape`, or rarely a shape that does not."""
    kept = shape[rng.randint(0, len(shape)) if rng.random() < 0.3 else 0 :]
    kept = [1 if rng.random() < 0.2 else n for n in kept]
    if kept and rng.random() < 0.01:
        kept[rng.randrange(len(kept))] += 1
    return kept


def random_input(rng, buffers, shape, dtypes):
    draw = rng.random()
    if draw < 0.06:
        return {
            'weak_int': rng.choice(
                [
                    0,
                    1,
                    -1,
                    2,
                    3,
                    7,
                    100,
                    127,
                    128,
                    255,
                    256,
                    -129,
                    2**31,
                    2**40,
                    2**63 - 1,
                    2**63,
                    2**64 - 1,
                    -(2**63),
                ]
            )
        }
    if draw < 0.09:
        return {'weak_float': rng.choice([0.0, -0.0, 0.5, 2.0, -3.25, 1e30, math.inf])}
    if draw < 0.10:
        return {'weak_complex': [rng.choice([0.0, 1.5, -2.0]), rng.choice([0.0, 1.0, -0.5])]}
    if draw < 0.14:
        return {'scalar': rng.choice(dtypes), 'seed': rng.randrange(1 << 30)}
    view = buffers.view(rng.choice(dtypes), narrowed(rng, shape))
    if view['shape'] and rng.random() < 0.05:  # a broadcast axis
        axis = rng.randrange(len(view['shape']))
        view['strides'][axis] = 0
    return view


def random_output(rng, buffers, shape, inputs, dtypes):
    draw = rng.uniform(0.7, 1) if buffers.overlaps else rng.random()
    if draw < 0.5:
        return None
    if draw < 0.58 and len(shape) < 64:
        shape = [rng.randint(1, 3)] + shape
    elif draw < 0.6 and shape:
        shape = [n for n in shape]
        shape[rng.randrange(len(shape))] += rng.choice([-1, 1])
        shape = [max(n, 0) for n in shape]
    views = [view for view in inputs if 'buffer' in view]
    if views and draw > 0.7:  # the output shares memory with an input
        source = rng.choice(views)
        if draw > 0.9 and source['shape'] == shape and 0 not in source['strides']:
            return dict(source)
        return buffers.view_beside(source, shape)
    return buffers.view(rng.choice(dtypes), shape)


def product_shapes(rng, name, loop=None):
    """Returns a loop shape, and the core shapes of the inputs and of the output."""
    m, k, p = (rng.choice([0, 1, 2, 3, 5, 8, 17]) if rng.random() < 0.9 else 1 for _ in range(3))
    loop = random_shape(rng)[:2] if loop is None else loop
    if name == 'matmul':
        left = [k] if rng.random() < 0.15 else [m, k]
        right = [k] if rng.random() < 0.15 else [k + (rng.random() < 0.02), p]
        return loop, left, right, left[:-1] + right[1:]
    other = k + (rng.random() < 0.02)  # rarely not the extent of the first input
    left, right, core = {
        'vecdot': ([k], [other], []),
        'matvec': ([m, k], [other], [m]),
        'vecmat': ([k], [other, p], [p]),
    }[name]
    return loop, left, right, core


def random_gufunc(rng, name, buffers, dtypes, loop=None):
    loop, left, right, core = product_shapes(rng, name, loop)
    inputs = [
        buffers.view(rng.choice(dtypes), narrowed(rng, loop) + core) for core in (left, right)
    ]
    return inputs, random_output(rng, buffers, loop + core, inputs, dtypes)


def known_order(case, buffers):
    """Returns the case's order=. Replaces A with K if the effect of A in NumPy is not known,
    because NumPy casts small inputs before it examines their layout."""
    name, dtypes = case['op'], {b['dtype'] for b in buffers.list}
    plain = len(dtypes) == 1 and not any(b['swapped'] or b['misaligned'] for b in buffers.list)
    plain = plain and not dtypes & set('?bhiqBHIQ' if name in FLOATING else '?')
    if case['order'] == 'A' and (name.startswith('logical') or not plain or case.get('dtype')):
        return 'K'
    return case['order']


def random_case(rng, overlaps=False, dtypes=None, shape=None, names=NAMES):
    """Draws a call. `shape` is the shape of the result or, if there are core dimensions, of the
    loop."""
    name = rng.choice(names)
    # Half of the calls use dtypes of one kind, so that not every call is an error.
    dtypes = dtypes or rng.choice(
        [DTYPES, rng.choice(DTYPES), rng.choice(['?bhiqBHIQ', 'efd', 'FD', 'efdFD', 'iqfd'])]
    )
    over_mask = overlaps and rng.random() < 0.15  # the output overlaps the mask
    if over_mask:
        name = rng.choice(TRUTHS)
    if overlaps:  # errors are rare, so that overlap is tested
        dtypes = rng.choice([rng.choice(DTYPES), 'bhiq', 'BHIQ', 'fd'])
    buffers = Buffers(rng, overlaps)
    # An integer loop gets floats, some of which its dtype cannot represent.
    unfit = not overlaps and rng.random() < 0.04
    if unfit:
        dtypes = rng.choice(['efd', 'd', 'dq'])
    case = {
        'op': name,
        'seed': rng.randrange(1 << 31),
        'casting': None if overlaps else rng.choice(CASTINGS),
        'order': rng.choice('KKKCFA'),
    }
    if name in GUFUNCS:
        case['inputs'], output = random_gufunc(rng, name, buffers, dtypes, shape)
    else:
        nin = 1 if name in ELEMENTWISE[1] else 2
        shape = random_shape(rng) if shape is None else shape
        if over_mask and rng.random() < 0.5:
            shape = [rng.randint(257, 900)]  # more elements than one block
        case['inputs'] = [random_input(rng, buffers, shape, dtypes) for _ in range(nin)]
        output = random_output(rng, buffers, shape, case['inputs'], dtypes)
        # NumPy 2 crashes on a mask together with a weak integer out of range, so this combination
        # is not drawn.
        masked = over_mask or rng.random() < 0.12
        if masked and not any('weak_int' in view for view in case['inputs']):
            case['where'] = buffers.view('?', narrowed(rng, shape))
            if over_mask:
                output = buffers.view_beside(case['where'], shape)
    if not overlaps and rng.random() < 0.1:
        case['dtype'] = rng.choice(DTYPES)
    if unfit:
        case['dtype'], case['casting'] = rng.choice('bhiqBHIQ'), 'unsafe'
    case['order'] = known_order(case, buffers)
    # If NumPy 2 copies an output because of overlap and a cast, it writes masked elements of the
    # output, so this combination is not drawn either.
    if (
        case.get('where')
        and output
        and any(output['buffer'] == view.get('buffer') for view in case['inputs'])
    ):
        case['where'] = None
    case['output'] = output
    case['buffers'] = buffers.list
    return keyword_cases.with_keywords(rng, case)


def random_bfloat16_case(rng):
    """Draws calls with bfloat16 only. NumPy computes in float32, and the result is rounded once."""
    names = [n for n in NAMES if n not in WITHOUT_BFLOAT16]
    name = rng.choice(names)
    buffers = Buffers(rng)
    if name in GUFUNCS:
        inputs, _ = random_gufunc(rng, name, buffers, 'E')
    else:
        shape = random_shape(rng)
        inputs = [
            buffers.view('E', narrowed(rng, shape))
            for _ in range(1 if name in ELEMENTWISE[1] else 2)
        ]
    for buffer in buffers.list:
        buffer['swapped'] = False
    return {
        'op': name,
        'seed': rng.randrange(1 << 31),
        'casting': None,
        'order': 'K',
        'inputs': inputs,
        'output': None,
        'buffers': buffers.list,
    }
