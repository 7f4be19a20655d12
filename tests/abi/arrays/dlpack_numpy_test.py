#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exchanges arrays with NumPy through DLPack, in both versions of the protocol. An exchange fails
if the library and NumPy declare DLPack's structs differently. The first argument is the path of the
library."""

import ctypes
import gc
import sys

import numpy as np

NAMES = {False: (b'dltensor', b'used_dltensor'),
         True: (b'dltensor_versioned', b'used_dltensor_versioned')}
DTYPES = ['?', 'i1', 'i2', 'i4', 'i8', 'u1', 'u2', 'u4', 'u8', 'f2', 'f4', 'f8', 'c8', 'c16']

library = ctypes.CDLL(sys.argv[1])
python = ctypes.pythonapi
python.PyCapsule_New.restype = ctypes.py_object
python.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
python.PyCapsule_GetPointer.restype = ctypes.c_void_p
python.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
python.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]


def suffix(versioned):
    return '' if versioned else '_unversioned'


def take(array, versioned):
    """Imports a NumPy array, and returns the handle of the library's array."""
    capsule = array.__dlpack__(max_version=(1, 0)) if versioned else array.__dlpack__()
    name, used = NAMES[versioned]
    managed = python.PyCapsule_GetPointer(capsule, name)
    python.PyCapsule_SetName(capsule, used)
    out = ctypes.c_void_p()
    function = getattr(library, 'guf_array_from_dlpack' + suffix(versioned))
    status = function(ctypes.c_void_p(managed), None, 0, ctypes.byref(out), None)
    assert status == 0, status
    return out


class Exported:
    """Exports an array of the library through the protocol that NumPy calls."""

    def __init__(self, handle, versioned):
        self.handle, self.versioned = handle, versioned

    def __dlpack_device__(self):
        return 1, 0

    def __dlpack__(self, **_):
        managed = ctypes.c_void_p()
        function = getattr(library, 'guf_array_to_dlpack' + suffix(self.versioned))
        status = function(self.handle, None, 0, ctypes.byref(managed), None)
        if status:
            raise BufferError(status)
        return python.PyCapsule_New(managed, NAMES[self.versioned][0], None)


def release(handle):
    assert library.guf_array_release(handle, None) == 0
    assert library.guf_poll(0, None, None) == 0


def check_round_trips():
    for versioned in (False, True):
        for dtype in DTYPES:
            whole = (np.arange(24) % 2 if dtype == '?' else np.arange(24)).astype(dtype)
            for array in (whole, whole[::-2], whole.reshape(2, 3, 4).T, whole[:0], whole[3:4],
                          whole.reshape(2, 3, 4)[:, 1:, ::3], whole[5:6].reshape(())):
                if versioned:
                    array.flags.writeable = False
                handle = take(array, versioned)
                back = np.from_dlpack(Exported(handle, versioned))
                assert back.dtype == array.dtype and back.shape == array.shape, (dtype, back)
                assert back.size == 0 or back.ctypes.data == array.ctypes.data
                assert back.size < 2 or back.strides == array.strides, (back.strides, array.strides)
                assert not (versioned and back.flags.writeable)
                np.testing.assert_array_equal(back, array)
                release(handle)


def check_lifetimes():
    array = np.arange(1000.0)
    before = sys.getrefcount(array)
    handle = take(array, True)
    assert sys.getrefcount(array) == before + 1
    back = np.from_dlpack(Exported(handle, True))
    release(handle)
    assert sys.getrefcount(array) == before + 1  # `back` keeps the array alive
    back[3] = 77
    assert array[3] == 77
    del back
    gc.collect()
    assert library.guf_poll(0, None, None) == 0
    assert sys.getrefcount(array) == before


def main():
    check_round_trips()
    check_lifetimes()
    print(f'{2 * 7 * len(DTYPES)} round trips')


if __name__ == '__main__':
    main()
