# SPDX-License-Identifier: Apache-2.0
"""Compares a method of the library with NumPy's. Integers, bools, extremes, left folds and
accumulations must be equal bit by bit. The error of sums must be at most 2(log2 n + 1) u sum|x|,
and the error of products at most n u times the exact value, which NumPy computes in long double. A
left fold with a function that rounds must have the result of the equivalent sequence of elementwise
calls of the library."""

import numpy as np

import abi
import abi_methods
import build
import casts
import fp_flag_judge
import judge
import tally
from judge import Outcome, letter_of
from method_build import axis_of, index_array, initial_of, numpy_dtype, numpy_method
from method_truth import hits_held, left_fold, sums_and_products


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
                initial=initial_of(case, abi_methods.ABSENT),
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


# Each function below is about one reason why an element of the library's result may differ from
# NumPy's. The function returns which elements are valid for this reason.


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
    """Sums and products must be within their error bounds. All other reductions must be equal to
    left folds."""
    if is_sum_or_product(case):
        return sums_and_products(case, theirs, found, loop)
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
    if is_sum_or_product(case):
        return before_cast(case, loop)
    return left_fold(case, loop, library, found.shape)


def is_sum_or_product(case):
    folds = case['method'] in ('reduce', 'reduceat', 'accumulate')
    return folds and case['op'] in ('add', 'multiply')


def before_cast(case, loop):
    """Returns NumPy's result in the loop's dtype, before the cast to the output's dtype."""
    memory = build.Memory(case)
    inputs = [build.value(memory, spec) for spec in case['inputs']]
    plain = {**case, 'dtype': letter_of(loop).split('[')[0]}  # the dtype without its unit
    if case['method'] == 'at':
        out = memory.view(case['output']).astype(loop)
        return numpy_method(plain, getattr(np, case['op']), inputs, out, memory)
    return np.asarray(numpy_method(plain, getattr(np, case['op']), inputs, None, memory))
