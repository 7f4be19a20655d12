# SPDX-License-Identifier: Apache-2.0
"""Provides the other libraries for against_numpy.py --peers: Numba and PyTorch if Python can import
them, and Eigen if CMake found Eigen when the benchmarks were built. Each library uses one thread
and the same arrays.

Only additions, exponentials and sums are measured, because other libraries are faster than NumPy
for these workloads only.
"""

import ctypes as ct
import importlib.util
import math
import time

import numpy as np


def optional(name):
    """Returns the module, or None if it is not installed."""
    return __import__(name) if importlib.util.find_spec(name) else None


def tensor(torch, array):
    """Returns a tensor that uses the array's memory. from_numpy would require the NumPy version
    with which PyTorch was built."""
    root = array
    while isinstance(root.base, np.ndarray):
        root = root.base
    offset = (array.ctypes.data - root.ctypes.data) // array.itemsize
    steps = [step // array.itemsize for step in array.strides]
    flat = root.T if root.flags.f_contiguous and not root.flags.c_contiguous else root
    whole = torch.frombuffer(flat, dtype=getattr(torch, str(array.dtype)))
    return whole.as_strided(array.shape, steps, offset)


class Torch:
    """Runs PyTorch, called with `out=`."""

    def __init__(self, torch):
        torch.set_num_threads(1)
        self.torch = torch

    def elementwise(self, ufunc, inputs, out):
        inputs, out = [tensor(self.torch, x) for x in inputs], tensor(self.torch, out)
        call = getattr(self.torch, ufunc)
        return lambda: call(*inputs, out=out)

    def total(self, source, axis, out):
        source, out = tensor(self.torch, source), tensor(self.torch, out)
        axes = tuple(range(source.dim())) if axis is None else axis
        return lambda: self.torch.sum(source, axes, dtype=out.dtype, out=out)


class Numba:
    """Runs Numba: ufuncs for the cpu, and plain loops for sums."""

    def __init__(self, numba):
        self.numba = numba
        self.functions = {'add': lambda x, y: x + y, 'exp': lambda x: math.exp(x)}

    def elementwise(self, ufunc, inputs, out):
        word = str(out.dtype)
        signature = f'{word}({", ".join([word] * len(inputs))})'
        call = self.numba.vectorize([signature])(self.functions[ufunc])
        return lambda: call(*inputs, out)

    def total(self, source, axis, out):
        call = self.numba.njit(numba_sum(source.ndim, axis))
        return lambda: call(source, out)


def numba_sum(ndim, axis):
    """Returns loops in memory order, as a Numba user would write them."""

    def all_of_it(source, out):
        total = source.dtype.type(0)
        for x in source.flat:
            total += x
        out[()] = total

    def first(source, out):
        out[:] = 0
        for i in range(source.shape[0]):
            for j in range(source.shape[1]):
                out[j] += source[i, j]

    def last(source, out):
        for i in range(source.shape[0]):
            total = source.dtype.type(0)
            for j in range(source.shape[1]):
                total += source[i, j]
            out[i] = total

    return all_of_it if ndim == 1 or axis is None else (first, last)[axis]


class Eigen:
    """Runs Eigen 3 on contiguous float32 arrays (eigen_peer.cc)."""

    def __init__(self, library):
        self.library = library

    def elementwise(self, ufunc, inputs, out):
        shapes = [x.shape for x in inputs]
        flat = all(x.flags.c_contiguous and x.dtype == np.float32 for x in (*inputs, out))
        if ufunc != 'add' or not flat or shapes[0] != out.shape or len(inputs) != 2:
            return None
        addresses = [ct.c_void_p(x.ctypes.data) for x in (*inputs, out)]
        size = ct.c_int64(out.size)
        if shapes[1] == out.shape:
            return lambda: self.library.eigen_add(*addresses, size)
        return (lambda: self.library.eigen_add_scalar(*addresses, size)) if not shapes[1] else None

    def total(self, source, axis, out):
        if source.dtype != np.float32 or not source.flags.c_contiguous or axis is None:
            return None
        rows, columns = (1, source.size) if source.ndim == 1 else source.shape
        along = ct.c_int32(source.ndim == 1 or axis == 1)
        sizes = ct.c_int64(rows), ct.c_int64(columns)
        addresses = [ct.c_void_p(x.ctypes.data) for x in (source, out)]
        return lambda: self.library.eigen_sum(*addresses, *sizes, along)


def find_peers(folder):
    """Returns the available libraries as {name: peer}."""
    peers = {}
    for name, kind in (('numba', Numba), ('torch', Torch)):
        module = optional(name)
        if module:
            peers[name] = kind(module)
    if (folder / 'libeigen_peer.so').exists():
        peers['eigen'] = Eigen(ct.CDLL(str(folder / 'libeigen_peer.so')))
    return peers


def add_peers(rows, folder):
    """Adds to each row the calls of the libraries that support its workload."""
    peers = find_peers(folder)
    for row in rows:
        for name, peer in peers.items():
            call = row.call_of(peer)
            if call:
                call()  # Numba compiles during the first call
                row.peers[name], row.times[name] = call, []


def sample(row):
    for name, call in row.peers.items():
        call()
        start = time.perf_counter_ns()
        for _ in range(row.repeats):
            call()
        row.times[name].append((time.perf_counter_ns() - start) / row.repeats)


def words(times):
    """Yields two parts of a line of output. The first is a ratio: the time of the fastest other
    library, including NumPy, divided by the time of libgufunc. The second lists the times of the
    peers."""
    others = {name: time for name, time in times.items() if name not in ('numpy', 'gufunc')}
    if others:
        best = min(*others.values(), times['numpy'])
        yield f'{best / times["gufunc"]:>8.2f} of the best:'
        yield from (f'{name} {time:.0f}' for name, time in others.items())
