# SPDX-License-Identifier: Apache-2.0
"""Computes the permitted results of methods whose rounding is not fixed. Sums and products have
error bounds around the long double result. Left folds are compared with a sequence of the library's
own calls.
"""

import numpy as np

import abi
import build
from casts import in_range
from judge import EPS, TINY, letter_of
from method_build import axis_of, index_array, initial_of, numpy_method


def letter_in(case, loop):
    return 'E' if build.is_bfloat16(case) else letter_of(loop)


def wide_inputs(case, loop):
    memory = build.Memory(case)
    source = build.value(memory, case['inputs'][0])
    if build.is_bfloat16(case):
        source = build.from_bfloat16_bits(source)
    return memory, np.asarray(source).astype(loop)


def wide_initial(case, loop):
    """Returns `initial` in the loop's dtype as a keyword of NumPy's method."""
    initial = initial_of(case, None)
    if initial is None:
        return {}
    return {'initial': np.asarray(initial).astype(loop)}


def fold(case, function, values, memory, initial):
    """Runs the method in long double, with `initial` instead of the case's initial value."""
    plain = {k: v for k, v in case.items() if k not in ('initial', 'dtype')}
    if case['method'] == 'reduce':
        options = {'axis': axis_of(case), 'keepdims': bool(case.get('keepdims'))}
        if case.get('where'):
            options['where'] = memory.view(case['where'])
        return np.asarray(function.reduce(values, **options, **initial))
    return np.asarray(numpy_method(plain, function, [values], None, memory))


def longest_fold(case):
    """Returns the largest number of elements that are combined in one result."""
    shape = case['inputs'][0].get('shape', [])
    if not shape:
        return 2
    axis = axis_of(case)
    if axis is None:
        axes = range(len(shape))
    else:
        axes = [axis] if isinstance(axis, int) else axis
    return 1 + int(np.prod([shape[a] for a in axes], dtype=np.int64))


def sums_and_products(case, theirs, found, loop):
    memory, values = wide_inputs(case, loop)
    n = max(longest_fold(case), 2)
    letter = letter_in(case, loop)
    strict = case['method'] == 'accumulate' and n <= 257 and letter in 'fdFD'
    if case['op'] == 'add':
        if strict:
            return np.zeros(found.shape, bool)
        return within_sum(case, memory, values, loop, found, letter, n)
    if strict and loop.kind == 'f':
        return np.zeros(found.shape, bool)
    return within_product(case, memory, values, loop, found, letter, n)


def parts(case, array):
    return [array.real, array.imag] if array.dtype.kind == 'c' else [array]


def largest(letter):
    return {'e': 65504.0, 'E': 3.39e38}.get(letter) or np.finfo(letter.lower()).max


def roundings(case, n):
    """Returns the permitted error of a sum in units of sum|x|. For reduce the error is proportional
    to the depth of the tree. For accumulate it is 256 for each level of tiles, because each tile
    combines up to 256 elements from left to right."""
    if case['method'] == 'accumulate':
        return 256 * np.ceil(np.log(n) / np.log(256))
    return 2 * (np.log2(n) + 1)


def within_sum(case, memory, values, loop, found, letter, n):
    initial = wide_initial(case, loop)
    pieces = parts(case, values)
    starts = [
        {k: np.longdouble(getattr(v, p)) for k, v in initial.items()} for p in ('real', 'imag')
    ]
    good, bound = np.ones(found.shape, bool), roundings(case, n) * EPS[letter] / 2
    for piece, start, answer in zip(pieces, starts, parts(case, found)):
        wide = piece.astype(np.longdouble)
        truth = fold(case, np.add, wide, memory, start)
        scale = fold(case, np.add, size_of(wide), memory, {k: size_of(v) for k, v in start.items()})
        good &= near(answer, truth, scale * bound, scale, letter)
    return good


def size_of(values):
    """Returns |x|, or 0 for non-finite values, because such values determine the sum in every
    order."""
    return np.abs(np.where(np.isfinite(values), values, 0))


def near(answer, truth, limit, scale, letter):
    """Returns which results differ from the exact ones by at most the limit plus the rounding to
    the output's dtype. Results that overflow are accepted, because overflow depends on the order of
    the reduction."""
    if answer.dtype.kind == 'b':
        return (answer == (truth != 0)) | (np.abs(truth) <= limit)
    out = letter_of(answer.dtype)
    eps, tiny = EPS.get(out, 0), max(TINY.get(out, 0), TINY[letter])
    with np.errstate(all='ignore'):
        error = np.abs(answer.astype(np.longdouble) - truth)
        same = (answer == truth.astype(answer.dtype)) | (np.isnan(answer) & np.isnan(truth))
        eps = max(eps, EPS[letter] if letter in 'eE' else 0)
        tolerance = limit + np.abs(truth) * eps + 2 * tiny
        top = min(largest(letter), largest(out)) if out in EPS else largest(letter)
        overflow = scale >= top * 0.99
        tolerance = tolerance + (answer.dtype.kind in 'iu')  # a small error can change a truncated
                                                             # integer by 1
        zeros = (answer == 0) & (truth == 0) & (np.signbit(answer) != np.signbit(truth))
    return (same | (error <= tolerance) | overflow) & ~zeros


def within_product(case, memory, values, loop, found, letter, n):
    initial = wide_initial(case, loop)
    wide = values.astype(np.clongdouble if loop.kind == 'c' else np.longdouble)
    size = np.abs(wide)
    start = np.abs(initial['initial'].astype(wide.dtype)) if initial else None
    truth = fold(case, np.multiply, wide, memory, initial)

    def product(of):
        return fold(case, np.multiply, of(size), memory, {'initial': of(start)} if initial else {})

    with np.errstate(all='ignore'):
        high = product(lambda x: np.maximum(np.where(np.isfinite(x), x, 1), 1))
        low = product(lambda x: np.minimum(np.where(x > 0, x, 1), 1))
        scale = np.abs(truth)
        smallest = TINY[letter] / EPS[letter]
        # If partial products overflow or lose bits below the normal range, the result depends on
        # their order.
        free = (high >= largest(letter) * 0.5) | (low <= smallest * 4)
        if found.dtype.kind == 'b':
            return free | (found == (truth != 0))
        if loop.kind == 'c':
            free |= ~np.isfinite(scale) & ~np.isfinite(found)
            bound, answer = 4 * n, found.astype(np.clongdouble)
        else:
            bound, answer = n, found.astype(np.longdouble)
        if found.dtype.kind != 'c':
            truth = truth.real
        out = letter_of(found.dtype)
        tolerance = bound * EPS[letter] / 2 * scale + scale * max(
            EPS.get(out, 0), EPS[letter] if letter in 'eE' else 0
        )
        tolerance = tolerance + TINY.get(out, 0) * 2 + (found.dtype.kind in 'iu')
        same = (found == truth.astype(found.dtype)) | (np.isnan(found) & np.isnan(truth))
        overflow = (scale * 1.01 >= largest(out)) & ~np.isfinite(found) if out in EPS else False
        return free | same | (np.abs(answer - truth) <= tolerance) | overflow


def left_fold(case, loop, library, shape):
    """Runs the method as a sequence of the library's elementwise calls in the loop's dtype."""
    chain = {'reduce': fold_left, 'accumulate': scan_left, 'reduceat': stretches, 'at': one_by_one}
    result = chain[case['method']](case, loop, library)
    if build.is_bfloat16(case):
        result = build.from_bfloat16_bits(result)
    if result.size == np.prod(shape):
        return result.reshape(shape)
    return np.broadcast_to(result, shape)  # the output can be larger than the method's result


class Chain:
    """Computes acc = acc op x with the library, in the loop's dtype."""

    def __init__(self, case, loop, library):
        self.name, self.library, self.narrow = case['op'], library, build.is_bfloat16(case)
        memory = build.Memory(case)
        source = build.value(memory, case['inputs'][0]) if case['inputs'] else None
        self.memory, self.loop = memory, np.dtype(np.uint16) if self.narrow else loop
        self.values = None if source is None else np.asarray(source).astype(self.loop)

    def step(self, left, *right):
        wrap = abi.BFloat16 if self.narrow else (lambda x: x)
        inputs = [wrap(np.array(x, self.loop)) for x in (left, *right)]
        return self.library.call(self.name, inputs, [None])[0][1]


def axis_last(case, values):
    axis = axis_of(case)
    if axis is None or isinstance(axis, tuple):
        axes = range(values.ndim) if axis is None else axis
        axes = [a % values.ndim for a in axes]
        if not axes:
            return values[..., None]
        rest = [a for a in range(values.ndim) if a not in axes]
        transposed = values.transpose(rest + sorted(axes))
        return transposed.reshape([values.shape[a] for a in rest] + [-1])
    return np.moveaxis(values, axis, -1) if values.ndim else values[..., None]


def fold_left(case, loop, library):
    chain = Chain(case, loop, library)
    values = axis_last(case, chain.values)
    mask = np.broadcast_to(np.bool_(True), chain.values.shape)
    if case.get('where'):
        mask = np.broadcast_to(chain.memory.view(case['where']), chain.values.shape)
    mask = axis_last(case, mask)
    start = wide_initial(case, chain.loop)
    first = 0
    if start:
        acc = np.broadcast_to(start['initial'], values.shape[:-1])
    else:
        acc, first = values[..., 0], 1
    for i in range(first, values.shape[-1]):
        acc = np.where(mask[..., i], chain.step(acc, values[..., i]), acc)
    return np.asarray(acc)


def scan_left(case, loop, library):
    chain = Chain(case, loop, library)
    values = axis_last(case, chain.values)
    out = np.array(values)
    for i in range(1, values.shape[-1]):
        out[..., i] = chain.step(out[..., i - 1], values[..., i])
    return np.moveaxis(out, -1, case['axis'])


def stretches(case, loop, library):
    chain = Chain(case, loop, library)
    values = axis_last(case, chain.values)
    indices = index_array(case['indices'][0]).astype(np.int64)
    out = np.empty((*values.shape[:-1], len(indices)), chain.loop)
    for k, begin in enumerate(indices):
        end = indices[k + 1] if k + 1 < len(indices) else values.shape[-1]
        acc = values[..., begin]
        for i in range(begin + 1, end):
            acc = chain.step(acc, values[..., i])
        out[..., k] = acc
    return np.moveaxis(out, -1, case['axis'])


def one_by_one(case, loop, library, chain_of=Chain):
    """Runs `at`: applies the function for each index in order, and writes each result in the
    array's dtype."""
    chain = chain_of(case, loop, library)
    array = np.array(chain.memory.view(case['output']))
    indices = tuple(index_array(spec).astype(np.int64) for spec in case['indices'])
    places = np.broadcast_arrays(*indices)
    rest = array.shape[len(indices) :]
    common = places[0].shape if places else ()
    operand = None
    if chain.values is not None:
        operand = np.broadcast_to(chain.values, (*common, *rest))
    with np.errstate(all='ignore'):
        for hit in np.ndindex(*common):
            here = tuple(int(p[hit]) for p in places)
            right = () if operand is None else (operand[hit],)
            array[here] = chain.step(array[here].astype(chain.loop), *right).astype(array.dtype)
    return array


def hits_held(case, loop):
    """Simulates `at` on an integer array with a float loop in NumPy, index by index. Returns
    whether the array's dtype can represent every intermediate result, and the final array."""
    held = True

    class NumpyChain(Chain):
        def step(self, left, *right):
            nonlocal held
            result = getattr(np, self.name)(*(np.asarray(x, self.loop) for x in (left, *right)))
            held = held and bool(np.all(in_range(array_dtype, result)))
            return result

    array_dtype = build.Memory(case).view(case['output']).dtype
    result = one_by_one(case, loop, None, NumpyChain)
    return held, result
