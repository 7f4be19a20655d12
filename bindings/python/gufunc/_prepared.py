# SPDX-License-Identifier: Apache-2.0
"""Plans: calls that are prepared once and launched many times."""

from . import _gufunc, lowlevel
from ._errors import make_refusal


class Plan(_gufunc.Handle):
    """A call prepared for operands of certain dtypes, shapes and strides: ``ufunc.plan(a, out=b)``.

    All decisions of the call are made when the plan is created. A launch needs only addresses.
    """

    __slots__ = ()

    @property
    def workspace(self):
        """(bytes, alignment) of the workspace that a launch needs on the plan's device."""
        return lowlevel.guf_plan_workspace(self)

    def explain(self):
        """A text that describes what the plan does and why."""
        return _gufunc.plan_explain(self)

    def launch(self, *operands, stream=None, workspace=0):
        """Runs the plan on operands with the layout for which the plan was created. The operands
        are the inputs, the outputs, and then the mask if the plan has one.

        Each operand is an Array, an ndarray, an address, or None for a scalar. The layout is not
        checked. With a stream, the caller must keep the operands alive until the work is complete.
        """
        if len(operands) > lowlevel.GUF_MAX_NDIM:
            raise make_refusal("too many operands")
        lowlevel.guf_plan_launch(self, stream, len(operands),
                                 tuple(address_of(operand) for operand in operands),
                                 address_of(workspace))


def address_of(operand):
    """The address of an operand; 0 for None."""
    if operand is None:
        return 0
    if isinstance(operand, int):
        return operand
    if isinstance(operand, _gufunc.ArrayBase):
        return operand.address
    try:
        return operand.ctypes.data
    except AttributeError:
        raise make_refusal(f"an operand of a launch cannot be a {type(operand).__name__}: "
                           "pass an array, an address or None") from None
