# SPDX-License-Identifier: Apache-2.0
"""Operators, reductions and NumPy's protocol of arrays, by way of the standard ufuncs."""

_BINARY = {"add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide",
           "floordiv": "floor_divide", "mod": "remainder", "pow": "power", "and": "bitwise_and",
           "or": "bitwise_or", "xor": "bitwise_xor", "lshift": "left_shift",
           "rshift": "right_shift", "matmul": "matmul", "divmod": "divmod"}
_COMPARE = {"eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater",
            "ge": "greater_equal"}
_UNARY = {"neg": "negative", "pos": "positive", "abs": "absolute", "invert": "invert"}
_FOLDS = {"sum": "add", "prod": "multiply", "min": "minimum", "max": "maximum",
          "any": "logical_or", "all": "logical_and"}


def _binary(ufunc):
    def forward(self, other):
        return ufunc(self, other)

    def backward(self, other):
        return ufunc(other, self)

    def in_place(self, other):
        return ufunc(self, other, out=self)

    return forward, backward, in_place


def _unary(ufunc):
    return lambda self: ufunc(self)


def _fold(ufunc):
    def fold(self, axis=None, dtype=None, out=None, keepdims=False, **keywords):
        return ufunc.reduce(self, axis=axis, dtype=dtype, out=out, keepdims=keepdims, **keywords)

    fold.__doc__ = f"{ufunc.__name__}.reduce over `axis`; None: over all axes."
    return fold


def _array_ufunc(ufuncs):
    def __array_ufunc__(self, ufunc, method, *inputs, **keywords):
        found = ufuncs.get(ufunc.__name__)
        if type(found).__name__ != "Ufunc":
            return NotImplemented
        if "out" in keywords and len(keywords["out"]) == 1:
            keywords["out"] = keywords["out"][0]
        function = found if method == "__call__" else getattr(found, method)
        return function(*inputs, **keywords)

    __array_ufunc__.__doc__ = "NumPy's ufuncs on arrays of this package call this package's."
    return __array_ufunc__


def _named(function, name):
    function.__name__ = name
    return function


def install(cls, ufuncs):
    """Gives the Array class its operators."""
    for name, ufunc in _BINARY.items():
        if ufunc in ufuncs:
            forward, backward, in_place = _binary(ufuncs[ufunc])
            setattr(cls, f"__{name}__", _named(forward, f"__{name}__"))
            setattr(cls, f"__r{name}__", _named(backward, f"__r{name}__"))
            if name != "divmod":
                setattr(cls, f"__i{name}__", _named(in_place, f"__i{name}__"))
    for name, ufunc in _COMPARE.items():
        setattr(cls, f"__{name}__", _named(_binary(ufuncs[ufunc])[0], f"__{name}__"))
    for name, ufunc in _UNARY.items():
        if ufunc in ufuncs:
            setattr(cls, f"__{name}__", _named(_unary(ufuncs[ufunc]), f"__{name}__"))
    for name, ufunc in _FOLDS.items():
        setattr(cls, name, _named(_fold(ufuncs[ufunc]), name))
    cls.__array_ufunc__ = _array_ufunc(ufuncs)
