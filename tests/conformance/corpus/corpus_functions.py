# SPDX-License-Identifier: Apache-2.0
"""Makes cases of the functions in the example modules and in numpy_functions. The expected results
are computed by an implementation of each function with NumPy operations in the dtype of the
loop."""

import itertools

import numpy as np

import cases
from corpus_hand import Call, misplaced, swapped

POSITIONS = (0, 1, 2)


def spread(shape, letter, start=1, seed=0):
    """Returns quotients of small integers, all different and nonzero."""
    count = int(np.prod(shape, dtype=int))
    values = (np.arange(count) * 7 + seed) % 23 + start
    return (values.astype('d') / 4).astype(letter).reshape(shape)


# ---- ufuncs


def discriminant_of(a, b, c, letter):
    a, b, c = (np.asarray(x).astype(letter) for x in (a, b, c))
    return np.sqrt(b * b - np.dtype(letter).type(4) * a * c)


def discriminant():
    for letter, shape in itertools.product('fd', ([5], [], [0], [2, 3], [3, 1, 2], [300])):
        a, c = spread(shape, letter), spread(shape, letter, 2, 5)
        b = spread(shape, letter, 40)
        yield Call('discriminant', a, b, c).returns(discriminant_of(a, b, c, letter))
    column, row = spread([4, 1], 'f'), spread([3], 'f', 60)
    for letter in 'fd':
        a, b = column.astype(letter), row.astype(letter)
        yield Call('discriminant', a, b, 1).returns(discriminant_of(a, b, 1, letter))
        yield Call('discriminant', a, 10.5, b).returns(discriminant_of(a, 10.5, b, letter))
        transposed = np.asfortranarray(spread([3, 4], letter, 50))
        expected = discriminant_of(a.T, transposed, 2.5, letter)
        yield Call('discriminant', a.T, transposed, 2.5).returns(expected)
        back = spread([9], letter, 30)[::-2]
        expected = discriminant_of(1, back, back, letter)
        yield Call('discriminant', 1, back, back).returns(expected)
        for odd in (misplaced, swapped):
            x = odd(spread([6], letter, 30))
            yield Call('discriminant', 1, x, 2).returns(discriminant_of(1, x, 2, letter))
    yield from discriminant_of_types()
    yield from discriminant_into()


def discriminant_of_types():
    for letters in ('iii', 'fdf', 'eee', 'bHf', '???', 'fff'):
        inputs = [spread([4], x, 1, k) for k, x in enumerate(letters)]
        loop = 'f' if all(np.can_cast(x, 'f') for x in letters) else 'd'
        yield Call('discriminant', *inputs).returns(discriminant_of(*inputs, loop))
        yield Call('discriminant', *inputs, dtype='d').returns(discriminant_of(*inputs, 'd'))
    yield Call('discriminant', 1, 10, 2).returns(discriminant_of(1, 10, 2, 'd'))
    whole, cut = spread([4], 'd', 30), spread([4], 'd', 30).astype('f')
    expected = discriminant_of(1, cut, 1, 'f')
    yield Call('discriminant', 1, whole, 1, dtype='f').returns(expected)
    yield Call('discriminant', 1, whole, 1, signature=['f', 'f', 'f', 'f']).returns(expected)
    yield Call('discriminant', 1, whole, 1, dtype='f', casting='safe').fails('GUF_E_CASTING')
    yield Call('discriminant', 1j, whole, 1).fails('GUF_E_NO_LOOP')
    yield Call('discriminant', spread([2], 'F'), 1.0, 1.0).fails('GUF_E_NO_LOOP')
    yield Call('discriminant', whole, whole, whole, dtype='i').fails('GUF_E_NO_LOOP')
    yield Call('discriminant', whole, whole).fails('GUF_E_ARG')
    text = 'operands could not be broadcast together with shapes (4,) (3,) () '
    yield Call('discriminant', whole, whole[:3], np.float64(1)).fails('GUF_E_SHAPE', text)


def discriminant_into():
    b, mask = spread([2, 3], 'd', 40), np.array([[True, False, True], [False, True, True]])
    plain, gaps = np.zeros([2, 3]), np.zeros([2, 6])[:, ::2]
    for out in (plain, np.zeros([3, 2]).T, gaps, plain.astype('f')):
        expected = discriminant_of(1, b, 2, 'd')
        yield Call('discriminant', 1, b, 2, out=[out]).returns(expected.astype(out.dtype))
        kept = np.where(mask, expected, out).astype(out.dtype)
        yield Call('discriminant', 1, b, 2, out=[out], where=mask).returns(kept)
    yield Call('discriminant', b, b, b, out=[b]).returns(discriminant_of(b, b, b, 'd'))
    wide = np.zeros([2, 2, 3])
    expected = np.broadcast_to(discriminant_of(1, b, 2, 'd'), wide.shape)
    yield Call('discriminant', 1, b, 2, out=[wide]).returns(expected)
    yield Call('discriminant', 1, b, 2, where=mask).returns(
        np.where(mask, discriminant_of(1, b, 2, 'd'), 0)
    )
    yield Call('discriminant', 1, b, 2, out=[np.zeros([2, 3], 'i')]).fails('GUF_E_CASTING')
    yield Call('discriminant', 1, b, 2, out=[np.zeros([3])]).fails('GUF_E_SHAPE')
    yield Call('discriminant', 1, b, 2, where=mask[:, :2]).fails('GUF_E_SHAPE')


def power_over():
    """Yields cases of x ** y / z. The tolerance covers the rounding of the power and of the
    quotient."""
    for letter, shape in itertools.product('fd', ([5], [4, 1], [0], [2, 3])):
        x, y = spread(shape, letter), spread(shape, letter, -6, 3)
        z = spread([3] if shape in ([4, 1], [2, 3]) else shape, letter, 2, 1)
        wide = [v.astype(np.longdouble) for v in (x, y, z)]
        expected = (wide[0] ** wide[1] / wide[2]).astype(letter)
        yield Call('power_over', x, y, z).returns(expected, ulp=3)


# ---- generalized functions


def foo_of(x, n, letter):
    x = np.asarray(x).astype(letter)
    made, total, power = np.empty((*x.shape, n), letter), x.copy(), x.copy()
    for i in range(n):
        made[..., i] = total
        total, power = total + power, power * x
    return made


def foo():
    for letter, shape, n in itertools.product('fd', ([5], [], [2, 3], [0]), (4, 1, 0)):
        x = spread(shape, letter)
        if shape:
            yield Call('foo', x, n).returns(foo_of(x, n, letter))
            yield Call('foo_any', x, 0, dims=[['n', n]]).returns(foo_of(x, n, letter))
        out = np.full((*shape, n), 9, letter)
        yield Call('foo', x, np.int64(n), out=[out]).returns(foo_of(x, n, letter))
        yield Call('foo_any', x, 0, out=[out]).returns(foo_of(x, n, letter))
        transposed = np.full((n, *shape), 9, letter)
        moved = np.moveaxis(foo_of(x, n, letter), -1, 0)
        yield Call('foo', x, n, out=[transposed], axes=[[], [], [0]]).returns(moved)
    x = spread([3], 'd')
    yield Call('foo', x, np.array([3, 4])).fails('GUF_E_VALUE')
    yield Call('foo', x, np.array([3, 4, 3])).fails('GUF_E_VALUE')
    yield Call('foo', x, -1).fails('GUF_E_VALUE')
    yield Call('foo', x, 4, out=[np.zeros([3, 5])]).fails('GUF_E_SHAPE')
    yield Call('foo_any', x, 4).fails('GUF_E_SHAPE')
    yield Call('foo_any', x, 4, dims=[['m', 4]]).fails('GUF_E_ARG')


def matmulcore_of(a, b, letter):
    a, b = a.astype(letter), b.astype(letter)
    loop = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    total = np.zeros((*loop, a.shape[-2], b.shape[-1]), letter)
    for k in range(a.shape[-1]):
        total = total + a[..., :, k, None] * b[..., k, None, :]
    return total


def matmulcore():
    shapes = (([2, 3], [3, 4]), ([1, 1], [1, 1]), ([2, 0], [0, 3]), ([0, 3], [3, 2]))
    shapes += (([2, 2, 3], [3, 4]), ([5, 1, 2, 3], [4, 3, 2]), ([3, 3], [2, 3, 3]))
    shapes += (([9, 17], [17, 5]),)
    for letter, (left, right) in itertools.product('qfdi', shapes):
        a, b = spread(left, letter), spread(right, letter, 3, 4)
        loop = 'q' if letter == 'i' else letter
        expected = matmulcore_of(a, b, loop)
        yield Call('matmulcore', a, b).returns(expected)
        out = np.swapaxes(np.full((*expected.shape[:-2], *expected.shape[:-3:-1]), 7, loop), -1, -2)
        yield Call('matmulcore', a, b, out=[out]).returns(expected)
        if len(left) == len(right) == 2:
            axes = [[1, 0], [1, 0], [1, 0]]
            yield Call('matmulcore', a.T, b.T, axes=axes).returns(expected.T)
            axes = [[-2, -1], [0, 1], [-1, -2]]
            yield Call('matmulcore', a, b, axes=axes).returns(expected.T)
    a, b = spread([2, 3], 'd'), spread([2, 4], 'd')
    yield Call('matmulcore', a, b).fails('GUF_E_SHAPE')
    yield Call('matmulcore', a, a[0]).fails('GUF_E_SHAPE')
    yield Call('matmulcore', a, b.T, axis=0).fails('GUF_E_ARG')
    yield Call('matmulcore', a, a.T, axes=[[0, 1], [0, 0], [0, 1]]).fails('GUF_E_AXIS')
    yield Call('matmulcore', a, a.T, axes=[[0, 1], [0, 2], [0, 1]]).fails('GUF_E_AXIS')
    yield Call('matmulcore', a, a.T, axes=[[0, 1]]).fails('GUF_E_ARG')
    yield Call('matmulcore', a.astype('F'), a.T).fails('GUF_E_NO_LOOP')


def cumulative_power_of(rows):
    result, power = rows.copy(), rows[..., 0].copy()
    for i in range(1, rows.shape[-1]):
        power = power * rows[..., 0]
        result[..., i] = result[..., i - 1] + power
    return result


def hermite_of(rows):
    h, kind = rows.copy(), rows.dtype.type
    for k in range(1, rows.shape[-1] - 1):
        h[..., k + 1] = h[..., 1] * h[..., k] - kind(k) * h[..., k - 1]
    factorial = 1.0
    for k in range(2, rows.shape[-1]):
        factorial *= k
        h[..., k] = h[..., k].astype('d') / np.sqrt(factorial)
    return h


def rows_of(name, count, n, letter):
    rows = np.zeros((count, n), letter)
    first = spread([count], letter)
    if n:
        rows[:, 0] = 1 if name == 'hermite' else first
    if n > 1 and name == 'hermite':
        rows[:, 1] = first - np.dtype(letter).type(2)
    return rows


def in_place():
    """Yields cases of functions with inout operands."""
    functions = {'cumulative_power': cumulative_power_of, 'hermite': hermite_of}
    for (name, function), letter in itertools.product(functions.items(), 'fd'):
        for count, n in ((1, 4), (5, 4), (0, 4), (3, 1), (7, 6), (2, 33)):
            rows = rows_of(name, count, n, letter)
            expected = function(rows)
            yield Call(name, rows).returns(expected, inouts=[0])
            other = np.full_like(rows, 9)
            yield Call(name, rows, out=[other]).returns(expected)
            yield Call(name, rows, out=[np.full((n, count), 9, letter).T]).returns(expected)
            backwards = np.full_like(rows, 9)[:, ::-1]
            yield Call(name, rows, out=[backwards]).returns(expected)
            columns = rows.T.copy()
            yield Call(name, columns, axis=0).returns(expected.T, inouts=[0])
            yield Call(name, columns, axes=[[0]]).returns(expected.T, inouts=[0])
        wide = np.zeros((4, 12), letter)
        wide[:, ::3] = rows_of(name, 4, 4, letter)
        yield Call(name, wide[:, ::3]).returns(function(wide[:, ::3]), inouts=[0])
        rows = swapped(rows_of(name, 3, 4, letter))
        yield Call(name, rows).returns(function(rows.astype(letter)), inouts=[0])
        yield Call(name, rows_of(name, 3, 4, letter), axis=2).fails('GUF_E_AXIS')
        yield Call(name, np.float64(1)).fails('GUF_E_ARG')
        yield Call(name, rows_of(name, 3, 4, letter), out=[np.zeros((3, 5), letter)]).fails(
            'GUF_E_SHAPE'
        )


def moving_mean_of(a, window, letter):
    made = np.empty_like(a)
    a, window = np.broadcast_arrays(a, np.expand_dims(window, -1))
    made = np.empty(a.shape, letter)
    for place in np.ndindex(*a.shape[:-1]):
        total, count = 0.0, 0
        for i, x in enumerate(a[place].astype(letter)):
            total = total + float(x)
            if count < window[place][0]:
                count += 1
            else:
                total = total - float(a[place][i - count].astype(letter))
            made[place][i] = total / count
    return made


def moving_mean():
    ten, six = np.arange(10.0), np.arange(6.0).reshape(2, 3)
    for letter in 'fd':
        for a, window in ((ten, 3), (six, [1, 2]), (six, 3), (spread([3, 9], 'd'), [[2], [5]])):
            a, size = a.astype(letter), np.array(window)
            expected = moving_mean_of(a, size, letter)
            yield Call('moving_mean', a, size).returns(expected)
            weak = window if isinstance(window, int) else size.astype('b')
            out = np.zeros(expected.shape, letter)
            yield Call('moving_mean', a, weak, out=[out]).returns(expected)
        transposed = six.astype(letter).T
        expected = moving_mean_of(transposed.T, np.array(2), letter).T
        yield Call('moving_mean', transposed, 2, axes=[[0], [], [0]]).returns(expected)
    yield Call('moving_mean', ten, 2.5).fails('GUF_E_NO_LOOP')
    yield Call('moving_mean', np.float64(1), 2).fails('GUF_E_SHAPE')


# ---- several outputs


def several():
    for letter in 'bhiqBHIQfd':
        x, y = spread([3, 4], letter, 9), spread([4], letter, 4)
        expected = np.divmod(x, y)
        yield Call('divmod', x, y).returns(*expected)
        outs = [np.zeros([3, 4], letter), np.zeros([4, 3], letter).T]
        yield Call('divmod', x, y, out=outs).returns(*expected)
        yield Call('divmod', x, y, out=[outs[0], None]).returns(*expected)
        mask = np.arange(12).reshape(3, 4) % 3 > 0
        kept = [np.where(mask, w, 0).astype(letter) for w in expected]
        yield Call('divmod', x, y, out=[None, outs[1]], where=mask).returns(*kept)
        yield Call('divmod', y, y, method='outer').returns(*np.divmod.outer(y, y))
        low, high = spread([4], letter, 3), spread([3, 1], letter, 5)
        clip = np._core.umath.clip
        yield Call('clip', x, low, high).returns(clip(x, low, high))
        yield Call('clip', x, 2, 3).returns(clip(x, 2, 3))
    for letter in 'fd':
        x = np.concatenate([spread([5], letter), -spread([3], letter), [0, np.inf, np.nan]])
        x = x.astype(letter)
        yield Call('modf', x).returns(*np.modf(x))
        yield Call('frexp', x[:8]).returns(*np.frexp(x[:8]))
        yield Call('modf', x, out=[np.zeros(11, 'd'), None]).returns(
            np.modf(x)[0].astype('d'), np.modf(x)[1]
        )
    x = spread([3], 'd')
    same = np.zeros(3)
    yield Call('divmod', x, x, out=[same, np.zeros(4)]).fails('GUF_E_SHAPE')
    yield Call('divmod', x, x, out=[same, np.zeros(3, 'i')]).fails('GUF_E_CASTING')
    yield Call('divmod', x, x, out=[same]).fails('GUF_E_ARG')
    yield Call('divmod', x, method='reduce').fails('GUF_E_VALUE')
    yield from several_of_types()


def several_of_types():
    """Yields the standard functions of several outputs with every dtype."""
    for name, letter in itertools.product(cases.SEVERAL, cases.DTYPES):
        function = getattr(np, name)
        inputs = [spread([5], letter, 1 + k, 3 * k) for k in range(function.nin)]
        call = Call(name, *inputs)
        try:
            yield call.returns(*function(*inputs))
        except TypeError:
            yield call.fails_as(lambda: function(*inputs))


GROUPS = {
    'discriminant': discriminant,
    'power_over': power_over,
    'foo': foo,
    'matmulcore': matmulcore,
    'in_place': in_place,
    'moving_mean': moving_mean,
    'several': several,
}
