#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares every loop of the standard functions that are ufuncs of NumPy with NumPy, at every ISA
level of this machine.

usage: compare_with_numpy.py libgufunc_backend_cpu.so [function...]

Integers, bools, comparisons, and + - * / sqrt of real numbers must have the same bits, except that
all NaNs are equal. Other functions must be within their error bound of NumPy's result in the next
wider type.
Exits with 1 if a result differs.
"""

import pathlib
import sys
import warnings

import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "conformance"))

import bfloat16_neighbors  # noqa: E402
import complex_truth  # noqa: E402
from cases import ROUNDED  # noqa: E402
from plugin_tables import GUF_OK, Plugin, storage  # noqa: E402

warnings.simplefilter("ignore")
np.seterr(all="ignore")

POWERS = {"power", "float_power"}
WIDER = {"f": "d", "d": "g", "F": "D", "D": "G", "e": "f", "E": "f"}
# Largest error of real and of complex results, in units of the last place of the type. For complex
# results, the unit is the unit in the last place of |z|.
REAL_ULP = 2.0
COMPLEX_ULP = 4.0


def bf16_to_f32(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32)


def f32_to_bf16(x):
    bits = x.astype(np.float32).view(np.uint32)
    rounded = ((bits + np.uint32(0x7FFF) + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    return np.where(np.isnan(x), np.uint16(0x7FC0), rounded)


def real_values(letter, rng, n):
    """Returns special values, and random values of every magnitude."""
    if letter == "?":
        return rng.integers(0, 2, n).astype("?")
    if letter in "Mm":
        steps = real_values("q", rng, n)  # the smallest integer is not-a-time
        return np.where(rng.random(n) < 0.05, np.iinfo("q").min, steps).view(letter + "8[s]")
    kind = np.dtype("e" if letter == "e" else "f" if letter == "E" else letter)
    if kind.kind in "iu":
        info = np.iinfo(kind)
        special = [0, 1, 2, 3, 5, 7, info.max, info.max - 1, info.min, info.min + 1, info.max // 2]
        if kind.kind == "i":
            special += [-1, -2, -3, -7]
        values = np.array(special, dtype=kind)
        small = rng.integers(-9 if kind.kind == "i" else 0, 10, n).astype(kind)
        large = rng.integers(info.min, info.max, n, dtype=kind, endpoint=True)
        choice = rng.integers(0, 3, n)
        return np.where(
            choice == 0, rng.choice(values, n), np.where(choice == 1, small, large)
        ).astype(kind)
    info = np.finfo(kind)
    special = np.array(
        [
            0.0,
            -0.0,
            1,
            -1,
            2,
            -2,
            3,
            -3,
            0.5,
            -0.5,
            np.inf,
            -np.inf,
            np.nan,
            info.max,
            info.min,
            info.tiny,
            -info.tiny,
            info.smallest_subnormal,
            -info.smallest_subnormal,
            info.eps,
            1 + info.eps,
            100,
            -100,
            1e4,
        ],
        dtype=kind,
    )
    near = (rng.standard_normal(n) * 10).astype(kind)
    wide = (
        rng.standard_normal(n) * 2.0 ** rng.integers(info.minexp + 2, info.maxexp - 2, n)
    ).astype(kind)
    choice = rng.integers(0, 3, n)
    values = np.where(
        choice == 0, rng.choice(special, n), np.where(choice == 1, near, wide)
    ).astype(kind)
    return f32_to_bf16(values) if letter == "E" else values


def values_of(letter, rng, n):
    if letter in "FD":
        part = "f" if letter == "F" else "d"
        out = np.empty(n, dtype=letter)
        out.real, out.imag = real_values(part, rng, n), real_values(part, rng, n)
        return out
    return real_values(letter, rng, n)


def for_numpy(letter, array):
    return bf16_to_f32(array) if letter == "E" else array


def outputs_of(letters):
    return letters.partition("->")[2]


def in_storage(output, array):
    return f32_to_bf16(array) if output == "E" else array.astype(storage(output))


def numpy_results(name, letters, inputs):
    """Returns NumPy's results in the types of the outputs. Functions that round use the next wider
    type."""
    outputs = outputs_of(letters)
    given = [for_numpy(letter, array) for letter, array in zip(letters, inputs)]
    if name in ROUNDED and outputs in WIDER:
        given = [array.astype(WIDER[outputs]) for array in given]
    function = complex_truth.function(name, *given)
    if outputs == "E":
        function = bfloat16_neighbors.FUNCTIONS.get(name, function)
    results = function(*given)
    results = results if isinstance(results, tuple) else (results,)
    return [in_storage(output, result) for output, result in zip(outputs, results, strict=True)]


def unspecified(name, letters, inputs):
    """Returns where NumPy's result is not a valid reference, because a complex product, power or
    exponential overflows internally, or because the angle of exp2 is not accurate."""
    if letters[-1] in "FD" and name == "exp2":
        angle = np.abs(inputs[0].imag)
        return (angle > complex_truth.EXP2_ANGLE) & np.isfinite(angle)
    if letters[-1] in "FD" and name == "expm1":  # NumPy's imaginary part is inf * 0
        return (inputs[0].imag == 0) & (inputs[0].real > 80)
    if letters[-1] not in "FD" or name not in {"multiply", "square", *POWERS}:
        return np.zeros(len(inputs[0]), bool)
    big = np.sqrt(np.finfo(letters[-1]).max) / 2
    beyond = [~((np.abs(a.real) < big) & (np.abs(a.imag) < big)) for a in inputs]
    if name in POWERS:
        x, y = (a.astype("G") for a in inputs)
        growth = np.abs(y * np.log(x))
        beyond.append(~(growth < 40) | (np.abs(inputs[0]) == 0))
    return np.logical_or.reduce(beyond)


def same_bits(letter, got, expected):
    if letter == "E":
        got, expected = bf16_to_f32(got), bf16_to_f32(expected)
    if letter in "Mm":
        return got.view("q") == expected.view("q")
    if got.dtype.kind in "fc":
        both_nan = np.isnan(got) & np.isnan(expected)
        if got.dtype.kind == "c":
            parts = [
                ((g == w) & (np.signbit(g) == np.signbit(w))) | (np.isnan(g) & np.isnan(w))
                for g, w in ((got.real, expected.real), (got.imag, expected.imag))
            ]
            return parts[0] & parts[1]
        return both_nan | ((got == expected) & (np.signbit(got) == np.signbit(expected)))
    return got == expected


def within(letter, got, expected, ulps):
    """Returns where two results differ by at most `ulps` units in the last place of their type.
    Infinities and NaN must be the same."""
    if letter == "E":
        got, expected, eps, tiny = bf16_to_f32(got), bf16_to_f32(expected), 2.0**-7, 2.0**-133
    else:
        info = np.finfo(got.dtype)
        eps, tiny = float(info.eps), float(info.smallest_subnormal)
    if letter in "FD":
        finite = np.isfinite(got) & np.isfinite(expected)
        size = np.abs(np.where(finite, expected, 0)).astype(np.longdouble)
        found = np.where(finite, got, 0).astype(np.clongdouble)
        delta = np.abs(found - np.where(finite, expected, 0))
        near = delta <= np.maximum(size * eps * ulps, tiny * ulps)
        return np.where(finite, near, same_value_complex(got, expected))
    finite = np.isfinite(got) & np.isfinite(expected)
    size = np.abs(np.where(finite, expected, 0)).astype(np.longdouble)
    found = np.where(finite, got, 0).astype(np.longdouble)
    delta = np.abs(found - np.where(finite, expected, 0))
    near = delta <= np.maximum(size * eps * ulps, tiny * ulps)
    return np.where(finite, near, (got == expected) | (np.isnan(got) & np.isnan(expected)))


def same_value_complex(got, expected):
    """Returns where two complex results agree, comparing only parts that are infinite or NaN in
    either result."""

    def alike(g, w):
        return (np.isnan(g) & np.isnan(w)) | (g == w) | (np.isfinite(g) & np.isfinite(w))

    return alike(got.real, expected.real) & alike(got.imag, expected.imag)


def good_results(name, letters, output, found, expected, ulps):
    """Returns where the results of one output are correct."""
    inexact = name in ROUNDED or any(letter in "FD" for letter in letters)
    if output in "eEfdFD" and inexact:
        return within(output, found, expected, ulps)
    if output in "eEfdFD" and name in {"maximum", "minimum", "fmax", "fmin"}:
        got, numpy = for_numpy(output, found), for_numpy(output, expected)
        # A zero of either sign is valid.
        return (got == numpy) | (np.isnan(got) & np.isnan(numpy))
    return same_bits(output, found, expected)


def check_elementwise(plugin, target, function, letters, loop, rng, n):
    name, nin, outputs = function.name.decode(), function.nin, outputs_of(letters)
    inputs = [values_of(letter, rng, n) for letter in letters[:nin]]
    if loop.kind == 2:  # loops of this kind are integer powers, which can fail; use exponents that
                        # do not fail
        inputs[1] = np.abs(inputs[1] % 16).astype(inputs[1].dtype)
    expected = numpy_results(name, letters, inputs)
    free = unspecified(name, letters, inputs)
    ulps = COMPLEX_ULP if outputs in "FD" else REAL_ULP
    if name in POWERS and outputs == "D":  # exp(w log z) magnifies the error of w log z
        ulps += np.abs(inputs[1].astype("G") * np.log(inputs[0].astype("G")))
        ulps = np.where(np.isfinite(ulps), ulps, 0)
    for step in (1, 2, -1):
        strided = [spread(array, step) for array in inputs]
        outs = [spread(np.zeros(n, storage(output)), step) for output in outputs]
        status = plugin.elementwise(target, loop, strided + outs)
        if status != GUF_OK:
            return f"status {status}"
        for output, found, numpy in zip(outputs, outs, expected):
            good = free | good_results(name, letters, output, found, numpy, ulps)
            if not good.all():
                i = int(np.argmin(good))
                count = int((~good).sum())
                given = ", ".join(show(letter, array, i) for letter, array in zip(letters, inputs))
                return (
                    f"step {step}: {count} of {n}, e.g. ({given}) gives {show(output, found, i)}, "
                    f"NumPy {show(output, numpy, i)}"
                )
    return None


def show(letter, array, i):
    return repr(for_numpy(letter, array)[i])


def spread(array, step):
    buffer = np.zeros(len(array) * abs(step), array.dtype)
    view = buffer[::step]
    view[:] = array
    return view


def check_product(plugin, target, function, letters, loop, rng):
    """Compares matrix products and vecdot on small integers, whose results are exact in every
    type."""
    name, output = function.name.decode(), letters[-1]

    def array(letter, shape):
        values = rng.integers(0, 2 if letter == "?" else 4, shape)
        if letter in "FD":
            return (values + 1j * rng.integers(0, 4, shape)).astype(letter)
        return f32_to_bf16(values.astype("f")) if letter == "E" else values.astype(letter)

    for n, k, m in [
        (1, 1, 1),
        (3, 4, 5),
        (4, 0, 4),
        (5, 3, 40),
        (9, 17, 67),
        (2, 300, 3),
        (8, 8, 128),
    ]:
        for order in "CF":
            shapes, dims = {
                "matmul": ([(n, k), (k, m), (n, m)], [1, n, k, m]),
                "matvec": ([(n, k), (k,), (n,)], [1, n, k]),
                "vecmat": ([(k,), (k, m), (m,)], [1, k, m]),
                "vecdot": ([(m, k), (m, k), (m,)], [m, k]),
            }[name]
            x, y = (np.asarray(array(letters[0], shape), order=order) for shape in shapes[:2])
            expected = getattr(np, name)(for_numpy(letters[0], x), for_numpy(letters[1], y))
            out = np.zeros(shapes[2], storage(output), order=order)
            if name == "vecdot":
                steps = [x.strides[0], y.strides[0], out.strides[0], x.strides[1], y.strides[1]]
            else:
                steps = [0, 0, 0, *x.strides, *y.strides, *out.strides]
            plugin.call(target, loop, dims, [x.ctypes.data, y.ctypes.data, out.ctypes.data], steps)
            expected = f32_to_bf16(expected) if output == "E" else expected.astype(storage(output))
            if not same_bits(output, out, expected).all():
                return f"{n}x{k}x{m} {order}"
    return None


def main():
    plugin = Plugin(sys.argv[1])
    chosen = set(sys.argv[2:])
    for target in plugin.skipped:
        print(f"skipped: {target} does not run on this machine")
    wrong = loops_run = 0
    for function, loops in plugin.functions():
        name = function.name.decode()
        if chosen and name not in chosen or not isinstance(getattr(np, name, None), np.ufunc):
            continue
        for letters, loop in loops.items():
            for target in plugin.images:
                rng = np.random.default_rng(len(letters) + sum(map(ord, name + letters)))
                loops_run += 1
                if function.signature:
                    bad = check_product(plugin, target, function, letters, loop, rng)
                else:
                    bad = check_elementwise(plugin, target, function, letters, loop, rng, 3000)
                if bad:
                    wrong += 1
                    print(f"{name} {letters} {target}: {bad}")
    print(f"{loops_run} loops at {', '.join(plugin.images)}: {wrong} differ")
    return 1 if wrong or not loops_run else 0


if __name__ == "__main__":
    sys.exit(main())
