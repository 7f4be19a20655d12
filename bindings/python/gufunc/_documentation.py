# SPDX-License-Identifier: Apache-2.0
"""Docstrings and signatures of ufuncs, and the repr of info structs."""

from . import lowlevel

_INFOS = ("guf_backend_info", "guf_device_info", "guf_device_memory", "guf_dtype_info",
          "guf_kernel_device_info", "guf_kernel_info", "guf_module_info", "guf_ufunc_info")


class Documentation:
    """A descriptor for __doc__, which has one text for the class and a separate text for each
    instance."""

    def __init__(self, text, of_instance):
        self._text, self._of_instance = text, of_instance

    def __get__(self, instance, owner=None):
        return self._text if instance is None else self._of_instance(instance)


class Signature:
    """A descriptor for __signature__ of ufuncs, which `inspect.signature` reads. The class itself
    has no signature."""

    def __get__(self, instance, owner=None):
        if instance is None:
            raise AttributeError("__signature__")
        return signature_of(instance)


def _inputs(ufunc):
    return [f"x{i + 1}" for i in range(ufunc.nin)] if ufunc.nin > 1 else ["x"][:ufunc.nin]


def signature_of(ufunc):
    """The signature of a call of the ufunc: NumPy's parameters, then this package's own."""
    import inspect

    class NoValue:
        def __repr__(self):
            return "<no value>"

    def parameter(name, default, kind=inspect.Parameter.KEYWORD_ONLY):
        return inspect.Parameter(name, kind, default=default)

    missing = NoValue()
    core = {"axes": missing, "axis": missing, "keepdims": False, "dims": missing}
    keywords = {"where": True, **(core if ufunc.signature else {}), "casting": "same_kind",
                "order": "K", "dtype": None, "subok": True, "signature": None, "stream": None,
                "device": None, "host_policy": "default", "threads": 0}
    out = parameter("out", None if ufunc.nout < 2 else (None,) * ufunc.nout,
                    inspect.Parameter.POSITIONAL_OR_KEYWORD)
    inputs = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_ONLY)
              for name in _inputs(ufunc)]
    return inspect.Signature(
        [*inputs, out, *(parameter(name, default) for name, default in keywords.items())])


def of_ufunc(ufunc):
    """The docstring of a ufunc: how it is called, what it does, and its loops."""
    inputs = _inputs(ufunc)
    name = ufunc.__name__.rpartition(":")[2]
    lines = [f"{name}({', '.join([*inputs, '/'])}, out=None, **keywords)"]
    if ufunc.signature:
        lines[0] += f"    {ufunc.signature}"
    if ufunc.info.doc:
        lines += ["", ufunc.info.doc]
    lines += ["", f"Loops: {' '.join(ufunc.types) or 'none'}", "Keywords: help(gufunc.Ufunc)"]
    return "\n".join(lines)


def _fields(self):
    names = [name for name, member in vars(type(self)).items()
             if isinstance(member, property) and name not in ("thisown", "struct_size")]
    fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
    return f"<{type(self).__name__.removeprefix('guf_')} {fields}>"


def install(cls):
    """Sets the descriptors of the Ufunc class and the __repr__ of the info structs."""
    cls.__doc__ = Documentation(cls.__doc__, of_ufunc)
    cls.__signature__ = Signature()
    for name in _INFOS:
        getattr(lowlevel, name).__repr__ = _fields
