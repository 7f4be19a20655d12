# SPDX-License-Identifier: Apache-2.0
"""Tests threads: each failing call reports its own message, any thread can release objects, and
large calls release the GIL."""

import queue
import sys
import threading
import time
import unittest

import gufunc
import numpy as np

THREADS, CALLS = 8, 100_000


def in_threads(function):
    failures = []

    def run(number):
        try:
            function(number)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


class Threads(unittest.TestCase):
    def test_messages_are_of_the_failing_call(self):
        interval = sys.getswitchinterval()
        sys.setswitchinterval(1e-5)
        wrong = [0] * THREADS

        def fail(number):
            a, b = np.ones(number + 2), np.ones(number + 20)
            start = f"operands could not be broadcast together with shapes ({number + 2},) "
            start += f"({number + 20},)"
            # Every second call releases the GIL.
            keywords = {} if number % 2 else {"device": "cpu"}
            for _ in range(CALLS // THREADS):
                try:
                    gufunc.add(a, b, **keywords)
                except gufunc.ShapeError as error:
                    wrong[number] += not str(error).startswith(start)
                else:
                    wrong[number] += 1

        try:
            in_threads(fail)
        finally:
            sys.setswitchinterval(interval)
        self.assertEqual(sum(wrong), 0)

    def test_arrays_are_released_by_other_threads(self):
        made = queue.Queue(100)
        flags = []

        class Memory(bytearray):
            def __del__(self):
                flags.append(1)

        def run(number):
            for _ in range(500):
                if number % 2:
                    made.put(gufunc.from_buffer(Memory(64))[8:])
                else:
                    array = made.get()
                    gufunc.add(array, 1)
                    del array

        in_threads(run)
        gufunc.poll()
        self.assertEqual(len(flags), 500 * THREADS // 2)

    def ticks_during(self, call):
        """Returns how often another thread ran during a call: never if the call holds the GIL."""
        stop, ticks = [], []

        def tick():
            while not stop:
                time.sleep(0.001)
                ticks.append(time.perf_counter())

        thread = threading.Thread(target=tick)
        thread.start()
        start = time.perf_counter()
        call()
        end = time.perf_counter()
        stop.append(1)
        thread.join()
        return sum(start < tick < end - 0.0005 for tick in ticks)

    def test_large_work_runs_without_the_gil(self):
        x = np.full(1 << 23, 1.5)
        self.assertGreater(self.ticks_during(lambda: gufunc.power(x, x, out=x, threads=1)), 5)

    def test_large_results_of_small_operands_run_without_the_gil(self):
        x, y = np.full((3000, 1), 1.5), np.full((1, 3000), 1.5)
        for call in (lambda: gufunc.power(x, y, threads=1),
                     lambda: gufunc.power(gufunc.array(x), y, threads=1),
                     lambda: gufunc.power.outer(x[:, 0], y[0], threads=1)):
            self.assertGreater(self.ticks_during(call), 5)


if __name__ == "__main__":
    unittest.main()
