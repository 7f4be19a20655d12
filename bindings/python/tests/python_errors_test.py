# SPDX-License-Identifier: Apache-2.0
"""Tests that every error is a gufunc.Error and also an instance of the class that NumPy raises."""

import pickle
import unittest

import gufunc
import numpy as np

X = np.arange(6.0).reshape(2, 3)
# Expressions that are evaluated with both libraries. `m` is the library.
BOTH = ["m.add(X, X, axis=0)", "m.add(X, X, keepdims=True)", "m.add(X, X, axes=[(0,), (0,), (0,)])",
        "m.matmul(X, X.T, axis=0)", "m.add(X, X, dtype='d', signature='dd->d')",
        "m.matmul(X, X.T, axes=[(0,), (0, 1), (0, 1)])", "m.vecdot(X, X, axes=[(), (), (0, 1)])",
        "m.matmul(X, X.T, axes=[(1,), (0, 1, 0), (0, 1)])",
        "m.matmul(X, X.T, axes=[0, (0, 1), (0, 1)])", "m.vecdot(X, X, axes=[(0, 1), (0,), ()])",
        "m.vecdot(X, X, axes=[(0,), (0,), (0,)])", "m.matmul.reduce(X)", "m.matmul.accumulate(X)",
        "m.vecdot.reduceat(X, [0])", "m.sin.reduce(X)", "m.add.reduce(X, axis=5)",
        "m.add(object(), 1)", "m.add(X, X, order='X')", "m.add(X, X, casting='bogus')",
        "m.add(X, X, dtype=object())", "m.can_cast('f4', 'f8', 'no!')",
        "m.empty(3, order='X')", "m.add(X, X[:, :2])", "m.bitwise_and(X, X)",
        "m.add(X, X, out=np.zeros((2, 3), int))", "m.array(X)[5]", "m.array(X).copy(order='X')",
        "m.array(X).astype('f4', casting='no')", "m.array(X).reshape(3, 2, order='Z')",
        "m.array(X).reshape(4, 4)", "m.add()", "m.add(X, X, foo=1)"]
OURS = {"m.array([2**64])": OverflowError, "m.array(['a'])": TypeError,
        "m.array([None])": TypeError, "m.add('s', 1)": TypeError,
        "m.array([[1], [1, 2]])": ValueError,
        "m.add(np.longdouble(1), 1)": TypeError, "m.dtype(1.5)": TypeError,
        "m.empty_host(3, device='cpu', memory='soft')": ValueError,
        "m.create('errors_1', 1, 1, flags=['quick'])": ValueError,
        "m.create('errors_2', 1, 1, identity=7)": ValueError,
        "m.create('errors_3', 1, 1, roles=['in', 'up'])": ValueError}


CHUNKED = "m.add.call_chunked(X, X, out=np.empty_like(X), "
NAMED = {CHUNKED + "chunk_bytes=-1)": "chunk_bytes: expected 0 to 18446744073709551615, got -1",
         CHUNKED + "chunk_bytes=2**70)":
             "chunk_bytes: expected 0 to 18446744073709551615, got 1180591620717411303424",
         CHUNKED + "depth='x')": "depth: expected an integer, got 'x'",
         CHUNKED + "first_item=2**63)": "first_item: expected 0 to 9223372036854775807, got",
         "m.Stream().synchronize('1')": "timeout: expected a number of seconds or None, got '1'",
         "m.Stream().synchronize(float('nan'))":
             "timeout: expected a number of seconds or None, got nan",
         "m.Device().limit_memory(-1)": "limit_bytes: expected 0 to 18446744073709551615, got -1",
         "m.Device().limit_memory(2**64)": "0 to 18446744073709551615, got 18446744073709551616",
         "m.Device().limit_memory('x')": "limit_bytes: expected an integer, got 'x'",
         "m.poll(2**32)": "max_callbacks: expected 0 to 4294967295, got 4294967296",
         "m.make_time('m8', 's', 2**32)": "multiple: expected 0 to 4294967295, got 4294967296",
         "m.find(3)": "name: expected a str, got 3",
         "m.find('add' + chr(0))": "expected a str without NUL, got",
         "m.add(1, 1, dims={1: 2})": "dims: expected a str and an integer, got 1: 2",
         "m.add(1, 1, dims={'n': 2.5})": "dims: expected a str and an integer, got 'n': 2.5",
         "m.Stream(None)": "device: expected a Device or its name, got None",
         "m.Event(None)": "device: expected a Device or its name, got None",
         "m.arange(1., 2., 3., 4.)": "arange: expected 1 to 3 numbers, got 4",
         "m.arange()": "arange: expected 1 to 3 numbers, got 0",
         "m.arange(0, float('inf'))": "Maximum allowed size exceeded",
         "m.arange(0, float('nan'))": "cannot compute length",
         "plan.launch([1.0], X, X)": "an operand of a launch cannot be a list",
         "plan.launch(-8, X, X)": "addresses: expected 0 to 18446744073709551615, got -8",
         "m.create('errors_4', 1, 1).add_loop('dd', -5)":
             "function: expected 0 to 18446744073709551615, got -5",
         "m.create('errors_5', 1, 1).add_loop('dd', print, user=2**64)": "user: expected 0 to 1844",
         "m.ufunc_from_pointer(-5, 'dd', name='errors_6')": "the function pointer: expected 0 to",
         "m.ufunc_from_pointer(5, 'dd', name='errors_7', user=-1)": "user: expected 0 to 184",
         "m.ufunc_from_pointer(0, 'dd', name='errors_8')": "the function pointer is NULL",
         "m.ufunc_from_pointer('x', 'dd', name='errors_9')": "no address in a str",
         "m.ufunc_from_pointer(5, 'dd', name='errors_10', fallible=2)": "fallible: expected True",
         "m.add(1, 1, device=3)": "expected Device, got int",
         "m.find('add', 3)": "expected Context, got int",
         "m.Stream().wait_event(m.add)": "expected Event, got Ufunc",
         "m.empty([1] * 65)": "shape: expected at most 64 numbers, got 65",
         "m.add.accumulate(X, axis=(0, 1))": "accumulate does not allow multiple axes",
         "m.add.resolve(X, X, method='fold')": "no method 'fold'",
         "m.errstate(divide='loud')": "errstate: divide='loud'",
         "m.array(X).split(2)": "only 1-d arrays are split",
         "m.array([[1, 2], np.ones(3)])": "inhomogeneous",
         "m.add([[1, 2], np.ones(3)], 1)": "inhomogeneous",
         "m.array([[1, 2], [3]])": "nested sequences differ in length",
         "m.add(X, X, threads=-1)": "threads: expected 0 to 4294967295, got -1",
         "m.add.reduce(X, threads=2**70)": "threads: expected 0 to 4294967295, got 1180",
         "m.add(X, X, threads='x')": "threads: expected an integer, got 'x'",
         "m.add.reduce(X, axis=1.5)": "axis: expected an integer or several integers, got 1.5",
         "m.add.reduce(X, axis=(0, 1.5))": "axis: expected an integer, got 1.5",
         "m.create('errors_11', 1, 1).add_loop('ddd', print)": "types: expected 2 types, got 'ddd'",
         "m.create('errors_12', 2, 1).add_loop('d->d', print)":
             "types: expected 3 types, got 'd->d'",
         "m.vecdot(X, X, axis=1.5)": "axis: expected an integer, got 1.5",
         "few(X)": "sizes from core_dims: expected 2, got 1",
         "m.add.accumulate(X, axis=1.5)": "axis: expected an integer or several integers, got 1.5",
         "m.empty(1.5)": "shape: expected an integer or several integers, got 1.5",
         "m.empty((2, 1.5))": "shape: expected an integer, got 1.5",
         "m.empty_host(1.5, device='cpu')":
             "shape: expected an integer or several integers, got 1.5",
         "m.broadcast_to(X, 1.5)": "shape: expected an integer or several integers, got 1.5",
         "m.expand_dims(X, 1.5)": "axis: expected an integer or several integers, got 1.5",
         "m.sliding_window_view(X, 1.5)": "window_shape: expected an integer or several integers",
         "m.sliding_window_view(X, 1, axis=1.5)":
             "axis: expected an integer or several integers, got 1.5",
         "m.array(X).mean(1.5)": "axis: expected an integer or several integers, got 1.5",
         "m.array(X).reshape(1.5)": "shape: expected an integer or several integers, got 1.5",
         "m.array(X).transpose(1.5)": "axes: expected an integer or several integers, got 1.5",
         "m.array(X).squeeze(1.5)": "axis: expected an integer or several integers, got 1.5",
         "m.array(X).flatten(1)": "order must be one of 'K', 'C', 'F', 'A' (got 1)",
         "m.empty_like(X, order=1)": "order must be one of",
         "m.array(X).item(6)": "index 6 is out of bounds for size 6",
         "m.array(X).item(-7)": "index -7 is out of bounds for size 6"}


class Errors(unittest.TestCase):
    def raised(self, program, module):
        try:
            eval(program, {"m": module, "X": X, "np": np})
        except Exception as error:
            return error
        self.fail(f"{program}: nothing is raised")

    def test_classes_are_numpys(self):
        for program in BOTH:
            with self.subTest(program):
                ours, theirs = self.raised(program, gufunc), self.raised(program, np)
                self.assertIsInstance(ours, gufunc.Error)
                for kind in (np.exceptions.AxisError, RuntimeError, IndexError, TypeError,
                             ValueError):
                    if isinstance(theirs, kind):
                        self.assertIsInstance(ours, kind)
                self.assertIs(pickle.loads(pickle.dumps(ours)).__class__, type(ours))

    def test_classes_of_the_package(self):
        for program, kind in OURS.items():
            with self.subTest(program):
                error = self.raised(program, gufunc)
                self.assertIsInstance(error, gufunc.Error)
                self.assertIsInstance(error, kind)

    def test_every_status_has_an_exception(self):
        from gufunc import _errors

        for status in range(100, 1400, 100):
            for number in (status, status + 1):
                error = _errors.make_error(number, "what was wrong", 1, 2, 3)
                self.assertIsInstance(error, gufunc.Error)
                self.assertEqual((str(error), error.args, error.status, error.argument, error.axis),
                                 ("what was wrong", ("what was wrong",), number, 1, 2))
                self.assertIs(type(pickle.loads(pickle.dumps(error))), type(error))

    def test_no_memory(self):
        for kind in (gufunc.NoMemoryError, MemoryError, gufunc.Error):
            with self.assertRaises(kind) as caught:
                gufunc.empty(2**50)
            self.assertEqual(caught.exception.name, "GUF_E_NO_MEMORY")

    def test_arguments_are_named(self):
        """Values that do not fit in the C interface are rejected. The message contains the
        parameter name of the C header.
        """
        plan = gufunc.add.plan(X, X, out=np.empty_like(X))
        few = gufunc.create("errors_few", signature="(n)->(m)", core_dims=lambda sizes: sizes[:1])
        few.add_loop("dd", lambda *arguments: None)
        for program, text in NAMED.items():
            with self.subTest(program), self.assertRaises(gufunc.Error) as caught:
                eval(program, {"m": gufunc, "X": X, "np": np, "plan": plan, "few": few})
            self.assertIn(text, str(caught.exception))
        for timeout in (1e30, float("inf"), 2**70, 10, 0.5, -1):
            self.assertTrue(gufunc.Stream().synchronize(timeout))

    def test_pow_has_no_modulo(self):
        with self.assertRaisesRegex(TypeError, r"unsupported operand type\(s\) for .*pow\(\)"):
            pow(gufunc.array(X), 2, 3)
        self.assertEqual(pow(gufunc.array(X), 2).tolist(), pow(X, 2).tolist())

    def test_texts_are_numpys(self):
        for program in ("m.matmul.reduce(X)", "m.add(X, X, foo=1)", "m.array(X).reshape(4, 4)"):
            self.assertEqual(str(self.raised(program, gufunc)), str(self.raised(program, np)))

    def test_attributes_of_numpys_errors(self):
        error = self.raised("m.add.reduce(X, axis=5)", gufunc)
        theirs = self.raised("m.add.reduce(X, axis=5)", np)
        self.assertEqual((error.axis, error.ndim), (5, theirs.ndim))
        refused = self.raised("m.add(X, X, out=np.zeros((2, 3), int))", np)
        base = [kind for kind in type(refused).__mro__ if kind.__name__ == "UFuncTypeError"][-1]
        if base.__module__ == "numpy._core._exceptions":
            with self.assertRaises(base):
                gufunc.add(X, X, out=np.zeros((2, 3), int))
            with self.assertRaises(base):
                gufunc.bitwise_and(X, X)

    def test_pickles_of_errors(self):
        for error in (gufunc.ShapeError("of a program"), gufunc.AxisError("mine"),
                      self.raised("m.add(X, X[:, :2])", gufunc)):
            again = pickle.loads(pickle.dumps(error))
            self.assertEqual((type(again), str(again), again.status, again.argument),
                             (type(error), str(error), error.status, error.argument))


class Numbers(unittest.TestCase):
    def test_large_integers(self):
        for values in ([2**63], [2**63, -1], [-2**63], [True, 2**64 - 1], [2**63, 1.5]):
            with self.subTest(values):
                made, theirs = gufunc.array(values), np.array(values)
                self.assertEqual((str(made.dtype), made.tolist()),
                                 (str(theirs.dtype), theirs.tolist()))

    def test_slices_beyond_all_bounds(self):
        a, n = gufunc.array(X), np.array(X)
        far = 10**30
        for key in (slice(far), slice(-far, None), slice(far, None, -1), slice(None, None, far),
                    slice(None, -far, -1), slice(far, far), slice(None, None, -far)):
            with self.subTest(key):
                self.assertEqual(a[key].tolist(), n[key].tolist())


if __name__ == "__main__":
    unittest.main()
