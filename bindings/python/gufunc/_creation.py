# SPDX-License-Identifier: Apache-2.0
"""Functions that create arrays of given values, and arrays like other arrays."""

import math
import sys

from ._array import array, as_array, empty, from_buffer
from ._dtypes import ORDERS
from ._errors import make_refusal


def full(shape, value, dtype=None, *, device=None, order="C"):
    """An array filled with `value`, which is broadcast to `shape`. The default of `dtype` is the
    dtype of `value`."""
    if dtype is None:
        dtype = as_array(value).dtype
    made = empty(shape, dtype, device=device, order=order)
    return _filled(made, value)


def _filled(made, value):
    if isinstance(value, (int, float, complex)):
        made.fill(value)
    else:
        made.assign(value, casting="unsafe")
    return made


def zeros(shape, dtype="float64", *, device=None, order="C"):
    """An array of zeros. Elements of a structured dtype consist of zero bytes."""
    return _zeroed(empty(shape, dtype, device=device, order=order))


def _zeroed(made):
    zero = 0
    if made.dtype.kind == "V":
        zero = from_buffer(bytearray(made.itemsize), made.dtype).reshape(())
    made.fill(zero)
    return made


def ones(shape, dtype="float64", *, device=None, order="C"):
    """An array of ones."""
    return full(shape, 1, dtype, device=device, order=order)


def empty_like(prototype, dtype=None, order="K", *, device=None):
    """An array of unspecified values with the shape, dtype and device of `prototype`. With order K,
    the array also has the axis order of `prototype` in memory."""
    prototype = as_array(prototype)
    dtype = prototype.dtype if dtype is None else dtype
    device = prototype._device if device is None else device
    order = "KCFA"[ORDERS[order]]
    if order == "A":
        order = "F" if prototype.f_contiguous and not prototype.c_contiguous else "C"
    if order != "K":
        return empty(prototype.shape, dtype, device=device, order=order)
    slowest_first = sorted(range(prototype.ndim), key=lambda i: -abs(prototype.strides[i]))
    made = empty([prototype.shape[i] for i in slowest_first], dtype, device=device)
    places = sorted(range(prototype.ndim), key=slowest_first.__getitem__)
    return made if places == list(range(prototype.ndim)) else made.transpose(places)


def zeros_like(prototype, dtype=None, order="K", *, device=None):
    """An array of zeros like `prototype`, created as by `empty_like`."""
    return _zeroed(empty_like(prototype, dtype, order, device=device))


def ones_like(prototype, dtype=None, order="K", *, device=None):
    """An array of ones like `prototype`, created as by `empty_like`."""
    return _filled(empty_like(prototype, dtype, order, device=device), 1)


def full_like(prototype, value, dtype=None, order="K", *, device=None):
    """An array like `prototype`, created as by `empty_like` and filled with `value`, which is
    broadcast."""
    return _filled(empty_like(prototype, dtype, order, device=device), value)


def arange(*limits, dtype=None, device=None):
    """Evenly spaced numbers, as NumPy's arange: ``(stop)``, ``(start, stop)`` or
    ``(start, stop, step)``. The default dtype is int64 if all arguments are integers, and float64
    otherwise."""
    if not 1 <= len(limits) <= 3:
        raise make_refusal(f"arange: expected 1 to 3 numbers, got {len(limits)}")
    numpy = sys.modules.get("numpy")
    if numpy is not None and any(isinstance(limit, numpy.generic) for limit in limits):
        return array(numpy.arange(*limits), dtype, device=device)
    if all(isinstance(limit, int) for limit in limits):
        return array(range(*limits), dtype or "int64", device=device)
    start, stop, step = {1: (0, *limits, 1), 2: (*limits, 1), 3: limits}[len(limits)]
    length = (stop - start) / step
    if not math.isfinite(length):
        raise make_refusal("arange: cannot compute length" if math.isnan(length) else
                           "Maximum allowed size exceeded")
    count = max(0, -int(-length // 1))
    step = (start + step) - start  # rounded as in NumPy's arange, so that the values are equal
    return array([start + i * step for i in range(count)], dtype or "float64", device=device)
