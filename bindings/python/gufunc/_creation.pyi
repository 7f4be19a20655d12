# SPDX-License-Identifier: Apache-2.0
# Types of the functions that create arrays of given values. _creation.py contains the docstrings.
from typing import Any

from ._array import Array, _AnyDevice, _DType, _Operand, _Shape

def full(
    shape: _Shape, value: _Operand, dtype: _DType = None, *, device: _AnyDevice = None,
    order: str = "C"
) -> Array: ...
def zeros(
    shape: _Shape, dtype: _DType = "float64", *, device: _AnyDevice = None, order: str = "C"
) -> Array: ...
def ones(
    shape: _Shape, dtype: _DType = "float64", *, device: _AnyDevice = None, order: str = "C"
) -> Array: ...
def empty_like(
    prototype: _Operand, dtype: _DType = None, order: str = "K", *, device: _AnyDevice = None
) -> Array: ...
def zeros_like(
    prototype: _Operand, dtype: _DType = None, order: str = "K", *, device: _AnyDevice = None
) -> Array: ...
def ones_like(
    prototype: _Operand, dtype: _DType = None, order: str = "K", *, device: _AnyDevice = None
) -> Array: ...
def full_like(
    prototype: _Operand, value: _Operand, dtype: _DType = None, order: str = "K", *,
    device: _AnyDevice = None
) -> Array: ...
def arange(*limits: Any, dtype: _DType = None, device: _AnyDevice = None) -> Array: ...
