# SPDX-License-Identifier: Apache-2.0
# SWIG generates this module from the C headers, which document the functions.
from typing import Any

def __getattr__(name: str) -> Any: ...
