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
    """As NumPy's: elements, dtype, shape and order. The array that comes of a pickle lies on the
    host, and can be written: a pickle may be read where there is no such device."""
    order = "F" if self.f_contiguous and not self.c_contiguous else "C"
    memory = bytearray(self.nbytes)
    lowlevel.guf_array_copy_to_host(self, memory, _array.ORDERS[order], None)
    return unpickle, (bytes(memory), self.dtype, self.shape, order)


def unpickle(data, dtype, shape, order="C"):
    """The array of a pickle."""
    return _array.from_buffer(bytearray(data), dtype).reshape(shape, order=order)


def install(cls):
    """Gives the Array class what copy and pickle ask for."""
    cls.__copy__, cls.__deepcopy__, cls.__reduce__ = copy_of, deep_copy_of, reduced
