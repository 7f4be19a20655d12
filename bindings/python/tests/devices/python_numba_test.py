# SPDX-License-Identifier: Apache-2.0
"""Tests programs that were written for Numba's devices: streams of any kind, Numba's function
names, copies on the device of their array, and indices of `at` that are not integers."""

import copy
import ctypes
import pickle
import types
import unittest

import gufunc
import numpy as np
from gufunc import cuda, roc

MODULES = [module for module in (cuda, roc) if module.is_available()]


class Streams(unittest.TestCase):
    def test_zero_and_handles(self):
        for module in MODULES:
            with self.subTest(module.__name__):
                d = module.to_device(np.arange(4.0))
                own = module.stream()
                for stream in (0, own, own.native, None):
                    made = gufunc.square(d, stream=stream)
                    total = gufunc.add.reduce(d, stream=stream)
                    copies = [d.copy(stream=stream), d.astype("f4", stream=stream)]
                    d.setitem(1, 7.0, stream=stream)
                    d[2:3].fill(8.0, stream=stream)
                    own.synchronize()
                    d.device.synchronize()
                    self.assertEqual(d.getitem(1, stream=stream), 7.0)
                    self.assertEqual(made.device, d.device)
                    self.assertEqual(made.tolist()[3], 9.0)
                    self.assertEqual(copies[1].tolist()[3], 3.0)
                    self.assertEqual(total.device, d.device)
                gufunc.negative(np.ones(3), out=np.ones(3), stream=0)
                with self.assertRaises(gufunc.CallError):
                    gufunc.square(np.ones(3), stream=own.native)  # the device is ambiguous
                with self.assertRaises(gufunc.CallError):
                    gufunc.square(d, stream="x")

    def test_what_is_no_stream(self):
        """The address of a library object must be rejected as a stream, because the driver would
        dereference it.
        """
        for module in MODULES:
            d = module.to_device(np.arange(4.0))
            for bad in (d, gufunc.ones(3), module.event(), d.device, gufunc.add, np.ones(3),
                        np.ones(1), 1.5, "x", -5, 2**64):
                with self.subTest(module.__name__, bad=bad):
                    for use in (lambda: gufunc.add(d, d, stream=bad),
                                lambda: gufunc.add.reduce(d, stream=bad),
                                lambda: d.fill(1, stream=bad), lambda: d.copy_to_host(None, bad),
                                lambda: module.external_stream(bad)):
                        with self.assertRaisesRegex(gufunc.CallError, "^a stream cannot be "):
                            use()

            own = module.stream()
            for handle in (own.native, 0):  # the handles of Numba's streams are ctypes objects
                stream = types.SimpleNamespace(handle=ctypes.c_void_p(handle))
                made = gufunc.square(d, stream=stream)
                own.synchronize()
                self.assertEqual(made.tolist(), [0, 1, 4, 9])

    def test_devices_are_contexts(self):
        for module in MODULES:
            with self.subTest(module.__name__):
                before = module.get_current_device()
                with module.gpus[1] as device, module.gpus[0]:
                    self.assertEqual(module.device_array(3).device, module.gpus[0])
                    with self.assertRaises(KeyError), device:
                        self.assertEqual(module.device_array(3).device, device)
                        raise KeyError
                    self.assertEqual(module.get_current_device(), module.gpus[0])
                self.assertEqual(module.get_current_device(), before)

    def test_copy_to_device_names_the_argument(self):
        for module in MODULES:
            there = module.device_array((2, 3))
            with self.assertRaisesRegex(gufunc.ShapeError, r"expected \(2, 3\), got \(4,\)"):
                there.copy_to_device(np.ones(4))
            with self.assertRaisesRegex(gufunc.DTypeError, "expected float64, got float32"):
                there.copy_to_device(np.ones((2, 3), "f4"))

    def test_events(self):
        for module in MODULES:
            with self.subTest(module.__name__):
                stream, first, last = module.stream(), module.event(), module.event()
                first.record(stream)
                last.record(stream=stream)
                last.synchronize()
                self.assertGreaterEqual(first.elapsed_time(last), 0.0)
                for event in (first, last):
                    event.record()
                    event.record(0)
                    self.assertTrue(event.wait())
                    self.assertIsNone(event.wait(stream))
                self.assertEqual(module.external_stream(0).device, module.get_current_device())
                stream.synchronize()


class Names(unittest.TestCase):
    def test_devices(self):
        for module in MODULES:
            with self.subTest(module.__name__):
                self.assertEqual(list(module.gpus), module.list_devices())
                self.assertEqual(len(module.gpus), len(module.gpus.lst))
                self.assertEqual(module.gpus[1].id, 1)
                self.assertEqual(module.gpus.current, module.get_current_device())
                self.assertEqual(module.gpus[0].name, module.gpus[0].info.name)
                context = module.current_context()
                self.assertEqual(context.device, module.get_current_device())
                self.assertEqual(len(context.get_memory_info()), 2)
                with module.defer_cleanup():
                    self.assertTrue(module.detect())
                module.close()
        if cuda in MODULES:
            major, _ = cuda.gpus[0].compute_capability
            self.assertGreaterEqual(major, 5)
        self.assertFalse(hasattr(gufunc.Device("cpu"), "compute_capability"))

    def test_host_arrays(self):
        for module in MODULES:
            with self.assertRaisesRegex(gufunc.ArgumentError, "list"):
                module.register([1, 2])
        if roc in MODULES:
            like = np.ones((2, 3), np.float32)
            for make in (roc.coarsegrain_array_like, roc.finegrain_array_like):
                made = make(like)
                self.assertEqual((made.shape, made.dtype, made.on_host), ((2, 3), "f4", True))


class Arrays(unittest.TestCase):
    def places(self):
        yield gufunc.Device("cpu")
        yield from (module.get_current_device() for module in MODULES)

    def test_copies_stay(self):
        for place in self.places():
            with self.subTest(place):
                x = gufunc.array(np.asfortranarray(np.arange(6.0).reshape(2, 3)), device=place)
                if not x.f_contiguous:
                    x = gufunc.array(np.arange(6.0).reshape(3, 2), device=place).T
                for made in (copy.copy(x), copy.deepcopy(x), copy.deepcopy({"x": x})["x"]):
                    self.assertEqual(made.device, place)
                    self.assertTrue(made.f_contiguous)
                    self.assertNotEqual(made.address, x.address)
                    self.assertEqual(made.tolist(), x.tolist())
                again = pickle.loads(pickle.dumps(x))
                self.assertEqual((again.device.spec, again.f_contiguous), ("cpu", True))
                self.assertEqual(again.tolist(), x.tolist())

    def test_shapes_that_need_a_copy(self):
        for place in self.places():
            with self.subTest(place):
                n = np.arange(6.0).reshape(2, 3)
                d = gufunc.array(n, device=place)
                for mine, theirs in ((d.T.ravel(), n.T.ravel()),
                                     (d.ravel(order="F"), n.ravel(order="F")),
                                     (d.T.reshape(2, 3), n.T.reshape(2, 3)),
                                     (d[:, ::2].reshape(-1), n[:, ::2].reshape(-1)),
                                     (d.reshape(3, 2, order="F"), n.reshape(3, 2, order="F"))):
                    self.assertEqual(mine.tolist(), theirs.tolist())
                    self.assertEqual(mine.device, place)
                self.assertEqual(d.reshape(6).address, d.address)
                for wrong in (d, d.T):
                    with self.assertRaises(gufunc.ShapeError):
                        wrong.reshape(4, 2)

    def test_indices_of_at(self):
        keys = (slice(None, None, 2), Ellipsis, (slice(None), 1), (Ellipsis, [0, 0, 2]), None,
                (slice(1, None), slice(None, 2)), (1, slice(None, None, -1)), True)
        mask = np.array([[True, False, True], [False, True, False]])
        for place in self.places():
            for key in (*keys, mask, mask[:, 0], (slice(None), mask[0])):
                with self.subTest(place=place, key=key):
                    n = np.arange(6.0).reshape(2, 3)
                    d = gufunc.array(n, device=place)
                    if place.spec == "cpu":
                        gufunc.add.at(d, key, 2.0)
                    else:
                        gufunc.add.at(d, key, gufunc.array(2.0, device=place))
                    np.add.at(n, key, 2.0)
                    self.assertEqual(d.tolist(), n.tolist())
        n = np.zeros(4)
        for place in self.places():
            indices = gufunc.array([1, 1, 3], device=place)
            gufunc.add.at(n, indices, 1.0)
        self.assertEqual(n[1], 2.0 * (1 + len(MODULES)))


if __name__ == "__main__":
    unittest.main()
