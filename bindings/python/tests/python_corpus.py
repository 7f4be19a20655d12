# SPDX-License-Identifier: Apache-2.0
"""Runs the corpus (tests/conformance/corpus/README.md) through the package, with NumPy's arrays.

python_corpus.py CORPUS_FOLDER DEVICE MODULE.so...
"""

import json
import pathlib
import re
import struct
import sys

import gufunc
import numpy as np
import python_corpus_judge as judge
from gufunc import _gufunc

KEYS = {"id", "ufunc", "method", "buffers", "inputs", "outputs", "where", "indices", "initial",
        "axis", "axes", "keepdims", "dims", "casting", "order", "dtype", "signature", "fp_report",
        "fp_fail", "expect"}
ALL_FLAGS = 31
# The package raises these errors itself, with NumPy's text and without an argument index.
IN_NUMPYS_WORDS = re.compile(
    r"\w+\(\) takes \d+ (inputs|outputs|types in a signature);|axes should be a list with"
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
        return judge.untouched(there) if not expect.get("written") else None
    fp_flags = sum(met)
    if fp_flags != expect.get("fp_flags", 0):
        return f"fp_flags: expected {expect.get('fp_flags', 0)}, got {fp_flags}"
    return judge.results(there, results, data)


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
