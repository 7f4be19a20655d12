# SPDX-License-Identifier: Apache-2.0
"""Tests ufuncs made from functions of ctypes, cffi and Numba, from PyCapsules and from Cython's
exports."""

import ctypes
import gc
import math
import unittest
import weakref

import gufunc
import numpy as np

NUMPY_LOOP = ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_int64),
                              ctypes.POINTER(ctypes.c_int64), ctypes.c_void_p)
STATUS_LOOP = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p),
                               ctypes.POINTER(ctypes.c_int64), ctypes.POINTER(ctypes.c_int64),
                               ctypes.c_void_p)


class GufError(ctypes.Structure):
    """The struct guf_error of gufunc/status.h."""

    _fields_ = [("struct_size", ctypes.c_uint32), ("status", ctypes.c_int32),
                ("argument", ctypes.c_int32), ("axis", ctypes.c_int32),
                ("native_code", ctypes.c_int32), ("reserved", ctypes.c_int32),
                ("message", ctypes.c_char * 488)]


ERROR_LOOP = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p),
                              ctypes.POINTER(ctypes.c_int64), ctypes.POINTER(ctypes.c_int64),
                              ctypes.c_void_p, ctypes.POINTER(GufError))
DOUBLES = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double, ctypes.c_double)
math_library = ctypes.CDLL("libm.so.6")
math_library.hypotf.restype = ctypes.c_float
new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_names = iter(f"pointers_{i}" for i in range(1000))


def made(*args, **keywords):
    return gufunc.ufunc_from_pointer(*args, name=next(_names), **keywords)


def add_loop(args, dims, steps, user):
    for i in range(dims[0]):
        one, two = (ctypes.c_double.from_address(args[k] + i * steps[k]).value for k in (0, 1))
        ctypes.c_double.from_address(args[2] + i * steps[2]).value = one + two + (user or 0)


class Pointers(unittest.TestCase):
    def test_loops_of_ctypes(self):
        x = np.arange(6.0)[::2]
        f = made(NUMPY_LOOP(add_loop), "dd->d")
        np.testing.assert_array_equal(f(x, 10), x + 10)
        np.testing.assert_array_equal(f(x.astype("f4"), 1), x + 1)  # a cast is required
        f = made(NUMPY_LOOP(add_loop), (float, np.float64, "f8"), user=1000)
        np.testing.assert_array_equal(f(x, 10), x + 1010)
        address = ctypes.cast(kept := NUMPY_LOOP(add_loop), ctypes.c_void_p)
        np.testing.assert_array_equal(made(address.value, "dd->d")(x, 2), x + 2)
        np.testing.assert_array_equal(made(address, "dd->d")(x, 2), x + 2)
        del kept

    def test_functions_of_numbers(self):
        x, y = np.linspace(-3, 3, 7), np.linspace(1, 2, 7)
        f = made(math_library.hypot, "dd->d", scalar=True)
        np.testing.assert_array_equal(f(x, y), [math.hypot(*pair) for pair in zip(x, y)])
        several = made([math_library.hypotf, math_library.hypot], ["ff->f", "dd->d"], scalar=True)
        self.assertEqual(several(np.float32(3), np.float32(4)).dtype, np.float32)
        self.assertEqual(several(3.0, 4.0), 5.0)
        self.assertEqual(several.types, ["ff->f", "dd->d"])
        fused = made(math_library.fma, "ddd->d", scalar=True)
        np.testing.assert_allclose(fused(x, y, 1), x * y + 1)
        np.testing.assert_allclose(made(math_library.cbrtf, "f->f", scalar=True)(
            np.float32([8, 27])), [2, 3])
        for types in ("df->d", "il->l", "ddddd->d", "D->D", "?->?"):
            with self.assertRaises(TypeError):
                made(math_library.hypot, types, scalar=True)

    def test_failing_loops(self):
        def refuse(args, dims, steps, user):
            return 0 if ctypes.c_double.from_address(args[0]).value >= 0 else user

        f = made(STATUS_LOOP(refuse), "d->d", fallible=True, user=gufunc.lowlevel.GUF_E_VALUE,
                 any_thread=False)
        f(np.ones(3))
        with self.assertRaises(gufunc.ShapeError):
            f(-np.ones(3))

    def refused(self, ufunc):
        """Checks the exceptions for a loop that reports status 3xx, operand 1, axis 0 and code
        77."""
        found = []
        stream = gufunc.Stream("cpu")
        for call in (lambda: ufunc(-2.0), lambda: ufunc(-2 * np.ones(100_000)),
                     lambda: (ufunc(-2 * np.ones(3), stream=stream), stream.synchronize())):
            with self.assertRaises(gufunc.ShapeError) as caught:
                call()
            error = caught.exception
            self.assertIsInstance(error, ValueError)
            found.append((error.message.partition(";")[0], error.name, error.argument,
                          error.native_code))
            np.testing.assert_array_equal(ufunc(np.ones(4)), np.ones(4))
        self.assertEqual(found, [("-2.0 is too little: é", "GUF_E_VALUE", 0, 77)] * 3)

    def test_loops_that_report_their_error(self):
        def refuse(args, dims, steps, user, error):
            for i in range(dims[0]):
                value = ctypes.c_double.from_address(args[0] + i * steps[0]).value
                if value < 0:
                    error[0].message = f"{value} is too little: é".encode()
                    error[0].argument, error[0].native_code = 0, user
                    return gufunc.lowlevel.GUF_E_VALUE
                ctypes.c_double.from_address(args[1] + i * steps[1]).value = value
            return 0

        loop = ERROR_LOOP(refuse)
        self.refused(made(loop, "d->d", fallible="error", user=77))
        ufunc = gufunc.create("pointers_tells", 1, 1)
        ufunc.add_loop("dd", ctypes.cast(loop, ctypes.c_void_p).value, fallible="error", user=77)
        self.refused(ufunc)
        with self.assertRaises(ValueError):
            made(loop, "d->d", fallible="yes")
        with self.assertRaises(ValueError):
            ufunc.add_loop("ff", 1, fallible="yes")

    def test_loops_of_cffi_that_report_their_error(self):
        try:
            import cffi
        except ImportError:
            self.skipTest("no cffi here")
        ffi = cffi.FFI()
        ffi.cdef("""typedef struct { uint32_t struct_size; int32_t status, argument, axis;
                    int32_t native_code, reserved; char message[488]; } guf_error;""")

        @ffi.callback("int32_t(char **, int64_t *, int64_t *, void *, guf_error *)")
        def refuse(args, dims, steps, user, error):
            for i in range(dims[0]):
                value = ffi.cast("double *", args[0] + i * steps[0])[0]
                if value < 0:
                    error.message = f"{value} is too little: é".encode()
                    error.argument, error.native_code = 0, 77
                    return gufunc.lowlevel.GUF_E_VALUE
                ffi.cast("double *", args[1] + i * steps[1])[0] = value
            return 0

        self.assertEqual(ffi.sizeof("guf_error"), ctypes.sizeof(GufError))
        self.refused(made(refuse, "d->d", fallible="error"))

    def test_generalized(self):
        def row_sum(args, dims, steps, user):
            for i in range(dims[0]):
                row = args[0] + i * steps[0]
                total = sum(ctypes.c_double.from_address(row + j * steps[2]).value
                            for j in range(dims[1]))
                ctypes.c_double.from_address(args[1] + i * steps[1]).value = total

        f = made(NUMPY_LOOP(row_sum), "dd", signature="(n)->()")
        x = np.arange(12.0).reshape(3, 4)
        np.testing.assert_array_equal(f(x), x.sum(axis=-1))
        np.testing.assert_array_equal(f(x, axis=0), x.sum(axis=0))

    def test_capsules(self):
        address = ctypes.cast(math_library.hypot, ctypes.c_void_p).value
        capsule = new_capsule(address, b"double (double, double)", None)
        self.assertEqual(made(capsule)(3.0, 4.0), 5.0)  # the capsule's name contains the types
        with_names = new_capsule(address, b"double (double x, double y)", None)
        self.assertEqual(made(with_names)(3.0, 4.0), 5.0)
        unnamed = new_capsule(address, None, None)
        self.assertEqual(made(unnamed, "dd->d", scalar=True)(3.0, 4.0), 5.0)
        pointers = new_capsule(address, b"double (double *, double)", None)
        with self.assertRaises(TypeError):
            made(pointers)
        loop = NUMPY_LOOP(add_loop)
        named = new_capsule(ctypes.cast(loop, ctypes.c_void_p).value,
                            b"void (char **, npy_intp *, npy_intp *, void *)", None)
        self.assertEqual(made(named, "dd->d")(3.0, 4.0), 7.0)

    def test_exports_of_cython(self):
        seen = []

        @ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double, ctypes.c_int)
        def half(value, skip_dispatch):
            seen.append(skip_dispatch)
            return value / 2

        class module:
            __name__ = "exporting"
            __pyx_capi__ = {"half": new_capsule(ctypes.cast(half, ctypes.c_void_p).value,
                                                b"double (double, int __pyx_skip_dispatch)", None)}

        self.assertEqual(made((module, "half"))(3.0), 1.5)
        self.assertEqual(seen, [0])
        with self.assertRaises(AttributeError):
            made((module, "third"))

    def test_addresses_of_numba(self):
        class Compiled:  # has the attributes of a function that @cfunc compiled
            address = ctypes.cast(math_library.hypot, ctypes.c_void_p).value

        self.assertEqual(made(Compiled(), "dd->d", scalar=True)(3.0, 4.0), 5.0)

    def test_numba_itself(self):
        try:
            from numba import carray, cfunc, types
        except ImportError:
            self.skipTest("no numba here")

        @cfunc(types.double(types.double, types.double))
        def scalar(x, y):
            return x * y + 1

        loop = types.void(types.CPointer(types.voidptr), types.CPointer(types.int64),
                          types.CPointer(types.int64), types.voidptr)

        @cfunc(loop)
        def halves(args, dims, steps, user):
            n = dims[0]
            source = carray(args[0], n, types.double)
            out = carray(args[1], n, types.double)
            for i in range(n):
                out[i] = source[i] / 2

        x = np.arange(100000.0)
        np.testing.assert_array_equal(made(scalar, "dd->d", scalar=True)(x, 2), x * 2 + 1)
        np.testing.assert_array_equal(made(halves, "d->d")(x), x / 2)

        self.assertEqual(made(scalar)(2.0, 3.0), 7.0)  # the function has attributes with its types
        whole = cfunc("int64(int64, int64)")(lambda a, b: a * b + 1)
        np.testing.assert_array_equal(made(whole)(np.arange(4), 3), [1, 4, 7, 10])
        for report in ("complex128(complex128)", "float64(int64)", "boolean(boolean)"):
            with self.assertRaises(gufunc.CallError):
                made(cfunc(report)(lambda x: x), "d->d")
        for types in ("ff->f", "d->d"):
            with self.assertRaisesRegex(gufunc.CallError, "expected dd->d, got"):
                made(scalar, types, scalar=True)
        with self.assertRaisesRegex(gufunc.CallError, "other than numbers"):
            made(halves, "d->d", scalar=True)

    def test_types_that_ctypes_declares(self):
        f = DOUBLES(lambda x, y: x - y)
        for types, scalar in ((None, None), ("dd->d", None), ("ddd", True),
                              ((float, "f8", "d"), None)):
            self.assertEqual(made(f, types, scalar=scalar, any_thread=False)(3.0, 1.0), 2.0)
        for types in ("ff->f", "d->d", "ddd->d", "ll->l"):
            for scalar in (None, True):
                with self.assertRaises(gufunc.CallError):
                    made(f, types, scalar=scalar)
        for other in (NUMPY_LOOP(add_loop), ctypes.CFUNCTYPE(ctypes.c_double)(lambda: 1.0)):
            with self.assertRaisesRegex(gufunc.CallError, "other than numbers"):
                made(other, "d->d", scalar=True)
        with self.assertRaisesRegex(gufunc.CallError, "types: expected types such as"):
            made(NUMPY_LOOP(add_loop))

    def test_functions_of_integers(self):
        for kind in "byte", "ubyte", "short", "ushort", "int", "uint", "long", "ulong":
            kind = getattr(ctypes, "c_" + kind)
            dtype = np.dtype(kind)
            x = np.array([1, 2, np.iinfo(dtype).max, np.iinfo(dtype).min], dtype)
            for count in range(1, 5):
                with self.subTest(dtype, count=count):
                    function = ctypes.CFUNCTYPE(kind, *[kind] * count)(lambda *a: a[0] ^ a[-1] ^ 5)
                    for keywords in ({}, {"scalar": True}):
                        f = made(function, any_thread=False, **keywords)
                        self.assertEqual(f.types[0][-1], gufunc.dtype(dtype).char)
                        np.testing.assert_array_equal(f(x, *[x[::-1]] * (count - 1)),
                                                      x ^ (x[::-1] if count > 1 else x) ^ 5)
        text = b"unsigned long (unsigned long, unsigned long x, int __pyx_skip_dispatch)"
        ulong = ctypes.c_ulong
        plus = ctypes.CFUNCTYPE(ulong, ulong, ulong, ctypes.c_int)(lambda x, y, skip: x + y + skip)
        address = ctypes.cast(plus, ctypes.c_void_p).value
        f = made(new_capsule(address, text, None), any_thread=False)
        self.assertEqual(f(np.uint64(3), np.uint64(4)), 7)

    def test_functions_of_other_numbers_are_no_loops(self):
        functions = [ctypes.CFUNCTYPE(*kinds)(lambda *a: 0) for kinds in (
            (ctypes.c_double, ctypes.c_long), (ctypes.c_bool, ctypes.c_bool),
            (ctypes.c_double, ctypes.c_double, ctypes.c_void_p), (ctypes.c_long,),
            (None, ctypes.c_double), (ctypes.c_long,) + (ctypes.c_long,) * 5)]
        address = ctypes.cast(functions[0], ctypes.c_void_p).value
        texts = b"double (long)", b"long (double, void *)", b"double (double, long, int x)"
        functions += [new_capsule(address, text, None) for text in texts]
        for function in functions:
            for types in (None, "l->d", "D->D", "lll->l"):
                with self.subTest(function, types=types), self.assertRaises(gufunc.CallError):
                    made(function, types)
        named = new_capsule(address, b"__pyx_t_double_complex (__pyx_t_double_complex)", None)
        with self.assertRaisesRegex(gufunc.CallError, "1 to 4 of one type"):
            made(named, "D->D")

    def test_cffi_itself(self):
        try:
            import cffi
        except ImportError:
            self.skipTest("no cffi here")
        ffi = cffi.FFI()
        ffi.cdef("double hypot(double, double);")
        library = ffi.dlopen("libm.so.6")
        self.assertEqual(made(ffi.addressof(library, "hypot"), "dd->d", scalar=True)(3.0, 4.0), 5.0)
        self.assertEqual(made(ffi.addressof(library, "hypot"))(3.0, 4.0), 5.0)
        with self.assertRaisesRegex(gufunc.CallError, "expected dd->d, got f->f"):
            made(ffi.addressof(library, "hypot"), "f->f", scalar=True)
        back = ffi.callback("double(double)", lambda value: value - 1)
        self.assertEqual(made(back, "d->d", scalar=True)(3.0), 2.0)
        whole = ffi.callback("uint16_t(uint16_t, uint16_t)", lambda a, b: a * b)
        self.assertEqual(made(whole, any_thread=False)(np.uint16(300), np.uint16(200)), 60000)
        with self.assertRaises(gufunc.CallError):
            made(ffi.callback("double(int, double)", lambda a, b: b), "dd->d")

    def test_scipy_itself(self):
        try:
            from scipy.special import cython_special
        except ImportError:
            self.skipTest("no scipy here")
        x = np.linspace(0.1, 3, 9)
        name = next(n for n in cython_special.__pyx_capi__ if n.endswith("_j0") or n == "j0")
        found = made((cython_special, name))(x)
        np.testing.assert_array_equal(found, [cython_special.j0(value) for value in x])

    def test_owners_live_as_long(self):
        loop = NUMPY_LOOP(add_loop)
        alive = weakref.ref(loop)
        f = made(loop, "dd->d")
        del loop
        gc.collect()
        self.assertIsNotNone(alive())
        self.assertEqual(f(1.0, 2.0), 3.0)
        del f
        gufunc.poll()

    def test_refusals(self):
        for bad in (0, ctypes.c_void_p(None), NUMPY_LOOP()):
            with self.assertRaises(ValueError):
                made(bad, "dd->d")
        for bad in ("text", 1.5, object(), True, gufunc.array([1.0])):
            with self.assertRaises(TypeError):
                made(bad, "dd->d")
        with self.assertRaises(TypeError):
            made(math_library.hypot)
        with self.assertRaises(ValueError):
            made([math_library.hypot], ["dd->d", "ff->f"])

    def test_failures_leave_the_name_free(self):
        function = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(lambda x: x + 1)
        for types, keywords in (("dd->zz", {}), ("d->d", {"nin": 2, "nout": 1}),
                                ("i->i", {"scalar": True}), (["d->d", "d->f"], {"scalar": True})):
            pointer = [function] * 2 if isinstance(types, list) else function
            with self.subTest(types), self.assertRaises(TypeError):
                gufunc.ufunc_from_pointer(pointer, types, name="free_again", **keywords)
        made = gufunc.ufunc_from_pointer(function, "d->d", name="free_again", scalar=True,
                                         any_thread=False)
        self.assertEqual(made(1.0), 2.0)


if __name__ == "__main__":
    unittest.main()
