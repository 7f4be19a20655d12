# SPDX-License-Identifier: Apache-2.0
"""Runs programs that must behave the same with NumPy and this package: results, exceptions,
warnings, and the attributes of ufuncs.

Uses simulated devices if they were built.
"""

import copy
import inspect
import pickle
import unittest
import warnings

import gufunc
import numpy as np

DEVICES = [device.spec for device in gufunc.devices()]
KINDS = (TypeError, ValueError, IndexError, OverflowError)
# Programs that run with both libraries. `m` is the library.
METHODS = """
m.add.reduceat(x, [])
m.add.reduceat(x, ())
m.add.reduceat(x, range(0))
m.add.reduceat(X, [], axis=1)
m.add.reduceat(x, np.array([], int))
m.add.reduceat(x, np.array([]))
m.add.reduceat(x, [[]])
m.add.reduceat(x, 0)
m.add.reduceat(x, None)
m.add.reduceat(x, [0.0, 2.0])
m.add.reduceat(x, [True, False])
m.add.reduceat(x, (0, np.int8(1)))
m.add.reduceat(x, range(3))
m.add.reduceat(x, [0, 5])
m.add.reduceat(x, [0, 2**70])
m.add.reduceat(x, np.array([0, 1], np.uint64))
m.add.reduceat(x, [0], axis=None)
m.add.reduceat(X, [0], axis=None)
m.add.reduceat(np.float64(3), [0], axis=None)
m.add.accumulate(x, axis=None)
m.add.accumulate(X, axis=None)
m.add.accumulate(np.float64(3), axis=None)
m.add.accumulate([1, 2], axis=None)
m.add.accumulate(X, axis=())
m.add.accumulate(X, axis=(1,))
m.add.accumulate(X, axis=(0, 1))
m.add.accumulate(X, axis=[1])
m.add.accumulate(X, axis=True)
m.add.reduceat(X, [0], axis=True)
m.add.reduce(X, axis=[1])
m.add.reduce(X, axis=True)
m.add.reduce(X, axis=np.True_)
m.add.reduce(X, axis=(True,))
m.add.reduce(X, axis=np.array(1))
m.add.reduce(X, axis=np.array([1]))
m.add.reduce(X, axis=np.int8(1))
m.add.reduce(X, axis='a')
m.add.reduce(X, keepdims='true')
m.add.reduce(X, keepdims=None)
m.add.reduce(X, keepdims=1.0)
m.add.reduce(X, keepdims=np.True_)
m.add.reduce(X, keepdims=2)
m.add.reduce(X, keepdims=0)
m.add.reduce(X, keepdims=np.int64(1))
m.add.reduce(X, keepdims=2**70)
m.add.reduce(x, initial=None)
m.add.reduce(x, initial=2**70)
m.add.reduce([1, 2], initial=2**70, dtype='f8')
m.add.reduce(np.array([1, 2]), initial=2**70)
m.add.reduce(x, initial=10**400)
m.multiply.reduce(x.astype('f4'), initial=-2**65)
m.add(np.uint64(2), 2**70, dtype='f8')
m.add(np.uint64(2), 2**70)
m.add.at(X.copy(), [True, False, True], 1)
m.add.at(np.array(2), slice(None), 1)
m.add.at(X.copy(), (0, 0, 0, ...), 1)
m.add.reduce(x, out=())
m.add.reduce(x, out=[np.zeros(())])
m.add.outer(x)
m.add.outer(x, x, x)
m.add.at(x.copy(), 'a', 1)
m.add.at(x.copy(), 1.0, 1)
m.add.at(x.copy(), ([0.5],), 1)
""".split("\n")
CALLS = """
m.vecdot(X, X, keepdims='true')
m.vecdot(X, X, keepdims=1)
m.vecdot(X, X, keepdims=None)
m.vecdot(X, X, keepdims=np.True_)
m.vecdot(X, X, keepdims=True)
m.vecdot(X, X, axis=True)
m.vecdot(X, X, axis=None)
m.vecdot(X, X, axis=(0,))
m.vecdot(X, X, axis=0)
m.vecdot(X, X, axes=[True, True])
m.vecdot(X, X, axes=[(True,), (True,)])
m.vecdot(X, X, axes=[[1], [1]])
m.vecdot(X, X, axes=[1, 1, ()])
m.vecdot(X, X, axes=[1, 1, ()], keepdims=True)
m.vecdot(X, X, axes=[1, 1, 0], keepdims=True)
m.vecdot(X, X, axes=[1, 1], keepdims=True)
m.vecdot(X, X, axes=[1, 1], axis=1)
m.vecdot(X, X, axes=((1,), (1,)))
m.vecdot(X, X, axes=None)
m.matmul(X, X.T, axes=[(0, 0), (0, 1), (0, 1)])
m.matmul(X, X.T, axes=[(0, -2), (0, 1), (0, 1)])
m.matmul(X, X.T, axes=[(0, 1), (0, 1), (0, 0)])
m.matmul(X, X.T, axes=[(0, 1), (0, 1), (0, 0)], keepdims=True)
m.matmul(X, X.T, axes=[[0, 1], (0, 1), (0, 1)])
m.matmul(X, X.T, keepdims=True)
m.add(x, x, axis=None)
m.add(x, x, axis=0)
m.add(x, x, keepdims=False)
m.add(x, x, axes=[(), (), ()])
m.add(x, x, axes=[0, 0, 0])
m.add(x, x, signature='d')
m.sin(x, signature='d')
m.sin(x, sig='f')
m.add(x, x, signature=('d',))
m.add(x, x, signature=(None,))
m.add(x, x, signature=np.float32)
m.add(x, x, signature=np.dtype('f'))
m.add(x, x, signature=[None, None, 'f'])
m.add(x, x, signature=3)
m.add(x, x, signature='')
m.add(x, x, signature=())
m.add(x, x, signature='dd')
m.add(x, x, signature='->d')
m.add(x, x, signature='d->d')
m.add(x, x, signature='dd->dd')
m.add(x, x, signature='double')
m.add(x, x, signature='dd->d->d')
m.add(x, x, signature=b'dd->d')
m.add(x, x, signature=(None, None, 'f'))
m.add(x, x, signature=(None, None, None))
m.add(x, x, subok='x')
m.add(x, x, subok=1)
m.add(x, x, subok=False)
m.add(x, x, casting=None)
m.add(x, x, casting=b'safe')
m.add(x, x, order=b'C')
m.add(x, x, order='Cx')
m.add(x, x, ...)
m.add(x, x, out=(...,))
m.add(x, x, None)
m.add(x, x, None, out=None)
m.add(x, x, None, out=np.zeros(3))
m.add(x, x, out=())
m.add(x, x, out=[np.zeros(3)])
m.add(x1=x, x2=x)
""".split("\n")
WARNINGS = """
m.add(z, 1, out=np.zeros(3), casting='unsafe')
m.add(z, 1, out=np.zeros(3, int), casting='unsafe')
m.add(z, 1, out=np.zeros(3, bool), casting='unsafe')
m.add(z, 1, out=np.zeros(3, 'F'), casting='unsafe')
m.add(z, 1, dtype='d', casting='unsafe')
m.add(1, 1j, out=np.zeros(()), casting='unsafe')
m.add(1.0, 1.0, out=np.zeros(()), dtype='D', casting='unsafe')
m.add(x, x, out=np.zeros(3, int), casting='unsafe')
m.add(z[:0], 1, out=np.zeros(0), casting='unsafe')
m.add(z, 1, out=np.zeros(3), casting='unsafe', where=[True, False, True])
m.add(z, 1, signature='dd->d', casting='unsafe')
m.equal(z, 1, out=np.zeros(3), casting='unsafe')
m.absolute(z, out=np.zeros(3, 'f'), casting='unsafe')
m.add.outer(z, 1j, out=np.zeros(3), casting='unsafe')
m.add.reduce(z, dtype='d')
m.add.reduce(z, out=np.zeros(()))
m.add.reduce(z, out=np.zeros((), 'F'))
m.add.reduce(z, dtype='F')
m.logical_and.reduce(z, out=np.zeros((), bool))
m.add.accumulate(z, dtype='d')
m.add.accumulate(z, out=np.zeros(3))
m.add.reduceat(z, [0], out=np.zeros(1))
m.add.reduceat(z, [0, 1], dtype='d')
m.add.at(x.copy(), [0], 1j)
m.add.at(x.copy(), [0], z[:1])
m.add.at(z.copy(), [0], z[:1])
m.add.at(z.copy(), [0], 1.0)
m.add.reduce(x, where=x > 0)
m.add(x, x, where=True)
""".split("\n")
UNSPECIFIED = """
m.add(x, x, where=[True, False, True])
m.add(x, x, None, where=[True, False, True])
m.add(x, x, where=np.True_)
m.add(x, x, where=[True, False, True], out=None)
m.add(x, x, where=[True, False, True], out=(None,))
m.add(x, x, where=[True, False, True], out=...)
m.sin(x, where=x > 1)
m.add.outer(x, x, where=np.eye(3, dtype=bool))
""".split("\n")


def outcome(program, module):
    """Returns (result, classes of the exception, classes of the warnings) of a program."""
    x, X, z = np.arange(3.0), np.arange(6.0).reshape(2, 3), 1j * np.arange(3) + 1
    space = {"m": module, "np": np, "x": x, "X": X, "z": z}
    with warnings.catch_warnings(record=True) as met:
        warnings.simplefilter("always")
        found, raised = None, ()
        try:
            found = eval(program, space)
        except Exception as error:
            raised = [kind for kind in KINDS if isinstance(error, kind)]
    return found, raised, {warning.category for warning in met}


class Programs(unittest.TestCase):
    def compare(self, programs, values=True):
        for program in filter(None, programs):
            with self.subTest(program):
                ours, theirs = outcome(program, gufunc), outcome(program, np)
                self.assertEqual(bool(ours[1]), bool(theirs[1]), ours[1] or theirs[1])
                self.assertLessEqual(set(theirs[1]), set(ours[1]))
                self.assertEqual(ours[2], theirs[2])
                self.assertIs(type(ours[0]), type(theirs[0]))
                if theirs[0] is not None and values:
                    np.testing.assert_array_equal(ours[0], theirs[0], strict=True)

    def test_methods(self):
        self.compare(METHODS)

    def test_keywords_of_calls(self):
        self.compare(CALLS)

    def test_warnings(self):
        self.compare(WARNINGS)
        self.compare(UNSPECIFIED, values=False)

    def test_warnings_as_errors_change_nothing(self):
        for program in ("add(z, 1, out=out, casting='unsafe')", "add.reduce(z, out=out[0, ...])",
                        "add.accumulate(z, out=out)", "add.at(out, [0], 1j)"):
            out, z = np.full(3, 7.0), 1j * np.arange(3)
            with self.subTest(program), warnings.catch_warnings():
                warnings.simplefilter("error")
                with self.assertRaises(np.exceptions.ComplexWarning):
                    eval(f"gufunc.{program}")
                self.assertEqual(out.tolist(), [7, 7, 7])

    def test_warnings_name_the_callers_line(self):
        z, out = 1j * np.arange(3), np.zeros(3)
        for call in (lambda: gufunc.add(z, 1, out=out, casting="unsafe"),
                     lambda: gufunc.add(1.0, 1.0, where=False)):
            with warnings.catch_warnings(record=True) as met:
                warnings.simplefilter("always")
                call()
            self.assertEqual([warning.filename for warning in met], [__file__])

    def test_repeated_axes_of_matrices(self):
        """Tests the signature (m,m)->() with axes=, compared with the determinant of NumPy."""
        try:
            from numpy.linalg._umath_linalg import det
        except ImportError:
            self.skipTest("NumPy's ufunc is not where it was")
        made = gufunc.create("compat_det", signature="(m,m)->()")
        made.add_loop("dd", lambda *arguments: None)
        x = np.random.default_rng(0).random((2, 3, 2, 2))
        for keepdims in (True, False):
            for item in ((0, 0), (2, -1), (-1, 3), (3, 2)):
                for result in ((0, 0), (0, 1), (3, 3), (5, 5), (), (0, -2), None):
                    axes = [item] if result is None else [item, result]
                    with self.subTest(axes=axes, keepdims=keepdims):
                        self.assertEqual(*(self.shape_of(ufunc, x, axes, keepdims)
                                           for ufunc in (made, det)))

    @staticmethod
    def shape_of(ufunc, x, axes, keepdims):
        try:
            return ufunc(x, axes=axes, keepdims=keepdims).shape
        except ValueError:
            return ValueError


class Devices(unittest.TestCase):
    def test_indices_of_reduceat_in_device_memory(self):
        x = np.arange(6.0)
        expected = np.add.reduceat(x, [0, 4, 2])
        for spec in DEVICES:
            there = gufunc.array([0, 4, 2], device=spec)
            found = gufunc.add.reduceat(x, there)
            np.testing.assert_array_equal(np.asarray(found), expected)
            found = gufunc.add.reduceat(gufunc.array(x, device=spec), there)
            self.assertEqual((found.device.spec, found.tolist()), (spec, expected.tolist()))
            values, zeros = gufunc.array(x, device=spec), gufunc.zeros(3, "int64", device=spec)
            gufunc.Device(spec).synchronize()
            with gufunc.Stream(spec) as stream:  # the stream computes and also reads the indices
                indices = gufunc.subtract(there, zeros, stream=stream)
                found = gufunc.add.reduceat(values, indices, stream=stream)
            self.assertEqual(found.tolist(), expected.tolist())
            for bad in (gufunc.array([0.5], device=spec), gufunc.array([[0]], device=spec),
                        gufunc.array([7], device=spec)):
                with self.assertRaises((TypeError, ValueError, IndexError)):
                    gufunc.add.reduceat(x, bad)


class Ufuncs(unittest.TestCase):
    """Tests the attributes of ufuncs."""

    def test_identities(self):
        for name in ("add", "multiply", "logical_and", "logical_or", "logical_xor", "bitwise_and",
                     "bitwise_or", "bitwise_xor", "maximum", "subtract", "matmul", "sin", "equal"):
            ours, theirs = getattr(gufunc, name).identity, getattr(np, name).identity
            self.assertEqual((ours, type(ours)), (theirs, type(theirs)), name)
        made = gufunc.create("compat_identity", 2, 1, identity=1)
        self.assertIs(type(made.identity), int)

    def test_types_are_numpys_letters(self):
        for name in gufunc.names():
            ufunc = gufunc.find(name)
            if ":" not in name:
                self.assertEqual(ufunc.ntypes, len(ufunc.types))
                for loop in ufunc.types:
                    for letter in loop.replace("->", ""):
                        np.dtype(letter)
        self.assertIn(("bfloat16",) * 3, gufunc.add.loops)

    def test_signatures(self):
        for name in ("add", "sin", "matmul", "vecdot", "isnat"):
            ours = inspect.signature(getattr(gufunc, name)).parameters
            theirs = inspect.signature(getattr(np, name)).parameters
            for key, parameter in theirs.items():
                self.assertEqual(ours[key].kind, parameter.kind)
                self.assertEqual(repr(ours[key].default), repr(parameter.default))
            self.assertIn("stream", ours)
            for method in ("reduce", "accumulate", "reduceat", "outer", "at"):
                ours = inspect.signature(getattr(getattr(gufunc, name), method)).parameters
                theirs = inspect.signature(getattr(getattr(np, name), method)).parameters
                self.assertLessEqual({*theirs} - {"kwargs"}, {*ours})
        made = gufunc.create("compat_several", 3, 2)
        self.assertTrue(str(inspect.signature(made)).startswith(
            "(x1, x2, x3, /, out=(None, None), *"))
        inspect.signature(gufunc.Ufunc)

    def test_a_ufunc_is_one_object(self):
        for ufunc in (gufunc.add, gufunc.absolute, gufunc.matmul):
            for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
                self.assertIs(pickle.loads(pickle.dumps(ufunc, protocol)), ufunc)
            self.assertIs(gufunc.find(ufunc.__name__), ufunc)
            self.assertIs(copy.deepcopy(ufunc), ufunc)
        self.assertIs(pickle.loads(pickle.dumps({"f": gufunc.abs}))["f"], gufunc.absolute)
        made = gufunc.create("compat_one", 1, 1)
        self.assertIs(gufunc.find("compat_one"), made)
        del made
        found = gufunc.find("compat_one")
        self.assertIs(gufunc.find("compat_one"), found)


if __name__ == "__main__":
    unittest.main()
