# SPDX-License-Identifier: Apache-2.0
"""Operands of classes of other libraries.

NumPy's ufuncs call the methods of these classes or return instances of them. The ufuncs of this
package do neither. They reject the classes, so that units, masks, labels and lazy graphs are never
dropped silently. Explicit conversions reject only units and masks.
"""

import sys

from ._errors import make_refusal

# A class with one of these attributes influences what NumPy's ufuncs compute or return.
_PROTOCOLS = ("__array_ufunc__", "__array_function__", "__array_wrap__")
# (attribute of a class, expression that returns the plain elements). The first match is used.
_REMEDIES = (("magnitude", "x.magnitude"), ("__dask_graph__", "x.compute()"),
             ("to_value", "x.to_value(unit)"), ("to_numpy", "x.to_numpy()"))
_UNIT_ATTRIBUTES = ("magnitude", "to_value")  # attributes of quantities
_BUILT_IN = frozenset((bool, int, float, complex, list, tuple, range, bytearray, memoryview))


def is_input_class(cls):
    """Whether instances of a subclass of ndarray are accepted as inputs. NumPy returns plain
    ndarrays for memmaps, and instances of the subclass for other subclasses."""
    import numpy

    return cls is numpy.memmap


def is_output_class(cls):
    """Whether instances of a subclass of ndarray are accepted as outputs. NumPy also returns an
    output unchanged, unless the class overrides one of the protocols."""
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
        names = _PROTOCOLS[:1]  # all scalars of NumPy have the other protocols
    elif hasattr(cls, "__dlpack__") and not (numpy and issubclass(cls, numpy.ndarray)):
        return None  # arrays of PyTorch, CuPy or JAX have no extra data to lose
    found = next((name for name in names if hasattr(cls, name)), None)
    return found and f"its {found} would not be called"


def refuse(value):
    """Rejects an operand of a class whose extra data or behaviour would be lost. The message
    describes what to pass instead."""
    cls = type(value)
    loss = None if cls in _BUILT_IN else _loss(cls)
    if loss is None:
        return
    if getattr(cls, "__array_ufunc__", True) is None:
        raise make_refusal(f"operand '{cls.__name__}' does not support ufuncs "
                           "(__array_ufunc__=None)")
    remedy = _remedy(cls)
    if _is_masked(cls):
        remedy += ", and the mask as where="
    raise make_refusal(f"an operand cannot be a {cls.__module__}.{cls.__qualname__}: {loss}; pass "
                       f"{remedy}")


def _remedy(cls):
    return next((text for name, text in _REMEDIES if hasattr(cls, name)), "numpy.asarray(x)")


def refuse_conversion(value):
    """Rejects a value with a unit or a mask, because its elements have another meaning without the
    unit or mask. Labels may be dropped, because the caller requests the elements."""
    cls = type(value)
    if cls in _BUILT_IN or _loss(cls) is None:
        return
    if _is_masked(cls):
        lost, remedy = "mask", "x.filled(value) or x.data"
    elif any(hasattr(cls, name) for name in _UNIT_ATTRIBUTES):
        lost, remedy = "unit", _remedy(cls)
    else:
        return
    raise make_refusal(f"cannot make an array of a {cls.__module__}.{cls.__qualname__}: its {lost} "
                       f"would be dropped; pass {remedy}")
