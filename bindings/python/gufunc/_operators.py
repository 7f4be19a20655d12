# SPDX-License-Identifier: Apache-2.0
"""Operators, reductions and NumPy's __array_ufunc__ protocol in terms of the standard ufuncs."""

import operator
import sys

from . import _array, _conversion, _foreign

_BINARY = {"add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide",
           "floordiv": "floor_divide", "mod": "remainder", "pow": "power", "and": "bitwise_and",
           "or": "bitwise_or", "xor": "bitwise_xor", "lshift": "left_shift",
           "rshift": "right_shift", "matmul": "matmul"}
_COMPARE = {"eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater",
            "ge": "greater_equal"}
_EQUALITIES = {"equal": "__eq__", "not_equal": "__ne__"}  # symmetric; they raise no TypeError
_UNARY = {"neg": "negative", "abs": "absolute", "invert": "invert"}
_FOLDS = {"sum": "add", "prod": "multiply", "min": "minimum", "max": "maximum",
          "any": "logical_or", "all": "logical_and"}
_REDUCTIONS = ("argmax", "argmin", "ptp")
_SPREADS = ("var", "std")
_NUMBERS = (bool, int, float, complex)
_SEQUENCES = (list, tuple, range)
_MEMORY = ("__dlpack__", "__array__", "__cuda_array_interface__", "__array_interface__",
           "__array_struct__")
_ABSENT = object()


def _class_of(value, own):
    """How an operator handles its other operand `value`. "ours": call the ufunc. "defer": return
    NotImplemented, so that Python calls the operator of `value`. "overrides": call NumPy's ufunc,
    which calls the __array_ufunc__ of `value`. "unknown": `value` cannot be an operand."""
    cls = type(value)
    if cls in _NUMBERS or cls is own:
        return "ours"
    hook = getattr(cls, "__array_ufunc__", _ABSENT)
    if hook is None:
        return "defer"
    numpy = sys.modules.get("numpy")
    if numpy is not None and issubclass(cls, numpy.ndarray):
        if cls is numpy.ndarray or _foreign.is_input_class(cls):
            return "ours"
        return "defer" if hook is numpy.ndarray.__array_ufunc__ else "overrides"
    if numpy is not None and issubclass(cls, numpy.generic) or issubclass(cls, own):
        return "ours"
    if hook is not _ABSENT:
        return "overrides"
    if getattr(cls, "__array_priority__", 0) > own.__array_priority__:
        return "defer"
    if issubclass(cls, _NUMBERS + _SEQUENCES) or any(hasattr(cls, name) for name in _MEMORY):
        return "ours"
    return "unknown" if issubclass(cls, (bytes, str)) or not _has_buffer(value) else "ours"


def _has_buffer(value):
    try:
        memoryview(value).release()
    except (TypeError, BufferError):
        return False
    return True


def _by_numpy(name, *operands, **keywords):
    """Calls NumPy's ufunc, which calls the __array_ufunc__ of the operands, including that of an
    Array."""
    import numpy

    return getattr(numpy, name)(*operands, **keywords)


def _binary(ufunc, own):
    def forward(self, other):
        found = _class_of(other, own)
        if found == "ours":
            return ufunc(self, other)
        return _by_numpy(ufunc.__name__, self, other) if found == "overrides" else NotImplemented

    def backward(self, other):
        found = _class_of(other, own)
        if found == "ours":
            return ufunc(other, self)
        return _by_numpy(ufunc.__name__, other, self) if found == "overrides" else NotImplemented

    def in_place(self, other):
        found = _class_of(other, own)
        if getattr(type(other), "__array_ufunc__", _ABSENT) is None:
            return NotImplemented
        if found == "overrides":
            return _by_numpy(ufunc.__name__, self, other, out=self)
        return ufunc(self, other, out=self)

    return forward, backward, in_place


def _power(ufunc, own):
    def power(self, other, modulo=None):
        found = _class_of(other, own) if modulo is None else "defer"
        if found == "ours":
            return ufunc(self, other)
        return _by_numpy(ufunc.__name__, self, other) if found == "overrides" else NotImplemented

    return power


def _comparison(ufuncs, own, name):
    """The operators == and !=, which NumPy defines for operands of any type. If no loop accepts the
    operands, NumPy compares them. If NumPy is not available, the operands are unequal."""
    order = _binary(ufuncs[_COMPARE[name]], own)[0]

    def by_numpy(self, other):
        if not _conversion.have_numpy():
            return ufuncs["full"](self.shape, name == "ne", "bool", device=self._device)
        operands = self.numpy(), other.numpy() if isinstance(other, own) else other
        return ufuncs["array"](getattr(operator, name)(*operands), device=self._device)

    def compare(self, other):
        if _class_of(other, own) == "unknown":
            return by_numpy(self, other)
        try:
            return order(self, other)
        except TypeError:
            return by_numpy(self, other)

    return compare


def _fold(ufunc):
    def fold(self, axis=None, dtype=None, out=None, keepdims=False, **keywords):
        return ufunc.reduce(self, axis=axis, dtype=dtype, out=out, keepdims=keepdims, **keywords)

    fold.__doc__ = f"{ufunc.__name__}.reduce over `axis`; None: over all axes."
    return fold


def _reduction(ufunc):
    def reduction(self, axis=None, out=None, *, keepdims=False, **keywords):
        return ufunc.reduce(self, axis=axis, out=out, keepdims=keepdims, **keywords)

    reduction.__doc__ = f"{ufunc.__name__}.reduce over `axis`; None: over all axes."
    return reduction


def _spread(ufunc):
    def spread(self, axis=None, dtype=None, out=None, ddof=0, keepdims=False, **keywords):
        return ufunc.reduce(self, axis=axis, dtype=dtype, out=out, keepdims=keepdims,
                            parameters=(ddof,), **keywords)

    spread.__doc__ = (f"{ufunc.__name__}.reduce over `axis`; None: over all axes. The sum of the "
                      "squares is divided by the number of elements minus `ddof`.")
    return spread


def _on_numpy(ufunc, method, inputs, keywords, own):
    """Runs a ufunc of NumPy, SciPy or Numba that this package lacks on the memory of host arrays.
    The results are arrays of this package."""
    outputs = keywords.get("out", ())
    for operand in (*inputs, *outputs):
        if isinstance(operand, own) and not operand.on_host:
            raise TypeError(f"gufunc has no ufunc {ufunc.__name__!r} for an array on "
                            f"{operand.device}: pass x.numpy(), a copy on the host")

    def plain(value):
        if isinstance(value, tuple):
            return tuple(map(plain, value))
        return value.numpy() if isinstance(value, own) else value

    function = ufunc if method == "__call__" else getattr(ufunc, method)
    found = function(*map(plain, inputs),
                     **{name: plain(value) for name, value in keywords.items()})
    if not isinstance(found, tuple):
        return _result_of(found, *outputs)
    return tuple(map(_result_of, found, outputs or [None] * len(found)))


def _result_of(found, given=None):
    """The output `given` if it is not None. Otherwise an array over the memory of the result, or
    the result itself if it has no memory.
    """
    if given is not None:
        return given
    try:
        return _array.as_array(found)
    except TypeError:
        return found


def _is_refused(operand, own, is_output):
    """Whether the ufunc call must be left to the operand's class. Rejects the operand if the class
    does not support ufuncs or the operand's extra data would be lost."""
    if is_output and _is_plain_output(operand):
        return False
    found = _class_of(operand, own)
    if found == "defer":
        _foreign.refuse(operand)
    return found in ("overrides", "defer")


def _is_plain_output(operand):
    import numpy

    return isinstance(operand, numpy.ndarray) and _foreign.is_output_class(type(operand))


def _array_ufunc(ufuncs, own):
    def __array_ufunc__(self, ufunc, method, *inputs, **keywords):
        import numpy

        outputs = keywords.get("out", ())
        if (any(_is_refused(operand, own, False) for operand in inputs) or
                any(_is_refused(operand, own, True) for operand in outputs)):
            return NotImplemented
        found = ufuncs.get(ufunc.__name__)
        if method == "__call__":  # NumPy passes its scalars as 0-d ndarrays; convert them back
            inputs = [operand[()] if type(operand) is numpy.ndarray and operand.ndim == 0
                      else operand for operand in inputs]
        # A ufunc of another library may have the same name and compute something else.
        if type(found).__name__ != "Ufunc" or getattr(numpy, ufunc.__name__, None) is not ufunc:
            return _on_numpy(ufunc, method, inputs, keywords, own)
        if len(outputs) == 1:
            keywords["out"] = outputs[0]
        if method == "__call__" and not keywords and ufunc.__name__ in _EQUALITIES:
            first, second = inputs if isinstance(inputs[0], own) else inputs[::-1]
            return getattr(own, _EQUALITIES[ufunc.__name__])(first, second)
        function = found if method == "__call__" else getattr(found, method)
        return function(*inputs, **keywords)

    __array_ufunc__.__doc__ = ("NumPy's ufuncs on arrays of this package call this package's. What "
                               "numpy.errstate requests does not reach them: gufunc.errstate does.")
    return __array_ufunc__


def _contains(self, value):
    found = self == value
    return bool(found.any()) if hasattr(found, "any") else bool(found)


def _named(function, name):
    function.__name__ = name
    return function


def install(cls, ufuncs):
    """Adds the operators to the Array class."""
    for name, ufunc in _BINARY.items():
        forward, backward, in_place = _binary(ufuncs[ufunc], cls)
        setattr(cls, f"__{name}__", _named(forward, f"__{name}__"))
        setattr(cls, f"__r{name}__", _named(backward, f"__r{name}__"))
        setattr(cls, f"__i{name}__", _named(in_place, f"__i{name}__"))
    cls.__pow__ = _named(_power(ufuncs["power"], cls), "__pow__")
    for name, ufunc in _COMPARE.items():
        compare = (_comparison(ufuncs, cls, name) if name in ("eq", "ne")
                   else _binary(ufuncs[ufunc], cls)[0])
        setattr(cls, f"__{name}__", _named(compare, f"__{name}__"))
    for name, ufunc in _UNARY.items():
        unary = (lambda function: lambda self: function(self))(ufuncs[ufunc])
        setattr(cls, f"__{name}__", _named(unary, f"__{name}__"))
    for name, ufunc in _FOLDS.items():
        setattr(cls, name, _named(_fold(ufuncs[ufunc]), name))
    for name in _REDUCTIONS:
        setattr(cls, name, _named(_reduction(ufuncs[name]), name))
    for name in _SPREADS:
        setattr(cls, name, _named(_spread(ufuncs[name]), name))
    forward, backward, _ = _binary(ufuncs["divmod"], cls)
    cls.__divmod__ = _named(forward, "__divmod__")
    cls.__rdivmod__ = _named(backward, "__rdivmod__")
    cls.__contains__ = _named(_contains, "__contains__")
    cls.__array_ufunc__ = _array_ufunc(ufuncs, cls)
