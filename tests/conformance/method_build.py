# SPDX-License-Identifier: Apache-2.0
"""Builds the arguments of a method case and calls NumPy's method."""

import numpy as np

import abi_methods
import build


def index_array(spec):
    """Returns the indices of a case, with the stride of the case, so that strides of indices are
    tested."""
    dtype = np.dtype(build.numpy_letter(spec['dtype']))
    values = np.array(spec['values'], dtype.newbyteorder() if spec.get('swapped') else dtype)
    values = values.reshape(spec['shape'])
    if values.ndim and spec['step'] != 1:
        wide = np.zeros((*values.shape[:-1], values.shape[-1] * abs(spec['step'])), values.dtype)
        view = wide[..., :: spec['step']]
        view[...] = values
        return view
    return values


def initial_of(case, absent):
    if 'initial' not in case:
        return absent
    if case['initial'] == 'none':
        return None
    value = build.value(None, case['initial'])
    # NumPy casts the scalar in the same way as a 0-d array.
    return np.array(value) if isinstance(value, np.generic) else value


def axis_of(case):
    axis = case.get('axis', 0)
    return None if axis == 'all' else tuple(axis) if isinstance(axis, list) else axis


def numpy_dtype(case):
    return np.dtype(build.numpy_letter(case['dtype'])) if case.get('dtype') else None


def spread(operand, indices, out):
    """Broadcasts the operand of `at` to the shape of the indexed elements, because NumPy 2.4 reads
    beyond the end of a smaller operand if an index array has several dimensions."""
    if not any(index.ndim > 1 for index in indices):
        return operand
    try:
        picked = np.broadcast_shapes(*[index.shape for index in indices])
        return np.array(np.broadcast_to(operand, (*picked, *out.shape[len(indices) :])))
    except ValueError:
        return operand


def numpy_method(case, function, inputs, out, memory):
    """Calls NumPy's method on the given operands."""
    method = case['method']
    if method == 'at':
        indices = tuple(index_array(spec) for spec in case['indices'])
        function.at(out, indices, *[spread(x, indices, out) for x in inputs])
        return out
    options = {'dtype': numpy_dtype(case), 'out': out}
    if method != 'outer':
        options['axis'] = axis_of(case)
    if method == 'reduce':
        options['keepdims'] = bool(case.get('keepdims'))
        initial = initial_of(case, abi_methods.ABSENT)
        if initial is not abi_methods.ABSENT:
            options['initial'] = initial
    options |= build.mask_option(case, memory, out)
    if method == 'outer':
        options['order'] = case['order']
    if method == 'reduceat':
        inputs = [*inputs, index_array(case['indices'][0])]
    return getattr(function, method)(*inputs, **options)
