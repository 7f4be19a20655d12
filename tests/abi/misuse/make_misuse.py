#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes misuse_table.inc from the public headers: every exported function with its parameters, and
every struct with its fields. The tests pass every kind of invalid value for each parameter and
field."""
import argparse
import pathlib
import re
import sys

INCLUDE = re.compile(r'^#include "(\w+\.h)"', re.MULTILINE)
HANDLES = ["context", "device", "stream", "event", "array", "ufunc", "module", "plan", "graph",
           "kernel"]
# Functions that a process can call only once.
EXCLUDED = {"guf_shutdown"}
# Parameters for which NULL is valid: "parameter" or "function.parameter".
OPTIONAL = {
    "context", "release", "user", "strides", "out_ran", "guf_array_alloc.device",
    "guf_array_to_device.device", "guf_array_fill.stream", "guf_array_copy.stream",
    "guf_array_assign.stream", "guf_array_astype.stream", "guf_array_to_device.stream",
    "guf_array_copy_to_host.stream", "guf_plan_launch.stream", "guf_array_transpose.axes",
    "guf_array_squeeze.axes", "guf_stream_get_native.stream",
    "guf_call_chunked.options", "guf_call_chunked.out_items",
    "guf_kernel_launch.stream", "guf_kernel_get_device_info.device", "ready_on", "consumer",
}
IN_STRUCTS = {"guf_tensor", "guf_call_args", "guf_reduce_args", "guf_accumulate_args",
              "guf_at_args", "guf_request", "guf_reduction_desc", "guf_chunk_options",
              "guf_ufunc_desc", "guf_loop_desc", "guf_module_v1"}


def clean(text):
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    return re.sub(r"\s+", " ", re.sub(r"^\s*#.*$", " ", text, flags=re.M))


def class_of(function, kind, name):
    """Returns the class of a parameter or field, as in misuse_model.h."""
    base = kind.replace("const ", "").replace(" const", "").strip()
    if base.endswith("*"):
        target = base.rstrip("* ").strip()
        if target == "guf_error":
            return "kError"
        if target == "guf_module_parameter":  # has no size field, because this struct never changes
            return "kOut"
        if target in IN_STRUCTS:
            return "kStructIn"
        if name.startswith("out_") and target.startswith("guf_") and target[4:] not in HANDLES:
            return "kOut" if target == "guf_dtype" or base.count("*") > 1 else "kStructOut"
        if name.startswith("out_") or name.startswith("inout_"):
            return "kOut"
        if target in ("char", "void") and "const" not in kind and name != "user":
            return "kOut"
        return "kPointer"
    if base[4:] in HANDLES and base.startswith("guf_"):
        return "kHandle"
    if base.endswith("_fn") or base in ("guf_loop_numpy", "guf_loop_status", "guf_loop_error"):
        return "kPointer"
    return {"guf_dtype": "kDtype", "int32_t": "kInt32", "guf_status": "kInt32",
            "uint32_t": "kUint32", "uint64_t": "kUint64", "size_t": "kUint64",
            "int64_t": "kUint64"}[base]


def handle_of(kind):
    base = kind.replace("*", "").strip()
    return HANDLES.index(base[4:]) if base[4:] in HANDLES and base.startswith("guf_") else -1


def struct_of(kind):
    return kind.replace("const ", "").rstrip("* ").strip()


def functions(text):
    for match in re.finditer(r"GUF_API ([\w ]+?[ *]+)(guf_\w+)\(([^)]*)\);", text):
        parameters = []
        for part in match[3].split(","):
            if part.strip() != "void":
                kind, name = re.match(r"\s*(.*?)(\w+)\s*$", part).groups()
                parameters.append((kind.strip(), name))
        yield match[1].strip(), match[2], parameters


def fields(text):
    for match in re.finditer(r"typedef struct (guf_\w+) \{(.*?)\} \1;", text):
        rows = []
        for line in match[2].split(";"):
            found = re.match(r"\s*((?:const )?\w+[ *]+(?:const \*)?)(.*)$", line)
            if not found or "[" in line or "(" in line:
                continue
            for name in found[2].split(","):
                stars = "*" * name.count("*")
                rows.append((found[1].strip() + stars, name.replace("*", "").strip()))
        yield match[1], rows


def cast(index, kind):
    return f"as<{kind.replace(' *', '*').replace('*', ' *')}>(a[{index}])"


def emit_function(returns, name, parameters, out):
    call = ", ".join(cast(i, kind) for i, (kind, _) in enumerate(parameters))
    rows = []
    for kind, parameter in parameters:
        null_ok = (parameter in OPTIONAL or f"{name}.{parameter}" in OPTIONAL
                   or name.endswith(("_retain", "_release")))
        structure = struct_of(kind) if class_of(name, kind, parameter).startswith("kStruct") else ""
        rows.append(f'{{"{parameter}", Class::{class_of(name, kind, parameter)}, '
                    f'{handle_of(kind)}, {str(null_ok).lower()}, "{structure}"}}')
    words = "const Words &a" if parameters else "const Words &"
    body = f"{name}({call})"
    body = f"return {body};" if returns == "guf_status" else f"{body}; return GUF_OK;"
    out.append(f'    {{"{name}",\n     []({words}) -> guf_status {{ {body} }},')
    out.append("     {" + ",\n      ".join(rows) + "}},")


def expand(rows, structs):
    """Replaces each field that is a struct by the fields of this struct, as `outer.inner`."""
    for kind, field in rows:
        if kind in structs:
            yield from ((inner, f"{field}.{name}") for inner, name in structs[kind])
        else:
            yield kind, field


def emit_struct(name, rows, out):
    out.append(f'    {{"{name}",\n     sizeof({name}),')
    cells = [f'{{"{field}", Class::{class_of("", kind, field)}, {handle_of(kind)}, '
             f'offsetof({name}, {field})}}' for kind, field in rows
             if field != "struct_size" and name in IN_STRUCTS]
    out.append("     {" + ",\n      ".join(cells) + "}},")


def generate(root):
    folder = root / "abi/include/gufunc"
    headers = INCLUDE.findall((folder / "gufunc.h").read_text())
    texts = [clean((folder / header).read_text()) for header in headers]
    out = ["// SPDX-License-Identifier: Apache-2.0",
           "// Generated by make_misuse.py from the public headers; do not edit.",
           "// clang-format off", "// NOLINTBEGIN",
           "inline const std::vector<Function> kFunctions = {"]
    count = 0
    for text in texts:
        for returns, name, parameters in functions(text):
            if name not in EXCLUDED:
                emit_function(returns, name, parameters, out)
                count += 1
    out += ["};", "", "inline const std::vector<Struct> kStructs = {"]
    structs = {name: rows for text in texts for name, rows in fields(text)}
    for name, rows in structs.items():
        if name in IN_STRUCTS or name.endswith(("_info", "_resolution", "_memory")):
            emit_struct(name, expand(rows, structs), out)
    out += ["};", f"inline constexpr size_t kFunctionCount = {count};", "// NOLINTEND"]
    return "\n".join(out) + "\n"


def main():
    here = pathlib.Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true",
                        help="compare the file instead of writing it")
    arguments = parser.parse_args()
    text, path = generate(here.parents[2]), here / "misuse_table.inc"
    if not arguments.check:
        path.write_text(text)
    elif path.read_text() != text:
        sys.exit(f"{path.name} is not what make_misuse.py writes from the headers")


if __name__ == "__main__":
    main()
