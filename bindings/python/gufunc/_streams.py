# SPDX-License-Identifier: Apache-2.0
"""Conversion of streams of other libraries."""

import operator

from . import _gufunc, lowlevel
from ._errors import make_refusal
from ._objects import Stream, as_device


def native_of(device):
    """The driver's handle of the device's default stream, which runs the calls without a stream."""
    return lowlevel.guf_stream_get_native(device, None)


def as_stream(stream, device=None):
    """Converts None, 0, a Stream, a driver's handle or another library's stream object to a Stream,
    or to None for the device's default stream. The extension calls this function."""
    if stream is None or isinstance(stream, Stream):
        return stream
    number = _number_of(stream)
    if number == 0:
        return None
    if device is None:
        raise make_refusal("a driver's stream needs device=, or an array on its device beside it")
    return Stream.adopt(as_device(device), number)


def _number_of(stream):
    """The driver's handle in a stream object of another library."""
    found = stream
    for name in ("cuda_stream", "ptr", "handle"):  # PyTorch, CuPy, Numba
        found = getattr(found, name, found)
    found = getattr(found, "value", found)
    if found is None:  # a NULL pointer of ctypes
        return 0
    try:
        # A Handle of this package converts to the address of a library object, not of a stream.
        number = None if isinstance(stream, _gufunc.Handle) else operator.index(found)
    except TypeError:
        number = None
    if number is None or not 0 <= number < 2**64:
        raise make_refusal(f"a stream cannot be a {type(stream).__name__}" if number is None else
                           f"a stream cannot be {number}")
    return number
