# SPDX-License-Identifier: Apache-2.0
"""Element types."""

import sys

from . import lowlevel
from ._errors import make_error, make_refusal

__all__ = ["can_cast", "datetime_data", "dtype", "make_time", "promote_types", "register_dtype"]

_known = {}
_PYTHON = {bool: lowlevel.GUF_BOOL, int: lowlevel.GUF_I64, float: lowlevel.GUF_F64,
           complex: lowlevel.GUF_C128}
_structured = {}  # NumPy's structured dtype -> code
_numpy_dtypes = {}  # code -> NumPy's structured dtype


class NameTable(dict):
    """Maps the names that are allowed as an argument to their values. Other names raise an
    ArgumentError."""

    def __init__(self, what, names):
        super().__init__(names)
        self._what = what

    def __missing__(self, name):
        known = ", ".join(dict.fromkeys(repr(other).upper() if self._what == "order" else
                                        repr(other) for other in self))
        raise make_error(lowlevel.GUF_E_ARG, f"{self._what} must be one of {known} (got {name!r})")


CASTINGS = NameTable("casting", {"no": 1, "equiv": 2, "safe": 3, "same_kind": 4, "unsafe": 5})
ORDERS = NameTable("order", {"K": 0, "C": 1, "F": 2, "A": 3, "k": 0, "c": 1, "f": 2, "a": 3})


class dtype:
    """An element type: ``gufunc.dtype("float32")``, ``dtype(np.int8)``, ``dtype("M8[s]")``.

    A dtype equals every object that names the same type: a string, a NumPy dtype or a NumPy scalar
    class. DTypeError if the argument names no dtype.

    code       the code of the dtype in the C interface
    name       the name, such as "float32"
    itemsize   the size of an element in bytes
    alignment  the alignment of an element in bytes
    kind       NumPy's kind letter: "b", "i", "u", "f", "c", "m", "M" or "V"; "E" for bfloat16
    char       the letter of the dtype in the types of a loop
    """

    __slots__ = ("code", "name", "itemsize", "alignment", "kind", "char")

    def __new__(cls, spelling):
        code = parse(spelling)
        found = _known.get(code)
        if found is None:
            info = lowlevel.guf_dtype_get_info(code)
            found = super().__new__(cls)
            found.code, found.name = code, info.name
            found.itemsize, found.alignment = info.itemsize, info.alignment
            found.kind, found.char = chr(info.kind), chr(info.letter)
            _known[code] = found
        return found

    @property
    def dtype(self):
        """The equivalent NumPy dtype. ``np.dtype(x)`` uses this attribute."""
        return descr_of(self.code, False)

    def __eq__(self, other):
        try:
            return self.code == parse(other)
        except (TypeError, ValueError):
            return NotImplemented

    def __hash__(self):
        return hash(self.code)

    def __repr__(self):
        return f"gufunc.dtype({self.name!r})"

    def __str__(self):
        return self.name

    def __reduce__(self):
        if self.kind != "V":
            return dtype, (self.name,)
        descr = numpy_structured(self.code)
        if descr is not None:
            return dtype, (descr,)
        return register_dtype, (self.name, self.itemsize, self.alignment)


def of_code(code):
    """The dtype with a code of the C interface."""
    return _known.get(code) or dtype(_Code(code))


class _Code(int):
    """A dtype code. The class distinguishes codes from integers that a caller passes."""


def parse(spelling):
    """The code of the dtype that `spelling` names. The extension module calls this function."""
    if isinstance(spelling, dtype):
        return spelling.code
    if isinstance(spelling, str):
        return lowlevel.guf_dtype_parse(spelling)
    if isinstance(spelling, _Code):
        return int(spelling)
    if isinstance(spelling, type) and spelling in _PYTHON:
        return _PYTHON[spelling]
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        if not isinstance(spelling, numpy.dtype):
            try:
                spelling = numpy.dtype(spelling)
            except TypeError as error:
                raise make_error(lowlevel.GUF_E_DTYPE, str(error)) from None
        return of_numpy(spelling)[0]
    raise make_error(lowlevel.GUF_E_DTYPE, f"Cannot interpret {spelling!r} as a data type")


def of_numpy(descr):
    """(code, swapped) for a NumPy dtype. `swapped` is true for non-native byte order."""
    swapped = not descr.isnative
    if descr.kind in "mM":
        return lowlevel.guf_dtype_parse(descr.str[1:]), swapped
    if descr.kind == "V" and descr.names is not None:
        return structured(descr), False
    if descr.kind in "OSUT" or descr.char in "gG":
        raise make_error(lowlevel.GUF_E_DTYPE, f"no dtype for NumPy's {descr}")
    return lowlevel.guf_dtype_parse(descr.name), swapped


def structured(descr, name=None):
    """Registers a structured NumPy dtype with the library and returns its code."""
    code = _structured.get(descr)
    if code is None:
        if name is None:
            import hashlib

            name = "r" + hashlib.sha256(repr(descr).encode()).hexdigest()[:24]
        code = lowlevel.guf_dtype_register(name, descr.itemsize, descr.alignment)
        _structured[descr] = code
        _numpy_dtypes.setdefault(code, descr)
    return code


def numpy_structured(code):
    """The NumPy dtype from which a structured dtype was registered, or None."""
    return _numpy_dtypes.get(code)


def descr_of(code, swapped):
    """The NumPy dtype for a code, in non-native byte order if `swapped`."""
    import numpy as np

    found = numpy_structured(code)
    if found is None:
        name = lowlevel.guf_dtype_name(code)
        if of_code(code).kind == "E":
            try:
                import ml_dtypes
            except ImportError:
                raise TypeError(f"NumPy has no {name}: astype('float32') first, or install "
                                "ml_dtypes") from None
            found = np.dtype(getattr(ml_dtypes, name))
        elif code & 0xFF == 0x82:
            info = lowlevel.guf_dtype_get_info(code)
            found = np.dtype((np.void, info.itemsize))
        else:
            found = np.dtype(name)
    return found.newbyteorder() if swapped else found


def register_dtype(name, itemsize, alignment=1):
    """Registers an opaque structured dtype, whose elements only the program's own loops interpret.
    The same name, size and alignment return the same dtype. CallError if `itemsize` is not a
    multiple of `alignment`."""
    return of_code(lowlevel.guf_dtype_register(name, itemsize, alignment))


def can_cast(from_, to, casting="safe"):
    """NumPy's can_cast for dtypes. `casting` is "no", "equiv", "safe", "same_kind" or "unsafe"."""
    return bool(lowlevel.guf_dtype_can_cast(parse(from_), parse(to), CASTINGS[casting]))


def promote_types(a, b):
    """NumPy's promote_types: the smallest dtype to which both dtypes can be cast safely. DTypeError
    if there is no such dtype."""
    return of_code(lowlevel.guf_dtype_promote(parse(a), parse(b)))


_UNITS = ("generic", "Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as")


def make_time(time, unit, multiple=1):
    """The dtype datetime64 or timedelta64 with a unit: ``make_time("datetime64", "s", 25)`` has the
    unit "[25s]". DTypeError if `time` is neither of the two."""
    return of_code(lowlevel.guf_dtype_make_time(parse(time), _UNITS.index(unit), multiple))


def datetime_data(dtype):
    """(unit, multiple) of a datetime64 or timedelta64 dtype, as NumPy's datetime_data. DTypeError
    for other dtypes."""
    unit, multiple = lowlevel.guf_dtype_get_unit(parse(dtype))
    return _UNITS[unit], multiple


def signature_codes(signature, ufunc):
    """Parses NumPy's signature= argument into one dtype code per operand, 0 for any dtype. The
    extension calls this function."""
    nin, nout = ufunc.nin, ufunc.nout
    if isinstance(signature, bytes):
        signature = signature.decode("ascii", "replace")
    if isinstance(signature, str) and len(signature) != 1:
        letters = signature.replace("->", "", 1)
        if len(letters) != nin + nout or signature[nin:nin + 2] != "->":
            raise make_error(
                lowlevel.GUF_E_ARG, f"a type-string for {_short_name(ufunc)}, {nin} typecode(s) "
                f"before and {nout} after the -> sign")
        return tuple(map(parse, letters))
    if not isinstance(signature, (str, tuple)):
        raise make_refusal("the signature object to ufunc must be a string or a tuple, not "
                           f"{type(signature).__name__}")
    if len(signature) == 1 != nin + nout:
        raise make_refusal("a single item type tuple cannot contain None."
                           if signature[0] is None else
                           "Use `dtype` or  fill the tuple with more than one 'None'.")
    if len(signature) != nin + nout:
        raise make_error(lowlevel.GUF_E_ARG, "a type-tuple must be specified of length "
                         f"{nin + nout} for ufunc '{_short_name(ufunc)}'")
    return tuple(0 if item is None else parse(item) for item in signature)


def _short_name(ufunc):
    return ufunc.__name__.rpartition(":")[2]
