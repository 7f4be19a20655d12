# SPDX-License-Identifier: Apache-2.0
"""Methods of arrays and streams with Numba's names."""

import contextlib
import functools

from . import _array, _conversion, _dtypes, _indexing, lowlevel
from ._errors import make_error, make_refusal
from ._objects import Device, Stream, as_stream


def copy_to_host(self, ary=None, stream=None, *, out=None, order=None):
    """Copies to the host: into `ary`, which may be any writable array of the same shape, or into a
    new array. The new array is an ndarray if NumPy is available. Its order is `order`, or by
    default the order of this array.

    With a stream the copy is queued, and the result is valid after the stream was synchronized.
    Without a stream, the call waits for all queued work that uses the array, and the result is
    complete on return.
    """
    stream = as_stream(stream, self._device)
    target = ary if out is None else out
    host = None if target is None else _array.as_array(target)
    if host is None:
        if order is None:
            order = "F" if self.f_contiguous and not self.c_contiguous else "C"
        host = _array.empty(self.shape, self.dtype, order=order)
    lowlevel.guf_array_to_device(self, Device("cpu"), stream, host)
    if target is not None:
        return target
    return host.numpy() if _numpy_has(self.dtype) else host


def _numpy_has(dtype):
    if not _conversion.have_numpy():
        return False
    try:
        dtype.dtype  # noqa: B018: the equivalent dtype of NumPy
    except TypeError:
        return False
    return True


def copy_to_device(self, ary, stream=None):
    """Copies the values of an array of the same shape and dtype into this array."""
    source, stream = _array.as_array(ary), as_stream(stream, self._device)
    if source.device == self.device:
        lowlevel.guf_array_assign(self, source, _dtypes.CASTINGS["no"], stream)
    else:
        for what, status, found, expected in (
                ("shape", lowlevel.GUF_E_SHAPE, source.shape, self.shape),
                ("dtype", lowlevel.GUF_E_DTYPE, source.dtype, self.dtype)):
            if found != expected:
                raise make_error(status, f"the given array's {what} differs: expected {expected}, "
                                 f"got {found}")
        source.to_device(self.device, out=self, stream=stream)


def is_c_contiguous(self):
    """Whether the elements are contiguous in C order: the last axis varies fastest."""
    return self.c_contiguous


def is_f_contiguous(self):
    """Whether the elements are contiguous in Fortran order: the first axis varies fastest."""
    return self.f_contiguous


def getitem(self, item, stream=None):
    """The result of ``a[item]``: a number or a structured scalar for a single element, a view
    otherwise."""
    found = _indexing.view(self, item)
    if found.ndim == 0:
        stream = as_stream(stream, self._device)
        if stream is not None:
            stream.synchronize()
        return found.item() if found.dtype.kind != "V" else found.numpy()[()]
    return found


def setitem(self, key, value, stream=None):
    """Writes a number, a structured scalar or an array, as ``a[key] = value`` does. With a stream
    the write is queued."""
    _indexing.view(self, key).assign(value, casting="unsafe", stream=stream)


def split(self, section, stream=None):
    """Splits a 1-d array into views of `section` elements each. The last view may be shorter."""
    if self.ndim != 1:
        raise make_refusal("only 1-d arrays are split")
    return [self[i:i + section] for i in range(0, self.size, section)]


def view(self, dtype):
    """A view of the same memory with another dtype, as `view_as` returns."""
    return _array.view_as(self, dtype)


@contextlib.contextmanager
def auto_synchronize(self):
    """Waits for the stream at the end of the ``with`` block, even if the block raises an exception.
    A failure of the queued work is raised unless the block itself raised an exception."""
    try:
        yield self
    except BaseException:
        with contextlib.suppress(Exception):
            self.synchronize()
        raise
    self.synchronize()


def _with_any_stream(method):
    """Wraps `method` so that `stream` may also be 0, a handle or another library's stream."""

    @functools.wraps(method)
    def called(self, *args, stream=None, **keywords):
        if stream is not None and not isinstance(stream, Stream):
            place = self._device
            if self.on_host and method.__name__ == "to_device":
                place = keywords.get("device", args[0] if args else None)
            stream = as_stream(stream, place)
        return method(self, *args, stream=stream, **keywords)

    return called


def install(array, stream):
    """Adds the methods to the Array and Stream classes."""
    for method in (copy_to_host, copy_to_device, is_c_contiguous, is_f_contiguous, getitem, setitem,
                   split, view):
        setattr(array, method.__name__, method)
    for name in ("fill", "assign", "copy", "astype", "to_device"):
        setattr(array, name, _with_any_stream(getattr(array, name)))
    array.alloc_size = property(lambda self: self.nbytes, doc="The same as `nbytes`, Numba's name.")
    stream.auto_synchronize = auto_synchronize
