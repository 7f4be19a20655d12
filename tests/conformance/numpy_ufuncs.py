# SPDX-License-Identifier: Apache-2.0
"""The functions of NumPy with which the library is compared."""

import numpy as np


def vecmat(x, y, *, order='K', out=None, **options):
    """Calls np.vecmat. NumPy 2.4 writes complex results to wrong places if the output has gaps
    along the core dimension, so the result of a call without gaps replaces them."""
    axes = options.get('axes')
    plain = {**options, 'axes': [*axes[:2], (-1,)]} if axes else options
    try:
        correct = np.vecmat(x, y, order='C', **plain)
    except Exception:  # noqa: BLE001 - the call below fails too
        return np.vecmat(x, y, order=order, out=out, **options)
    result = np.vecmat(x, y, order=order, out=out, **options)
    if axes:
        correct = np.moveaxis(correct, -1, axes[2][0])
    np.copyto(result, correct, casting='unsafe')
    return result


def numpy_function(name):
    """Returns the function of the given name. np.clip is not a ufunc, but a function that calls
    one."""
    if name == 'vecmat':
        return vecmat
    return np._core.umath.clip if name == 'clip' else getattr(np, name)
