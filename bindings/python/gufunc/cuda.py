# SPDX-License-Identifier: Apache-2.0
"""CUDA devices with Numba's names: ``from gufunc import cuda``.

The functions of this module create arrays of type `gufunc.Array` on the current device
(`select_device`).
"""

from . import _array, _exchange, _gpu

_vendor_module = _gpu.VendorModule("cuda")
__all__ = _gpu.publish(globals(), _vendor_module)

pinned = _vendor_module.register


def legacy_default_stream():
    """CUDA's legacy default stream, which all threads share."""
    return _gpu.Stream.adopt(_vendor_module.get_current_device(), 1)


def per_thread_default_stream():
    """CUDA's default stream of the calling thread."""
    return _gpu.Stream.adopt(_vendor_module.get_current_device(), 2)


def is_cuda_array(obj):
    """Whether the object has ``__cuda_array_interface__``."""
    return hasattr(obj, "__cuda_array_interface__")


def as_cuda_array(obj, sync=True):
    """An Array over an object with ``__cuda_array_interface__``."""
    if isinstance(obj, _array.Array):
        return obj
    return _exchange.from_cuda_array_interface(obj, sync=sync)


def from_cuda_array_interface(desc, owner=None, sync=True):
    """An Array over the memory that a dictionary in the form of ``__cuda_array_interface__``
    describes. The array keeps `owner` alive."""
    made = _exchange.from_cuda_array_interface(desc if owner is None else _Described(desc, owner),
                                               sync=sync)
    return made


class _Described:
    def __init__(self, desc, owner):
        self.__cuda_array_interface__, self.owner = desc, owner


__all__ += ["as_cuda_array", "from_cuda_array_interface", "is_cuda_array",
            "legacy_default_stream", "per_thread_default_stream", "pinned"]
