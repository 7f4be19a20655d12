# SPDX-License-Identifier: Apache-2.0
import os
import pathlib
from collections.abc import Iterable
from typing import Literal, overload

from ._errors import Error
from ._objects import Context
from ._ufunc import Module

_Path = str | os.PathLike[str]

class BuildError(Error):
    command: tuple[str, ...]

@overload
def build(
    source: _Path | Iterable[_Path], *, name: str | None = None, targets: str = "host",
    include: _Path | Iterable[_Path] = (), define: str | Iterable[str] = (),
    options: Iterable[object] = (),
    cache: _Path | None = None, load_module: Literal[True] = True, context: Context | None = None
) -> Module: ...
@overload
def build(
    source: _Path | Iterable[_Path], *, name: str | None = None, targets: str = "host",
    include: _Path | Iterable[_Path] = (), define: str | Iterable[str] = (),
    options: Iterable[object] = (),
    cache: _Path | None = None, load_module: Literal[False], context: Context | None = None
) -> pathlib.Path: ...
