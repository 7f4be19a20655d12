# SPDX-License-Identifier: Apache-2.0
"""Makes three kinds of cases: errors that NumPy does not report or reports with other texts than
the library, floating-point flags by the rules of docs/fp-flags.md, and floating-point sums whose
result depends on the order in docs/reductions.md."""

import itertools

import numpy as np

from corpus_hand import Call, misplaced, swapped

DIVIDE, OVERFLOW, UNDERFLOW, INVALID, INTEGER_DIVIDE = (1 << k for k in range(5))
UNDERFLOWS = {'multiply', 'divide', 'reciprocal', 'square'}


def locked(array):
    array.flags.writeable = False
    return array


def refusals():
    one, two = np.ones(3), np.full(3, 2.0)
    missing = "no ufunc named 'ad'"
    yield Call('ad', one, two).fails('GUF_E_NOT_FOUND', missing)
    yield Call('discriminant:nothing', one).fails('GUF_E_NOT_FOUND')
    yield Call('add', one).fails('GUF_E_ARG')
    yield Call('add', one, two, one).fails('GUF_E_ARG')
    yield Call('add', one, two, out=[np.zeros(3), np.zeros(3)]).fails('GUF_E_ARG')
    text = 'output array is read-only'
    yield Call('add', one, two, out=[locked(np.zeros(3))]).fails('GUF_E_READ_ONLY', text)
    out = locked(np.zeros(1))[0]
    yield Call('add', one, method='reduce', out=[locked(np.array(out))]).fails('GUF_E_READ_ONLY')
    yield Call('add', one, method='accumulate', out=[locked(np.zeros(3))]).fails('GUF_E_READ_ONLY')
    where = [np.array([0, 1])]
    yield Call('add', locked(np.ones(3)), 1, method='at', indices=where).fails('GUF_E_READ_ONLY')
    yield Call('negative', one, out=[np.zeros(5)[1:4]]).returns(-one)
    stretched = np.lib.stride_tricks.as_strided(np.zeros(4), (3,), (0,))
    yield Call('add', one, two, out=[stretched]).fails('GUF_E_OVERLAP')
    overlapping = np.lib.stride_tricks.as_strided(np.zeros(8), (3, 3), (8, 8))
    yield Call('add', np.ones((3, 3)), two, out=[overlapping]).fails('GUF_E_OVERLAP')
    yield Call('add', one, two, dtype='M8[s]').fails('GUF_E_DTYPE')
    yield Call('add', one, two, signature=['d', 'd']).fails('GUF_E_ARG')
    yield Call('matmul', np.ones((2, 2)), np.ones((2, 2)), keepdims=True).fails('GUF_E_ARG')
    yield Call('add', one, two, axis=0).fails('GUF_E_ARG')
    yield Call('vecdot', one, two, where=np.array(True)).returns(np.float64(6))
    yield from refused_values()
    yield from refused_methods()


def refused_values():
    small = np.array([1, 2], 'b')
    for name, value in itertools.product(('add', 'maximum', 'multiply'), (128, -129, 2**70)):
        yield Call(name, small, value).fails_as(lambda: getattr(np, name)(small, value))
    base, text = np.array([2, 3, 4]), 'Integers to negative integer powers are not allowed.'
    yield Call('power', base, -1).fails('GUF_E_VALUE', text)
    yield Call('power', base, np.array([1, -1, 2]), out=[np.zeros(3, 'q')]).fails(
        'GUF_E_VALUE', text, written=True
    )
    yield Call('power', base, np.array([1, 0, 2])).returns(base ** np.array([1, 0, 2]))


def refused_methods():
    x, none = np.arange(6.0).reshape(2, 3), np.zeros((0, 3))
    for name in ('maximum', 'minimum', 'fmax'):
        yield Call(name, none, method='reduce').fails_as(lambda: getattr(np, name).reduce(none))
    mask = np.array([True, False, True])
    yield Call('maximum', x, method='reduce', where=mask).fails_as(
        lambda: np.maximum.reduce(x, where=mask)
    )
    yield Call('subtract', x, method='reduce', axis=[0, 1]).fails_as(
        lambda: np.subtract.reduce(x, axis=(0, 1))
    )
    for method in ('reduce', 'accumulate'):
        axis = [2] if method == 'reduce' else 2
        yield Call('add', x, method=method, axis=axis).fails_as(
            lambda: getattr(np.add, method)(x, axis=2)
        )
        yield Call('negative', x, method=method).fails_as(lambda: getattr(np.negative, method)(x))
    yield Call('add', x, method='reduce', axis=[0, 0]).fails('GUF_E_AXIS')
    yield Call('add', x, method='reduce', axis=[0, -2]).fails('GUF_E_AXIS')
    yield Call('add', np.float64(1), method='accumulate').fails('GUF_E_DTYPE')
    yield Call('matmul', x, method='reduce').fails('GUF_E_VALUE')
    for far in (3, -1, 2**40):
        index = np.array([0, far])
        yield Call('add', x, method='reduceat', indices=[index], axis=1).fails_as(
            lambda: np.add.reduceat(x, index, axis=1)
        )
    yield Call('add', x, method='reduceat', indices=[np.array([0.5])]).fails('GUF_E_CASTING')
    yield Call('add', x, method='reduceat', indices=[np.array([[0]])]).fails('GUF_E_SHAPE')
    yield Call('add', x.copy(), 1.0, method='at', indices=[np.array([2])]).fails_as(
        lambda: np.add.at(x.copy(), np.array([2]), 1.0)
    )
    yield Call('add', x.copy(), 1.0, method='at', indices=[np.array([0.5])]).fails('GUF_E_INDEX')
    yield Call('add', x.copy(), method='at', indices=[np.array([0])]).fails('GUF_E_VALUE')
    yield Call('negative', x.copy(), 1.0, method='at', indices=[np.array([0])]).fails('GUF_E_VALUE')
    yield Call('negative', x, method='outer').fails('GUF_E_VALUE')
    yield Call('matmul', x, x, method='outer').fails('GUF_E_DTYPE')


# ---- floating-point flags


def fp_flags_of(name, inputs, found):
    """Returns the flags by the rules of docs/fp-flags.md, for arrays of the loop's dtype."""
    wide = [np.broadcast_to(x, found.shape) for x in inputs]
    if found.dtype.kind not in 'fc':
        zero = wide[-1] == 0 if name in ('floor_divide', 'remainder') else np.False_
        return INTEGER_DIVIDE * bool(np.any(zero))
    finite = np.logical_and.reduce([np.isfinite(x) for x in wide])
    zero = np.logical_or.reduce([x == 0 for x in wide])
    strange = np.logical_or.reduce([np.isnan(x) for x in wide])
    bits = INVALID * bool((np.isnan(found) & ~strange).any())
    bits |= DIVIDE * bool((np.isinf(found) & finite & zero).any())
    bits |= OVERFLOW * bool((np.isinf(found) & finite & ~zero).any())
    tiny = np.abs(found) < np.finfo(found.dtype).tiny
    return bits | UNDERFLOW * bool(name in UNDERFLOWS and (tiny & finite & ~zero).any())


TEXTS = {
    DIVIDE: 'divide by zero encountered in ',
    OVERFLOW: 'overflow encountered in ',
    INVALID: 'invalid value encountered in ',
}


def fp_flags():
    for letter in 'fd':
        top, least = np.finfo(letter).max, np.finfo(letter).tiny
        values = [[1, 2], [0, 3], [np.inf, 1], [np.nan, 1], [top, top], [least, 3], [0, -0.0]]
        arrays = [np.array(v, letter) for v in values]
        for name in ('add', 'subtract', 'multiply', 'divide', 'maximum', 'less'):
            for a, b in itertools.product(arrays, arrays):
                if name in ('maximum', 'less', 'subtract') and a is not arrays[2]:
                    continue
                found = getattr(np, name)(a, b)
                if name == 'maximum' and (found == 0).any():
                    continue
                bits = fp_flags_of(name, [a, b], found)
                yield Call(name, a, b, fp_report=True).returns(found, fp_flags=bits)
        for name, x in itertools.product(('sqrt', 'square', 'reciprocal', 'negative'), arrays):
            x = -x if name == 'sqrt' else x
            found = getattr(np, name)(x)
            bits = fp_flags_of(name, [x], found)
            yield Call(name, x, fp_report=True).returns(found, fp_flags=bits)
    for letter in 'bhiqBHIQ':
        x, y = np.array([7, 8, 9], letter), np.array([2, 0, 3], letter)
        for name, other in itertools.product(('floor_divide', 'remainder', 'add'), (y, y[::2])):
            wide = x[: other.size]
            found = getattr(np, name)(wide, other)
            bits = fp_flags_of(name, [wide, other], found)
            yield Call(name, wide, other, fp_report=True).returns(found, fp_flags=bits)
    yield from failing_fp_flags()


def failing_fp_flags():
    one, zero, mask = np.ones(2), np.array([0.0, 1.0]), np.array([False, True])
    big = np.array([1e308, 1.0])
    for bit, name, inputs in (
        (DIVIDE, 'divide', (one, zero)),
        (INVALID, 'divide', (zero, zero)),
        (OVERFLOW, 'multiply', (big, big)),
    ):
        text = TEXTS[bit] + name
        yield Call(name, *inputs, fp_fail=bit).fails('GUF_E_FLOATING_POINT', text)
        yield Call(name, *inputs, fp_fail=bit, out=[np.zeros(2)]).fails(
            'GUF_E_FLOATING_POINT', text, written=True
        )
        found = getattr(np, name)(*inputs)
        other = 31 & ~bit
        if not fp_flags_of(name, inputs, found) & other:
            yield Call(name, *inputs, fp_fail=other).returns(found)
        yield Call(name, *inputs, fp_fail=bit, where=mask).returns(np.where(mask, found, 0))
    x = np.array([2.0, 0.0, 3.0])
    yield Call('divide', x, method='reduce', fp_fail=DIVIDE).fails('GUF_E_FLOATING_POINT')
    yield Call('divide', x, method='accumulate', fp_report=True).returns(
        np.divide.accumulate(x), fp_flags=DIVIDE
    )
    yield Call('multiply', x, method='reduce', fp_fail=OVERFLOW).returns(np.float64(0))


# ---- sums that round


def sums():
    """Yields sums of positive numbers. The error of a tree sum of n numbers is at most 2 (log2 n +
    1) roundings."""
    for letter, n in itertools.product('fd', (2, 7, 100, 128, 129, 300, 1000)):
        x = ((np.arange(n) * 37 % 101 + 1) / 7).astype(letter)
        ulp = 2 * (int(n).bit_length() + 1)
        true = x.astype(np.longdouble).sum().astype(letter)
        yield Call('add', x, method='reduce').returns(true, ulp=ulp)
        yield Call('add', x[::-1], method='reduce', axis='all').returns(true, ulp=ulp)
        for odd in (misplaced, swapped):
            yield Call('add', odd(x), method='reduce', keepdims=True).returns([true], ulp=ulp)
        both = np.stack([x, x * 2], axis=1)
        pair = both.astype(np.longdouble).sum(axis=0).astype(letter)
        yield Call('add', both, method='reduce').returns(pair, ulp=ulp)
        yield Call('add', both.T, method='reduce', axis=[-1]).returns(pair, ulp=ulp)
        steps = np.add.accumulate(x.astype(np.longdouble)).astype(letter)
        yield Call('add', x, method='accumulate').returns(steps, ulp=n)


GROUPS = {'refusals': refusals, 'fp_flags': fp_flags, 'sums': sums}
