# SPDX-License-Identifier: Apache-2.0
"""NumPy's array methods that are implemented in terms of other methods."""

import operator
import warnings

from . import _array, _dtypes, _gufunc, _indexing, lowlevel
from ._errors import make_error

_PARTS = {lowlevel.GUF_C64: "float32", lowlevel.GUF_C128: "float64"}


def _place(axis, ndim):
    place = operator.index(axis)
    if not -ndim <= place < ndim:
        raise make_error(lowlevel.GUF_E_AXIS, f"axis {place} is out of bounds for array of "
                         f"dimension {ndim}", axis=place)
    return place % ndim


def swapaxes(self, axis1, axis2):
    """A view with two axes exchanged. AxisError if an axis is out of bounds."""
    axes = list(range(self.ndim))
    first, second = _place(axis1, self.ndim), _place(axis2, self.ndim)
    axes[first], axes[second] = second, first
    return self.transpose(axes)


def flatten(self, order="C"):
    """A copy in one dimension, with the elements in `order`."""
    order = "KCFA"[_dtypes.ORDERS[order]]
    if order == "A":
        order = "F" if self.f_contiguous and not self.c_contiguous else "C"
    if order == "K":
        self, order = self._slowest_first(), "C"
    return self.copy(order).ravel(order)


def _part(self, index):
    name = _PARTS[self._dtype]
    code = _dtypes.parse(name)
    flags = lowlevel.GUF_TENSOR_READ_ONLY if self.readonly else 0
    if self._flags & lowlevel.GUF_ARRAY_SWAPPED:
        flags |= lowlevel.GUF_TENSOR_SWAPPED
    address = self.address + index * _dtypes.of_code(code).itemsize if self.size else self.address
    return _gufunc.array_wrap(address, code, self.shape, self.strides, flags, self._device, self)


def real(self):
    return _part(self, 0) if self._dtype in _PARTS else self


def imag(self):
    if self._dtype in _PARTS:
        return _part(self, 1)
    return _array.broadcast_to(_array.zeros((), self.dtype, device=self._device), self.shape)


def _set_real(self, value):
    real(self).assign(value, casting="unsafe")


def _set_imag(self, value):
    if self._dtype not in _PARTS:
        raise TypeError("array does not have imaginary part to set")
    imag(self).assign(value, casting="unsafe")


def positive(self):
    """A copy. Only numbers and timedelta64 are supported."""
    if self.dtype.kind not in "iufEcm":
        raise make_error(lowlevel.GUF_E_NO_LOOP, "ufunc 'positive' did not contain a loop with "
                         f"signature matching types {self.dtype} -> None")
    return self.copy("K")


def _mean(divide):
    def mean(self, axis=None, dtype=None, out=None, keepdims=False):
        """The arithmetic mean over `axis`, as NumPy computes it: integers and bools are summed in
        float64, float16 in float32."""
        axes = range(self.ndim) if axis is None else _indexing.several(axis, "axis")
        count = 1
        for place in axes:
            count *= self.shape[_place(place, self.ndim)]
        if count == 0:
            warnings.warn("Mean of empty slice", RuntimeWarning, stacklevel=2)
        half = dtype is None and self.dtype == "float16"
        if dtype is None:
            dtype = "float32" if half else "float64" if self.dtype.kind in "iub" else None
        total = self.sum(axis, dtype, out, keepdims)
        if total.dtype.kind == "m":
            return divide(total, count, out=total)
        # In NumPy's mean, the number of elements has a dtype and is not a weak scalar. A float32
        # sum is therefore divided in float64 and rounded once.
        wide = "complex128" if total.dtype.kind == "c" else "float64"
        divide(total, float(count), out=total, dtype=wide, casting="unsafe")
        return total.astype("float16") if half and out is None else total

    return mean


def install(cls, divide):
    """Adds the methods to the Array class."""
    cls.swapaxes, cls.flatten = swapaxes, flatten
    cls.real = property(real, _set_real, doc="The real parts: a view; of real arrays themselves.")
    cls.imag = property(imag, _set_imag, doc="The imaginary parts: a view; of real arrays zeros.")
    cls.__pos__ = positive
    cls.mean = _mean(divide)
