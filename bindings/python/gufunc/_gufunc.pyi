# SPDX-License-Identifier: Apache-2.0
# The extension module, which contains SWIG's wrappers and bindings/python/src. The members of its
# classes are declared in the stubs of the classes that derive from them.
from typing import Any

def __getattr__(name: str) -> Any: ...
