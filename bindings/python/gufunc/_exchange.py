# SPDX-License-Identifier: Apache-2.0
"""Exchange of arrays with other libraries: DLPack and the CUDA array interface."""

from . import _array, _conversion, _dtypes, _gufunc, _objects, lowlevel
from ._errors import Error
from ._objects import Device, Stream, native_of

__all__ = ["from_cuda_array_interface", "from_dlpack"]

_CPU, _CUDA, _ROC = (lowlevel.GUF_DLPACK_CPU, lowlevel.GUF_DLPACK_CUDA, lowlevel.GUF_DLPACK_ROC)
_TYPES = {"cuda": _CUDA, "roc": _ROC}
_LEGACY, _PER_THREAD = lowlevel.GUF_DLPACK_LEGACY_STREAM, lowlevel.GUF_DLPACK_PER_THREAD_STREAM
_NO_SYNC = -1


def _place(array):
    """DLPack's (device type, device id) of an array."""
    info = array.device.info
    if info.backend in _TYPES:
        return _TYPES[info.backend], info.index
    try:
        return _gufunc.dlpack_place(array)
    except Error:
        return _CPU, 0


def _stream_flag(device, stream):
    """The flag for a stream number that denotes a default stream, or None for a driver's handle."""
    if device.info.backend == "cuda":
        if stream == 0:
            raise ValueError("stream=0 is ambiguous with CUDA: expected 1, 2, a stream, or -1")
        return {None: _LEGACY, 1: _LEGACY, 2: _PER_THREAD}.get(stream)
    if stream in (1, 2):
        raise ValueError(f"stream={stream} has no meaning with ROCm: expected 0, a stream, or -1")
    return {None: _LEGACY, 0: _LEGACY}.get(stream)


def _let_wait(array, stream):
    """The arguments (stream, flags) of an export that makes the consumer's stream wait for the
    array.

    A stream of another library may be destroyed before the tensor. For such a stream, this function
    queues the wait, and the export does not keep the stream.
    """
    if array.on_host:
        if stream not in (None, _NO_SYNC):
            raise BufferError("an array in host memory does not accept a stream")
        if stream != _NO_SYNC:
            array.synchronize()
        return None, 0
    if isinstance(stream, Stream):
        return stream, 0
    if stream == _NO_SYNC:
        return None, 0
    device = array.device
    flag = _stream_flag(device, stream)
    if flag is not None:
        return None, flag
    own = Stream.adopt(device, native_of(device))
    Stream.adopt(device, stream).wait_event(own.record())
    return None, 0


def dlpack(self, *, stream=None, max_version=None, dl_device=None, copy=None):
    """A DLPack capsule of the array. ``from_dlpack`` of other libraries calls this method.

    stream       the consumer's stream, which waits for the work on the device's default stream: a
                 number as in the array API standard, a `gufunc.Stream`, or -1 for no wait
    max_version  the newest protocol version of the consumer; without it the capsule is unversioned
    dl_device    (1, 0) for a copy on the host
    copy         True: export a copy; False: never copy
    """
    array, flags = self, 0
    if dl_device is not None and tuple(dl_device) != _place(self):
        if tuple(dl_device) != (_CPU, 0) or copy is False:
            raise BufferError(
                f"the array is on {self.device}, and DLPack does not copy it to another device")
        array, copy, stream = self.to_device("cpu"), True, None
    elif copy:
        array = self.copy()
    if copy:
        flags = lowlevel.GUF_DLPACK_COPIED
    versioned = max_version is not None and max_version[0] >= 1
    try:
        consumer, waits = _let_wait(array, stream)
        return _gufunc.dlpack_capsule(array, consumer, flags | waits, versioned)
    except Error as error:
        raise BufferError(str(error)) from error


def _request_capsule(value, stream):
    """The capsule of another library's object, versioned if the object supports it."""
    keywords = {} if stream is None else {"stream": stream}
    try:
        return value.__dlpack__(max_version=(1, 0), **keywords)
    except TypeError:
        return value.__dlpack__(**keywords)


def from_dlpack(value, /, *, device=None, copy=None, stream=None):
    """An Array over another library's array, without a copy.

    value   an object with ``__dlpack__``, or a capsule that has not been consumed yet
    device  the device of the result; an array on another device is copied
    copy    True: copy to new memory; False: never copy
    stream  the `Stream` that waits for the producer's work, so the array can be used on this stream
            at once. By default, the device's default stream waits for the producer's work
    """
    if hasattr(value, "__dlpack__"):
        made = _take(value, stream)
    else:
        made = _gufunc.dlpack_array(value, stream, 0)
    if device is not None and made.device != Device(device):
        if copy is False:
            raise BufferError(f"the array is on {made.device}, and copy is False")
        return made.to_device(device, stream=stream)
    return made.copy(stream=stream) if copy else made


def _take(value, stream):
    kind, index = value.__dlpack_device__()
    names = {int(number): name for name, number in _TYPES.items()}
    if int(kind) not in names:
        return _gufunc.dlpack_array(_request_capsule(value, None), None, 0)
    device = Device(f"{names[int(kind)]}:{index}")
    number = native_of(device) if stream is None else stream.native
    return _gufunc.dlpack_array(_request_capsule(value, number), None, 0)


def cuda_array_interface(self):
    """The CUDA array interface, version 3. Only arrays on a CUDA device have this attribute."""
    if self.on_host or self.device.info.backend != "cuda":
        raise AttributeError("__cuda_array_interface__: the array is not on a CUDA device")
    if self.dtype.kind == "E":
        raise AttributeError(f"__cuda_array_interface__: no type string for {self.dtype}")
    if self._flags & lowlevel.GUF_ARRAY_SWAPPED:
        raise AttributeError("__cuda_array_interface__: the elements are in the other byte order")
    return {"shape": self.shape, "typestr": _type_string(self.dtype),
            "data": (self.address if self.size else 0, self.readonly), "version": 3,
            "strides": None if self.c_contiguous else self.strides,
            "stream": native_of(self.device)}


def _type_string(dtype):
    if dtype.kind in "mM":
        unit = dtype.name.partition("[")[2]
        return f"<{dtype.kind}8" + (f"[{unit}" if unit else "")
    sign = "|" if dtype.itemsize == 1 or dtype.kind == "V" else "<"
    return f"{sign}{dtype.kind}{dtype.itemsize}"


def from_cuda_array_interface(value, *, device=None, sync=True):
    """An Array over the memory that an object describes by ``__cuda_array_interface__``. The array
    keeps the object alive. By default the driver determines the `device`. With `sync` False, the
    array may be used before the work on the object's stream is complete."""
    facts = value if isinstance(value, dict) else value.__cuda_array_interface__
    if facts.get("mask") is not None:
        raise NotImplementedError("masked arrays are not supported")
    descr, code = _described(facts)
    strides = facts.get("strides")
    itemsize = _dtypes.of_code(code).itemsize
    if strides is not None and any(step % itemsize for step in strides):
        raise UnsupportedStrides(f"strides {strides} are not multiples of {itemsize} bytes")
    steps = None if strides is None else tuple(step // itemsize for step in strides)
    address, read_only = facts["data"]
    stream = facts.get("stream") if sync else None
    if stream == 0:
        raise ValueError("stream 0 is not allowed in __cuda_array_interface__")
    owner = (value, facts)
    for index in _candidates(device):
        flags = {1: _LEGACY, 2: _PER_THREAD}.get(stream, 0)
        try:
            queue = Stream.adopt(f"cuda:{index}", stream) if stream and not flags else None
            made = _gufunc.array_borrowed(owner, _CUDA, index, address or 0, code, facts["shape"],
                                      steps, read_only, queue, flags)
            return _array.view_as(made, descr) if descr is not None else made
        except Error as error:
            if error.status not in (lowlevel.GUF_E_DEVICE_MISMATCH, lowlevel.GUF_E_HANDLE):
                raise
            failure = error
    raise failure


class UnsupportedStrides(NotImplementedError):
    """The strides are not multiples of the element size."""


def _described(facts):
    """(dtype, code) for the memory that `facts` describes. The memory is imported as `code`, a
    dtype that DLPack supports. If `dtype` is not None, the imported array must then be viewed as
    `dtype`."""
    text = facts["typestr"]
    if text[0] == ">":
        raise TypeError(f"elements in the other byte order: {text}")
    if text[1] in "mM":
        return text[1:], lowlevel.GUF_I64
    if text[1] == "V":
        import numpy

        return numpy.dtype(facts.get("descr") or text), lowlevel.GUF_U8
    return None, _dtypes.parse(text[1:])


def _candidates(device):
    """Indices of the CUDA devices that may own the memory. The current device is first."""
    if device is not None:
        return [Device(device).info.index]
    first = _objects.current_index("cuda")
    return [first, *(i for i in range(len(_objects.list_devices("cuda"))) if i != first)]


def _has_dlpack(value):
    return hasattr(value, "__dlpack__") and not type(value).__module__.startswith("numpy")


def _has_interface(value):
    return hasattr(value, "__cuda_array_interface__")


def install(cls):
    """Adds the protocols to the Array class, and registers the conversions of other libraries'
    arrays."""
    cls.__dlpack__ = dlpack
    cls.__dlpack_device__ = _place
    cls.__cuda_array_interface__ = property(cuda_array_interface)
    _conversion.converters += [(_has_dlpack, from_dlpack),
                               (_has_interface, from_cuda_array_interface)]
