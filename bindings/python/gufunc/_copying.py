# SPDX-License-Identifier: Apache-2.0
"""Copies and pickles of arrays."""

from . import _array, lowlevel


def copy_of(self):
    """A copy on the same device, in the same order."""
    return self.copy("K")


def deep_copy_of(self, memo):
    """A copy on the same device, in the same order."""
    return self.copy("K")


def reduced(self):
    """Pickles elements, dtype, shape and order, as NumPy does. The unpickled array is a writable
    host array, because the device may not exist where the pickle is read."""
    order = "F" if self.f_contiguous and not self.c_contiguous else "C"
    memory = bytearray(self.nbytes)
    lowlevel.guf_array_copy_to_host(self, memory, _array.ORDERS[order], None)
    return unpickle, (bytes(memory), self.dtype, self.shape, order)


def unpickle(data, dtype, shape, order="C"):
    """The array from the data of a pickle."""
    return _array.from_buffer(bytearray(data), dtype).reshape(shape, order=order)


def install(cls):
    """Adds the methods for `copy` and `pickle` to the Array class."""
    cls.__copy__, cls.__deepcopy__, cls.__reduce__ = copy_of, deep_copy_of, reduced
