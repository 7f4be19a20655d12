# SPDX-License-Identifier: Apache-2.0
# What SWIG writes of the C headers, which say what each function takes.
from typing import Any

def __getattr__(name: str) -> Any: ...
