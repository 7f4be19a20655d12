# SPDX-License-Identifier: Apache-2.0
"""Tests callbacks and the interpreter: which thread holds the GIL, on which threads loops run, how
deep they may recurse, and what happens to threads in callbacks when the program ends."""

import subprocess
import sys
import threading
import time
import unittest

import gufunc
import numpy as np

START = """
import ctypes, sys, threading, time
import gufunc, numpy as np
"""

# A function given by its address acquires the GIL and may run on the library's threads.
ADDRESS = START + """
KIND = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double, ctypes.c_double)
plus = gufunc.ufunc_from_pointer(KIND(lambda p, q: p + q), "dd->d", name="plus", scalar=True)
"""

BROADCAST = ADDRESS + """
for n in (100, 190, 300):
    x, y = np.ones((n, 1)), np.ones((1, n))
    for _ in range(3):
        assert plus(x, y).sum() == 2 * n * n
        assert plus(gufunc.array(x), y).shape == (n, n)
        assert plus.outer(x[:, 0], y[0]).sum() == 2 * n * n
        assert plus.accumulate(np.ones((n, n)), 1).max() == n
        assert plus.reduce(np.ones((n, n)), axis=0).max() == n
"""

# Four threads are in callbacks when the main thread ends.
ENDS = ADDRESS + """
def loop(args, dims, steps):
    pass

x = np.ones(int(sys.argv[2]))
made = gufunc.create("made", 1, 1)
made.add_loop("dd", loop)
sized = gufunc.create("sized", signature="(n)->(m)", core_dims=lambda s: [s[0], s[0]])
sized.add_loop("dd", loop)
busy = gufunc.create("busy", 1, 1)
busy.add_loop("dd", lambda args, dims, steps: [made(x) for _ in range(1000)])
out = np.ones(len(x))
works = {
    "loop": lambda: made(x), "core_dims": lambda: sized(x), "nested": lambda: busy(x),
    "address": lambda: plus(x, x),
    "progress": lambda: gufunc.negative.call_chunked(
        x, out=out, chunk_bytes=4096, progress=lambda done, items: None)}

def work():
    while True:
        works[sys.argv[1]]()

for _ in range(4):
    threading.Thread(target=work, daemon=True).start()
time.sleep(0.3)

class Last:
    def __del__(self):
        plus(np.ones(200000), 1.0)

last = Last()
"""

DEEP = START + """
def again(*args):
    u(x)

def sizes(s):
    v(x)
    return s

x = np.ones(5)
u = gufunc.create("u", 1, 1)
u.add_loop("dd", again)
v = gufunc.create("v", signature="(n)->(m)", core_dims=sizes)
v.add_loop("dd", again)

class Operand:
    def __array__(self, *args, **keywords):
        return gufunc.negative(Operand())

ended = []
def run():
    for function in (lambda: u(x), lambda: v(x), lambda: gufunc.negative(Operand())):
        try:
            function()
        except RecursionError:
            ended.append(1)
    assert gufunc.negative([1.0]).tolist() == [-1.0]

sys.setrecursionlimit(100000)
threading.stack_size(int(sys.argv[1]))
thread = threading.Thread(target=run)
thread.start()
thread.join()
assert len(ended) == 3, ended
"""


def run(program, *args):
    """Returns (exit code, last part of the program's output). A program that hangs raises a
    timeout."""
    ended = subprocess.run([sys.executable, "-c", program, *map(str, args)], timeout=60,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return ended.returncode, ended.stdout[-500:]


class Callbacks(unittest.TestCase):
    def test_addresses_that_take_the_gil_on_other_threads(self):
        self.assertEqual(run(BROADCAST), (0, ""))

    def test_callables_run_on_the_caller(self):
        threads = set()

        def loop(args, dims, steps):
            threads.add(threading.get_ident())
            time.sleep(0.002)  # long enough for other threads to run items, if they could

        made = gufunc.create("who", 2, 1)
        made.add_loop("ddd", loop, any_thread=True)
        for _ in range(5):
            made(np.ones((40, 1)), np.ones((1, 40000)))
            made(np.ones(300000), 1.0)
        self.assertEqual(threads, {threading.get_ident()})

    def test_threads_within_callbacks_when_the_program_ends(self):
        for work in ("loop", "core_dims", "progress", "nested", "address"):
            for size in (4, 300000):
                with self.subTest(work, size=size):
                    self.assertEqual(run(ENDS, work, size), (0, ""))

    def test_recursion_ends_before_the_stack(self):
        for stack in (1 << 20, 8 << 20):
            with self.subTest(stack=stack):
                self.assertEqual(run(DEEP, stack), (0, ""))


if __name__ == "__main__":
    unittest.main()
