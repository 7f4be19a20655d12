# SPDX-License-Identifier: Apache-2.0
"""Writes kernels/include/gufunc/kernel/math_coefficients.hpp: python3 coefficients.py OUTPUT

Every table is a weighted minimax fit that this program computes. The comment above a table states
the approximated function, the interval, and log2 of the largest relative error of the function
that uses the table. The coefficients of an f32 table are rounded one after the other, lowest power
first, and after each rounding the others are fitted again, if that makes the error smaller."""

import sys

from mpmath import (mp, mpf, acosh, asin, asinh, atan, atanh, cbrt, cos, cosh, erf, erfc, exp,
                    expm1, log, log1p, loggamma, pi, psi, sin, sinh, sqrt, tan, tanh)

from remez import minimax, to_f32, to_f64

mp.prec = 200
HALF_LN2 = log(2) / 2 * mpf("1.002")
F_LOW, F_HIGH = (sqrt(mpf("0.5")) - 1) * mpf("1.001"), (sqrt(mpf(2)) - 1) * mpf("1.001")
Z_LOG = (F_HIGH / (2 + F_HIGH)) ** 2
Z_QUARTER = (pi / 4 * mpf("1.002")) ** 2
TINY = mpf(2) ** -60

# Tuples (name, type, terms, low, high, function of t, weight, text).
FITS = []
# Fits whose first coefficient is stored as a sum of two numbers.
SPLIT = {"kErf64", "kErfc64", "kLgammaOne64", "kLgammaTwo64", "kErfc32", "kLogTwo32",
         "kLogTen32"}


def fit(name, kind, terms, low, high, function, weight, text):
    FITS.append((name, kind, terms, low, high, function, weight, text))


def exp_tail(r):
    return (expm1(r) - r) / r ** 2 if abs(r) > TINY else mpf("0.5") + r / 6


for name, kind, terms in (("kExp64", "f64", 10), ("kExp32", "f32", 5)):
    fit(name, kind, terms, -HALF_LN2, HALF_LN2, exp_tail, lambda r: r ** 2 / exp(r),
        "(exp(r) - 1 - r) / r^2, |r| <= ln2/2")

fit("kExpMinus1", "f64", 11, -HALF_LN2, HALF_LN2, exp_tail,
    lambda r: r ** 2 / expm1(r) if r else r, "the same for expm1, relative to expm1")
fit("kExpMinus32", "f32", 6, -HALF_LN2, HALF_LN2, exp_tail,
    lambda r: r ** 2 / expm1(r) if r else r, "the same for expm1, relative to expm1")
fit("kExp2Minus32", "f32", 6, mpf("-0.5"), mpf("0.5"),
    lambda r: expm1(r * log(2)) / r if abs(r) > TINY else log(2), lambda r: r / exp(r * log(2)),
    "(2^r - 1) / r, |r| <= 1/2")


def atanh_tail(z):
    s = sqrt(z)
    return (2 * atanh(s) / s - 2) / z if z > TINY else mpf(2) / 3


fit("kLog64", "f64", 7, 0, Z_LOG, atanh_tail, lambda z: z / 2, "(2 atanh(s)/s - 2) / z, z = s^2")


def log_tail(f):
    return (log1p(f) - f + f * f / 2) / f ** 3 if abs(f) > TINY else mpf(1) / 3


fit("kLog32", "f32", 9, F_LOW, F_HIGH, log_tail, lambda f: f ** 3 / log1p(f) if f else f,
    "(log(1 + f) - f + f^2/2) / f^3, sqrt(1/2) <= 1 + f <= sqrt(2)")
for name, base in (("kLogTwo32", 2), ("kLogTen32", 10)):
    fit(name, "f32", 10, F_LOW, F_HIGH,
        lambda f, base=base: (log1p(f) - f) / f ** 2 / log(base) if abs(f) > TINY
        else mpf(-1) / 2 / log(base),
        lambda f, base=base: f ** 2 / log1p(f) * log(base) if f else f,
        f"(log{base}(1 + f) - f/log({base})) / f^2, same range")


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
fit("kSin32", "f32", 3, 0, Z_QUARTER, sin_tail, lambda z: z * sqrt(z) / sin(sqrt(z)) if z else z,
    "(sin(r)/r - 1) / z, |r| <= pi/4")
fit("kCos32", "f32", 3, 0, Z_QUARTER, cos_tail, lambda z: z * z / cos(sqrt(z)),
    "(cos(r) - 1 + z/2) / z^2, |r| <= pi/4")


def tan_tail(z):
    r = sqrt(z)
    return (tan(r) / r - 1) / z if z > TINY else mpf(1) / 3


fit("kTan32", "f32", 7, 0, Z_QUARTER, tan_tail, lambda z: z * sqrt(z) / tan(sqrt(z)) if z else z,
    "(tan(r)/r - 1) / z, |r| <= pi/4")


def pow_tail(z):
    s = sqrt(z)
    if z < TINY:
        return mpf(2) / 5
    return (2 * atanh(s) / s - 2 - 2 * z / 3) / z ** 2


fit("kPow64", "f64", 8, 0, Z_LOG, pow_tail, lambda z: z * z / 2,
    "(2 atanh(s)/s - 2 - 2z/3) / z^2, z = s^2")
fit("kPow32", "f32", 3, 0, Z_LOG, lambda z: pow_tail(z) / log(2), lambda z: z * z * log(2) / 2,
    "the same divided by ln2")


def sinh_tail(z):
    r = sqrt(z)
    return (sinh(r) / r - 1) / z if z > TINY else mpf(1) / 6


def cosh_tail(z):
    return (cosh(sqrt(z)) - 1 - z / 2) / z ** 2 if z > TINY else mpf(1) / 24


fit("kSinh64", "f64", 5, 0, HALF_LN2 ** 2, sinh_tail, lambda z: z,
    "(sinh(r)/r - 1) / z, z = r^2, |r| <= ln2/2")
fit("kCosh64", "f64", 5, 0, HALF_LN2 ** 2, cosh_tail, lambda z: z * z,
    "(cosh(r) - 1 - z/2) / z^2, same range")
fit("kSinh32", "f32", 3, 0, HALF_LN2 ** 2, sinh_tail, lambda z: z,
    "(sinh(r)/r - 1) / z, z = r^2, |r| <= ln2/2")
fit("kCosh32", "f32", 2, 0, HALF_LN2 ** 2, cosh_tail, lambda z: z * z,
    "(cosh(r) - 1 - z/2) / z^2, same range")


def odd_tail(function, limit):
    """Returns (function(x)/x - 1) / z as a function of z = x^2, and its weight. `limit` is the
    value at 0."""
    def tail(z):
        return (function(sqrt(z)) / sqrt(z) - 1) / z if z > TINY else limit

    def weight(z):
        return z * sqrt(z) / function(sqrt(z)) if z else z

    return tail, weight


for name, terms, function, limit, edge in (
        ("kTanh32", 5, tanh, mpf(-1) / 3, "0.6"), ("kAsin32", 5, asin, mpf(1) / 6, "0.5"),
        ("kAtan32", 9, atan, mpf(-1) / 3, "1"), ("kAsinh32", 5, asinh, mpf(-1) / 6, "0.5"),
        ("kAtanh32", 6, atanh, mpf(1) / 3, "0.5")):
    fit(name, "f32", terms, 0, mpf(edge) ** 2, *odd_tail(function, limit),
        f"({name[1:-2].lower()}(x)/x - 1) / z, z = x^2, |x| <= {edge}")


def acosh_tail(d):
    return (acosh(1 + d) / sqrt(2 * d) - 1) / d if d > TINY else mpf(-1) / 12


fit("kAcosh32", "f32", 5, 0, mpf("0.5"), acosh_tail,
    lambda d: d * sqrt(2 * d) / acosh(1 + d) if d else d,
    "(acosh(1 + d)/sqrt(2d) - 1) / d, d <= 1/2")


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

fit("kErf32", "f32", 7, 0, mpf("0.85"), lambda z: erf(sqrt(z)) / sqrt(z) - 1,
    lambda z: sqrt(z) / erf(sqrt(z)), "erf(x)/x - 1, z = x^2, |x| <= 0.92")
fit("kErfFar32", "f32", 7, mpf("0.9"), mpf(4), lambda x: -log(erfc(x)) / x,
    lambda x: x * erfc(x) / erf(x),
    "-log(erfc(x)) / x, 0.92 <= x <= 4; the error is that of erf")
fit("kErfc32", "f32", 11, on_erfc("0.59"), on_erfc("10.2"), erfc_grown, lambda t: 1 / erfc_grown(t),
    "(1 + 2x) exp(x^2) erfc(x), t = (x - 3.75) / (x + 3.75), 0.6 <= x <= 10.2")


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


def rounded_fit(function, weight, low, high, terms, split):
    """Returns the coefficients of a fit, each rounded to f32 before the next one is computed, and
    the rest of the first one if it is a sum of two numbers."""
    rounded, low_part = [], 0.0

    def rest(t):
        value = function(t) - mpf(low_part)
        for i, c in enumerate(rounded):
            value -= mpf(c) * t ** i
        return value / t ** len(rounded)

    while len(rounded) < terms:
        count = len(rounded)
        coefficients, _ = minimax(rest, lambda t: weight(t) * t ** count, low, high, terms - count)
        rounded.append(to_f32(coefficients[0]))
        if split and count == 0:
            low_part = to_f32(coefficients[0] - mpf(rounded[0]))
    return rounded, low_part


def largest_error(coefficients, low_part, function, weight, low, high):
    worst = mpf(0)
    for i in range(2000):
        t = low + (high - low) * (i + mpf(1) / 2) / 2000
        p = mpf(0)
        for c in reversed(coefficients):
            p = p * t + mpf(c)
        worst = max(worst, abs(weight(t) * (p + mpf(low_part) - function(t))))
    return worst


def tables(fits):
    for name, kind, terms, low, high, function, weight, text in fits:
        rounding = to_f32 if kind == "f32" else to_f64
        coefficients, _ = minimax(function, weight, low, high, terms)
        rounded = [rounding(c) for c in coefficients]
        low_part = rounding(coefficients[0] - mpf(rounded[0])) if name in SPLIT else 0.0
        worst = largest_error(rounded, low_part, function, weight, low, high)
        if kind == "f32":
            again, again_low = rounded_fit(function, weight, low, high, terms, name in SPLIT)
            other = largest_error(again, again_low, function, weight, low, high)
            if other < worst:
                rounded, low_part, worst = again, again_low, other
        note = float(log(worst, 2))
        print(f"{name} 2^{note:.1f}", file=sys.stderr)
        yield f"// {text}: 2^{note:.1f}"
        yield f"GUF_TABLE {kind} {name}[] = {{"
        for c in rounded:
            yield f"    {literal(c, kind)},"
        yield "};"
        if name in SPLIT:
            yield f"constexpr {kind} {name}Low = {literal(low_part, kind)};  // belongs to [0]"


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
        "// The comment above a table states the approximated function, the interval and the",
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
