# SPDX-License-Identifier: Apache-2.0
"""Ufuncs from compiled functions, which are objects of ctypes, cffi, Numba or Cython, or
addresses."""

import re
import sys

from . import _dtypes, _gufunc, lowlevel
from ._errors import make_refusal
from ._ufunc import ADDRESS, create, loop_kind, size_of

__all__ = ["ufunc_from_pointer"]

_C_TYPES = {"double": "d", "float": "f", "npy_double": "d", "npy_float": "f",
            "npy_float64": "d", "npy_float32": "f", "signed char": "b", "unsigned char": "B",
            "short": "h", "unsigned short": "H", "int": "i", "unsigned int": "I",
            "long": "l", "unsigned long": "L", "long long": "q", "unsigned long long": "Q",
            "ssize_t": "l", "Py_ssize_t": "l", "ptrdiff_t": "l", "intptr_t": "l", "npy_intp": "l",
            "size_t": "L", "uintptr_t": "L", "npy_uintp": "L"}
for _bits, _letters in ((8, "bB"), (16, "hH"), (32, "iI"), (64, "qQ")):
    for _sign, _letter in zip(("int", "uint"), _letters):
        _C_TYPES[f"{_sign}{_bits}_t"] = _C_TYPES[f"npy_{_sign}{_bits}"] = _letter
_NUMBERS = frozenset(map(_dtypes.parse, "fdbBhHiIqQ"))
_EXPECTED = ("a function of numbers accepts 1 to 4 of one type, float32, float64 or an integer's, "
             "and returns one")
_SKIP = "__pyx_skip_dispatch"
# Letters for C types that are not numbers.
_POINTER, _VOID, _OTHER = "*", "v", "?"


def ufunc_from_pointer(pointer, types=None, *, name, nin=None, nout=None, signature=None,
                       scalar=None, fallible=False, any_thread=True, user=0, doc=None,
                       identity=None, flags=(), context=None):
    """A ufunc whose loops are existing C functions. The ufunc runs on the cpu.

    pointer     an address, a function of ctypes or cffi, Numba's ``@cfunc``, a PyCapsule, or a
                function that a Cython module exports (``module.__pyx_capi__[name]``, or
                ``(module, name)``); or a list of these, one per loop. The ufunc keeps the owner of
                the code alive.
    types       the dtypes of the loop, "dd->d", or a list with one entry per loop. They may be
                omitted for Cython's exports, functions of cffi and Numba, and functions of ctypes
                with ``argtypes``.
    scalar      True: a function of numbers, such as ``double f(double, double)``, with one to four
                parameters and a result of the same type: float32, float64 or an integer type.
                False: an inner loop as in NumPy, ``void f(char **args, const int64_t *dims, const
                int64_t *steps, void *user)``, which is called with `user`. None: a function of
                numbers if the object declares one, otherwise an inner loop. CallError if the object
                declares a function of another kind.
    fallible    True: the loop returns a status, which is 0 or the reason for the failure of the
                call. "error": the loop also has a ``guf_error *`` as its last parameter; the
                exception has the message, argument, axis and native code that the loop writes there
    any_thread  the function may run on several threads at once; this has no benefit for a function
                that acquires the GIL
    signature   the signature of a generalized ufunc, which determines nin and nout
    """
    several = isinstance(pointer, list)
    pointers = pointer if several else [pointer]
    spellings = list(types) if several and types is not None else [types] * len(pointers)
    if len(spellings) != len(pointers):
        raise make_refusal(f"types: expected {len(pointers)}, as many as pointers, "
                           f"got {len(spellings)}")
    plain, user = loop_kind(fallible), size_of(user, "user", ADDRESS)
    loops = [_described(one, text, scalar) for one, text in zip(pointers, spellings)]
    if signature is None and nin is None:
        nin, nout = _counts(loops[0][1])
    # A registered name cannot be removed. All loops are therefore checked before `create`.
    codes = [_codes(text, kind, signature is None and nin + (nout or 0)) for _, text, kind in loops]
    made = create(name, nin or 0, nout or 0, signature=signature, doc=doc, identity=identity,
                  flags=flags, context=context)
    bits = lowlevel.GUF_LOOP_ANY_THREAD if any_thread else 0
    for ((address, owner), _, kind), types in zip(loops, codes):
        _gufunc.add_pointer(made, types, address, user, kind or plain, bits, owner)
    return made


def _parsed(types):
    return tuple(map(_dtypes.parse, types.replace("->", "") if isinstance(types, str) else types))


def _codes(types, kind, count):
    """The dtype codes of a loop's types. `count` is their expected number, or 0 if unknown."""
    codes = _parsed(types)
    if count and len(codes) != count:
        raise make_refusal(f"types: expected {count} types, got {types!r}")
    if kind and not (2 <= len(codes) <= 5 and len(set(codes)) == 1 and codes[0] in _NUMBERS):
        raise make_refusal(f"{_EXPECTED}: {types!r}")
    return codes


def _described(pointer, types, scalar):
    """((address, owner), types, kind) of a function. The kind is None for an inner loop."""
    address, owner, export = _resolved(pointer)
    declared, kind = _of_export(export) if export is not None else _of_function(owner)
    if scalar is False:
        kind = None
    elif scalar and kind is None:
        kind = "scalar"
    if kind and declared == "":
        raise make_refusal(f"the function is one of other than numbers: {_EXPECTED}")
    types = types or declared
    if not types:
        raise make_refusal("types: expected types such as 'dd->d', got none")
    if kind and declared is not None and _parsed(types) != _parsed(declared):
        raise make_refusal(f"types of the function: expected {declared}, got {types}")
    return (address, owner), types, kind


def _counts(types):
    """(nin, nout) of a loop's types. In types without an arrow, the last type is the output."""
    if isinstance(types, str) and "->" in types:
        left, right = types.split("->")
        return len(left), len(right)
    return len(types) - 1, 1


def _resolved(pointer):
    """(address, object to keep alive, Cython's declaration of the function or None)."""
    if isinstance(pointer, tuple):
        module, name = pointer
        exports = getattr(module, "__pyx_capi__", {})
        if name not in exports:
            raise AttributeError(f"{module.__name__} exports no function {name!r}")
        pointer = exports[name]
    if type(pointer).__name__ == "PyCapsule":
        address, text = _gufunc.capsule_pointer(pointer)
        return address, pointer, text
    if isinstance(pointer, int) and not isinstance(pointer, bool):
        return _checked(pointer), None, None
    if hasattr(pointer, "address") and not isinstance(pointer, _gufunc.Handle):  # Numba's @cfunc
        return _checked(int(pointer.address)), pointer, None
    ctypes = sys.modules.get("ctypes")
    if ctypes is not None and isinstance(pointer, (ctypes._CFuncPtr, ctypes.c_void_p)):
        return _checked(ctypes.cast(pointer, ctypes.c_void_p).value), pointer, None
    if type(pointer).__module__ == "_cffi_backend":
        import _cffi_backend

        ffi = _cffi_backend.FFI()
        return _checked(int(ffi.cast("uintptr_t", pointer))), pointer, None
    raise make_refusal(f"no address in a {type(pointer).__name__}")


def _checked(address):
    if not address:
        raise make_refusal("the function pointer is NULL")
    return size_of(address, "the function pointer", ADDRESS)


def _classed(letters, unknown):
    """(types, kind) of a function, such as ("dd->d", "scalar"), from the letters of its parameters
    and its result. The types are "" if a parameter or the result is not a number, and the argument
    `unknown` if one of the types is unknown. The kind is None if the function may be an inner loop,
    whose parameters are addresses."""
    *taken, given = letters
    if not {"f", "d"} & set(taken) and (_POINTER in taken or given == _VOID):
        return "", None
    if not taken or {_POINTER, _VOID} & set(letters):
        return "", "scalar"
    return unknown if _OTHER in letters else "".join(taken) + "->" + given, "scalar"


def _of_function(function):
    """The result of `_classed` for an object that declares the types of its C function. (None,
    None) for other objects."""
    ctypes = sys.modules.get("ctypes")
    if hasattr(function, "address"):  # Numba's @cfunc
        try:
            function = function.ctypes
        except (AttributeError, NotImplementedError, TypeError):
            declared = getattr(function, "_sig", None)  # the types are not ctypes types
            if declared is None:
                return None, None
            names = map(str, (*declared.args, declared.return_type))
            return _classed([_POINTER if name.endswith("*") else
                             _VOID if name == "none" else _OTHER for name in names], "")
    if ctypes is not None and isinstance(function, ctypes._CFuncPtr):
        if function.argtypes is None:
            return None, None
        kinds = (*function.argtypes, function.restype)
        return _classed([_of_ctypes(kind, ctypes) for kind in kinds], "")
    if type(function).__module__ == "_cffi_backend":
        import _cffi_backend

        kind = _cffi_backend.FFI().typeof(function)
        if kind.kind == "function":
            return _classed([_of_cffi(part) for part in (*kind.args, kind.result)], "")
    return None, None


def _of_ctypes(kind, ctypes):
    if kind is None:
        return _VOID
    if not isinstance(kind, type) or not issubclass(
            kind, (ctypes._SimpleCData, ctypes.Structure, ctypes.Union)):
        return _POINTER
    letter = getattr(kind, "_type_", _OTHER)
    if letter in "PzZO":
        return _POINTER
    return letter if letter in "bBhHiIlLqQfd" else _OTHER


def _of_cffi(kind):
    if kind.kind == "void":
        return _VOID
    if kind.kind in ("pointer", "array", "function"):
        return _POINTER
    return _C_TYPES.get(kind.cname, _OTHER)


def _of_c(text):
    """The letter of a C type in a declaration, with or without a parameter name after it."""
    if "*" in text:
        return _POINTER
    words = text.split()
    whole, front = " ".join(words), " ".join(words[:-1])
    return _VOID if whole == "void" else _C_TYPES.get(whole) or _C_TYPES.get(front, _OTHER)


def _of_export(text):
    """The result of `_classed` for a function that Cython exports, from its declaration "double
    (double, int ...)". (None, None) if the declaration cannot be parsed."""
    found = re.fullmatch(r"\s*([\w ]+?)\s*\(([^()]*)\)\s*", text)
    if found is None:
        return None, None
    parameters = [part.strip() for part in found[2].split(",")]
    skip = parameters[-1].endswith(_SKIP)
    if skip:
        parameters.pop()
    # An unknown name may be a Cython typedef of a number.
    declared, kind = _classed([*map(_of_c, parameters), _of_c(found[1])], None)
    return declared, "skip" if kind and skip else kind
