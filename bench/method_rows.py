# SPDX-License-Identifier: Apache-2.0
"""Reductions and scans for against_numpy.py: NumPy's method and ours on the same arrays."""

import ctypes as ct
import re
import time

import abi_methods
import numpy as np


class MethodRow:
    """One workload. `output` is preallocated for both."""

    def __init__(self, name, method, ufunc, source, axis, library, helper):
        self.name, self.keep = name, []
        self.numpy = getattr(getattr(np, ufunc), method)
        self.source, self.axis = source, axis
        self.out = self.numpy(source, axis=axis)
        self.out = np.zeros_like(self.out) if np.ndim(self.out) else np.zeros((), source.dtype)
        reduces = method == 'reduce'
        self.args = abi_methods.ReduceArgs() if reduces else abi_methods.AccumulateArgs()
        self.args.struct_size = ct.sizeof(self.args)
        self.operands = [library.operand(x, self.keep) for x in (source, self.out)]
        self.args.input, self.args.output = map(ct.pointer, self.operands)
        self.args.threads = 1
        if not reduces:
            self.args.axis = axis
        elif axis is None:
            self.args.naxis = abi_methods.ALL_AXES
        else:
            self.args.axis, self.args.naxis = (ct.c_int64 * 1)(axis), 1
        self.ufunc, self.helper = library.find(ufunc), getattr(helper, f'repeat_{method}')
        self.helper.argtypes = [ct.c_void_p, ct.c_void_p, ct.c_int64]
        self.helper.restype = ct.c_double
        self.times = {'numpy': [], 'gufunc': []}
        self.repeats = 1
        self.repeats = max(1, int(400_000 / max(self.run_numpy(), 1.0)))

    def run_numpy(self):
        call, source, axis, out = self.numpy, self.source, self.axis, self.out
        repeats = range(self.repeats)
        start = time.perf_counter_ns()
        for _ in repeats:
            call(source, axis, None, out)
        return (time.perf_counter_ns() - start) / self.repeats

    def run_gufunc(self):
        ns = self.helper(self.ufunc, ct.byref(self.args), self.repeats)
        assert ns >= 0, f'{self.name}: status {-ns}'
        return ns

    def sample(self):
        self.times['numpy'].append(self.run_numpy())
        self.times['gufunc'].append(self.run_gufunc())


def numbers(dtype, *shape):
    """Near 1, so that products stay finite; sums of float16 do not overflow either."""
    middle = 0.01 if dtype == 'float16' else 1
    return (middle + np.linspace(-1e-6, 1e-6, int(np.prod(shape)))).astype(dtype).reshape(shape)


def workloads():
    """Name, method, ufunc, what makes the array, axis."""
    for dtype in ('float32', 'float64'):
        for n in (1, 100, 10_000, 1_000_000):
            yield f'sum {dtype} n={n}', 'reduce', 'add', (dtype, n), 0
        for axis in (0, 1, None):
            name = f'sum {dtype} 1000x1000 axis {axis}'
            yield name, 'reduce', 'add', (dtype, 1000, 1000), axis
    for axis in (0, 1):
        yield f'sum float32 100x100 axis {axis}', 'reduce', 'add', ('float32', 100, 100), axis
        yield f'sum float32 100000x10 axis {axis}', 'reduce', 'add', ('float32', 100000, 10), axis
    for dtype in ('float16', 'int64', 'complex128'):
        yield f'sum {dtype} n=1000000', 'reduce', 'add', (dtype, 1_000_000), 0
    for ufunc, dtype in (('maximum', 'float32'), ('multiply', 'float64'), ('logical_or', 'bool')):
        yield f'{ufunc} {dtype} n=1000000', 'reduce', ufunc, (dtype, 1_000_000), 0
    yield 'cumulative sum float64 n=1000000', 'accumulate', 'add', ('float64', 1_000_000), 0
    for axis in (0, 1):
        name = f'cumulative sum float32 1000x1000 axis {axis}'
        yield name, 'accumulate', 'add', ('float32', 1000, 1000), axis


def method_rows(only, library, helper):
    """The workloads whose name matches the regex."""
    return [
        MethodRow(name, method, ufunc, numbers(*array), axis, library, helper)
        for name, method, ufunc, array, axis in workloads()
        if re.search(only, name)
    ]
