# SPDX-License-Identifier: Apache-2.0
"""Writes kernels/include/gufunc/kernel/math_coefficients.hpp: python3 coefficients.py OUTPUT

Every table is a weighted minimax fit that this program computes. The comment above a table states
the approximated function, the interval, and log2 of the largest relative error of the function
that uses the table."""

import sys

from mpmath import (mp, mpf, asin, atan, atanh, cbrt, cos, cosh, erf, erfc, exp, expm1, log, log1p,
                    loggamma, pi, psi, sin, sinh, sqrt)

from remez import minimax, to_f32, to_f64

mp.prec = 200
HALF_LN2 = log(2) / 2 * mpf("1.002")
F_LOW, F_HIGH = (sqrt(mpf("0.5")) - 1) * mpf("1.001"), (sqrt(mpf(2)) - 1) * mpf("1.001")
Z_LOG = (F_HIGH / (2 + F_HIGH)) ** 2
Z_QUARTER = (pi / 4 * mpf("1.002")) ** 2
Z_HALF = (pi / 2 * mpf("1.002")) ** 2
TINY = mpf(2) ** -60




# Tuples (name, type, terms, low, high, function of t, weight, text).
FITS = []
# Fits whose first coefficient is stored as a sum of two numbers.
SPLIT = {"kErf64", "kErfc64", "kLgammaOne64", "kLgammaTwo64"}


def fit(name, kind, terms, low, high, function, weight, text):
    FITS.append((name, kind, terms, low, high, function, weight, text))


def exp_tail(r):
    return (expm1(r) - r) / r ** 2 if abs(r) > TINY else mpf("0.5") + r / 6


for name, kind, terms in (("kExp64", "f64", 10), ("kExp32", "f32", 5)):
    fit(name, kind, terms, -HALF_LN2, HALF_LN2, exp_tail, lambda r: r ** 2 / exp(r),
        "(exp(r) - 1 - r) / r^2, |r| <= ln2/2")

fit("kExpMinus1", "f64", 11, -HALF_LN2, HALF_LN2, exp_tail,
    lambda r: r ** 2 / expm1(r) if r else r, "the same for expm1, relative to expm1")


def atanh_tail(z):
    s = sqrt(z)
    return (2 * atanh(s) / s - 2) / z if z > TINY else mpf(2) / 3


fit("kLog64", "f64", 7, 0, Z_LOG, atanh_tail, lambda z: z / 2, "(2 atanh(s)/s - 2) / z, z = s^2")


def log_tail(f):
    return (log1p(f) - f + f * f / 2) / f ** 3 if abs(f) > TINY else mpf(1) / 3


fit("kLog32", "f32", 9, F_LOW, F_HIGH, log_tail, lambda f: f ** 3 / log1p(f) if f else f,
    "(log(1 + f) - f + f^2/2) / f^3, sqrt(1/2) <= 1 + f <= sqrt(2)")
# A fit of 2 * log2(1 + f) / f, which pow of f32 uses.
fit("kLog2Mid", "f64", 9, mpf("-0.1517"), mpf("0.2023"),
    lambda f: 2 * (log1p(f) / f if abs(f) > TINY else 1) / log(2),
    lambda f: f / log1p(f) * log(2) / 2 if f else log(2) / 2,
    "2 log2(1 + f) / f, 0.8485 <= 1 + f <= 1.2022")
fit("kExp2Mid", "f64", 7, mpf("-1.002"), mpf("1.002"), lambda r: exp(r / 2 * log(2)),
    lambda r: exp(-r / 2 * log(2)), "2^(r/2), |r| <= 1")


def sin_tail(z):
    r = sqrt(z)
    return (sin(r) / r - 1) / z if z > TINY else mpf(-1) / 6


def cos_tail(z):
    r = sqrt(z)
    return (cos(r) - 1 + z / 2) / z ** 2 if z > TINY else mpf(1) / 24


fit("kSin64", "f64", 6, 0, Z_QUARTER, sin_tail, lambda z: z,
    "(sin(r)/r - 1) / z, z = r^2, |r| <= pi/4")
fit("kCos64", "f64", 6, 0, Z_QUARTER, cos_tail, lambda z: z * z,
    "(cos(r) - 1 + z/2) / z^2, |r| <= pi/4")
fit("kSinMid", "f64", 4, 0, Z_HALF, sin_tail, lambda z: z * sqrt(z) / sin(sqrt(z)) if z else z,
    "(sin(r)/r - 1) / z, |r| <= pi/2")


def pow_tail(z):
    s = sqrt(z)
    if z < TINY:
        return mpf(2) / 5
    return (2 * atanh(s) / s - 2 - 2 * z / 3) / z ** 2


fit("kPow64", "f64", 8, 0, Z_LOG, pow_tail, lambda z: z * z / 2,
    "(2 atanh(s)/s - 2 - 2z/3) / z^2, z = s^2")


def sinh_tail(z):
    r = sqrt(z)
    return (sinh(r) / r - 1) / z if z > TINY else mpf(1) / 6


def cosh_tail(z):
    return (cosh(sqrt(z)) - 1 - z / 2) / z ** 2 if z > TINY else mpf(1) / 24


fit("kSinh64", "f64", 5, 0, HALF_LN2 ** 2, sinh_tail, lambda z: z,
    "(sinh(r)/r - 1) / z, z = r^2, |r| <= ln2/2")
fit("kCosh64", "f64", 5, 0, HALF_LN2 ** 2, cosh_tail, lambda z: z * z,
    "(cosh(r) - 1 - z/2) / z^2, same range")


def atan_tail(z):
    t = sqrt(z)
    return (atan(t) / t - 1) / z if z > TINY else mpf(-1) / 3


def asin_tail(z):
    s = sqrt(z)
    return (asin(s) / s - 1) / z if z > TINY else mpf(1) / 6


fit("kAtan64", "f64", 12, 0, (sqrt(mpf(2)) - 1) ** 2 * mpf("1.001"), atan_tail, lambda z: z,
    "(atan(t)/t - 1) / z, z = t^2, |t| <= tan(pi/8)")


def atan_far_tail(z):
    if z < mpf(2) ** -30:
        return mpf(-1) / 11 + z / 13
    t = sqrt(z)
    return (atan(t) / t - 1 + z / 3 - z ** 2 / 5 + z ** 3 / 7 - z ** 4 / 9) / z ** 5


fit("kAtanTail64", "f64", 11, 0, (sqrt(mpf(2)) - 1) ** 2 * mpf("1.001"), atan_far_tail,
    lambda z: z ** 5, "(atan(t)/t - its series up to z^4) / z^5, same range")
fit("kAsin64", "f64", 13, 0, mpf("0.2501"), asin_tail, lambda z: z,
    "(asin(s)/s - 1) / z, z = s^2, |s| <= 1/2")
fit("kCbrt64", "f64", 7, F_LOW, F_HIGH, lambda f: cbrt(1 + f), lambda f: 1 / cbrt(1 + f),
    "cbrt(1 + f), sqrt(1/2) <= 1 + f <= sqrt(2)")


fit("kErf64", "f64", 12, 0, mpf("0.5"), lambda z: erf(sqrt(z)) / sqrt(z) if z else 2 / sqrt(pi),
    lambda z: sqrt(z) / erf(sqrt(z)) if z else sqrt(pi) / 2, "erf(x) / x, z = x^2 <= 1/2")

ERFC_CENTRE = mpf("3.75")


def erfc_grown(t):
    """(1 + 2x) exp(x^2) erfc(x) as a function of t = (x - c) / (x + c)."""
    x = ERFC_CENTRE * (1 + t) / (1 - t)
    return (1 + 2 * x) * exp(x * x) * erfc(x)


def on_erfc(x):
    return (mpf(x) - ERFC_CENTRE) / (mpf(x) + ERFC_CENTRE)


fit("kErfc64", "f64", 25, on_erfc("0.59"), on_erfc(28), erfc_grown, lambda t: 1 / erfc_grown(t),
    "(1 + 2x) exp(x^2) erfc(x), t = (x - 3.75) / (x + 3.75), 0.6 <= x <= 28")


def stirling(w):
    """x * (log(gamma(x)) - (x - 1/2) log(x) + x - log(2 pi)/2), w = 1/x^2."""
    if w < mpf(2) ** -30:
        return mpf(1) / 12 - w / 360
    x = 1 / sqrt(w)
    return x * (loggamma(x) - (x - mpf(1) / 2) * log(x) + x - log(2 * pi) / 2)


fit("kStirling64", "f64", 8, 0, mpf(1) / 144, stirling, lambda w: sqrt(w),
    "x (log gamma(x) - (x - 1/2) log x + x - log(2 pi)/2), w = 1/x^2, x >= 12")
for name, centre, terms in (("kLgammaOne64", 1, 20), ("kLgammaTwo64", 2, 15)):
    fit(name, "f64", terms, mpf("-0.2501"), mpf("0.2501"),
        lambda u, c=centre: loggamma(c + u) / u if abs(u) > TINY else psi(0, c) + u * psi(1, c) / 2,
        lambda u, c=centre: u / loggamma(c + u) if abs(u) > TINY else 1 / psi(0, c),
        f"log(gamma({centre} + u)) / u, |u| <= 1/4")


def literal(x, kind):
    return (x.hex() + "f") if kind == "f32" else x.hex()


def tables(fits):
    for name, kind, terms, low, high, function, weight, text in fits:
        coefficients, _ = minimax(function, weight, low, high, terms)
        rounding = to_f32 if kind == "f32" else to_f64
        rounded = [rounding(c) for c in coefficients]
        low_part = to_f64(coefficients[0] - mpf(rounded[0]))
        worst = mpf(0)
        for i in range(2000):
            t = low + (high - low) * (i + mpf(1) / 2) / 2000
            p = mpf(0)
            for c in reversed(rounded):
                p = p * t + mpf(c)
            p += mpf(low_part) if name in SPLIT else 0
            worst = max(worst, abs(weight(t) * (p - function(t))))
        note = float(log(worst, 2))
        print(f"{name} 2^{note:.1f}", file=sys.stderr)
        yield f"// {text}: 2^{note:.1f}"
        yield f"GUF_TABLE {kind} {name}[] = {{"
        for c in rounded:
            yield f"    {literal(c, kind)},"
        yield "};"
        if name in SPLIT:
            yield f"constexpr f64 {name}Low = {literal(low_part, 'f64')};  // belongs to [0]"


def chopped(x, parts):
    """Returns x as a sum of f64 numbers, each the nearest to the remainder of the previous ones.
    """
    out = []
    for _ in range(parts):
        out.append(to_f64(x))
        x -= mpf(out[-1])
    return out


def angle_table(name, text, numerator, modulus, at_least, first_shift, row_count, columns):
    """Writes a table whose row j is 2^(16 j + first_shift) numerator/pi modulo modulus, plus
    at_least."""
    height = 1 << (row_count - 1).bit_length()
    yield f"// {text}, as a sum of {columns}: column i at {height} i + j."
    rows = []
    with mp.workprec(1400):
        for j in range(row_count):
            window = mp.ldexp(numerator / pi, 16 * j + first_shift)
            window -= modulus * mp.floor(window / modulus)
            rows.append(chopped(window + at_least, columns))
    rows += [[0.0] * columns] * (height - row_count)
    yield f"GUF_TABLE f64 {name}[] = {{"
    numbers = [literal(row[column], "f64") for column in range(columns) for row in rows]
    for start in range(0, len(numbers), 3):
        yield "    " + ", ".join(numbers[start:start + 3]) + ","
    yield "};"


def main(path):
    lines = [
        "// SPDX-License-Identifier: Apache-2.0",
        "// Generated by tools/mathgen/coefficients.py: minimax polynomials, lowest power first.",
        "// The comment above a table gives the approximated function, the interval and the",
        "// largest relative error.",
        "// clang-format off",
        "#ifndef GUFUNC_KERNEL_MATH_COEFFICIENTS_HPP",
        "#define GUFUNC_KERNEL_MATH_COEFFICIENTS_HPP",
        "",
        '#include "types.hpp"',
        "",
        "namespace guf {",
        "namespace detail {",
        "",
        *tables(FITS),
        *angle_table("kTwoOverPi", "2^(16 j - 32) 2/pi modulo 4, plus 4", 2, 4, 4, -32, 63, 4),
        *angle_table("kOverPi", "2^(16 j) / pi modulo 2", 1, 2, 0, 0, 7, 2),
        "",
        "}  // namespace detail",
        "}  // namespace guf",
        "",
        "#endif  // GUFUNC_KERNEL_MATH_COEFFICIENTS_HPP",
    ]
    with open(path, "w", encoding="ascii") as out:
        out.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
