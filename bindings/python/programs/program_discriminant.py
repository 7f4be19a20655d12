# SPDX-License-Identifier: Apache-2.0
"""Calls a ufunc with three arrays, with an array and two numbers, and with a mask."""

import npy_folders
import numpy as np


def program(here):
    discriminant = here.module("discriminant").discriminant
    a, b, c, mask = (here.load(f"discriminant_{name}") for name in ("a", "b", "c", "mask"))
    here.save("discriminant_x", discriminant(a, b, c, device=here.device))
    here.save("discriminant_numbers", discriminant(a, 10.1, 1, device=here.device))
    masked = np.full_like(a, 7)
    discriminant(a, b, c, out=masked, where=mask, device=here.device)
    here.save("discriminant_masked", masked)


npy_folders.run(program)
