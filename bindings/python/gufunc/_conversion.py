# SPDX-License-Identifier: Apache-2.0
"""Conversion of other objects to arrays."""

import array as _arrays
import sys
import warnings

from . import _dtypes, _foreign, _gufunc, lowlevel
from ._errors import ShapeError, make_error

# (predicate, conversion) pairs for arrays of other libraries, tried in order before NumPy.
converters: list = []
_DISCARDS = "Casting complex values to real discards the imaginary part"


def have_numpy():
    """Whether NumPy can be imported."""
    if sys.modules.get("numpy") is None:
        try:
            import numpy  # noqa: F401
        except ImportError:
            return False
    return True


def convert(value, dtype=None):
    """Converts `value` to an Array or ndarray: a view if `value` exports its memory, else a new
    array of `dtype`. Rejects classes whose extra data (units, masks, labels) would be lost. The
    extension calls this function."""
    _foreign.refuse(value)
    for matches, conversion in converters:
        if matches(value):
            return conversion(value)
    if have_numpy():
        from . import _numpy

        return _numpy.of_sequence(value, dtype)
    return from_object(value, dtype)


def _depth(value):
    """The shape of nested sequences, read from the first element of each level."""
    shape = []
    while isinstance(value, (list, tuple)):
        shape.append(len(value))
        if not value:
            break
        value = value[0]
    return tuple(shape)


def _flatten(value, shape, out):
    if not shape:
        if isinstance(value, (list, tuple)):
            raise make_error(lowlevel.GUF_E_SHAPE, "nested sequences differ in length")
        out.append(value)
        return
    if not isinstance(value, (list, tuple)) or len(value) != shape[0]:
        raise make_error(lowlevel.GUF_E_SHAPE, "nested sequences differ in length")
    for item in value:
        _flatten(item, shape[1:], out)


def _is_of_numbers(value):
    if isinstance(value, (list, tuple)):
        return all(map(_is_of_numbers, value))
    return isinstance(value, (int, float, complex))


_LETTERS = {"bool": "b", "int64": "q", "uint64": "Q", "float64": "d"}


def _type_of(flat, rank):
    """The dtype for Python's numbers. Integers that do not fit in int64 are treated as in NumPy."""
    code = ("bool", "int64", "float64", "complex128")[rank]
    if rank != 1 or -2**63 <= min(flat) <= max(flat) < 2**63:
        return code
    if -2**63 <= min(flat) and max(flat) < 2**64:
        return "uint64" if min(flat) >= 0 else "float64"
    raise make_error(lowlevel.GUF_E_OVERFLOW, "an integer does not fit in 64 bits")


def from_object(value, dtype=None):
    """An Array from numbers, nested sequences or a buffer, without NumPy. A buffer is not copied
    unless `dtype` is given."""
    if isinstance(value, range):
        value = list(value)
    if not isinstance(value, (list, tuple, int, float, complex)):
        try:
            found = _gufunc.array_from_buffer(value)
        except TypeError:
            raise make_error(lowlevel.GUF_E_DTYPE,
                             f"cannot make an array of a {type(value).__name__}") from None
        return found if dtype is None else found.astype(dtype)
    shape, flat = _depth(value), []
    try:
        _flatten(value, shape, flat)
    except ShapeError:
        if _is_of_numbers(value):
            raise
        flat = [None]  # the list contains an array: rejected below, so that NumPy converts it
    kinds = {bool: 0, int: 1, float: 2, complex: 3}
    ranks = {kinds.get(type(item), -1) for item in flat}
    if -1 in ranks:
        raise make_error(lowlevel.GUF_E_DTYPE,
                         "cannot make an array of elements other than numbers")
    code = _type_of(flat, max(ranks) if ranks else 2)
    if code == "complex128":
        memory = _arrays.array("d", [part for item in flat for part in
                                     (complex(item).real, complex(item).imag)])
    else:
        memory = _arrays.array(_LETTERS[code], flat)
    made = _gufunc.array_wrap(memory.buffer_info()[0] if flat else 0, _dtypes.parse(code), shape,
                              None, 0, None, memory)
    requested = code if dtype is None else dtype
    # `memory` is a resizable array.array, so the result is a copy in memory of the library.
    return lowlevel.guf_array_astype(made, _dtypes.parse(requested), _dtypes.CASTINGS["unsafe"],
                                     _dtypes.ORDERS["C"], None)


def check_number(value, kind):
    """Rejects numbers that cannot become an element of a dtype of kind `kind`, with NumPy's
    exceptions."""
    if kind not in "iufE":
        return
    if type(value) is complex:
        raise TypeError("float() argument must be a string or a real number, not 'complex'"
                        if kind in "fE" else
                        "int() argument must be a string, a bytes-like object or a real number, "
                        "not 'complex'")
    if getattr(getattr(value, "dtype", None), "kind", "") == "c":
        check_parts("c", kind)
    if isinstance(value, float) and kind in "iu":
        int(value)  # raises for NaN and infinity


def check_parts(source, target):
    """Warns as NumPy does if a cast discards imaginary parts. The arguments are dtype kinds."""
    if source == "c" and target in "iufE":
        warnings.warn(_DISCARDS, _complex_warning(), stacklevel=3)


def _complex_warning():
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return RuntimeWarning
    return numpy.exceptions.ComplexWarning if hasattr(numpy, "exceptions") else numpy.ComplexWarning


def warn_complex():
    """Warns that a call discards imaginary parts. The extension calls this function."""
    warnings.warn(_DISCARDS, _complex_warning(), stacklevel=2)
