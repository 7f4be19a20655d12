# SPDX-License-Identifier: Apache-2.0
"""Calls a generalized ufunc that writes its input."""

import npy_folders
import numpy as np


def program(here):
    cumulative_power = here.module("cumulative_power").cumulative_power
    rows, columns = here.load("cumulative_power_rows"), here.load("cumulative_power_columns")
    reversed_rows = np.zeros_like(rows)
    cumulative_power(rows, out=reversed_rows[:, ::-1], device=here.device)
    here.save("cumulative_power_reversed", reversed_rows)
    cumulative_power(rows, device=here.device)
    here.save("cumulative_power_rows", rows)
    cumulative_power(columns, axis=0, device=here.device)
    here.save("cumulative_power_columns", columns)


npy_folders.run(program)
