# SPDX-License-Identifier: Apache-2.0
"""Tests that reads and writes of elements on the host wait for the work of streams that uses the
array.

Uses simulated devices if they were built.
"""

import pickle
import unittest

import gufunc
import numpy as np

RECIPE = 20  # number of consecutive calls; together they take longer than the read
# On the cpu the work needs some time. Simulated GPUs run it when the host waits for it.
VALUES = {"cpu": np.linspace(0.5, 0.75, 1 << 18), "gpu": np.linspace(0.5, 0.75, 1 << 10)}


class Pending(unittest.TestCase):
    def places(self):
        """Yields (stream, array on its device or in host memory that the device can access,
        values)."""
        for device in gufunc.devices():
            values = VALUES["cpu" if device.spec == "cpu" else "gpu"]
            yield gufunc.Stream(device), gufunc.array(values, device=device), values
            if device.spec != "cpu":
                reached = gufunc.empty_host(values.shape, device=device, memory="managed")
                reached.assign(values)
                yield gufunc.Stream(device), reached, values

    def begin(self, stream, x, dtype="float64"):
        """Returns an array of ones. Work on the stream replaces its values."""
        made = gufunc.ones_like(x, dtype)
        made.synchronize()
        for _ in range(RECIPE):
            gufunc.exp(x, out=made, stream=stream, casting="unsafe")
        return made

    def check(self, read, last=None, dtype="float64"):
        """Checks that `read` returns the new values of an array, or the `last` values, while work
        is pending."""
        for stream, x, values in self.places():
            with self.subTest(stream.device.spec, on_host=x.on_host):
                pending = self.begin(stream, x, dtype)
                found = read(pending)
                stream.synchronize()
                np.testing.assert_allclose(found, np.exp(values[slice(last, None)]), rtol=1e-6)

    def test_numpy(self):
        self.check(lambda a: a.numpy().copy())
        self.check(lambda a: np.array(a) if a.on_host else a.copy_to_host())

    def test_buffers(self):
        for stream, x, values in self.places():
            if x.on_host:
                with self.subTest(stream.device.spec):
                    pending = self.begin(stream, x)
                    found = np.frombuffer(bytes(memoryview(pending)))
                    stream.synchronize()
                    np.testing.assert_allclose(found, np.exp(values))

    def test_lists_and_items(self):
        self.check(lambda a: a.tolist())
        self.check(lambda a: [a[-1].item()], -1)
        self.check(lambda a: [a.item(a.size - 1)], -1)
        self.check(lambda a: [float(a[-1])], -1)
        self.check(lambda a: [float(f"{a[-1]:.9f}")], -1)
        self.check(lambda a: a[-3:].tolist(), -3, "complex128")

    def test_print(self):
        self.check(lambda a: [float(str(a[-1]).split()[0])], -1)
        self.check(lambda a: [float(repr(a[-2:]).split("]")[0].split()[-1])], -1)

    def test_pickles_and_exports(self):
        self.check(lambda a: pickle.loads(pickle.dumps(a)).numpy())
        for stream, x, values in self.places():
            if stream.device.spec == "cpu":
                pending = self.begin(stream, x)
                found = np.from_dlpack(pending).copy()
                stream.synchronize()
                np.testing.assert_allclose(found, np.exp(values))

    def test_writes_of_elements(self):
        for stream, x, values in self.places():
            with self.subTest(stream.device.spec, on_host=x.on_host):
                pending = self.begin(stream, x)
                pending[-1] = -1
                stream.synchronize()
                self.assertEqual(pending.tolist()[-1], -1)
                other, pending = gufunc.zeros_like(x), self.begin(stream, x)
                other.synchronize()
                other[:] = pending
                stream.synchronize()
                np.testing.assert_allclose(other.numpy(), np.exp(values))

    def test_synchronize(self):
        for stream, x, values in self.places():
            pending = self.begin(stream, x)
            self.assertIn(pending.synchronize(0), (True, False))
            self.assertIs(pending.synchronize(), True)
            self.assertIs(pending.synchronize(10), True)
            np.testing.assert_allclose(pending.numpy(), np.exp(values))


if __name__ == "__main__":
    unittest.main()
