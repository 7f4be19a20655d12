# SPDX-License-Identifier: Apache-2.0
# The extension module: SWIG's wrappers and bindings/python/src. Its classes have their types where
# the package derives from them.
from typing import Any

def __getattr__(name: str) -> Any: ...
