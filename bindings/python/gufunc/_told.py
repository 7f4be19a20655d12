# SPDX-License-Identifier: Apache-2.0
"""What objects tell of themselves: documentation of ufuncs, texts of infos."""

from . import lowlevel

_INFOS = ("guf_backend_info", "guf_device_info", "guf_device_memory", "guf_dtype_info",
          "guf_kernel_device_info", "guf_kernel_info", "guf_module_info", "guf_ufunc_info")


class Documentation:
    """A class's text, and for its instances their own."""

    def __init__(self, text, of_instance):
        self._text, self._of_instance = text, of_instance

    def __get__(self, instance, owner=None):
        return self._text if instance is None else self._of_instance(instance)


def of_ufunc(ufunc):
    """How it is called, what it does, its loops."""
    inputs = [f"x{i + 1}" for i in range(ufunc.nin)] if ufunc.nin > 1 else ["x"][:ufunc.nin]
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
    """Gives the Ufunc class and what is told of things their texts."""
    cls.__doc__ = Documentation(cls.__doc__, of_ufunc)
    for name in _INFOS:
        getattr(lowlevel, name).__repr__ = _fields
