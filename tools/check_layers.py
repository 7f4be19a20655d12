#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the include rules of docs/architecture.md."""

import pathlib
import re

import source_tree as tree

# Components of core/ by height. A component includes lower ones and itself. Components of the same
# height do not include each other.
HEIGHT = {
    "base": 0, "dtype": 1, "array": 2, "trace": 2, "op": 3,
    "validate": 4, "resolve": 4, "broadcast": 4, "geometry": 5, "backend": 5, "plugin": 6,
    "module": 6, "memory": 7, "call": 8, "plan": 9, "chunked": 9, "kernel": 9, "method": 10,
}
C_HEADERS = {"stddef.h", "stdint.h"}
VENDOR_HEADER = re.compile(r"^(cuda|nv|hip/|hip_|hsa|CL/|rocm|level_zero)")
VENDOR_IF = re.compile(
    r"^\s*#\s*(if|ifdef|ifndef|elif)\b.*\b(__CUDA\w*|CUDA_VERSION|__NVCC__|__NVPTX__|__HIP\w*"
    r"|__AMDGCN__|__AMDGPU__|__OPENCL\w*|__SPIRV?\w*)")
# Included as <gufunc/backend/...>, and installed next to the headers of abi/include.
SDK = pathlib.Path("backends/sdk/include")
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')

# The tests of the programs include the programs' headers.
TESTS_OF = {"tests/gufcc": ["tools/gufcc"], "tests/images": ["tools/gufcc"],
            "tests/tools": ["tools/gufunc"], "tests/fuzz": ["tools/gufcc", "tools/gufunc"]}


def resolve(root, source, kind, name):
    """Returns the path of an include within the tree, or None for an external header."""
    places = [source.parent, pathlib.Path(), pathlib.Path("abi/include"), SDK]
    places += [pathlib.Path(tool) for tests, tools in TESTS_OF.items() for tool in tools
               if source.as_posix().startswith(tests + "/")]
    for place in places[0 if kind == '"' else 1:]:
        candidate = pathlib.Path(*place.parts, *pathlib.PurePosixPath(name).parts)
        if (root / candidate).is_file():
            return (root / candidate).resolve().relative_to(root.resolve())
    return None


def component(path):
    """Returns the component of core/<component>/x, or None for a file outside of components."""
    return path.parts[1] if len(path.parts) > 2 else None


def refuse_in_core(source, target):
    if target.parts[:2] == ("abi", "include"):
        wrapper = target.name == "gufunc.hpp" or target.parent.name == "cpp"
        return "core does not see the C++ wrapper" if wrapper else None
    if target.parts[0] != "core":
        return "core sees only itself and abi/include"
    own, other = component(source), component(target)
    for name in (own, other):
        if name is None:
            return "a source of core belongs to a component, core/<component>/"
        if name not in HEIGHT:
            return f"core/{name} is not in the list of components"
    if own == other or HEIGHT[other] < HEIGHT[own]:
        return None
    return f"core/{own} may not see core/{other}"


# The backends that share backends/gpu.
VENDORS = ("cuda", "roc")

# The folders of a backend, in order: each includes only itself and the folders before it.
FOLDERS = {
    "cpu": ["base", "loops", "methods", "runtime"],
    "gpu": ["geometry", "runtime"],
}


def refuse_in_folders(source, target):
    """Returns why an include within a backend is refused, or None."""
    folders = FOLDERS.get(source.parts[1])
    if folders is None:
        return None
    for path in (source, target):
        if len(path.parts) != 4 or path.parts[2] not in folders:
            backend = "/".join(path.parts[:2])
            return f"a source of {backend} belongs to one of its folders: {', '.join(folders)}"
    if folders.index(target.parts[2]) <= folders.index(source.parts[2]):
        return None
    return f"{'/'.join(source.parts[:3])} may not see {'/'.join(target.parts[:3])}"


def refuse_in_backend(source, target):
    if target.parts[:2] == ("abi", "include"):
        return None
    if target.parts[:2] == source.parts[:2]:
        return refuse_in_folders(source, target)
    if source.parts[1] == "sdk":
        return "the backend SDK sees abi/include and itself"
    if target.parts[:2] in (("backends", "kernels"), ("backends", "sdk")):
        return None
    if source.parts[1] == "cpu" and target.parts[:2] == ("backends", "emulator"):
        return None
    if source.parts[1] in VENDORS and target.parts[:2] == ("backends", "gpu"):
        return None
    return "a backend sees gufunc/backend.h, backends/sdk, backends/kernels and itself"


# The folders that each top folder may include, besides abi/include.
VISIBLE = {
    "abi/src": ("abi/src", "core"),
    "tools/gufcc": ("tools/gufcc", "core/base", "core/dtype", "core/op", "core/module"),
    "tools": ("tools",),
    "tests/unit/cpu": ("tests", "backends/cpu", "backends/sdk"),
    "tests/unit/emulator": ("tests", "backends/emulator"),
    "tests/sim": ("tests/sim", "backends/emulator"),
    "tests/unit/gpu": ("tests", "backends/gpu", "backends/sdk", "backends/cuda", "backends/roc",
                       "backends/emulator", "backends/kernels"),
    "tests/unit": ("tests", "core"),
    "tests/plugins": ("tests", "core", "backends/sdk"),
    "tests/fuzz": ("tests", "tools", "core"),
    "tests/gufcc": ("tests", "tools/gufcc", "core/module", "core/backend"),
    "tests/images": ("tests", "tools/gufcc", "core/module", "core/backend", "backends/gpu",
                     "backends/sdk"),
    "tests/tools": ("tests", "tools"),
    "tests": ("tests",),
    "examples": ("examples", "backends/sdk"),
    "bench": ("bench",),
    "bindings": ("bindings",),
}


def refuse_in_folder(source, target):
    for folder, visible in VISIBLE.items():
        if source.as_posix().startswith(folder + "/"):
            seen = target.as_posix()
            if any(seen.startswith(v + "/") for v in visible + ("abi/include",)):
                return None
            return f"{folder} sees {', '.join(visible)} and abi/include"
    return "this folder has no rule in tools/check_layers.py"


def refusal(root, source, kind, name):
    """Returns why `source` must not include `name`, or None if it may."""
    target = resolve(root, source, kind, name)
    public = source.parts[:2] == ("abi", "include")
    if target is None:
        if kind == '"':
            return "no such file in the tree"
        if public and source.suffix == ".h" and name not in C_HEADERS:
            return "public headers see only <stddef.h>, <stdint.h> and one another"
        if source.parts[0] != "backends" and source.parts[:2] != ("tests", "sim") and (
                VENDOR_HEADER.match(name)):
            return "a vendor's header outside backends/ and tests/sim"
        return None
    if public:
        inside = target.parts[:2] == ("abi", "include")
        return None if inside else "public headers see only themselves"
    if source.parts[0] == "core":
        return refuse_in_core(source, target)
    if source.parts[0] == "backends":
        return refuse_in_backend(source, target)
    return refuse_in_folder(source, target)


def main():
    root = tree.parser(__doc__).parse_args().root
    findings, examined = [], 0
    for source in tree.files(root, tree.CODE):
        examined += 1
        dialect = source.parts[:2] == ("abi", "include") and "kernel" in source.as_posix()
        for number, line in enumerate((root / source).read_text().splitlines(), 1):
            include = INCLUDE.match(line)
            why = refusal(root, source, *include.groups()) if include else None
            if VENDOR_IF.match(line) and source.parts[0] != "backends" and not dialect:
                why = "a vendor's #if outside backends/ and kernel.hpp"
            if why:
                findings.append(f"{source}:{number}: {line.strip()}: {why}")
    tree.finish("layers", findings, examined)


if __name__ == "__main__":
    main()
