# SPDX-License-Identifier: Apache-2.0
"""Tests gufunc.cuda and gufunc.roc on simulated devices: the functions with Numba's names, and raw
kernels. The first argument is the folder of the examples' modules."""

import importlib
import pathlib
import sys
import threading
import unittest

import gufunc
import numpy as np

MODULES = pathlib.Path(sys.argv.pop(1))


class OnDevice:
    """Tests that run for the backend `name`."""

    name = None

    def setUp(self):
        self.gpu = importlib.import_module(f"gufunc.{self.name}")
        self.gpu.select_device(0)

    def device(self, index=0):
        return gufunc.Device(f"{self.name}:{index}")

    def test_devices(self):
        self.assertTrue(self.gpu.is_available())
        self.assertEqual(self.gpu.list_devices(), [self.device(0), self.device(1)])
        self.assertEqual(self.gpu.get_current_device(), self.device(0))
        with self.gpu.device(1) as second:
            self.assertEqual(second, self.device(1))
            self.assertEqual(self.gpu.device_array(3).device, self.device(1))
            self.assertEqual(self.gpu.stream().device, self.device(1))
        self.assertEqual(self.gpu.device_array(3).device, self.device(0))
        seen = []
        self.gpu.select_device(1)
        thread = threading.Thread(target=lambda: seen.append(self.gpu.get_current_device()))
        thread.start()
        thread.join()
        self.assertEqual(seen, [self.device(0)])  # the selected device is per thread
        self.gpu.select_device(0)
        free, total = self.gpu.get_memory_info()
        self.assertTrue(0 < free <= total)
        with self.assertRaises(ValueError):
            self.gpu.select_device(gufunc.Device("cpu"))
        with self.assertRaises(gufunc.UnavailableError):
            self.gpu.select_device(99)

    def test_to_device_and_back(self):
        x = np.arange(12, dtype=np.float32).reshape(3, 4)
        for source in (x, np.asfortranarray(x), x[::2, 1:], np.float64(3), x[:0], [1, 2, 3],
                       x.astype(np.complex64), np.arange(3).astype("M8[s]")):
            there = self.gpu.to_device(source)
            self.assertEqual(there.device, self.device())
            back = there.copy_to_host()
            self.assertIsInstance(back, np.ndarray)
            np.testing.assert_array_equal(back, np.asarray(source))
            self.assertIs(self.gpu.to_device(there), there)
        self.assertTrue(self.gpu.to_device(np.asfortranarray(x)).is_f_contiguous())
        self.assertFalse(self.gpu.to_device(x).is_f_contiguous())
        there = self.gpu.to_device(x, copy=False)
        self.gpu.to_device(x + 1, to=there)
        for target in (np.zeros_like(x), np.zeros((3, 8), np.float32)[:, ::2],
                       np.zeros_like(x, order="F")):
            self.assertIs(there.copy_to_host(target), target)
            np.testing.assert_array_equal(target, x + 1)
        with self.assertRaises(gufunc.ShapeError):
            there.copy_to_host(np.zeros((4, 3), np.float32))
        fixed = np.zeros_like(x)
        fixed.flags.writeable = False
        with self.assertRaises(gufunc.ShapeError):
            there.copy_to_host(fixed)
        there.copy_to_device(x * 2)
        other = self.gpu.device_array_like(there)
        other.copy_to_device(there)
        np.testing.assert_array_equal(other.copy_to_host(), x * 2)

    def test_shapes_and_orders(self):
        made = self.gpu.device_array((2, 3), np.int16, order="F")
        self.assertEqual((made.shape, made.strides, made.dtype), ((2, 3), (2, 4), np.int16))
        gaps = self.gpu.device_array((2, 3), "f4", strides=(64, 4))
        self.assertEqual(gaps.strides, (64, 4))
        like = self.gpu.device_array_like(np.zeros((2, 3), "f8", order="F"))
        self.assertTrue(like.is_f_contiguous() and not like.is_c_contiguous())
        there = self.gpu.to_device(np.arange(6.0))
        self.assertEqual(there.reshape(2, 3).copy_to_host().tolist(), [[0, 1, 2], [3, 4, 5]])
        self.assertEqual(there.reshape((2, 3), order="F").copy_to_host().tolist(),
                         [[0, 2, 4], [1, 3, 5]])
        self.assertEqual(made.ravel(order="F").shape, (6,))
        self.assertEqual([part.copy_to_host().tolist() for part in there.split(4)],
                         [[0, 1, 2, 3], [4, 5]])
        self.assertEqual(there.getitem(3), 3.0)
        there.setitem(slice(1, 3), [7, 8])
        there[0] = 9
        self.assertEqual(there.copy_to_host().tolist(), [9, 7, 8, 3, 4, 5])
        self.assertEqual(there.view("i8").getitem(5), np.float64(5).view("i8"))
        self.assertEqual(there.alloc_size, 48)

    def test_structured_scalars(self):
        descr = np.dtype([("a", np.int32), ("b", np.float64, (2,))], align=True)
        record = np.array((3, (1.5, 2.5)), descr)
        there = self.gpu.to_device(record[()])
        self.assertEqual((there.shape, there.itemsize), ((), descr.itemsize))
        back = there.copy_to_host()
        self.assertEqual((back.dtype, back["a"], back["b"].tolist()), (descr, 3, [1.5, 2.5]))
        several = self.gpu.device_array(4, descr)
        several.copy_to_device(np.repeat(record, 4))
        self.assertEqual(several[2:].copy_to_host()["a"].tolist(), [3, 3])

    def test_streams(self):
        x = np.arange(1000.0)
        stream = self.gpu.stream()
        with stream.auto_synchronize():
            there = self.gpu.to_device(x, stream=stream)
            squares = gufunc.square(there, stream=stream)
            sums = self.gpu.device_array_like(there, stream=stream)
            gufunc.add(squares, there, out=sums, stream=stream)
            result = np.empty_like(x)
            sums.copy_to_host(result, stream=stream)
        np.testing.assert_array_equal(result, x * x + x)
        result = sums.copy_to_host(stream=stream)
        self.gpu.synchronize()
        np.testing.assert_array_equal(result, x * x + x)
        pinned = self.gpu.pinned_array(1000)
        for value in range(10):
            gufunc.add(there, value, out=sums, stream=stream)
            sums.copy_to_host(pinned, stream=stream)
            self.gpu.synchronize()
            np.testing.assert_array_equal(pinned.numpy(), x + value)
        gufunc.add(squares, there, out=sums, stream=stream)
        begin, end = self.gpu.event(), self.gpu.event()
        begin.record(stream)
        gufunc.add(sums, 1, out=sums, stream=stream)
        end.record(stream)
        end.synchronize()
        self.assertGreaterEqual(self.gpu.event_elapsed_time(begin, end), 0)
        again = self.gpu.external_stream(stream.native)
        gufunc.add(sums, 1, out=sums, stream=again)
        again.synchronize()
        self.assertEqual(sums.getitem(0), 2.0)
        self.assertTrue(self.gpu.default_stream().query())
        with self.assertRaises(ZeroDivisionError), stream.auto_synchronize():
            raise ZeroDivisionError

    def test_failures_of_streams(self):
        stream = self.gpu.stream()
        base, minus = (self.gpu.to_device(np.array([v] * 3)) for v in (2, -1))
        with self.assertRaises(gufunc.Error) as caught, stream.auto_synchronize():
            gufunc.power(base, minus, stream=stream)
        self.assertIn("negative integer powers", str(caught.exception))
        stream.synchronize()

    def test_host_memory(self):
        there = self.gpu.to_device(np.full(4, 10.0))
        stream = self.gpu.stream()
        for make in (self.gpu.pinned_array, self.gpu.mapped_array, self.gpu.managed_array):
            host = make(4)
            self.assertTrue(host.on_host)
            host[:] = [1, 2, 3, 4]
            self.assertEqual(host.numpy().sum(), 10)
            if make is not self.gpu.pinned_array:  # the device uses the array in place
                gufunc.add(host, there, out=host, stream=stream)
                stream.synchronize()
                self.assertEqual(host.tolist(), [11, 12, 13, 14])
        self.assertEqual(self.gpu.pinned_array_like(np.zeros((2, 3), "f4")).dtype, "f4")
        self.assertEqual(self.gpu.mapped_array((2, 3), order="F").strides, (8, 16))
        one, two = np.arange(4096.0), np.arange(4096, dtype=np.int32)[::-1]
        registered = self.gpu.register(one, two)
        with self.assertRaises(gufunc.ArgumentError):  # `one` is registered already, so no array is
            self.gpu.register(np.zeros(4096), one)
        self.gpu.deregister(one, two)
        with self.gpu.register(one):
            back = self.gpu.to_device(one, stream=stream).copy_to_host(stream=stream)
            stream.synchronize()
        np.testing.assert_array_equal(back, one)
        with self.gpu.register(one, two), self.assertRaises(gufunc.ArgumentError):
            self.gpu.register(two)
        with self.assertRaises(gufunc.ArgumentError):
            registered.deregister()
        with self.gpu.mapped(one) as view:
            self.assertEqual(view.device, self.device())
            gufunc.add(view, 1, out=view)
        self.assertEqual(one[:3].tolist(), [1, 2, 3])

    def test_kernels(self):
        module = gufunc.load(MODULES / "raw_matmul.so")
        a = np.arange(20 * 30, dtype=np.float32).reshape(20, 30) % 7
        b = np.arange(30 * 40, dtype=np.float32).reshape(30, 40) % 5
        grid, block = ((40 + 15) // 16, (20 + 15) // 16), (16, 16)
        kernel = module.kernel("matmul_tiled_f")
        # The arguments are device arrays, and the launch is on a stream.
        stream = self.gpu.stream()
        there = [self.gpu.to_device(array) for array in (a, b, np.zeros((20, 40), np.float32))]
        kernel[grid, block, stream](*there)
        stream.synchronize()
        np.testing.assert_array_equal(there[2].copy_to_host(), a @ b)
        # Host arrays are copied to the device, and back to the host if the kernel writes to them.
        for launch in (kernel[grid, block, self.gpu.stream()],
                       kernel.on(self.device(1))[grid, block],
                       self.gpu.kernel(module, "matmul_tiled_f")[grid, block, None, 0]):
            c = np.full((20, 80), -1, np.float32)
            fixed = a.copy()
            fixed.flags.writeable = False
            launch(fixed, gufunc.array(b), c[:, ::2])
            np.testing.assert_array_equal(c[:, ::2], a @ b)
            self.assertTrue((c[:, 1::2] == -1).all())
        pinned = self.gpu.pinned_array((20, 40), np.float32)  # copies to pinned memory are queued
        kernel[grid, block, stream](there[0], there[1], pinned)
        np.testing.assert_array_equal(pinned.numpy(), a @ b)
        c = np.zeros((20, 40), np.float32)
        kernel[grid, block](there[0], b, c)  # runs on the device of the device array
        np.testing.assert_array_equal(c, a @ b)
        kernel[grid, block](a, b, c)  # runs on the cpu
        with self.assertRaises(gufunc.ArgumentError):
            kernel[grid, (1025, 1, 1), stream](*there)
        with self.assertRaises(gufunc.ArgumentError):
            kernel[grid, block, stream](*there[:2])
        with self.assertRaises(ValueError):
            kernel.on(self.device(1))[grid, block](*there)
        with self.assertRaises(ValueError):
            kernel.on(self.device(1))[grid, block, stream](a, b, c)
        with self.assertRaises(gufunc.DTypeError):
            kernel[grid, block, stream](a.astype("f8"), b, c)
        for bad in ((grid,), (grid, block, stream, 0, 1)):
            with self.assertRaises(ValueError):
                kernel[bad]

    def test_sizes_of_launches(self):
        """Sizes have 32 bits in the C interface. Larger values must be rejected and not
        truncated."""
        kernel = gufunc.load(MODULES / "raw_counting.so").kernel("histogram")
        values = np.linspace(0, 0.99, 100, dtype=np.float32)
        far = 2**32
        for place in ("cpu", self.device()):
            for bad, name in (((far, 32), "grid.x"), ((far + 1, 32), "grid.x"),
                              ((-1, 32), "grid.x"), (((1, far + 1), 32), "grid.y"),
                              ((1, far + 32), "block.x"), ((1, 32, None, 64 - far), "shared"),
                              ((1, 32, None, 1.5), "shared"),
                              ((1.9, 32), "grid.x"), (("12", 32), "grid.x"), (((), 32), "grid"),
                              ((1, (1, 1, 1, 1)), "block"), ((1, (1, 2.0)), "block.y"),
                              ((None, 32), "grid.x")):
                with self.subTest(place, bad=bad):
                    with self.assertRaisesRegex(gufunc.CallError, rf"^{name}: expected "):
                        kernel.on(place)[bad](values, np.zeros(4, np.uint64))
        counts = np.zeros(4, np.uint64)
        kernel[np.int64(1), [32], None, 64](values, counts)
        self.assertEqual(counts.sum(), 100)
        for bad in ({"grid": far}, {"block": (1, far)}, {"shared_bytes": far}):
            sizes = {"grid": 1, "block": 32, "shared_bytes": 64} | bad
            with self.assertRaisesRegex(gufunc.CallError, next(iter(bad))):
                kernel.launch(sizes["grid"], sizes["block"], values, np.zeros(4, np.uint64),
                              shared_bytes=sizes["shared_bytes"])

    def test_arguments_are_checked_before_the_run(self):
        kernel = gufunc.load(MODULES / "raw_counting.so").kernel("histogram")
        values, counts = np.linspace(0, 0.99, 100, dtype=np.float32), np.zeros(4, np.uint64)
        fixed = counts.copy()
        fixed.setflags(write=False)
        for arguments, text in (((values, fixed), "expected a writable array, got a read-only"),
                                ((3, counts), "expected an array, got a scalar"),
                                ((values, 3), "expected an array, got a scalar")):
            report = set()
            for place in ("cpu", self.device()):
                with self.subTest(place, text=text):
                    with self.assertRaisesRegex(gufunc.ArgumentError if "scalar" in text else
                                                gufunc.ShapeError, text) as caught:
                        kernel.on(place)[1, 32, None, 64](*arguments)
                    report.add(str(caught.exception))
            self.assertEqual(len(report), 1)
        self.assertEqual((counts.sum(), fixed.sum()), (0, 0))

    def test_no_memory(self):
        with self.assertRaises(gufunc.NoMemoryError) as caught:
            gufunc.empty(2**50, device=self.device())
        self.assertEqual(caught.exception.name, "GUF_E_DEVICE_MEMORY")
        second = self.device(1)
        second.limit_memory(second.memory.live_bytes + 1000)
        try:
            with self.assertRaises(MemoryError):
                gufunc.empty(10**6, device=second)
        finally:
            second.limit_memory()
        self.assertEqual(gufunc.empty(10**6, device=second).size, 10**6)

    def test_everything_is_documented(self):
        for name in self.gpu.__all__:
            self.assertTrue(getattr(self.gpu, name).__doc__, name)

    def test_names_of_other_modules(self):
        with self.assertRaisesRegex(AttributeError, "gufunc.build"):
            self.gpu.jit
        with self.assertRaisesRegex(AttributeError, "no attribute"):
            self.gpu.nothing

class OnCuda(OnDevice, unittest.TestCase):
    name = "cuda"

    def test_vendor_streams(self):
        there = self.gpu.to_device(np.arange(4.0))
        for stream in (self.gpu.legacy_default_stream(), self.gpu.per_thread_default_stream()):
            gufunc.add(there, 1, out=there, stream=stream)
            stream.synchronize()
        self.assertEqual(there.getitem(0), 2.0)


class OnRoc(OnDevice, unittest.TestCase):
    name = "roc"

    def test_grains(self):
        for make in (self.gpu.coarsegrain_array, self.gpu.finegrain_array):
            self.assertTrue(make((2, 3), "f4").on_host)

    def test_hsa(self):
        from gufunc import hsa, roc

        self.assertIs(hsa.to_device.__self__, roc.to_device.__self__)
        self.assertEqual(hsa.finegrain_array(3).shape, (3,))


if __name__ == "__main__":
    unittest.main()
