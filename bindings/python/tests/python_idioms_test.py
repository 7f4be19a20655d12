# SPDX-License-Identifier: Apache-2.0
"""Compares common array operations with NumPy.

Uses simulated devices if they were built.
"""

import datetime
import unittest
import warnings

import gufunc
import numpy as np

DEVICES = [device.spec for device in gufunc.devices()]
DTYPES = ("?", "i1", "u2", "i8", "f2", "f4", "f8", "c8", "c16", "m8[s]")


def outcome(function):
    """Returns the result of a function, or the built-in class of its exception."""
    try:
        return function()
    except Exception as error:
        kinds = (TypeError, OverflowError, IndexError, ValueError)
        return next(kind for kind in kinds if isinstance(error, kind))


def samples():
    values = np.array([[3, 0, -2], [7, 1, 5]])
    for letter in DTYPES:
        yield values.astype(letter)
        yield np.asfortranarray(values.astype(letter))[:, ::-1]
        yield values.astype(letter)[:0]


class NumpyIdioms(unittest.TestCase):
    def assert_same(self, ours, theirs):
        if isinstance(theirs, type):
            self.assertIs(ours, theirs)
            return
        self.assertIsInstance(ours, gufunc.Array)
        self.assertEqual(ours.dtype, theirs.dtype)
        np.testing.assert_array_equal(ours.numpy(), theirs, strict=True)

    def each(self, check):
        for spec in DEVICES:
            for theirs in samples():
                with self.subTest(spec, dtype=theirs.dtype, shape=theirs.shape):
                    check(gufunc.array(theirs, device=spec), theirs)

    def test_unary_plus_flatten_swapaxes(self):
        def check(ours, theirs):
            self.assert_same(outcome(lambda: +ours), outcome(lambda: +theirs))
            for order in "CFAK":
                self.assert_same(ours.flatten(order), ours.numpy().flatten(order))
            self.assert_same(ours.flatten("f"), theirs.flatten("F"))
            for axes in ((0, 1), (-1, -2), (1, 1)):
                self.assert_same(ours.swapaxes(*axes), theirs.swapaxes(*axes))
            with self.assertRaises(np.exceptions.AxisError):
                ours.swapaxes(0, 2)

        self.each(check)
        x = gufunc.ones((2, 3))
        self.assertNotEqual((+x).address, x.address)
        self.assertEqual(x.swapaxes(0, 1).address, x.address)
        self.assertNotEqual(x.flatten().address, x.address)

    def test_ravel_in_the_order_of_memory(self):
        def check(ours, theirs):
            for order in "CFAK":
                self.assert_same(ours.ravel(order), ours.numpy().ravel(order))
            self.assert_same(ours.T.ravel("k"), ours.numpy().T.ravel("K"))
            self.assert_same(ours[..., None].ravel("K"), ours.numpy()[..., None].ravel("K"))
            with self.assertRaisesRegex(gufunc.CallError, "^order 'K' is not permitted"):
                ours.reshape(-1, order="K")

        self.each(check)
        x = gufunc.arange(24).reshape(2, 3, 4)
        for view in (x, x.T, x.transpose(1, 0, 2), x[1:]):
            self.assertEqual(view.ravel("K").address, view.address)
            self.assertEqual(view.ravel("K").tolist(), view.numpy().ravel("K").tolist())
        self.assertEqual(x[:, ::2].ravel("K").tolist(), x.numpy()[:, ::2].ravel("K").tolist())

    def test_arrays_as_indices(self):
        x = np.arange(3)
        for make in (gufunc.array, np.array):
            a = gufunc.array(x)
            for key in (make([True, False, True]), make([0, 1]), make(1.0), make(True), [0, 1],
                        True, np.bool_(True), 1.0, "x", make([1])):
                for use in (lambda: a[key], lambda: a.__setitem__(key, 0)):
                    with self.subTest(key=key), self.assertRaises(IndexError) as caught:
                        use()
                    self.assertIn("are valid indices", str(caught.exception))
            with self.assertRaises(IndexError):
                a[a > 1] = 0
            self.assertEqual(a[make(1)].item(), 1)
            self.assertEqual(a.tolist(), [0, 1, 2])

    def test_sequences_of_arrays(self):
        for values in ([[1, 2], np.ones(2)], [np.ones(2), (1, 2)], [np.ones(2)] * 2,
                       [[np.float32(1), 2], [3, 4]], ([np.ones((2, 2)), [[1, 2], [3, 4]]],)):
            self.assert_same(gufunc.array(values), np.array(values))

    def test_divmod_and_in(self):
        def check(ours, theirs):
            if theirs.dtype.kind in "iuf":
                with np.errstate(all="ignore"):
                    for found, expected in zip(divmod(ours, 2) + divmod(7, ours),
                                             divmod(theirs, 2) + divmod(7, theirs)):
                        self.assert_same(found, expected)
            for value in (3, 2.5, 100, None, "x"):
                self.assertIs(value in ours, value in theirs)

        self.each(check)

    def test_mean(self):
        def check(ours, theirs):
            for keywords in ({}, {"axis": 0}, {"axis": -1}, {"axis": (0, 1)}, {"keepdims": True},
                             {"axis": 1, "dtype": "f8"}):
                if theirs.dtype.kind == "c" and "dtype" in keywords:
                    continue  # this package does not warn for complex numbers with a real dtype
                with warnings.catch_warnings(record=True) as met, np.errstate(all="ignore"):
                    warnings.simplefilter("always")
                    expected = outcome(lambda: np.asarray(theirs.mean(**keywords)))
                    report = [str(warning.message) for warning in met]
                    del met[:]
                    found = outcome(lambda: ours.mean(**keywords))
                    self.assertEqual([str(warning.message) for warning in met], report)
                self.assert_same(found, expected)

        self.each(check)
        out = gufunc.zeros(3)
        self.assertIs(gufunc.ones((2, 3)).mean(0, out=out), out)
        self.assertEqual(out.tolist(), [1, 1, 1])

    def test_real_and_imag(self):
        def check(ours, theirs):
            if theirs.dtype.kind == "m":
                return
            self.assert_same(ours.real, theirs.real)
            self.assert_same(ours.imag, theirs.imag)

        self.each(check)
        z = np.array([1 + 2j, 3 - 4j])
        for plain in (z, z[::-1], z.astype(">c16"), z.astype("c8")):
            ours = gufunc.array(plain, copy=False)
            np.testing.assert_array_equal(ours.real.numpy(), plain.real)
            np.testing.assert_array_equal(ours.imag.numpy(), plain.imag)
        ours = gufunc.array(z)
        ours.real, ours.imag[0] = 5, 6
        self.assertEqual(ours.tolist(), [5 + 6j, 5 - 4j])
        self.assertTrue(gufunc.ones(2).imag.readonly)
        with self.assertRaises(TypeError):
            gufunc.ones(2).imag = 1

    def test_like(self):
        def check(ours, theirs):
            for order in "KCFA":
                for name, values in (("zeros_like", ()), ("ones_like", ()), ("full_like", (1,)),
                                     ("full_like", ([1, 0, 1],)), ("empty_like", ())):
                    if theirs.dtype.kind == "m" and name == "ones_like":
                        continue
                    found = getattr(gufunc, name)(ours, *values, order=order)
                    expected = getattr(np, name)(ours.numpy(), *values, order=order)
                    self.assertEqual(found.device, ours.device)
                    if theirs.size:
                        self.assertEqual(found.strides, expected.strides)
                    if name == "empty_like":
                        expected = found.numpy()
                    self.assert_same(found, expected)

        self.each(check)
        found = gufunc.zeros_like(np.ones((2, 3, 4), "f4").transpose(1, 2, 0), "i8")
        self.assertEqual((found.shape, found.dtype, found.strides),
                         ((3, 4, 2), "int64", (32, 8, 96)))

    def test_truth_and_numbers(self):
        for spec in DEVICES:
            for theirs in (np.zeros(0), np.zeros((0, 3)), np.ones(1), np.zeros(1), np.ones(2),
                           np.array(2.5), np.array(0), np.array([[3]])):
                ours = gufunc.array(theirs, device=spec)
                for function in (bool, int, float, complex):
                    with self.subTest(spec, function=function, theirs=theirs):
                        self.assertEqual(outcome(lambda: function(ours)),
                                         outcome(lambda: function(theirs)))
        for size in (0, 2):
            with self.assertRaises(ValueError) as expected:
                bool(np.zeros(size))
            with self.assertRaises(ValueError) as found:
                bool(gufunc.zeros(size))
            self.assertEqual(str(found.exception).lower(), str(expected.exception).lower())

    def test_format_and_print(self):
        for theirs in (np.array(1.5), np.array(3), np.array(1j)):
            ours = gufunc.array(theirs)
            for spec in ("", ".2f", "x", ">10"):
                self.assertEqual(outcome(lambda: format(ours, spec)),
                                 outcome(lambda: format(theirs, spec)))
        x = gufunc.ones((2, 2))
        self.assertEqual(f"{x}", str(x))
        with self.assertRaises(TypeError):
            format(x, ".2f")
        self.assertEqual(str(x), "[[1. 1.]\n [1. 1.]]\nshape (2, 2), float64, cpu")
        self.assertEqual(repr([x]),
                         "[array([[1. 1.]\n       [1. 1.]], shape (2, 2), float64, cpu)]")
        self.assertEqual(repr(x[0]), "array([1. 1.], shape (2,), float64, cpu)")

    def test_arange_full_array(self):
        for limits in ((np.int64(5),), (np.int32(2), 7), (np.uint8(5),), (np.float32(3),),
                       (0, np.int64(9), 2), (5,), (0.1, 1, 0.1), (1, 0, -0.1), (np.float64(2.5),),
                       (0, 0.7, 0.1)):
            with self.subTest(limits):
                self.assert_same(gufunc.arange(*limits), np.arange(*limits))
        for shape, value in (((2, 2), [1, 2]), (3, 1.5), ((2, 3), np.ones((2, 1), "f4")),
                             ((2,), np.int8(3)), ((), 1), ((2, 2), range(2)), ((0,), 1)):
            for spec in DEVICES:
                with self.subTest(spec, value=value):
                    self.assert_same(gufunc.full(shape, value, device=spec), np.full(shape, value))
        with self.assertRaises(ValueError):
            gufunc.full((2, 2), [1, 2, 3])
        for value in (range(3), range(0), [range(2), range(2)], range(5, 1, -2)):
            with self.subTest(value):
                found = gufunc.array(value)
                np.testing.assert_array_equal(found.numpy(), np.array(value))
        self.assertEqual(gufunc.array(range(3)).dtype, "int64")
        self.assertEqual(gufunc.add(range(3), 1).tolist(), [1, 2, 3])

    def test_complex_into_real(self):
        def item(x, value):
            x[0] = value

        def whole(x, value):
            x[:] = value

        writes = (item, whole, lambda x, value: x.fill(value), lambda x, value: x.astype("f4"))
        values = (1j, np.complex128(1j), np.complex64(1j), float("nan"), float("inf"))
        for spec in DEVICES:
            for letter in ("f8", "i4", "?", "c16", "u1"):
                for write in writes[:3]:
                    for value in values:
                        if isinstance(value, float) and letter == "u1":
                            continue
                        with self.subTest(spec, letter=letter, write=write, value=value):
                            theirs = np.ones(3, letter)
                            ours = gufunc.array(theirs, device=spec)
                            self.assertEqual(self.report(write, ours, value),
                                             self.report(write, theirs, value))
                            np.testing.assert_array_equal(ours.numpy(), theirs)
        z = np.array([1j, 2])
        ours = gufunc.array(z)
        for letter in ("f4", "f8", "i8", "c8", "?"):
            self.assertEqual(self.report(lambda x, to: x.astype(to), ours, letter),
                             self.report(lambda x, to: x.astype(to), z, letter))
        self.assertEqual(self.report(whole, gufunc.zeros(2), ours),
                         self.report(whole, np.zeros(2), z))

    def report(self, write, x, value):
        with warnings.catch_warnings(record=True) as met:
            warnings.simplefilter("always")
            found = outcome(lambda: write(x, value))
        kind = found if isinstance(found, type) else None
        return kind, [warning.category for warning in met]

    def test_astype_without_a_copy(self):
        c = np.arange(6.0).reshape(2, 3)
        for theirs in (c, c.T, c[:, ::2], c.astype(">f8")):
            ours = gufunc.as_array(theirs)
            for dtype in ("f8", "f4"):
                for order in "KCFA":
                    for copy in (True, False):
                        with self.subTest(theirs=theirs, dtype=dtype, order=order, copy=copy):
                            made = ours.astype(dtype, order, copy=copy)
                            expected = theirs.astype(dtype, order, copy=copy)
                            self.assertEqual(made is ours, expected is theirs)
                            np.testing.assert_array_equal(made.numpy(), expected)

    def test_item_counts_elements(self):
        x = np.arange(24).reshape(2, 3, 4).transpose(2, 0, 1)
        for theirs in (x, x[0, 0], np.array(5), x[:, :0]):
            ours = gufunc.as_array(theirs)
            for index in (-25, -24, -1, 0, 3, 7, 23, 24):
                self.assertEqual(outcome(lambda: ours.item(index)),
                                 outcome(lambda: theirs.item(index)), (theirs.shape, index))

    def test_out_ellipsis_and_order(self):
        for name, args in (("add", (1, 2)), ("add", ([1], [2])), ("sqrt", (4.0,))):
            ours, theirs = getattr(gufunc, name), getattr(np, name)
            found, expected = ours(*args, out=...), theirs(*args, out=...)
            self.assertIs(type(found), type(expected))
            np.testing.assert_array_equal(found, expected, strict=True)
        self.assertIs(type(gufunc.add.reduce([1, 2], out=...)), np.ndarray)
        self.assertIs(type(gufunc.add.outer(1, 2, out=...)), np.ndarray)
        self.assertIsInstance(gufunc.add(gufunc.ones(()), 1, out=...), gufunc.Array)
        x = np.asfortranarray(np.ones((2, 3)))
        for order in "kcfaKCFA":
            self.assertEqual(gufunc.add(x, 1, order=order).strides,
                             np.add(x, 1, order=order).strides)
        for order in ("X", "", "cc", 1):
            with self.assertRaises((TypeError, ValueError)):
                gufunc.add(x, 1, order=order)

    def test_times_are_lists_of_times(self):
        for text, unit in (("2020-01-02", "D"), ("2020-01-02T03:04:05.000006", "us"), ("NaT", "D"),
                           ("2020-01-02T03", "ns"), ("2020", "Y")):
            theirs = np.array([[text]], f"M8[{unit}]")
            self.assertEqual(gufunc.array(theirs).tolist(), theirs.tolist())
            self.assertEqual(gufunc.array(theirs).item(), theirs.item())
        theirs = np.array([1, -5], "m8[s]")
        self.assertEqual(gufunc.array(theirs).tolist(), theirs.tolist())
        self.assertEqual(gufunc.array(theirs)[0].item(), datetime.timedelta(seconds=1))

    def test_buffers_with_a_tail(self):
        for size in (9, 3):
            with self.assertRaises(ValueError) as expected:
                np.frombuffer(bytes(size), "f4")
            with self.assertRaises(ValueError) as found:
                gufunc.from_buffer(bytes(size), "f4")
            self.assertEqual(str(found.exception), str(expected.exception))
        self.assertEqual(gufunc.from_buffer(bytes(8), "f4").shape, (2,))


if __name__ == "__main__":
    unittest.main()
