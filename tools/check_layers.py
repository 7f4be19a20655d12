#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the include rules of docs/architecture.md."""

import pathlib
import re

import source_tree as tree

# Components of core/ and their heights. A component may include its own headers and the headers of
# components with a smaller height.
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
# Folders of installed headers, which are included as <gufunc/...>.
C_CONTRACT = "abi/include"
DIALECT = "kernels/include"
CPP_BINDING = "bindings/cpp/include"
SDK = "backends/sdk/include"
INSTALLED = (C_CONTRACT, DIALECT, CPP_BINDING, SDK)
# The headers of the SDK that the library also includes.
SHARED = (f"{SDK}/gufunc/float_control.hpp", f"{SDK}/gufunc/loader_memory.hpp")
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')

# The tests of the programs include the programs' headers.
TESTS_OF = {"tests/gufcc": ["tools/gufcc"], "tests/images": ["tools/gufcc"],
            "tests/tools": ["tools/gufunc"], "tests/fuzz": ["tools/gufcc", "tools/gufunc"]}


def resolve(root, source, kind, name):
    """Returns the path of an include within the tree, or None for an external header."""
    places = [source.parent, pathlib.Path(), *map(pathlib.Path, INSTALLED)]
    places += [pathlib.Path(tool) for tests, tools in TESTS_OF.items() for tool in tools
               if source.as_posix().startswith(tests + "/")]
    for place in places[0 if kind == '"' else 1:]:
        candidate = pathlib.Path(*place.parts, *pathlib.PurePosixPath(name).parts)
        if (root / candidate).is_file():
            return (root / candidate).resolve().relative_to(root.resolve())
    return None


def is_in(path, *folders):
    """Returns whether a path is one of the folders or files, or is inside one of them."""
    return any(path.is_relative_to(folder) for folder in folders)


def component(path):
    """Returns the component of core/<component>/x, or None for a file outside of components."""
    return path.parts[1] if len(path.parts) > 2 else None


def refuse_in_core(source, target):
    if is_in(target, C_CONTRACT, DIALECT, *SHARED):
        return None
    if target.parts[0] != "core":
        return f"core sees only itself, {C_CONTRACT}, {DIALECT} and {', '.join(SHARED)}"
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

# The folders of a backend, in order. A source may include headers of its own folder and of the
# folders before it.
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
    if is_in(target, C_CONTRACT):
        return None
    if target.parts[:2] == source.parts[:2]:
        return refuse_in_folders(source, target)
    if source.parts[1] == "sdk":
        return f"the backend SDK sees {C_CONTRACT} and itself"
    if is_in(target, DIALECT, SDK):
        return None
    if source.parts[1] == "cpu" and target.parts[:2] == ("backends", "emulator"):
        return None
    if source.parts[1] in VENDORS and target.parts[:2] == ("backends", "gpu"):
        return None
    return "a backend sees gufunc/backend.h, kernels/include, backends/sdk and itself"


# These folders may include the installed headers of PRODUCTS, as users' programs do.
USERS = ("tests", "examples", "bench")
PRODUCTS = (DIALECT, CPP_BINDING)

# The folders whose headers each folder may include. All folders may also include abi/include, and
# the folders of USERS may include PRODUCTS.
VISIBLE = {
    C_CONTRACT: (),
    DIALECT: (DIALECT,),
    CPP_BINDING: (CPP_BINDING,),
    "kernels/standard": ("kernels/standard", DIALECT),
    "abi/src": ("abi/src", "core", *SHARED),
    "tools/gufcc": ("tools/gufcc", "core/base", "core/dtype", "core/op", "core/module"),
    "tools": ("tools", "core/base/utf8.h", "core/base/descriptor.h"),
    "tests/unit/cpu": ("tests", "backends/cpu", "backends/sdk"),
    "tests/unit/emulator": ("tests", "backends/emulator"),
    "tests/ptx": ("tests/ptx",),
    "tests/sim": ("tests/sim", "tests/ptx", "backends/emulator"),
    "tests/unit/gpu": ("tests", "backends/gpu", "backends/sdk", "backends/cuda", "backends/roc",
                       "backends/emulator", "kernels/standard"),
    "tests/unit": ("tests", "core"),
    "tests/plugins": ("tests", "core", "backends/sdk"),
    "tests/fuzz": ("tests", "tools", "core"),
    "tests/gufcc": ("tests", "tools/gufcc", "core/base/utf8.h", "core/module", "core/backend"),
    "tests/images": ("tests", "tools/gufcc", "core/module", "core/backend", "backends/gpu",
                     "backends/sdk"),
    "tests/tools": ("tests", "tools"),
    "tests": ("tests",),
    "examples": ("examples", "backends/sdk"),
    "bench": ("bench",),
    "bindings/python/tests": ("bindings/python/tests", DIALECT),
    "bindings": ("bindings",),
}


def refuse_in_folder(source, target):
    for folder, visible in VISIBLE.items():
        if is_in(source, folder):
            seen = (*visible, *(PRODUCTS if is_in(source, *USERS) else ()), C_CONTRACT)
            return None if is_in(target, *seen) else f"{folder} sees {', '.join(seen)}"
    return "this folder has no rule in tools/check_layers.py"


def refusal(root, source, kind, name):
    """Returns why `source` must not include `name`, or None if it may."""
    target = resolve(root, source, kind, name)
    if target is None:
        if kind == '"':
            return "no such file in the tree"
        if is_in(source, C_CONTRACT) and name not in C_HEADERS:
            return "C headers see only <stddef.h>, <stdint.h> and one another"
        if source.parts[0] != "backends" and source.parts[:2] != ("tests", "sim") and (
                VENDOR_HEADER.match(name)):
            return "a vendor's header outside backends/ and tests/sim"
        return None
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
        for number, line in enumerate((root / source).read_text().splitlines(), 1):
            include = INCLUDE.match(line)
            why = refusal(root, source, *include.groups()) if include else None
            if VENDOR_IF.match(line) and not is_in(source, "backends", DIALECT):
                why = f"a vendor's #if outside backends/ and {DIALECT}"
            if why:
                findings.append(f"{source}:{number}: {line.strip()}: {why}")
    tree.finish("layers", findings, examined)


if __name__ == "__main__":
    main()
