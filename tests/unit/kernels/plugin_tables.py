# SPDX-License-Identifier: Apache-2.0
"""Reads the tables of the cpu plugin through ctypes: lists its loops, and calls a loop on NumPy
arrays."""

import ctypes
from ctypes import (
    CFUNCTYPE,
    POINTER,
    Structure,
    c_char_p,
    c_int32,
    c_int64,
    c_uint16,
    c_uint32,
    c_uint64,
    c_void_p,
)

import numpy as np

GUF_OK = 0
GUF_LOOP_STATUS = 2
GUF_IMAGE_HOST = 1

# Letters of guf_dtype_code values. bfloat16 is stored in uint16 arrays.
LETTERS = {
    0x00010806: "?",
    0x00010800: "b",
    0x00010801: "B",
    0x00011000: "h",
    0x00011001: "H",
    0x00012000: "i",
    0x00012001: "I",
    0x00014000: "q",
    0x00014001: "Q",
    0x00011002: "e",
    0x00011004: "E",
    0x00012002: "f",
    0x00014002: "d",
    0x00014005: "F",
    0x00018005: "D",
    0x00010080: "M",
    0x00010081: "m",
}


def storage(letter):
    """Returns the NumPy dtype of an array whose elements have the dtype of this letter."""
    return np.dtype({"E": "H", "M": "M8[s]", "m": "m8[s]"}.get(letter, letter))


class Loop(Structure):
    _fields_ = [
        ("types", POINTER(c_uint32)),
        ("name", c_char_p),
        ("kernel", c_uint32),
        ("kind", c_int32),
        ("fold", c_uint32),
        ("family", c_uint32),
    ]


class Function(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("signature", c_char_p),
        ("rules", c_char_p),
        ("roles", c_void_p),
        ("doc", c_char_p),
        ("nin", c_int32),
        ("nout", c_int32),
        ("identity", c_int32),
        ("flags", c_uint32),
        ("nloops", c_uint32),
        ("merge", c_uint16),
        ("finish", c_uint16),
        ("loops", POINTER(Loop)),
        ("failure", c_char_p),
    ]


class Image(Structure):
    _fields_ = [
        ("format", c_int32),
        ("codec", c_int32),
        ("target", c_char_p),
        ("data", c_void_p),
        ("size", c_uint64),
        ("inflated_size", c_uint64),
        ("entries", POINTER(c_void_p)),
        ("offset", c_uint64),
        ("bytes", c_uint64),
        ("family", c_uint32),
        ("reserved", c_uint32),
    ]


class Module(Structure):
    _fields_ = [
        ("struct_size", c_uint32),
        ("kernel_abi", c_uint32),
        ("name", c_char_p),
        ("nfunctions", c_uint32),
        ("nimages", c_uint32),
        ("nkernels", c_uint32),
        ("nraw_kernels", c_uint32),
        ("functions", POINTER(Function)),
        ("images", POINTER(Image)),
    ]


class Host(Structure):
    _fields_ = [
        ("struct_size", c_uint32),
        ("abi_minor", c_uint32),
        ("context", c_void_p),
        ("log", c_void_p),
        ("alloc", c_void_p),
        ("free", c_void_p),
        ("config", c_void_p),
    ]


# Names of the slots of guf_backend_api that follow struct_size, abi_minor, name, version and
# features.
SLOTS = (
    """probe device_open device_close memory_alloc memory_free copy fill stream_open stream_close
stream_query stream_synchronize stream_wait_event event_open event_close event_record event_query
event_synchronize builtins image_score module_load module_unload kernel_get launch convert method
shutdown extension describe_launch describe_method""".split()
)


class Api(Structure):
    _fields_ = [
        ("struct_size", c_uint32),
        ("abi_minor", c_uint32),
        ("name", c_char_p),
        ("version", c_char_p),
        ("features", c_uint64),
    ] + [(slot, c_void_p) for slot in SLOTS]


def _no_config(context, name):
    return None


def _no_log(context, level, message):
    return None


# The plugin keeps the host table, so these objects live as long as the program.
_LOG = CFUNCTYPE(None, c_void_p, c_int32, c_char_p)(_no_log)
_CONFIG = CFUNCTYPE(c_void_p, c_void_p, c_char_p)(_no_config)
_LIBC = ctypes.CDLL(None)
_ALLOC = CFUNCTYPE(c_void_p, c_void_p, c_uint64, c_uint64)(
    lambda context, size, alignment: _aligned_alloc(alignment, size)
)
_FREE = CFUNCTYPE(None, c_void_p, c_void_p)(lambda context, pointer: _free(pointer))
_aligned_alloc = _LIBC.aligned_alloc
_aligned_alloc.restype, _aligned_alloc.argtypes = c_void_p, [c_uint64, c_uint64]
_free = _LIBC.free
_free.restype, _free.argtypes = None, [c_void_p]
_HOST = Host(
    ctypes.sizeof(Host),
    0,
    None,
    ctypes.cast(_LOG, c_void_p),
    ctypes.cast(_ALLOC, c_void_p),
    ctypes.cast(_FREE, c_void_p),
    ctypes.cast(_CONFIG, c_void_p),
)


class Plugin:
    """An opened plugin. Has the `targets` that this machine supports, and the `loops()` of its
    standard library."""

    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        self.api = Api(ctypes.sizeof(Api))
        status = self.library.gufunc_backend_open_v1(
            ctypes.byref(_HOST), 0, ctypes.byref(self.api), None
        )
        if status != GUF_OK:
            raise RuntimeError(f"gufunc_backend_open_v1 returned {status}")
        self.module = CFUNCTYPE(POINTER(Module))(self.api.builtins)().contents
        score = CFUNCTYPE(c_int32, c_void_p, POINTER(Image))(self.api.image_score)
        images = [self.module.images[i] for i in range(self.module.nimages)]
        self.images = {image.target.decode(): image for image in images if score(None, image) > 0}
        self.skipped = [image.target.decode() for image in images if score(None, image) == 0]

    def functions(self):
        for i in range(self.module.nfunctions):
            function = self.module.functions[i]
            loops = {}
            for k in range(function.nloops):
                loop = function.loops[k]
                letters = "".join(
                    LETTERS[loop.types[t]] for t in range(function.nin + function.nout)
                )
                loops[letters[: function.nin] + "->" + letters[function.nin :]] = loop
            yield function, loops

    def call(self, target, loop, dims, args, steps):
        """Runs a loop of one ISA level and returns its status. `args` are addresses."""
        entry = self.images[target].entries[loop.kernel]
        result = c_int32 if loop.kind == GUF_LOOP_STATUS else None
        call = CFUNCTYPE(result, POINTER(c_void_p), POINTER(c_int64), POINTER(c_int64), c_void_p)(
            entry
        )
        pointers = (c_void_p * len(args))(*args)
        sizes = (c_int64 * len(dims))(*dims)
        strides = (c_int64 * len(steps))(*steps)
        return call(pointers, sizes, strides, None) or GUF_OK

    def elementwise(self, target, loop, arrays):
        """Runs a loop over 1-d arrays of equal length. The last arrays are the outputs."""
        return self.call(
            target,
            loop,
            [len(arrays[-1])],
            [a.ctypes.data for a in arrays],
            [a.strides[0] for a in arrays],
        )
