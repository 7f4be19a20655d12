# SPDX-License-Identifier: Apache-2.0
"""Tests export and import with DLPack and the CUDA array interface, on simulated devices."""

import gc
import importlib
import pathlib
import queue
import sys
import threading
import unittest

import gufunc
import numpy as np
from gufunc import lowlevel


class OnDevice:
    """Tests that run for the backend `name`."""

    name = None

    def setUp(self):
        self.gpu = importlib.import_module(f"gufunc.{self.name}")
        self.gpu.select_device(0)

    def device(self, index=0):
        return gufunc.Device(f"{self.name}:{index}")

    def test_dlpack_round_trip(self):
        x = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
        kind = 2 if self.name == "cuda" else 10
        for index in (0, 1):
            there = gufunc.array(x, device=self.device(index))
            for sent in (there, there[:, 1:, ::2], there.transpose(2, 0, 1)):
                self.assertEqual(sent.__dlpack_device__(), (kind, index))
                back = gufunc.from_dlpack(sent)
                self.assertEqual((back.address, back.strides, back.device),
                                 (sent.address, sent.strides, sent.device))
                np.testing.assert_array_equal(back.copy_to_host(), sent.copy_to_host())
        copy = gufunc.from_dlpack(there, copy=True)
        self.assertNotEqual(copy.address, there.address)
        host = np.from_dlpack(gufunc.from_dlpack(there, device="cpu"))
        np.testing.assert_array_equal(host, x)
        self.assertEqual(np.from_dlpack(there, device="cpu").tolist(), x.tolist())

    def test_dlpack_streams(self):
        there = gufunc.array(np.arange(3.0), device=self.device())
        stream = self.gpu.stream()
        legacy = {"cuda": (None, 1, 2), "roc": (None, 0)}[self.name]
        for number in (*legacy, -1, stream.native, stream):
            capsule = there.__dlpack__(stream=number, max_version=(1, 0))
            self.assertIn("dltensor_versioned", repr(capsule))
            self.assertEqual(gufunc.from_dlpack(capsule).copy_to_host().tolist(), [0, 1, 2])
            with self.assertRaises(ValueError):
                gufunc.from_dlpack(capsule)  # the capsule is already consumed
        for number in {"cuda": (0,), "roc": (1, 2)}[self.name]:
            with self.assertRaises(ValueError):
                there.__dlpack__(stream=number)
        self.assertIn('"dltensor"', repr(there.__dlpack__()))
        with self.assertRaises(BufferError):
            there.__dlpack__(dl_device=(1, 0), copy=False)
        requested = []

        class Foreign:
            def __dlpack_device__(self):
                return there.__dlpack_device__()

            def __dlpack__(self, stream=None):  # the protocol without max_version
                requested.append(stream)
                return there.__dlpack__(stream=stream)

        self.assertEqual(gufunc.add(Foreign(), 1).copy_to_host().tolist(), [1, 2, 3])
        gufunc.from_dlpack(Foreign(), stream=stream)
        own = lowlevel.guf_stream_get_native(self.device(), None)
        self.assertEqual(requested, [own, stream.native])

    def test_dlpack_orders(self):
        """The consumer's stream must wait for the work that is queued on the device's default
        stream before the export."""
        there = gufunc.array(np.zeros(1000), device=self.device())
        stream = self.gpu.stream()
        for value in range(20):
            for consumer in (stream, stream.native):
                gufunc.add(there, 1, out=there)
                taken = gufunc.from_dlpack(there.__dlpack__(stream=consumer, max_version=(1, 0)))
                sums = gufunc.add(taken, 0.5, stream=stream)
                gufunc.subtract(taken, 0, out=taken, stream=stream)
                stream.synchronize()
                self.assertEqual(sums.getitem(999), there.getitem(0) + 0.5)
        self.assertEqual(there.getitem(5), 40)
        for value in range(20):
            gufunc.add(there, 1, out=there, stream=stream)
            if self.name == "cuda":
                facts = {**there.__cuda_array_interface__, "stream": stream.native}
                taken = gufunc.from_cuda_array_interface(facts)
            else:
                taken = gufunc._gufunc.dlpack_array(
                    there.__dlpack__(stream=-1, max_version=(1, 0)), stream, 0)
            self.assertEqual(gufunc.add(taken, 0).getitem(0), 41 + value)

    def test_dlpack_keeps_memory(self):
        import weakref

        class Owner(np.ndarray):
            pass

        source = np.arange(5.0).view(Owner)
        alive = weakref.ref(source)
        taken = gufunc.from_dlpack(source)
        view = taken[1:3]
        del source, taken
        self.assertIsNotNone(alive())
        del view
        gufunc.poll()
        self.assertIsNone(alive())
        live = self.device().memory.live_bytes
        for _ in range(200):
            there = gufunc.empty(1 << 16, "f4", device=self.device())
            capsule = there.__dlpack__(max_version=(1, 0))
            del there, capsule  # freed when the next array is created
        self.assertLess(self.device().memory.live_bytes, live + (1 << 20))


class OnHost(unittest.TestCase):
    def test_nothing_leaks(self):
        source = np.arange(100.0)

        def cycles(count):
            for _ in range(count):
                np.from_dlpack(gufunc.from_dlpack(source)[1:])
                gufunc.array(source, copy=False).__dlpack__()
            gufunc.poll()
            gc.collect()
            return int(pathlib.Path("/proc/self/statm").read_text().split()[1])

        before = sys.getrefcount(source)
        warm = cycles(2000)
        self.assertLess(cycles(50000) - warm, 64)  # number of pages
        self.assertEqual(sys.getrefcount(source), before)

    def test_from_many_threads(self):
        source, failures = np.arange(1000.0), []
        before = sys.getrefcount(source)
        taken = queue.SimpleQueue()

        def make():
            for _ in range(2000):
                array = gufunc.from_dlpack(source)
                if gufunc.add.reduce(array).item() != 499500.0:
                    failures.append(array)
                taken.put(np.from_dlpack(array))
            taken.put(None)

        def drop():
            while taken.get() is not None:
                pass

        threads = [threading.Thread(target=work) for work in [make, drop] * 4]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        gufunc.poll()
        self.assertEqual(failures, [])
        self.assertEqual(sys.getrefcount(source), before)

    def test_refusals(self):
        for bad in (np.arange(3).astype("M8[s]"), np.zeros(2, "i4,f4"),
                    np.arange(3.0).astype(">f8")):
            with self.assertRaises(BufferError):
                gufunc.array(bad, copy=False).__dlpack__(max_version=(1, 0))
        with self.assertRaises(BufferError):
            gufunc.from_buffer(b"12345678", "f8").__dlpack__()  # read-only memory without versions
        fixed = np.from_dlpack(gufunc.from_buffer(b"12345678", "f8"))
        self.assertFalse(fixed.flags.writeable)
        skewed = np.zeros(4, np.dtype([("a", "i1"), ("b", "f8")]))["b"]
        with self.assertRaises(BufferError):
            gufunc.array(skewed, copy=False).__dlpack__(max_version=(1, 0))
        with self.assertRaises(BufferError):
            gufunc.array([1.0]).__dlpack__(stream=1)
        with self.assertRaises(ValueError):
            gufunc.from_dlpack(3)

    def test_copies(self):
        array = gufunc.array([1.0, 2.0])
        other = np.from_dlpack(array, copy=True)
        other[0] = 9
        self.assertEqual(array.tolist(), [1, 2])
        self.assertEqual(np.from_dlpack(array).ctypes.data, array.address)
        self.assertEqual(gufunc.from_dlpack(array, copy=False).address, array.address)
        self.assertNotEqual(gufunc.from_dlpack(array, copy=True).address, array.address)
        stretched = np.broadcast_to(np.float32(3), (4, 5))  # a read-only array with strides of 0
        self.assertEqual(gufunc.from_dlpack(stretched).strides, (0, 0))


class OnCuda(OnDevice, unittest.TestCase):
    name = "cuda"

    def test_cuda_array_interface(self):
        for dtype in ("f4", "?", "i8", "c16", "M8[s]", "m8[25us]"):
            there = self.gpu.to_device(np.arange(12).astype("i8").astype(dtype).reshape(3, 4))
            facts = there.__cuda_array_interface__
            self.assertEqual((facts["typestr"], facts["version"], facts["strides"]),
                             (np.dtype(dtype).str, 3, None))
            for sent in (there, there[:, ::2], there[1:]):
                self.assertTrue(self.gpu.is_cuda_array(sent))
                back = gufunc.from_cuda_array_interface(sent)
                self.assertEqual((back.address, back.strides, back.dtype, back.device),
                                 (sent.address, sent.strides, sent.dtype, sent.device))
                np.testing.assert_array_equal(back.copy_to_host(), sent.copy_to_host())
        second = gufunc.array(np.arange(3.0), device="cuda:1")
        self.assertEqual(gufunc.from_cuda_array_interface(second).device, self.device(1))
        host = gufunc.array([1.0])
        self.assertFalse(hasattr(host, "__cuda_array_interface__"))

    def test_cuda_array_interface_refusals(self):
        there = self.gpu.to_device(np.arange(4.0))
        good = dict(there.__cuda_array_interface__)
        stream = self.gpu.stream()
        for number in (None, 1, 2, stream.native):
            made = gufunc.from_cuda_array_interface({**good, "stream": number, "data":
                                                     (good["data"][0], True)})
            self.assertTrue(made.readonly)
        for change, failure in (({"stream": 0}, ValueError), ({"mask": there}, NotImplementedError),
                                ({"strides": (4,)}, NotImplementedError),
                                ({"typestr": ">f8"}, TypeError), ({"typestr": "<f9"}, TypeError),
                                ({"shape": (-1,)}, ValueError),
                                ({"data": (np.zeros(4).ctypes.data, False)}, ValueError)):
            with self.assertRaises(failure, msg=change):
                gufunc.from_cuda_array_interface({**good, **change})
        empty = gufunc.from_cuda_array_interface({**good, "shape": (0,), "data": (0, False)})
        self.assertEqual(empty.size, 0)

        class Described:
            __cuda_array_interface__ = good

        self.assertEqual(gufunc.add(Described(), 1).copy_to_host().tolist(), [1, 2, 3, 4])
        self.assertEqual(self.gpu.as_cuda_array(Described()).shape, (4,))
        self.assertIs(self.gpu.as_cuda_array(there), there)


class OnRoc(OnDevice, unittest.TestCase):
    name = "roc"


if __name__ == "__main__":
    unittest.main()
