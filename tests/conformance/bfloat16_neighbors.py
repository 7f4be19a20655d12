# SPDX-License-Identifier: Apache-2.0
"""The functions nextafter and spacing of bfloat16, which NumPy lacks. Operands and results are the
float32 numbers of the same value. A bfloat16 has the upper half of the bits of a float32."""

import numpy as np

STEP = 1 << 16  # the distance of two bfloat16 numbers, in float32 numbers
SMALLEST = np.float32(2.0**-133)


def moved(x, steps):
    """Returns the number whose bit pattern is `steps` above that of x."""
    return (x.view(np.int32) + (steps * STEP).astype(np.int32)).view(np.float32)


def nextafter(x, y):
    x, y = x * np.ones_like(y), y * np.ones_like(x)  # broadcast_arrays has a limit of 32 axes
    single = np.nextafter(x, y)
    steps = np.clip(single.view(np.int32) - x.view(np.int32), -1, 1)
    from_zero = np.where(y == 0, y, np.copysign(SMALLEST, y))
    found = np.where(x == 0, from_zero, moved(x, steps))
    return np.where(np.isnan(x) | np.isnan(y), np.float32(np.nan), found)


def spacing(x):
    size = np.abs(x)
    distance = moved(size, np.ones(size.shape, np.int32)) - size
    found = np.where(x < 0, -distance, distance)
    return np.where(np.isfinite(x), found, np.float32(np.nan))


FUNCTIONS = {'nextafter': nextafter, 'spacing': spacing}
