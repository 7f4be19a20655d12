# SPDX-License-Identifier: Apache-2.0
"""Devices, streams, events, graphs, contexts. Each releases itself; none needs a close."""

import math
import os

from . import _gufunc, lowlevel
from ._errors import make_refusal

_FOREVER = 2**64 - 1


def nanoseconds(timeout):
    """Seconds, or None for no limit."""
    if timeout is None:
        return _FOREVER
    try:
        if not math.isnan(timeout):
            return int(max(0, timeout * 1e9)) if timeout < _FOREVER / 1e9 else _FOREVER
    except TypeError:
        pass
    raise make_refusal(f"timeout: found {timeout!r}, wanted seconds, or None")


def _done(status):
    """What a query or wait answered: whether all is done."""
    return status is None


class Device(_gufunc.Handle):
    """A device: ``Device("cuda:0")``, ``Device("cpu")``, ``Device("auto")``.

    Equal specs give equal devices; of a Device it is that one. UnavailableError where there is no
    such backend, driver or device. Within ``with device:`` it is this thread's current one of its
    backend, for `gufunc.cuda` and `gufunc.roc`.
    """

    __slots__ = ()

    def __new__(cls, spec="cpu", *, context=None):
        if isinstance(spec, Device):
            return spec
        return lowlevel.guf_device_get(context, str(spec))

    @classmethod
    def adopt(cls, spec, native):
        """Opens a device over a driver's context of the program's own (a CUcontext), which must
        live as long as anything of the device is used."""
        return lowlevel.guf_device_adopt(spec, int(native))

    @property
    def info(self):
        """backend, name, target, spec, index, units, memory_bytes, host_memory."""
        return lowlevel.guf_device_get_info(self)

    @property
    def spec(self):
        """"cpu", "cuda:0"."""
        return self.info.spec

    id = property(lambda self: self.info.index, doc="Its number among the backend's devices.")
    name = property(lambda self: self.info.name, doc="What the vendor calls it.")

    @property
    def compute_capability(self):
        """(9, 0) of a CUDA device; of others an AttributeError."""
        target = self.info.target
        if not target.startswith("sm_"):
            raise AttributeError(f"{self.spec} has no compute capability")
        return int(target[3:-1]), int(target[-1])

    def synchronize(self, timeout=None):
        """Waits for work given without a stream; False when `timeout` seconds ran out."""
        return _done(lowlevel.guf_device_synchronize(self, nanoseconds(timeout)))

    @property
    def memory(self):
        """Figures of the memory of arrays: live_bytes, peak_bytes, cached_bytes, ... Of the cpu,
        which has no pool, an UnsupportedError."""
        return lowlevel.guf_device_get_memory(self)

    def trim_memory(self, keep_bytes=0):
        """Gives cached memory back to the driver, but for `keep_bytes` of it."""
        lowlevel.guf_device_trim_memory(self, keep_bytes)

    def limit_memory(self, limit_bytes=None):
        """Allocations beyond it fail with a NoMemoryError; None: no limit."""
        lowlevel.guf_device_limit_memory(self, _FOREVER if limit_bytes is None else limit_bytes)

    def enable_peer(self, peer):
        """Lets this device's work address the memory of `peer`; UnsupportedError where it
        cannot."""
        lowlevel.guf_device_enable_peer(self, peer)

    def stream(self):
        """A new stream of this device."""
        return Stream(self)

    def event(self):
        """A new event of this device."""
        return Event(self)

    def __repr__(self):
        return f"gufunc.Device({self.spec!r})"

    def __str__(self):
        return self.spec

    def __reduce__(self):
        return Device, (self.spec,)


def as_device(device):
    """A Device of a spec, a Device or None."""
    return device if device is None or isinstance(device, Device) else Device(device)


def _wanted(device):
    if device is None:
        raise make_refusal("a device is wanted, not None")
    return as_device(device)


class Stream(_gufunc.Handle):
    """An in-order queue of a device's work: ``Stream("cuda:0")``.

    What is queued keeps its arrays. Failures of queued work are raised by `synchronize`. With
    ``with stream:`` the end of the block waits for the stream. To release it waits for nothing.
    """

    __slots__ = ()

    def __new__(cls, device="cpu"):
        return lowlevel.guf_stream_create(_wanted(device), 0)

    @classmethod
    def adopt(cls, device, native):
        """Works on a CUstream or hipStream_t of the program's own, which must outlive it."""
        return lowlevel.guf_stream_adopt(_wanted(device), int(native), 0)

    @property
    def device(self):
        """The device whose work it queues."""
        return lowlevel.guf_stream_get_device(self)

    @property
    def native(self):
        """The vendor's handle, borrowed: an integer. Of the cpu an UnsupportedError."""
        return lowlevel.guf_stream_get_native(None, self)

    def query(self):
        """Whether all queued work is done; does not wait."""
        return _done(lowlevel.guf_stream_query(self))

    def synchronize(self, timeout=None):
        """Waits; raises the first failure of its work. False when `timeout` seconds ran out."""
        return _done(lowlevel.guf_stream_synchronize(self, nanoseconds(timeout)))

    def wait_event(self, event):
        """Makes later work wait for `event`; does not wait itself."""
        lowlevel.guf_stream_wait_event(self, event)

    def record(self, event=None):
        """Marks the present end with `event` or a new one; the event."""
        event = Event(self.device) if event is None else event
        lowlevel.guf_event_record(event, self)
        return event

    def begin_capture(self):
        """Records what is queued from now on instead of running it. UnsupportedError where the
        device has no graphs, such as the cpu."""
        lowlevel.guf_stream_begin_capture(self)

    def end_capture(self, graph=None):
        """Ends the capture: a new Graph, or `graph` with its work replaced."""
        return lowlevel.guf_stream_end_capture(self, graph)

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        self.synchronize()

    def __repr__(self):
        return f"<gufunc.Stream of {self.device}>"


class Event(_gufunc.Handle):
    """A mark in a stream of `device`. One that was never recorded counts as reached."""

    __slots__ = ("_device",)

    def __new__(cls, device="cpu"):
        device = _wanted(device)
        made = lowlevel.guf_event_create(device, 0)
        made._device = device
        return made

    def record(self, stream=None):
        """Marks the present end of `stream`; without one, or of 0, that of the work without a
        stream of the device that the event was made for."""
        if stream is None or (isinstance(stream, int) and stream == 0):
            stream = self._default_stream()
        lowlevel.guf_event_record(self, stream)

    def _default_stream(self):
        device = self._device or Device("cpu")
        if device.info.backend == "cpu":
            return Stream(device)  # such work is done when it was given
        return Stream.adopt(device, lowlevel.guf_stream_get_native(device, None))

    def query(self):
        """Whether the mark is reached; does not wait."""
        return _done(lowlevel.guf_event_query(self))

    def synchronize(self, timeout=None):
        """Waits; False when `timeout` seconds ran out."""
        return _done(lowlevel.guf_event_wait(self, nanoseconds(timeout)))

    def wait(self, timeout=None):
        """Waits; False when `timeout` seconds ran out. Of a Stream, its later work waits, as with
        Numba's event."""
        if isinstance(timeout, Stream):
            return timeout.wait_event(self)
        return self.synchronize(timeout)

    def elapsed(self, to):
        """Milliseconds from this event to `to`, or None while one is not reached. UnsupportedError
        where the device does not measure time, such as the cpu."""
        answer = lowlevel.guf_event_elapsed(self, to)
        return None if isinstance(answer, tuple) else answer

    elapsed_time = elapsed


class Graph(_gufunc.Handle):
    """Work of a stream, captured once and launched many times: what `Stream.end_capture` gives.
    It keeps the arrays of its work."""

    __slots__ = ()

    def launch(self, stream):
        """Queues the graph's work on a stream of the device it was captured on."""
        lowlevel.guf_graph_launch(self, stream)


class Context(_gufunc.Handle):
    """A registry of ufuncs and modules of its own; most programs need none."""

    __slots__ = ()

    def __new__(cls):
        return lowlevel.guf_context_create(0)

    def find(self, name):
        """A ufunc by name; ArgumentError where there is none."""
        return lowlevel.guf_ufunc_find(self, name)

    def load(self, path, *, data_only=False):
        """Loads a module into this context, as `gufunc.load` does into the process's own."""
        return load_module(path, data_only, self)

    def names(self):
        """Names of all ufuncs of this context, sorted."""
        return ufunc_names(self)


def ufunc_names(context):
    """Names of all ufuncs of a context, sorted."""
    count = lowlevel.guf_ufunc_count(context)
    return [lowlevel.guf_ufunc_name_at(context, i) for i in range(count)]


def load_module(path, data_only, context):
    """Loads a module file into a context, which the module then knows."""
    flags = lowlevel.GUF_MODULE_DATA_ONLY if data_only else 0
    made = lowlevel.guf_module_load(context, os.path.abspath(os.fspath(path)), flags)
    made._context = context
    return made


def backends(probe=False):
    """What backends there are; with `probe`, their drivers are asked and `state` is final."""
    return [lowlevel.guf_backend_get_info(i, bool(probe))
            for i in range(lowlevel.guf_backend_count())]


def devices():
    """Every device of every usable backend."""
    found = []
    for backend in backends(probe=True):
        if backend.state == lowlevel.GUF_OK:
            found += [Device(backend.name if backend.name == "cpu" else f"{backend.name}:{i}")
                      for i in range(max(0, backend.ndevices))]
    return found


def load_backend(path):
    """Adds a plugin by absolute path. FileError where it cannot be opened."""
    lowlevel.guf_backend_load(str(path))


def poll(max_callbacks=0):
    """Frees what releases left behind; how many callbacks ran."""
    return lowlevel.guf_poll(max_callbacks)


def read_log():
    """Takes all lines of the library's log: (level, text), 0 error, 1 warning, 2 information."""
    lines = []
    while True:
        text, level = lowlevel.guf_log_read()
        if level < 0:
            return lines
        lines.append((level, text))


def shutdown(timeout=None):
    """Stops the library's threads; optional. False when work still ran after `timeout` seconds."""
    return _done(lowlevel.guf_shutdown(nanoseconds(timeout)))
