# SPDX-License-Identifier: Apache-2.0
"""Declares the part of libgufunc's C ABI that the oracle needs, with ctypes, and makes calls and
calls the methods of ufuncs on arrays in NumPy's memory."""

import collections
import ctypes as ct

import numpy as np

import caller

MAX_OPERANDS, MAX_NDIM = 32, 64
ALL_AXES = -1
KIND_ARRAY, GUF_E_INDEX, GUF_E_VALUE, GUF_E_LOOP = 1, 400, 304, 1201
GUF_E_UNSUPPORTED, GUF_E_NO_IMAGE = 800, 801
ABSENT = object()  # marks an omitted keyword, because None can be a value

UNITS = ['generic', 'Y', 'M', 'W', 'D', 'h', 'm', 's', 'ms', 'us', 'ns', 'ps', 'fs', 'as']


class Codes(dict):
    """Maps dtype letters to numbers. The numbers of datetime types ('M8[25s]') are computed."""

    def __missing__(self, letter):
        unit, multiple = np.datetime_data(np.dtype(letter))
        code = 0x80 + (letter[0] == 'm')
        return code | UNITS.index(unit) << 8 | multiple << 16


class Letters(dict):
    def __missing__(self, code):
        multiple, unit = code >> 16, UNITS[code >> 8 & 0xFF]
        letter = 'Mm'[code & 1] + '8'
        count = str(multiple) if multiple > 1 else ''
        return letter if unit == 'generic' else f'{letter}[{count}{unit}]'


DTYPES = Codes({
    '?': 0x10806,
    'b': 0x10800,
    'h': 0x11000,
    'i': 0x12000,
    'q': 0x14000,
    'B': 0x10801,
    'H': 0x11001,
    'I': 0x12001,
    'Q': 0x14001,
    'e': 0x11002,
    'E': 0x11004,
    'f': 0x12002,
    'd': 0x14002,
    'F': 0x14005,
    'D': 0x18005,
})
LETTERS = Letters({code: letter for letter, code in DTYPES.items()})


def letter_of(dtype):
    """Returns the name that cases and the tables in this file use for a NumPy dtype."""
    if dtype.kind in 'mM':
        return dtype.str[1:]
    return {'l': 'q', 'L': 'Q'}.get(dtype.char, dtype.char)


CASTING = {None: 0, 'no': 1, 'equiv': 2, 'safe': 3, 'same_kind': 4, 'unsafe': 5}
ORDER = {'K': 0, 'C': 1, 'F': 2, 'A': 3}


class Error(ct.Structure):
    _fields_ = [
        ('struct_size', ct.c_uint32),
        ('status', ct.c_int32),
        ('argument', ct.c_int32),
        ('axis', ct.c_int32),
        ('native_code', ct.c_int32),
        ('reserved', ct.c_int32),
        ('message', ct.c_char * 488),
    ]


class Tensor(ct.Structure):
    _fields_ = [
        ('struct_size', ct.c_uint32),
        ('dtype', ct.c_uint32),
        ('ndim', ct.c_int32),
        ('flags', ct.c_uint32),
        ('address', ct.c_uint64),
        ('shape', ct.POINTER(ct.c_int64)),
        ('strides', ct.POINTER(ct.c_int64)),
        ('device', ct.c_void_p),
    ]


class Operand(ct.Structure):
    _fields_ = [
        ('kind', ct.c_int32),
        ('dtype', ct.c_uint32),
        ('flags', ct.c_uint32),
        ('reserved', ct.c_uint32),
        ('array', ct.c_void_p),
        ('tensor', ct.POINTER(Tensor)),
        ('value', ct.c_uint64 * 2),
    ]


class Dim(ct.Structure):
    _fields_ = [('name', ct.c_char_p), ('size', ct.c_int64)]


class CoreAxes(ct.Structure):
    _fields_ = [
        ('axis', ct.POINTER(ct.c_int64)),
        ('naxis', ct.c_int32),
        ('reserved', ct.c_uint32),
    ]


def core_axes(entries):
    """Returns the value of guf_call_args.axes. `entries` has the list of axes of each operand."""
    return (CoreAxes * len(entries))(
        *(CoreAxes((ct.c_int64 * len(own))(*own), len(own)) for own in entries))


class CallOptions(ct.Structure):
    _fields_ = [
        ('stream', ct.c_void_p),
        ('device', ct.c_void_p),
        ('fp_flags', ct.POINTER(ct.c_uint32)),
        ('fp_report', ct.c_uint32),
        ('fp_fail', ct.c_uint32),
        ('threads', ct.c_uint32),
        ('reserved', ct.c_uint32),
    ]


class CallArgs(ct.Structure):
    _fields_ = [
        ('struct_size', ct.c_uint32),
        ('flags', ct.c_uint32),
        ('ninputs', ct.c_int32),
        ('noutputs', ct.c_int32),
        ('inputs', ct.POINTER(Operand)),
        ('outputs', ct.POINTER(Operand)),
        ('where', ct.POINTER(Operand)),
        ('options', CallOptions),
        ('casting', ct.c_int32),
        ('order', ct.c_int32),
        ('dtype', ct.c_uint32),
        ('nsignature', ct.c_int32),
        ('signature', ct.POINTER(ct.c_uint32)),
        ('axes', ct.POINTER(CoreAxes)),
        ('axis', ct.POINTER(ct.c_int64)),
        ('dims', ct.POINTER(Dim)),
        ('naxes', ct.c_int32),
        ('ndims', ct.c_int32),
        ('host_policy', ct.c_int32),
        ('reserved', ct.c_uint32),
    ]


OPERATIONS = ('call', 'outer', 'reduce', 'accumulate', 'reduceat', 'at')


class Request(ct.Structure):
    _fields_ = [
        ('struct_size', ct.c_uint32),
        ('operation', ct.c_int32),
        ('call', ct.c_void_p),
        ('reduce', ct.c_void_p),
        ('accumulate', ct.c_void_p),
        ('at', ct.c_void_p),
    ]


def request_of(operation, args):
    """A guf_request for the operation, with the arguments `args`, which must stay alive."""
    field = {'outer': 'call', 'reduceat': 'accumulate'}.get(operation, operation)
    made = Request(
        struct_size=ct.sizeof(Request), operation=OPERATIONS.index(operation) + 1
    )
    setattr(made, field, ct.addressof(args))
    return made


class ReduceArgs(ct.Structure):
    _fields_ = [
        ('struct_size', ct.c_uint32),
        ('flags', ct.c_uint32),
        ('input', ct.POINTER(Operand)),
        ('output', ct.POINTER(Operand)),
        ('axis', ct.POINTER(ct.c_int64)),
        ('initial', ct.POINTER(Operand)),
        ('where', ct.POINTER(Operand)),
        ('options', CallOptions),
        ('naxis', ct.c_int32),
        ('order', ct.c_int32),
        ('dtype', ct.c_uint32),
        ('noutputs', ct.c_int32),
        ('outputs', ct.POINTER(Operand)),
        ('parameters', ct.POINTER(Operand)),
        ('nparameters', ct.c_int32),
        ('reserved', ct.c_uint32),
    ]


class AccumulateArgs(ct.Structure):
    _fields_ = [
        ('struct_size', ct.c_uint32),
        ('flags', ct.c_uint32),
        ('input', ct.POINTER(Operand)),
        ('indices', ct.POINTER(Operand)),
        ('output', ct.POINTER(Operand)),
        ('options', CallOptions),
        ('axis', ct.c_int64),
        ('dtype', ct.c_uint32),
        ('order', ct.c_int32),
    ]


class AtArgs(ct.Structure):
    _fields_ = [
        ('struct_size', ct.c_uint32),
        ('flags', ct.c_uint32),
        ('array', ct.POINTER(Operand)),
        ('indices', ct.POINTER(Operand)),
        ('operand', ct.POINTER(Operand)),
        ('options', CallOptions),
        ('nindices', ct.c_int32),
        ('reserved', ct.c_uint32),
    ]


class Resolution(ct.Structure):
    _fields_ = [
        ('struct_size', ct.c_uint32),
        ('loop', ct.c_uint32),
        ('noperands', ct.c_int32),
        ('reserved', ct.c_uint32),
        ('loop_dtypes', ct.c_uint32 * MAX_OPERANDS),
        ('dtypes', ct.c_uint32 * MAX_OPERANDS),
        ('output_ndims', ct.c_int32 * MAX_OPERANDS),
        ('output_shapes', (ct.c_int64 * MAX_NDIM) * MAX_OPERANDS),
    ]


class ArrayInfo(ct.Structure):
    _fields_ = [
        ('struct_size', ct.c_uint32),
        ('dtype', ct.c_uint32),
        ('ndim', ct.c_int32),
        ('flags', ct.c_uint32),
        ('address', ct.c_uint64),
        ('size', ct.c_uint64),
        ('nbytes', ct.c_uint64),
        ('device', ct.c_void_p),
        ('shape', ct.c_int64 * MAX_NDIM),
        ('strides', ct.c_int64 * MAX_NDIM),
    ]


class DeviceInfo(ct.Structure):
    _fields_ = [
        ('struct_size', ct.c_uint32),
        ('index', ct.c_int32),
        ('units', ct.c_uint32),
        ('host_memory', ct.c_uint32),
        ('memory_bytes', ct.c_uint64),
        ('backend', ct.c_char * 32),
        ('name', ct.c_char * 128),
        ('target', ct.c_char * 64),
        ('spec', ct.c_char * 64),
    ]


class BFloat16:
    """A two-byte array with bfloat16 elements, which NumPy lacks."""

    def __init__(self, bits):
        self.bits = bits


class GufuncError(Exception):
    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


class Library:
    """The library. Each method of a ufunc returns (letter, array, strides) of `out`, or of a copy
    of the result if the library allocated it."""

    def __init__(self, path):
        self.lib = ct.CDLL(path)
        self.lib.guf_status_name.restype = ct.c_char_p
        self.lib.guf_call.argtypes = [ct.c_void_p, ct.POINTER(CallArgs), ct.POINTER(Error)]
        self.lib.guf_explain.argtypes = [ct.c_void_p] * 5
        self.lib.guf_array_release.argtypes = [ct.c_void_p, ct.c_void_p]
        self.lib.guf_array_copy_to_host.argtypes = [
            ct.c_void_p, ct.c_uint64, ct.c_uint64, ct.c_int32, ct.c_void_p, ct.c_void_p
        ]
        self.lib.guf_array_get_info.argtypes = [ct.c_void_p, ct.POINTER(ArrayInfo), ct.c_void_p]
        for name in ('reduce', 'accumulate', 'reduceat', 'outer', 'at'):
            error = ct.POINTER(Error)
            getattr(self.lib, f'guf_{name}').argtypes = [ct.c_void_p, ct.c_void_p, error]
        self.lib.guf_resolve.argtypes = [
            ct.c_void_p,
            ct.POINTER(Request),
            ct.POINTER(Resolution),
            error,
        ]
        self.error = Error()
        self.error.struct_size = ct.sizeof(Error)
        self.ufuncs, self.modules = {}, []
        self.refused = 0
        self.explanation = ''
        self.device, self.spec = None, ''
        self.caller, self.control = None, None  # caller's control word, a key of caller.CONTROLS
        self.skipped = collections.Counter()  # numbers of documented errors of the device

    def check(self, status):
        if status != 0:
            self.refused += 1
            raise GufuncError(status, self.error.message.decode())

    def use_caller(self, path):
        """Loads the library that sets control words for calls and has failing loops."""
        self.caller = caller.Caller(path)
        self.caller.add_functions(self)

    def failing_name(self, kind):
        return caller.failing_name(kind)

    def choose_failure(self, fails):
        self.caller.choose_failure(fails)

    def end_failure(self):
        return self.caller.end_failure()

    def invoke(self, function, name, args):
        """Calls guf_call or a method under the caller's control word, and returns the status."""
        arguments = (self.find(name), ct.byref(args), ct.byref(self.error))
        if self.control is None:
            return function(*arguments)
        return self.caller.call(self.control, function, *arguments)

    def watch(self, args, report, fail=0):
        """Makes a call with the arguments `args` store the raised floating-point flags among
        `report` in `fp_flags`. The call fails if it raises a flag in `fail`."""
        self.fp_flags = ct.c_uint32()
        args.options.fp_report, args.options.fp_fail = report, fail
        if report:
            args.options.fp_flags = ct.pointer(self.fp_flags)

    def use_device(self, spec):
        """Runs all later calls on a device. Operands in NumPy's memory are copied to the device,
        and results are copied back."""
        device = ct.c_void_p()
        error = ct.byref(self.error)
        self.check(self.lib.guf_device_get(None, spec.encode(), ct.byref(device), error))
        self.device, self.spec = device, spec

    def target(self):
        """Returns the device's target, such as 'gfx1100', which selects the images."""
        info = DeviceInfo(ct.sizeof(DeviceInfo))
        self.check(self.lib.guf_device_get_info(self.device, ct.byref(info), ct.byref(self.error)))
        return info.target.decode()

    def skips(self, error, name, texts):
        """Returns whether the device rejected the call with one of the documented errors in
        `texts`. Counts such errors under `name`.
        """
        if not self.device or error.status not in texts:
            return False
        if not any(text in str(error) for text in texts[error.status]):
            return False
        self.skipped[name] += 1
        return True

    def report_skipped(self):
        for name, times in sorted(self.skipped.items()):
            print(f'refused by the device, as documented: {times} {name}')

    def load_module(self, path):
        """Loads a module of kernels. Its functions can then be found by name."""
        module = ct.c_void_p()
        self.check(
            self.lib.guf_module_load(None, path.encode(), 0, ct.byref(module), ct.byref(self.error))
        )
        self.modules.append(path)

    def find(self, name):
        if name not in self.ufuncs:
            handle = ct.c_void_p()
            self.check(
                self.lib.guf_ufunc_find(None, name.encode(), ct.byref(handle), ct.byref(self.error))
            )
            self.ufuncs[name] = handle
        return self.ufuncs[name]

    @staticmethod
    def operand(value, keep):
        """Returns an operand in NumPy's memory, or a scalar. int, float and complex are weak;
        NumPy's scalars are not."""
        operand = Operand()
        if value is None:
            return operand
        if isinstance(value, (np.ndarray, BFloat16)):
            array = value.bits if isinstance(value, BFloat16) else value
            shape = (ct.c_int64 * max(array.ndim, 1))(*array.shape)
            strides = (ct.c_int64 * max(array.ndim, 1))(*array.strides)
            native = array.dtype.newbyteorder('=')
            letter = 'E' if isinstance(value, BFloat16) else letter_of(native)
            flags = (0 if array.flags.writeable else 1) | (0 if array.dtype.isnative else 2)
            tensor = Tensor(
                ct.sizeof(Tensor),
                DTYPES[letter],
                array.ndim,
                flags,
                array.__array_interface__['data'][0],
                shape,
                strides,
                None,
            )
            keep.extend((shape, strides, tensor, array))
            operand.kind, operand.tensor = 2, ct.pointer(tensor)
        elif isinstance(value, np.generic):
            operand.kind, operand.dtype = 3, DTYPES[letter_of(value.dtype)]
            raw = value.tobytes().ljust(16, b'\0')
            operand.value[0], operand.value[1] = np.frombuffer(raw, np.uint64)
        elif isinstance(value, int):
            if -(2**63) <= value < 2**63:
                operand.kind, operand.value[0] = 4, value & (2**64 - 1)
            else:
                operand.kind, operand.value[0] = 5, min(abs(value), 2**64 - 1)
                operand.value[1] = int(value < 0) + 2 * (abs(value) >= 2**64)
        elif isinstance(value, float):
            operand.kind, operand.value[0] = 6, int(np.float64(value).view(np.uint64))
        else:
            operand.kind = 7
            operand.value[0] = int(np.float64(value.real).view(np.uint64))
            operand.value[1] = int(np.float64(value.imag).view(np.uint64))
        return operand

    def call(
        self,
        name,
        inputs,
        outputs,
        *,
        where=None,
        casting=None,
        order='K',
        dtype=None,
        signature=None,
        axes=None,
        axis=None,
        keepdims=False,
        dims=None,
        threads=0,
        report=0,
        fail=0,
        explain=False,
    ):
        """Makes a call. Returns the outputs with strides and dtype letters; allocated outputs are
        copied to NumPy arrays. Afterwards `fp_flags` contains the raised floating-point flags among
        `report` and, with `explain`, `explanation` contains the text of guf_explain."""
        keep = []
        args = CallArgs()
        args.struct_size = ct.sizeof(CallArgs)
        ins = (Operand * max(len(inputs), 1))(*[self.operand(value, keep) for value in inputs])
        outs = (Operand * max(len(outputs), 1))(*[self.operand(value, keep) for value in outputs])
        args.ninputs, args.inputs = len(inputs), ins
        args.noutputs, args.outputs = len(outputs), outs
        args.casting, args.order = CASTING[casting], ORDER[order]
        args.dtype = DTYPES[dtype] if dtype else 0
        if signature is not None:
            types = [DTYPES[letter] if letter else 0 for letter in signature]
            args.signature, args.nsignature = (ct.c_uint32 * len(types))(*types), len(types)
        args.flags = int(keepdims)
        args.options.threads, args.options.device = threads, self.device
        self.watch(args, report, fail)
        if where is not None:
            mask = self.operand(where, keep)
            args.where = ct.pointer(mask)
        if axis is not None:
            args.axis = ct.pointer(ct.c_int64(axis))
        if axes is not None:
            args.axes, args.naxes = core_axes(axes), len(axes)
        if dims:
            sizes = [Dim(dim.encode(), size) for dim, size in dims.items()]
            args.dims, args.ndims = (Dim * len(sizes))(*sizes), len(sizes)
        self.explanation = self.explain(name, args) if explain else ''
        self.check(self.invoke(self.lib.guf_call, name, args))
        if self.device:  # a call whose operands are all scalars may still be queued
            wait = self.lib.guf_device_synchronize
            self.check(wait(self.device, ct.c_uint64(2**64 - 1), ct.byref(self.error)))
        return [self.result(outs[i]) if value is None else value for i, value in enumerate(outputs)]

    def explain(self, name, args):
        """Returns the text of guf_explain for a call, or '' if it fails."""
        text, length = ct.create_string_buffer(8192), ct.c_uint64(8192)
        status = self.lib.guf_explain(
            self.find(name),
            ct.byref(request_of('call', args)),
            text,
            ct.byref(length),
            ct.byref(self.error),
        )
        return '' if status else text.value.decode()

    def result(self, operand):
        info = ArrayInfo()
        info.struct_size = ct.sizeof(ArrayInfo)
        self.check(self.lib.guf_array_get_info(operand.array, ct.byref(info), None))
        letter = LETTERS[info.dtype]
        shape, strides = tuple(info.shape[: info.ndim]), tuple(info.strides[: info.ndim])
        dtype = np.dtype(np.uint16 if letter == 'E' else letter)
        if self.device and not shape:
            # If all operands are scalars, the call allocated the result on the device.
            view = np.empty(shape, dtype)
            address = view.__array_interface__['data'][0]
            copy = self.lib.guf_array_copy_to_host
            self.check(copy(operand.array, address, info.nbytes, 1, None, ct.byref(self.error)))
        elif info.size:
            low = sum(min(0, s * (n - 1)) for n, s in zip(shape, strides))
            high = sum(max(0, s * (n - 1)) for n, s in zip(shape, strides)) + dtype.itemsize
            raw = (ct.c_char * (high - low)).from_address(info.address + low)
            view = np.ndarray(shape, dtype, np.frombuffer(raw, np.uint8), -low, strides).copy(
                order='K'
            )
        else:
            view = np.empty(shape, dtype)
        self.lib.guf_array_release(operand.array, None)
        return letter, view, strides

    def run(self, method, name, args, report=0):
        args.struct_size, args.options.device = ct.sizeof(args), self.device
        self.watch(args, report)
        function, handle = getattr(self.lib, f'guf_{method}'), self.find(name)
        answer = Resolution(struct_size=ct.sizeof(Resolution))
        request = request_of(method, args)
        requested = self.lib.guf_resolve(handle, ct.byref(request), ct.byref(answer), None)
        status = self.invoke(function, name, args)
        # guf_resolve cannot return the following statuses, because it reads no index, element or
        # device image and runs no loop.
        unasked = [GUF_E_VALUE, GUF_E_LOOP]
        if self.device:
            unasked += [GUF_E_UNSUPPORTED, GUF_E_NO_IMAGE]
        if requested != status and status != GUF_E_INDEX and (requested or status not in unasked):
            raise AssertionError(
                f'guf_resolve of {method} returns {requested}, guf_{method} {status}'
            )
        self.check(status)
        if method != 'at':
            self.compare(method, answer, args.outputs if method == 'outer' else args.output)

    def compare(self, method, answer, output):
        """Compares an allocated result with the description that guf_resolve returned."""
        if output[0].kind != KIND_ARRAY:
            return
        info = ArrayInfo(struct_size=ct.sizeof(ArrayInfo))
        self.check(self.lib.guf_array_get_info(output[0].array, ct.byref(info), None))
        resolved = answer.dtypes[2], list(answer.output_shapes[0][: answer.output_ndims[0]])
        found = info.dtype, list(info.shape[: info.ndim])
        if resolved != found:
            raise AssertionError(
                f'guf_resolve of {method} reports {resolved}, the result is {found}'
            )

    def answer(self, operand, out):
        return self.result(operand) if out is None else out

    def reduce(
        self,
        name,
        source,
        out=None,
        *,
        axis=ABSENT,
        initial=ABSENT,
        where=None,
        dtype=None,
        keepdims=False,
        threads=0,
        report=0,
    ):
        keep, args = [], ReduceArgs()
        given, output = self.operand(source, keep), self.operand(out, keep)
        args.input, args.output = ct.pointer(given), ct.pointer(output)
        if axis is None:
            args.naxis = ALL_AXES
        elif axis is not ABSENT:
            axes = [axis] if isinstance(axis, int) else list(axis)
            args.axis, args.naxis = (ct.c_int64 * max(len(axes), 1))(*axes), len(axes)
        if initial is not ABSENT:
            args.initial = ct.pointer(self.operand(initial, keep))
        if where is not None:
            args.where = ct.pointer(self.operand(where, keep))
        args.dtype = DTYPES[dtype] if dtype else 0
        args.flags, args.options.threads = int(bool(keepdims)), threads
        self.run('reduce', name, args, report)
        return self.answer(output, out)

    def accumulate(
        self, name, source, out=None, *, axis=0, dtype=None, indices=None, threads=0, report=0
    ):
        keep, args = [], AccumulateArgs()
        given, output = self.operand(source, keep), self.operand(out, keep)
        args.input, args.output = ct.pointer(given), ct.pointer(output)
        if indices is not None:
            args.indices = ct.pointer(self.operand(indices, keep))
        args.axis, args.dtype = axis, DTYPES[dtype] if dtype else 0
        args.options.threads = threads
        self.run('accumulate' if indices is None else 'reduceat', name, args, report)
        return self.answer(output, out)

    def reduceat(self, name, source, indices, out=None, **options):
        return self.accumulate(name, source, out, indices=indices, **options)

    def outer(self, name, inputs, out=None, **options):
        return self.outer_of_several(name, inputs, [out], **options)[0]

    def outer_of_several(
        self, name, inputs, outputs, *, where=None, dtype=None, order='K', threads=0, report=0
    ):
        """Returns a list with one result per output."""
        keep, args = [], CallArgs()
        ins = (Operand * len(inputs))(*[self.operand(value, keep) for value in inputs])
        outs = (Operand * len(outputs))(*[self.operand(value, keep) for value in outputs])
        args.ninputs, args.inputs = len(inputs), ins
        args.noutputs, args.outputs = len(outputs), outs
        args.dtype, args.order = DTYPES[dtype] if dtype else 0, ORDER[order]
        args.options.threads = threads
        if where is not None:
            args.where = ct.pointer(self.operand(where, keep))
        self.run('outer', name, args, report)
        return [self.answer(*pair) for pair in zip(outs, outputs)]

    def at(self, name, array, indices, operand=None, *, threads=0, report=0):
        keep, args = [], AtArgs()
        args.array = ct.pointer(self.operand(array, keep))
        several = [self.operand(index, keep) for index in indices]
        args.indices = (Operand * max(len(several), 1))(*several)
        args.nindices, args.options.threads = len(several), threads
        if operand is not None:
            args.operand = ct.pointer(self.operand(operand, keep))
        self.run('at', name, args, report)
        return array
