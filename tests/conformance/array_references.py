# SPDX-License-Identifier: Apache-2.0
"""The functions that array_functions.py tests: how inputs are drawn, the result of NumPy or SciPy,
and how results are compared."""

import functools
import re

import numpy as np

import build
import cases
import judge

TABLE = cases.TABLE
SIZES = [0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33]


class Refused(Exception):
    """NumPy's error for a call, which the library must refuse too."""


class Function:
    """A function. `reference` computes the result of one item: of whole arrays if the function is
    elementwise, and otherwise of arrays with core dimensions only. `size` computes from absolute
    values the sum of the absolute values of the terms that are added for the result. `prepare`
    changes the drawn inputs, and `longest` is the greatest core size. A `mathematical` function
    calls exp or log, whose bits depend on the device. If only the output has a core dimension
    (`free`), `reference` receives its size after the inputs."""

    def __init__(self, name, reference, bound=None, either_zero=False, size=None, prepare=None,
                 longest=700, mathematical=False):
        self.name, self.reference, self.bound, self.size = name, reference, bound, size
        self.prepare, self.longest, self.mathematical = prepare, longest, mathematical
        self.either_zero = either_zero
        self.row = TABLE.function(name)
        self.elementwise = self.row.elementwise
        self.cores = [] if self.elementwise else [
            [dim for dim in operand.split(',') if dim]
            for operand in re.findall(r'\(([^)]*)\)', self.row.signature)
        ]
        self.core_of_output = bool(self.cores and self.cores[-1])
        used = {dim for operand in self.cores for dim in operand}
        self.one_core = len(used) == 1 and all(self.cores[:-1])
        self.free = self.cores[-1][0] if used and not any(self.cores[:-1]) else None

    def draw_letters(self, rng):
        """Returns the types of the inputs: those of a loop, or types that are cast to a loop's."""
        inputs, _ = rng.choice(self.row.loops)
        if any(letter in 'mM' for letter in inputs):
            unit = rng.choice(['s', 's', 'D', 'ns'])
            return [letter.replace('m', f'm8[{unit}]').replace('M', f'M8[{unit}]')
                    for letter in inputs]
        if rng.random() < 0.15 and len(set(inputs)) == 1 and len(inputs) == 1:
            return [rng.choice('?bBhHiIqQ')]
        return list(inputs)

    def draw_cores(self, rng):
        """Returns the core shape of each operand."""
        if self.elementwise:
            return [[] for _ in range(self.row.nin + 1)]
        draw = rng.random()
        drawn = [self.longest] if draw < 0.01 else [100, 129, 700] if draw < 0.05 else SIZES
        sizes = {dim: rng.choice(drawn)
                 for operand in self.cores for dim in operand}
        return [[int(dim) if dim.isdigit() else sizes[dim] for dim in operand]
                for operand in self.cores]

    def draw_values(self, nprng, letters, shapes, kind):
        drawn = [values_of(nprng, letter, shape, kind) for letter, shape in zip(letters, shapes)]
        return self.prepare(*drawn) if self.prepare else drawn

    def result_letter(self, letters, expected):
        if 'E' in letters and expected.dtype == np.float32:
            return 'E'
        return judge.letter_of(expected.dtype)

    def agrees(self, call, found):
        """Returns which elements of a result are within the bound."""
        expected = call.expected
        if self.bound is None:
            return judge.same_bits(as_stored(expected, call, found), found, self.either_zero)
        return self.bound(call, expected, found)


def as_stored(expected, call, found):
    """Rounds the expected values to the type of the output."""
    if call.letter == 'E':
        expected = build.from_bfloat16_bits(build.to_bfloat16_bits(expected))
    return expected.astype(found.dtype)


def values_of(nprng, letter, shape, kind):
    size = int(np.prod(shape, dtype=np.int64))
    dtype = {'E': 'f'}.get(letter, build.numpy_letter(letter))
    return build.random_values(nprng, dtype, size, kind).reshape(shape)


# ---- bounds of rounded results

def same_value(expected, found):
    return (found == expected) | (np.isnan(found) & np.isnan(expected))


def within(units):
    """Returns a bound: `units` units in the last place of the expected value, or of `scale(call)`
    if the function has cancellation."""

    def bound(call, expected, found):
        eps, tiny = judge.EPS[call.letter], judge.TINY[call.letter]
        size = np.abs(expected).astype(np.longdouble)
        apart = np.abs(found.astype(np.longdouble) - expected)
        near = apart <= units * (eps * size + tiny)
        return same_value(expected, found) | near | beyond(call, expected, found)

    return bound


def top_of(letter):
    """Returns the greatest finite value of a type."""
    return {'e': 65504.0, 'E': 3.3895e38}.get(letter) or np.finfo(letter).max


def beyond(call, expected, found):
    """Whether the expected value overflows in the type of the result."""
    wide = np.abs(expected) > top_of(call.letter)
    return wide & np.isinf(found) & (np.sign(found) == np.sign(expected))


# ---- softmax. The elements are shifted in the type of the loop, and exp, sum and log are computed
# in long double.

def shifted(x, keeps_infinity):
    x = x.astype({'e': 'f'}.get(x.dtype.char, x.dtype if x.dtype.kind == 'f' else 'd'))
    top = x.max() if x.size else x.dtype.type(-np.inf)
    if not keeps_infinity and not np.isfinite(top):
        top = x.dtype.type(0)
    return top, (x - top).astype(np.longdouble)


def in_result_type(x, result):
    kind = x.dtype if x.dtype.kind == 'f' else np.dtype('d')
    return np.asarray(result).astype(kind)


def softmax(x):
    _, powers = shifted(x, True)
    powers = np.exp(powers)
    return in_result_type(x, powers / powers.sum())


def log_softmax(x):
    _, difference = shifted(x, False)
    return in_result_type(x, difference - np.log(np.exp(difference).sum()))


def logsumexp(x):
    top, difference = shifted(x, False)
    return in_result_type(x, top + np.log(np.exp(difference).sum()))


def within_logarithm(call, expected, found):
    """A bound for logarithms of sums, which are near 0 if the sum is near 1."""
    eps = judge.EPS[call.letter]
    apart = np.abs(found.astype(np.longdouble) - expected)
    near = apart <= 8 * eps * np.maximum(np.abs(expected), 8)
    return same_value(expected, found) | near | beyond(call, expected, found)


# ---- functions of vectors

def tiny_or_not(x):
    """Scales half of the items so that squares of their elements underflow."""
    if x.ndim < 2 or x.dtype.kind not in 'fc':
        return [x]
    scale = np.sqrt(np.finfo(x.dtype).tiny) / 64
    scales = np.where(np.arange(x.shape[0]) % 2, scale, 1).astype(x.dtype)
    return [x * scales.reshape(-1, *[1] * (x.ndim - 1))]


def norm(x):
    """The norm in long double, in the type of NumPy's result."""
    wide = x.astype(np.clongdouble if x.dtype.kind == 'c' else np.longdouble)
    return np.asarray(np.linalg.norm(wide)).astype(np.linalg.norm(x[:1]).dtype)


def within_sum(call, expected, found):
    """A bound for sums: relative to the sum of the absolute values of the terms. A sum that may
    overflow can have any value, and a sum of terms that are not finite is not finite."""
    eps, tiny = judge.EPS[call.letter], judge.TINY[call.letter]
    apart = np.abs(found.astype(np.clongdouble) - expected)
    lost = ~(call.sizes < top_of(call.letter) / 2) & (np.isfinite(call.sizes) | ~np.isfinite(found))
    return (found == expected) | lost | (apart <= 24 * (eps * call.sizes + tiny))


def sizes_of_cross(x, y):
    x, y = np.broadcast_arrays(x, y)
    return x[[1, 2, 0]] * y[[2, 0, 1]] + x[[2, 0, 1]] * y[[1, 2, 0]]


def exact_unless(letters):
    def bound(call, expected, found):
        if call.letter in letters:
            return within_sum(call, expected, found)
        return judge.same_bits(expected.astype(found.dtype), found)

    return bound


def convolve(x, y):
    if x.dtype.kind == 'f' and x.dtype != np.float64:
        return np.convolve(x.astype('d'), y.astype('d'), 'valid').astype(x.dtype)
    return np.convolve(x, y, 'valid')


# ---- sorting

def repeat_few(x):
    """Replaces the elements of a long row by five of them, because a stable sort of equal elements
    is difficult."""
    n = x.shape[-1]
    return [x if n <= 1000 else x[..., (np.arange(n) ** 2 // 7) % 5]]


def sort_first(x, values):
    return [np.sort(x, -1), values]


def within_rows(x, k):
    """Makes k an index of a row, which may be negative."""
    n = max(x.shape[-1], 1)
    return [x, k % (2 * n) - n]


def is_partition(call, expected, found):
    """Whether each row is the sorted row, except for the order before and after element k."""
    axis = call.out_axis if call.moves else -1
    expected, found = (np.moveaxis(x, axis, -1) for x in (as_stored(expected, call, found), found))
    n = found.shape[-1]
    kth = np.broadcast_to(call.inputs[1], found.shape[:-1]) % max(n, 1)
    good = np.ones(found.shape, bool)
    for index in np.ndindex(found.shape[:-1]):
        k, row = kth[index], found[index]
        parts = [np.sort(row[:k]), row[k : k + 1], np.sort(row[k + 1 :])]
        good[index] = judge.same_bits(expected[index], np.concatenate(parts), True)
    return np.moveaxis(good, -1, axis)


def as_shares(x, q):
    """Makes q a number from 0 to 1."""
    size = np.abs(np.nan_to_num(q)) % 4
    return [x, np.where(size <= 1, size, np.where(size == 2, 0.5, size * 0.37 % 1))]


def as_percents(x, q):
    return [x, as_shares(x, q)[1] * 100]


def by_quantile(function):
    def reference(x, q):
        if not x.size:
            return np.asarray(np.nan, x.dtype)
        wide = x.astype('f') if x.dtype == np.float16 else x
        return np.asarray(function(wide, float(q))).astype(x.dtype)

    return reference


# ---- interpolation

def ascending_points(x, points, values):
    """Makes the points ascending and finite."""
    top = np.finfo(points.dtype).max / 4
    return [x, np.sort(np.clip(np.nan_to_num(points), -top, top), -1), values]


def interpolated(x, points, values, slope_of):
    last = points.size - 1
    left = np.clip(np.searchsorted(points, x, 'right') - 1, 0, max(last - 1, 0))
    right = np.minimum(left + 1, last)
    slope = slope_of(values[right] - values[left], points[right] - points[left])
    result = slope * (x - points[left]) + values[left]
    again = slope * (x - points[right]) + values[right]
    again = np.where(np.isnan(again) & (values[left] == values[right]), values[left], again)
    return np.select(
        [np.isnan(x) & (last > 0), x >= points[-1], x < points[0], points[left] == x,
         np.isnan(result)],
        [x, values[-1], values[0], values[left], again], result)


def interp(x, points, values):
    """NumPy computes in float64. The result in float32 is computed by NumPy's formula."""
    if x.dtype == np.float64:
        return np.interp(x, points, values)
    if not points.size:
        raise ValueError('array of sample points is empty')
    if values.dtype.kind != 'c':
        return interpolated(x, points, values, np.divide)
    result = np.empty(x.shape, 'F')
    result.real, result.imag = (
        interpolated(x, points, part, lambda rise, run: rise * (1 / run))
        for part in (values.real, values.imag)
    )
    result.imag[np.isnan(x) & (points.size > 1)] = 0
    return result


# ---- ranges

def in_float32(function):
    """Computes float16 in float32, and rounds the result."""

    def reference(x, y, n):
        if x.dtype != np.float16:
            return function(x, y, n)
        return function(x.astype('f'), y.astype('f'), n).astype('e')

    return reference


@in_float32
def linspace(start, stop, n):
    return np.linspace(start[()], stop[()], n)


@in_float32
def arange(start, step, n):
    """The formula of np.arange, whose arguments determine the number of elements."""
    if start.dtype.kind in 'fc':
        step = (start + step) - start
    index = np.arange(n)
    return start + (index if step.dtype.kind == 'm' else index.astype(step.dtype)) * step


def finite_bits(call, expected, found):
    """A bound for linspace and arange. Unlike NumPy, the library multiplies the parts of a complex
    number by a real one, which has a different result if a part is not finite."""
    expected = as_stored(expected, call, found)
    good = judge.same_bits(expected, found, True)
    return good | ~np.isfinite(expected) if found.dtype.kind == 'c' else good


FUNCTIONS = {function.name: function for function in (
    Function('clip', np._core.umath.clip, either_zero=True),
    Function('select', np.where),
    Function('softmax', softmax, within(16), mathematical=True),
    Function('log_softmax', log_softmax, within_logarithm, mathematical=True),
    Function('logsumexp', logsumexp, within_logarithm, mathematical=True),
    Function('cross', np.cross, exact_unless('eEFD'), size=sizes_of_cross),
    Function('norm', norm, within(16), prepare=tiny_or_not),
    Function('diff', np.diff),
    Function('convolve', convolve, exact_unless('eEfdFD'), size=convolve),
    Function('sort', lambda x: np.sort(x, kind='stable'), longest=30000,
             prepare=repeat_few),
    Function('argsort', lambda x: np.argsort(x, kind='stable'), longest=30000,
             prepare=repeat_few),
    Function('searchsorted', np.searchsorted, prepare=sort_first),
    Function('searchsorted_right', functools.partial(np.searchsorted, side='right'),
             prepare=sort_first),
    Function('median', np.median, either_zero=True),
    Function('interp', interp, prepare=ascending_points),
    Function('partition', lambda x, k: np.sort(x), is_partition, prepare=within_rows,
             longest=30000),
    Function('quantile', by_quantile(np.quantile), either_zero=True, prepare=as_shares),
    Function('percentile', by_quantile(np.percentile), either_zero=True, prepare=as_percents),
    Function('linspace', linspace, finite_bits),
    Function('arange', arange, finite_bits),
)}
