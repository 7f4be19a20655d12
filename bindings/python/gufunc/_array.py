# SPDX-License-Identifier: Apache-2.0
"""Arrays in host and device memory, and the functions that create them."""

import math
import operator
import sys
import warnings

from . import _conversion, _dtypes, _foreign, _gufunc, _indexing, lowlevel
from ._dtypes import CASTINGS, ORDERS
from ._errors import UnsupportedError, make_error, make_refusal
from ._objects import Device, as_device, nanoseconds

__all__ = ["Array", "arange", "array", "as_array", "broadcast_to", "empty", "empty_host",
           "empty_like", "expand_dims", "from_buffer", "full", "full_like", "ones", "ones_like",
           "sliding_window_view", "view_as", "zeros", "zeros_like"]

_MEMORIES = _dtypes.NameTable("memory", {"pinned": 1, "mapped": 2, "managed": 3})
_READ_ONLY = lowlevel.GUF_ARRAY_READ_ONLY
_PARTS = {lowlevel.GUF_C64: "float32", lowlevel.GUF_C128: "float64"}


def _place(axis, ndim):
    place = operator.index(axis)
    if not -ndim <= place < ndim:
        raise make_error(lowlevel.GUF_E_AXIS, f"axis {place} is out of bounds for array of "
                         f"dimension {ndim}", axis=place)
    return place % ndim


class Array(_gufunc.ArrayBase):
    """An n-dimensional array in host or device memory.

    Arrays are created by `array`, `empty`, `zeros`, `ones`, `full`, `arange` and `from_buffer`, and
    by calls on arrays. Views share memory and keep it alive; arrays free their memory themselves.
    Host arrays export their memory through the buffer protocol; `numpy()` returns an ndarray over
    the same memory. Operators and comparisons call the ufuncs of the same names. ``a[key]`` returns
    a view; the key consists of integers, slices, Ellipsis and None.
    """

    __slots__ = ()
    __array_priority__ = 1000.0
    __hash__ = None

    dtype = property(lambda self: _dtypes.of_code(self._dtype), doc="The element type.")
    itemsize = property(lambda self: self.dtype.itemsize, doc="Bytes of an element.")
    T = property(lambda self: self.transpose(), doc="The axes reversed, a view.")

    @property
    def device(self):
        """The device whose memory holds the array. It is the cpu for host memory."""
        return self._device or Device("cpu")

    @property
    def readonly(self):
        """Whether the array is read-only. A read-only array cannot be an output."""
        return bool(self._flags & _READ_ONLY)

    @property
    def c_contiguous(self):
        """Whether the elements are contiguous in C order: the last axis varies fastest."""
        return bool(self._flags & lowlevel.GUF_ARRAY_C_CONTIGUOUS)

    @property
    def f_contiguous(self):
        """Whether the elements are contiguous in Fortran order: the first axis varies fastest."""
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
        """Sets every element to a number, which is cast to the dtype, or to a structured scalar.
        Blocks for host memory. As in NumPy, a conversion from complex to real raises a TypeError
        for a Python number and warns for other values. ShapeError if the array is read-only."""
        _conversion.check_number(value, self.dtype.kind)
        if self.dtype.kind == "V" and not isinstance(value, (int, float, complex)):
            return self.assign(value, casting="no", stream=stream)
        _gufunc.array_fill(self, value, stream)

    def assign(self, source, *, casting="same_kind", stream=None):
        """Copies `source`, broadcast and cast, into this array. `source` may overlap this array.
        With a stream the copy is queued. ShapeError if `source` does not broadcast to this shape or
        this array is read-only, DTypeError if `casting` forbids the cast."""
        if not isinstance(source, Array):
            if isinstance(source, (int, float, complex)):
                return self.fill(source, stream=stream)
            source = array(source, copy=False)
            if not self.on_host:
                source = source.to_device(self.device, stream=stream)
        _conversion.check_parts(source.dtype.kind, self.dtype.kind)
        lowlevel.guf_array_assign(self, source, CASTINGS[casting], stream)

    def synchronize(self, timeout=None):
        """Waits for all work of the library that uses the array's memory, on any stream, including
        the device's default stream. Returns False if `timeout` seconds pass first. Operations that
        access elements on the host wait in the same way: `numpy`, the buffer protocol, `tolist`,
        `item`, print and ``a[i] = x``. Reads through an existing ndarray do not wait."""
        return lowlevel.guf_array_synchronize(self, nanoseconds(timeout)) is None

    def copy(self, order="C", *, stream=None):
        """A copy in new memory on the same device, laid out by `order`."""
        return lowlevel.guf_array_copy(self, ORDERS[order], stream)

    def __copy__(self):
        """A copy on the same device, in the same order."""
        return self.copy("K")

    def __deepcopy__(self, memo):
        """A copy on the same device, in the same order."""
        return self.copy("K")

    def __reduce__(self):
        """Pickles elements, dtype, shape and order, as NumPy does. The unpickled array is a
        writable host array, because the device may not exist where the pickle is read."""
        order = "F" if self.f_contiguous and not self.c_contiguous else "C"
        memory = bytearray(self.nbytes)
        lowlevel.guf_array_copy_to_host(self, memory, ORDERS[order], None)
        return unpickle, (bytes(memory), self.dtype, self.shape, order)

    def astype(self, dtype, order="K", casting="unsafe", *, copy=True, stream=None):
        """A copy with another dtype, with the same shape and on the same device. With copy=False,
        returns this array itself if it already has that dtype and order. DTypeError if the dtype
        does not exist or `casting` forbids the cast."""
        code = _dtypes.parse(dtype)
        if not copy and code == self._dtype and not self._flags & lowlevel.GUF_ARRAY_SWAPPED:
            laid_out = (True, self.c_contiguous, self.f_contiguous,
                        self.c_contiguous or self.f_contiguous)
            if laid_out[ORDERS[order]]:
                return self
        _conversion.check_parts(self.dtype.kind, _dtypes.of_code(code).kind)
        return lowlevel.guf_array_astype(self, code, CASTINGS[casting], ORDERS[order], stream)

    def reshape(self, *shape, order="C"):
        """The array with another shape: a view if the strides permit a view, otherwise a copy. One
        extent may be -1. ShapeError if the numbers of elements differ. ArgumentError for order
        K."""
        if order in ("K", "k"):
            raise make_refusal(f"order '{order.upper()}' is not permitted for reshaping")
        shape = _indexing.several(shape[0], "shape") if len(shape) == 1 else shape
        return self._view_or_copy(
            lambda array: lowlevel.guf_array_reshape(array, len(shape), shape, ORDERS[order]),
            order)

    def ravel(self, order="C"):
        """The elements in one dimension, in `order`: a view if the strides permit a view, otherwise
        a copy. Order K is the order in memory."""
        if order in ("K", "k"):
            return self._slowest_first().ravel()
        return self._view_or_copy(
            lambda array: lowlevel.guf_array_ravel(array, ORDERS[order]), order)

    def flatten(self, order="C"):
        """A copy in one dimension, with the elements in `order`."""
        order = "KCFA"[ORDERS[order]]
        if order == "A":
            order = "F" if self.f_contiguous and not self.c_contiguous else "C"
        if order == "K":
            self, order = self._slowest_first(), "C"
        return self.copy(order).ravel(order)

    def _slowest_first(self):
        """A view with the axes sorted by the absolute size of their strides, largest first."""
        strides = self.strides
        return self.transpose(sorted(range(self.ndim), key=lambda axis: -abs(strides[axis])))

    def _view_or_copy(self, make_view, order):
        try:
            return make_view(self)
        except UnsupportedError:  # no strides describe the view
            return make_view(self.copy("F" if order in ("F", "f") else "C"))

    def transpose(self, *axes):
        """A view with the axes permuted, or reversed if none are given. ShapeError if an axis is
        missing, AxisError if an axis is repeated or out of bounds."""
        if len(axes) == 1:
            axes = () if axes[0] is None else _indexing.several(axes[0], "axes")
        return lowlevel.guf_array_transpose(self, len(axes), axes or None)

    def swapaxes(self, axis1, axis2):
        """A view with two axes exchanged. AxisError if an axis is out of bounds."""
        axes = list(range(self.ndim))
        first, second = _place(axis1, self.ndim), _place(axis2, self.ndim)
        axes[first], axes[second] = second, first
        return self.transpose(axes)

    def squeeze(self, axis=None):
        """A view without the axes that `axis` selects, which must have extent 1. If `axis` is None,
        the view lacks every axis of extent 1. ShapeError if a selected axis has an extent other
        than 1."""
        axes = None if axis is None else _indexing.several(axis, "axis")
        return lowlevel.guf_array_squeeze(self, len(axes or ()), axes)

    def _part(self, index):
        name = _PARTS[self._dtype]
        code = _dtypes.parse(name)
        flags = lowlevel.GUF_TENSOR_READ_ONLY if self.readonly else 0
        if self._flags & lowlevel.GUF_ARRAY_SWAPPED:
            flags |= lowlevel.GUF_TENSOR_SWAPPED
        size = _dtypes.of_code(code).itemsize
        address = self.address + index * size if self.size else self.address
        return _gufunc.array_wrap(address, code, self.shape, self.strides, flags, self._device,
                                  self)

    def _real(self):
        return self._part(0) if self._dtype in _PARTS else self

    def _imag(self):
        if self._dtype in _PARTS:
            return self._part(1)
        return broadcast_to(zeros((), self.dtype, device=self._device), self.shape)

    def _set_real(self, value):
        self._real().assign(value, casting="unsafe")

    def _set_imag(self, value):
        if self._dtype not in _PARTS:
            raise TypeError("array does not have imaginary part to set")
        self._imag().assign(value, casting="unsafe")

    real = property(_real, _set_real, doc="The real parts: a view; of real arrays themselves.")
    imag = property(_imag, _set_imag, doc="The imaginary parts: a view; of real arrays zeros.")

    def to_device(self, device, *, out=None, stream=None):
        """A copy on `device`, in a new array or in `out`, which has the same shape and dtype.
        Without a stream, a copy from or to host memory is complete on return. With a stream the
        copy is queued, and both arrays are kept alive until the copy is complete."""
        return lowlevel.guf_array_to_device(self, as_device(device), stream, out)

    def __pos__(self):
        """A copy. Only numbers and timedelta64 are supported."""
        if self.dtype.kind not in "iufEcm":
            raise make_error(lowlevel.GUF_E_NO_LOOP, "ufunc 'positive' did not contain a loop with "
                             f"signature matching types {self.dtype} -> None")
        return self.copy("K")

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
        divide = lowlevel.guf_ufunc_find(None, "divide")
        total = self.sum(axis, dtype, out, keepdims)
        if total.dtype.kind == "m":
            return divide(total, count, out=total)
        # In NumPy's mean, the number of elements has a dtype and is not a weak scalar. A float32
        # sum is therefore divided in float64 and rounded once.
        wide = "complex128" if total.dtype.kind == "c" else "float64"
        divide(total, float(count), out=total, dtype=wide, casting="unsafe")
        return total.astype("float16") if half and out is None else total

    def numpy(self):
        """An ndarray over the memory of a host array, without a copy. A device array is copied to
        the host. Waits for work that uses the array. The ndarray keeps the memory alive."""
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
        """An element as a Python number. An element of a structured dtype is a tuple, as in NumPy,
        or bytes if NumPy does not know the dtype. A single integer is a flat index in C order.
        Waits for work that uses the array. ValueError if no index is given and the array does not
        have exactly one element."""
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
        """Nested lists of the values that `item` returns, one level per axis. Waits for work that
        uses the array."""
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
    """The elements of a host array as nested lists, read through a memoryview. A memoryview
    supports neither float16 nor bfloat16, so elements of these types are cast to float32.
    Structured elements that NumPy does not know become bytes. Datetime elements become NumPy's
    objects, or their numbers of units if NumPy is not available."""
    kind = array.dtype.kind
    if kind == "V" and _dtypes.numpy_structured(array._dtype) is not None:
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
        flat = memoryview(_host_bytes(array)).cast(array.dtype.char).tolist()
    if not shape:
        return flat[0]
    for axis in range(len(shape) - 1, 0, -1):
        extent = shape[axis]
        flat = [flat[i * extent:(i + 1) * extent] for i in range(math.prod(shape[:axis]))]
    return flat


def unpickle(data, dtype, shape, order="C"):
    """The array from the data of a pickle."""
    return from_buffer(bytearray(data), dtype).reshape(shape, order=order)


def view_as(array, dtype):
    """A view of an array's memory with another dtype. If the element sizes differ, the extent of
    the last axis changes. ValueError if the bytes of that axis are not a multiple of the new
    element size, or if the array is not C-contiguous."""
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
    """An Array over the memory of an object with the buffer protocol. The array keeps the object
    alive and is read-only if the buffer is read-only. With `dtype`, the bytes of a contiguous
    buffer are read as a 1-d array of that dtype; ValueError if their number is not a multiple of
    the element size."""
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
    """An Array from numbers, nested sequences, buffers, ndarrays, objects with ``__array__`` such
    as a pandas Series, or arrays of other libraries.

    dtype   the dtype to which the values are cast; by default the dtype of `value`
    copy    True: the array has new memory. False: a view if `value` exports its memory.
    device  the device whose memory holds the array
    stream  the stream on which copies to and on a device are queued

    Errors: ShapeError if nested sequences differ in length, DTypeError if a value has no dtype,
    CallError (a TypeError) if a unit or a mask would be dropped.
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
    """`value` as an Array. If `value` exports its memory, the array is a view of it and keeps
    `value` alive; otherwise the array is new. An Array is returned unchanged."""
    if isinstance(value, Array):
        return value
    _foreign.refuse_conversion(value)
    for matches, conversion in _conversion.converters:
        if matches(value):
            return conversion(value)
    if isinstance(value, (list, tuple, range, int, float, complex)) and not hasattr(value, "dtype"):
        try:
            return _conversion.from_object(value)
        except TypeError:
            pass  # NumPy may be able to convert the elements
    if (type(value).__module__.partition(".")[0] == "numpy" or isinstance(value, (list, tuple)) or
            hasattr(type(value), "__array__") and _conversion.have_numpy()):
        from . import _numpy

        return _gufunc.numpy_as_array(_numpy.of_sequence(value))
    return _conversion.from_object(value)


def empty(shape, dtype="float64", *, device=None, order="C", strides=None):
    """An array of unspecified values on `device` or the host. `order` selects the layout, unless
    `strides` specifies the strides in bytes. ShapeError if an extent is negative or too large or if
    the strides make elements overlap, NoMemoryError if there is not enough memory."""
    shape = _indexing.several(shape, "shape")
    return lowlevel.guf_array_alloc(as_device(device), _dtypes.parse(dtype), len(shape), shape,
                                    strides, ORDERS[order])


def empty_host(shape, dtype="float64", *, device, memory="pinned", order="C", strides=None):
    """An array in host memory for use with `device`. The memory is "pinned" (page-locked), "mapped"
    (the device reads and writes it in place) or "managed" (the driver migrates it to the processor
    that accesses it)."""
    kind = _MEMORIES[memory]
    shape = _indexing.several(shape, "shape")
    return lowlevel.guf_array_alloc_host(as_device(device), kind, _dtypes.parse(dtype), len(shape),
                                         shape, strides, ORDERS[order])


def broadcast_to(array, shape):
    """A read-only view broadcast to `shape`. ShapeError if the array cannot be broadcast to
    `shape`."""
    shape = _indexing.several(shape, "shape")
    return lowlevel.guf_array_broadcast_to(as_array(array), len(shape), shape)


def expand_dims(array, axis):
    """A view with new axes of extent 1. `axis` contains the positions of the new axes in the
    result. AxisError if a position is repeated or out of bounds."""
    axes = _indexing.several(axis, "axis")
    return lowlevel.guf_array_expand_dims(as_array(array), len(axes), axes)


def sliding_window_view(array, window_shape, axis=None):
    """NumPy's sliding_window_view: a read-only view with the axes of the windows last. `axis`
    contains one axis per window; the default is all axes. ShapeError if a window is larger than its
    axis."""
    array = as_array(array)
    windows = _indexing.several(window_shape, "window_shape")
    axes = range(array.ndim) if axis is None else _indexing.several(axis, "axis")
    return lowlevel.guf_array_sliding_window(array, len(axes), axes, windows)


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
