# SPDX-License-Identifier: Apache-2.0
from typing import Any

from ._objects import Stream, _Handle

class Plan(_Handle):
    @property
    def workspace(self) -> tuple[int, int]: ...
    def explain(self) -> str: ...
    def launch(
        self, *operands: Any, stream: Stream | None = None, workspace: Any = 0
    ) -> None: ...
