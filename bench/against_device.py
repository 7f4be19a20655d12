# SPDX-License-Identifier: Apache-2.0
"""Measures elementwise calls on a GPU and compares them with the driver's copy, CuPy, numba-cuda
and PyTorch. All measurements run interleaved in one process, on the same buffers and with
preallocated outputs. The reported times are minima.

    against_device.py --library build/release/lib/libgufunc.so.0.1 --device cuda:0
    [--bytes N ...] [--rounds 50] [--seconds 60] [--json FILE]

A library that cannot be imported or does not find the device is not measured, and a line of the
output reports the reason.
"""

import argparse
import ctypes as ct
import json
import math
import os
import pathlib
import sys
import time

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / 'tests' / 'conformance'))
import abi  # noqa: E402  (the ctypes declarations of the ABI)

MIB = 1 << 20
WORK = {'add': 2, 'negative': 1, 'sin': 1}  # number of input operands of each workload


class Shared:
    """Device memory that libgufunc has allocated. Other libraries use the memory through
    __cuda_array_interface__."""

    def __init__(self, address, size):
        self.__cuda_array_interface__ = {'shape': (size,), 'typestr': '<f4', 'version': 3,
                                         'data': (address, False), 'strides': None}


class Gufunc:
    """Runs the workloads with plans of libgufunc, and owns the buffers that all runners use."""

    def __init__(self, library, device):
        self.library, self.lib, self.plans = library, library.lib, {}
        library.use_device(device)
        for name, types in {
            'guf_array_alloc': [ct.c_void_p, ct.c_uint32, ct.c_int32] + [ct.c_void_p] * 2
            + [ct.c_int32] + [ct.c_void_p] * 2,
            'guf_plan_create': [ct.c_void_p] * 4,
            'guf_plan_launch': [ct.c_void_p] * 2 + [ct.c_int32, ct.c_void_p, ct.c_uint32,
                                                   ct.c_void_p],
            'guf_plan_release': [ct.c_void_p] * 2,
            'guf_device_synchronize': [ct.c_void_p, ct.c_uint64, ct.c_void_p],
        }.items():
            getattr(self.lib, name).argtypes = types
        self.arrays, self.addresses = [], []

    def buffers(self, size):
        """Returns three f32 arrays in which every element is 1."""
        self.release()
        for _ in range(3):
            array, info = ct.c_void_p(), abi.ArrayInfo()
            info.struct_size = ct.sizeof(info)
            self.library.check(self.lib.guf_array_alloc(
                self.library.device, abi.DTYPES['f'], 1, (ct.c_int64 * 1)(size), None, 0,
                ct.byref(array), ct.byref(self.library.error)))
            self.arrays.append(array)
            self.library.check(self.lib.guf_array_get_info(array, ct.byref(info), None))
            self.addresses.append(info.address)
        return [Shared(address, size) for address in self.addresses]

    def release(self):
        for plan, *_ in self.plans.values():
            self.lib.guf_plan_release(plan, None)
        for array in self.arrays:
            self.lib.guf_array_release(array, None)
        self.arrays, self.addresses, self.plans = [], [], {}

    def call(self, name, nin, shared):
        args = abi.CallArgs()
        args.struct_size = ct.sizeof(args)
        chosen = [*range(nin), 2]
        operands = (abi.Operand * 3)()
        for i, which in enumerate(chosen):
            operands[i].kind, operands[i].array = 1, self.arrays[which]
        args.inputs, args.ninputs = operands, nin
        args.outputs, args.noutputs = ct.pointer(operands[nin]), 1
        plan = ct.c_void_p()
        self.library.check(self.lib.guf_plan_create(
            self.library.find(name), ct.byref(args), ct.byref(plan),
            ct.byref(self.library.error)))
        addresses = (ct.c_uint64 * 3)(*[self.addresses[which] for which in chosen])
        self.plans[name] = plan, addresses
        launch, count = self.lib.guf_plan_launch, nin + 1
        return lambda: self.library.check(launch(plan, None, count, addresses, 0, None))

    def wait(self):
        self.library.check(self.lib.guf_device_synchronize(self.library.device, 2**64 - 1, None))


class Driver:
    """The driver's copy of the same number of bytes."""

    def __init__(self, device):
        backend, index = device.split(':')
        self.cuda = backend == 'cuda'
        names = ['libcuda.so.1'] if self.cuda else [f'libamdhip64.so.{n}' for n in (7, 6, 5)]
        for name in names:
            try:
                self.lib = ct.CDLL(name)
                break
            except OSError as error:
                why = error
        else:
            raise why
        if self.cuda:
            context = ct.c_void_p()
            self.check(self.lib.cuInit(0))
            self.check(self.lib.cuDevicePrimaryCtxRetain(ct.byref(context), int(index)))
            self.check(self.lib.cuCtxSetCurrent(context))
        else:
            self.check(self.lib.hipSetDevice(int(index)))
        self.copy = getattr(self.lib, 'cuMemcpyDtoDAsync_v2' if self.cuda else 'hipMemcpyDtoDAsync')
        self.copy.argtypes = [ct.c_uint64, ct.c_uint64, ct.c_size_t, ct.c_void_p]

    @staticmethod
    def check(code):
        if code:
            raise OSError(f'the driver returned {code}')

    def call(self, name, nin, shared):
        facts = [one.__cuda_array_interface__ for one in shared]
        start, end = facts[0]['data'][0], facts[2]['data'][0]
        bytes_of = 4 * facts[0]['shape'][0]
        return lambda: self.check(self.copy(end, start, bytes_of, None))

    def wait(self):
        self.check(self.lib.cuCtxSynchronize() if self.cuda else self.lib.hipDeviceSynchronize())


class CuPy:
    def __init__(self, device):
        import cupy
        self.cupy, self.device = cupy, cupy.cuda.Device(int(device.split(':')[1]))
        self.device.use()

    def call(self, name, nin, shared):
        *inputs, out = [self.cupy.asarray(one) for one in (*shared[:nin], shared[2])]
        function = getattr(self.cupy, name)
        return lambda: function(*inputs, out=out)

    def wait(self):
        self.device.synchronize()


class Torch:
    def __init__(self, device):
        import torch
        if not torch.cuda.is_available():
            raise RuntimeError('it finds no device')
        self.torch, self.device = torch, f'cuda:{device.split(":")[1]}'

    def call(self, name, nin, shared):
        *inputs, out = [self.torch.as_tensor(one, device=self.device)
                        for one in (*shared[:nin], shared[2])]
        function = getattr(self.torch, name)
        return lambda: function(*inputs, out=out)

    def wait(self):
        self.torch.cuda.synchronize()


class Numba:
    def __init__(self, device):
        from numba import cuda, vectorize
        if not cuda.is_available():
            raise RuntimeError('it finds no device')
        cuda.select_device(int(device.split(':')[1]))
        self.cuda, self.vectorize = cuda, vectorize
        self.functions = {'add': lambda x, y: x + y, 'negative': lambda x: -x,
                          'sin': lambda x: math.sin(x)}

    def call(self, name, nin, shared):
        signature = f'float32({", ".join(["float32"] * nin)})'
        function = self.vectorize([signature], target='cuda')(self.functions[name])
        *inputs, out = [self.cuda.as_cuda_array(one) for one in (*shared[:nin], shared[2])]
        return lambda: function(*inputs, out=out)

    def wait(self):
        self.cuda.synchronize()


def batch_of(nbytes):
    """Returns the number of calls between two waits. It is higher for small sizes, for which the
    wait would take most of the time."""
    return min(max((2 << 30) // nbytes, 2), 20)


def sample(runner, call, batch):
    """Returns the nanoseconds of one call, averaged over a batch."""
    started = time.perf_counter_ns()
    for _ in range(batch):
        call()
    runner.wait()
    return (time.perf_counter_ns() - started) / batch


def measure(runners, ours, size, name, options, end):
    """Measures one workload and yields result rows. All runners take turns in each round."""
    nin, nbytes = WORK[name], 4 * size
    shared, calls, least, batch = ours.buffers(size), {}, {}, batch_of(nbytes)
    for who, runner in runners.items():
        try:
            calls[who] = runner.call(name, nin, shared)
            sample(runner, calls[who], batch)
        except Exception as error:  # noqa: BLE001 - becomes a row of the table
            if runner is ours:
                raise
            calls.pop(who, None)
            yield {'name': f'{name} f32 {nbytes}: {who}', 'state': 'skipped', 'detail': str(error)}
    for number in range(options.rounds):
        if number >= 3 and time.monotonic() > end:
            break
        for who, call in calls.items():
            took = sample(runners[who], call, batch)
            least[who] = min(took, least.get(who, took))
    for who, ns in least.items():
        moved = nbytes * (2 if who == 'driver copy' else nin + 1)
        row = {'name': f'{name} f32 {nbytes}: {who}', 'state': 'measured', 'ns': ns,
               'bytes_per_second': moved / ns * 1e9, 'rounds': number + 1,
               'over_gufunc': ns / least['gufunc']}
        row['detail'] = (f'{moved / ns:.1f} GB/s, {row["over_gufunc"]:.2f} of our time')
        yield row


def find_peers(device):
    """Returns the other libraries that can be used, and a row for each library that cannot."""
    found, rows = {}, []
    peers = {'driver copy': Driver, 'cupy': CuPy, 'numba-cuda': Numba, 'pytorch': Torch}
    for name, kind in peers.items():
        try:
            found[name] = kind(device)
        except Exception as error:  # noqa: BLE001 - the row contains the reason
            rows.append({'name': name, 'state': 'skipped', 'detail': str(error).split('\n')[0]})
    return found, rows


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument('--library', required=True)
    parser.add_argument('--device', default='cuda:0')
    parser.add_argument('--bytes', type=int, nargs='*', default=[4 * MIB, 64 * MIB, 256 * MIB],
                        help='sizes of each operand in bytes')
    parser.add_argument('--rounds', type=int, default=50)
    parser.add_argument('--seconds', type=float, default=60,
                        help='time limit; at least three rounds run')
    parser.add_argument('--json', help='write the results to this file')
    options = parser.parse_args()
    ours = Gufunc(abi.Library(os.path.abspath(options.library)), options.device)
    found, rows = find_peers(options.device)
    runners = {'gufunc': ours, **found}
    steps = [(nbytes // 4, name) for nbytes in options.bytes for name in WORK]
    started = time.monotonic()
    for number, (size, name) in enumerate(steps):
        end = started + options.seconds * (number + 1) / len(steps)
        try:
            rows += measure(runners, ours, size, name, options, end)
        except abi.GufuncError as error:
            status = ours.lib.guf_status_name(error.status).decode()
            failed = status != 'GUF_E_DEVICE_MEMORY'
            rows.append({'name': f'{name} f32 {4 * size}',
                         'state': 'FAILED' if failed else 'skipped',
                         'detail': f'{status}: {error}'})
        if options.json:  # written after every row, so that an interrupted run keeps its results
            pathlib.Path(options.json).write_text(json.dumps(rows, indent=1) + '\n')
    ours.release()
    for row in rows:
        print(f'{row["name"]:<36} {row["state"]:<9} {row["detail"]}')
    return 1 if any(row['state'] == 'FAILED' for row in rows) else 0


if __name__ == '__main__':
    np.seterr(all='ignore')
    sys.exit(main())
