# SPDX-License-Identifier: Apache-2.0
"""NumPy's ufuncs on the CPU and GPUs: the Python binding of libgufunc.

    >>> import gufunc
    >>> gufunc.add([1, 2], 3)
    array([4, 5])

Every ufunc of the standard library is an attribute of this module, except `arange`, whose name is
that of a function; `load` loads further ufuncs from module files.
"""

from . import _library  # first: it loads libgufunc, which the other modules use
from . import lowlevel
from . import _array, _conversion, _dtypes, _errors, _errstate, _gufunc, _objects
from . import _indexing, _operators
from . import _ufunc
from . import _device_methods, _documentation, _exchange, _launch
# The list `__all__` of each module contains the names that the package exports.
from ._array import *
from ._dtypes import *
from ._errors import *
from ._errstate import *
from ._objects import *
from ._ufunc import *
from ._exchange import *
from ._pointers import *
from ._standard_names import ALIASES as _ALIASES

_gufunc._register(
    Array=Array, Context=Context, Device=Device, Event=Event, Graph=Graph, Kernel=Kernel,
    Module=Module, Plan=Plan, Stream=Stream, Ufunc=Ufunc, make_error=_errors.make_error,
    make_refusal=_errors.make_refusal, as_indices=_indexing.of_reduceat,
    as_stream=_objects.as_stream, convert=_conversion.convert, parse_dtype=_dtypes.parse,
    parse_signature=_dtypes.signature_codes, warn=_errstate.warn,
    warn_complex=_conversion.warn_complex)
__version__ = lowlevel.guf_version_string()

# `arange` is the function that creates an array; `find("arange")` returns the ufunc.
_STANDARD = [name for name in names() if ":" not in name and name not in _array.__all__]
globals().update((_name, find(_name)) for _name in _STANDARD)
globals().update((_name, globals()[_other]) for _name, _other in _ALIASES.items())
_operators.install(Array, globals())
_exchange.install(Array)
_documentation.install(Ufunc)
_device_methods.install(Array, Stream)
_launch.install(Kernel)


# Names that few programs use. Their modules are imported on first access.
_LATER = {"build": "_build", "BuildError": "_build"}
_PACKAGES = ("cuda", "roc", "hsa")


def _public():
    """The names that `import *` imports. Names of Python's built-in functions are left out."""
    import builtins
    import types

    mine = [name for name, value in globals().items()
            if not name.startswith("_") and not isinstance(value, types.ModuleType)]
    return sorted({*mine, *_LATER} - set(vars(builtins)))


__all__ = _public()


def __dir__():
    return sorted({*globals(), *_LATER, *_PACKAGES})


def __getattr__(name):
    import importlib

    if name in _PACKAGES:
        return importlib.import_module(f"{__name__}.{name}")
    if name in _LATER:
        return getattr(importlib.import_module(f"{__name__}.{_LATER[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
