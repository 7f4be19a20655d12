# SPDX-License-Identifier: Apache-2.0
"""Multiplies stacks of matrices with broadcasting, and with exchanged axes without a copy."""

import npy_folders


def program(here):
    matmulcore = here.module("matmulcore").matmulcore
    a, b = here.load("matmulcore_a"), here.load("matmulcore_b")
    here.save("matmulcore_c", matmulcore(a, b, device=here.device))
    product = matmulcore(b, a[0], axes=[(1, 0), (1, 0), (0, 1)], device=here.device)
    here.save("matmulcore_transposed", product)


npy_folders.run(program)
