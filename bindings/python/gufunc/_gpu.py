# SPDX-License-Identifier: Apache-2.0
"""Implements `gufunc.cuda` and `gufunc.roc`, which provide Numba's names for objects of this
package.
"""

import contextlib
import weakref

from . import _array, _gufunc, _objects, lowlevel
from ._errors import Error, make_error, make_refusal
from ._launch import DeviceKernel
from ._objects import Device, Event, Stream, as_stream, native_of


class VendorModule:
    """The functions of `gufunc.cuda` or `gufunc.roc`. Each backend has a current device per
    thread."""

    def __init__(self, backend):
        self.backend = backend
        self.gpus = Gpus(backend)
        self._streams = weakref.WeakSet()

    # Devices.

    def list_devices(self):
        """All devices of the backend; no devices if the backend cannot be used."""
        return _objects.list_devices(self.backend)

    def is_available(self):
        """Whether the backend has a device."""
        return bool(self.list_devices())

    def get_current_device(self):
        """The device on which this thread creates arrays and streams."""
        return _objects.current_device(self.backend)

    def select_device(self, index):
        """Makes a device the current device of this thread and returns it."""
        device = index if isinstance(index, Device) else Device(f"{self.backend}:{int(index)}")
        if device.info.backend != self.backend:
            raise make_refusal(f"{device} is not a device of {self.backend}")
        _objects.set_current_index(self.backend, device.info.index)
        return device

    @contextlib.contextmanager
    def device(self, index):
        """Makes a device the current device of this thread within a ``with`` block."""
        before = _objects.current_index(self.backend)
        try:
            yield self.select_device(index)
        finally:
            _objects.set_current_index(self.backend, before)

    def get_memory_info(self):
        """(free, total) memory of the current device in bytes."""
        memory = self.get_current_device().memory
        return memory.free_bytes, memory.total_bytes

    def synchronize(self):
        """Waits for all work of the current device: the work on its default stream, and on all its
        streams that this module created."""
        device = self.get_current_device()
        for stream in list(self._streams):
            if stream.device == device:
                stream.synchronize()
        device.synchronize()

    def current_context(self):
        """An object for the current device, with `device`, `get_memory_info` and `synchronize`."""
        return CurrentContext(self)

    def close(self):
        """Returns the cached memory of all devices to the driver."""
        for device in self.list_devices():
            device.trim_memory()

    def detect(self):
        """Prints the devices of the backend. Returns whether the backend has a device."""
        found = self.list_devices()
        print(f"Found {len(found)} devices of {self.backend}")
        for device in found:
            print(f"{device.spec}: {device.info.name}, {device.info.target}")
        return bool(found)

    @contextlib.contextmanager
    def defer_cleanup(self):
        """Does nothing and exists for programs written for Numba. Memory is always cached for later
        arrays."""
        yield

    # Streams and events.

    def stream(self):
        """A new stream of the current device."""
        made = Stream(self.get_current_device())
        self._streams.add(made)
        return made

    def default_stream(self):
        """A stream over the driver's stream that is the device's default stream: calls without a
        stream run on it."""
        device = self.get_current_device()
        return Stream.adopt(device, native_of(device))

    def external_stream(self, native):
        """A stream over a stream handle of the driver or a stream object of another library. The
        handle or object must outlive the new stream."""
        made = as_stream(native, self.get_current_device())
        if made is None:
            return self.default_stream()
        self._streams.add(made)
        return made

    def event(self, timing=True):
        """A new event of the current device. `timing` is ignored and exists for programs written
        for Numba."""
        return Event(self.get_current_device())

    def event_elapsed_time(self, start, end):
        """The milliseconds between two events, or None if an event is not reached yet."""
        return start.elapsed(end)

    # Arrays of the device.

    def to_device(self, obj, stream=None, copy=True, to=None):
        """Copies an array to the current device, or into the device array `to`.

        obj     any object that `gufunc.array` accepts, or a structured scalar. An array that is
                already on the device is returned unchanged.
        copy    False: allocate the memory without copying the values
        stream  the stream on which the copy is queued. The host memory must not change before the
                copy is complete.
        """
        device = self.get_current_device() if to is None else to.device
        stream = as_stream(stream, device)
        source = _array.as_array(obj)
        if to is None and source.device == device:
            return source
        if to is None:
            order = "F" if source.f_contiguous and not source.c_contiguous else "C"
            to = _array.empty(source.shape, source.dtype, device=device, order=order)
        return source.to_device(device, out=to, stream=stream) if copy else to

    def device_array(self, shape, dtype="float64", strides=None, order="C", stream=None):
        """An array of unspecified values on the current device. `stream` is ignored."""
        return _array.empty(shape, dtype, device=self.get_current_device(), strides=strides,
                            order=order)

    def device_array_like(self, ary, stream=None):
        """An array of unspecified values with the shape, dtype and order of `ary`."""
        like = _array.as_array(ary)
        order = "F" if like.f_contiguous and not like.c_contiguous else "C"
        return self.device_array(like.shape, like.dtype, order=order)

    # Host memory.

    def _host_array(self, memory, shape, dtype, strides, order):
        return _array.empty_host(shape, dtype, device=self.get_current_device(), memory=memory,
                                 strides=strides, order=order)

    def pinned_array(self, shape, dtype="float64", strides=None, order="C"):
        """A host array of unspecified values in page-locked memory."""
        return self._host_array("pinned", shape, dtype, strides, order)

    def pinned_array_like(self, ary):
        """A page-locked host array with the shape and dtype of `ary`."""
        like = _array.as_array(ary)
        return self.pinned_array(like.shape, like.dtype)

    def mapped_array(self, shape, dtype="float64", strides=None, order="C", stream=None,
                     portable=False, wc=False):
        """A host array that the device reads and writes in place. The last three parameters are
        ignored and exist for programs written for Numba."""
        return self._host_array("mapped", shape, dtype, strides, order)

    def mapped_array_like(self, ary, stream=None, portable=False, wc=False):
        """A mapped host array with the shape and dtype of `ary`."""
        like = _array.as_array(ary)
        return self.mapped_array(like.shape, like.dtype)

    def managed_array(self, shape, dtype="float64", strides=None, order="C", stream=None,
                      attach_global=True):
        """A host array in memory that the driver migrates to the processor that accesses it. The
        last two parameters are ignored and exist for programs written for Numba."""
        return self._host_array("managed", shape, dtype, strides, order)

    def register(self, *arrays):
        """Page-locks the memory of host arrays until `deregister` or the end of a ``with`` block.

        The arrays must live until then.
        """
        device = self.get_current_device()
        done = []
        try:
            for array in arrays:
                first, size = span_of(_own_memory(array))
                lowlevel.guf_host_register(device, first, size)
                done.append(first)
        except BaseException:
            for first in done:
                lowlevel.guf_host_unregister(device, first)
            raise
        return Registered(self, device, arrays)

    def deregister(self, *arrays):
        """Ends the page-locking of arrays that were passed to `register`."""
        self._deregister(self.get_current_device(), arrays)

    @staticmethod
    def _deregister(device, arrays):
        failure = None
        for array in arrays:
            try:
                lowlevel.guf_host_unregister(device, span_of(_array.as_array(array))[0])
            except Error as error:  # unregister the other arrays, too
                failure = failure or error
        if failure is not None:
            raise failure

    @contextlib.contextmanager
    def mapped(self, *arrays, stream=None):
        """Page-locks host arrays within a ``with`` block. The block receives arrays of the device
        over the same memory: one array for one argument, or a list for several arguments."""
        with self.register(*arrays) as registered:
            device = registered.device
            views = [_as_device_view(_array.as_array(array), device) for array in arrays]
            try:
                yield views[0] if len(views) == 1 else views
            finally:
                self.synchronize()

    # Kernels.

    def kernel(self, module, name):
        """A raw kernel that runs on this thread's current device:
        ``cuda.kernel(module, "scale")[grid, block](x, y)``."""
        return DeviceKernel(module.kernel(name), self.get_current_device)


class Gpus:
    """The devices of a backend, determined at each access: ``cuda.gpus[0]``, ``len(cuda.gpus)``."""

    def __init__(self, backend):
        self._backend = backend

    @property
    def lst(self):
        """The devices as a list."""
        return _objects.list_devices(self._backend)

    @property
    def current(self):
        """This thread's current device."""
        return _objects.current_device(self._backend)

    def __len__(self):
        return len(self.lst)

    def __getitem__(self, index):
        return self.lst[index]

    def __iter__(self):
        return iter(self.lst)

    def __repr__(self):
        return f"<{len(self)} devices of {self._backend}>"


class CurrentContext:
    """A context of the device that was current when the context was created; `device` is that
    device."""

    def __init__(self, module):
        self._vendor_module, self.device = module, module.get_current_device()

    def get_memory_info(self):
        """(free, total) memory of the device in bytes."""
        with self._vendor_module.device(self.device):
            return self._vendor_module.get_memory_info()

    def synchronize(self):
        """Waits for all work of the device."""
        with self._vendor_module.device(self.device):
            self._vendor_module.synchronize()


class Registered:
    """Page-locked host arrays, and the context manager that ends the page-locking. `device` is the
    device for which the arrays are page-locked, and `arrays` are the host arrays."""

    def __init__(self, module, device, arrays):
        self._vendor_module, self.device, self.arrays = module, device, arrays

    def deregister(self):
        """Ends the page-locking. Further calls do nothing."""
        arrays, self.arrays = self.arrays, ()
        self._vendor_module._deregister(self.device, arrays)

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        self.deregister()


def span_of(array):
    """(address, bytes) of the memory between an array's first and last element."""
    if array.size == 0:
        return array.address, array.itemsize
    reaches = [(extent - 1) * step for extent, step in zip(array.shape, array.strides)]
    first = array.address + sum(reach for reach in reaches if reach < 0)
    return first, sum(map(abs, reaches)) + array.itemsize


def _own_memory(value):
    """The array over the memory of an object. A list or number is rejected, because the temporary
    array made from it would be freed immediately."""
    if isinstance(value, (list, tuple, int, float, complex)):
        raise make_error(lowlevel.GUF_E_ARG,
                         f"a {type(value).__name__} has no memory that can be page-locked: make an "
                         "array of it")
    return _array.as_array(value)


def _as_device_view(array, device):
    flags = lowlevel.GUF_TENSOR_READ_ONLY if array.readonly else 0
    return _gufunc.array_wrap(array.address, array._dtype, array.shape, array.strides, flags,
                              device, array)


_NOT_HERE = {"jit", "vectorize", "guvectorize", "grid", "gridsize", "threadIdx", "blockIdx",
             "blockDim", "gridDim", "syncthreads", "shared", "local", "atomic", "reduce",
             "get_global_id", "get_local_id", "barrier"}


def publish(names, vendor):
    """Adds the functions of a VendorModule to the globals `names` of a module."""
    public = [name for name in dir(vendor) if not name.startswith("_") and name != "backend"]
    names.update((name, getattr(vendor, name)) for name in public)

    def missing(name):
        if name in _NOT_HERE:
            raise AttributeError(
                f"gufunc.{vendor.backend}.{name}: functions are compiled ahead of time, from C++: "
                f"gufunc.build(source), or gufcc; see docs/from-numba.md")
        raise AttributeError(f"module 'gufunc.{vendor.backend}' has no attribute {name!r}")

    names["__getattr__"] = missing
    return sorted(public)


__all__ = ["CurrentContext", "VendorModule", "Gpus", "Registered", "publish", "span_of"]
