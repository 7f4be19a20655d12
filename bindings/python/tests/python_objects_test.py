# SPDX-License-Identifier: Apache-2.0
"""Tests devices, streams, events, graphs, plans, chunks, contexts, loops and callbacks in Python.

python_objects_test.py MODULES_FOLDER

Uses simulated devices if they were built.
"""

import ctypes
import gc
import queue
import sys
import threading
import unittest

import gufunc
import numpy as np

MODULES = sys.argv.pop(1)


def doubles(address, count, step):
    return [ctypes.c_double.from_address(address + i * step) for i in range(count)]


def double_loop(addresses, dims, steps):
    for x, y in zip(doubles(addresses[0], dims[0], steps[0]),
                    doubles(addresses[1], dims[0], steps[1])):
        y.value = 2 * x.value


class OnEachDevice(unittest.TestCase):
    def devices(self):
        found = [device.spec for device in gufunc.devices()]
        self.assertIn("cpu", found)
        return found

    def gpus(self):
        return [spec for spec in self.devices() if spec != "cpu"]

    def test_streams_and_events(self):
        for spec in self.devices():
            with self.subTest(spec):
                x = gufunc.array(np.arange(1000.0), device=spec)
                self.assertEqual(str(x.device), spec)
                with gufunc.Stream(spec) as stream:
                    y = gufunc.add(gufunc.multiply(x, 2, stream=stream), 1, stream=stream)
                    mark = stream.record()
                    other = gufunc.Stream(spec)
                    other.wait_event(mark)
                    z = gufunc.negative(y, stream=other)
                    self.assertTrue(mark.wait(10))
                self.assertTrue(other.synchronize(10))
                np.testing.assert_array_equal(z.numpy(), -(np.arange(1000.0) * 2 + 1))
                self.assertTrue(stream.query() and mark.query())
                self.assertEqual(stream.device, gufunc.Device(spec))

    def test_numpy_on_a_stream_lives_until_it_ran(self):
        for spec in self.devices():
            stream = gufunc.Stream(spec)
            results = []
            for i in range(50):
                results.append(gufunc.add(np.full(5000, float(i)), np.ones(5000), stream=stream))
            gc.collect()
            stream.synchronize()
            for i, result in enumerate(results):
                self.assertEqual(set(result.tolist()), {i + 1.0})

    def test_device_in_device_out(self):
        for spec in self.gpus():
            with self.subTest(spec):
                x = gufunc.array([1.0, 2.0, 3.0], device=spec)
                self.assertEqual((x + 1).device, x.device)
                self.assertEqual(x.sum().item(), 6.0)
                self.assertEqual(x.argmax().item(), 2)
                self.assertEqual(x.argmin(axis=0, keepdims=True).tolist(), [0])
                self.assertEqual(x.ptp().item(), 2.0)
                self.assertEqual(str(x), f"[1. 2. 3.]\nshape (3,), float64, {spec}")
                with self.assertRaises(BufferError):
                    memoryview(x)
                with self.assertRaises(gufunc.ArgumentError):
                    gufunc.add(x, np.ones(3))
                mixed = gufunc.add(x, np.ones(3), host_policy="copy")
                self.assertEqual(mixed.tolist(), [2, 3, 4])
                x[1:] = 9
                self.assertEqual(x.tolist(), [1, 9, 9])
                out = np.zeros(3)
                self.assertIs(x.copy_to_host(out), out)
                self.assertEqual(out.tolist(), [1, 9, 9])
                memory = gufunc.Device(spec).memory
                self.assertGreaterEqual(memory.live_bytes, 24)

    def test_graphs(self):
        for spec in self.devices():
            stream = gufunc.Stream(spec)
            if spec == "cpu":
                with self.assertRaises(NotImplementedError):
                    stream.begin_capture()
                continue
            x, y = (gufunc.full(4, v, "float64", device=spec) for v in (1, 0))
            gufunc.Device(spec).synchronize()  # the fills were queued without a stream
            gufunc.add(x, y, out=y, stream=stream)
            stream.synchronize()
            stream.begin_capture()
            gufunc.add(x, y, out=y, stream=stream)
            graph = stream.end_capture()
            self.assertIsInstance(graph, gufunc.Graph)
            for _ in range(3):
                graph.launch(stream)
            stream.synchronize()
            self.assertEqual(y.tolist(), [4.0] * 4)

    def test_device_memory_is_released_without_close(self):
        for spec in self.gpus():
            device = gufunc.Device(spec)
            live = device.memory.live_bytes
            for _ in range(200):
                gufunc.empty(1 << 18, "uint8", device=device)
            gufunc.poll()
            self.assertLess(device.memory.live_bytes - live, 20 << 18)


    def test_device_memory_is_released_by_other_threads(self):
        for spec in self.gpus():
            device = gufunc.Device(spec)
            live, kept = device.memory.live_bytes, queue.Queue(8)

            def collect():
                while (found := kept.get()) is not None:
                    found.clear()  # a reference cycle, which only a collection frees
                    del found
                    gc.collect()

            thread = threading.Thread(target=collect)
            thread.start()
            for i in range(60):
                stream = gufunc.Stream(device)
                x = gufunc.full(1 << 16, float(i), device=device)
                device.synchronize()
                y = gufunc.add(x, 1, stream=stream)
                cycle = [x, y, stream, stream.record()]
                cycle.append(cycle)
                kept.put(cycle)
                del x, y, stream, cycle
            kept.put(None)
            thread.join()
            gufunc.poll()
            device.synchronize()
            gufunc.empty(1, device=device)
            gufunc.poll()
            self.assertLess(device.memory.live_bytes - live, 8 << 19)  # below 8 of the 120 arrays


class Prepared(unittest.TestCase):
    def test_plan(self):
        x, out = np.arange(8.0), np.empty(8)
        plan = gufunc.add.plan(x, 1.0, out=out)
        plan.launch(x, None, out)
        np.testing.assert_array_equal(out, x + 1)
        self.assertIn("add", plan.explain())
        self.assertEqual(plan.workspace[0], 0)
        with self.assertRaises(gufunc.ArgumentError):
            plan.launch(x, None)

    def test_resolve_and_explain(self):
        x = np.zeros((3, 4), np.float32)
        found = gufunc.add.resolve(x, 1)
        self.assertEqual(found["shapes"], [(3, 4)])
        self.assertEqual(found["dtypes"][2], "float32")
        self.assertEqual(gufunc.add.resolve(x, method="reduce", axis=1)["shapes"], [(3,)])
        self.assertIn("float32", gufunc.add.explain(x, 1))
        self.assertIn("add", gufunc.add.explain(x, method="reduce"))

    def test_chunks(self):
        x, out, report = np.arange(100_000.0), np.empty(100_000), []
        gufunc.sqrt.call_chunked(x, out=out, chunk_bytes=65536,
                                 progress=lambda done, items: report.append((done, items)))
        np.testing.assert_array_equal(out, np.sqrt(x))
        self.assertEqual(report[-1], (100_000, 100_000))
        self.assertGreater(len(report), 10)

    def test_progress_may_stop_or_raise(self):
        x, out = np.arange(100_000.0), np.zeros(100_000)
        with self.assertRaises(gufunc.RunError) as caught:
            gufunc.sqrt.call_chunked(x, out=out, chunk_bytes=65536, progress=lambda d, n: True)
        self.assertEqual(caught.exception.name, "GUF_E_CANCELLED")
        done = caught.exception.items_done
        self.assertTrue(0 < done < 100_000)
        gufunc.sqrt.call_chunked(x, out=out, chunk_bytes=65536, first_item=done)
        np.testing.assert_array_equal(out, np.sqrt(x))

        def fail(done, items):
            raise KeyError(done)

        with self.assertRaises(KeyError):
            gufunc.sqrt.call_chunked(x, out=out, chunk_bytes=65536, progress=fail)


class Made(unittest.TestCase):
    def test_loop_in_python(self):
        ufunc = gufunc.create("objects_double", 1, 1, doc="2 * x")
        ufunc.add_loop("d->d", double_loop)
        x = np.arange(10.0)[::2]
        np.testing.assert_array_equal(ufunc(x), 2 * x)
        self.assertEqual(ufunc.info.doc, "2 * x")
        self.assertIn("objects_double", gufunc.names())
        with self.assertRaises(ValueError):
            ufunc.add_loop("d->d", double_loop)

    def test_an_exception_in_a_loop_is_the_calls(self):
        def fail(addresses, dims, steps):
            raise LookupError(f"{dims[0]} items")

        ufunc = gufunc.create("objects_failing", 1, 1)
        ufunc.add_loop("d->d", fail)
        for x in (np.ones(3), np.ones(200_000), gufunc.ones(3)):
            with self.assertRaisesRegex(LookupError, "items"):
                ufunc(x)
        self.assertEqual(gufunc.add(1, 1), 2)

    def test_an_exception_of_queued_work_is_reported_once(self):
        def fail(addresses, dims, steps):
            raise LookupError("é" * 300)

        ufunc = gufunc.create("objects_queued", 1, 1)
        ufunc.add_loop("d->d", fail)
        streams = [gufunc.Stream("cpu") for _ in range(2)]
        for stream in streams:
            ufunc(np.ones(3), stream=stream)
        while not streams[0].query():  # wait until the work has run
            pass
        with self.assertRaises(gufunc.ShapeError):
            gufunc.add(np.ones(3), np.ones(4))
        with self.assertRaisesRegex(gufunc.RunError, "^LookupError: é+; launch 1"):
            streams[0].synchronize()
        report = []

        def wait():
            try:
                streams[1].synchronize()
            except Exception as error:
                report.append(str(error))

        thread = threading.Thread(target=wait)
        thread.start()
        thread.join()
        self.assertRegex(report[0], "^LookupError: é+; launch 1")
        ufunc(np.ones(3), stream=streams[1])
        with self.assertRaises(LookupError):  # the exception that the loop raised
            streams[1].synchronize()

    def test_gufunc_loop_gets_its_sizes_and_strides(self):
        seen = []

        def loop(addresses, dims, steps):
            seen.append((dims, steps))
            for i in range(dims[0]):
                values = doubles(addresses[0] + i * steps[0], dims[1], steps[2])
                out = ctypes.c_double.from_address(addresses[1] + i * steps[1])
                out.value = sum(v.value for v in values)

        ufunc = gufunc.create("objects_rows", signature="(n)->()")
        ufunc.add_loop("d->d", loop)
        x = np.arange(6.0).reshape(2, 3)
        np.testing.assert_array_equal(ufunc(x), x.sum(axis=1))
        np.testing.assert_array_equal(ufunc(x.T), x.T.sum(axis=1))
        self.assertEqual(seen[0], ((2, 3), (24, 8, 8)))

    def test_core_dims_hook(self):
        def hook(sizes):
            if sizes[0] > 4:
                raise ValueError("at most 4")
            return [sizes[0], 2 * sizes[0]]

        def loop(addresses, dims, steps):
            for out in doubles(addresses[1], dims[2], steps[3]):
                out.value = dims[2]

        ufunc = gufunc.create("objects_twice", signature="(n)->(m)", core_dims=hook)
        ufunc.add_loop("d->d", loop)
        self.assertEqual(ufunc(np.ones(3)).tolist(), [6.0] * 6)
        with self.assertRaisesRegex(ValueError, "at most 4"):
            ufunc(np.ones(5))

    def test_functions_are_dropped_with_their_ufunc(self):
        class Function:
            def __call__(self, *args):
                pass

        import weakref

        function = Function()
        alive = weakref.ref(function)
        context = gufunc.Context()
        ufunc = gufunc.create("objects_dropped", 1, 1, context=context)
        ufunc.add_loop("d->d", function)
        del function, ufunc, context
        gufunc.poll()
        self.assertIsNone(alive())

    def test_contexts_are_apart(self):
        context = gufunc.Context()
        ufunc = gufunc.create("objects_apart", 1, 1, context=context)
        self.assertEqual(context.find("objects_apart"), ufunc)
        self.assertIn("add", context.names())
        with self.assertRaises(gufunc.ArgumentError):
            gufunc.find("objects_apart")

    def test_module(self):
        module = gufunc.load(f"{MODULES}/discriminant.so")
        self.assertEqual(module.names(), ["discriminant"])
        self.assertEqual(module.discriminant(1.0, 4.0, 1.0), np.sqrt(12.0))
        self.assertIs(type(module["discriminant"]), gufunc.Ufunc)
        self.assertIn("discriminant", dir(module))
        with self.assertRaises(AttributeError):
            module.nothing
        with self.assertRaises(OSError):
            gufunc.load("/nowhere.so")

    def test_memory_of_numpy_is_kept_and_dropped(self):
        x = np.arange(4.0)
        count = sys.getrefcount(x)
        view = gufunc.as_array(x)
        part = view[1:]
        self.assertEqual(sys.getrefcount(x), count + 1)
        del view
        gc.collect()
        gufunc.poll()
        self.assertEqual(part.tolist(), [1, 2, 3])
        del part
        gufunc.poll()
        self.assertEqual(sys.getrefcount(x), count)


if __name__ == "__main__":
    unittest.main()
