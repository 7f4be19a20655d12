# SPDX-License-Identifier: Apache-2.0
"""Tests arrays in reference cycles with more memory than a device has. No array is freed
explicitly."""

import gc
import unittest

import gufunc
import numpy as np

COUNT = 131072  # elements of an array of 1 MiB
LIMIT = 64 << 20


class Holder:
    """An object in a reference cycle, which only the garbage collector frees."""

    def __init__(self, held):
        self.held, self.me = held, self


class Pressure(unittest.TestCase):
    def setUp(self):
        try:
            self.device = gufunc.Device("cuda:0")
        except gufunc.Error as error:
            self.skipTest(str(error))
        self.device.limit_memory(LIMIT)
        self.addCleanup(self.device.limit_memory, None)
        gc.collect()
        gc.disable()  # then only a failed allocation runs the collector
        self.addCleanup(gc.enable)

    def pressed(self, step):
        """Each step creates an array of 1 MiB. There is memory for 64 arrays."""
        for _ in range(100):
            Holder(step())
        self.assertLessEqual(self.device.memory.live_bytes, LIMIT)

    def test_arrays(self):
        host, x = np.ones(COUNT), gufunc.ones(COUNT, device=self.device)
        for name, step in {
                "empty": lambda: gufunc.empty(COUNT, device=self.device),
                "zeros": lambda: gufunc.zeros(COUNT, device=self.device),
                "array": lambda: gufunc.array(host, device=self.device),
                "to_device": lambda: gufunc.as_array(host).to_device(self.device),
                "copy": x.copy, "astype": lambda: x.astype("int64"),
                "cuda": lambda: gufunc.cuda.to_device(host)}.items():
            with self.subTest(name):
                self.pressed(step)
        np.testing.assert_array_equal(x.copy_to_host(), host)

    def test_calls(self):
        host, x = np.ones(COUNT), gufunc.ones(COUNT, device=self.device)
        out, result = gufunc.empty_like(x), np.empty(COUNT)
        for name, step in {
                "call": lambda: gufunc.add(x, 1), "operator": lambda: x * 2,
                "accumulate": lambda: gufunc.add.accumulate(x),
                "outer": lambda: gufunc.add.outer(x[:512], x[:256]),
                "reduce": lambda: gufunc.add.reduce(x.reshape(1, COUNT), axis=0)}.items():
            with self.subTest(name):
                self.pressed(step)
        # These calls allocate temporary memory in addition to the dropped arrays.
        for name, work in {
                "overlap": lambda: gufunc.add(out[:-1], 0, out=out[1:]),
                "host": lambda: gufunc.add(host, host, out=result, device=self.device),
                "chunked": lambda: gufunc.add.call_chunked(
                    host, host, out=result, chunk_bytes=1 << 20, device=self.device)}.items():
            with self.subTest(name):
                self.pressed(lambda: (x.copy(), work()))
        np.testing.assert_array_equal(x.copy_to_host(), host)
        np.testing.assert_array_equal(result, 2 * host)

    def test_what_lives_is_still_too_much(self):
        held, runs = [], []
        gc.callbacks.append(lambda phase, _: runs.append(phase))
        self.addCleanup(gc.callbacks.pop)
        with self.assertRaises(gufunc.NoMemoryError):
            while True:
                held.append(gufunc.empty(COUNT, device=self.device))
        self.assertGreaterEqual(len(held), 32)
        self.assertEqual(runs, ["start", "stop"])  # the failed allocation ran one collection
        with self.assertRaises(gufunc.ShapeError):
            gufunc.add(held[0], held[1][:-1])
        self.assertEqual(len(runs), 2)  # other failures run no collection
        with self.assertRaises(gufunc.NoMemoryError):
            gufunc.add.at(held[0], np.zeros(COUNT, int), 1)
        self.assertEqual(len(runs), 2)  # calls in place are not repeated, so they run no collection


if __name__ == "__main__":
    unittest.main()
