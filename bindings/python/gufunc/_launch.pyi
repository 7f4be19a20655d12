# SPDX-License-Identifier: Apache-2.0
from collections.abc import Callable
from typing import Any

from ._objects import Device, Stream
from ._ufunc import Kernel

class DeviceKernel:
    kernel: Kernel
    def __init__(self, kernel: Kernel, device: Device | Callable[[], Device]) -> None: ...
    @property
    def device(self) -> Device: ...
    def __getitem__(self, configuration: tuple[Any, ...]) -> Launch: ...

class Launch:
    kernel: Kernel
    device: Device | None
    stream: Stream | None
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared: int
    def __init__(
        self, kernel: Kernel, configuration: tuple[Any, ...], device: Device | None = None
    ) -> None: ...
    def __call__(self, *arguments: Any) -> None: ...
