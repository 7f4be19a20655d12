# SPDX-License-Identifier: Apache-2.0
"""Decides whether the library and NumPy agree. The dtype, the shape, the class of an error and the
bytes outside outputs must be equal. Integers, bools, comparisons and real + - * / sqrt must be
equal bit by bit, except that all NaNs are equal. Transcendental functions must be within their
error bound of the exact value (long double), complex results within 4 ULP of |z|, and matrix
products within the error bound of their sums."""

import numpy as np

import abi
import bfloat16_neighbors
import build
import cases
import casts
import complex_truth
import fp_flag_judge
import keyword_cases
import tally
import time_cases
from casts import in_range, loop_dtypes
from error_texts import text_difference
from numpy_ufuncs import numpy_function

ROUNDED_COMPLEX = {
    'multiply',
    'divide',
    'true_divide',
    'reciprocal',
    'square',
    'sqrt',
    'sign',
    'absolute',
}
EITHER_ZERO = {'maximum', 'minimum', 'fmax', 'fmin'}
POWERS = {'power', 'float_power'}
BAR = {'e': 1.0, 'E': 1.0, 'f': 2.0, 'd': 1.0, 'F': 4.0, 'D': 4.0}
EPS = {'e': 2.0**-10, 'E': 2.0**-7, 'f': 2.0**-23, 'd': 2.0**-52, 'F': 2.0**-23, 'D': 2.0**-52}
TINY = {
    'e': 2.0**-24,
    'E': 2.0**-133,
    'f': 2.0**-149,
    'd': 2.0**-1074,
    'F': 2.0**-149,
    'D': 2.0**-1074,
}


letter_of = abi.letter_of


def bits(array):
    """Returns datetime types as int64, because not-a-time is not equal to itself."""
    if array.dtype.kind not in 'mM':
        return array
    return array.view(np.dtype('i8').newbyteorder(array.dtype.byteorder))


class Outcome:
    """The outcome of a case in NumPy or in the library: an error, or an output with the memory
    after the call."""

    def __init__(
        self, memory, output=None, letter=None, strides=None, error=None, text='', fp_flags=0
    ):
        self.memory, self.output, self.letter, self.strides = memory, output, letter, strides
        self.error, self.text, self.fp_flags = error, text, fp_flags


def numpy_outcome(case, call_with):
    """Runs a case in NumPy. call_with(memory) returns the function that makes the call. The
    function's arguments are the inputs and the output."""
    memory = build.Memory(case)
    call = call_with(memory)
    narrow = build.is_bfloat16(case)
    inputs = [build.value(memory, spec) for spec in case['inputs']]
    if narrow:
        inputs = [build.from_bfloat16_bits(x) for x in inputs]
    out = build.value(memory, case['output']) if case['output'] else None
    inputs = [build.apart(case, x, out) for x in inputs]
    fp_flags = fp_flag_judge.Noted(case.get('fp_flags'))
    try:
        with fp_flags:
            result = call(inputs, out)
    except Exception as error:  # noqa: BLE001 - its class is compared
        if isinstance(error, SystemError) and error.__cause__:
            error = error.__cause__  # the loop failed after NumPy had reported flags
        return Outcome(memory, error=error, text=str(error))
    result = np.asarray(result) if out is None else out
    letter = letter_of(result.dtype)
    if narrow and letter == 'f':
        letter = 'E'
    return Outcome(memory, result, letter, result.strides, fp_flags=fp_flags.found)


# Functions for which NumPy 2.4 writes wrong values to an output with gaps.
WRONG_IN_STRIDED_OUTPUTS = {'isfinite', 'isinf', 'isnan', 'signbit'}


def run_numpy(case):
    def call_with(memory):
        options = {'order': case['order'], 'casting': case['casting'] or 'same_kind'}
        if case.get('dtype'):
            options['dtype'] = np.dtype(build.numpy_letter(case['dtype']))
        options |= keyword_cases.type_options(case) | keyword_cases.axes_options(case)

        def call(inputs, out):
            if case['op'] in bfloat16_neighbors.FUNCTIONS and build.is_bfloat16(case):
                return bfloat16_neighbors.FUNCTIONS[case['op']](*inputs)
            function = numpy_function(case['op'])
            masked = build.mask_option(case, memory, out)
            repeated = case['op'] in WRONG_IN_STRIDED_OUTPUTS and out is not None
            unchanged = [x.copy() if hasattr(x, 'copy') else x for x in repeated * inputs]
            result = function(*inputs, out=out, **options, **masked)
            if repeated and out.dtype == bool:
                np.copyto(out, function(*unchanged, **options), where=masked.get('where', True))
            return result

        return call

    return numpy_outcome(case, call_with)


def run_library(case, library):
    memory = build.Memory(case, guarded=True)
    inputs = [build.library_value(memory, spec, case) for spec in case['inputs']]
    out = build.value(memory, case['output']) if case['output'] else None
    where = memory.view(case['where']) if case.get('where') else None
    try:
        result = library.call(
            case['op'],
            inputs,
            [out],
            where=where,
            casting=case['casting'],
            order=case['order'],
            dtype=case.get('dtype'),
            threads=case.get('threads') or 0,
            report=fp_flag_judge.ALL if case.get('fp_flags') else 0,
            explain='big' in case,
            **keyword_cases.keyword_options(case),
        )[0]
    except abi.GufuncError as error:
        return Outcome(memory, error=error, text=str(error))
    fp_flags = library.fp_flags.value if case.get('fp_flags') else 0
    if out is not None:
        return Outcome(memory, out, letter_of(out.dtype), out.strides, fp_flags=fp_flags)
    letter, array, strides = result
    return Outcome(memory, array, letter, strides, fp_flags=fp_flags)


def same_class(numpy_error, status):
    if isinstance(numpy_error, OverflowError):
        return status // 100 == 6
    if isinstance(numpy_error, TypeError):
        return status // 100 == 2 or keyword_cases.is_refusal(numpy_error, status)
    if 'fit into a C int' in str(numpy_error):
        return status == 500  # NumPy cannot parse this axis
    if isinstance(numpy_error, np.exceptions.AxisError):
        return status // 100 == 5
    if status == 600 and 'broadcast' in str(numpy_error):
        # Units without a common factor are rejected together with the dtypes, before shapes are
        # examined.
        return True
    if status == 500 and 'repeated' in str(numpy_error):
        return True  # AxisError, which the library reports, is also a ValueError
    return isinstance(numpy_error, ValueError) and status // 100 in (1, 3)


def open_power(case):
    """Returns whether the loop of power cannot represent an input. The result of the call, or its
    failure, is then undefined."""
    unsafe = case['op'] == 'power' and case['casting'] == 'unsafe'
    return unsafe and casts.outside_inputs(case) is not None


def error_difference(case, theirs, ours, same_class=same_class):
    """Compares two outcomes of which at least one is an error."""
    name = f'{type(theirs.error).__name__} "{theirs.text}"'
    if not ours.error:
        return f'NumPy fails: {name}, ours succeeds'
    if not theirs.error:
        return f'ours fails: {ours.error.status} "{ours.text}", NumPy succeeds'
    if not same_class(theirs.error, ours.error.status):
        return f'error class: NumPy {name}, ours {ours.error.status} "{ours.text}"'
    return tally.changed_memory(case, ours) or text_difference(theirs.text, ours.text)


def difference(case, library):
    """Returns None, or one sentence that describes the difference from NumPy."""
    theirs, ours = run_numpy(case), run_library(case, library)
    if (theirs.error or ours.error) and open_power(case):
        return None
    if theirs.error or ours.error:
        if not ours.error and time_cases.only_iterator_refuses(case, theirs):
            return untouched_difference(case, ours, ours) or steps_difference(case, ours)
        return error_difference(case, theirs, ours)
    if theirs.letter != ours.letter:
        return f'dtype: NumPy {theirs.letter}, ours {ours.letter}'
    if theirs.output.shape != ours.output.shape:
        return f'shape: NumPy {theirs.output.shape}, ours {ours.output.shape}'
    tally.count_axes(case)
    tally.count_overlap(case, ours)
    tally.count_big(case, library)
    layout = layout_difference(case, theirs, ours)
    return (
        layout
        or untouched_difference(case, theirs, ours)
        or value_difference(case, theirs, ours)
        or fp_flag_judge.difference(case, theirs, ours, loop_dtypes)
    )


def layout_difference(case, theirs, ours):
    if case['output'] or not theirs.output.size or build.is_bfloat16(case):
        return None
    size = 2 if theirs.letter == 'E' else theirs.output.itemsize
    seen = [
        (a // theirs.output.itemsize, b // size)
        for a, b, n in zip(theirs.strides, ours.strides, theirs.output.shape)
        if n > 1
    ]
    if any(a != b for a, b in seen):
        numpy, own = [a for a, _ in seen], [b for _, b in seen]
        return f'strides of a fresh output (elements): NumPy {numpy}, ours {own}'
    return None


def untouched_difference(case, theirs, ours):
    """Checks that bytes outside the output are unchanged."""
    if not case['output']:
        return None
    before = build.Memory(case)
    kept = [ours.output.copy(), theirs.output.copy()]
    bits(before.view(case['output']))[...] = 0
    bits(ours.output)[...] = 0
    same = before.bytes() == ours.memory.bytes()
    ours.output[...] = kept[0]
    return None if same else 'bytes outside the output changed'


def compared(case, array):
    """Returns the elements that are defined: all elements of an output that the caller provides,
    and the unmasked elements of an output that the call allocates."""
    if not case.get('where') or case['output']:
        return array
    mask = build.Memory(case).view(case['where'])
    return array[np.broadcast_to(mask, array.shape)]


def steps_difference(case, ours):
    """Compares the library's result, as numbers of time steps, with the result that NumPy returns
    for the same call without out= and where=."""
    theirs = run_numpy({**case, 'output': None, 'where': None})
    expected = np.broadcast_to(bits(theirs.output), ours.output.shape)
    same = expected == bits(ours.output)
    if case.get('where'):
        same |= ~np.broadcast_to(build.Memory(case).view(case['where']), same.shape)
    return None if same.all() else f'steps: NumPy {expected}, ours {bits(ours.output)}'


def same_bits(a, b, either_zero=False):
    """Returns which elements are equal bit by bit. All NaNs count as equal. The parts of complex
    numbers are compared separately."""
    if a.dtype.kind == 'c':
        return same_bits(a.real, b.real, either_zero) & same_bits(a.imag, b.imag, either_zero)
    if a.dtype.kind != 'f':
        return bits(a) == bits(b)
    same = (a == b) & (np.signbit(a) == np.signbit(b) if not either_zero else True)
    return same | (np.isnan(a) & np.isnan(b))


def value_difference(case, theirs, ours):
    expected, found = compared(case, theirs.output), compared(case, ours.output)
    if theirs.letter == 'E':
        found = build.from_bfloat16_bits(found)
        exact = build.from_bfloat16_bits(build.to_bfloat16_bits(expected))
    else:
        exact, found = expected.astype(expected.dtype.newbyteorder('=')), found.astype(
            found.dtype.newbyteorder('=')
        )
    outside = outside_integers(case, theirs)
    good = same_bits(exact, found, case['op'] in EITHER_ZERO) | outside
    if good.all():
        return None
    good = good | compared_to_truth(case, theirs, found, good)
    if case['op'] in POWERS and found.dtype.kind == 'c':  # C does not specify which parts of the
                                                           # result are NaN
        good = good | (~np.isfinite(exact) & ~np.isfinite(found)) | unbounded_inputs(case, theirs)
    if good.all():
        return None
    where = tuple(int(i) for i in np.argwhere(~good)[0])
    count = int((~good).sum())
    return f'{count} values, first at {where}: NumPy {exact[where]!r}, ours {found[where]!r}'


def unbounded_inputs(case, theirs):
    """Returns for which elements an input is infinite or NaN."""
    memory = build.Memory(case)
    finite = [np.isfinite(build.value(memory, spec)) for spec in case['inputs']]
    return compared(case, np.broadcast_to(~np.logical_and(*finite), theirs.output.shape))


def outside_integers(case, theirs):
    """Returns which elements depend on a cast of a float to an integer that cannot represent it."""
    if build.is_bfloat16(case) or not case['casting'] == 'unsafe':
        return np.bool_(False)
    memory = build.Memory(case)
    inputs = [build.value(memory, spec) for spec in case['inputs']]
    found, outside = np.zeros(theirs.output.shape, bool), casts.outside_inputs(case)
    if outside:
        found = in_output_shape(casts.elements_of(case, outside), theirs)
    result = loop_dtypes(case, inputs)[-1]
    if theirs.output.dtype.kind in 'iu' and result.kind in 'fc':
        options = {'dtype': build.numpy_letter(case['dtype'])} if case.get('dtype') else {}
        options |= keyword_cases.type_options(case) | keyword_cases.axes_options(case)
        floats = getattr(np, case['op'])(*inputs, casting='unsafe', **options)
        found = found | in_output_shape(~in_range(theirs.output.dtype, floats), theirs)
    return compared(case, found)


def compared_to_truth(case, theirs, found, good):
    """Returns which elements are within their error bound of the result in long double, or None if
    the results must be exact."""
    memory = build.Memory(case)
    inputs = [build.value(memory, spec) for spec in case['inputs']]
    if build.is_bfloat16(case):
        inputs = [build.from_bfloat16_bits(x) for x in inputs]
    types = loop_dtypes(case, inputs)
    letter = 'E' if build.is_bfloat16(case) else letter_of(types[-1])
    product = case['op'] in keyword_cases.CORE
    rounded = (
        case['op'] in cases.ROUNDED
        or product
        or (types[0].kind == 'c' and case['op'] in ROUNDED_COMPLEX)
    )
    if letter not in BAR or not rounded:
        return np.zeros_like(good)
    wide = [
        np.asarray(x).astype(t).astype(np.clongdouble if t.kind == 'c' else np.longdouble)
        for x, t in zip(inputs, types)
    ]
    with np.errstate(all='ignore'):
        truth = compared(case, in_output_shape(evaluated(case, wide, theirs), theirs))
        if product:
            sizes = [np.abs(x).astype(np.longdouble) for x in wide]
            scale = evaluated(case, sizes, theirs)
            terms = max(1, keyword_cases.summed(case, wide[0]))
            scale = compared(case, in_output_shape(scale, theirs)) * terms * 4
        else:
            scale = np.abs(truth)
            if case['op'].startswith('logaddexp'):
                scale = np.maximum(scale, compared(case, cancelled(theirs, wide)))
            if case['op'] in POWERS and letter in 'FD':
                scale = scale * lost_in_exponent(case, theirs, wide)
            if case['op'] == 'exp2' and letter in 'FD':
                scale = scale * lost_in_angle(case, theirs, wide[0], letter)
        return within(found, truth, scale, letter, product)


def evaluated(case, operands, theirs):
    """Calls NumPy's function with wider operands. If axes= contains the axes of an output, the call
    needs an output of that shape."""
    axes = keyword_cases.axes_options(case)
    if axes.get('axes') and case['output']:
        axes['out'] = np.empty(theirs.output.shape, np.result_type(*operands))
    return complex_truth.function(case['op'], *operands)(*operands, **axes)


def lost_in_angle(case, theirs, z, letter):
    """Returns the factor, at least 1, by which the error of exp2 may exceed its error bound. The
    angle y ln2 has 64 bits in long double. In the library it has 53 bits from |y| = 2^43 on."""
    size = compared(case, in_output_shape(np.abs(z.imag), theirs))
    lost = size * np.where(size < 2.0**43, 2.0**-62, 2.0**-51)
    return 1 + np.where(np.isfinite(lost), lost, 0) / (BAR[letter] * EPS[letter])


def lost_in_exponent(case, theirs, wide):
    """Returns the factor, at least 1, by which the error of a complex power exp(v) may exceed its
    error bound. exp magnifies a relative error of v by |v|. Below 2^45 the library computes v for
    c128 with more than 53 bits, so the factor is |v| / 512. From 2^45 on it computes v with 53
    bits, as C does, so the factor is |v|."""
    size = compared(case, in_output_shape(np.abs(wide[1] * np.log(wide[0])), theirs))
    lost = np.where(size < 2.0**45, size / 512, size)
    return np.maximum(1, np.where(np.isfinite(size), lost, 1))


def cancelled(theirs, wide):
    """Returns the smallest magnitude of a sum of logarithms for which the error bound is relative.
    The result is the difference of numbers of the magnitude of the arguments, which in long double
    are known to 2^-64. An argument far below the other does not affect the result."""
    least = np.minimum(np.abs(np.minimum(*wide)), 64)
    return in_output_shape(np.ldexp(np.maximum(np.abs(np.maximum(*wide)), least), -10), theirs)


def in_output_shape(values, theirs):
    """Broadcasts the loop's values to the shape of the output, which may lack leading axes of
    extent 1.
    """
    values = np.asarray(values)
    if values.size == theirs.output.size:
        return values.reshape(theirs.output.shape)
    values = values.reshape(values.shape[max(values.ndim - theirs.output.ndim, 0) :])
    return np.broadcast_to(values, theirs.output.shape)


def within(found, truth, scale, letter, product):
    out = found.dtype.char
    if found.dtype.kind not in 'fc':  # a small error of the float can change the truncated integer
                                      # by 1
        slack = BAR[letter] * EPS[letter] * np.longdouble(1) * scale
        return np.abs(found.astype(np.longdouble) - np.real(truth)) <= 1 + slack
    eps = max(EPS[letter], EPS.get(out, 0))
    bar = np.longdouble(BAR[letter]) * eps
    work = np.longdouble(2.0**-23 if letter in 'eE' else EPS[letter])
    limit = (
        scale * work + np.abs(truth) * eps if product else binade(scale) * bar
    ) + np.longdouble(max(TINY[letter], TINY.get(out, 0))) * 2
    # The output is real, but the exact result is complex.
    if truth.dtype.kind == 'c' and found.dtype.kind != 'c':
        truth = truth.real
    error = np.abs(found.astype(truth.dtype) - truth)
    top = min(np.finfo('f' if char == 'E' else char).max for char in (letter, out))
    overflow = ~np.isfinite(found) & (scale * (2 if product else 1) * (1 + 4 * eps) >= top)
    return (error <= limit) | overflow


def binade(scale):
    """Returns the largest power of two that is at most |x|. One ULP of a float is eps times this
    power."""
    with np.errstate(all='ignore'):
        return np.where(np.isfinite(scale) & (scale > 0), np.exp2(np.floor(np.log2(scale))), scale)
