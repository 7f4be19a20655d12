# SPDX-License-Identifier: Apache-2.0
"""NumPy, for the extension; imported when an array of NumPy's is met or wanted."""

import sys

import numpy as np

from . import _dtypes, lowlevel
from ._errors import make_error, make_refusal


def entries():
    """What the extension reads arrays with, and an array to try it on."""
    try:
        from numpy._core import _multiarray_umath
    except ImportError:  # NumPy 1
        from numpy.core import _multiarray_umath
    probe = np.zeros((2, 3), np.float32)
    return (np.ndarray, np.generic, _multiarray_umath._ARRAY_API, _dtypes.of_numpy,
            _dtypes.descr_of, is_plain, probe)


def is_plain(cls):
    """Whether a subclass of ndarray is its memory and no more. Masks are not in the memory, and
    what a class with an ``__array_ufunc__`` of its own means by its elements is unknown."""
    if cls.__array_ufunc__ is not np.ndarray.__array_ufunc__:
        return False
    masked = sys.modules.get("numpy.ma")
    return masked is None or not issubclass(cls, masked.MaskedArray)


def refuse_subclass(value):
    """Refuses an ndarray whose elements are not all that it is."""
    if isinstance(value, np.ndarray) and not is_plain(type(value)):
        raise make_refusal(f"an operand cannot be a {type(value).__name__}, whose elements are not "
                           "all that it is: give numpy.asarray(x), and a mask as where=")


def as_operand(value, dtype=None):
    """What NumPy makes of an object for its ufuncs."""
    if getattr(type(value), "__array_ufunc__", True) is None:
        raise make_refusal(f"operand '{type(value).__name__}' does not support ufuncs "
                           "(__array_ufunc__=None)")
    return of_sequence(value, dtype)


def of_sequence(value, dtype=None):
    """An ndarray of it; what NumPy makes none of is refused with its words."""
    try:
        return np.asarray(value, dtype)
    except ValueError as error:
        raise make_error(lowlevel.GUF_E_SHAPE, str(error)) from error
