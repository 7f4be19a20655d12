# SPDX-License-Identifier: Apache-2.0
from typing import Any

from ._array import Array
from ._objects import Device, Stream

def from_dlpack(
    value: Any, /, *, device: Device | str | None = None, copy: bool | None = None,
    stream: Stream | None = None
) -> Array: ...
def from_cuda_array_interface(
    value: Any, *, device: Device | str | None = None, sync: bool = True
) -> Array: ...
