# SPDX-License-Identifier: Apache-2.0
# The extension module: SWIG's wrappers and bindings/python/src. The types of its classes are in the
# stubs of the classes that derive from them.
from typing import Any

def __getattr__(name: str) -> Any: ...
