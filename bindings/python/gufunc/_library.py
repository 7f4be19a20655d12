# SPDX-License-Identifier: Apache-2.0
"""Loads libgufunc. This module is imported before the extension, which then uses the library that
the process has loaded."""

import contextlib
import os

NAME = "libgufunc.so.0.1"
_loaded = None


def library_path():
    """The path of the libgufunc that the process uses, or None if it cannot be determined."""
    if _loaded is None:
        with contextlib.suppress(OSError), open("/proc/self/maps") as maps:
            for line in maps:
                path = line.rstrip("\n").partition("/")[2]
                if path.rpartition("/")[2].startswith("libgufunc.so."):
                    return "/" + path
    return _loaded


def preload():
    """Loads the library at ``GUFUNC_LIBRARY``, or else the library inside the package, which a
    wheel contains."""
    global _loaded
    inside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib", NAME)
    path = os.environ.get("GUFUNC_LIBRARY") or (inside if os.path.exists(inside) else None)
    if path is None:
        return
    import ctypes

    try:
        ctypes.CDLL(path, mode=os.RTLD_NOW | os.RTLD_LOCAL)
    except OSError as error:
        raise ImportError(f"libgufunc cannot be loaded: {error}") from None
    _loaded = os.path.realpath(path)


preload()
# The extension supports only the main interpreter and checks this when it is initialized. In a
# subinterpreter, Python does not initialize an extension again that the main interpreter has
# already imported. The call below therefore repeats the check.
from . import _gufunc  # noqa: E402: the library must be loaded first

_gufunc._check_interpreter()
