# SPDX-License-Identifier: Apache-2.0
"""Compares the results of a case of the corpus with the expected results."""

import math

import gufunc
import numpy as np

FORMS = {"float16": np.uint16, "bfloat16": np.uint16, "float32": np.uint32, "float64": np.uint64}
PARTS = {"complex64": "float32", "complex128": "float64"}
NANS = {"float16": 0x7C00, "bfloat16": 0x7F80, "float32": 0x7F800000, "float64": 0x7FF << 52}
RESULT_KEYS = {"dtype", "shape", "at", "nbytes", "ulp", "strides", "defined"}
EXPECT_KEYS = {"status", "message", "written", "results", "fp_flags", "inouts"}


def untouched(there):
    """Checks that a rejected call left all memory unchanged."""
    for i, memory in enumerate(there.buffers):
        if memory.tobytes() != there.before[i]:
            return f"buffer {i} was written"
    return None


def _bytes(result):
    """Returns (elements in C order and native byte order, name of the dtype, shape, strides)."""
    if isinstance(result, gufunc.Array):
        data = np.empty(result.nbytes, np.uint8)
        gufunc.lowlevel.guf_array_copy_to_host(result, data, 1, None)
        if result._flags & gufunc.lowlevel.GUF_ARRAY_SWAPPED:
            data = data.reshape(-1, result.itemsize)[:, ::-1]
        return data.tobytes(), result.dtype.name, result.shape, result.strides
    whole = np.asarray(result)
    name = whole.dtype.newbyteorder("=").name
    return whole.astype(whole.dtype.newbyteorder("=")).tobytes(), name, whole.shape, whole.strides


def _ranks(bits, name):
    magnitude = (bits & bits.dtype.type(2**(8 * bits.itemsize - 1) - 1)).astype(object)
    return np.where(bits >> bits.dtype.type(8 * bits.itemsize - 1) == 0, magnitude, -magnitude)


def _real(found, expected, name, ulp):
    """Returns which elements are correct. Both arguments are bytes."""
    form = FORMS[name]
    one, two = np.frombuffer(found, form), np.frombuffer(expected, form)
    rest = form(2**(8 * one.itemsize - 1) - 1)
    nans = ((one & rest) > NANS[name], (two & rest) > NANS[name])
    if ulp == 0:
        return (one == two) | (nans[0] & nans[1])
    near = np.abs(_ranks(one, name) - _ranks(two, name)) <= ulp
    return (nans[0] & nans[1]) | (~nans[0] & ~nans[1] & near.astype(bool))


def _complex(found, expected, name, ulp):
    part = PARTS[name]
    if ulp == 0:
        return _real(found, expected, part, 0).reshape(-1, 2).all(axis=1)
    one = np.frombuffer(found, part).astype(float).reshape(-1, 2)
    two = np.frombuffer(expected, part).astype(float).reshape(-1, 2)
    eps = 2.0**-23 if part == "float32" else 2.0**-52
    right = np.empty(len(one), bool)
    for i, (f, w) in enumerate(zip(one, two)):
        largest = max(abs(w))
        limit = (ulp * eps * 2.0**(math.frexp(largest)[1] - 1)
                 if largest > 0 and math.isfinite(largest) else 0.0)
        right[i] = all((math.isnan(a) and math.isnan(b)) or a == b
                       or (math.isfinite(a) and abs(a - b) <= limit) for a, b in zip(f, w))
    return right


def _elements(found, expected, name, ulp, count):
    if not count:
        return np.ones(0, bool)
    if name in FORMS:
        return _real(found, expected, name, ulp)
    if name in PARTS:
        return _complex(found, expected, name, ulp)
    if ulp:
        raise ValueError(f"ulp of {name}")
    one = np.frombuffer(found, np.uint8).reshape(count, -1)
    return (one == np.frombuffer(expected, np.uint8).reshape(count, -1)).all(axis=1)


def _one(result, expected, data):
    unknown = set(expected) - RESULT_KEYS
    if unknown:
        return f"unknown keys {unknown}"
    found, name, shape, strides = _bytes(result)
    if (name, shape) != (expected["dtype"], tuple(expected["shape"])):
        return f"expected {expected['dtype']} {expected['shape']}, got {name} {shape}"
    if "strides" in expected and 0 not in shape:
        longer = [stride for extent, stride in zip(shape, strides) if extent > 1]
        if longer != expected["strides"]:
            return f"strides: expected {expected['strides']}, got {longer}"
    bytes_expected = data[expected["at"]:expected["at"] + expected["nbytes"]].tobytes()
    if len(found) != len(bytes_expected):
        return f"expected {len(bytes_expected)} bytes, got {len(found)}"
    count = math.prod(shape)
    right = _elements(found, bytes_expected, name, expected["ulp"], count)
    if "defined" in expected:
        right = right | (data[expected["defined"]:expected["defined"] + count] == 0)
    if not right.all():
        return f"element {int(np.argmin(right))} of {result!r}"
    return None


def _written(there, results):
    """Checks that no bytes except the bytes of the outputs' elements have changed."""
    touched = [np.zeros(len(memory), bool) for memory in there.buffers]
    for result in results:
        for i, memory in enumerate(there.buffers):
            base, end = memory.ctypes.data, memory.ctypes.data + len(memory)
            address = result.address if isinstance(result, gufunc.Array) else result.ctypes.data
            if not result.size or not base <= address < end:
                continue
            # The array contains the offset of every byte of every element, computed from the
            # strides.
            places = np.array(address - base)
            for extent, stride in zip(result.shape, result.strides):
                places = places[..., None] + np.arange(extent) * stride
            for byte in range(result.itemsize):
                touched[i][places + byte] = True
    for i, memory in enumerate(there.buffers):
        changed = np.frombuffer(there.before[i], np.uint8) != memory
        if (changed & ~touched[i]).any():
            return f"buffer {i} was written outside the outputs"
    return None


def results(there, found, data):
    """Compares the result of a case. Returns None, or a description of the error."""
    expect = there.case["expect"]
    unknown = set(expect) - EXPECT_KEYS
    if unknown:
        return f"unknown keys {unknown}"
    if len(found) != len(expect["results"]):
        return f"expected {len(expect['results'])} results, got {len(found)}"
    for i, (result, expected) in enumerate(zip(found, expect["results"])):
        why = _one(result, expected, data)
        if why is not None:
            return f"result {i}: {why}"
    outputs = [there.array(spec) for spec in there.case.get("outputs", []) if spec is not None]
    if there.case["method"] == "at" or ("inouts" in expect and not outputs):
        outputs = found
    return _written(there, outputs)
