# SPDX-License-Identifier: Apache-2.0
# Types of ufuncs, modules, raw kernels and plans.
import os
from collections.abc import Callable, Iterable, MutableSequence, Sequence
from types import EllipsisType
from typing import Any, Literal, Protocol, TypedDict, TypeVar, Unpack, overload

from numpy import generic
from numpy.typing import NDArray

from ._array import Array, _AnyDevice, _Axis, _DType, _Operand, _Out, _Shape
from ._dtypes import dtype
from ._launch import DeviceKernel, Launch
from ._objects import Context, Device, Stream, _Handle

_Given = TypeVar("_Given", Array, NDArray[Any])
_Number = complex | generic

class _OnDevice(Protocol):
    @property
    def __cuda_array_interface__(self) -> Any: ...

_OtherOut = EllipsisType | MutableSequence[Any] | memoryview | _OnDevice

class _Keywords(TypedDict, total=False):
    where: _Operand
    axes: list[Any]
    axis: int
    keepdims: bool
    casting: str
    order: str
    dtype: _DType
    subok: bool
    signature: Any
    sig: Any
    stream: Any
    dims: dict[str, int]
    host_policy: str
    threads: int

class Ufunc(_Handle):
    @property
    def nin(self) -> int: ...
    @property
    def nout(self) -> int: ...
    @property
    def nargs(self) -> int: ...
    @property
    def ntypes(self) -> int: ...
    @property
    def info(self) -> Any: ...
    @property
    def __name__(self) -> str: ...
    @property
    def signature(self) -> str | None: ...
    @property
    def identity(self) -> bool | int | float | None: ...
    @property
    def loops(self) -> list[tuple[dtype, ...]]: ...
    @property
    def types(self) -> list[str]: ...
    def __reduce__(self) -> tuple[Callable[..., Ufunc], tuple[str]]: ...
    def __copy__(self) -> Ufunc: ...
    def __deepcopy__(self, memo: object) -> Ufunc: ...
    def resolve(self, *args: Any, method: str = "call", **keywords: Any) -> dict[str, Any]: ...
    def explain(self, *args: Any, method: str = "call", **keywords: Any) -> str: ...
    def plan(self, *args: Any, **keywords: Any) -> Plan: ...
    def call_chunked(
        self, *args: Any, chunk_bytes: int = 0, depth: int = 0, first_item: int = 0,
        progress: Callable[[int, int], object] | None = None, **keywords: Any
    ) -> Any: ...
    def add_loop(
        self, types: _DType, function: Callable[..., object] | int, *, user: int = 0,
        any_thread: bool = False, fallible: bool | Literal["error"] = False
    ) -> None: ...
    def add_module_loop(self, module: Module, function: str, types: _DType) -> None: ...
    def set_reduction(self, merge: Ufunc, finish: Ufunc | None = None) -> Ufunc: ...
    def __call__(
        self, *operands: _Operand, out: _Out = ..., where: _Operand = ..., axes: list[Any] = ...,
        axis: int = ..., keepdims: bool = ..., casting: str = ..., order: str = ...,
        dtype: _DType = ..., subok: bool = ..., signature: Any = ..., sig: Any = ...,
        stream: Any = ..., device: _AnyDevice = ..., dims: dict[str, int] = ...,
        host_policy: str = ..., threads: int = ...
    ) -> Any: ...
    def reduce(
        self, array: _Operand, axis: _Axis = 0, dtype: _DType = None, out: _Out = None,
        keepdims: bool = False, initial: _Operand = ..., where: _Operand = True, *,
        stream: Any = None, device: _AnyDevice = None, order: str = "K", threads: int = 0,
        parameters: Any = ()
    ) -> Any: ...
    def accumulate(
        self, array: _Operand, axis: _Axis = 0, dtype: _DType = None, out: _Out = None, *,
        stream: Any = None, device: _AnyDevice = None, order: str = "K", threads: int = 0
    ) -> Any: ...
    def reduceat(
        self, array: _Operand, indices: _Operand, axis: _Axis = 0, dtype: _DType = None,
        out: _Out = None, *, stream: Any = None, device: _AnyDevice = None, order: str = "K",
        threads: int = 0
    ) -> Any: ...
    def at(self, a: _Operand, indices: Any, b: _Operand = None, **keywords: Any) -> None: ...
    def outer(self, A: _Operand, B: _Operand, /, **keywords: Any) -> Any: ...

# Ufuncs of the standard library. If an input is an Array, the result is an Array. For other host
# operands, the result is an ndarray, or a scalar if all operands are numbers. If an output is
# given, the same object is returned. All overloads that an operand of type Any can match return the
# same type for it. A type checker therefore also resolves a call whose argument types contain Any,
# which every ndarray type does.
class _Unary(Ufunc):
    @overload  # type: ignore[override]
    def __call__(
        self, x: Array, /, out: None = None, *, device: _AnyDevice = None,
        **keywords: Unpack[_Keywords]
    ) -> Array: ...
    @overload
    def __call__(
        self, x: _Number | _OnDevice, /, out: None = None, *, device: _AnyDevice = None,
        **keywords: Unpack[_Keywords]
    ) -> Any: ...
    @overload
    def __call__(
        self, x: Any, /, out: None = None, *, device: None = None,
        **keywords: Unpack[_Keywords]
    ) -> NDArray[Any]: ...
    @overload
    def __call__(
        self, x: Any, /, out: _Given | tuple[_Given], *, device: _AnyDevice = None,
        **keywords: Unpack[_Keywords]
    ) -> _Given: ...
    @overload
    def __call__(
        self, x: Any, /, out: _OtherOut, *, device: _AnyDevice = None,
        **keywords: Unpack[_Keywords]
    ) -> Any: ...
    @overload
    def __call__(
        self, x: Any, /, out: None = None, *, device: Device | str,
        **keywords: Unpack[_Keywords]
    ) -> Any: ...

class _Binary(Ufunc):
    @overload  # type: ignore[override]
    def __call__(
        self, x1: Array, x2: Any, /, out: None = None, *, device: _AnyDevice = None,
        **keywords: Unpack[_Keywords]
    ) -> Array: ...
    @overload
    def __call__(
        self, x1: Any, x2: Array, /, out: None = None, *, device: _AnyDevice = None,
        **keywords: Unpack[_Keywords]
    ) -> Array: ...
    @overload
    def __call__(
        self, x1: _Number, x2: _Number, /, out: None = None, *, device: _AnyDevice = None,
        **keywords: Unpack[_Keywords]
    ) -> Any: ...
    @overload
    def __call__(
        self, x1: _OnDevice, x2: Any, /, out: None = None, *, device: _AnyDevice = None,
        **keywords: Unpack[_Keywords]
    ) -> Any: ...
    @overload
    def __call__(
        self, x1: Any, x2: _OnDevice, /, out: None = None, *, device: _AnyDevice = None,
        **keywords: Unpack[_Keywords]
    ) -> Any: ...
    @overload
    def __call__(
        self, x1: Any, x2: Any, /, out: None = None, *, device: None = None,
        **keywords: Unpack[_Keywords]
    ) -> NDArray[Any]: ...
    @overload
    def __call__(
        self, x1: Any, x2: Any, /, out: _Given | tuple[_Given], *, device: _AnyDevice =
        None, **keywords: Unpack[_Keywords]
    ) -> _Given: ...
    @overload
    def __call__(
        self, x1: Any, x2: Any, /, out: _OtherOut, *, device: _AnyDevice = None,
        **keywords: Unpack[_Keywords]
    ) -> Any: ...
    @overload
    def __call__(
        self, x1: Any, x2: Any, /, out: None = None, *, device: Device | str,
        **keywords: Unpack[_Keywords]
    ) -> Any: ...
    @overload
    def reduce(
        self, array: Array, axis: _Axis = 0, dtype: _DType = None, out: None = None,
        keepdims: bool = False, initial: _Operand = ..., where: _Operand = True, *, stream:
        Any = None, device: _AnyDevice = None, order: str = "K", threads: int = 0,
        parameters: Any = ()
    ) -> Array: ...
    @overload
    def reduce(
        self, array: _Operand, axis: _Axis = 0, dtype: _DType = None, *, out: _Given,
        keepdims: bool = False, initial: _Operand = ..., where: _Operand = True, stream:
        Any = None, device: _AnyDevice = None, order: str = "K", threads: int = 0,
        parameters: Any = ()
    ) -> _Given: ...
    @overload
    def reduce(
        self, array: _Operand, axis: _Axis = 0, dtype: _DType = None, out: _Out = None,
        keepdims: bool = False, initial: _Operand = ..., where: _Operand = True, *, stream:
        Any = None, device: _AnyDevice = None, order: str = "K", threads: int = 0,
        parameters: Any = ()
    ) -> Any: ...
    @overload
    def accumulate(
        self, array: Array, axis: _Axis = 0, dtype: _DType = None, out: None = None, *,
        stream: Any = None, device: _AnyDevice = None, order: str = "K", threads: int = 0
    ) -> Array: ...
    @overload
    def accumulate(
        self, array: Any, axis: _Axis = 0, dtype: _DType = None, out: None = None, *,
        stream: Any = None, device: None = None, order: str = "K", threads: int = 0
    ) -> NDArray[Any]: ...
    @overload
    def accumulate(
        self, array: Any, axis: _Axis = 0, dtype: _DType = None, *, out: _Given, stream:
        Any = None, device: _AnyDevice = None, order: str = "K", threads: int = 0
    ) -> _Given: ...
    @overload
    def accumulate(
        self, array: Any, axis: _Axis = 0, dtype: _DType = None, out: None = None, *,
        stream: Any = None, device: Device | str, order: str = "K", threads: int = 0
    ) -> Any: ...
    @overload
    def reduceat(
        self, array: Array, indices: _Operand, axis: _Axis = 0, dtype: _DType = None, out:
        None = None, *, stream: Any = None, device: _AnyDevice = None, order: str = "K",
        threads: int = 0
    ) -> Array: ...
    @overload
    def reduceat(
        self, array: Any, indices: _Operand, axis: _Axis = 0, dtype: _DType = None, out:
        None = None, *, stream: Any = None, device: None = None, order: str = "K", threads:
        int = 0
    ) -> NDArray[Any]: ...
    @overload
    def reduceat(
        self, array: Any, indices: _Operand, axis: _Axis = 0, dtype: _DType = None, *, out:
        _Given, stream: Any = None, device: _AnyDevice = None, order: str = "K", threads:
        int = 0
    ) -> _Given: ...
    @overload
    def reduceat(
        self, array: Any, indices: _Operand, axis: _Axis = 0, dtype: _DType = None, out:
        None = None, *, stream: Any = None, device: Device | str, order: str = "K",
        threads: int = 0
    ) -> Any: ...

class Module(_Handle):
    @property
    def info(self) -> Any: ...
    @property
    def __name__(self) -> str: ...
    def names(self) -> list[str]: ...
    def kernels(self) -> list[str]: ...
    def __getitem__(self, name: str) -> Ufunc: ...
    def __getattr__(self, name: str) -> Any: ...
    def __dir__(self) -> list[str]: ...
    def kernel(self, name: str) -> Kernel: ...

class Kernel(_Handle):
    @property
    def info(self) -> Any: ...
    @property
    def __name__(self) -> str: ...
    @property
    def parameters(self) -> list[tuple[int, dtype, int, int]]: ...
    def device_info(self, device: Device | str | None = None) -> Any: ...
    def launch(
        self, grid: _Shape, block: _Shape, *arguments: _Operand, stream: Stream | None = None,
        shared_bytes: int = 0
    ) -> None: ...
    def __getitem__(self, configuration: tuple[Any, ...]) -> Launch: ...
    def on(self, device: Device | str) -> DeviceKernel: ...

def find(name: str, context: Context | None = None) -> Ufunc: ...
def names(context: Context | None = None) -> list[str]: ...
def load(
    path: str | os.PathLike[str], *, data_only: bool = False, context: Context | None = None
) -> Module: ...
def create(
    name: str, nin: int = 0, nout: int = 0, *, signature: str | None = None,
    rules: str | None = None, doc: str | None = None, identity: Any = None,
    flags: Iterable[str] = (), roles: Sequence[str] | None = None,
    core_dims: Callable[[list[int]], Sequence[int] | None] | None = None,
    context: Context | None = None
) -> Ufunc: ...

class Plan(_Handle):
    @property
    def workspace(self) -> tuple[int, int]: ...
    def explain(self) -> str: ...
    def launch(
        self, *operands: Any, stream: Stream | None = None, workspace: Any = 0
    ) -> None: ...
