# SPDX-License-Identifier: Apache-2.0
"""Finds the effects of casts of floats to integer dtypes that cannot represent them. C leaves the
result of such a cast undefined, NumPy's result depends on the layout, and the library has its own
rule. This module finds the elements of a result that depend on such casts; all other elements are
compared."""

import functools
import operator

import numpy as np

import build
import keyword_cases
from build import axis_of, index_array


def in_range(dtype, values):
    """Returns which values an integer dtype can represent. For all other dtypes every value is
    True."""
    values = np.asarray(values)
    if dtype.kind not in 'iu' or values.dtype.kind not in 'fc':
        return np.ones(values.shape, bool)
    info = np.iinfo(dtype)
    wide = np.trunc(np.real(values).astype(np.longdouble))
    return np.isfinite(wide) & (wide >= info.min) & (wide <= info.max)


def loop_dtypes(case, inputs):
    """Returns the dtypes in which NumPy's loop computes."""
    kinds = [type(x) if type(x) in (int, float, complex) else x.dtype for x in inputs]
    kinds = [np.dtype('f') if build.is_bfloat16(case) else kind for kind in kinds]
    expected = (
        {'signature': (None,) * len(inputs) + (np.dtype(build.numpy_letter(case['dtype'])),)}
        if case.get('dtype')
        else {}
    )
    expected |= keyword_cases.type_options(case)
    return getattr(np, case['op']).resolve_dtypes((*kinds, None), casting='unsafe', **expected)


def outside_inputs(case):
    """Returns a mask for each input that is true for elements that the loop's integer dtype cannot
    represent, or None if there are no such elements."""
    memory = build.Memory(case)
    inputs = [build.value(memory, spec) for spec in case['inputs']]
    if build.is_bfloat16(case):
        return None
    try:
        types = loop_dtypes(case, inputs)
    except (TypeError, OverflowError):
        return None  # without a loop nothing is cast
    outside = [~in_range(t, np.asarray(x)) for t, x in zip(types, inputs)]
    return outside if any(mask.any() for mask in outside) else None


def elements_of(case, outside):
    """Returns which elements of a call's result depend on the elements in `outside`."""
    if case['op'] not in keyword_cases.CORE:
        return functools.reduce(operator.or_, outside)
    left, right = outside
    function, axes = getattr(np, case['op']), keyword_cases.axes_options(case)
    touched = function(left, np.ones_like(right), **axes)
    return touched | function(np.ones_like(left), right, **axes)


def elements_of_method(case, dtype, shape):
    """Returns which elements of a method's result depend on casts of floats that the integer dtype
    cannot represent."""
    nothing = np.zeros(shape, bool)
    if dtype is None or dtype.kind not in 'iu' or build.is_bfloat16(case):
        return nothing
    memory = build.Memory(case)
    outside = [~in_range(dtype, build.value(memory, spec)) for spec in case['inputs']]
    if case['method'] == 'at':
        return hits_outside(case, dtype, memory, outside)
    if isinstance(case.get('initial'), dict):
        if not in_range(dtype, build.value(memory, case['initial'])).all():
            return ~nothing
    if not outside[0].any():
        return nothing
    touched = folded(case, memory, outside[0])
    if touched.size == nothing.size:
        return touched.reshape(shape)
    return np.broadcast_to(touched, shape)  # the output can be larger than the method's result


def folded(case, memory, outside):
    """Returns which results depend on the elements of the operand in `outside`."""
    axis = axis_of(case)
    if case['method'] == 'accumulate':
        return np.logical_or.accumulate(outside, axis)
    if case['method'] == 'reduceat':
        return np.logical_or.reduceat(outside, index_array(case['indices'][0]), axis)
    mask = {'where': memory.view(case['where'])} if case.get('where') else {}
    keepdims = bool(case.get('keepdims'))
    return np.asarray(np.logical_or.reduce(outside, axis, keepdims=keepdims, **mask))


def hits_outside(case, dtype, memory, outside):
    """Returns which elements of the result of `at` depend on casts of floats that the integer dtype
    cannot represent. `at` casts only the selected elements."""
    array = memory.view(case['output'])
    indices = tuple(index_array(spec) for spec in case['indices'])
    hit = np.zeros(array.shape, bool)
    hit[indices] = True
    touched = ~in_range(dtype, array)
    if outside:
        picked = np.broadcast_to(outside[0], hit[indices].shape)
        np.logical_or.at(touched, indices, np.array(picked))
    return touched & hit
