# SPDX-License-Identifier: Apache-2.0
"""Checks what NumPy accepts and rejects, with its messages: initial values, datetime types without
a unit, sizes, outputs that do not fit, and byte-swapped indices."""

import itertools

import numpy as np

from corner_both import array


def datetimes(values, letter):
    """Returns datetime values. Datetimes without a unit are possible too; NumPy cannot make them
    from integers."""
    return np.array(values, np.int64).view(letter)


def method_alike(both, method, name, *inputs, **options):
    both.like_numpy(
        lambda: both.numpy_method(method, name, inputs, options),
        lambda: both.our_method(method, name, inputs, options),
    )


# ---- initial values

UNITS = ['', '[Y]', '[M]', '[W]', '[D]', '[7D]', '[h]', '[m]', '[s]', '[25s]', '[ms]', '[us]']
UNITS += ['[ns]']
# Values near the limits of Python's dates and durations in days, seconds and microseconds.
STEPS = [0, 3, -1, -719162, -719163, 2932896, 2932897, 10**9 - 1, 10**9, 1 - 10**9, -(10**9)]
STEPS += [days * 86400 - (days > 0) for days in STEPS[3:]]
STEPS += [days * 86400 * 10**6 - (days > 0) for days in STEPS[3:7]] + [-(2**63)]


def datetime_initials(both):
    """Checks dates and durations as initial values of integer sums, which Python's int()
    rejects."""
    for kind, unit, steps in itertools.product('Mm', UNITS, STEPS):
        given = datetimes([steps], f'{kind}8{unit}')[0]
        method_alike(both, 'reduce', 'add', np.ones(2, np.int32), initial=given)
    for letter, kind in itertools.product('?bBqQefdFD', 'Mm'):
        given = datetimes([3], f'{kind}8[s]')
        for value in (given[0], given.reshape(())):
            method_alike(both, 'reduce', 'add', np.ones(2, bool), dtype=letter, initial=value)


def initial_of_datetimes(both):
    classes = [f'{kind}8{unit}' for kind in 'Mm' for unit in ('', '[s]', '[D]', '[Y]')]
    for letter, other in itertools.product(classes, classes):
        if letter.startswith('M8[') and other == 'M8':
            continue  # NumPy's result depends on the value: docs/numpy-deviations.md
        given = datetimes([3], other)
        for value in (given[0], given.reshape(()), given):
            method_alike(both, 'reduce', 'maximum', datetimes([1, 2], letter), initial=value)
    values = (0, 10**19, 1.5, 2j, np.int8(4), array([1, 2]))
    for letter, value in itertools.product(classes, values):
        method_alike(both, 'reduce', 'minimum', datetimes([1, 2], letter), initial=value)
    method_alike(both, 'reduce', 'add', datetimes([1, 2], 'm8'), out=datetimes(7, 'M8'))


def initial_values(both):
    datetime_initials(both)
    initial_of_datetimes(both)
    for letter, value in itertools.product('bBqQefdFD', ([1], [], [[1.5]], [2j])):
        method_alike(both, 'reduce', 'add', np.ones(2, letter), initial=np.array(value))


# ---- datetimes


def written(both, name, inputs, out, **options):
    """Makes a call that writes to `out` in NumPy and in the library, and compares the outputs as
    integers."""

    def numpy():
        result = out.copy()
        getattr(np, name)(*inputs, out=result, **options)
        return result

    def ours():
        result = out.copy()
        both.library.call(name, inputs, [result], **options)
        return result

    both.like_numpy(numpy, ours)


def outputs_without_a_unit(both):
    castings, units = ('unsafe', 'same_kind'), ('m8[s]', 'm8[25ms]')
    for kind, casting, one in itertools.product('Mm', castings, units):
        out = datetimes([7, 7], f'{kind}8')
        for name, other in itertools.product(('add', 'maximum', 'remainder'), ('m8[s]', 'm8', 'q')):
            if (name, other) == ('remainder', 'q'):
                continue
            inputs = [datetimes([5, 2], one), datetimes([3, 4], other)]
            written(both, name, inputs, out, casting=casting)
        written(both, 'negative', [datetimes([5, -2], one)], out, casting=casting)
        whole = datetimes(7, f'{kind}8')
        method_alike(both, 'reduce', 'maximum', datetimes([1, 2], one), out=whole)
        method_alike(both, 'accumulate', 'maximum', datetimes([1, 2], one), out=out.copy())
        method_alike(both, 'at', 'add', out.copy(), array([0, 1, 0]), datetimes([1, 2, 3], one))
    # NumPy's iterator rejects this call: docs/numpy-deviations.md
    masked = datetimes([7, 7], 'm8')
    both.library.call(
        'negative',
        [datetimes([5, 2], 'm8[s]')],
        [masked],
        where=array([True, False]),
        casting='unsafe',
    )
    both.same('library', masked, datetimes([-5, 7], 'm8'))


def comparisons_as_bools(both):
    others = [3, 2.5, 1j, 2**63, array([3, 4]), array([1.5, 0]), array([True, False])]
    others += [np.float32(2), datetimes([1, 2], 'M8[s]'), datetimes([1, 2], 'm8')]
    # For timedeltas without a unit, NumPy's results depend on earlier calls with a unit in the
    # process. The rows of tests/data/time_resolution.txt were recorded with one process per row.
    for letter, other in itertools.product(('m8[s]', 'M8[D]'), others):
        for name, casting in itertools.product(('equal', 'less'), ('same_kind', 'unsafe', 'equiv')):
            one = datetimes([1, 0], letter)
            for inputs in ([one, other], [other, one]):
                both.like_numpy(
                    lambda: both.numpy(name, inputs, {'dtype': '?', 'casting': casting})[0],
                    lambda: both.ours(name, inputs, dtype='?', casting=casting)[0],
                )


def datetime_types(both):
    for letter in ('m8[s]', 'M8[25D]'):
        one = datetimes([1, 2], 'm8[s]')
        both.refuses(
            'add', [one, one], TypeError, 'You can avoid this error by using', dtype=letter
        )
        method_alike(both, 'accumulate', 'add', one, dtype=letter)
    outputs_without_a_unit(both)
    comparisons_as_bools(both)


# ---- sizes


def broad(*shape):
    return np.broadcast_to(np.int8(1), shape)


def too_large(both):
    few, many = np.ones((1,) * 33), np.ones((1,) * 64)
    for inputs in ([few, few], [many, np.ones(1)]):
        method_alike_outer(both, *inputs)
    method_alike_outer(both, broad(2**40), broad(2**40))
    big = [broad(2**31, 1), broad(1, 2**31)]
    both.refuses('add', big, ValueError, 'array is too big; `arr.size', dtype='d')
    for inputs in ([broad(2**40, 1), broad(1, 2**40)], [broad(2**62, 1, 0), broad(1, 4, 1)]):
        both.refuses('add', inputs, ValueError, 'iterator is too large')
    both.refuses('negative', [broad(2**62)], ValueError, 'array is too big', dtype='d')
    method_alike(both, 'at', 'add', np.ones((3, 3)), (broad(2**40, 1), broad(1, 2**40)), 1)


def method_alike_outer(both, *inputs):
    method_alike(both, 'outer', 'add', *inputs)


# ---- outputs that do not fit

SHAPES = [(), (1,), (3,), (1, 1), (1, 3), (2, 1), (2, 3), (1, 2, 3), (1, 1, 1), (3, 3), (1, 2, 1)]


def wrong_outputs(both):
    """Checks outputs of a reduction (with masks that may be invalid), of accumulate, and of a
    function with two outputs."""
    x = np.ones((2, 3))
    masks = [None, np.ones(3, bool), np.ones(7, bool), np.ones((1, 2, 3), bool)]
    for shape, keepdims, mask in itertools.product(SHAPES, (False, True), masks):
        options = {'keepdims': keepdims} | ({} if mask is None else {'where': mask})
        for axis in (0, 1, None, ()):
            method_alike(both, 'reduce', 'add', x, axis=axis, out=np.zeros(shape), **options)
    for shape, axis in itertools.product([(), (2,), (1, 2), (3, 3)], (0, 1, 2)):
        method_alike(both, 'accumulate', 'add', np.ones((2, 3, 4)), axis=axis, out=np.zeros(shape))
    for first, second in itertools.product(SHAPES, SHAPES):
        outs = np.zeros(first), np.zeros(second, np.int32)
        both.like_numpy(
            lambda: np.frexp(x, out=outs)[0], lambda: both.library.call('frexp', [x], outs)[0]
        )


# ---- indices


def swapped_indices(both):
    x = np.arange(300.0)
    for letter in ('>i2', '>i4', '>i8', '>u2', '>u4'):
        indices = np.array([258, 3, 299], letter)
        method_alike(both, 'reduceat', 'add', x, indices)
        method_alike(both, 'at', 'add', x.copy(), indices, 1.0)
        method_alike(both, 'reduceat', 'add', x, np.array([300], letter))
        method_alike(both, 'at', 'add', x.copy(), np.array([300], letter), 1.0)
    for letter in ('>u8', '>f4', '>f8', '>c16', '>m8[s]'):
        method_alike(both, 'reduceat', 'add', x, np.array([1, 2], 'i8').astype(letter))
        method_alike(both, 'at', 'add', x.copy(), np.array([1, 2], 'i8').astype(letter), 1.0)
