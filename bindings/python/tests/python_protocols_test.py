# SPDX-License-Identifier: Apache-2.0
"""Tests operators and NumPy's protocols with other classes, keywords of methods, and memory of
other libraries.

Uses simulated devices if they were built.
"""

import mmap
import unittest
import warnings
import weakref

import gufunc
import numpy as np

DEVICES = [device.spec for device in gufunc.devices()]
BINARY = ("__add__", "__sub__", "__mul__", "__truediv__", "__floordiv__", "__mod__", "__pow__",
          "__matmul__", "__divmod__", "__lt__", "__ge__")


class Answers:
    """A class with its own operators and without __array_ufunc__."""

    __eq__ = __ne__ = lambda self, other: True

    def __radd__(self, other):
        return "reflected"

    __rmul__ = __rdivmod__ = __gt__ = __radd__


class Declines(Answers):
    __array_ufunc__ = None

    __eq__ = __radd__ = __rdivmod__ = lambda self, other: "declined"


class Overrides:
    def __array_ufunc__(self, ufunc, method, *inputs, **keywords):
        return ufunc.__name__, method


class Units(np.ndarray):
    def __array_ufunc__(self, ufunc, method, *inputs, **keywords):
        return "units"


class OtherClasses(unittest.TestCase):
    def test_a_ufunc_of_the_same_name_is_not_replaced(self):
        """A ufunc of Numba with the same name also follows NumPy's protocol."""
        class Named:
            __name__ = "add"

            def __call__(self, x, y):
                return x * 100 + y

        a = gufunc.array([1.0, 2.0])
        found = a.__array_ufunc__(Named(), "__call__", a, a)
        self.assertIsInstance(found, gufunc.Array)
        self.assertEqual(found.tolist(), [101, 202])
        np.testing.assert_array_equal(np.add(a, a).numpy(), [2, 4])
        try:
            import numba
        except ImportError:
            return

        def add(x, y):
            return x * 1000 + y

        made = numba.vectorize(["float64(float64, float64)"])(add)
        self.assertEqual(made(a, a).tolist(), [1001, 2002])

    def test_operators_of_the_other_class_are_called(self):
        for spec in DEVICES:
            a = gufunc.array([1.0, 2.0], device=spec)
            for other, word in ((Answers(), "reflected"), (Declines(), "declined")):
                with self.subTest(spec, other=other):
                    self.assertEqual(a + other, word)
                    self.assertEqual(divmod(a, other), word)
                    self.assertEqual(a * other, "reflected")
                    self.assertEqual(a < other, "reflected")

    def test_in_place(self):
        a = gufunc.array([1.0, 2.0])
        with self.assertRaises(TypeError):
            a += Answers()
        a += Declines()
        self.assertEqual(a, "declined")

    def test_equality_is_numpys(self):
        plain = np.array([1.0, 2.0])
        others = [None, "x", "1.0", b"x", object(), Answers(), Declines(), [None, 2.0], ["a", "b"],
                  np.str_("x"), np.array(["2020"], "M8[D]"), np.array([None, 1.0]),
                  np.longdouble(1), np.array([1, 2], object), 1.0, [1, 3], True, 2j]
        for spec in DEVICES:
            a = gufunc.array(plain, device=spec)
            for other in others:
                if spec != "cpu" and isinstance(other, (list, np.ndarray)):
                    continue  # host and device operands cannot be mixed
                with self.subTest(spec, other=other):
                    for ours, theirs in ((a == other, plain == other), (a != other, plain != other),
                                         (other == a, other == plain)):
                        if isinstance(theirs, (str, bool)):
                            self.assertEqual(ours, theirs)
                            continue
                        self.assertEqual(ours.shape, theirs.shape)
                        self.assertEqual(ours.tolist(), theirs.tolist())
                        self.assertEqual(ours.dtype, theirs.dtype)
        with self.assertRaises(ValueError):
            gufunc.array(plain) == ["a", "b", "c"]
        structured = np.zeros(2, [("x", "f4"), ("y", "i4")])
        ours = gufunc.array(structured)
        structured["y"][1] = 3
        self.assertEqual((ours == structured).tolist(), [True, False])
        self.assertEqual((ours != gufunc.array(structured)).tolist(), [False, True])

    def test_what_is_no_operand_is_a_type_error(self):
        a = gufunc.array([1.0, 2.0])
        for name in BINARY:
            for other in (None, "x", b"x", object()):
                with self.subTest(name, other=other):
                    self.assertIs(getattr(a, name)(other), NotImplemented)
        for other in (None, "x", object()):
            with self.assertRaises(TypeError):
                a + other
            with self.assertRaises(TypeError):
                other - a

    def test_array_ufunc_of_others(self):
        a, q = gufunc.array([1.0, 2.0]), Overrides()
        self.assertEqual(a + q, ("add", "__call__"))
        self.assertEqual(q + a if hasattr(q, "__add__") else a * q, ("multiply", "__call__"))
        self.assertEqual(np.add(a, q), ("add", "__call__"))
        self.assertEqual(np.add(q, a), ("add", "__call__"))
        self.assertEqual(np.negative(a, out=q), ("negative", "__call__"))
        self.assertEqual(np.add.outer(a, q), ("add", "outer"))
        self.assertEqual(divmod(a, q), ("divmod", "__call__"))
        units = np.ones(2).view(Units)
        self.assertEqual(a - units, "units")
        self.assertEqual(np.subtract(a, units), "units")
        with self.assertRaises(TypeError):
            np.add(a, Declines())

    def test_numpys_own_ufuncs_and_out(self):
        a, out = gufunc.array([1.0, 2.0]), gufunc.zeros(2)
        self.assertIs(np.add(a, np.ones(2), out=out), out)
        self.assertEqual(out.tolist(), [2, 3])
        self.assertEqual(np.add.reduce(a).item(), 3)
        self.assertEqual(np.absolute(-a).tolist(), [1, 2])
        for operand in (np.ones(2), np.float32(1), [1, 1], range(2), memoryview(b"ab")):
            self.assertIsInstance(a + operand, gufunc.Array)
            self.assertIsInstance(operand - a if not isinstance(operand, memoryview) else a - a,
                                  gufunc.Array)


class Subclasses(unittest.TestCase):
    def test_masks_and_units_are_not_dropped(self):
        masked = np.ma.array([1.0, 2.0, 3.0], mask=[0, 1, 0])
        units = np.ones(3).view(Units)
        for x in (masked, units):
            with self.subTest(type(x)):
                for call in (lambda: gufunc.add(x, 1), lambda: gufunc.add(1, x),
                             lambda: gufunc.add.reduce(x), lambda: gufunc.add.accumulate(x),
                             lambda: gufunc.add.at(x, [0], 1), lambda: gufunc.add.outer(x, x),
                             lambda: gufunc.add(1, np.ones(3), where=x),
                             lambda: gufunc.add(1, np.ones(3), out=x),
                             lambda: gufunc.add.plan(x, 1, out=np.ones(3))):
                    with self.assertRaises(TypeError):
                        call()
        self.assertEqual(masked.tolist(), [1, None, 3])
        total = gufunc.array([1.0, 1.0, 1.0]) + masked
        self.assertIsInstance(total, np.ma.MaskedArray)
        self.assertEqual(total.tolist(), [2, None, 4])
        with self.assertRaises(TypeError):
            np.add(gufunc.ones(3), masked)

    def test_a_class_without_ufuncs(self):
        with self.assertRaisesRegex(TypeError, "does not support ufuncs"):
            gufunc.add(Declines(), 1)


class NumpyScalars(unittest.TestCase):
    def test_with_arrays_of_devices(self):
        plain = np.array([1.0, 2.0], np.float32)
        scalars = [np.float16(1), np.float32(2), np.float64(2), np.int8(1), np.int64(1),
                   np.uint64(1), np.bool_(True), np.complex64(1j), np.complex128(1j)]
        for spec in DEVICES:
            d = gufunc.array(plain, device=spec)
            for scalar in scalars:
                with self.subTest(spec, scalar=scalar):
                    for ours, theirs in (
                            (d + scalar, plain + scalar), (scalar * d, scalar * plain),
                            (d == scalar, plain == scalar), (scalar != d, scalar != plain),
                            (gufunc.add(d, scalar), np.add(plain, scalar))):
                        self.assertEqual(ours.dtype, theirs.dtype)
                        self.assertEqual(ours.device.spec, spec)
                        np.testing.assert_array_equal(ours.numpy(), theirs)
            with gufunc.Stream(spec) as stream:
                later = gufunc.add(d, np.float32(3), stream=stream)
            self.assertEqual(later.tolist(), [4, 5])
            initial = gufunc.add.reduce(d, initial=np.float32(3))
            self.assertEqual(initial.item(), 6)
            times = gufunc.array(np.array([1, 2], "m8[s]"), device=spec)
            found = times + np.timedelta64(1, "m")
            self.assertEqual(found.dtype, np.dtype("m8[s]"))
            self.assertEqual(gufunc.array(found, "int64").tolist(), [61, 62])


class Keywords(unittest.TestCase):
    def test_of_methods(self):
        x = [1.0, 2.0]
        added = {"stream", "device", "threads", "order"}
        calls = {"reduce": ((x,), {"axis", "dtype", "out", "keepdims", "initial", "where"} | added),
                 "accumulate": ((x,), {"axis", "dtype", "out"} | added),
                 "reduceat": ((x, [0]), {"axis", "dtype", "out"} | added),
                 "at": ((np.ones(2), [0], 1.0), added - {"order"})}
        values = {"axis": 0, "dtype": "float64", "out": None, "keepdims": False, "initial": 0.0,
                  "where": True, "casting": "same_kind", "signature": "dd->d", "dims": {"n": 1},
                  "axes": [0, 0], "subok": True, "sig": "dd->d", "host_policy": "copy",
                  "stream": None, "device": None, "threads": 1, "order": "K", "bogus": 1}
        for name, (args, taken) in calls.items():
            for keyword, value in values.items():
                with self.subTest(name, keyword=keyword):
                    call = getattr(gufunc.add, name)
                    if keyword in taken:
                        call(*args, **{keyword: value})
                    else:
                        with self.assertRaisesRegex(TypeError, keyword):
                            call(*args, **{keyword: value})

    def test_given_twice(self):
        for ours, theirs in ((gufunc.add.reduce, np.add.reduce),
                             (gufunc.add.accumulate, np.add.accumulate)):
            for keywords in ({"axis": 0}, {"array": [2]}):
                with self.assertRaises(TypeError) as expected:
                    theirs([1, 2], 0, **keywords)
                with self.assertRaises(TypeError) as caught:
                    ours([1, 2], 0, **keywords)
                self.assertEqual(str(caught.exception), str(expected.exception))
        with self.assertRaisesRegex(TypeError, "cannot specify both 'sig' and 'signature'"):
            gufunc.add(1, 2, sig="dd->d", signature="dd->d")


class MemoryOfOthers(unittest.TestCase):
    def test_it_is_free_when_the_last_array_is_gone(self):
        for spec in DEVICES:
            with self.subTest(spec):
                source = bytearray(16)
                a = gufunc.from_buffer(source, "float64")
                part = gufunc.add(a[:1], 1)
                b = a[1:]
                del a
                with self.assertRaises(BufferError):
                    source.append(1)
                self.assertEqual((b.tolist(), part.tolist()), ([0], [1]))
                moved = b.to_device(spec)
                if moved.on_host:
                    del moved
                del b
                source.append(1)

    def test_a_mapped_file_closes_and_weak_references_die(self):
        with mmap.mmap(-1, 4096) as memory:
            a = gufunc.from_buffer(memory, "uint8")
            a[0] = 7
            del a
            self.assertEqual(memory[0], 7)
        x = np.arange(4.0)
        alive = weakref.ref(x)
        a = gufunc.as_array(x)[::2]
        del x
        self.assertIsNotNone(alive())
        del a
        self.assertIsNone(alive())

    def test_owners_in_a_long_chain(self):
        a = gufunc.ones(3)
        for _ in range(20_000):
            a = gufunc.as_array(a.numpy())
        self.assertEqual(a.tolist(), [1, 1, 1])
        del a

    def test_a_release_beside_an_exception(self):
        source = bytearray(8)
        with self.assertRaises(ZeroDivisionError):
            a = gufunc.from_buffer(source, "float64")
            try:
                1 / 0
            finally:
                del a
        source.append(1)


if __name__ == "__main__":
    warnings.simplefilter("error")
    unittest.main()
