#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes time_resolution.txt: NumPy's type resolution and error messages for calls with a
datetime64 or timedelta64 input. A row is `ufunc|casting|inputs|types`. If NumPy rejects the call,
`x` and the message replace the types. If the call has signature=, the row ends with another `|` and
the letters of signature=, in which `_` means None. "int" and "float" are Python's types."""

import argparse
import itertools
import os
import pathlib
import random

import numpy as np

BINARY = ("add subtract multiply divide floor_divide remainder divmod power maximum minimum fmax "
          "fmin equal not_equal less less_equal greater greater_equal logical_and "
          "bitwise_or").split()
UNARY = ("negative positive absolute sign isnat isnan isinf isfinite square sqrt invert "
         "logical_not reciprocal").split()
OTHERS = ["bool", "int8", "int32", "int64", "uint64", "float16", "float64", "complex64", "int",
          "float"]
UNITS = ["", "[Y]", "[M]", "[W]", "[D]", "[h]", "[s]", "[25s]", "[ms]", "[ns]", "[as]", "[7D]"]
CASTINGS = ["no", "safe", "same_kind", "same_kind", "same_kind", "unsafe"]
# int64 is not combined with datetime types, because NumPy's loops for this combination use NumPy's
# other 64-bit integer type.
NAMED, LETTERS = "add multiply divide maximum fmin equal less".split(), "____mmMMdf?iD"
PYTHON = {"int": int, "float": float}


def random_pair(draw):
    time = draw.choice(["datetime64", "timedelta64"]) + draw.choice(UNITS)
    other = draw.choice(OTHERS)
    if draw.random() < 0.7:
        other = draw.choice(["datetime64", "timedelta64"]) + draw.choice(UNITS)
    return (time, other) if draw.random() < 0.5 else (other, time)


def spelled(dtype):
    return dtype.newbyteorder("=").name


def row(name, casting, inputs, **options):
    types = [PYTHON.get(text) or np.dtype(text) for text in inputs]
    try:
        if options:  # NumPy's resolve_dtypes does not check that a loop exists for its result, but
                     # a call does
            getattr(np, name)(*(np.ones(1, "i8").astype(dtype) for dtype in types),
                              casting=casting, **options)
        operands = (*types, *[None] * getattr(np, name).nout)
        found = getattr(np, name).resolve_dtypes(operands, casting=casting, **options)
        answer = ",".join(spelled(dtype) for dtype in found)
    except (TypeError, OverflowError) as error:
        # Removes NumPy's advice about arrays of objects.
        answer = "x" + str(error).replace("\n", " ").split(" For example they cannot be stored")[0]
    return f"{name}|{casting}|{','.join(inputs)}|{answer}"


def row_apart(name, casting, inputs, letters):
    """Computes the row in a separate process, because the result of signature= depends on earlier
    calls."""
    theirs, ours = os.pipe()
    if os.fork() == 0:
        types = tuple(None if letter == "_" else np.dtype(letter) for letter in letters)
        os.write(ours, (row(name, casting, inputs, signature=types) + "|" + letters).encode())
        os._exit(0)
    os.close(ours)
    with open(theirs) as answer:
        text = answer.read()
    os.wait()
    return text


def named_rows(draw):
    for _ in range(500):
        letters = "".join(draw.choice(LETTERS) for _ in range(3))
        pair = random_pair(draw)
        if "int" not in pair and "float" not in pair and letters != "___":
            yield row_apart(draw.choice(NAMED), draw.choice(CASTINGS), pair, letters)
    for name, kind, other in itertools.product(UNARY[:4], ("M8[s]", "m8[D]"), "mMdD"):
        for letters in (other + "_", "_" + other):
            yield row_apart(name, "same_kind", (np.dtype(kind).name,), letters)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=8)
    parser.add_argument("--output", type=pathlib.Path,
                        default=pathlib.Path(__file__).parent / "time_resolution.txt")
    arguments = parser.parse_args()
    # The rows with signature= come first, because their results depend on earlier calls.
    named = set(named_rows(random.Random(arguments.seed + 1)))
    draw = random.Random(arguments.seed)
    rows = {row(draw.choice(BINARY), draw.choice(CASTINGS), random_pair(draw)) for _ in range(1700)}
    for name in UNARY:
        for unit in UNITS:
            for kind in ("datetime64", "timedelta64"):
                rows.add(row(name, "same_kind", (kind + unit,)))
    rows |= {row("isnat", "same_kind", (other,)) for other in OTHERS if other not in PYTHON}
    header = f"# Made by this folder's script with NumPy {np.__version__}, seed {arguments.seed}.\n"
    arguments.output.write_text(header + "\n".join(sorted(rows | named)) + "\n")


if __name__ == "__main__":
    main()
