# SPDX-License-Identifier: Apache-2.0
"""Tests contexts and interpreters: ufuncs of modules, pickles, and subinterpreters.

python_contexts_test.py MODULES_FOLDER
"""

import copy
import ctypes
import pickle
import subprocess
import sys
import unittest

import gufunc

MODULES = sys.argv.pop(1)


class Contexts(unittest.TestCase):
    def test_ufuncs_of_a_contexts_module(self):
        module = gufunc.Context().load(f"{MODULES}/discriminant.so")
        self.assertAlmostEqual(module.discriminant(0.25, 10.0, 1.0), 9.9498743710662)
        self.assertEqual(module["discriminant"].__name__, "discriminant:discriminant")

    def test_pickles_name_only_the_default_contexts(self):
        alone = gufunc.Context()
        own = alone.load(f"{MODULES}/discriminant.so").discriminant
        with self.assertRaisesRegex(pickle.PicklingError, "belongs to another context"):
            pickle.dumps(own)
        usual = gufunc.load(f"{MODULES}/discriminant.so").discriminant
        self.assertEqual(pickle.loads(pickle.dumps(usual)), usual)
        with self.assertRaises(pickle.PicklingError):  # another ufunc has this name now
            pickle.dumps(own)
        self.assertIs(copy.copy(own), own)
        self.assertIs(copy.deepcopy(own), own)

    def test_a_contexts_reduction_with_a_state(self):
        context = gufunc.Context()
        block_function = gufunc.create("bounds", signature="(n)->(),()", context=context)
        block_function.add_loop("d->dd", bounds_of_elements)
        merge = gufunc.create("bounds_merge", 4, 2, context=context)
        merge.add_loop("dddd->dd", bounds_of_bounds)
        made = block_function.set_reduction(merge, None)
        self.assertIs(made, block_function)
        found = made.reduce([3.0, 1.0, 2.0])
        self.assertEqual(tuple(map(float, found)), (1.0, 3.0))


def number(address):
    return ctypes.c_double.from_address(address)


def bounds_of_elements(addresses, dims, steps):
    for i in range(dims[0]):
        x, low, high = (address + i * step for address, step in zip(addresses, steps))
        found = [number(x + k * steps[3]).value for k in range(dims[1])]
        number(low).value, number(high).value = min(found), max(found)


def bounds_of_bounds(addresses, dims, steps):
    for i in range(dims[0]):
        *states, low, high = (number(address + i * step)
                              for address, step in zip(addresses, steps))
        found = [state.value for state in states]
        low.value, high.value = min(found), max(found)


SUBINTERPRETER = """
import sys
try:
    import _xxsubinterpreters as subinterpreters
except ImportError:
    import _interpreters as subinterpreters
if sys.argv[1] == "main first":
    import gufunc
program = (
    "try:\\n"
    "    import gufunc\\n"
    "except ImportError as error:\\n"
    "    print(error, flush=True)\\n"
    "else:\\n"
    "    print('imported', flush=True)\\n")
made = subinterpreters.create()
subinterpreters.run_string(made, program)
subinterpreters.destroy(made)
import gufunc
print(gufunc.add([1], [2]).tolist())
try:
    gufunc.add([1, 2], [1, 2, 3])
except gufunc.ShapeError:
    print("its own errors")
"""


class Interpreters(unittest.TestCase):
    def test_subinterpreters_are_refused(self):
        for first in ("main first", "other first"):
            with self.subTest(first):
                done = subprocess.run([sys.executable, "-c", SUBINTERPRETER, first],
                                      capture_output=True, text=True)
                if "No module named" in done.stderr:
                    self.skipTest("this Python has no subinterpreters to make")
                self.assertRegex(done.stdout.splitlines()[0], "subinterpreters")
                self.assertEqual(done.stdout.splitlines()[1:], ["[3]", "its own errors"],
                                 done.stderr)


class Loops(unittest.TestCase):
    def test_a_loop_is_callable(self):
        made = gufunc.create("loops_are_callable", 1, 1)
        for wrong in ("x", None, 1.5, [1], True):
            with self.subTest(wrong), self.assertRaises(gufunc.CallError) as caught:
                made.add_loop("d->d", wrong)
            self.assertEqual(str(caught.exception),
                             f"loop: expected a callable or an address, got {wrong!r}")
        with self.assertRaisesRegex(gufunc.CallError, "the loop's address is NULL"):
            made.add_loop("d->d", 0)
        self.assertEqual(made.ntypes, 0)
        with self.assertRaisesRegex(gufunc.CallError, "core_dims"):
            gufunc.create("hooks_are_callable", signature="(n)->(m)", core_dims="x")


if __name__ == "__main__":
    unittest.main()
