# SPDX-License-Identifier: Apache-2.0
"""Measures calls of other libraries for `gufunc bench`, which contains this script and runs it with
python3 -c. Each request is one line of JSON on standard input, and each answer is one line on
standard output:

    {"do": "find", "peers": [NAME...]}
        {"python": VERSION, "versions": {NAME: VERSION}, "missing": {NAME: REASON}}
    {"do": "prepare", ...}, and the bytes of the patterns of the inputs
        {"reasons": {NAME: null, or why the library does not run this workload}}
    {"do": "sample", "peer": NAME, "calls": N}
        {"ns": the time of N calls}

An operand has a dtype, the number of elements of its memory ("size"), and the shape and the strides
of the view, in elements. The pattern fills the memory repeatedly."""

import sys

sys.path[:] = [folder for folder in sys.path if folder]  # no modules of the current folder

import functools
import importlib
import itertools
import json
import os
import time


class Unsupported(Exception):
    """The library does not run this workload."""


def bound(function, work, inputs, outputs):
    """Returns a call of a ufunc or of its method, without arguments."""
    out = outputs[0] if len(outputs) == 1 else tuple(outputs)
    if work['method'] == 'call':
        return functools.partial(function, *inputs, out=out)
    method = getattr(function, work['method'])
    return functools.partial(method, inputs[0], axis=work['axis'], out=out)


class Numpy:
    """Calls ufuncs of NumPy. The other classes use its arrays."""

    def __init__(self, module):
        self.numpy = module

    def flat(self, operand, pattern):
        """Returns the memory of an operand. NumPy has no bfloat16: its elements are uint16."""
        dtype = 'uint16' if operand['dtype'] == 'bfloat16' else operand['dtype']
        if not pattern:
            return self.numpy.zeros(operand['size'], dtype)
        return self.numpy.resize(self.numpy.frombuffer(pattern, dtype), operand['size'])

    def view(self, flat, operand):
        if operand['dtype'] == 'bfloat16':
            raise Unsupported('no bfloat16')
        strides = [step * flat.itemsize for step in operand['strides']]
        return self.numpy.lib.stride_tricks.as_strided(flat, operand['shape'], strides)

    def ufunc(self, work):
        function = getattr(self.numpy, work['function'], None)
        counts = len(work['inputs']), len(work['outputs'])
        if not isinstance(function, self.numpy.ufunc) or (
            work['method'] == 'call' and (function.nin, function.nout) != counts
        ):
            raise Unsupported(f'no ufunc {work["function"]}')
        return function

    def call(self, work, memory):
        if work['device'] != 'cpu':
            raise Unsupported('only on the cpu')
        views = [self.view(*pair) for pair in zip(memory, work['inputs'] + work['outputs'])]
        count = len(work['inputs'])
        return bound(self.ufunc(work), work, views[:count], views[count:])

    def synchronize(self):
        pass

    def release(self):
        """Returns the memory of deleted arrays to the device."""


class Numba(Numpy):
    """Compiles a ufunc with numba.vectorize from the function of NumPy of the same name."""

    def __init__(self, module):
        super().__init__(importlib.import_module('numpy'))
        self.numba = module

    def ufunc(self, work):
        function = super().ufunc(work)
        if function.signature or function.nout != 1:
            raise Unsupported('only elementwise functions with one output')
        names = ', '.join(f'x{i}' for i in range(function.nin))
        scalar = eval(f'lambda {names}: numpy.{work["function"]}({names})', {'numpy': self.numpy})
        operands = work['inputs'] if work['method'] == 'call' else work['outputs'] * function.nin
        out, *types = [self.numba.from_dtype(self.numpy.dtype(operand['dtype']))
                       for operand in work['outputs'] + operands]
        most = self.numba.config.NUMBA_NUM_THREADS
        self.numba.set_num_threads(min(work['threads'] or most, most))
        target = 'cpu' if work['threads'] == 1 else 'parallel'
        return self.numba.vectorize([out(*types)], target=target)(scalar)


class Torch:
    """Calls functions of PyTorch with out=, or without it if a function does not have out=."""

    NAMES = {
        'absolute': 'abs', 'conjugate': 'conj_physical', 'degrees': 'rad2deg', 'equal': 'eq',
        'fabs': 'abs', 'invert': 'bitwise_not', 'left_shift': 'bitwise_left_shift',
        'power': 'pow', 'radians': 'deg2rad', 'right_shift': 'bitwise_right_shift',
        'rint': 'round',
        # torch.positive returns its input, and the others do not apply to each row.
        'positive': None, 'cross': None, 'median': None, 'norm': None, 'select': None,
    }  # torch.equal returns one bool
    REDUCTIONS = {
        'add': 'sum', 'logical_and': 'all', 'logical_or': 'any', 'maximum': 'amax',
        'minimum': 'amin', 'multiply': 'prod',
    }
    SCANS = {'add': 'cumsum', 'multiply': 'cumprod'}
    TYPED = 'sum prod cumsum cumprod'.split()  # would otherwise choose the dtype of the result

    def __init__(self, module):
        self.torch, self.threads = module, module.get_num_threads()
        self.device = None

    def function(self, work):
        name = work['function']
        names = {'call': self.NAMES, 'reduce': self.REDUCTIONS, 'accumulate': self.SCANS}
        name = names[work['method']].get(name, name if work['method'] == 'call' else None)
        if work['method'] == 'call' and name == 'vecdot':
            return self.torch.linalg.vecdot, {}
        found = getattr(self.torch, name, None) if name else None
        if not callable(found):
            raise Unsupported(f'no {work["method"]} of {work["function"]}')
        out = getattr(self.torch, work['outputs'][0]['dtype'], None)
        return found, {'dtype': out} if name in self.TYPED else {}

    def place(self, work):
        kind, _, index = work['device'].partition(':')
        if kind == 'cpu':
            return self.torch.device('cpu')
        hip = self.torch.version.hip is not None
        if not self.torch.cuda.is_available() or kind != ('roc' if hip else 'cuda'):
            raise Unsupported(f'no device {work["device"]}')
        return self.torch.device(f'cuda:{index}')

    def view(self, flat, operand):
        dtype = getattr(self.torch, operand['dtype'], None)
        if dtype is None:
            raise Unsupported(f'no {operand["dtype"]}')
        memory = self.torch.frombuffer(flat, dtype=dtype).to(self.device)
        return memory.as_strided(operand['shape'], operand['strides'])

    def call(self, work, memory):
        function, options = self.function(work)
        self.device = self.place(work)
        self.torch.set_num_threads(work['threads'] or self.threads)
        count = len(work['inputs'])
        views = [self.view(*pair) for pair in zip(memory, work['inputs'] + work['outputs'])]
        arguments, outputs = views[:count], views[count:]
        if work['method'] != 'call':
            axes = work['axis']
            arguments.append(tuple(range(arguments[0].dim())) if axes is None else axes)
        out = outputs[0] if len(outputs) == 1 else tuple(outputs)
        call = functools.partial(function, *arguments, out=out, **options)
        try:
            call()
        except TypeError:  # no out=
            call = functools.partial(function, *arguments)
        return call

    def synchronize(self):
        if self.device.type != 'cpu':
            self.torch.cuda.synchronize(self.device)

    def release(self):
        if self.device is not None and self.device.type != 'cpu':
            self.torch.cuda.empty_cache()


class Cupy(Numpy):
    """Calls ufuncs of CuPy on GPUs."""

    def __init__(self, module):
        self.numpy = self.cupy = module
        if module.cuda.runtime.getDeviceCount() == 0:
            raise Unsupported('no device')

    def call(self, work, memory):
        kind, _, index = work['device'].partition(':')
        if kind != ('roc' if self.cupy.cuda.runtime.is_hip else 'cuda'):
            raise Unsupported(f'no device {work["device"]}')
        self.cupy.cuda.Device(int(index)).use()
        memory = [self.cupy.asarray(flat) for flat in memory]
        return super().call({**work, 'device': 'cpu'}, memory)

    def synchronize(self):
        self.cupy.cuda.Device().synchronize()

    def release(self):
        self.cupy.get_default_memory_pool().free_all_blocks()


KINDS = {'numpy': Numpy, 'numba': Numba, 'torch': Torch, 'cupy': Cupy}


def described(error):
    """Returns the first line of an error, as one line of a report shows it."""
    lines = str(error).splitlines() or ['']
    kind = '' if isinstance(error, Unsupported) else f'{type(error).__name__}: '
    return f'{kind}{lines[0]}'[:200]


def find(names):
    """Imports the libraries. All of them need NumPy, which makes the operands."""
    peers, versions, missing = {}, {}, {}
    for name in ['numpy', *(name for name in names if name != 'numpy')]:
        try:
            module = importlib.import_module(name)
            peers[name], versions[name] = KINDS[name](module), str(module.__version__)
        except ModuleNotFoundError as error:
            missing[name] = 'not installed' if error.name == name else described(error)
        except Exception as error:
            missing[name] = described(error)
    if 'numpy' in missing:
        missing = {name: 'needs numpy' for name in names} | {'numpy': missing['numpy']}
        peers, versions = {}, {}
    return peers, {'python': sys.version.split()[0], 'versions': versions, 'missing': missing}


def prepare(peers, work, read):
    """Returns the calls of the libraries that run a workload, and the reasons of the other ones.
    Each call has run once: Numba compiles during the first call."""
    calls, reasons, numpy = {}, {}, peers.get('numpy')
    memory = [numpy.flat(operand, read(operand['pattern']))
              for operand in work['inputs'] + work['outputs']]
    for name in work['peers']:
        try:
            calls[name] = peers[name].call(work, memory)
            calls[name]()
            peers[name].synchronize()
            reasons[name] = None
        except Exception as error:
            calls.pop(name, None)
            reasons[name] = described(error)
    return calls, {'reasons': reasons}


def sample(call, peer, count):
    """Returns the time of `count` calls, after one call that reads the operands into the cache."""
    call()
    peer.synchronize()
    start = time.perf_counter_ns()
    for _ in itertools.repeat(None, count):
        call()
    peer.synchronize()
    return time.perf_counter_ns() - start


def main():
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), 'w')
    os.dup2(2, 1)  # output of the libraries is not an answer
    peers, calls = {}, {}
    for line in requests:
        request = json.loads(line)
        if request['do'] == 'find':
            peers, answer = find(request['peers'])
        elif request['do'] == 'prepare':
            calls.clear()  # frees the operands
            for peer in peers.values():
                peer.release()
            calls, answer = prepare(peers, request, requests.read)
        else:
            name = request['peer']
            answer = {'ns': sample(calls[name], peers[name], request['calls'])}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == '__main__':
    main()
