# SPDX-License-Identifier: Apache-2.0
"""Tests operands of classes of other libraries. An operand is rejected if NumPy would call its
class or return instances of it, and accepted if it is plain memory.

Uses simulated devices if they were built, and the libraries that can be imported.
"""

import importlib
import pathlib
import tempfile
import unittest
import unittest.mock
import warnings

import gufunc
import numpy as np

DEVICES = [device.spec for device in gufunc.devices() if device.spec != "cpu"]


class Elements:
    """A class with elements, which counts its conversions to NumPy."""

    converted = 0

    def __array__(self, dtype=None, copy=None):
        type(self).converted += 1
        return np.array([1.0, 2.0, 3.0])


class Labelled(Elements):
    def __array_ufunc__(self, ufunc, method, *inputs, **keywords):
        return "aligned"

    def to_numpy(self):
        return np.array([1.0, 2.0, 3.0])


class Magnitude(Labelled):
    """Like a quantity of pint, which returns the attributes of its elements, also __dlpack__."""

    magnitude = np.array([1.0, 2.0, 3.0])

    def __getattr__(self, name):
        return getattr(self.magnitude, name)


class Objects:
    """A column of objects, like a Series with missing integers."""

    def __array__(self, dtype=None, copy=None):
        return np.array([1, None], dtype=object)


class Lazy(Labelled):
    def __dask_graph__(self):
        return {}


class Functions(Elements):
    def __array_function__(self, function, types, args, keywords):
        return NotImplemented


class Wraps(Elements):
    def __array_wrap__(self, array, context=None, return_scalar=False):
        return self


class Declines(Elements):
    __array_ufunc__ = None


class Units(np.ndarray):
    def __array_ufunc__(self, ufunc, method, *inputs, **keywords):
        return "units"

    def to_value(self, unit):
        return np.asarray(self)


class Plain(np.ndarray):
    pass


class Metres(float):
    def __array_ufunc__(self, ufunc, method, *inputs, **keywords):
        return "metres"


class Count(int):
    __array_ufunc__ = Metres.__array_ufunc__


class Volts(np.float64):
    __array_ufunc__ = Metres.__array_ufunc__


class Missing:
    """A scalar with __array_ufunc__, like pandas.NA."""

    def __array_ufunc__(self, ufunc, method, *inputs, **keywords):
        return self


class Exports(Elements):
    """An array with NumPy's protocols and DLPack, like arrays of CuPy and PyTorch."""

    __array_ufunc__ = Labelled.__array_ufunc__
    __array_wrap__ = Wraps.__array_wrap__
    memory = np.array([1.0, 2.0, 3.0])

    def __dlpack__(self, **keywords):
        return self.memory.__dlpack__(**keywords)

    def __dlpack_device__(self):
        return self.memory.__dlpack_device__()


def plain_calls(x):
    """Returns calls that pass an operand in every possible way."""
    y = np.ones(3)
    return {
        "first": lambda: gufunc.add(x, y), "second": lambda: gufunc.add(y, x),
        "alone": lambda: gufunc.sqrt(x), "beside an array": lambda: gufunc.add(gufunc.ones(3), x),
        "where": lambda: gufunc.add(y, y, out=y.copy(), where=x),
        "reduce": lambda: gufunc.add.reduce(x),
        "accumulate": lambda: gufunc.add.accumulate(x),
        "reduceat": lambda: gufunc.add.reduceat(x, [0]),
        "indices of reduceat": lambda: gufunc.add.reduceat(y, x),
        "initial": lambda: gufunc.add.reduce(y, initial=x),
        "operand of at": lambda: gufunc.add.at(y.copy(), [0, 1, 2], x),
        "outer": lambda: gufunc.add.outer(y, x),
        "core": lambda: gufunc.vecdot(x, y), "on a stream": lambda: stream_call(x),
        "plan": lambda: gufunc.add.plan(x, y, out=np.empty(3)),
        "resolve": lambda: gufunc.add.resolve(x, y),
        "chunked": lambda: gufunc.add.call_chunked(x, y, out=np.empty(3))}


def without_ufuncs(test, *names):
    """Removes ufuncs from the package until the end of the test, so that NumPy has ufuncs that the
    package lacks."""
    kept = {name: value for name, value in vars(gufunc).items() if name not in names}
    patch = unittest.mock.patch.dict(vars(gufunc), kept, clear=True)
    patch.start()
    test.addCleanup(patch.stop)


def stream_call(x):
    with gufunc.Stream() as stream:
        return gufunc.add(x, 1.0, stream=stream)


class StandIns(unittest.TestCase):
    def assert_refused(self, call, *words):
        with self.assertRaises(TypeError) as caught:
            call()
        self.assertIsInstance(caught.exception, gufunc.Error)
        for word in words:
            self.assertIn(word, str(caught.exception))

    def test_a_class_of_others_is_refused_everywhere(self):
        Elements.converted = 0
        rows = ((Labelled(), "its __array_ufunc__ would not be called; pass x.to_numpy()"),
                (Lazy(), "pass x.compute()"),
                (Functions(), "its __array_function__ would not be called; pass numpy.asarray(x)"),
                (Wraps(), "its __array_wrap__ would not be called; pass numpy.asarray(x)"),
                (Missing(), "its __array_ufunc__ would not be called"),
                (np.ones(3).view(Units), "pass x.to_value(unit)"),
                (np.ones(3).view(Plain), "would be a plain ndarray; pass numpy.asarray(x)"),
                (np.rec.array(np.ones(3)), "cannot be a numpy.rec.recarray"),
                (np.ma.array([1.0, 2.0, 3.0], mask=[0, 1, 0]), "and the mask as where="),
                (Metres(1), "Metres"), (Count(1), "Count"), (Volts(1), "Volts"))
        for x, text in rows:
            for name, call in plain_calls(x).items():
                with self.subTest(type(x).__name__, call=name):
                    self.assert_refused(call, type(x).__name__, text)
        self.assertEqual(Elements.converted, 0)
        for x in (Metres(1), Count(1), Volts(1)):
            self.assertEqual(np.add(x, 1), "metres")  # NumPy calls the class of the operand
        self.assert_refused(lambda: gufunc.add(Declines(), 1), "does not support ufuncs")

    def test_an_explicit_conversion_drops_no_unit_and_no_mask(self):
        Elements.converted = 0
        name = "cannot make an array of a "
        for x, text in (
                (Magnitude(), f"{name}{__name__}.Magnitude: its unit would be dropped; pass "
                              "x.magnitude"),
                (np.ones(3).view(Units), f"{name}{__name__}.Units: its unit would be dropped; pass "
                                         "x.to_value(unit)"),
                (np.ma.array([1.0, 2.0], mask=[0, 1]),
                 f"{name}numpy.ma.MaskedArray: its mask would be dropped; pass x.filled(value) or "
                 "x.data")):
            for call in (gufunc.array, gufunc.ones_like, lambda x: gufunc.array(x, "float32"),
                         lambda x: gufunc.full(3, x), lambda x: gufunc.array(x, copy=False)):
                with self.subTest(text):
                    with self.assertRaises(gufunc.CallError) as caught:
                        call(x)
                    self.assertEqual(str(caught.exception).replace("numpy.ma.core.", "numpy.ma."),
                                     text)
        self.assertEqual(Elements.converted, 0)

    def test_an_explicit_conversion_returns_elements(self):
        for x in (Elements(), Labelled(), Lazy(), Functions(), Wraps(), Exports(),
                  np.rec.array(np.ones(3))):
            made = gufunc.array(x)
            self.assertIs(type(made), gufunc.Array)
            np.testing.assert_array_equal(made.numpy(), np.array(x))
        self.assertEqual(gufunc.array(Elements(), "int8").dtype, "int8")
        with self.assertRaises(gufunc.DTypeError):
            gufunc.array(Objects())

    def test_a_matrix_stays_no_ndarray(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            x = np.matrix([[1.0, 2.0]])
        self.assert_refused(lambda: gufunc.multiply(x, x), "numpy.matrix", "numpy.asarray(x)")
        self.assertEqual(gufunc.multiply(np.asarray(x), 2).tolist(), [[2, 4]])

    def test_operators_defer_to_the_other_class(self):
        a = gufunc.array([1.0, 2.0, 3.0])
        self.assertEqual(a + Labelled(), "aligned")
        self.assertEqual(np.add(a, Labelled()), "aligned")
        self.assertEqual(a * np.ones(3).view(Units), "units")
        masked = a + np.ma.array([1.0, 1.0, 1.0], mask=[0, 1, 0])
        self.assertEqual(masked.tolist(), [2, None, 4])
        for call in (lambda: a + np.ones(3).view(Plain), lambda: np.add(a, np.ones(3).view(Plain)),
                     lambda: np.add(np.ma.ones(3), a)):
            self.assert_refused(call, "cannot be a")

    def test_memory_of_others_is_accepted(self):
        self.assertEqual(gufunc.add(Exports(), 1).tolist(), [2, 3, 4])
        self.assertEqual(gufunc.add(Elements(), 1).tolist(), [2, 3, 4])
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "x")
            path.write_bytes(np.arange(3.0).tobytes())
            mapped = np.memmap(path, "f8", "r+")
            found = gufunc.add(mapped, 1)
            self.assertIs(type(found), type(np.add(mapped, 1)))
            self.assertEqual(found.tolist(), [1, 2, 3])
            self.assertIs(gufunc.add(mapped, 1, out=mapped), mapped)
            self.assertEqual(np.frombuffer(path.read_bytes()).tolist(), [1, 2, 3])
            del mapped

    def test_outputs(self):
        x = np.arange(3.0)
        for out in (np.zeros(3).view(Plain), np.rec.array(np.zeros(3)), np.zeros(3)):
            self.assertIs(gufunc.add(x, 1, out=out), out)
            np.testing.assert_array_equal(np.asarray(out), [1, 2, 3])
            gufunc.add.at(out, [0], 5.0)
            self.assertEqual(np.asarray(out)[0], 6)
        for out in (np.ma.zeros(3), np.zeros(3).view(Units), Labelled(), Lazy()):
            self.assert_refused(lambda: gufunc.add(x, 1, out=out), type(out).__name__)


class OtherLibraries(unittest.TestCase):
    """Tests the exchange of arrays with other libraries. A library that is not installed is
    skipped."""

    def assert_refused(self, x, remedy, *, alone=gufunc.negative):
        for call in (lambda: gufunc.add(x, 1), lambda: alone(x), lambda: gufunc.add.reduce(x)):
            with self.assertRaisesRegex(TypeError, "cannot be a ") as caught:
                call()
            self.assertIn(remedy, str(caught.exception))

    def load(self, name):
        try:
            return importlib.import_module(name)
        except ImportError:
            self.skipTest(f"no {name}")

    def test_pandas(self):
        pandas = self.load("pandas")
        series = pandas.Series([1, 4, 9])
        self.assertEqual(np.add(series, series[::-1]).tolist(), [2, 8, 18])
        for x in (series, pandas.DataFrame({"a": [1, 2]}), pandas.Index([1, 2]),
                  pandas.array([1, None], dtype="Int64")):
            self.assert_refused(x, "x.to_numpy()")
        self.assert_refused(pandas.NA, "NAType")
        self.assertEqual(gufunc.add(series.to_numpy(), 1).tolist(), [2, 5, 10])
        self.assertEqual((gufunc.array([1, 1, 1]) + series).tolist(), [2, 5, 10])

    def test_astropy(self):
        units = self.load("astropy.units")
        self.assert_refused(units.Quantity([1.0, 4.0], "m"), "x.to_value(unit)")
        self.assert_refused(4.0 * units.m, "x.to_value(unit)")

    def test_pint(self):
        quantity = self.load("pint").UnitRegistry().Quantity
        self.assert_refused(quantity(np.ones(2), "m"), "x.magnitude")
        self.assert_refused(quantity(2.0, "m"), "x.magnitude")

    def test_dask(self):
        array = self.load("dask.array")
        self.assert_refused(array.ones(3), "x.compute()")

    def test_xarray(self):
        self.assert_refused(self.load("xarray").DataArray([1.0, 2.0]), "DataArray")

    def test_scipy(self):
        sparse = self.load("scipy.sparse")
        with self.assertRaises(TypeError):
            gufunc.add(sparse.csr_array(np.eye(2)), 1)
        erf = self.load("scipy.special").erf
        a = gufunc.array([0.0, 1.0])
        self.assertIsInstance(erf(a), gufunc.Array)
        np.testing.assert_array_equal(erf(a).numpy(), erf(a.numpy()))

    def test_torch(self):
        torch = self.load("torch")
        self.assertEqual(gufunc.add(torch.ones(2), 1).tolist(), [2, 2])


class Conversions(unittest.TestCase):
    """Tests arrays of this package as arguments of NumPy's functions."""

    def setUp(self):
        without_ufuncs(self, "floor", "hypot")

    def test_device_arrays_are_not_copied_silently(self):
        for spec in DEVICES:
            a = gufunc.array([1.0, 2.0], device=spec)
            for call in (np.asarray, np.array, np.asanyarray, np.ascontiguousarray, np.sort,
                         lambda x: np.array(x, copy=None), lambda x: np.asarray([x, x]),
                         lambda x: np.asarray(x, dtype="f4"), lambda x: np.asarray(x, copy=False),
                         lambda x: np.concatenate([x, x]), np.floor,
                         lambda x: np.hypot(x, 1.0)):
                with self.subTest(spec, call=call), self.assertRaises(TypeError) as caught:
                    call(a)
                self.assertIn("x.numpy()", str(caught.exception))
                self.assertIn(spec, str(caught.exception))
            self.assertEqual(a.numpy().tolist(), [1, 2])
            self.assertEqual(a.copy_to_host().tolist(), [1, 2])
            self.assertEqual(np.from_dlpack(a, device="cpu").tolist(), [1, 2])

    def test_host_arrays_are_viewed(self):
        a = gufunc.array([1.0, 2.0])
        view = np.asarray(a)
        view[0] = 7
        self.assertEqual(a.tolist(), [7, 2])
        self.assertEqual(np.asarray(a, dtype="f4").dtype, np.float32)
        self.assertEqual(np.asarray(a, copy=False).ctypes.data, a.address)
        self.assertNotEqual(np.array(a).ctypes.data, a.address)
        with self.assertRaises(ValueError):
            np.asarray(a, dtype="f4", copy=False)


class UfuncsOfOthers(unittest.TestCase):
    """Tests NumPy's ufuncs, and functions that only NumPy has, which run on the memory of host
    arrays."""

    def setUp(self):
        without_ufuncs(self, "floor", "hypot", "arctan2", "copysign", "logaddexp", "isfinite",
                       "spacing", "modf")

    def test_numpys(self):
        x = np.array([0.5, -1.5, 2.25])
        a = gufunc.array(x)
        for name, args in (("floor", ()), ("hypot", (2.0,)), ("arctan2", (a,)), ("copysign", (x,)),
                           ("logaddexp", (x,)), ("isfinite", ()), ("spacing", ())):
            ufunc = getattr(np, name)
            found = ufunc(a, *args)
            self.assertIsInstance(found, gufunc.Array)
            expected = ufunc(x, *[one if one is not a else x for one in args])
            self.assertEqual(found.dtype, expected.dtype)
            np.testing.assert_allclose(found.numpy(), expected, rtol=1e-15)
        self.assertIsInstance(np.hypot(x, a), gufunc.Array)
        self.assertIsInstance(np.floor(gufunc.array(1.5)), gufunc.Array)
        self.assertAlmostEqual(np.hypot.reduce(a).item(), np.hypot.reduce(x), 14)
        np.testing.assert_allclose(np.logaddexp.accumulate(a).numpy(), np.logaddexp.accumulate(x),
                                   rtol=1e-15)
        self.assertEqual(np.hypot.outer(a, a).shape, (3, 3))

    def test_several_results_outputs_and_masks(self):
        x = np.array([0.5, -1.5, 2.25])
        a = gufunc.array(x)
        fraction, whole = np.modf(a)
        self.assertEqual((fraction.tolist(), whole.tolist()),
                         tuple(part.tolist() for part in np.modf(x)))
        out, other = gufunc.zeros(3), np.zeros(3)
        self.assertIs(np.floor(a, out=out), out)
        self.assertEqual(out.tolist(), [0, -2, 2])
        self.assertIs(np.floor(a, out=other), other)
        self.assertIs(np.floor(x, out=out), out)
        found = np.modf(a, out=(out, None))
        self.assertIs(found[0], out)
        self.assertIsInstance(found[1], gufunc.Array)
        out.fill(9)
        np.floor(a, out=out, where=gufunc.array([True, False, True]))
        self.assertEqual(out.tolist(), [0, 9, 2])
        np.hypot.at(out, [0, 0], a[:2])
        self.assertEqual(out.tolist()[1:], [9, 2])

    def test_functions_made_in_python(self):
        a = gufunc.array([1.0, 2.0])
        found = np.frompyfunc(lambda x: str(x), 1, 1)(a)
        self.assertEqual(found.tolist(), ["1.0", "2.0"])

    def test_work_on_streams_is_awaited(self):
        with gufunc.Stream() as stream:
            a = gufunc.add(gufunc.full(100000, 0.5), 1.0, stream=stream)
            self.assertEqual(set(np.frompyfunc(int, 1, 1)(a).tolist()), {1})


class Divmod(unittest.TestCase):
    def test_on_either_side(self):
        for dtype in ("f8", "f4", "i4", "u1"):
            x, y = np.array([7, 8, 200]).astype(dtype), np.array([2, 3, 7]).astype(dtype)
            a, b = gufunc.array(x), gufunc.array(y)
            expected = divmod(x, y)
            for first, second in ((x, b), (a, y), (a, b)):
                for found in (divmod(first, second), np.divmod(first, second)):
                    for part, one in zip(found, expected):
                        self.assertIsInstance(part, gufunc.Array)
                        self.assertEqual(part.dtype, one.dtype)
                        np.testing.assert_array_equal(part.numpy(), one)
        for left in (7, 7.5, np.float64(7), np.int16(9)):
            found, expected = divmod(left, gufunc.array([2, 3])), divmod(left, np.array([2, 3]))
            for part, one in zip(found, expected):
                self.assertEqual(part.dtype, one.dtype)
                self.assertEqual(part.tolist(), one.tolist())
        for spec in DEVICES:
            there = gufunc.array([2.0, 3.0], device=spec)
            self.assertEqual([part.tolist() for part in divmod(np.float64(7), there)],
                             [[3, 2], [1, 1]])

    def test_outputs_and_masks(self):
        x, y = np.array([7.0, 8.0, 9.0]), np.array([2.0, 3.0, 4.0])
        a = gufunc.array(x)
        found = np.divmod(a, y, out=(a, None))  # the quotient overwrites an input
        self.assertIs(found[0], a)
        self.assertEqual((a.tolist(), found[1].tolist()), ([3, 2, 2], [1, 2, 1]))
        a = gufunc.array(x)
        quotient, remainder = np.full(3, 5.0), np.full(3, 6.0)
        np.divmod(a, y, out=(quotient, remainder), where=[True, False, True])
        self.assertEqual((quotient.tolist(), remainder.tolist()), ([3, 5, 2], [1, 6, 1]))


if __name__ == "__main__":
    unittest.main()
