# SPDX-License-Identifier: Apache-2.0
"""Compares the library with NumPy in one process, on the same buffers, with preallocated outputs
and one thread. Calls of the two libraries are interleaved, and the reported times are minima.

    against_numpy.py --build build/release [--rounds 40] [--only add] [--peers]

NumPy and the other libraries (peers.py) are called from Python, as their users call them.
"""

import argparse
import ctypes as ct
import json
import os
import pathlib
import re
import sys
import time

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / 'tests' / 'conformance'))
import abi  # noqa: E402  (the ctypes declarations of the ABI)
import peers  # noqa: E402
from method_rows import method_rows  # noqa: E402


class Row:
    """One workload: the same calls of NumPy and of the library on the same arrays."""

    def __init__(self, name, ufunc, inputs, out, library, helper):
        self.name, self.keep = name, []
        self.args = abi.CallArgs()
        self.args.struct_size = ct.sizeof(abi.CallArgs)
        ins = (abi.Operand * len(inputs))(*[library.operand(x, self.keep) for x in inputs])
        outs = (abi.Operand * 1)(library.operand(out, self.keep))
        self.args.inputs, self.args.ninputs = ins, len(inputs)
        self.args.outputs, self.args.noutputs = outs, 1
        self.args.options.threads = 1
        self.numpy, self.inputs, self.out = getattr(np, ufunc), inputs, out
        self.peers = {}
        self.ufunc, self.helper = library.find(ufunc), helper
        self.times = {'numpy': [], 'gufunc': []}
        self.repeats = 1
        once = max(self.run_numpy(), 1.0)
        self.repeats = max(1, int(400_000 / once))

    def run_numpy(self):
        call, inputs, out, repeats = self.numpy, self.inputs, self.out, range(self.repeats)
        call(*inputs, out)  # warm up, so that the data is in the cache for all runners
        start = time.perf_counter_ns()
        for _ in repeats:
            call(*inputs, out)
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
        known = self.numpy in (np.add, np.exp) and self.out.dtype in (np.float32, np.float64)
        return peer.elementwise(self.numpy.__name__, self.inputs, self.out) if known else None


def f32(*shape):
    """Returns values from 1 to 2, C-contiguous."""
    return np.linspace(1, 2, int(np.prod(shape)), dtype=np.float32).reshape(shape)


def elementwise(name, ufunc, *shapes, out):
    """Returns a workload on f32 arrays. The arrays are allocated only when the workload runs, to
    save memory."""
    return name, ufunc, lambda: ([f32(*shape) for shape in shapes], f32(*out))


def layouts():
    """Yields workloads with operands that are not contiguous."""
    for n in (10_000, 1_000_000):
        strided = lambda n=n: f32(2 * n)[::2]  # noqa: E731
        yield f'add f32 n={n} strided by 2', 'add', lambda n=n, x=strided: ([x(), x()], f32(n))
        to_strided = lambda n=n, x=strided: ([f32(n), f32(n)], x())  # noqa: E731
        yield f'add f32 n={n} to strided by 2', 'add', to_strided
    yield 'exp f32 n=10000 strided by 2', 'exp', lambda: ([f32(20_000)[::2]], f32(10_000))
    for side in (100, 1000):
        name, transposed = f'add f32 {side}x{side}', lambda side=side: f32(side, side).T
        yield f'{name} Fortran', 'add', lambda x=transposed: ([x(), x()], x())
        yield f'{name} transposed', 'add', lambda s=side, x=transposed: (
            [f32(s, s), x()], f32(s, s))
        yield f'{name} to Fortran', 'add', lambda s=side, x=transposed: (
            [f32(s, s), f32(s, s)], x())


def workloads():
    """Yields the name, the ufunc, and a function that creates the inputs and the output."""
    for n in (1, 100, 10_000, 1_000_000, 100_000_000):
        yield elementwise(f'add f32 n={n}', 'add', (n,), (n,), out=(n,))
    for dtype in ('float64', 'int32', 'float16', 'complex64'):
        for n in (10_000, 1_000_000):
            name = 'multiply' if dtype == 'complex64' else 'add'
            yield (
                f'{name} {dtype} n={n}',
                name,
                lambda n=n, t=dtype: ([f32(n).astype(t), f32(n).astype(t)], np.zeros(n, t)),
            )
    yield from layouts()
    for side in (100, 1000):
        whole, name = (side, side), f'add f32 {side}x{side} +'
        yield elementwise(f'{name} row', 'add', whole, (side,), out=whole)
        yield elementwise(f'{name} column', 'add', whole, (side, 1), out=whole)
        yield elementwise(f'{name} scalar', 'add', whole, (), out=whole)
    for name in ('exp', 'log', 'sin', 'cos'):
        for dtype in (np.float32, np.float64):
            yield (
                f'{name} {dtype.__name__} n=10000',
                name,
                lambda dtype=dtype: ([f32(10_000).astype(dtype)], f32(10_000).astype(dtype)),
            )
    yield elementwise('power f32 n=10000', 'power', (10_000,), (10_000,), out=(10_000,))
    many = (10_000, 4, 4)
    yield elementwise('matmul f32 10000x4x4', 'matmul', many, many, out=many)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument('--build', required=True, help='build folder of the release preset')
    parser.add_argument('--rounds', type=int, default=40)
    parser.add_argument('--only', default='',
                        help='run only workloads whose name matches this regex')
    parser.add_argument('--json', help='write the results to this file')
    parser.add_argument('--peers', action='store_true',
                        help='also measure Numba, PyTorch and Eigen')
    options = parser.parse_args()
    build = pathlib.Path(options.build).resolve()
    library = abi.Library(str(build / 'lib' / 'libgufunc.so.0.1'))
    helper = ct.CDLL(str(build / 'lib' / 'librepeat_call.so')).repeat_call
    helper.argtypes, helper.restype = [ct.c_void_p, ct.c_void_p, ct.c_int64], ct.c_double
    work = [
        Row(name, ufunc, *make(), library, helper)
        for name, ufunc, make in workloads()
        if re.search(options.only, name)
    ]
    work += method_rows(options.only, library, ct.CDLL(str(build / 'lib' / 'librepeat_call.so')))
    if options.peers:
        peers.add_peers(work, build / 'lib')
    started = time.monotonic()
    for round_number in range(options.rounds):
        for row in work:
            if row.repeats > 1 or round_number < 8:
                row.sample()
    print(f'NumPy {np.__version__}, one thread, {time.monotonic() - started:.0f} s, minima in ns')
    print(f'{"workload":<42} {"NumPy":>14} {"gufunc":>14} {"NumPy / gufunc":>15}')
    figures = {row.name: {name: min(times) for name, times in row.times.items()} for row in work}
    for name, times in figures.items():
        ratio = times['numpy'] / times['gufunc']
        words = f'{name:<42} {times["numpy"]:>14.1f} {times["gufunc"]:>14.1f} {ratio:>15.2f}'
        print(words, *peers.words(times))
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(figures, indent=1) + '\n')


if __name__ == '__main__':
    os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')
    main()
