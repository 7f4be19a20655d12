#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the inputs of the six programs: make_inputs.py FOLDER. See README.md in this folder."""

import pathlib
import sys

import numpy as np


def inputs():
    """Yields names and arrays. The elements are quotients of integers, which have the same bits on
    every machine."""
    f4, f8 = np.float32, np.float64
    yield 'discriminant_a', np.array([0, 0.25, 0.5, 0.75, 1], f4)
    yield 'discriminant_b', np.array([10, 10.1, 10.5, 10.7, 11], f4)
    yield 'discriminant_c', np.array([1, 0.9, 0.3, 0.6, 0.1], f4)
    yield 'discriminant_mask', np.array([True, False, True, True, False])
    yield 'device_function_x', np.array([[2], [1.5], [0.5], [3]], f8)
    yield 'device_function_y', np.array([3, 2.5, -2], f8)
    yield 'matmulcore_a', (np.arange(24).reshape(2, 3, 4) % 7).astype(f4) / f4(3)
    yield 'matmulcore_b', ((np.arange(20).reshape(4, 5) - 9) % 11).astype(f4) / f4(7)
    t = np.arange(100_000) / f8(100_000)
    yield 'chunked_stream_a', t
    yield 'chunked_stream_b', 10 + t
    yield 'chunked_stream_c', 1 - t
    rows = np.zeros((1000, 4), f4)
    rows[:, 0] = np.arange(1000, dtype=f4) / f4(400)
    yield 'cumulative_power_rows', rows
    yield 'cumulative_power_columns', np.array([[2, 3], [0, 0], [0, 0]], f8)
    rows = np.zeros((1000, 4), f4)
    rows[:, 0], rows[:, 1] = 1, (np.arange(1000, dtype=f4) - f4(500)) / f4(100)
    yield 'hermite_rows', rows
    long = np.zeros((2, 6), f8)
    long[:, 0], long[:, 1] = 1, [0.5, -1.5]
    yield 'hermite_long', long


def write(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for name, array in inputs():
        np.save(folder / f'{name}.npy', array)


if __name__ == '__main__':
    write(pathlib.Path(sys.argv[1]))
