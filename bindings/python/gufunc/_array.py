# SPDX-License-Identifier: Apache-2.0
"""Arrays, of the host and of devices."""

import math
import operator

from . import _conversion, _dtypes, _gufunc, _indexing, lowlevel
from ._dtypes import CASTINGS, ORDERS
from ._errors import UnsupportedError, make_refusal
from ._objects import Device, as_device, nanoseconds

_MEMORIES = _dtypes.Words("memory", {"pinned": 1, "mapped": 2, "managed": 3})
_READ_ONLY = lowlevel.GUF_ARRAY_READ_ONLY


class Array(_gufunc.ArrayBase):
    """An n-dimensional array of the host or of a device.

    Made by `array`, `empty`, `zeros`, `ones`, `full`, `arange`, `from_buffer`, and by calls on
    arrays. Views share memory and keep it alive; nothing needs to be freed. Host arrays give their
    memory through the buffer protocol; `numpy()` is an ndarray over it. Operators and comparisons
    are the ufuncs of these names. ``a[key]`` is a view, of integers, slices, Ellipsis and None.
    """

    __slots__ = ()
    __array_priority__ = 1000.0
    __hash__ = None

    dtype = property(lambda self: _dtypes.of_code(self._dtype), doc="The element type.")
    itemsize = property(lambda self: self.dtype.itemsize, doc="Bytes of an element.")
    T = property(lambda self: self.transpose(), doc="The axes reversed, a view.")

    @property
    def device(self):
        """The device it lies on; cpu for memory of the host."""
        return self._device or Device("cpu")

    @property
    def readonly(self):
        """Whether it is refused as an output."""
        return bool(self._flags & _READ_ONLY)

    @property
    def c_contiguous(self):
        """Whether the last axis is the fastest, without gaps."""
        return bool(self._flags & lowlevel.GUF_ARRAY_C_CONTIGUOUS)

    @property
    def f_contiguous(self):
        """Whether the first axis is the fastest, without gaps."""
        return bool(self._flags & lowlevel.GUF_ARRAY_F_CONTIGUOUS)

    def __len__(self):
        if self.ndim == 0:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __iter__(self):
        if self.ndim == 0:
            raise TypeError("iteration over a 0-d array")
        return (_indexing.view(self, i) for i in range(self.shape[0]))

    def __getitem__(self, key):
        return _indexing.view(self, key)

    def __setitem__(self, key, value):
        self.synchronize()
        if isinstance(value, Array):
            value.synchronize()
        _indexing.view(self, key).assign(value, casting="unsafe")

    def __str__(self):
        if self.dtype.kind != "V":
            return _gufunc.array_text(self)
        elements = self.numpy() if _conversion.have_numpy() else self.tolist()
        return f"{elements}\nshape {self.shape}, {self.dtype}, {self.device}"

    def __repr__(self):
        elements, _, place = str(self).rpartition("\n")
        indented = elements.replace("\n", "\n      ")
        return f"array({indented}, {place})"

    def fill(self, value, *, stream=None):
        """Sets every element to a number, cast to the dtype, or to a structured scalar. Blocks for
        host memory. Complex to real as NumPy: TypeError for a Python number, else a warning.
        ShapeError where the array is read-only."""
        _conversion.check_number(value, self.dtype.kind)
        if self.dtype.kind == "V" and not isinstance(value, (int, float, complex)):
            return self.assign(value, casting="no", stream=stream)
        _gufunc.array_fill(self, value, stream)

    def assign(self, source, *, casting="same_kind", stream=None):
        """Copies `source`, broadcast and cast, into this array. Overlap behaves as a copy. With a
        stream the copy is queued. ShapeError where it does not broadcast to this shape or this
        array is read-only, DTypeError where `casting` forbids the cast."""
        if not isinstance(source, Array):
            if isinstance(source, (int, float, complex)):
                return self.fill(source, stream=stream)
            source = array(source, copy=False)
            if not self.on_host:
                source = source.to_device(self.device, stream=stream)
        _conversion.check_parts(source.dtype.kind, self.dtype.kind)
        lowlevel.guf_array_assign(self, source, CASTINGS[casting], stream)

    def synchronize(self, timeout=None):
        """Waits for all work with its memory that was given to the library, on streams and without
        one; False when `timeout` seconds ran out. What reads elements on the host does so itself:
        `numpy`, buffers, `tolist`, `item`, print, ``a[i] = x``; an ndarray cannot."""
        return lowlevel.guf_array_synchronize(self, nanoseconds(timeout)) is None

    def copy(self, order="C", *, stream=None):
        """A copy on the same device, with memory of its own, laid out by `order`."""
        return lowlevel.guf_array_copy(self, ORDERS[order], stream)

    def astype(self, dtype, order="K", casting="unsafe", *, copy=True, stream=None):
        """A copy of another dtype, of the same shape and on the same device; with copy=False this
        array where it is of that dtype and order. DTypeError where there is no such dtype or
        `casting` forbids the cast."""
        code = _dtypes.parse(dtype)
        if not copy and code == self._dtype and not self._flags & lowlevel.GUF_ARRAY_SWAPPED:
            laid_out = (True, self.c_contiguous, self.f_contiguous,
                        self.c_contiguous or self.f_contiguous)
            if laid_out[ORDERS[order]]:
                return self
        _conversion.check_parts(self.dtype.kind, _dtypes.of_code(code).kind)
        return lowlevel.guf_array_astype(self, code, CASTINGS[casting], ORDERS[order], stream)

    def reshape(self, *shape, order="C"):
        """A view of another shape where there can be one, else a copy; an extent may be -1.
        ShapeError where the numbers of elements differ. ArgumentError for order K."""
        if order in ("K", "k"):
            raise make_refusal(f"order '{order.upper()}' is not permitted for reshaping")
        shape = _indexing.several(shape[0], "shape") if len(shape) == 1 else shape
        return self._seen_as(lambda array: lowlevel.guf_array_reshape(array, len(shape), shape,
                                                                      ORDERS[order]), order)

    def ravel(self, order="C"):
        """One dimension, its elements in `order`: a view where there can be one, else a copy. K
        is the order in memory."""
        if order in ("K", "k"):
            return self._slowest_first().ravel()
        return self._seen_as(lambda array: lowlevel.guf_array_ravel(array, ORDERS[order]), order)

    def _slowest_first(self):
        """A view with the axes by the size of their strides."""
        strides = self.strides
        return self.transpose(sorted(range(self.ndim), key=lambda axis: -abs(strides[axis])))

    def _seen_as(self, look, order):
        try:
            return look(self)
        except UnsupportedError:  # no strides give such a view
            return look(self.copy("F" if order in ("F", "f") else "C"))

    def transpose(self, *axes):
        """A view with axes permuted, or reversed. ShapeError where not all axes are named,
        AxisError where one is named twice or is none of the array's."""
        if len(axes) == 1:
            axes = () if axes[0] is None else _indexing.several(axes[0], "axes")
        return lowlevel.guf_array_transpose(self, len(axes), axes or None)

    def squeeze(self, axis=None):
        """A view without axes of extent 1: all, or those named. ShapeError where one of these has
        another extent."""
        axes = None if axis is None else _indexing.several(axis, "axis")
        return lowlevel.guf_array_squeeze(self, len(axes or ()), axes)

    def to_device(self, device, *, out=None, stream=None):
        """A copy on `device`, or into `out` there, of the same shape and dtype. Without a stream
        complete on return where one side is the host's; with one queued, and both arrays are kept
        until it is done."""
        return lowlevel.guf_array_to_device(self, as_device(device), stream, out)

    def numpy(self):
        """An ndarray over the memory of a host array, without a copy; of a device array, a copy.
        Waits for work with the array. The ndarray keeps the memory alive."""
        host = self if self.on_host else self.to_device("cpu")
        return _gufunc.array_as_numpy(host)

    def __array__(self, dtype=None, copy=None):
        if not self.on_host:
            raise TypeError(f"an array on {self.device} is not converted to NumPy's implicitly: "
                            "copy it with x.numpy() or x.copy_to_host()")
        found = self.numpy()
        if dtype is not None and dtype != found.dtype:
            if copy is False:
                raise ValueError(f"an array of {self.dtype} cannot be one of {dtype} without a "
                                 "copy")
            return found.astype(dtype)
        return found.copy() if copy else found

    def item(self, *index):
        """An element as a Python number; of a record a tuple, as NumPy's, or bytes. One integer
        counts the elements in C's order. Waits for work with the array. ValueError where no index
        is given and there is not exactly one element."""
        if len(index) == 1:
            one, = index
            index = one if isinstance(one, tuple) else (
                _indexing.place_of(self.shape, operator.index(one)))
            one = _indexing.view(self, index)
        else:
            one = _indexing.view(self, index) if index else self
        if one.size != 1:
            raise ValueError("can only convert an array of size 1 to a Python scalar")
        return _nested(one.to_device("cpu"), ())

    def tolist(self):
        """Nested lists of what `item` gives, one level per axis. Waits for work with the array."""
        self.synchronize()
        return _nested(self if self.on_host else self.to_device("cpu"), self.shape)

    def __bool__(self):
        if self.size == 0:
            raise ValueError("The truth value of an empty array is ambiguous. Use `array.size > 0` "
                             "to check that an array is not empty.")
        if self.size != 1:
            raise ValueError("The truth value of an array with more than one element is "
                             "ambiguous. Use a.any() or a.all()")
        return bool(self.item())

    def _scalar(self):
        if self.ndim:
            raise TypeError("only 0-dimensional arrays can be converted to Python scalars")
        return self.item()

    def __int__(self):
        return int(self._scalar())

    def __float__(self):
        return float(self._scalar())

    def __complex__(self):
        return complex(self._scalar())

    def __format__(self, spec):
        if self.ndim == 0:
            return format(self.item(), spec)
        if spec:
            raise TypeError("unsupported format string passed to gufunc.Array.__format__")
        return str(self)

    def __index__(self):
        if self.ndim or self.dtype.kind not in "iu":
            raise TypeError("only integer scalar arrays can be converted to a scalar index")
        return int(self.item())


def _host_bytes(array):
    memory = bytearray(array.nbytes)
    lowlevel.guf_array_copy_to_host(array, memory, ORDERS["C"], None)
    return memory


def _nested(array, shape):
    """The elements of a host array by way of a memoryview; of types it lacks, through float32.
    Records that NumPy does not know are bytes; times are what NumPy makes of them, without it the
    number of their units."""
    kind = array.dtype.kind
    if kind == "V" and _dtypes.numpy_record(array._dtype) is not None:
        return array.numpy().reshape(shape).tolist()
    if kind == "E" or array.dtype.char == "e":
        array = array.astype("float32")
    if kind in "mM":
        if _conversion.have_numpy():
            return array.numpy().reshape(shape).tolist()
        array = view_as(array, "int64")
    if kind == "c":
        real = view_as(array.astype("complex128").copy().reshape(-1), "float64").tolist()
        flat = [complex(real[i], real[i + 1]) for i in range(0, len(real), 2)]
    elif kind == "V":
        data, size = bytes(_host_bytes(array)), array.itemsize
        flat = [data[i:i + size] for i in range(0, len(data), size)]
    else:
        flat = memoryview(_host_bytes(array)).cast(_CAST[array.dtype.name]).tolist()
    if not shape:
        return flat[0]
    for axis in range(len(shape) - 1, 0, -1):
        extent = shape[axis]
        flat = [flat[i * extent:(i + 1) * extent] for i in range(math.prod(shape[:axis]))]
    return flat


_CAST = {"bool": "?", "int8": "b", "uint8": "B", "int16": "h", "uint16": "H", "int32": "i",
         "uint32": "I", "int64": "q", "uint64": "Q", "float32": "f", "float64": "d"}


def view_as(array, dtype):
    """The memory of an array read as another dtype: a view. The last axis takes the difference in
    size; ValueError where it cannot, or the array is not C-contiguous then."""
    code = _dtypes.parse(dtype)
    itemsize = _dtypes.of_code(code).itemsize
    if itemsize == array.itemsize:
        shape, strides = array.shape, array.strides
    elif not array.c_contiguous or array.ndim == 0 or array.shape[-1] * array.itemsize % itemsize:
        raise ValueError("the last axis of a C-contiguous array must fit the dtype")
    else:
        shape = array.shape[:-1] + (array.shape[-1] * array.itemsize // itemsize,)
        strides = None
    flags = lowlevel.GUF_TENSOR_READ_ONLY if array.readonly else 0
    return _gufunc.array_wrap(array.address, code, shape, strides, flags, array._device, array)


def from_buffer(source, dtype=None):
    """An Array over the memory of an object with the buffer protocol, which it keeps alive.
    `dtype` reads the bytes of a contiguous buffer as that, in one dimension; ValueError where they
    are no whole number of elements. Read-only where the buffer is."""
    if dtype is None:
        return _gufunc.array_from_buffer(source)
    code = _dtypes.parse(dtype)
    flat = _gufunc.array_from_buffer(memoryview(source).cast("B"))
    size, tail = divmod(flat.nbytes, _dtypes.of_code(code).itemsize)
    if tail:
        raise ValueError("buffer size must be a multiple of element size")
    flags = lowlevel.GUF_TENSOR_READ_ONLY if flat.readonly else 0
    return _gufunc.array_wrap(flat.address, code, (size,), None, flags, None, flat)


def array(value, dtype=None, *, copy=True, device=None, stream=None):
    """An Array of anything: numbers, nested sequences, buffers, ndarrays, other libraries' arrays.

    dtype   what to cast to; by default the value's own
    copy    True: memory of its own. False: a view where `value` has memory to view.
    device  where it is to lie.
    stream  copies to and on a device are queued there

    Errors: ShapeError for sequences of differing lengths, DTypeError for what has no dtype.
    """
    made = as_array(value)
    device = as_device(device)
    moves = device is not None and not (made.on_host and device.spec == "cpu")
    if dtype is not None and made.dtype != dtype:
        made = made.astype(dtype, stream=None if made.on_host and moves else stream)
    elif copy and not moves:
        made = made.copy(stream=stream)
    return made.to_device(device, stream=stream) if moves else made


def as_array(value):
    """An Array over `value`'s own memory, where it has some, which it keeps alive; else a new one.
    What is an Array already is given back as it is."""
    if isinstance(value, Array):
        return value
    for matches, conversion in _conversion.converters:
        if matches(value):
            return conversion(value)
    if isinstance(value, (list, tuple, range, int, float, complex)) and not hasattr(value, "dtype"):
        try:
            return _conversion.from_object(value)
        except TypeError:
            pass  # elements that NumPy knows
    if type(value).__module__.partition(".")[0] == "numpy" or isinstance(value, (list, tuple)):
        from . import _numpy

        return _gufunc.numpy_as_array(_numpy.of_sequence(value))
    return _conversion.from_object(value)


def empty(shape, dtype="float64", *, device=None, order="C", strides=None):
    """An array of unspecified values, on `device` or the host, laid out by `order`, or with
    `strides` in bytes. ShapeError for negative or too large extents and for strides that make
    elements overlap, NoMemoryError where memory is out."""
    shape = _indexing.several(shape, "shape")
    return lowlevel.guf_array_alloc(as_device(device), _dtypes.parse(dtype), len(shape), shape,
                                    strides, ORDERS[order])


def empty_host(shape, dtype="float64", *, device, memory="pinned", order="C", strides=None):
    """An array in host memory for use with `device`: "pinned" (page-locked), "mapped" (the device
    reads and writes it in place) or "managed" (it moves to whoever touches it)."""
    kind = _MEMORIES[memory]
    shape = _indexing.several(shape, "shape")
    return lowlevel.guf_array_alloc_host(as_device(device), kind, _dtypes.parse(dtype), len(shape),
                                         shape, strides, ORDERS[order])


def broadcast_to(array, shape):
    """A read-only view stretched to `shape`; ShapeError where it does not broadcast to that."""
    shape = _indexing.several(shape, "shape")
    return lowlevel.guf_array_broadcast_to(as_array(array), len(shape), shape)


def expand_dims(array, axis):
    """A view with axes of extent 1 at the named places of the result. AxisError where a place is
    named twice, or lies outside it."""
    axes = _indexing.several(axis, "axis")
    return lowlevel.guf_array_expand_dims(as_array(array), len(axes), axes)


def sliding_window_view(array, window_shape, axis=None):
    """NumPy's sliding_window_view: a read-only view with the windows' axes last. `axis` names an
    axis per window; by default all. ShapeError where a window is larger than its axis."""
    array = as_array(array)
    windows = _indexing.several(window_shape, "window_shape")
    axes = range(array.ndim) if axis is None else _indexing.several(axis, "axis")
    return lowlevel.guf_array_sliding_window(array, len(axes), axes, windows)
