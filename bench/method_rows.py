# SPDX-License-Identifier: Apache-2.0
"""Workloads of against_numpy.py that call methods. NumPy and the library make the same calls on the
same arrays."""

import ctypes as ct
import re
import time
from functools import partial
from itertools import chain

import abi
import numpy as np
import peers


class MethodRow:
    """One workload. The outputs of NumPy and of the library are preallocated."""

    def __init__(self, name, ufunc, library, helper):
        self.name, self.keep, self.library = name, [], library
        self.ufunc, self.helper = library.find(ufunc), helper
        self.times = {'numpy': [], 'gufunc': []}
        self.repeats, self.peers = 1, {}

    def settle(self):
        """Chooses how often one sample repeats the call."""
        self.helper.argtypes = [ct.c_void_p, ct.c_void_p, ct.c_int64]
        self.helper.restype = ct.c_double
        self.args.struct_size, self.args.options.threads = ct.sizeof(self.args), 1
        self.repeats = max(1, int(400_000 / max(self.run_numpy(), 1.0)))
        return self

    def operand(self, value):
        return ct.pointer(self.library.operand(value, self.keep))

    def run_numpy(self):
        call, arguments = self.numpy, self.arguments
        repeats = range(self.repeats)
        call(*arguments)  # warm up, so that the data is in the cache for all runners
        start = time.perf_counter_ns()
        for _ in repeats:
            call(*arguments)
        return (time.perf_counter_ns() - start) / self.repeats

    def run_gufunc(self):
        self.helper(self.ufunc, ct.byref(self.args), 1)
        ns = self.helper(self.ufunc, ct.byref(self.args), self.repeats)
        assert ns >= 0, f'{self.name}: status {-ns}'
        return ns

    def sample(self):
        self.times['numpy'].append(self.run_numpy())
        self.times['gufunc'].append(self.run_gufunc())
        peers.sample(self)

    def call_of(self, peer):
        """Returns the peer's call of this workload, or None."""
        if self.numpy != np.add.reduce or self.arguments[0].dtype == np.float16:
            return None
        source, axis, _, out = self.arguments
        return peer.total(source, axis, out)


def reduce_row(name, ufunc, make, axis, library, helper, *, numpy=None):
    source = make()
    row = MethodRow(name, ufunc, library, helper.repeat_reduce)
    row.numpy = numpy or getattr(np, ufunc).reduce
    out = row.numpy(source, axis=axis)
    out = np.zeros_like(out) if np.ndim(out) else np.zeros((), out.dtype)
    row.arguments = source, axis, None, out
    row.args = abi.ReduceArgs(input=row.operand(source), output=row.operand(out))
    if axis is None:
        row.args.naxis = abi.ALL_AXES
    else:
        row.args.axis, row.args.naxis = (ct.c_int64 * 1)(axis), 1
    return row.settle()


class MeanRow:
    """Compares numpy.mean with two calls of the library: a sum and a division."""

    def __init__(self, name, make, axis, library, helper):
        row = reduce_row(name, 'add', make, axis, library, helper, numpy=np.mean)
        source, _, _, out = row.arguments
        count = float(source.size // out.size)
        operands = [library.operand(x, row.keep) for x in (out, count, out)]
        self.args = abi.CallArgs(struct_size=ct.sizeof(abi.CallArgs), ninputs=2, noutputs=1)
        self.args.inputs = (abi.Operand * 2)(*operands[:2])
        self.args.outputs = (abi.Operand * 1)(operands[2])
        self.args.options.threads = 1
        self.sum, self.divide, self.helper = row, library.find('divide'), helper.repeat_call
        self.name, self.times, self.repeats = name, row.times, row.repeats
        self.call_of = lambda peer: None

    def sample(self):
        self.times['numpy'].append(self.sum.run_numpy())
        quotient = self.helper(self.divide, ct.byref(self.args), self.repeats)
        assert quotient >= 0, f'{self.name}: status {-quotient}'
        self.times['gufunc'].append(self.sum.run_gufunc() + quotient)


def accumulate_row(name, ufunc, make, axis, library, helper):
    source = make()
    row = MethodRow(name, ufunc, library, helper.repeat_accumulate)
    row.numpy, out = getattr(np, ufunc).accumulate, np.zeros_like(source)
    row.arguments = source, axis, None, out
    row.args = abi.AccumulateArgs(input=row.operand(source), output=row.operand(out))
    row.args.axis = axis
    return row.settle()


def reduceat_row(name, stretch, library, helper):
    row = MethodRow(name, 'add', library, helper.repeat_reduceat)
    row.numpy = np.add.reduceat
    source, indices = numbers('float32', 1_000_000), np.arange(0, 1_000_000, stretch)
    out = row.numpy(source, indices)
    row.arguments = source, indices, 0, None, out
    row.args = abi.AccumulateArgs(input=row.operand(source), output=row.operand(out))
    row.args.indices = row.operand(indices)
    return row.settle()


def at_row(name, dtype, distinct, library, helper):
    """Returns an `at` workload with `distinct` different indices. Neighbouring indices usually
    differ, unless `distinct` is small."""
    row = MethodRow(name, 'add', library, helper.repeat_at)
    array, operand = numbers(dtype, 100_000), numbers(dtype, 100_000)
    indices = np.random.default_rng(1).permutation(100_000) % distinct
    row.numpy, row.arguments = np.add.at, (array, indices, operand)
    row.args = abi.AtArgs(array=row.operand(array), operand=row.operand(operand))
    row.args.indices, row.args.nindices = row.operand(indices), 1
    return row.settle()


def numbers(dtype, *shape):
    """Returns values near 1, so that products do not overflow. For float16 the values are near
    0.01, so that sums do not overflow."""
    middle = 0.01 if dtype == 'float16' else 1
    return (middle + np.linspace(-1e-6, 1e-6, int(np.prod(shape)))).astype(dtype).reshape(shape)


def plain_sums():
    """Yields the name, the ufunc, a function that creates the array, and the axis."""
    for dtype in ('float32', 'float64', 'int32', 'float16'):
        for n in (1, 100, 10_000, 1_000_000):
            yield f'sum {dtype} n={n}', 'add', partial(numbers, dtype, n), 0
        for axis in (0, 1, None):
            square = partial(numbers, dtype, 1000, 1000)
            yield f'sum {dtype} 1000x1000 axis {axis}', 'add', square, axis
    for dtype in ('float32', 'float64', 'int32'):
        for shape in ((100, 100), (100_000, 10)):
            for axis in (0, 1):
                name = f'sum {dtype} {shape[0]}x{shape[1]} axis {axis}'
                yield name, 'add', partial(numbers, dtype, *shape), axis
    for dtype in ('int64', 'complex128'):
        yield f'sum {dtype} n=1000000', 'add', partial(numbers, dtype, 1_000_000), 0


def layout_sums():
    for dtype in ('float32', 'float64', 'int32'):
        name = f'sum {dtype} strided by 2'
        yield f'{name} n=1000000', 'add', lambda d=dtype: numbers(d, 2_000_000)[::2], 0
        for axis in (0, 1):
            wide = partial(numbers, dtype, 1000, 2000)
            yield f'{name} 1000x1000 axis {axis}', 'add', lambda w=wide: w()[:, ::2], axis
    for axis in (0, 1, None):
        name = f'sum float32 1000x1000 Fortran axis {axis}'
        yield name, 'add', lambda: numbers('float32', 1000, 1000).T, axis


def other_folds():
    for ufunc, dtype in (
        ('maximum', 'float32'),
        ('maximum', 'float64'),
        ('minimum', 'float32'),
        ('fmax', 'float32'),
        ('maximum', 'int32'),
        ('multiply', 'float64'),
        ('logical_or', 'bool'),
        ('bitwise_and', 'int32'),
        ('subtract', 'float32'),
    ):
        yield f'{ufunc} {dtype} n=1000000', ufunc, partial(numbers, dtype, 1_000_000), 0
    for ufunc in ('maximum', 'subtract'):
        for axis in (0, 1):
            square = partial(numbers, 'float32', 1000, 1000)
            yield f'{ufunc} float32 1000x1000 axis {axis}', ufunc, square, axis
    yield 'logical_or bool n=1000000, none', 'logical_or', partial(np.zeros, 1_000_000, bool), 0


def scans():
    for dtype, shape, axis in (
        ('float64', (1_000_000,), 0),
        ('float32', (1000, 1000), 0),
        ('float32', (1000, 1000), 1),
    ):
        name = f'cumulative sum {dtype} {"x".join(map(str, shape))} axis {axis}'
        yield name, 'add', partial(numbers, dtype, *shape), axis


def workloads():
    """Yields the name, the function that creates the row, and its arguments."""
    for name, *of in chain(plain_sums(), layout_sums(), other_folds()):
        yield name, reduce_row, of
    for axis in (0, 1):
        square = partial(numbers, 'float32', 1000, 1000)
        yield f'mean float32 1000x1000 axis {axis}', MeanRow, (square, axis)
    for name, *of in scans():
        yield name, accumulate_row, of
    for stretch in (2, 10, 100, 1000):
        yield f'reduceat add float32 by {stretch}', reduceat_row, (stretch,)
    for dtype, distinct in (('float32', 100_000), ('float64', 100_000), ('float32', 16)):
        yield f'at add {dtype}, {distinct} places', at_row, (dtype, distinct)


def method_rows(only, library, helper):
    """Returns the workloads whose name matches the regex `only`."""
    return [
        row(name, *of, library, helper) for name, row, of in workloads() if re.search(only, name)
    ]
