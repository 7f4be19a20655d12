# SPDX-License-Identifier: Apache-2.0
"""Tests NumPy's structured scalars and arrays as arguments of ufuncs and raw kernels and as
elements of arrays, on the cpu and on simulated devices. The first argument is a module of raw
kernels."""

import ctypes
import pickle
import subprocess
import sys
import unittest

import gufunc
import numpy as np

MODULE = sys.argv.pop(1)
BODY = np.dtype([("x", np.float64), ("y", np.float64), ("count", np.int32)], align=True)
PAIR = np.dtype([("a", np.int32), ("b", np.float32)], align=True)


def bodies(count):
    made = np.zeros(count, BODY)
    made["x"], made["y"], made["count"] = np.arange(count), np.arange(count) / 4, np.arange(count)
    return made


def element(address, descr):
    return np.frombuffer((ctypes.c_char * descr.itemsize).from_address(address), descr)


def add_pairs(addresses, dims, steps):
    for i in range(dims[0]):
        one, two, total = (element(addresses[k] + i * steps[k], PAIR) for k in range(3))
        for name in PAIR.names:
            total[name] = one[name] + two[name]


class Ufuncs(unittest.TestCase):
    """Programs can define loops for structured dtypes, which run on the host."""

    @classmethod
    def setUpClass(cls):
        cls.add = gufunc.create("records_add", 2, 1)
        cls.add.add_loop((PAIR, PAIR, PAIR), add_pairs)

    def setUp(self):
        self.x = np.array([(1, 0.5), (2, 1.5), (3, 2.5)], PAIR)

    def test_scalars_are_operands(self):
        for _ in range(3):  # repeated, because the dtype of the result exists after the first call
            both = self.add(self.x[1], self.x[2])
            self.assertIs(type(both), np.void)
            self.assertEqual((both.dtype, both.item()), (PAIR, (5, 4.0)))
            self.assertEqual(self.add(self.x, self.x[0]).tolist(), [(2, 1.0), (3, 2.0), (4, 3.0)])
        found = self.add(self.x[0], gufunc.array(self.x))
        self.assertIsInstance(found, gufunc.Array)
        self.assertEqual(found.tolist(), [(2, 1.0), (3, 2.0), (4, 3.0)])
        out = np.zeros(3, PAIR)
        self.assertIs(self.add(self.x[0], self.x[1], out=out), out)
        self.assertEqual(out.tolist(), [(3, 2.0)] * 3)
        self.add(self.x, self.x[0], out=out, where=[True, False, True])
        self.assertEqual(out["a"].tolist(), [2, 3, 4])

    def test_methods_take_them(self):
        one = self.x[0]
        self.assertEqual(self.add.reduce(self.x, initial=one).item(), (7, 5.0))
        self.assertEqual(self.add.outer(one, self.x)["a"].tolist(), [2, 3, 4])
        self.add.at(self.x, [1, 1], one.copy())
        self.assertEqual(self.x["a"].tolist(), [1, 4, 3])
        self.assertEqual(self.add.resolve(one, one)["shapes"], [()])

    def test_a_stream_keeps_them(self):
        stream = gufunc.Stream("cpu")
        found = [self.add(np.array((i, i), PAIR)[()], self.x, stream=stream) for i in range(20)]
        stream.synchronize()
        for i, result in enumerate(found):
            self.assertEqual(result["a"].tolist(), [i + 1, i + 2, i + 3])

    def test_devices_run_no_loop_over_structured_dtypes(self):
        for device in gufunc.devices():
            if device.spec == "cpu":
                self.assertEqual(self.add(self.x, self.x[0], device=device)["a"].tolist(),
                                 [2, 3, 4])
                continue
            with self.assertRaisesRegex(gufunc.UnsupportedError, "host function"):
                self.add(self.x, self.x[0], device=device)

    def test_other_dtypes_are_refused(self):
        with self.assertRaises(TypeError):
            gufunc.add(self.x[0], 1)
        with self.assertRaises(TypeError):
            self.add(self.x, bodies(1)[0])
        with self.assertRaises(TypeError):
            self.add(self.x, 1)


class Kernels(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.module = gufunc.load(MODULE)

    def launchers(self):
        """Yields (function that launches on a device, function that copies an array to the
        device)."""
        kernel = self.module.kernel("move_bodies")
        yield kernel[1, 32], np.copy
        for device in gufunc.devices():
            if device.spec != "cpu":
                yield kernel.on(device)[1, 32], np.copy
                yield kernel[1, 32, device.stream()], np.copy
                yield kernel[1, 32], lambda array, device=device: gufunc.array(array, device=device)

    def test_scalars_and_arrays_of_structures(self):
        start, step = bodies(5), np.array((0.5, 0.25, 10), BODY)[()]
        for launch, put in self.launchers():
            moved, report = put(start), np.zeros(2, BODY)
            there = isinstance(moved, gufunc.Array)
            # A structured scalar of NumPy is a view, so the kernel writes to the array.
            launch(moved, 5, step, put(report[1:]) if there else report[1])
            found = moved.copy_to_host() if there else moved
            np.testing.assert_array_equal(found["x"], start["x"] + 0.5)
            np.testing.assert_array_equal(found["y"], start["y"] + 0.25)
            np.testing.assert_array_equal(found["count"], start["count"] + 10)
            if not there:
                self.assertEqual(report["count"].tolist(), [0, 5])
            self.assertEqual(step["count"], 10)

    def test_what_cannot_be(self):
        kernel = self.module.kernel("move_bodies")
        x, step = bodies(6), bodies(1)[0]
        with self.assertRaises(ValueError):  # the array is not contiguous
            kernel[1, 32](x[::2], 3, step, step)
        fixed = bodies(6)
        fixed.flags.writeable = False
        with self.assertRaises(ValueError):
            kernel[1, 32](fixed, 3, step, step)
        with self.assertRaises(ValueError):
            kernel[1, 32](x, 3, step, fixed[0])
        kernel[1, 32](x, 3, fixed[1], step)
        with self.assertRaises(ValueError):  # the argument is a structure and not a number
            kernel[1, 32](x, step, step, step)
        with self.assertRaises(TypeError):  # float64 is not accepted as bytes
            kernel[1, 32](np.zeros(6), 3, step, step)

    def test_0_d_and_other_arrays(self):
        kernel = self.module.kernel("fill_bytes")
        for device in gufunc.devices():
            launch = kernel.on(device)[1, 64]
            one = np.zeros((), BODY)
            launch(one, BODY.itemsize, 1)
            self.assertEqual(one["count"], 0x01010101)
            there = gufunc.zeros((2, 2), BODY, device=device)
            launch(there[1], BODY.itemsize, 2)
            self.assertEqual(there.copy_to_host()["count"].tolist(), [[0, 0], [0x02020202, 0]])


class Arrays(unittest.TestCase):
    """Tests arrays with structured elements on every device."""

    def each(self):
        for device in gufunc.devices():
            for start in (bodies(4), np.array([(i, -i) for i in range(4)], PAIR)):
                yield device, start

    def test_filled_and_assigned(self):
        for device, start in self.each():
            one = start[2]
            self.assertEqual(gufunc.full(3, one, device=device).tolist(), [one.item()] * 3)
            self.assertEqual(gufunc.full((2, 1), one, start.dtype, device=device).tolist(),
                             [[one.item()]] * 2)
            for shape, order in (((), "C"), (3, "C"), ((2, 3), "F")):
                zeros = gufunc.zeros(shape, start.dtype, device=device, order=order)
                for name in start.dtype.names:
                    self.assertFalse(zeros.numpy()[name].any())
            there = gufunc.array(start, device=device)
            there[1:3] = start[3]
            there[0] = there[1]
            self.assertEqual(there.tolist(), [start[3].item()] * 4)
            there.fill(one)
            stream = gufunc.Stream(device)
            device.synchronize()
            there[:1].fill(start[0], stream=stream)
            stream.synchronize()
            self.assertEqual(there.tolist(), [start[0].item()] + [one.item()] * 3)
            for wrong in (1, 1.5, np.float32(1), (1, 2)):
                with self.assertRaises(TypeError):
                    there.fill(wrong)

    def test_read(self):
        for device, start in self.each():
            there = gufunc.array(start, device=device)
            self.assertEqual(there[2].item(), start[2].item())
            self.assertEqual(there.item(3), start[3].item())
            self.assertEqual(there.getitem(1), start[1])
            self.assertIs(type(there.getitem(1)), np.void)
            self.assertEqual(there.reshape(2, 2).tolist(), start.reshape(2, 2).tolist())
            self.assertEqual(str(there), f"{start}\nshape (4,), {there.dtype}, {device}")
            again = pickle.loads(pickle.dumps(there))
            self.assertEqual((again.dtype, again.tolist()), (start.dtype, start.tolist()))

    def test_pickles_are_read_by_other_processes(self):
        start = bodies(2)
        own = gufunc.register_dtype("own_struct", 12, 4)
        data = pickle.dumps((gufunc.array(start), own))
        program = ("import pickle, sys; a, own = pickle.loads(bytes.fromhex(sys.argv[1]));"
                   "print(a.tolist(), own.name, own.itemsize, own.alignment)")
        done = subprocess.run([sys.executable, "-c", program, data.hex()], capture_output=True,
                              text=True, check=True)
        self.assertEqual(done.stdout, f"{start.tolist()} own_struct 12 4\n")

    def test_structured_dtypes_that_are_not_numpys(self):
        own = gufunc.register_dtype("bytes_struct", 3)
        x = gufunc.from_buffer(bytearray(b"abcdef"), own)
        self.assertEqual(x.tolist(), [b"abc", b"def"])
        self.assertEqual(x[1].item(), b"def")
        x[0] = x[1]
        self.assertEqual(x.numpy().tobytes(), b"defdef")


if __name__ == "__main__":
    unittest.main()
