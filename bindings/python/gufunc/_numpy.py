# SPDX-License-Identifier: Apache-2.0
"""Access of the extension to NumPy. This module is imported when the first NumPy array is passed or
returned."""

import numpy as np

from . import _dtypes, _foreign, lowlevel
from ._errors import make_error


def entries():
    """The classes and functions that the extension uses for NumPy arrays, and a test array."""
    try:
        from numpy._core import _multiarray_umath
    except ImportError:  # NumPy 1
        from numpy.core import _multiarray_umath
    probe = np.zeros((2, 3), np.float32)
    return (np.ndarray, np.generic, _multiarray_umath._ARRAY_API, _dtypes.of_numpy,
            _dtypes.descr_of, _foreign.is_input_class, _foreign.is_output_class, probe)


def of_sequence(value, dtype=None):
    """An ndarray of `value`. If NumPy rejects it, raises an error with NumPy's message."""
    try:
        return np.asarray(value, dtype)
    except ValueError as error:
        raise make_error(lowlevel.GUF_E_SHAPE, str(error)) from error
