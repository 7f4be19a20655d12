# SPDX-License-Identifier: Apache-2.0
"""Raw kernels launched as ``kernel[grid, block, stream, shared](...)``."""

import sys

from . import _array, _gufunc, lowlevel
from ._errors import make_refusal
from ._objects import Device, Stream, as_device, as_stream
from ._ufunc import size_of, three

_NUMBERS = (bool, int, float, complex)
_ARRAYS = (lowlevel.GUF_PARAMETER_POINTER, lowlevel.GUF_PARAMETER_VIEW)


class DeviceKernel:
    """A raw kernel for a given device: ``kernel.on("cuda:0")``. `device` may be a function that
    returns the device at each launch. ``[grid, block, stream, shared]`` returns a `Launch`."""

    def __init__(self, kernel, device):
        self.kernel, self._device = kernel, device

    @property
    def device(self):
        """The device on which the kernel runs."""
        return self._device() if callable(self._device) else as_device(self._device)

    def __getitem__(self, configuration):
        return Launch(self.kernel, configuration, self.device)

    def __repr__(self):
        return f"<{self.kernel.__name__} on {self.device}>"


class Launch:
    """A raw kernel with a launch configuration: the result of
    ``kernel[grid, block, stream, shared]``. Calling it launches the kernel with the arguments of
    the call.

    kernel  the raw kernel
    device  the device on which the kernel runs, or None for the device of its arrays
    stream  the stream on which the kernel is queued, or None
    grid    the number of blocks, as three numbers
    block   the number of threads in a block, as three numbers
    shared  the size of the shared memory in bytes
    """

    def __init__(self, kernel, configuration, device=None):
        parts = configuration if isinstance(configuration, tuple) else (configuration,)
        if not 2 <= len(parts) <= 4:
            raise make_refusal("kernel[grid, block, stream, shared]: expected two to four "
                               f"parts, got {len(parts)}")
        grid, block, stream, shared = (*parts, None, 0)[:4] if len(parts) < 4 else parts
        self.kernel, self.device = kernel, device
        self.grid, self.block = three(grid, "grid"), three(block, "block")
        self.shared = size_of(0 if shared is None else shared, "shared")
        self.stream = as_stream(stream, device)

    def __call__(self, *arguments):
        """Launches the kernel. If all arrays are on the device, the launch is queued.

        Host arrays are copied to the device, and copied back if the kernel may write them. A launch
        with host arrays is complete on return. Structured scalars and arrays may be passed to a
        parameter ``guf::u8 *``, which points to their bytes. The kernel may write into a scalar.
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
                continue  # the launch rejects the array, as on the cpu
            copied[i] = _array.empty(host.shape, host.dtype, device=place)
            host.to_device(place, out=copied[i], stream=self.stream)
            if writes:
                back.append((copied[i], host))
        return self._run_on_device(copied, back, place)

    def _run_on_device(self, arguments, back, place):
        """Launches the kernel with arguments that are arrays of the device or numbers, and copies
        the arrays in `back` to the host. If there is neither a stream nor an array, a new stream
        selects the device for the launch."""
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
        """The device of the stream, or of the argument arrays if there is no stream, or else the
        device that the launch configuration selects."""
        found = None if self.stream is None else self.stream.device
        for value in arguments:
            if found is None and isinstance(value, _array.Array) and not value.on_host:
                found = value.device
        if None not in (found, self.device) and found != self.device:
            raise make_refusal(
                f"the kernel is for {self.device}, its stream or arrays are {found}'s")
        return found or self.device

    def _adjusted(self, arguments):
        """Converts the arguments. NumPy's scalars become Python numbers, which adopt the type of
        the parameter. Arrays of other libraries become arrays over the same memory. Structured
        values become arrays of their bytes if the parameter points to bytes."""
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
    """Whether `value` is a structured scalar or an array with a structured dtype."""
    return getattr(getattr(value, "dtype", None), "kind", None) == "V"


def _on_host(value):
    """Whether an array of any library is in host memory."""
    if isinstance(value, _array.Array):
        return value.on_host
    if hasattr(value, "__dlpack_device__"):
        return int(value.__dlpack_device__()[0]) == lowlevel.GUF_DLPACK_CPU
    return not hasattr(value, "__cuda_array_interface__")


def install(cls):
    """Adds indexing and `on` to the Kernel class."""

    def getitem(self, configuration):
        return Launch(self, configuration)

    def on(self, device):
        """The kernel for a given device. Host arrays are copied to the device and back."""
        return DeviceKernel(self, Device(device))

    getitem.__doc__ = "``kernel[grid, block, stream, shared]``: call it with the arguments."
    cls.__getitem__, cls.on = getitem, on
