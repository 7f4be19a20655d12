# SPDX-License-Identifier: Apache-2.0
"""Runs the corpus (tests/conformance/corpus/README.md) through the package, with NumPy's arrays.

python_corpus.py CORPUS_FOLDER DEVICE MODULE.so...
"""

import json
import math
import pathlib
import re
import struct
import sys

import gufunc
import numpy as np
from gufunc import _gufunc

KEYS = {"id", "ufunc", "method", "buffers", "inputs", "outputs", "where", "indices", "initial",
        "axis", "axes", "keepdims", "dims", "casting", "order", "dtype", "signature", "fp_report",
        "fp_fail", "expect"}
ALL_FLAGS = 31
# The package raises these errors itself, with NumPy's text and without an argument index.
IN_NUMPYS_WORDS = re.compile(
    r"(inputs|outputs|types in a signature) of \w+\(\): expected|axes should be a list with"
    r"|return arrays must be of ArrayType;")


class Case:
    """The memory and the operands of one case."""

    def __init__(self, case, data):
        unknown = set(case) - KEYS
        if unknown:
            raise ValueError(f"unknown keys {unknown}")
        self.case = case
        self.buffers, self.made = [], {}
        for buffer in case["buffers"]:
            padded = np.full(buffer["nbytes"] + 32, 0xA5, np.uint8)
            start = -padded.ctypes.data % 16 + buffer["shift"]
            memory = padded[start:start + buffer["nbytes"]]
            memory[:] = data[buffer["at"]:buffer["at"] + buffer["nbytes"]]
            self.buffers.append(memory)
        self.before = [memory.tobytes() for memory in self.buffers]

    def array(self, spec):
        """Returns an ndarray or, for bfloat16, which NumPy lacks, an array of the package."""
        key = json.dumps(spec, sort_keys=True)
        if key not in self.made:
            self.made[key] = self.make(spec)
        return self.made[key]

    def make(self, spec):
        memory = self.buffers[spec["buffer"]]
        shape, strides = tuple(spec["shape"]), tuple(spec["strides"])
        if spec["dtype"] == "bfloat16":
            code = gufunc.dtype("bfloat16").code
            flags = 2 * bool(spec.get("swapped")) + bool(spec.get("read_only"))
            return _gufunc.array_wrap(memory.ctypes.data + spec["offset"], code, shape, strides,
                                      flags, None, memory)
        dtype = np.dtype(spec["dtype"])
        if spec.get("swapped"):
            dtype = dtype.newbyteorder()
        if 0 in shape:
            made = np.lib.stride_tricks.as_strided(np.empty(0, dtype), shape, strides)
        else:
            made = np.ndarray(shape, dtype, memory, spec["offset"], strides)
        if spec.get("read_only"):
            made.flags.writeable = False
        return made

    def operand(self, spec):
        kind = spec["kind"]
        if kind == "array":
            return self.array(spec)
        if kind == "scalar":
            data = bytearray.fromhex(spec["bytes"])
            if spec["dtype"] == "bfloat16":
                return gufunc.from_buffer(data, "bfloat16").reshape(())
            return np.frombuffer(data, spec["dtype"])[0]
        if kind == "weak_int":
            return int(spec["value"])
        parts = spec["bits"] if isinstance(spec["bits"], list) else [spec["bits"]]
        numbers = [struct.unpack(">d", bytes.fromhex(part))[0] for part in parts]
        if kind == "weak_float":
            return numbers[0]
        if kind == "weak_complex":
            return complex(*numbers)
        raise ValueError(f"unknown kind {kind}")

    def keywords(self, device):
        case, found = self.case, {"device": device}
        for key in ("casting", "order", "dtype", "keepdims"):
            if key in case:
                found[key] = case[key]
        if "signature" in case:
            found["signature"] = tuple(case["signature"])
        if "dims" in case:
            found["dims"] = dict(case["dims"])
        if "axes" in case:
            found["axes"] = [tuple(map(int, axes)) for axes in case["axes"]]
        if "axis" in case:
            axis = case["axis"]
            found["axis"] = (None if axis == "all" else tuple(map(int, axis))
                             if isinstance(axis, list) else int(axis))
        if "initial" in case:
            found["initial"] = (None if case["initial"] == "none"
                                else self.operand(case["initial"]))
        if "where" in case:
            found["where"] = self.operand(case["where"])
        if "outputs" in case:
            found["out"] = tuple(spec and self.operand(spec) for spec in case["outputs"])
        return found

    def run(self, device):
        """Runs the case and returns the results as a list."""
        case = self.case
        ufunc = gufunc.find(case["ufunc"])
        inputs = [self.operand(spec) for spec in case["inputs"]]
        keywords = self.keywords(device)
        method = case["method"]
        if method == "at":
            indices = tuple(self.operand(spec) for spec in case["indices"])
            ufunc.at(inputs[0], indices, *inputs[1:], **keywords)
            return [inputs[0]]
        if method == "reduceat":
            inputs.append(self.operand(case["indices"][0]))
        if method == "call" and len(inputs) > ufunc.nin:
            # Otherwise an extra positional input would be the output.
            keywords.setdefault("out", (None,) * ufunc.nout)
        result = (ufunc if method == "call" else getattr(ufunc, method))(*inputs, **keywords)
        if "inouts" in case["expect"]:
            return [inputs[i] for i in case["expect"]["inouts"]]
        return list(result) if isinstance(result, tuple) else [result]


# Comparison of the results of a case with the expected results.

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


def judge_results(there, found, data):
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


def run_case(case, data, device):
    """Runs a case. Returns None, or the reason of the failure."""
    there = Case(case, data)
    met, expect = [], case["expect"]
    handler = gufunc.errstate.call
    gufunc.errstate.call = staticmethod(met.append)
    report = ALL_FLAGS if case.get("fp_report") else 0
    before = _gufunc._set_fp_flags(report, case.get("fp_fail", 0))
    try:
        results, status, failure = there.run(device), "GUF_OK", None
    except gufunc.Error as error:
        results, status = None, error.name
        failure = {"message": error.message, "argument": error.argument, "axis": error.axis}
    finally:
        _gufunc._set_fp_flags(*before)
        gufunc.errstate.call = handler
    if status != expect["status"]:
        return f"expected {expect['status']}, got {status} {failure}"
    if status != "GUF_OK":
        expected = {key: expect[key] for key in failure}
        if failure != expected and not IN_NUMPYS_WORDS.match(expected["message"]):
            return f"expected {expected}, got {failure}"
        return untouched(there) if not expect.get("written") else None
    fp_flags = sum(met)
    if fp_flags != expect.get("fp_flags", 0):
        return f"fp_flags: expected {expect.get('fp_flags', 0)}, got {fp_flags}"
    return judge_results(there, results, data)


def digest(ids):
    """Returns the FNV-1a hash of the ids, each followed by a newline."""
    found = 0xCBF29CE484222325
    for byte in "".join(f"{one}\n" for one in ids).encode():
        found = (found ^ byte) * 0x100000001B3 % 2**64
    return found


def main():
    folder, device, *modules = sys.argv[1:]
    loaded = [gufunc.load(module) for module in modules]
    count = failed = 0
    for path in sorted(pathlib.Path(folder).glob("*.json")):
        group = json.loads(path.read_text())
        if group["format"] != 1:
            sys.exit(f"{path}: format {group['format']}")
        data = np.frombuffer(path.with_suffix(".bin").read_bytes(), np.uint8)
        ids = []
        for case in group["cases"]:
            try:
                why = run_case(case, data, device)
            except Exception as error:  # the package should have raised its own error
                why = f"{type(error).__name__}: {error}"
            ids.append(case["id"])
            if why is not None:
                failed += 1
                print(f"{case['id']}: {why}")
        count += len(ids)
        print(f"{group['group']}: {len(ids)} judged, fnv1a {digest(ids):016x}")
    print(f"{count} cases, {count - failed} passed, {failed} failed")
    del loaded
    sys.exit(1 if failed or not count else 0)


if __name__ == "__main__":
    main()
