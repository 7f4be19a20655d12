#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes prints.txt: arrays of all dtypes and their text as NumPy 2 prints them.

A row is `dtype|shape|bytes|text`. The array repeats the elements of `bytes` (hexadecimal,
little-endian); `\\n` is a newline.
A row `dtype|scalars|hash|count` covers `count` scalars, which are all values of a 16-bit type or
many values of a wider type. `hash` is the FNV-1a hash of the texts of the scalars, each followed by
a newline.
NumPy has no bfloat16. The texts of bfloat16 are computed from its values in float32, which are
exact.
"""

import argparse
import math
import pathlib
import random

import numpy as np

ROWS = 5500
DTYPES = [
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "float32",
    "float32",
    "float64",
    "float64",
    "float64",
    "complex64",
    "complex128",
]
SPECIAL = [
    0.0,
    -0.0,
    math.nan,
    math.inf,
    -math.inf,
    1.0,
    -1.0,
    0.1,
    1e-4,
    9.99e-5,
    1e8,
    99999999.0,
    1e16,
    1e15,
    999999.5,
    1e6,
    1000.0,
    1001.0,
    999.0,
    5e-324,
    1.7976931348623157e308,
    0.5,
    2.5,
    123456.789,
    1 / 3,
    1e100,
    -1e-100,
    65504.0,
    6e-8,
    100.0,
    128.0,
    0.3,
]
SHORTENED = [
    (1001,),
    (5000,),
    (40, 50),
    (2, 1000),
    (1000, 2),
    (7, 7, 30),
    (6, 6, 40),
    (3, 20, 20),
    (10, 10, 10, 10),
    (7, 1, 400),
    (1, 1, 1100),
]


def random_number(rng):
    kind = rng.randrange(7)
    if kind == 0:
        return rng.choice(SPECIAL)
    if kind == 1:
        return float(rng.randint(-20, 2000))
    if kind == 2:
        return rng.gauss(0, 1)
    if kind == 3:
        return rng.randint(-9999, 9999) / rng.choice([2, 4, 8, 10, 100, 1000])
    if kind == 4:
        return rng.uniform(-1, 1) * 10.0 ** rng.randint(-12, 12)
    if kind == 5:
        return rng.choice([1.5, -2.25, 3.0, 1e-3])
    return rng.uniform(0.001, 1)


def random_values(rng, dtype, count):
    """Returns values of one kind (for example only special values), because NumPy prints arrays
    that contain only special values differently from mixed arrays."""
    kind = np.dtype(dtype).kind
    if kind == "b":
        return np.array([rng.random() < 0.5 for _ in range(count)])
    if kind in "iu":
        limits = np.iinfo(dtype)
        span = rng.choice([1, 10, 200, 70000, limits.max])
        low, high = max(limits.min, -span), min(limits.max, span)
        return np.array([rng.randint(low, high) for _ in range(count)], dtype)
    pool = [random_number(rng) for _ in range(rng.choice([1, 2, 3, 30]))]
    if rng.random() < 0.5:
        pool = [v for v in pool if math.isfinite(v) and (v == 0 or 1e-3 < abs(v) < 900)] or [1.0]
    with np.errstate(over="ignore"):
        if kind == "c":
            parts = [(rng.choice(pool), rng.choice(pool)) for _ in range(count)]
            return np.array([complex(*pair) for pair in parts], dtype)
        return np.array([rng.choice(pool) for _ in range(count)], dtype)


def random_shape(rng):
    kind = rng.random()
    if kind < 0.12:
        return ()
    if kind < 0.5:
        return (rng.choice([0, 1, 2, 3, 5, 7, 8, 12, 20, 40, 999]),)
    if kind < 0.62:
        return rng.choice(SHORTENED)
    return tuple(
        rng.choice([0, 1, 2, 3, 4, 6]) if rng.random() < 0.1 else rng.randint(1, 6)
        for _ in range(rng.choice([2, 2, 2, 3, 3, 4, 5]))
    )


def row(rng):
    dtype, shape = rng.choice(DTYPES), random_shape(rng)
    size = math.prod(shape)
    pattern = random_values(rng, dtype, max(1, min(size, rng.choice([1, 2, 7, 60]))))
    array = np.resize(pattern, size).reshape(shape).astype(dtype)
    text = str(array).replace("\n", "\\n")
    return f"{dtype}|{','.join(map(str, shape))}|{pattern.astype(dtype).tobytes().hex()}|{text}"


def fnv(texts):
    value = 0xCBF29CE484222325
    for byte in "".join(text + "\n" for text in texts).encode():
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return f"{value:016x}"


def candidates(number, digits):
    """Returns the nearest decimal with `digits` digits, and the next one away from zero."""
    text = f"{number:.{digits - 1}e}"
    yield text
    unit = 10.0 ** (int(text.split("e")[1]) - digits + 1)
    yield f"{float(text) + math.copysign(unit, number):.{digits - 1}e}"


def bfloat16_texts():
    """Yields the texts of all bfloat16 values by NumPy's rules for other floating-point dtypes,
    with the fewest digits that identify the value, and in scientific notation below 1e-4 and from
    1e2 on."""
    values = (np.arange(65536, dtype=np.uint32) << 16).view(np.float32)
    for value in values:
        number = float(value)
        if not math.isfinite(number):
            yield str(number)
            continue
        text = next(
            t
            for n in range(1, 20)
            for t in candidates(number, n)
            if round_to_bfloat16(float(t)) == number
        )
        if number == 0 or 1e-4 <= abs(number) < 1e2:
            text = np.format_float_positional(float(text), trim="0")
        yield text


def round_to_bfloat16(value):
    if value == 0 or not math.isfinite(value):
        return value
    unit = max(math.frexp(value)[1] - 8, -133)
    return math.ldexp(round(math.ldexp(value, -unit)), unit)


def scalar_rows():
    half = np.arange(65536, dtype=np.uint16).view(np.float16)
    yield f"float16|scalars|{fnv(str(v) for v in half)}|65536"
    yield f"bfloat16|scalars|{fnv(bfloat16_texts())}|65536"
    # Multiples of an odd number cover exponents and fractions evenly.
    index = np.arange(200_000, dtype=np.uint64)
    single = (index * 0x9E3779B1 % 2**32).astype(np.uint32).view(np.float32)
    yield f"float32|scalars|{fnv(str(v) for v in single)}|200000"
    double = (index * np.uint64(0x9E3779B97F4A7C15)).view(np.float64)
    yield f"float64|scalars|{fnv(str(v) for v in double)}|200000"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    beside = pathlib.Path(__file__).with_name("prints.txt")
    parser.add_argument("-o", type=pathlib.Path, default=beside)
    out = parser.parse_args().o
    rng = random.Random(7)
    rows = {row(rng) for _ in range(ROWS)}
    kept = {line for line in rows if len(line) < 500 or rng.random() < 0.1}  # keeps the file small
    lines = list(scalar_rows()) + sorted(kept)
    out.write_text("\n".join(["# Generated by make_prints.py; do not edit."] + lines) + "\n")


if __name__ == "__main__":
    main()
