# SPDX-License-Identifier: Apache-2.0
"""Calls the five methods of a ufunc through the C ABI with ctypes."""

import ctypes as ct

import abi

ALL_AXES = -1
KIND_ARRAY, GUF_E_INDEX, GUF_E_VALUE, GUF_E_LOOP = 1, 400, 304, 1201
GUF_E_UNSUPPORTED, GUF_E_NO_IMAGE = 800, 801
ABSENT = object()  # marks an omitted keyword, because None can be a value


class ReduceArgs(ct.Structure):
    _fields_ = [
        ('struct_size', ct.c_uint32),
        ('flags', ct.c_uint32),
        ('input', ct.POINTER(abi.Operand)),
        ('output', ct.POINTER(abi.Operand)),
        ('axis', ct.POINTER(ct.c_int64)),
        ('initial', ct.POINTER(abi.Operand)),
        ('where', ct.POINTER(abi.Operand)),
        ('options', abi.CallOptions),
        ('naxis', ct.c_int32),
        ('order', ct.c_int32),
        ('dtype', ct.c_uint32),
        ('noutputs', ct.c_int32),
        ('outputs', ct.POINTER(abi.Operand)),
    ]


class AccumulateArgs(ct.Structure):
    _fields_ = [
        ('struct_size', ct.c_uint32),
        ('flags', ct.c_uint32),
        ('input', ct.POINTER(abi.Operand)),
        ('indices', ct.POINTER(abi.Operand)),
        ('output', ct.POINTER(abi.Operand)),
        ('options', abi.CallOptions),
        ('axis', ct.c_int64),
        ('dtype', ct.c_uint32),
        ('order', ct.c_int32),
    ]


class AtArgs(ct.Structure):
    _fields_ = [
        ('struct_size', ct.c_uint32),
        ('flags', ct.c_uint32),
        ('array', ct.POINTER(abi.Operand)),
        ('indices', ct.POINTER(abi.Operand)),
        ('operand', ct.POINTER(abi.Operand)),
        ('options', abi.CallOptions),
        ('nindices', ct.c_int32),
        ('reserved', ct.c_uint32),
    ]


class Resolution(ct.Structure):
    _fields_ = [
        ('struct_size', ct.c_uint32),
        ('loop', ct.c_uint32),
        ('noperands', ct.c_int32),
        ('reserved', ct.c_uint32),
        ('loop_dtypes', ct.c_uint32 * abi.MAX_OPERANDS),
        ('dtypes', ct.c_uint32 * abi.MAX_OPERANDS),
        ('output_ndims', ct.c_int32 * abi.MAX_OPERANDS),
        ('output_shapes', (ct.c_int64 * abi.MAX_NDIM) * abi.MAX_OPERANDS),
    ]


class Library(abi.Library):
    """Adds the methods to abi.Library. Each method returns (letter, array, strides) of `out`, or of
    a copy of the result if the library allocated it."""

    def __init__(self, path):
        super().__init__(path)
        for name in ('reduce', 'accumulate', 'reduceat', 'outer', 'at'):
            error = ct.POINTER(abi.Error)
            getattr(self.lib, f'guf_{name}').argtypes = [ct.c_void_p, ct.c_void_p, error]
        self.lib.guf_resolve.argtypes = [
            ct.c_void_p,
            ct.POINTER(abi.Request),
            ct.POINTER(Resolution),
            error,
        ]

    def run(self, method, name, args, report=0):
        args.struct_size, args.options.device = ct.sizeof(args), self.device
        self.watch(args, report)
        function, handle = getattr(self.lib, f'guf_{method}'), self.find(name)
        answer = Resolution(struct_size=ct.sizeof(Resolution))
        request = abi.request_of(method, args)
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
        info = abi.ArrayInfo(struct_size=ct.sizeof(abi.ArrayInfo))
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
        args.dtype = abi.DTYPES[dtype] if dtype else 0
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
        args.axis, args.dtype = axis, abi.DTYPES[dtype] if dtype else 0
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
        keep, args = [], abi.CallArgs()
        ins = (abi.Operand * len(inputs))(*[self.operand(value, keep) for value in inputs])
        outs = (abi.Operand * len(outputs))(*[self.operand(value, keep) for value in outputs])
        args.ninputs, args.inputs = len(inputs), ins
        args.noutputs, args.outputs = len(outputs), outs
        args.dtype, args.order = abi.DTYPES[dtype] if dtype else 0, abi.ORDER[order]
        args.options.threads = threads
        if where is not None:
            args.where = ct.pointer(self.operand(where, keep))
        self.run('outer', name, args, report)
        return [self.answer(*pair) for pair in zip(outs, outputs)]

    def at(self, name, array, indices, operand=None, *, threads=0, report=0):
        keep, args = [], AtArgs()
        args.array = ct.pointer(self.operand(array, keep))
        several = [self.operand(index, keep) for index in indices]
        args.indices = (abi.Operand * max(len(several), 1))(*several)
        args.nindices, args.options.threads = len(several), threads
        if operand is not None:
            args.operand = ct.pointer(self.operand(operand, keep))
        self.run('at', name, args, report)
        return array
