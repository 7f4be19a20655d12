# SPDX-License-Identifier: Apache-2.0
"""ROCm devices with the names of Numba's ``roc``: ``from gufunc import roc``.

The functions of this module create arrays of type `gufunc.Array` on the current device
(`select_device`).
"""

from . import _gpu

_vendor_module = _gpu.VendorModule("roc")
__all__ = _gpu.publish(globals(), _vendor_module)


def coarsegrain_array(shape, dtype="float64", strides=None, order="C"):
    """A host array in page-locked memory."""
    return _vendor_module.pinned_array(shape, dtype, strides, order)


def finegrain_array(shape, dtype="float64", strides=None, order="C"):
    """A host array that the device reads and writes in place."""
    return _vendor_module.mapped_array(shape, dtype, strides, order)


def coarsegrain_array_like(ary):
    """A host array in page-locked memory with the shape and dtype of `ary`."""
    return _vendor_module.pinned_array_like(ary)


def finegrain_array_like(ary):
    """A host array that the device reads and writes in place, with the shape and dtype of `ary`."""
    return _vendor_module.mapped_array_like(ary)


__all__ += ["coarsegrain_array", "coarsegrain_array_like", "finegrain_array",
            "finegrain_array_like"]
