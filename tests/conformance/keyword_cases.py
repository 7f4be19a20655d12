# SPDX-License-Identifier: Apache-2.0
"""Adds what cases.py does not draw to a valid case: the keywords signature=, axes=, axis= and
keepdims=, and many dimensions. Also passes these keywords to NumPy and the library."""

import numpy as np

# The number of core dimensions of each operand.
CORE = {'matmul': (2, 2, 2), 'vecdot': (1, 1, 0), 'matvec': (2, 1, 1), 'vecmat': (1, 2, 1)}
KEYS = ('signature', 'axes', 'axis', 'keepdims')
LETTERS = '?bhiqBHIQefdFD'
# NumPy registers the loops of these functions on an int64 and a uint64 under long long, which is
# NumPy's second 64-bit integer type.
COMPARISONS = ('equal', 'not_equal', 'less', 'less_equal', 'greater', 'greater_equal')
NO_LOOP = ('did not contain a loop with signature', 'No loop matching the specified signature')


def with_keywords(rng, case):
    """Returns the case, sometimes with added keywords."""
    draw = rng.random()
    if case['op'] in CORE:
        if draw < 0.15:
            add_axes(rng, case)
        elif draw < 0.3:
            add_axis(rng, case)
        elif draw < 0.4:
            case['keepdims'] = True
            if case['op'] == 'vecdot' and case['output'] and rng.random() < 0.9:
                insert_axis(case['output'], len(case['output']['shape']))
    elif draw < 0.06:
        add_dimensions(rng, case)
    if rng.random() < 0.1 and not case.get('dtype'):
        add_signature(rng, case)
    return case


# ---- types


def add_signature(rng, case):
    if case['op'] in COMPARISONS and not any('buffer' in view for view in case['inputs']):
        # Without an array operand, NumPy 2.4.6 ignores the values of Python ints: less_equal(3,
        # 2**31, (None, 'i', None)) is False.
        return
    letters = rng.choice([LETTERS, 'efdFD', '?bhiq', 'qQdD'])
    count = len(case['inputs']) + 1
    signature = [rng.choice(letters) if rng.random() < 0.4 else None for _ in range(count)]
    if any(signature):
        case['signature'] = signature
        # The oracle cannot predict the layout for order='A' together with signature=.
        case['order'] = 'K' if case['order'] == 'A' else case['order']


def dtypes_of(case):
    """Returns the case's signature= for NumPy."""
    names = {} if case['op'] in COMPARISONS else {'q': 'l', 'Q': 'L'}
    letters = [names.get(letter, letter) for letter in case['signature']]
    return tuple(np.dtype(letter) if letter else None for letter in letters)


def type_options(case):
    return {'signature': dtypes_of(case)} if case.get('signature') else {}


def remembers(case, text):
    """Returns whether NumPy's result may depend on its earlier calls. NumPy caches loops by the
    dtypes of the operands. In the key of the cache, a dtype that signature= fixes replaces the
    dtype of the array. The cache does not store whether a Python scalar was weak relative to the
    array, so a call can get the result of an earlier call with other arrays. Logical functions and
    comparisons without signature= then also use entries of calls that have signature=. If no loop
    fits, the message depends on whether a loop was found earlier for the same dtypes without
    signature=."""
    weak = any(key.startswith('weak') for view in case['inputs'] for key in view or ())
    if case['op'].startswith('logical') or case['op'] in COMPARISONS:
        return True
    if any(words in text for words in NO_LOOP):
        return True
    dtypes = [buffer['dtype'] for buffer in case['buffers']]
    dtypes += [view['scalar'] for view in case['inputs'] if view and 'scalar' in view]
    datetimes = any(dtype[0] in 'mM' for dtype in dtypes)
    return bool(case.get('signature')) and (weak or datetimes)


def finds_late(case, text):
    """Returns whether NumPy would have found no loop if there were elements. It looks for a loop of
    the datetime types that signature= or dtype= requests only when it processes elements."""
    empty = any(0 in view.get('shape', ()) for view in case['inputs'] if view)
    return empty and 'did not contain a loop' in text and text.endswith('succeeds')


# ---- axes


def axes_options(case):
    """Returns the case's axes=, axis= and keepdims= for NumPy."""
    options = {key: case[key] for key in ('axis', 'keepdims') if case.get(key) is not None}
    if case.get('axes'):
        options['axes'] = [tuple(axes) for axes in case['axes']]
    return options


def is_refusal(numpy_error, status):
    """Returns whether NumPy's error and the library's status both state that the function's
    signature does not support axis= or keepdims=."""
    text = str(numpy_error)
    return status == 100 and ('does not support keepdims' in text or 'axis can only be' in text)


def keyword_options(case):
    """Returns all keywords for call() of the library."""
    return {key: case[key] for key in KEYS if case.get(key) is not None}


def summed(case, left):
    """Returns the number of products that each element of the result sums, which is the extent of
    the first input's last core dimension."""
    axis = case['axes'][0][-1] if case.get('axes') else case.get('axis')
    return left.shape[-1 if axis is None else axis]


def move_axes(view, places):
    """Moves the last axes of a view to `places`, in the given order."""
    ndim, ncore = len(view['shape']), len(places)
    order = [None] * ndim
    for j, place in enumerate(places):
        order[place] = ndim - ncore + j
    rest = iter(range(ndim - ncore))
    order = [next(rest) if axis is None else axis for axis in order]
    for key in ('shape', 'strides'):
        view[key] = [view[key][axis] for axis in order]


def insert_axis(view, place, extent=1):
    view['shape'] = view['shape'][:place] + [extent] + view['shape'][place:]
    view['strides'] = view['strides'][:place] + [0] + view['strides'][place:]


def either_sign(rng, axes, ndim):
    """Returns the axes, some of them as negative numbers that count from the end. Rarely replaces
    an axis with one that is out of range."""
    axes = [axis - ndim if rng.random() < 0.4 else axis for axis in axes]
    if axes and rng.random() < 0.02:
        axes[0] = rng.choice([ndim, -ndim - 1])
    return axes


def core_counts(case):
    """Returns the numbers of core dimensions of the case's operands."""
    if case['op'] != 'matmul':
        return list(CORE[case['op']])
    # In matmul, a vector has one core dimension, and the result lacks one core dimension for each
    # input that is a vector.
    lacking = [int(len(view['shape']) == 1) for view in case['inputs']]
    return [2 - lacking[0], 2 - lacking[1], 2 - sum(lacking)]


def add_axes(rng, case):
    views = case['inputs'] + [case['output']]
    counts = core_counts(case)
    kept = case['op'] == 'vecdot' and rng.random() < 0.4
    if kept:
        case['keepdims'], counts[2] = True, 1
        if case['output']:
            insert_axis(case['output'], len(case['output']['shape']))
    loop = max(len(view['shape']) - n for view, n in zip(case['inputs'], counts))
    case['axes'] = []
    for k, (view, count) in enumerate(zip(views, counts)):
        ndim = len(view['shape']) if view else loop + count
        if count > ndim:
            places = list(range(count))
        # Only an output can have more axes than the loop and core dimensions together. Its entry
        # counts axes from the end, because the result, which is broadcast to the output, lacks the
        # leading axes.
        elif ndim > loop + count:
            places = list(range(-count, 0))
            case['axes'].append(places)
            continue
        else:
            places = rng.sample(range(ndim), count)
            if view and not (k == 2 and view in views[:2]):
                move_axes(view, places)
        case['axes'].append(either_sign(rng, places, ndim))
    if not kept and CORE[case['op']][2] == 0 and rng.random() < 0.5:
        case['axes'].pop()
    elif case['axes'][-1] and rng.random() < 0.02:
        case['axes'].pop()  # NumPy detects a missing entry only if the operand has core axes


def add_axis(rng, case):
    least = min(len(view['shape']) for view in case['inputs'])
    axis = rng.randrange(least) - (least if case['output'] else rng.choice([0, least]))
    case['axis'] = axis
    for view in case['inputs']:
        move_axes(view, [axis % len(view['shape'])])
    if rng.random() < 0.5:
        case['keepdims'] = True
        if case['output'] and rng.random() < 0.9:
            ndim = len(case['output']['shape']) + 1
            insert_axis(case['output'], axis % ndim)
    if rng.random() < 0.02:
        case['axis'] = rng.choice([9, -9])


# ---- dimensions


def add_dimensions(rng, case):
    """Adds axes to every view in the same order. If there are many axes, most have extent 1. The
    case is unchanged if it would exceed NumPy's 64 axes or if its buffers are large, because each
    axis of each view multiplies the size of its buffer."""
    outputs = [case['output'], *case.get('outputs', [])]
    views = [*case['inputs'], *outputs, case.get('where')]
    views = [view for view in views if view and 'shape' in view]
    ndim = max((len(view['shape']) for view in views), default=0)
    if ndim > 60 or any(buffer['n'] > 2**14 for buffer in case['buffers']):
        return
    more = rng.choice([1, 2, 3, 4, 58 - ndim])
    extents = [rng.choice([1, 2, 2, 3]) if more < 5 else 1 for _ in range(more)]
    order = list(range(ndim + more))
    rng.shuffle(order)
    for view in views:
        while len(view['shape']) < ndim:
            insert_axis(view, 0)
        for extent in extents:
            insert_axis(view, 0)
            if any(view is output for output in outputs) or rng.random() < 0.7:
                buffer = case['buffers'][view['buffer']]
                view['shape'][0], view['strides'][0] = extent, buffer['n']
                buffer['n'] *= extent
        for key in ('shape', 'strides'):
            view[key] = [view[key][axis] for axis in order]
