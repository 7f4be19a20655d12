# SPDX-License-Identifier: Apache-2.0
"""Operands of other libraries' classes.

NumPy's ufuncs call such a class, or return results of it; this package's ufuncs do neither. So they
refuse the class, and units, masks, labels and lazy graphs are never dropped silently.
"""

import sys

from ._errors import make_refusal

# A class with one of these influences what NumPy's ufuncs compute or return.
_PROTOCOLS = ("__array_ufunc__", "__array_function__", "__array_wrap__")
# What returns the elements alone, by an attribute of the class; the first match counts.
_REMEDIES = (("magnitude", "x.magnitude"), ("__dask_graph__", "x.compute()"),
             ("to_value", "x.to_value(unit)"), ("to_numpy", "x.to_numpy()"))
_BUILT_IN = frozenset((bool, int, float, complex, list, tuple, range, bytearray, memoryview))


def is_input_class(cls):
    """Whether a subclass of ndarray is read as an ndarray. NumPy's results for memmaps are plain
    ndarrays; for other subclasses they are of the subclass."""
    import numpy

    return cls is numpy.memmap


def is_output_class(cls):
    """Whether a subclass of ndarray is written as an ndarray. NumPy, too, returns an output as it
    is, unless the class has a protocol of its own."""
    import numpy

    plain = numpy.ndarray
    return (cls.__array_ufunc__ is plain.__array_ufunc__ and
            cls.__array_wrap__ in (plain.__array_wrap__, numpy.memmap.__array_wrap__))


def _is_masked(cls):
    masked = sys.modules.get("numpy.ma")
    return masked is not None and issubclass(cls, masked.MaskedArray)


def _loss(cls):
    """What would be lost if an operand of the class were read as plain elements, or None."""
    numpy = sys.modules.get("numpy")
    if numpy is not None and issubclass(cls, numpy.ndarray):
        if cls is numpy.ndarray or is_input_class(cls):
            return None
        if _is_masked(cls):
            return "its mask would be ignored"
        if cls.__array_ufunc__ is numpy.ndarray.__array_ufunc__:
            return "the result would be a plain ndarray"
    names = _PROTOCOLS
    if numpy is not None and issubclass(cls, numpy.generic):
        names = _PROTOCOLS[:1]  # NumPy's scalars have another
    elif hasattr(cls, "__dlpack__") and not (numpy and issubclass(cls, numpy.ndarray)):
        return None  # arrays of PyTorch, CuPy, JAX: memory, and no more than that
    found = next((name for name in names if hasattr(cls, name)), None)
    return found and f"its {found} would not be called"


def refuse(value):
    """Refuses an operand whose class would be lost; the message names what to pass instead."""
    cls = type(value)
    loss = None if cls in _BUILT_IN else _loss(cls)
    if loss is None:
        return
    if getattr(cls, "__array_ufunc__", True) is None:
        raise make_refusal(f"operand '{cls.__name__}' does not support ufuncs "
                           "(__array_ufunc__=None)")
    remedy = next((text for name, text in _REMEDIES if hasattr(cls, name)), "numpy.asarray(x)")
    if _is_masked(cls):
        remedy += ", and the mask as where="
    raise make_refusal(f"an operand cannot be a {cls.__module__}.{cls.__qualname__}: {loss}; pass "
                       f"{remedy}")
