# SPDX-License-Identifier: Apache-2.0
"""Computes the Hermite recurrence on device arrays, on a stream."""

import gufunc
import npy_folders


def program(here):
    hermite = here.module("hermite").hermite
    stream = gufunc.Stream(here.device)
    rows = gufunc.array(here.load("hermite_rows"), device=here.device, stream=stream)
    longer = gufunc.array(here.load("hermite_long"), device=here.device, stream=stream)
    out = gufunc.empty(rows.shape, "float32", device=here.device)
    out.fill(9, stream=stream)
    hermite(rows, out=out, stream=stream)
    hermite(rows, stream=stream)
    hermite(longer, stream=stream)
    stream.synchronize()
    here.save("hermite_out", out)
    here.save("hermite_in_place", rows)
    here.save("hermite_long", longer)


npy_folders.run(program)
