# SPDX-License-Identifier: Apache-2.0
"""NumPy's errstate for the floating-point exception flags of this package's calls. By default,
calls do not check the flags."""

import warnings

from . import _gufunc, lowlevel
from ._errors import make_refusal

__all__ = ["errstate"]

_FLAGS = {"divide": lowlevel.GUF_FP_DIVIDE | lowlevel.GUF_FP_INTEGER_DIVIDE,
           "over": lowlevel.GUF_FP_OVERFLOW, "under": lowlevel.GUF_FP_UNDERFLOW,
           "invalid": lowlevel.GUF_FP_INVALID}
_TEXTS = ((lowlevel.GUF_FP_DIVIDE, "divide by zero"), (lowlevel.GUF_FP_OVERFLOW, "overflow"),
          (lowlevel.GUF_FP_UNDERFLOW, "underflow"), (lowlevel.GUF_FP_INVALID, "invalid value"),
          (lowlevel.GUF_FP_INTEGER_DIVIDE, "divide by zero"))


def warn(fp_flags, ufunc):
    """Warns about the floating-point flags of a call. The extension calls this function."""
    if errstate.call is not None:
        errstate.call(fp_flags)
        return
    reported = set()
    for bit, text in _TEXTS:
        if fp_flags & bit and text not in reported:
            reported.add(text)
            name = ufunc.__name__.rpartition(":")[2]
            warnings.warn(f"{text} encountered in {name}", RuntimeWarning, stacklevel=2)


class errstate:
    """``with gufunc.errstate(divide="warn", invalid="raise"):`` checks floating-point flags of the
    calls of this thread.

    The values of `divide`, `over`, `under` and `invalid`, or of `all` for all four, are "ignore",
    "warn" or "raise". If ``errstate.call`` is set to a function, all threads call the function with
    the flag bits (guf_fp_flag) instead of warning. To check the flags, a call reads its operands
    and results once more. Calls on a stream do not warn.
    """

    call = None

    def __init__(self, *, all=None, **kinds):
        self._actions = dict.fromkeys(_FLAGS, all) if all is not None else {}
        self._actions.update(kinds)
        for kind, action in self._actions.items():
            if kind not in _FLAGS or action not in ("ignore", "warn", "raise"):
                raise make_refusal(f"errstate: {kind}={action!r}")

    def __enter__(self):
        report, fail = self._before = _gufunc._set_fp_flags(0, 0)
        for kind, action in self._actions.items():
            bits = _FLAGS[kind]
            report = report | bits if action == "warn" else report & ~bits
            fail = fail | bits if action == "raise" else fail & ~bits
        _gufunc._set_fp_flags(report, fail)
        return self

    def __exit__(self, *failure):
        _gufunc._set_fp_flags(*self._before)
