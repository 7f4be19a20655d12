# SPDX-License-Identifier: Apache-2.0
"""Creates and drops a million objects. The memory of the process must not grow."""

import gufunc
import numpy as np

CYCLES = 1_000_000


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


def rounds(count):
    a, x, bad = gufunc.arange(8), np.arange(8.0), np.ones(3)
    memory, column, stream = bytearray(64), x[:2, None], gufunc.Stream("cpu")
    for i in range(count):
        kind = i % 10
        if kind < 2:
            gufunc.empty(8)
        elif kind < 4:
            a[2:5]
        elif kind == 4:
            gufunc.add(x, 1)  # NumPy owns the memory of the result
            gufunc.add(column, x)  # the library owns the memory of the result
        elif kind == 5:
            gufunc.add(a, a)
        elif kind == 6:
            gufunc.from_buffer(memory)
        elif kind == 7:
            gufunc.as_array(x).numpy()
        elif kind == 8:
            try:
                gufunc.add(x, bad)
            except ValueError:
                pass
        elif i % 50 == 9:
            gufunc.add(x, [1], stream=stream)
            stream.synchronize()
            gufunc.Stream("cpu").record()
            gufunc.add.plan(x, x, out=x)
        else:
            gufunc.find("add").reduce(a)
            gufunc.add.reduce(x, keepdims=True)


def main():
    rounds(CYCLES // 10)
    gufunc.poll()
    before = resident()
    rounds(CYCLES)
    gufunc.poll()
    grown = resident() - before
    print(f"{CYCLES} cycles: {grown} bytes more")
    assert grown < 2 << 20, grown


if __name__ == "__main__":
    main()
