# SPDX-License-Identifier: Apache-2.0
from collections.abc import Iterable
from typing import Any, Literal

from ._objects import Context
from ._ufunc import Ufunc

def ufunc_from_pointer(
    pointer: Any, types: Any = None, *, name: str, nin: int | None = None, nout: int | None = None,
    signature: str | None = None, scalar: bool | None = None,
    fallible: bool | Literal["error"] = False, any_thread: bool = True, user: int = 0,
    doc: str | None = None, identity: Any = None, flags: Iterable[str] = (),
    context: Context | None = None
) -> Ufunc: ...
