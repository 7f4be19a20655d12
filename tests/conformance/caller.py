# SPDX-License-Identifier: Apache-2.0
"""Calls libgufunc through the test library conformance_caller, which sets floating-point control
words around each call and provides host loops that fail."""

import ctypes as ct

import abi

# Each value is the pair (MXCSR, x87 control word), as in tests/process_state/float_words.h.
DEFAULT = (0x1F80, 0x37F)
CONTROLS = {
    'flush to zero': (0x9F80, 0x37F),
    'denormals are zero': (0x1FC0, 0x37F),
    'as -ffast-math sets it': (0x9FC0, 0x37F),
    'downward': (0x3F80, 0x77F),
    'upward': (0x5F80, 0xB7F),
    'toward zero': (0x7F80, 0xF7F),
    'all exceptions trap': (0x0000, 0x340),
    'x87 of 24 bits': (0x1F80, 0x07F),
    'upward, flushed, trapping': (0xC040, 0x840),
}
KINDS = {'numpy': 1, 'status': 2, 'error': 3}  # values of guf_loop_kind
HOW = {'returns': 0, 'throws': 1, 'throws an int': 2, 'reads beyond': 3, 'reads before': 4}
ANY_THREAD, ANY_ORDER = 1, 6  # GUF_LOOP_ANY_THREAD; commutative and associative
IDENTITY_ZERO = 2


class UfuncDesc(ct.Structure):
    _fields_ = [
        ('struct_size', ct.c_uint32),
        ('nin', ct.c_int32),
        ('nout', ct.c_int32),
        ('identity', ct.c_int32),
        ('flags', ct.c_uint32),
        ('nroles', ct.c_int32),
        ('name', ct.c_char_p),
        ('signature', ct.c_char_p),
        ('rules', ct.c_char_p),
        ('roles', ct.c_void_p),
        ('doc', ct.c_char_p),
        ('core_dims', ct.c_void_p),
        ('user', ct.c_void_p),
        ('destroy', ct.c_void_p),
    ]


class LoopDesc(ct.Structure):
    _fields_ = [
        ('struct_size', ct.c_uint32),
        ('kind', ct.c_int32),
        ('flags', ct.c_uint32),
        ('ntypes', ct.c_int32),
        ('types', ct.POINTER(ct.c_uint32)),
        ('numpy', ct.c_void_p),
        ('status', ct.c_void_p),
        ('error', ct.c_void_p),
        ('user', ct.c_void_p),
        ('destroy', ct.c_void_p),
    ]


def failing_name(kind):
    """Returns the name of the failing function whose only loop has the given kind."""
    return f'failing_add_{kind}'


class Caller:
    def __init__(self, path):
        self.path, self.lib = path, ct.CDLL(path)
        self.lib.failing_loop.restype = ct.c_void_p
        self.lib.choose_failure.argtypes = [ct.c_int64, ct.c_int32, ct.c_int32]
        self.lib.set_control.argtypes = [ct.c_uint32, ct.c_uint16]
        self.lib.call_under_control.argtypes = [
            *[ct.c_void_p] * 4, ct.c_uint32, ct.c_uint16, ct.POINTER(ct.c_int32)
        ]

    def call(self, control, function, *arguments):
        """Calls a C API function while the floating-point control word is CONTROLS[control].
        Returns the function's guf_status."""
        kept, pointer = ct.c_int32(), ct.cast(function, ct.c_void_p)
        status = self.lib.call_under_control(pointer, *arguments, *CONTROLS[control], kept)
        if not kept.value:
            raise AssertionError(f'the control word of the caller changed: "{control}"')
        return status

    def choose_failure(self, fails):
        self.lib.choose_failure(fails['after'], HOW[fails['how']], int(fails['sticky']))

    def read_outside(self, how):
        """Makes all loops read outside their inputs, from now on. `how` is 'reads beyond' or
        'reads before'."""
        self.lib.choose_failure(2**62, HOW[how], 0)

    def end_failure(self):
        """Disarms the failure that choose_failure set, so that all loops succeed again. Returns
        whether the chosen element has failed."""
        return bool(self.lib.end_failure())

    def add_functions(self, library):
        """Registers the functions with failing loops under the names that failing_name returns."""
        for name, kind in KINDS.items():
            desc = UfuncDesc(ct.sizeof(UfuncDesc), 2, 1, IDENTITY_ZERO, ANY_ORDER)
            desc.name = failing_name(name).encode()
            handle, error = ct.c_void_p(), ct.byref(library.error)
            create = library.lib.guf_ufunc_create
            library.check(create(None, ct.byref(desc), ct.byref(handle), error))
            types = (ct.c_uint32 * 3)(*[abi.DTYPES['q']] * 3)
            loop = LoopDesc(ct.sizeof(LoopDesc), kind, ANY_THREAD, 3, types)
            setattr(loop, name, self.lib.failing_loop(kind))
            library.check(library.lib.guf_ufunc_add_loop(handle, ct.byref(loop), error))
            library.ufuncs[failing_name(name)] = handle
