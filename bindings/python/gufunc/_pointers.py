# SPDX-License-Identifier: Apache-2.0
"""Ufuncs over functions that are compiled already: of ctypes, cffi, Numba, Cython."""

import re
import sys

from . import _dtypes, _gufunc, lowlevel
from ._errors import make_refusal
from ._ufunc import ADDRESS, create, loop_kind, size_of

_C_TYPES = {"double": "d", "float": "f", "npy_double": "d", "npy_float": "f",
            "npy_float64": "d", "npy_float32": "f"}
_SKIP = "__pyx_skip_dispatch"


def ufunc_from_pointer(pointer, types=None, *, name, nin=None, nout=None, signature=None,
                       scalar=None, fallible=False, any_thread=True, user=0, doc=None,
                       identity=None, flags=(), context=None):
    """A ufunc whose loops are C functions that exist already. It runs on the cpu.

    pointer     an address, a function of ctypes or cffi, Numba's ``@cfunc``, a PyCapsule, or a
                function that a Cython module exports (``module.__pyx_capi__[name]``, or
                ``(module, name)``); or a list of these, one per loop. What owns the code is kept.
    types       the loop's dtypes, "dd->d", or a list, one per loop. Cython's exports, functions of
                cffi, of Numba and those of ctypes that have ``argtypes`` tell theirs.
    scalar      the function takes and returns numbers, ``double f(double, double)``: one to four of
                float32 or of float64. Otherwise it is a loop as NumPy's,
                ``void f(char **args, const int64_t *dims, const int64_t *steps, void *user)``,
                called with `user`. None: scalar where the object tells so. CallError where what it
                tells is something else.
    fallible    True: a loop that returns a status: 0, or what the call fails with. "error": that
                takes a ``guf_error *`` besides, as its last parameter; the message, argument, axis
                and native code that it writes there are the exception's
    any_thread  it may run on several threads at once, which is of no use where it takes the GIL
    signature   of a generalized ufunc, which then gives nin and nout
    """
    several = isinstance(pointer, list)
    pointers = pointer if several else [pointer]
    spellings = list(types) if several and types is not None else [types] * len(pointers)
    if len(spellings) != len(pointers):
        raise make_refusal("as many types as pointers are wanted")
    plain, user = loop_kind(fallible), size_of(user, "user", ADDRESS)
    loops = [_described(one, text, scalar) for one, text in zip(pointers, spellings)]
    if signature is None and nin is None:
        nin, nout = _counts(loops[0][1])
    # A name that is taken stays so: all that can be wrong with a loop is found before.
    codes = [_codes(text, kind, signature is None and nin + (nout or 0)) for _, text, kind in loops]
    made = create(name, nin or 0, nout or 0, signature=signature, doc=doc, identity=identity,
                  flags=flags, context=context)
    bits = lowlevel.GUF_LOOP_ANY_THREAD if any_thread else 0
    for ((address, owner), _, kind), types in zip(loops, codes):
        _gufunc.add_pointer(made, types, address, user, kind or plain, bits, owner)
    return made


def _codes(types, kind, count):
    """The codes of a loop's types, `count` of them where that is known."""
    codes = tuple(map(_dtypes.parse, types.replace("->", "") if isinstance(types, str) else types))
    if count and len(codes) != count:
        raise make_refusal(f"a loop of this ufunc has {count} types, not {len(codes)}: {types!r}")
    if kind in ("scalar", "skip") and not (
            2 <= len(codes) <= 5 and len(set(codes)) == 1
            and codes[0] in (lowlevel.GUF_F32, lowlevel.GUF_F64)):
        raise make_refusal("a function of numbers takes 1 to 4 of float32 or of float64, and "
                           f"returns one: {types!r}")
    return codes


def _described(pointer, types, scalar):
    """((address, owner), types, kind or None)."""
    address, owner, export = _resolved(pointer)
    told, kind = _of_export(export)
    if export is None and owner is not None:
        told = _of_function(owner)
        kind = "scalar" if told else None
    if scalar is False:
        kind = None
    elif scalar and kind is None:
        kind = "scalar"
    types = types or told
    if not types:
        raise make_refusal("types are wanted: \"dd->d\"")
    if kind in ("scalar", "skip") and not isinstance(types, str):
        types = "".join(_dtypes.of_code(_dtypes.parse(item)).char for item in types)
    if kind and told is not None and types.replace("->", "") != told.replace("->", ""):
        raise make_refusal(f"the function is one of {told or 'other than numbers'}, not {types}")
    return (address, owner), types, kind


def _counts(types):
    """(nin, nout) of a loop's types; without an arrow the last is the output."""
    if isinstance(types, str) and "->" in types:
        left, right = types.split("->")
        return len(left), len(right)
    return len(types) - 1, 1


def _resolved(pointer):
    """(address, what to keep, Cython's text of the function or None)."""
    if isinstance(pointer, tuple):
        module, name = pointer
        exports = getattr(module, "__pyx_capi__", {})
        if name not in exports:
            raise AttributeError(f"{module.__name__} exports no function {name!r}")
        pointer = exports[name]
    if type(pointer).__name__ == "PyCapsule":
        address, text = _gufunc.capsule_pointer(pointer)
        return address, pointer, text
    if isinstance(pointer, int):
        return _checked(pointer), None, None
    if hasattr(pointer, "address"):  # Numba's @cfunc
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


def _of_function(function):
    """What an object tells of its C function: "dd->d"; "" where that is none of numbers, None where
    nothing is told."""
    ctypes = sys.modules.get("ctypes")
    if hasattr(function, "address"):
        try:
            function = function.ctypes  # Numba's @cfunc
        except (AttributeError, NotImplementedError, TypeError):
            return None
    if ctypes is not None and isinstance(function, ctypes._CFuncPtr):
        if function.argtypes is None:
            return None
        kinds = (*function.argtypes, function.restype)
        names = [getattr(kind, "__name__", "").removeprefix("c_") for kind in kinds]
    elif type(function).__module__ == "_cffi_backend":
        import _cffi_backend

        kind = _cffi_backend.FFI().typeof(function)
        if kind.kind != "function":
            return None
        names = [part.cname for part in (*kind.args, kind.result)]
    else:
        return None
    letters = [_C_TYPES.get(name, "") for name in names]
    told = "".join(letters[:-1]) + "->" + letters[-1]
    return told if all(letters) and len(letters) > 1 else ""


def _of_export(text):
    """(types, kind) of a function that Cython exports, "double (double, int ...)"; None where it is
    no function of numbers."""
    found = re.fullmatch(r"\s*(\w+)\s*\(([^()]*)\)\s*", text or "")
    if found is None:
        return None, None
    parameters = [part.strip() for part in found[2].split(",")]
    skip = bool(parameters) and parameters[-1].endswith(_SKIP)
    if skip:
        parameters.pop()
    letters = [_C_TYPES.get(part.partition(" ")[0]) if "*" not in part else None
               for part in parameters]
    result = _C_TYPES.get(found[1])
    if result is None or None in letters or not letters:
        return None, None
    return "".join(letters) + "->" + result, "skip" if skip else "scalar"
