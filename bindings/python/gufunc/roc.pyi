# SPDX-License-Identifier: Apache-2.0
from collections.abc import Sequence
from typing import Any

from ._array import Array, _Shape
from ._vendor_module import *

def coarsegrain_array(
    shape: _Shape, dtype: Any = "float64", strides: Sequence[int] | None = None, order: str = "C"
) -> Array: ...
def finegrain_array(
    shape: _Shape, dtype: Any = "float64", strides: Sequence[int] | None = None, order: str = "C"
) -> Array: ...
def coarsegrain_array_like(ary: Any) -> Array: ...
def finegrain_array_like(ary: Any) -> Array: ...
