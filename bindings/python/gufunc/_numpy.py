# SPDX-License-Identifier: Apache-2.0
"""NumPy, for the extension; imported when an array of NumPy's is met or wanted."""

import numpy as np

from . import _dtypes, lowlevel


def entries():
    """What the extension reads arrays with, and an array to try it on."""
    try:
        from numpy._core import _multiarray_umath
    except ImportError:  # NumPy 1
        from numpy.core import _multiarray_umath
    probe = np.zeros((2, 3), np.float32)
    return (np.ndarray, np.generic, _multiarray_umath._ARRAY_API, _dtypes.of_numpy, descr_of, probe)


def descr_of(code, swapped):
    """NumPy's dtype of a code."""
    found = _dtypes.numpy_record(code)
    if found is None:
        name = lowlevel.guf_dtype_name(code)
        if code == lowlevel.GUF_BF16:
            try:
                import ml_dtypes
            except ImportError:
                raise TypeError("NumPy has no bfloat16: astype('float32') first, or install "
                                "ml_dtypes") from None
            found = np.dtype(ml_dtypes.bfloat16)
        elif code & 0xFF == 0x82:
            info = lowlevel.guf_dtype_get_info(code)
            found = np.dtype((np.void, info.itemsize))
        else:
            found = np.dtype(name)
    return found.newbyteorder() if swapped else found
