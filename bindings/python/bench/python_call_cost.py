# SPDX-License-Identifier: Apache-2.0
"""Measures the cost of a call with one element, compared with the C call, NumPy and Numba in the
same run.

python_call_cost.py [--check] [REPEAT_CALL.so]

In each round, all calls are measured one after the other, and the minimum time of each call is
reported. The C call is measured only if the path of the helper, REPEAT_CALL.so, is given; its
source is bench/repeat_call.c. With --check, the exit status is 1 if a call exceeds its limit: a
call on arrays of the package with out= may take 350 ns more than the C call (without the helper,
350 ns in total), and a call on ndarrays may take 3 times as long as NumPy's call.
"""

import ctypes
import sys
import time

import gufunc
import numpy as np

ROUNDS, CALLS = 40, 5000
BAR_OUT, BAR_NUMPY = 350, 3


def c_call(path, ufunc, arrays):
    """Measures the time of the library alone, by a loop in C over calls with the same handles."""
    repeat = ctypes.CDLL(path).repeat_binary
    repeat.restype = ctypes.c_double
    repeat.argtypes = [ctypes.c_void_p] * 4 + [ctypes.c_int64]
    handles = [array.handle for array in arrays]
    return lambda: repeat(ufunc.handle, *handles, CALLS) * CALLS


def timed(function):
    def run():
        start = time.perf_counter_ns()
        for _ in range(CALLS):
            function()
        return time.perf_counter_ns() - start
    return run


def subjects():
    add, numpys = gufunc.add, np.add
    a, b, out = (gufunc.ones(1) for _ in range(3))
    x, y, z = (np.ones(1) for _ in range(3))
    rows = {
        "empty": timed(lambda: None),
        "gufunc arrays, out=": timed(lambda: add(a, b, out=out)),
        "gufunc arrays": timed(lambda: add(a, b)),
        "ndarrays, out=": timed(lambda: add(x, y, out=z)),
        "NumPy, out=": timed(lambda: numpys(x, y, out=z)),
        "ndarrays": timed(lambda: add(x, y)),
        "NumPy": timed(lambda: numpys(x, y)),
        "ndarray and number": timed(lambda: add(x, 1.0)),
        "NumPy, number": timed(lambda: numpys(x, 1.0)),
        "reduce": timed(lambda: add.reduce(x)),
        "NumPy reduce": timed(lambda: numpys.reduce(x)),
    }
    try:
        import numba
    except ImportError:
        print("no Numba here")
    else:
        theirs = numba.vectorize(["float64(float64, float64)"])(lambda p, q: p + q)
        rows["Numba, out="] = timed(lambda: theirs(x, y, out=z))
        rows["Numba"] = timed(lambda: theirs(x, y))
    return rows, (a, b, out)


def main():
    rows, arrays = subjects()
    helpers = [arg for arg in sys.argv[1:] if not arg.startswith("--")]
    if helpers:
        rows["C call"] = c_call(helpers[0], gufunc.add, arrays)
        if rows["C call"]() < 0:
            sys.exit("the C call failed")
    best = dict.fromkeys(rows, float("inf"))
    for _ in range(ROUNDS):
        for name, run in rows.items():
            best[name] = min(best[name], run() / CALLS)
    empty = best.pop("empty")
    cost = {name: ns - (0 if name == "C call" else empty) for name, ns in best.items()}
    for name, ns in cost.items():
        print(f"{name:24}{ns:8.0f} ns")
    over = cost["gufunc arrays, out="] - cost.get("C call", 0)
    print(f"over the C call, out=   {over:8.0f} ns, bar {BAR_OUT}")
    missed = over > BAR_OUT
    for ours, theirs in (("ndarrays, out=", "NumPy, out="), ("ndarrays", "NumPy"),
                         ("ndarray and number", "NumPy, number"), ("reduce", "NumPy reduce")):
        ratio = cost[ours] / cost[theirs]
        print(f"{ours:24}{ratio:8.2f} of NumPy's, bar {BAR_NUMPY}")
        missed |= ratio > BAR_NUMPY
    sys.exit(1 if missed and "--check" in sys.argv else 0)


if __name__ == "__main__":
    main()
