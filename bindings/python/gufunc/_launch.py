# SPDX-License-Identifier: Apache-2.0
"""Raw kernels launched as ``kernel[grid, block, stream, shared](...)``."""

import sys

from . import _array, _gufunc, lowlevel
from ._errors import make_refusal
from ._objects import Device, Stream, as_device
from ._streams import as_stream
from ._ufunc import size_of, three

_NUMBERS = (bool, int, float, complex)
_ARRAYS = (lowlevel.GUF_PARAMETER_POINTER, lowlevel.GUF_PARAMETER_VIEW)


class DeviceKernel:
    """A raw kernel for a certain device: ``kernel.on("cuda:0")``. `device` may be a function that
    says which, at each launch. ``[grid, block, stream, shared]`` gives a `Launch`."""

    def __init__(self, kernel, device):
        self.kernel, self._device = kernel, device

    @property
    def device(self):
        """Where it runs."""
        return self._device() if callable(self._device) else as_device(self._device)

    def __getitem__(self, configuration):
        return Launch(self.kernel, configuration, self.device)

    def __repr__(self):
        return f"<{self.kernel.__name__} on {self.device}>"


class Launch:
    """A kernel with a grid, waiting for its arguments: what ``kernel[grid, block, stream, shared]``
    gives.

    kernel  the raw kernel
    device  where it runs, or None: where its arrays lie
    stream  what it is queued on, or None
    grid    blocks, three numbers
    block   threads of a block, three numbers
    shared  bytes of shared memory
    """

    def __init__(self, kernel, configuration, device=None):
        parts = configuration if isinstance(configuration, tuple) else (configuration,)
        if not 2 <= len(parts) <= 4:
            raise make_refusal("kernel[grid, block, stream, shared]: two to four parts")
        grid, block, stream, shared = (*parts, None, 0)[:4] if len(parts) < 4 else parts
        self.kernel, self.device = kernel, device
        self.grid, self.block = three(grid, "grid"), three(block, "block")
        self.shared = size_of(0 if shared is None else shared, "shared")
        self.stream = as_stream(stream, device)

    def __call__(self, *arguments):
        """Runs it. Arrays of the device are used as they are; the launch is queued then.

        Where arrays of the host are given for a device, they are copied there, and back if the
        kernel may write them: the launch is complete on return. Structured scalars and arrays are
        what a parameter ``guf::u8 *`` points to; a scalar is written where it lies.
        """
        place = self._place(arguments)
        if place is None or place.info.backend == "cpu":
            return self._launch(self._adjusted(arguments), self.stream)
        parameters = self.kernel.parameters
        copied, back = list(self._adjusted(arguments)), []
        for i, (value, (kind, _, _, flags)) in enumerate(zip(arguments, parameters)):
            if kind not in _ARRAYS or not _on_host(value) or isinstance(copied[i], _NUMBERS):
                continue
            adjusted = isinstance(copied[i], _array.Array)
            host = copied[i] if adjusted else _array.as_array(value)
            writes = not flags & lowlevel.GUF_PARAMETER_READ_ONLY
            if writes and host.readonly:
                continue  # the launch refuses it, and numbers, as on the cpu
            copied[i] = _array.empty(host.shape, host.dtype, device=place)
            host.to_device(place, out=copied[i], stream=self.stream)
            if writes:
                back.append((copied[i], host))
        return self._run_there(copied, back, place)

    def _run_there(self, arguments, back, place):
        """All arguments lie on the device, or are numbers. Without a stream the launch needs an
        array there to know its place."""
        stream = self.stream
        if stream is None and not any(isinstance(a, _array.Array) for a in arguments):
            stream = Stream(place)
        self._launch(arguments, stream)
        for there, host in back:
            there.to_device("cpu", out=host, stream=stream)
        if back and stream is not None:
            stream.synchronize()

    def _launch(self, arguments, stream):
        _gufunc.kernel_launch(self.kernel, stream, self.grid, self.block, self.shared,
                              tuple(arguments))

    def _place(self, arguments):
        """The device: of the stream, of the arguments' arrays, or the one that was named."""
        found = None if self.stream is None else self.stream.device
        for value in arguments:
            if found is None and isinstance(value, _array.Array) and not value.on_host:
                found = value.device
        if None not in (found, self.device) and found != self.device:
            raise make_refusal(
                f"the kernel is for {self.device}, its stream or arrays are {found}'s")
        return found or self.device

    def _adjusted(self, arguments):
        """Scalars of NumPy as Python's, which take the parameter's type; memory of other libraries
        as arrays; records as their bytes, where the parameter points to bytes."""
        numpy = sys.modules.get("numpy")
        for i, value in enumerate(arguments):
            if _is_structured(value) and self._points_to_bytes(i):
                value = _array.view_as(_array.as_array(value).reshape(-1), "uint8")
            elif numpy is not None and isinstance(value, numpy.generic):
                value = value.item() if value.dtype.kind in "biufc" else numpy.asarray(value)
            elif isinstance(value, (list, tuple)):
                raise make_refusal(
                    "an argument of a kernel cannot be a list: make an array of it")
            elif hasattr(value, "__dlpack__") and not (numpy and isinstance(value, numpy.ndarray)):
                value = _array.as_array(value)
            yield value

    def _points_to_bytes(self, place):
        found = self.kernel.parameters[place:place + 1]
        return any(kind == lowlevel.GUF_PARAMETER_POINTER and dtype == "uint8"
                   for kind, dtype, _, _ in found)


def _is_structured(value):
    """Whether it is a structured scalar, or an array of records."""
    return getattr(getattr(value, "dtype", None), "kind", None) == "V"


def _on_host(value):
    """An array whose memory is the host's, of whatever library."""
    if isinstance(value, _array.Array):
        return value.on_host
    if hasattr(value, "__dlpack_device__"):
        return int(value.__dlpack_device__()[0]) == lowlevel.GUF_DLPACK_CPU
    return not hasattr(value, "__cuda_array_interface__")


def install(cls):
    """Gives the Kernel class its indexing."""

    def getitem(self, configuration):
        return Launch(self, configuration)

    def on(self, device):
        """The kernel for a device, so that host arrays are copied there and back."""
        return DeviceKernel(self, Device(device))

    getitem.__doc__ = "``kernel[grid, block, stream, shared]``: call it with the arguments."
    cls.__getitem__, cls.on = getitem, on
