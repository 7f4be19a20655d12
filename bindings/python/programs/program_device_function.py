# SPDX-License-Identifier: Apache-2.0
"""Broadcasts a column, a row and a number, and computes two reductions."""

import gufunc
import npy_folders


def program(here):
    power_over = here.module("device_function").power_over
    x, y = here.load("device_function_x"), here.load("device_function_y")
    out = power_over(x, y, 7, device=here.device)
    here.save("device_function_out", out)
    total = gufunc.add.reduce(out, axis=None, device=here.device)
    here.save("device_function_sum", total)
    most = gufunc.maximum.reduce(out, axis=1, keepdims=True, device=here.device)
    here.save("device_function_most", most)


npy_folders.run(program)
