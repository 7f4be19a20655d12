# SPDX-License-Identifier: Apache-2.0
"""Exceptions: one class per status class. Each also derives from a class of Python or NumPy."""

import importlib
import re
import sys

from . import lowlevel

__all__ = ["ArgumentError", "AxisError", "CallError", "DTypeError", "Error", "FileError",
           "FloatingPointFlagError", "IndexOutOfRange", "NoMemoryError", "RangeError",
           "ReductionError", "RunError", "ShapeError", "UnavailableError", "UnsupportedError"]


class Error(Exception):
    """The base class of the errors of library calls.

    status       the status code (``gufunc.lowlevel.GUF_E_SHAPE``)
    name         the name of the status, "GUF_E_SHAPE"
    message      one sentence; NumPy's text where NumPy has one
    argument     the index of the operand or parameter at fault, from 0, or -1
    axis         the axis at fault, or -1
    native_code  the error code of the operating system or the vendor's driver, or 0
    """

    status = lowlevel.GUF_E_INTERNAL
    message = ""
    argument = axis = -1
    native_code = 0

    @property
    def name(self):
        """The name of the status, "GUF_E_SHAPE"."""
        return lowlevel.guf_status_name(self.status)

    def __str__(self):
        return self.message or super().__str__()

    def __reduce__(self):
        if not self.message:  # raised by a program, not by the library
            return type(self), self.args
        return make_error, (self.status, self.message, self.argument, self.axis, self.native_code)


class ArgumentError(Error, ValueError):
    """1xx: an argument that the function does not accept, or an unknown name."""


class CallError(ArgumentError, TypeError):
    """Arguments that are wrong regardless of their values, such as their number or a keyword."""


class DTypeError(Error, TypeError):
    """2xx: an invalid dtype, no loop for these types, or a cast that the casting rule forbids. If
    NumPy is loaded, the errors for loops and casts also derive from NumPy's UFuncTypeError."""


class ShapeError(Error, ValueError):
    """3xx: invalid shapes, signatures or values, or read-only or overlapping outputs."""


class ReductionError(ShapeError, RuntimeError):
    """A reduction with a ufunc that does not support reductions."""


class IndexOutOfRange(Error, IndexError):
    """4xx: an index outside the array."""


class AxisError(Error, ValueError, IndexError):
    """5xx: an axis that is out of bounds or repeated. If NumPy is loaded, it also derives from
    NumPy's AxisError.

    ndim  the number of axes of the array, or None
    """

    ndim = None


class RangeError(Error, OverflowError):
    """6xx: a Python integer that does not fit in the dtype."""


class FloatingPointFlagError(Error, FloatingPointError):
    """7xx: a floating-point exception flag that ``errstate`` turns into an error."""


class UnsupportedError(Error, NotImplementedError):
    """8xx: a valid request that this version or device does not support."""


class UnavailableError(Error, RuntimeError):
    """9xx: a backend, driver or device is missing."""


class NoMemoryError(Error, MemoryError):
    """10xx: not enough memory on the host or a device."""


class FileError(Error, OSError):
    """11xx: a file that cannot be read or is damaged."""


class RunError(Error, RuntimeError):
    """12xx, 13xx: a launch or a loop failed, a device was lost, or a call was cancelled."""


_BY_CLASS = {1: ArgumentError, 2: DTypeError, 3: ShapeError, 4: IndexOutOfRange, 5: AxisError,
             6: RangeError, 7: FloatingPointFlagError, 8: UnsupportedError, 9: UnavailableError,
             10: NoMemoryError, 11: FileError, 12: RunError, 13: RunError}
# Messages with this start are raised as ReductionError, because no status corresponds to that
# class.
_NO_REDUCTION = "Reduction not defined on ufunc with signature"
_also_numpys = {}


def _find(modules, name):
    for module in modules:
        try:
            return getattr(importlib.import_module(module), name)
        except (ImportError, AttributeError):
            pass
    return None


def _numpys(kind, modules, name):
    """A subclass of `kind` and of NumPy's exception `name`, or `kind` if NumPy is not loaded."""
    if sys.modules.get("numpy") is None:
        return kind
    made = _also_numpys.get(kind)
    if made is None:
        theirs = _find(modules, name)
        made = kind if theirs is None else type(
            kind.__name__, (kind, theirs),
            {"__module__": "gufunc", "__doc__": kind.__doc__, "ufunc": None,
             "__init__": Exception.__init__})  # NumPy's requires more arguments
        _also_numpys[kind] = made
    return made


def _kind_of(status, message):
    kind = _BY_CLASS.get(status // 100, Error)
    if status == lowlevel.GUF_E_ARG:
        kind = CallError
    elif message.startswith(_NO_REDUCTION):
        kind = ReductionError
    if kind is AxisError:
        return _numpys(kind, ("numpy.exceptions",), "AxisError")
    if status in (lowlevel.GUF_E_NO_LOOP, lowlevel.GUF_E_CASTING):
        return _numpys(kind, ("numpy._core._exceptions", "numpy.core._exceptions"),
                       "UFuncTypeError")
    return kind


def make_refusal(message):
    """The exception for an argument that the extension rejects. The extension calls this
    function."""
    error = _kind_of(lowlevel.GUF_E_ARG, message)(message)
    error.status, error.message = lowlevel.GUF_E_ARG, message
    return error


def make_error(status, message, argument=-1, axis=-1, native_code=0):
    """The exception for a status. The extension calls this function."""
    if not message:
        message = lowlevel.guf_status_text(status)
    error = _kind_of(status, message)(message)
    error.status, error.message = status, message
    error.argument, error.axis, error.native_code = argument, axis, native_code
    if isinstance(error, AxisError):
        found = re.search(r"array of dimension (\d+)", message)
        error.ndim = int(found[1]) if found else None
    return error
