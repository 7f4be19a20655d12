# SPDX-License-Identifier: Apache-2.0
"""Tests calls with arrays of NumPy and of this package. Results, keywords and errors must match
NumPy's."""

import pickle
import unittest

import gufunc
import numpy as np


def same(found, expected):
    assert type(found) is type(expected), (type(found), type(expected))
    assert found.dtype == expected.dtype, (found.dtype, expected.dtype)
    np.testing.assert_array_equal(found, expected)


class Calls(unittest.TestCase):
    def test_numpy_in_numpy_out(self):
        x = np.arange(6.0).reshape(2, 3)
        for args in ((x, x), (x, 1), (x[0], x), (x.T, x.T), (1, 2), ([1, 2], 3), (np.float32(2), 1),
                     (np.float64(2), np.float32(1)), (True, 1), (x[::-1, ::2], 1j),
                     (np.broadcast_to(np.float32(3), (2, 3)), x), (x.astype(">f4"), 2),
                     (np.array(3), np.array(4))):
            same(gufunc.add(*args), np.add(*args))

    def test_gufunc_arrays_stay_gufunc_arrays(self):
        a = gufunc.array([1.0, 2.0])
        for result in (gufunc.add(a, 1), gufunc.add(np.ones(2), a), a + np.ones(2), np.ones(2) + a,
                       np.add(a, 1), np.add.reduce(a), a.sum()):
            self.assertIsInstance(result, gufunc.Array)
        self.assertEqual((np.ones(2) + a).tolist(), [2, 3])

    def test_out_is_returned(self):
        x, out, a = np.arange(3.0), np.empty(3), gufunc.empty(3)
        self.assertIs(gufunc.add(x, 1, out=out), out)
        self.assertIs(gufunc.add(x, 1, out), out)
        self.assertIs(gufunc.add(x, 1, out=(out,)), out)
        self.assertIs(gufunc.add(x, 1, out=a), a)
        self.assertEqual(a.tolist(), [1, 2, 3])
        quotient, remainder = gufunc.divmod(7, 2)
        self.assertEqual((int(quotient), int(remainder)), (3, 1))

    def test_keywords(self):
        x = np.arange(4, dtype=np.int32)
        mask = np.array([True, False, True, False])
        one, two = np.zeros(4, np.int32), np.zeros(4, np.int32)
        same(gufunc.add(x, 1, out=one, where=mask), np.add(x, 1, out=two, where=mask))
        for keywords in ({"dtype": np.float64}, {"dtype": "f4"}, {"signature": "dd->d"},
                         {"signature": (None, None, np.float32)}, {"casting": "unsafe"},
                         {"sig": "ff->f"}, {"dtype": float}, {"order": "F"}):
            same(gufunc.add(x, 1, **keywords), np.add(x, 1, **keywords))
        a, b = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4)
        same(gufunc.matmul(a, b), np.matmul(a, b))
        same(gufunc.matmul(a.T, b, axes=[(1, 0), (0, 1), (1, 0)]),
             np.matmul(a.T, b, axes=[(1, 0), (0, 1), (1, 0)]))
        same(gufunc.vecdot(a, a, axis=0), np.vecdot(a, a, axis=0))
        same(gufunc.vecdot(a, a, keepdims=True), np.vecdot(a, a, keepdims=True))

    def test_every_ufunc_of_numpy(self):
        # The library has no Python objects, no strings and no long double. NumPy's long is int64.
        elsewhere = set("OSTUVgGlL")
        names = [name for name in dir(np) if isinstance(getattr(np, name), np.ufunc)]
        self.assertGreaterEqual(len(names), 106)
        for name in names:
            found, expected = getattr(gufunc, name), getattr(np, name)
            for attribute in ("__name__", "nin", "nout", "signature", "identity"):
                self.assertEqual(getattr(found, attribute), getattr(expected, attribute), name)
            loops = {types for types in expected.types if not elsewhere.intersection(types)}
            self.assertLessEqual(loops, set(found.types), name)

    def test_block_functions_need_an_element(self):
        for ufunc, more in ((gufunc.argmax, [0]), (gufunc.argmin, [0]), (gufunc.ptp, [])):
            for empty in (np.zeros(0), np.zeros((2, 0), np.int32)):
                with self.assertRaises(ValueError):
                    ufunc(empty, *more)
                with self.assertRaises(ValueError):
                    ufunc.plan(empty, *more)
        values, indices = gufunc.argmax(np.array([[3.0, 7.0], [9.0, 1.0]]), 0)
        self.assertEqual((values.tolist(), indices.tolist()), ([7, 9], [1, 0]))

    def test_parameters_of_reductions(self):
        x = np.array([1.0, 2.0, 6.0])
        for parameters in (1, 1.0, (1,), np.int8(1)):
            self.assertEqual(float(gufunc.var.reduce(x, parameters=parameters)), 7)
        ours = gufunc.array(x)
        self.assertEqual(ours.var(ddof=1).item(), 7)
        self.assertEqual(ours.std(0, ddof=1).item(), np.sqrt(7))
        for ufunc, parameters in ((gufunc.add, 1), (gufunc.var, (1, 2))):
            with self.assertRaisesRegex(gufunc.ArgumentError, "nparameters: expected 0 to"):
                ufunc.reduce(x, parameters=parameters)
        with self.assertRaisesRegex(TypeError, "argument 5 is a parameter"):
            gufunc.var.reduce(x, parameters=1j)

    def test_precision_of_reductions(self):
        half = np.array([1, 1 + 2**-10], np.float16)
        same(gufunc.mean.reduce(half), np.float16(1))
        out = np.zeros(())
        gufunc.mean.reduce(half, out=out)
        self.assertEqual(out, 1 + 2**-11)
        same(gufunc.var.reduce(half, dtype="f8"), np.var(half, dtype="f8"))
        big = np.full(300, 60000, np.float16)
        same(gufunc.mean.reduce(big), np.float16(60000))
        wide = np.full(300, 3e38, np.float32)
        self.assertTrue(np.isinf(gufunc.nansum.reduce(wide)))

    def test_masks_of_lists_and_numbers(self):
        x = np.arange(3.0)
        masks = ([1, 0, 1], (1, 0, 1), [1.5, 0, np.nan], [True, False, True], [[0], [2]], range(3),
                 [np.int64(0), 1, 2], 1, 0, 0.5, 2j, 0j, True, False, np.int64(1), np.float32(0),
                 np.bool_(False), None, [None, 1, ""])
        for mask in masks:
            with self.subTest(mask=mask):
                one, two = np.full((2, 3), 7.0), np.full((2, 3), 7.0)
                same(gufunc.add(x, 1, out=one, where=mask), np.add(x, 1, out=two, where=mask))
                same(gufunc.add.reduce(one, where=mask) if np.ndim(mask) < 2 else one,
                     np.add.reduce(two, where=mask) if np.ndim(mask) < 2 else two)
        stream, out = gufunc.Stream(), np.full(3, 7.0)
        gufunc.add(x, 1, out=out, where=[1, 0, 1], stream=stream)
        stream.synchronize()
        self.assertEqual(out.tolist(), [1, 7, 3])
        self.assertIsInstance(gufunc.add.reduce(x, where=[1, 0, 1]), np.float64)
        for mask in (np.array([1, 0, 1]), np.array(1), gufunc.array([1, 0, 1]), memoryview(b"abc")):
            with self.assertRaisesRegex(TypeError, "according to the rule 'safe'"):
                gufunc.add(x, 1, out=out, where=mask)

    def test_methods(self):
        x = np.arange(12, dtype=np.int16).reshape(3, 4)
        for args, keywords in (((x,), {}), ((x, 1), {}), ((x, None), {}), ((x, (0, 1)), {}),
                               ((x,), {"keepdims": True, "axis": 1}), ((x,), {"initial": 5}),
                               ((x,), {"dtype": "f8"}), ((x, -1), {"where": x > 3, "initial": 0}),
                               ((x, ()), {})):
            same(gufunc.add.reduce(*args, **keywords), np.add.reduce(*args, **keywords))
        same(gufunc.maximum.reduce(x, initial=None), np.maximum.reduce(x, initial=None))
        same(gufunc.add.accumulate(x, axis=1), np.add.accumulate(x, axis=1))
        same(gufunc.add.reduceat(x, [0, 2, 1], axis=1), np.add.reduceat(x, [0, 2, 1], axis=1))
        same(gufunc.subtract.outer(x[0], [1, 2]), np.subtract.outer(x[0], [1, 2]))
        one, two = x.copy(), x.copy()
        gufunc.add.at(one, ([0, 0, 2], 1), 7)
        np.add.at(two, ([0, 0, 2], 1), 7)
        for indices in ([], ([], []), (0, []), ([[]],), [[]], (), (np.array([], int), 1), ([], 1)):
            for m, a in ((gufunc, one), (np, two)):
                m.add.at(a, indices, 3)
            np.testing.assert_array_equal(one, two, repr(indices))
        for indices in (None, True, False, ..., (), (None, None), (True, None), (..., None)):
            for make in (gufunc.array, np.array):
                made, expected = make(5.0), np.array(5.0)
                gufunc.add.at(made, indices, 3)
                np.add.at(expected, indices, 3)
                self.assertEqual(made.item(), expected.item(), repr(indices))
        same(one, two)

    def test_errors_are_numpys(self):
        x = np.arange(3.0)
        for call in (lambda m: m.add(x, np.ones(2)), lambda m: m.add.reduce(x, axis=3),
                     lambda m: m.bitwise_and(x, 1), lambda m: m.add(x, 1, out=np.zeros(3, int)),
                     lambda m: m.add(1), lambda m: m.add(x, 1, nothing=1),
                     lambda m: m.add(x, 1, out=(x, x)), lambda m: m.add(x, 1, casting="odd"),
                     lambda m: m.add(x, 1, x, out=x), lambda m: m.add(x, 1, out=3),
                     lambda m: m.minimum.reduce(x[:0]), lambda m: m.add.at(x, [9], 1),
                     lambda m: m.add(np.zeros(2, np.int8), 300), lambda m: m.add.accumulate(1.0)):
            with self.assertRaises(Exception) as expected:
                call(np)
            with self.assertRaises(Exception) as found:
                call(gufunc)
            base = next(c for c in type(expected.exception).__mro__
                        if c.__module__ != "numpy._core._exceptions")
            self.assertIsInstance(found.exception, base, str(expected.exception))

    def test_error_record(self):
        with self.assertRaises(gufunc.ShapeError) as caught:
            gufunc.add(np.ones(2), np.ones(3))
        error = caught.exception
        self.assertEqual((error.name, error.argument, error.axis), ("GUF_E_SHAPE", 1, 0))
        copied = pickle.loads(pickle.dumps(error))
        self.assertEqual((type(copied), str(copied)), (type(error), str(error)))

    def test_huge_integers(self):
        same(gufunc.add(np.ones(2), 2**70), np.add(np.ones(2), 2**70))
        with self.assertRaises(OverflowError):
            gufunc.add(np.ones(2, int), 2**70)
        with self.assertRaises(OverflowError):
            gufunc.add(np.ones(2, int), -2**64)

    def test_pickling(self):
        self.assertEqual(pickle.loads(pickle.dumps(gufunc.add)), gufunc.add)
        a = pickle.loads(pickle.dumps(gufunc.arange(6).reshape(2, 3).T))
        self.assertEqual(a.tolist(), [[0, 3], [1, 4], [2, 5]])

    def test_datetimes_and_structured_dtypes(self):
        day = np.array(["2020-01-01", "NaT"], "M8[D]")
        same(gufunc.add(day, np.timedelta64(36, "h")), np.add(day, np.timedelta64(36, "h")))
        same(gufunc.isnat(day), np.isnat(day))
        self.assertEqual(gufunc.make_time("m8", "s", 25), np.dtype("m8[25s]"))
        self.assertEqual(gufunc.datetime_data("M8[25s]"), np.datetime_data("M8[25s]"))
        self.assertEqual(gufunc.promote_types("i4", "f4"), np.promote_types("i4", "f4"))
        self.assertEqual(gufunc.can_cast("i8", "f4"), np.can_cast("i8", "f4"))
        pairs = np.zeros(3, [("a", "i4"), ("b", "f8")])
        pairs["a"] = [1, 2, 3]
        again = gufunc.as_array(pairs)
        np.testing.assert_array_equal(again.copy().numpy(), pairs)


class FloatingPointFlags(unittest.TestCase):
    def test_errstate(self):
        zero = np.zeros(2)
        gufunc.divide(1.0, zero)
        with gufunc.errstate(divide="warn"), self.assertWarnsRegex(RuntimeWarning, "by zero"):
            gufunc.divide(1.0, zero)
        with gufunc.errstate(all="raise"), self.assertRaises(FloatingPointError):
            gufunc.sqrt(-1.0)
        gufunc.sqrt(-1.0)


if __name__ == "__main__":
    unittest.main()
