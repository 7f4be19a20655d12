# SPDX-License-Identifier: Apache-2.0
"""An older name of `gufunc.roc`."""

from . import roc
from .roc import *  # noqa: F403

__all__ = roc.__all__


def __getattr__(name):
    return getattr(roc, name)
