# SPDX-License-Identifier: Apache-2.0
"""Streams of the program's own, and of other libraries."""

from . import lowlevel
from ._errors import make_refusal
from ._objects import Stream, as_device


def native_of(device):
    """The driver's own handle of the stream of work that is given without one."""
    return lowlevel.guf_stream_get_native(device, None)


def as_stream(stream, device=None):
    """A Stream, or None for work without one: of None, 0, a Stream, a driver's handle, or another
    library's stream object. A hook of the extension."""
    if stream is None or isinstance(stream, Stream):
        return stream
    for name in ("cuda_stream", "ptr", "handle"):  # PyTorch, CuPy, Numba
        stream = getattr(stream, name, stream)
    stream = getattr(stream, "value", stream)
    if not hasattr(stream, "__index__"):
        raise make_refusal(f"a stream cannot be a {type(stream).__name__}")
    if not int(stream):
        return None
    if device is None:
        raise make_refusal("a driver's stream needs device=, or an array on its device beside it")
    return Stream.adopt(as_device(device), int(stream))
