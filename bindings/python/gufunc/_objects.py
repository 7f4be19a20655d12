# SPDX-License-Identifier: Apache-2.0
"""Devices, streams, events, graphs and contexts. These objects release themselves and need not be
closed.
"""

import math
import operator
import os
import threading

from . import _gufunc, lowlevel
from ._errors import make_refusal

__all__ = ["Context", "Device", "Event", "Graph", "Stream", "backends", "devices", "load_backend",
           "poll", "read_log", "shutdown"]

_FOREVER = 2**64 - 1
_local = threading.local()  # the current devices of the thread


def nanoseconds(timeout):
    """Converts a timeout in seconds, or None for no limit, to nanoseconds."""
    if timeout is None:
        return _FOREVER
    try:
        if not math.isnan(timeout):
            return int(max(0, timeout * 1e9)) if timeout < _FOREVER / 1e9 else _FOREVER
    except TypeError:
        pass
    raise make_refusal(f"timeout: expected a number of seconds or None, got {timeout!r}")


def _done(status):
    """Whether the result of a query or wait means that all work is done."""
    return status is None


class Device(_gufunc.Handle):
    """A device: ``Device("cuda:0")``, ``Device("cpu")``, ``Device("auto")``.

    Equal specs return equal devices. If the argument is a Device, the same Device is returned.
    UnavailableError if the backend, driver or device does not exist. Within ``with device:``, the
    device is this thread's current device of its backend, which `gufunc.cuda` and `gufunc.roc` use.
    """

    __slots__ = ()

    def __new__(cls, spec="cpu", *, context=None):
        if isinstance(spec, Device):
            return spec
        return lowlevel.guf_device_get(context, str(spec))

    @classmethod
    def adopt(cls, spec, native):
        """Opens a device that uses a driver context of the program (a CUcontext). The context must
        live as long as the device and its objects are used."""
        return lowlevel.guf_device_adopt(spec, int(native))

    @property
    def info(self):
        """The properties of the device: backend, name, target, spec, index, units, memory_bytes,
        host_memory."""
        return lowlevel.guf_device_get_info(self)

    @property
    def spec(self):
        """The spec of the device, such as "cpu" or "cuda:0"."""
        return self.info.spec

    id = property(lambda self: self.info.index, doc="Its number among the backend's devices.")
    name = property(lambda self: self.info.name, doc="The vendor's name of the device.")

    @property
    def compute_capability(self):
        """The compute capability of a CUDA device, such as (9, 0). AttributeError for other
        devices."""
        target = self.info.target
        if not target.startswith("sm_"):
            raise AttributeError(f"{self.spec} has no compute capability")
        return int(target[3:-1]), int(target[-1])

    def synchronize(self, timeout=None):
        """Waits for the work on the device's default stream, which runs the calls without a stream.
        Returns False if `timeout` seconds pass first."""
        return _done(lowlevel.guf_device_synchronize(self, nanoseconds(timeout)))

    @property
    def memory(self):
        """Statistics of the memory of arrays: live_bytes, peak_bytes, cached_bytes, ...
        UnsupportedError for the cpu, which has no memory pool."""
        return lowlevel.guf_device_get_memory(self)

    def trim_memory(self, keep_bytes=0):
        """Returns cached memory to the driver, except for `keep_bytes` bytes."""
        lowlevel.guf_device_trim_memory(self, keep_bytes)

    def limit_memory(self, limit_bytes=None):
        """Limits the memory of arrays. Allocations beyond the limit raise a NoMemoryError. None
        removes the limit."""
        lowlevel.guf_device_limit_memory(self, _FOREVER if limit_bytes is None else limit_bytes)

    def enable_peer(self, peer):
        """Allows work on this device to access the memory of `peer`. UnsupportedError if the
        devices do not support it."""
        lowlevel.guf_device_enable_peer(self, peer)

    def stream(self):
        """A new stream of this device."""
        return Stream(self)

    def event(self):
        """A new event of this device."""
        return Event(self)

    def __enter__(self):
        """Makes the device this thread's current device of its backend until the block ends."""
        info = self.info
        vars(_local).setdefault("entered", []).append((info.backend, current_index(info.backend)))
        set_current_index(info.backend, info.index)
        return self

    def __exit__(self, *failure):
        set_current_index(*_local.entered.pop())

    def __repr__(self):
        return f"gufunc.Device({self.spec!r})"

    def __str__(self):
        return self.spec

    def __reduce__(self):
        return Device, (self.spec,)


def as_device(device):
    """Converts a spec to a Device. A Device or None is returned unchanged."""
    return device if device is None or isinstance(device, Device) else Device(device)


def _device_handle(device):
    if device is None:
        raise make_refusal("device: expected a Device or its name, got None")
    return as_device(device)


def list_devices(backend):
    """All devices of a backend; no devices if the backend cannot be used."""
    for index in range(lowlevel.guf_backend_count()):
        found = lowlevel.guf_backend_get_info(index, 1)
        if found.name == backend and found.state == lowlevel.GUF_OK:
            return [Device(f"{backend}:{i}") for i in range(max(0, found.ndevices))]
    return []


def current_index(backend):
    """The index of this thread's current device."""
    return vars(_local).get(backend, 0)


def current_device(backend):
    """This thread's current device."""
    return Device(f"{backend}:{current_index(backend)}")


def set_current_index(backend, index):
    """Makes the device with this index the current device of this thread."""
    vars(_local)[backend] = index


class Stream(_gufunc.Handle):
    """An in-order queue of a device's work: ``Stream("cuda:0")``.

    Queued work keeps its arrays alive. `synchronize` raises the failures of queued work. The end of
    a ``with stream:`` block waits for the stream. Releasing a stream does not wait.
    """

    __slots__ = ()

    def __new__(cls, device="cpu"):
        return lowlevel.guf_stream_create(_device_handle(device), 0)

    @classmethod
    def adopt(cls, device, native):
        """A stream over a CUstream or hipStream_t of the program, which must outlive the new
        stream."""
        return lowlevel.guf_stream_adopt(_device_handle(device), int(native), 0)

    @property
    def device(self):
        """The device of the stream."""
        return lowlevel.guf_stream_get_device(self)

    @property
    def native(self):
        """The vendor's handle as an integer. The stream still owns the handle. UnsupportedError for
        the cpu."""
        return lowlevel.guf_stream_get_native(None, self)

    def query(self):
        """Whether all queued work is done. Does not wait."""
        return _done(lowlevel.guf_stream_query(self))

    def synchronize(self, timeout=None):
        """Waits for the queued work and raises its first failure. Returns False if `timeout`
        seconds pass first."""
        return _done(lowlevel.guf_stream_synchronize(self, nanoseconds(timeout)))

    def wait_event(self, event):
        """Makes work that is queued later wait for `event`. Does not wait itself."""
        lowlevel.guf_stream_wait_event(self, event)

    def record(self, event=None):
        """Records `event`, or a new event, after the work that is already queued on the stream.
        Returns the event."""
        event = Event(self.device) if event is None else event
        lowlevel.guf_event_record(event, self)
        return event

    def begin_capture(self):
        """Starts a capture: work that is queued from now on is recorded and does not run.
        UnsupportedError if the device does not support graphs, like the cpu."""
        lowlevel.guf_stream_begin_capture(self)

    def end_capture(self, graph=None):
        """Ends the capture. Returns a new Graph. If `graph` is given, replaces the work of `graph`
        and returns it."""
        return lowlevel.guf_stream_end_capture(self, graph)

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        self.synchronize()

    def __repr__(self):
        return f"<gufunc.Stream of {self.device}>"


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


class Event(_gufunc.Handle):
    """A point in a stream of `device`. An event that was never recorded counts as reached."""

    __slots__ = ("_device",)

    def __new__(cls, device="cpu"):
        device = _device_handle(device)
        made = lowlevel.guf_event_create(device, 0)
        made._device = device
        return made

    def record(self, stream=None):
        """Records the event after the work that is already queued on `stream`. If `stream` is None
        or 0, records the event on the default stream of the event's device."""
        if stream is None or (isinstance(stream, int) and stream == 0):
            stream = self._default_stream()
        lowlevel.guf_event_record(self, stream)

    def _default_stream(self):
        device = self._device or Device("cpu")
        if device.info.backend == "cpu":
            return Stream(device)  # on the cpu, work without a stream is already done
        return Stream.adopt(device, lowlevel.guf_stream_get_native(device, None))

    def query(self):
        """Whether the event is reached. Does not wait."""
        return _done(lowlevel.guf_event_query(self))

    def synchronize(self, timeout=None):
        """Waits for the event. Returns False if `timeout` seconds pass first."""
        return _done(lowlevel.guf_event_wait(self, nanoseconds(timeout)))

    def wait(self, timeout=None):
        """Waits for the event. Returns False if `timeout` seconds pass first. If the argument is a
        Stream, the function does not wait, but work that is queued later on the stream waits for
        the event, as with Numba's event."""
        if isinstance(timeout, Stream):
            return timeout.wait_event(self)
        return self.synchronize(timeout)

    def elapsed(self, to):
        """The milliseconds from this event to `to`, or None if an event is not reached yet.
        UnsupportedError if the device does not measure time, like the cpu."""
        answer = lowlevel.guf_event_elapsed(self, to)
        return None if isinstance(answer, tuple) else answer

    elapsed_time = elapsed


class Graph(_gufunc.Handle):
    """Work of a stream that is captured once and launched many times. `Stream.end_capture` returns
    a graph. A graph keeps the arrays of its work alive."""

    __slots__ = ()

    def launch(self, stream):
        """Queues the graph's work on a stream of the device on which it was captured."""
        lowlevel.guf_graph_launch(self, stream)


class Context(_gufunc.Handle):
    """A separate registry of ufuncs and modules, which contains the standard library from the
    start. Most programs do not need one."""

    __slots__ = ()

    def __new__(cls):
        return lowlevel.guf_context_create(0)

    def find(self, name):
        """The ufunc with a name. ArgumentError if there is none."""
        return lowlevel.guf_ufunc_find(self, name)

    def load(self, path, *, data_only=False):
        """Loads a module into this context. `gufunc.load` loads into the default context."""
        return load_module(path, data_only, self)

    def names(self):
        """The names of all ufuncs of this context, sorted."""
        return ufunc_names(self)


def ufunc_names(context):
    """The names of all ufuncs of a context, sorted."""
    count = lowlevel.guf_ufunc_count(context)
    return [lowlevel.guf_ufunc_name_at(context, i) for i in range(count)]


def load_module(path, data_only, context):
    """Loads a module file into a context. The module keeps a reference to the context."""
    flags = lowlevel.GUF_MODULE_DATA_ONLY if data_only else 0
    made = lowlevel.guf_module_load(context, os.path.abspath(os.fspath(path)), flags)
    made._context = context
    return made


def backends(probe=False):
    """The known backends. If `probe` is true, initializes their drivers first, so that `state` is
    final."""
    return [lowlevel.guf_backend_get_info(i, bool(probe))
            for i in range(lowlevel.guf_backend_count())]


def devices():
    """All devices of all usable backends."""
    found = []
    for backend in backends(probe=True):
        if backend.state == lowlevel.GUF_OK:
            found += [Device(backend.name if backend.name == "cpu" else f"{backend.name}:{i}")
                      for i in range(max(0, backend.ndevices))]
    return found


def load_backend(path):
    """Loads the backend plugin at an absolute path. FileError if the file cannot be opened."""
    lowlevel.guf_backend_load(str(path))


def poll(max_callbacks=0):
    """Frees objects whose release was deferred and runs at most `max_callbacks` queued release
    callbacks (0: all). Returns the number of callbacks that ran."""
    return lowlevel.guf_poll(max_callbacks)


def read_log():
    """Reads and removes all lines of the library's log as (level, text). The levels are 0 (error),
    1 (warning) and 2 (information)."""
    lines = []
    while True:
        text, level = lowlevel.guf_log_read()
        if level < 0:
            return lines
        lines.append((level, text))


def shutdown(timeout=None):
    """Stops the threads of the library. Programs need not call it. Returns False if work is still
    running after `timeout` seconds."""
    return _done(lowlevel.guf_shutdown(nanoseconds(timeout)))
