#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes datetimes.txt: NumPy 2's results for datetime64 and timedelta64.

parse|spelling|name, or "x" if NumPy rejects it
cast|from|to|levels: one digit for each of no, equiv, safe, same_kind, unsafe
promote|a|b|name, or "x" and NumPy's message
convert|from|to|values|results, or "x" and NumPy's message
print|dtype|values|text: str() of the array
element|dtype|value|text: str() of a 0-d array

Multiples of 0 and above 65535, which the library rejects, and divisors ("[D/24]") are omitted.
"""

import argparse
import pathlib
import random

import numpy as np

UNITS = ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as"]
LEVELS = ["no", "equiv", "safe", "same_kind", "unsafe"]
NUMBERS = ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64",
           "float16", "float32", "float64", "complex64", "complex128"]
SPELLINGS = ["M8", "m8", "M", "m", "datetime64", "timedelta64", "<M8", "=M8[s]", "M8[generic]",
             "M8[2generic]", "m8[7D]", "M8[1Y]", "M8[65535s]", "M8[05s]", "M8[s", "M8[]", "M8[foo]",
             "M8[S]", "M8s]", "M[s]", "m8[5]", "datetime", "datetime64[s]x", "M8[-1s]", "M8[B]",
             "M8[\u03bcs]", "timedelta64[25ns]", "M4", "M8[s]]", "M8[ ns]x", "datetime65"]
NAT = -2**63


def dtypes(draw, count):
    """Returns random datetime types, whose multiples have few or many divisors."""
    for _ in range(count):
        kind = draw.choice("Mm")
        if draw.random() < 0.06:
            yield np.dtype(kind + "8")
            continue
        multiple = draw.choice([1, 1, 1, 2, 3, 4, 7, 12, 24, 25, 60, 400, 1000, 65535,
                                draw.randrange(1, 65536)])
        yield np.dtype(f"{kind}8[{multiple}{draw.choice(UNITS)}]")


def values(draw):
    """Returns time steps: small, large, at the limits, and not-a-time."""
    edges = [0, 1, -1, NAT, 2**63 - 1, NAT + 1, 719468, -719468, 10957, 11016, -25567]
    some = [draw.randrange(-2**bits, 2**bits) for bits in (4, 8, 12, 16, 24, 33, 45, 58, 63)]
    return edges + some


def as_time(numbers, dtype):
    return np.array(numbers, "i8").view(dtype)


def parse_rows():
    names = SPELLINGS + [f"{kind}[{unit}]" for kind in ("M8", "timedelta64") for unit in UNITS]
    for text in names:
        try:
            yield f"parse|{text}|{np.dtype(text).name}"
        except TypeError:
            yield f"parse|{text}|x"


def cast_rows(draw, count):
    pairs = list(zip(dtypes(draw, count), dtypes(draw, count)))
    for number in NUMBERS:
        for time in ("M8", "m8", "M8[D]", "m8[3s]"):
            pairs += [(np.dtype(number), np.dtype(time)), (np.dtype(time), np.dtype(number))]
    for a, b in pairs:
        levels = "".join("01"[np.can_cast(a, b, level)] for level in LEVELS)
        yield f"cast|{a.name}|{b.name}|{levels}"
        try:
            both = np.promote_types(a, b)
            if np.datetime_data(both)[1] > 65535:
                continue
            yield f"promote|{a.name}|{b.name}|{both.name}"
        except (TypeError, OverflowError) as error:
            named = "metadata" in str(error)
            yield f"promote|{a.name}|{b.name}|x{error if named else ''}"


def convert_rows(draw, count):
    for a, b in zip(dtypes(draw, count), dtypes(draw, count)):
        b = np.dtype(b.str.replace(b.str[1], a.str[1], 1))
        numbers = values(draw)
        if a == np.dtype("M8"):
            continue  # NumPy rejects some because of their values
        # Beyond this range of years and months, the number of days overflows during NumPy's
        # conversion.
        if a.kind == "M" and np.datetime_data(a)[0] in "YM":
            numbers = [n for n in numbers if abs(n) < 2**38 or n == NAT]
        try:
            source = as_time(numbers, a)
            target = np.empty(source.shape, b)
            np.copyto(target, source, casting="unsafe")
            result = " ".join(map(str, target.view("i8")))
        except (OverflowError, ValueError) as error:
            result = f"x{error}"
        yield f"convert|{a.name}|{b.name}|{' '.join(map(str, numbers))}|{result}"


def print_rows(draw, count):
    for dtype in dtypes(draw, count):
        if dtype == np.dtype("M8"):
            dtype = np.dtype("m8")
        numbers = draw.sample([n for n in values(draw) if abs(n) < 2**40 or n == NAT],
                              draw.randrange(1, 6))
        try:
            text = str(as_time(numbers, dtype)).replace("\n", "\\n")
            yield f"print|{dtype.name}|{' '.join(map(str, numbers))}|{text}"
            text = str(as_time(numbers[:1], dtype)[0])
            yield f"element|{dtype.name}|{numbers[0]}|{text}"
        except (ValueError, OverflowError, RuntimeError):
            continue  # years that exceed NumPy's text buffer


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=64)
    parser.add_argument("--output", type=pathlib.Path,
                        default=pathlib.Path(__file__).parent / "datetimes.txt")
    arguments = parser.parse_args()
    draw = random.Random(arguments.seed)
    rows = [*parse_rows(), *cast_rows(draw, 900), *convert_rows(draw, 700), *print_rows(draw, 300)]
    header = f"# Made by make_datetimes.py with NumPy {np.__version__}, seed {arguments.seed}.\n"
    arguments.output.write_text(header + "\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
