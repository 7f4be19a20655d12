#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes time_resolution.txt: what NumPy resolves, and how it refuses, where a datetime64 or
timedelta64 is among the inputs. A row is `ufunc|casting|inputs|types`, or `x` and the message in
place of the types. "int" and "float" are Python's."""

import argparse
import pathlib
import random

import numpy as np

BINARY = ("add subtract multiply divide floor_divide remainder power maximum minimum fmax fmin "
          "equal not_equal less less_equal greater greater_equal logical_and bitwise_or").split()
UNARY = "negative absolute sign isnat square sqrt invert logical_not reciprocal".split()
OTHERS = ["bool", "int8", "int32", "int64", "uint64", "float16", "float64", "complex64", "int",
          "float"]
UNITS = ["", "[Y]", "[M]", "[W]", "[D]", "[h]", "[s]", "[25s]", "[ms]", "[ns]", "[as]", "[7D]"]
CASTINGS = ["no", "safe", "same_kind", "same_kind", "same_kind", "unsafe"]
PYTHON = {"int": int, "float": float}


def random_pair(draw):
    time = draw.choice(["datetime64", "timedelta64"]) + draw.choice(UNITS)
    other = draw.choice(OTHERS)
    if draw.random() < 0.7:
        other = draw.choice(["datetime64", "timedelta64"]) + draw.choice(UNITS)
    return (time, other) if draw.random() < 0.5 else (other, time)


def spelled(dtype):
    return dtype.newbyteorder("=").name


def row(name, casting, inputs):
    types = [PYTHON.get(text) or np.dtype(text) for text in inputs]
    try:
        found = getattr(np, name).resolve_dtypes((*types, None), casting=casting)
        answer = ",".join(spelled(dtype) for dtype in found)
    except (TypeError, OverflowError) as error:
        answer = "x" + str(error).replace("\n", " ")
    return f"{name}|{casting}|{','.join(inputs)}|{answer}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=8)
    parser.add_argument("--output", type=pathlib.Path,
                        default=pathlib.Path(__file__).parent / "time_resolution.txt")
    arguments = parser.parse_args()
    draw = random.Random(arguments.seed)
    rows = {row(draw.choice(BINARY), draw.choice(CASTINGS), random_pair(draw)) for _ in range(1700)}
    for name in UNARY:
        for unit in UNITS:
            for kind in ("datetime64", "timedelta64"):
                rows.add(row(name, "same_kind", (kind + unit,)))
    rows |= {row("isnat", "same_kind", (other,)) for other in OTHERS if other not in PYTHON}
    header = f"# Made by this folder's script with NumPy {np.__version__}, seed {arguments.seed}.\n"
    arguments.output.write_text(header + "\n".join(sorted(rows)) + "\n")


if __name__ == "__main__":
    main()
