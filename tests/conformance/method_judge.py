# SPDX-License-Identifier: Apache-2.0
"""Compares a method of the library with NumPy's. Integers, bools, extremes, left folds and
accumulations must be equal bit by bit. The error of sums must be at most 2(log2 n + 1) u sum|x|,
and the error of products at most n u times the exact value, which NumPy computes in long double. A
left fold with a function that rounds must have the result of the equivalent sequence of elementwise
calls of the library.

The rounding of some methods is not fixed. Sums and products have error bounds around the long
double result. Left folds are compared with a sequence of the library's own calls."""

import numpy as np

import abi
import build
import casts
import fp_flag_judge
import judge
import tally
from build import axis_of, index_array, initial_of, numpy_dtype, numpy_method
from casts import in_range
from judge import EPS, TINY, Outcome, letter_of


def run_numpy(case):
    def call_with(memory):
        function = getattr(np, case['op'])
        return lambda inputs, out: numpy_method(case, function, inputs, out, memory)

    return judge.numpy_outcome(case, call_with)


def run_library(case, library):
    memory = build.Memory(case, guarded=True)
    inputs = [build.library_value(memory, spec, case) for spec in case['inputs']]
    out = build.value(memory, case['output']) if case['output'] else None
    options = {'dtype': case.get('dtype'), 'threads': case.get('threads') or 0}
    method = case['method']
    if case.get('fp_flags'):
        options['report'] = fp_flag_judge.ALL
    if case.get('where'):
        options['where'] = memory.view(case['where'])
    try:
        if method == 'reduce':
            if 'axis' in case:
                options['axis'] = axis_of(case)
            result = library.reduce(
                case['op'],
                inputs[0],
                out,
                initial=initial_of(case, abi.ABSENT),
                keepdims=case.get('keepdims'),
                **options,
            )
        elif method == 'accumulate':
            result = library.accumulate(case['op'], inputs[0], out, axis=case['axis'], **options)
        elif method == 'reduceat':
            indices = index_array(case['indices'][0])
            result = library.reduceat(
                case['op'], inputs[0], indices, out, axis=case['axis'], **options
            )
        elif method == 'outer':
            result = library.outer(case['op'], inputs, out, order=case['order'], **options)
        else:
            indices = [index_array(spec) for spec in case['indices']]
            del options['dtype']
            result = library.at(case['op'], out, indices, *inputs, **options)
    except abi.GufuncError as error:
        return Outcome(memory, error=error, text=str(error))
    fp_flags = library.fp_flags.value if case.get('fp_flags') else 0
    if out is not None:
        return Outcome(memory, out, letter_of(out.dtype), out.strides, fp_flags=fp_flags)
    letter, array, strides = result
    return Outcome(memory, array, letter, strides, fp_flags=fp_flags)


def same_class(numpy_error, status):
    kind, text = status // 100, str(numpy_error)
    if isinstance(numpy_error, RuntimeError) and 'signature' in text:
        return kind == 3  # a method of a ufunc that has core dimensions
    if "duplicate value in 'axis'" in text:
        return kind == 5
    if 'too large to convert' in text and kind == 5:
        return True  # NumPy fails to parse this axis
    if isinstance(numpy_error, IndexError) and not isinstance(numpy_error, ValueError):
        return kind == 4 or ('shape mismatch' in text and kind == 3)
    return judge.same_class(numpy_error, status)


def error_difference(case, theirs, ours):
    if not theirs.error and longer_output(case) and ours.error.status // 100 == 3:
        return None  # NumPy accepts outputs of other shapes if axes have extent 1
    return judge.error_difference(case, theirs, ours, same_class)


def longer_output(case):
    """Returns whether the output of accumulate or reduceat and the result have different shapes."""
    if case['method'] not in ('accumulate', 'reduceat') or not case['output']:
        return False
    shape, axis = list(case['inputs'][0].get('shape', [])), case['axis']
    if case['method'] == 'reduceat' and shape:
        shape[axis] = len(case['indices'][0]['values'])
    return case['output']['shape'] != shape


def difference(case, library):
    """Returns None, or one sentence that describes the difference from NumPy."""
    theirs, ours = run_numpy(case), run_library(case, library)
    if (theirs.error or ours.error) and open_power(case):
        return None
    if theirs.error or ours.error:
        return error_difference(case, theirs, ours)
    if theirs.letter != ours.letter:
        return f'dtype: NumPy {theirs.letter}, ours {ours.letter}'
    if theirs.output.shape != ours.output.shape:
        return f'shape: NumPy {theirs.output.shape}, ours {ours.output.shape}'
    tally.count_axes(case)
    tally.count_overlap(case, ours)
    tally.count_big(case, library)
    plain = flat(case) if case['method'] == 'outer' else case
    layout = judge.layout_difference(plain, theirs, ours)
    untouched = judge.untouched_difference(plain, theirs, ours)
    if layout or untouched:
        return layout or untouched
    if case['method'] == 'outer':
        return judge.value_difference(plain, theirs, ours) or fp_flag_judge.difference(
            case, theirs, ours, judge.loop_dtypes
        )
    return value_difference(case, theirs, ours, library) or fp_flag_judge.method_difference(
        case, theirs, ours, loop_dtype
    )


def flat(case):
    """Returns the elementwise call that is equivalent to an `outer`. The first input gets as many
    additional last axes of extent 1 as the second input has axes."""
    more = len(case['inputs'][1].get('shape', []))
    first = dict(case['inputs'][0])
    if 'shape' in first:
        first.update(shape=first['shape'] + [1] * more, strides=first['strides'] + [0] * more)
    return {**case, 'inputs': [first, case['inputs'][1]]}


def open_power(case):
    """Returns whether an integer loop of power cannot represent a float input. The result of the
    method is then undefined.
    """
    return case['op'] == 'power' and not inputs_fit(case, loop_dtype(case))


def loop_dtype(case):
    """Returns the dtype in which the method computes, or None if there is no loop."""
    if build.is_bfloat16(case):
        return np.dtype('f')
    memory = build.Memory(case)
    function = getattr(np, case['op'])
    inputs = [build.value(memory, spec) for spec in case['inputs']]
    try:
        if case['method'] == 'at':
            types = [memory.view(case['output']).dtype] + [x.dtype for x in inputs] + [None]
            return function.resolve_dtypes(tuple(types), casting='unsafe')[0]
        if case['method'] == 'outer':
            return None
        out = memory.view(case['output']).dtype if case['output'] else None
        expected = numpy_dtype(case)
        source = inputs[0].dtype
        if expected is None and out is None and case['op'] in ('add', 'multiply'):
            if source.kind in 'biu':
                expected = np.dtype('L' if source.kind == 'u' else 'l')
        options = {} if expected is None else {'signature': (expected, None, None)}
        types = (out or source, source, None)
        return function.resolve_dtypes(types, casting='unsafe', reduction=True, **options)[0]
    except (TypeError, ValueError):
        return None


def inputs_fit(case, dtype):
    """Returns whether the loop's integers can represent every operand. Otherwise NumPy's cast is
    undefined.
    """
    if dtype is None or build.is_bfloat16(case):
        return True
    memory = build.Memory(case)
    views = [build.value(memory, spec) for spec in case['inputs']]
    if isinstance(case.get('initial'), dict):
        views.append(build.value(memory, case['initial']))
    if case['method'] == 'at':
        views.append(memory.view(case['output']))
    return all(casts.in_range(dtype, np.asarray(x)).all() for x in views)


def value_difference(case, theirs, ours, library):
    exact, found = theirs.output, ours.output
    if theirs.letter == 'E':
        found = build.from_bfloat16_bits(found)
        exact = build.from_bfloat16_bits(build.to_bfloat16_bits(exact))
    else:
        exact = exact.astype(exact.dtype.newbyteorder('='))
        found = found.astype(found.dtype.newbyteorder('='))
    good = judge.same_bits(exact, found, case['op'] in judge.EITHER_ZERO)
    if case['op'] in judge.EITHER_ZERO and found.dtype.kind == 'c':
        good = good | (np.isnan(exact) & np.isnan(found))  # which NaN comes first depends on the
                                                           # order of the reduction
    if good.all():
        return None
    loop = loop_dtype(case)
    if loop is None:
        return 'the judge knows no loop'
    good = good | casts.elements_of_method(case, loop, found.shape)
    if good.all():
        return None
    for may_differ in allowances(case, found, loop):
        good = good | may_differ(case, theirs, found, loop, library)
        if good.all():
            return None
    where = tuple(int(i) for i in np.argwhere(~good)[0])
    count = int((~good).sum())
    return f'{count} values, first at {where}: NumPy {exact[where]!r}, ours {found[where]!r}'


# Each function below handles one reason why an element of the library's result may differ from
# NumPy's, and returns which elements are valid for this reason.


def allowances(case, found, loop):
    if loop.kind in 'fc' and case['method'] == 'at' and found.dtype.kind in 'iu':
        return [hits_out_of_range]
    inexact = [rounded_in_another_order, parts_of_nan_lost, whole_out_of_range]
    return [partial_results_of_another_type, *(inexact if loop.kind in 'fc' else [])]


def hits_out_of_range(case, theirs, found, loop, library):
    """`at` may apply a float loop to an integer array. The result for a float that the integer
    dtype cannot represent is undefined."""
    held, result = hits_held(case, loop)
    return (found == result) if held else True


def partial_results_of_another_type(case, theirs, found, loop, library):
    """NumPy stores partial results in the output's dtype. The library reduces all elements in the
    loop's dtype and then casts the result.
    """
    if case['method'] != 'reduce' or found.dtype == loop:
        return False
    with np.errstate(all='ignore'):
        whole = before_cast(case, loop).astype(found.dtype)
    return judge.same_bits(whole, found, case['op'] in judge.EITHER_ZERO)


def rounded_in_another_order(case, theirs, found, loop, library):
    """Sums, products and other rounded reductions along a tree must be within their error bounds.
    All other reductions must be equal to left folds."""
    if is_sum_or_product(case):
        return sums_and_products(case, theirs, found, loop)
    if is_rounded_tree(case):
        return within_tree(case, loop, found)
    with np.errstate(all='ignore'):
        whole = left_fold(case, loop, library, found.shape).astype(found.dtype)
    return judge.same_bits(whole, found)


def parts_of_nan_lost(case, theirs, found, loop, library):
    """A real output keeps only the real part of a complex result. Which parts of a NaN result are
    NaN depends on the order of the reduction."""
    if loop.kind != 'c' or found.dtype.kind == 'c':
        return False
    return np.isnan(whole_result(case, found, loop, library))


def whole_out_of_range(case, theirs, found, loop, library):
    """The cast of a float to an integer dtype is undefined if the dtype cannot represent it."""
    return ~casts.in_range(found.dtype, whole_result(case, found, loop, library))


def whole_result(case, found, loop, library):
    """Returns the result in the loop's dtype: NumPy's result, or the left fold of the library's
    calls."""
    if is_sum_or_product(case) or is_rounded_tree(case):
        return before_cast(case, loop)
    return left_fold(case, loop, library, found.shape)


def is_fold(case):
    return case['method'] in ('reduce', 'reduceat', 'accumulate')


def is_sum_or_product(case):
    return is_fold(case) and case['op'] in ('add', 'multiply')


def is_rounded_tree(case):
    return is_fold(case) and case['op'] in ('hypot', 'logaddexp', 'logaddexp2')


def before_cast(case, loop):
    """Returns NumPy's result in the loop's dtype, before the cast to the output's dtype."""
    memory = build.Memory(case)
    inputs = [build.value(memory, spec) for spec in case['inputs']]
    plain = {**case, 'dtype': letter_of(loop).split('[')[0]}  # the dtype without its unit
    if case['method'] == 'at':
        out = memory.view(case['output']).astype(loop)
        return numpy_method(plain, getattr(np, case['op']), inputs, out, memory)
    return np.asarray(numpy_method(plain, getattr(np, case['op']), inputs, None, memory))


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


def within_tree(case, loop, found):
    """Returns which results of hypot, logaddexp and logaddexp2 are within the error bound. Each
    step rounds a number that is at most the greatest magnitude of the elements, times or plus a
    function of their count."""
    memory, values = wide_inputs(case, loop)
    n, letter = max(longest_fold(case), 2), letter_in(case, loop)
    initial = {k: np.longdouble(v) for k, v in wide_initial(case, loop).items()}
    wide = values.astype(np.longdouble)
    truth = fold(case, getattr(np, case['op']), wide, memory, initial)
    scale = np.abs(truth)
    if case['op'] != 'hypot':
        start = {'initial': size_of(initial.get('initial', np.longdouble(0)))}
        scale = fold(case, np.maximum, size_of(wide), memory, start) + np.log2(n)
    return near(parts(case, found)[0], truth, scale * n * EPS[letter], scale, letter)


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
