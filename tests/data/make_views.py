#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes views.txt: chains of random views of an int64 array, with NumPy 2's results.

A row is `shape|view|view...|result`. A view is written as its name and arguments, with `_` for an
omitted bound. The result is `shape strides offset`, with `_` for strides of extents 0 and 1, or `!`
and NumPy's exception and message.
"""
import argparse
import math
import pathlib
import random

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

ROWS = 6000
MAX_SIZE = 100_000


def numbers(values):
    return ",".join("_" if v is None else str(v) for v in values) or "-"


def random_bound(rng, extent):
    kind = rng.random()
    if kind < 0.25:
        return None
    if kind < 0.32:
        return rng.choice([2**63 - 1, -(2**63) + 1, 2**62, -(2**62)])
    return rng.randint(-extent - 2, extent + 2)


def random_step(rng):
    if rng.random() < 0.02:
        return 0
    return rng.choice([1, 1, 1, 1, -1, -1, 2, -2, 3, -3, 7, 2**62, -(2**62), 2**63 - 1])


def slice_view(rng, array):
    count = rng.randint(0, array.ndim + (1 if rng.random() < 0.1 else 0))
    parts = [slice(random_bound(rng, array.shape[i] if i < array.ndim else 3),
                   random_bound(rng, array.shape[i] if i < array.ndim else 3), random_step(rng))
             for i in range(count)]
    text = " ".join(f"{numbers([p.start])}:{numbers([p.stop])}:{p.step}" for p in parts)
    return f"slice {text}".strip(), lambda: array[tuple(parts)] if parts else array[...]


def random_shape(rng, size):
    """Returns a shape with `size` elements, or sometimes with another number of elements."""
    shape, left = [], max(size, 1)
    while left > 1:
        part = rng.choice([d for d in range(2, left + 1) if left % d == 0][:6] + [left])
        shape.append(part)
        left //= part
    if size == 0:
        shape.insert(rng.randint(0, len(shape)), 0)
    for _ in range(rng.choice([0, 0, 1, 2])):
        shape.insert(rng.randint(0, len(shape)), 1)
    if shape and rng.random() < 0.3:
        shape[rng.randrange(len(shape))] = -1
    if shape and rng.random() < 0.1:
        shape[rng.randrange(len(shape))] = rng.choice([-1, 0, 2, 5])
    return shape


def reshape_view(rng, array):
    shape, order = random_shape(rng, array.size), rng.choice("CCFA")
    return (f"reshape {order} {numbers(shape)}",
            lambda: np.reshape(array, shape, order=order, copy=False))


def ravel_view(rng, array):
    order = rng.choice("CFA")
    return f"ravel {order}", lambda: np.reshape(array, array.size, order=order, copy=False)


def random_axes(rng, ndim, count):
    axes = [rng.randrange(-ndim, ndim) if ndim else 0 for _ in range(count)]
    if axes and rng.random() < 0.05:
        axes[0] = rng.choice([ndim, -ndim - 1, 100])
    return axes


def transpose_view(rng, array):
    if rng.random() < 0.3:
        return "transpose", lambda: array.transpose()
    axes = list(range(array.ndim))
    rng.shuffle(axes)
    axes = [a - array.ndim if rng.random() < 0.3 else a for a in axes]
    if axes and rng.random() < 0.15:
        axes[0] = rng.choice([axes[-1], array.ndim, -array.ndim - 1])
    if rng.random() < 0.08:
        axes.append(0)
    return f"transpose {numbers(axes)}", lambda: array.transpose(tuple(axes))


def broadcast_view(rng, array):
    shape = [rng.choice([1, 2, 3, 0]) if e == 1 else e for e in array.shape]
    for _ in range(rng.choice([0, 0, 1, 2])):
        shape.insert(0, rng.choice([1, 2, 3]))
    if shape and rng.random() < 0.15:
        shape[rng.randrange(len(shape))] = rng.choice([1, 2, 4])
    if shape and rng.random() < 0.05:
        shape.pop(0)
    return f"broadcast {numbers(shape)}", lambda: np.broadcast_to(array, shape)


def squeeze_view(rng, array):
    ones = [i for i, e in enumerate(array.shape) if e == 1]
    if rng.random() < 0.4:
        return "squeeze", lambda: array.squeeze()
    axes = rng.sample(ones, rng.randint(0, len(ones)))
    axes = [a - array.ndim if rng.random() < 0.3 else a for a in axes]
    if array.ndim and rng.random() < 0.2:
        axes += random_axes(rng, array.ndim, 1)
    return f"squeeze {numbers(axes)}", lambda: array.squeeze(tuple(axes))


def expand_view(rng, array):
    count = rng.randint(0, 3)
    axes = random_axes(rng, array.ndim + count, count)
    return f"expand {numbers(axes)}", lambda: np.expand_dims(array, tuple(axes))


def window_view(rng, array):
    axes = random_axes(rng, array.ndim, rng.randint(1, 2)) if array.ndim else []
    extents = [array.shape[a] if -array.ndim <= a < array.ndim else 1 for a in axes]
    windows = [rng.randint(1, max(1, extent)) for extent in extents]
    if windows and rng.random() < 0.1:
        windows[0] += rng.choice([3, 100])
    return (f"window {numbers(axes)} {numbers(windows)}",
            lambda: sliding_window_view(array, tuple(windows), tuple(axes)))


VIEWS = [slice_view, slice_view, slice_view, reshape_view, reshape_view, ravel_view, transpose_view,
         broadcast_view, squeeze_view, expand_view, window_view]


def result_of(array, base):
    strides = [None if e <= 1 or array.size == 0 else s for e, s in zip(array.shape, array.strides)]
    offset = array.__array_interface__["data"][0] - base.__array_interface__["data"][0]
    return f"{numbers(array.shape)} {numbers(strides)} {offset if array.size else '_'}"


def row(rng):
    shape = [rng.choice([0, 1, 1, 2, 3, 4, 5, 7]) if rng.random() < 0.7 else rng.randint(1, 6)
             for _ in range(rng.choice([0, 1, 2, 2, 3, 3, 4, 5]))]
    base = array = np.arange(math.prod(shape)).reshape(shape)
    texts = [numbers(shape)]
    for _ in range(rng.choice([1, 1, 2, 3, 4])):
        text, make = rng.choice(VIEWS)(rng, array)
        texts.append(text)
        try:
            array = make()
        except (ValueError, IndexError) as error:
            return "|".join(texts + [f"!{type(error).__name__} {error}"])
        if array.size > MAX_SIZE or array.ndim > 12:
            break
    return "|".join(texts + [result_of(array, base)])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    beside = pathlib.Path(__file__).with_name("views.txt")
    parser.add_argument("-o", type=pathlib.Path, default=beside)
    out = parser.parse_args().o
    rng = random.Random(3)
    lines = sorted({row(rng) for _ in range(ROWS)})
    out.write_text("\n".join(["# Generated by make_views.py; do not edit."] + lines) + "\n")


if __name__ == "__main__":
    main()
