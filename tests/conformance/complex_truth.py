# SPDX-License-Identifier: Apache-2.0
"""NumPy's functions of complex numbers where its formulas lose digits even in a wider type."""

import numpy as np

# With an imaginary part up to this number, the angle of exp2 is accurate in the next wider type.
EXP2_ANGLE = 2.0**9


def log1p(z):
    """Returns NumPy's log1p, with a real part that does not lose the digits of a small number."""
    result, x, y = np.log1p(z), z.real, z.imag
    small = (np.abs(x) < 0.5) & (np.abs(y) < 0.5)
    return np.where(small, np.log1p(x * (2 + x) + y * y) / 2 + 1j * result.imag, result)


def function(name, *operands):
    """Returns the function to which the results of the library are compared."""
    complex_log1p = name == 'log1p' and operands[0].dtype.kind == 'c'
    return log1p if complex_log1p else getattr(np, name)
