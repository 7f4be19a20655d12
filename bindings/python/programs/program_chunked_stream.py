# SPDX-License-Identifier: Apache-2.0
"""Processes arrays in chunks, first with one chunked call, then with a loop of calls on a
stream."""

import gufunc
import npy_folders
import numpy as np

PIECE = 30_000


def by_one_call(here, discriminant, inputs):
    out = np.empty_like(inputs[0])
    report = []
    discriminant.call_chunked(*inputs, out=out, device=here.device, chunk_bytes=65536,
                              progress=lambda done, items: report.append(done))
    here.save("chunked_stream_x", out)
    here.save("chunked_stream_progress", np.array([report[-1], len(report)], np.int64))


def by_hand(here, discriminant, inputs):
    out = np.empty_like(inputs[0])
    stream = gufunc.Stream(here.device)
    for first in range(0, len(out), PIECE):
        part = slice(first, first + PIECE)
        there = [gufunc.as_array(x[part]).to_device(here.device, stream=stream) for x in inputs]
        discriminant(*there, stream=stream).copy_to_host(out[part], stream=stream)
    stream.synchronize()
    here.save("chunked_stream_by_hand", out)


def program(here):
    discriminant = here.module("discriminant").discriminant
    inputs = [here.load(f"chunked_stream_{name}") for name in "abc"]
    by_one_call(here, discriminant, inputs)
    by_hand(here, discriminant, inputs)


npy_folders.run(program)
