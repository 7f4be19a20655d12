# SPDX-License-Identifier: Apache-2.0
"""Tests the package in a program without NumPy. It must not import NumPy, and arrays must work."""

import array
import sys
import unittest


class Refuse:
    """Makes `import numpy` fail as if NumPy were not installed."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] == "numpy":
            raise ImportError("this program has no NumPy")
        return None


sys.meta_path.insert(0, Refuse)
import gufunc  # noqa: E402


class WithoutNumPy(unittest.TestCase):
    def test_lists_give_arrays(self):
        result = gufunc.add([1, 2, 3], 0.5)
        self.assertIsInstance(result, gufunc.Array)
        self.assertEqual(result.tolist(), [1.5, 2.5, 3.5])
        self.assertEqual(result.dtype, "float64")

    def test_masks_of_lists_and_numbers(self):
        out = array.array("d", [7, 7, 7])
        gufunc.add([1, 2, 3], 1, out=out, where=[1, 0, 2.5])
        self.assertEqual(list(out), [2, 7, 4])
        gufunc.add([1, 2, 3], 10, out=out, where=0)
        self.assertEqual(list(out), [2, 7, 4])
        with self.assertRaises(gufunc.Error):
            gufunc.add([1, 2, 3], 1, out=out, where=["x"])

    def test_buffers_are_viewed(self):
        memory = array.array("d", [1, 2, 3])
        view = gufunc.from_buffer(memory)
        gufunc.multiply(view, 2, out=view)
        self.assertEqual(list(memory), [2, 4, 6])
        self.assertEqual(gufunc.negative(memory).tolist(), [-2, -4, -6])
        out = array.array("d", [0, 0, 0])
        gufunc.add(memory, 1, out=out)
        self.assertEqual(list(out), [3, 5, 7])

    def test_structured_elements_are_bytes(self):
        pair = gufunc.register_dtype("plain_pair", 2)
        x = gufunc.from_buffer(bytearray(b"abcd"), pair)
        x[0] = x[1]
        self.assertEqual((x.tolist(), x[0].item()), ([b"cd", b"cd"], b"cd"))
        self.assertEqual(str(x), "[b'cd', b'cd']\nshape (2,), plain_pair, cpu")
        self.assertEqual(gufunc.zeros(2, pair).tolist(), [b"\0\0"] * 2)

    def test_a_read_only_buffer_is_read_and_not_written(self):
        view = gufunc.from_buffer(bytes([1, 2, 3]))
        self.assertTrue(view.readonly)
        self.assertEqual(gufunc.add(view, 1).tolist(), [2, 3, 4])
        with self.assertRaisesRegex(ValueError, "read-only"):
            gufunc.add(view, 1, out=view)

    def test_memoryview_of_an_array(self):
        a = gufunc.arange(6, dtype="int32").reshape(2, 3)
        view = memoryview(a.T)
        self.assertEqual((view.format, view.shape, view.strides), ("i", (3, 2), (4, 12)))
        self.assertEqual(view.tolist(), [[0, 3], [1, 4], [2, 5]])
        a[1, 2] = 9
        self.assertEqual(view.tolist()[2][1], 9)

    def test_no_format_is_no_buffer(self):
        with self.assertRaises(BufferError):
            memoryview(gufunc.zeros(3, "bf16"))

    def test_axis_error_without_numpy(self):
        with self.assertRaises(gufunc.AxisError) as caught:
            gufunc.add.reduce([1, 2], axis=5)
        self.assertIsInstance(caught.exception, IndexError)
        self.assertEqual(caught.exception.name, "GUF_E_AXIS")

    def test_elements_of_every_type(self):
        for name, value in (("bool", True), ("int8", -3), ("uint64", 2**63), ("float16", 0.5),
                            ("bfloat16", 0.5), ("complex64", 1 + 2j), ("float32", 0.25)):
            a = gufunc.full(2, value, name)
            self.assertEqual(a.tolist(), [value, value], name)

    def test_numpy_was_not_imported(self):
        self.assertNotIn("numpy", sys.modules)
        with self.assertRaises(ImportError):
            gufunc.zeros(2).numpy()


if __name__ == "__main__":
    unittest.main()
