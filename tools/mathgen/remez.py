# SPDX-License-Identifier: Apache-2.0
"""Weighted minimax polynomials by the exchange algorithm of Remez, in mpmath arithmetic."""

from mpmath import mp, mpf, matrix, lu_solve, cos, pi


def _extrema(error, grid):
    """Returns the points where |error| is largest, one for each run of points whose errors have the
    same sign."""
    best = []
    for t in grid:
        e = error(t)
        if best and (e >= 0) == (best[-1][1] >= 0):
            if abs(e) > abs(best[-1][1]):
                best[-1] = (t, e)
        else:
            best.append((t, e))
    return best


def minimax(function, weight, low, high, terms, rounds=30):
    """Computes the coefficients c of sum c[i] t**i, i < terms, that minimize max |weight * (sum -
    function)|.

    Returns (coefficients, that maximum). `function` and `weight` map mpf to mpf."""
    low, high = mpf(low), mpf(high)
    count = 60 * (terms + 1)
    grid = [(low + high) / 2 - (high - low) / 2 * cos(pi * (i + mpf(1) / 2) / count)
            for i in range(count)]
    values = {t: (function(t), weight(t)) for t in grid}
    nodes = [grid[(2 * i + 1) * count // (2 * (terms + 1))] for i in range(terms + 1)]
    coefficients, worst = None, None
    for _ in range(rounds):
        a, b = matrix(terms + 1, terms + 1), matrix(terms + 1, 1)
        for row, t in enumerate(nodes):
            f, w = values[t]
            for i in range(terms):
                a[row, i] = w * t ** i
            a[row, terms] = (-1) ** row
            b[row] = w * f
        solved = lu_solve(a, b)
        coefficients = [solved[i] for i in range(terms)]

        def error(t):
            f, w = values[t]
            total = mpf(0)
            for c in reversed(coefficients):
                total = total * t + c
            return w * (total - f)

        peaks = _extrema(error, grid)
        worst = max(abs(e) for _, e in peaks)
        while len(peaks) > terms + 1:  # drop the first or the last peak, whichever is lower
            peaks.pop(0 if abs(peaks[0][1]) < abs(peaks[-1][1]) else -1)
        if len(peaks) < terms + 1 or worst <= abs(solved[terms]) * mpf("1.0005"):
            break
        nodes = [t for t, _ in peaks]
    return coefficients, worst


def to_f64(x):
    return float(x)


def to_f32(x):
    """The binary32 number nearest to x, as a Python float; x is an mpf in the normal range."""
    mantissa, exponent = mp.frexp(x)
    return float(mp.ldexp(mp.nint(mp.ldexp(mantissa, 24)), int(exponent) - 24))
