#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the checks of tools/: seeds faults in a copy of the tree, one at a time, and expects the
check to report each fault."""

import argparse
import dataclasses
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SPDX = "// SPDX-License-Identifier: Apache-2.0\n"


@dataclasses.dataclass
class Fault:
    """A faulty file to write, and a pattern that the check's report must match."""

    path: str
    text: str
    caught: str


LAYERS = [
    Fault("abi/include/gufunc/seeded.h", "#include <stdio.h>\n",
          "C headers see only <stddef.h>"),
    Fault("abi/include/gufunc/seeded.h", '#include "core/base/error.h"\n',
          "abi/include sees abi/include"),
    Fault("abi/include/gufunc/seeded.h", "#include <gufunc/kernel.hpp>\n",
          "abi/include sees abi/include"),
    Fault("kernels/include/gufunc/seeded.hpp", "#include <gufunc/gufunc.hpp>\n",
          "kernels/include sees kernels/include, abi/include"),
    Fault("kernels/standard/seeded.guf.cpp", '#include "core/base/error.h"\n',
          "kernels/standard sees"),
    Fault("bindings/cpp/include/gufunc/seeded.hpp", "#include <gufunc/kernel.hpp>\n",
          "bindings/cpp/include sees bindings/cpp/include, abi/include"),
    Fault("core/base/seeded.cc", '#include "core/dtype/seeded.h"\n',
          "core/base may not see core/dtype"),
    Fault("core/resolve/seeded.cc", '#include "core/broadcast/seeded.h"\n',
          "core/resolve may not see"),
    Fault("core/geometry/seeded.cc", '#include "core/call/pipeline.h"\n',
          "core/geometry may not see core/call"),
    Fault("core/base/seeded.cc", '#include "abi/src/seeded.h"\n', "core sees only itself"),
    Fault("core/geometry/seeded.cc", "#include <gufunc/gufunc.hpp>\n", "core sees only itself"),
    Fault("core/geometry/seeded.cc", "#include <cuda.h>\n", "a vendor's header outside backends/"),
    Fault("core/geometry/seeded.cc", "#if defined(__CUDACC__)\n#endif\n", "a vendor's #if outside"),
    Fault("core/seeded.cc", '#include "core/base/error.h"\n', "belongs to a component"),
    Fault("core/seeded/seeded.cc", '#include "core/base/error.h"\n', "the list of components"),
    Fault("backends/cpu/seeded.cc", '#include "core/base/error.h"\n',
          "a backend sees gufunc/backend.h"),
    Fault("backends/cpu/seeded.cc", '#include "backends/cuda/seeded.h"\n', "a backend sees"),
    Fault("backends/cpu/base/seeded.cc", "#include <gufunc/gufunc.hpp>\n", "a backend sees"),
    Fault("backends/cpu/seeded.cc", '#include "backends/cpu/base/seeded.h"\n',
          "belongs to one of its folders"),
    Fault("backends/cpu/base/seeded.cc", '#include "backends/cpu/loops/seeded.h"\n',
          "backends/cpu/base may not see backends/cpu/loops"),
    Fault("backends/gpu/geometry/seeded.cc", '#include "backends/gpu/runtime/seeded.h"\n',
          "backends/gpu/geometry may not see"),
    Fault("backends/sdk/include/gufunc/backend/seeded.hpp", '#include "backends/cuda/seeded.h"\n',
          "the backend SDK sees"),
    Fault("core/base/seeded.cc", "#include <gufunc/backend/host.hpp>\n", "core sees only itself"),
    Fault("examples/seeded.cc", '#include "core/base/error.h"\n', "examples sees examples"),
    Fault("tests/conformance/seeded.cc", '#include "core/base/error.h"\n', "tests sees tests"),
    Fault("tests/unit/base/seeded.cc", '#include "abi/src/seeded.h"\n',
          "tests/unit sees tests, core"),
    Fault("unheard_of/seeded.cc", '#include "core/base/error.h"\n', "this folder has no rule"),
    Fault("core/base/seeded.cc", '#include "core/base/nowhere.h"\n', "no such file in the tree"),
]
# These files must exist, because the seeded faults include them. Otherwise the check would report a
# missing file.
LAYERS_SCENERY = [
    "bindings/cpp/include/gufunc/gufunc.hpp", "kernels/include/gufunc/kernel.hpp",
    "core/dtype/seeded.h", "core/broadcast/seeded.h",
    "core/call/pipeline.h", "core/base/error.h", "abi/src/seeded.h", "backends/cuda/seeded.h",
    "backends/sdk/include/gufunc/backend/host.hpp", "backends/cpu/base/seeded.h",
    "backends/cpu/loops/seeded.h", "backends/gpu/runtime/seeded.h",
]

HEADERS = [
    Fault("abi/include/gufunc/seeded.h", "int32_t guf_seeded(void);\n", "seeded.h alone"),
    Fault("abi/include/gufunc/seeded.h", "struct guf_twice { int x; };\n", "redefinition"),
    Fault("abi/include/gufunc/seeded.h", "enum { guf_a = 1ll << 40 };\n", "seeded.h alone"),
    Fault("abi/include/gufunc/seeded.h", "typedef bool guf_flag;\n", "c11"),
    Fault("kernels/include/gufunc/seeded.hpp", "gufunc::Missing value;\n", "seeded.hpp alone"),
]

FILES = [
    Fault("core/base/seeded.cc", SPDX + "int x;\n" * 1200, "1201 lines, over 1200"),
    Fault("core/base/seeded.cc", SPDX + "// " + "x" * 98 + "\n", "101 columns, over 100"),
    Fault("core/CMakeLists.txt", "# " + "x" * 99 + "\n", "101 columns, over 100"),
    Fault("core/base/seeded.cc", "int x;\n", "does not start with its SPDX line"),
    Fault("core/base/seeded.cc", SPDX + "int x;  // TO" + "DO: later\n", "left open"),
    Fault("core/base/seeded.cc", SPDX + "int x; \n", "ends in spaces"),
    Fault("core/base/seeded.cc", SPDX + "int x;", "the last line has no end"),
    Fault("core/geometry/error.cc", SPDX + "int x;\n", "one name, several files"),
    Fault("bindings/rust/target/seeded.d", "x\n", "is a build output"),
    Fault("tests/data/seeded.bin", "x\0\n", "is binary, and .gitattributes does not mark it"),
]

DTYPES = "".join(f"GUF_DTYPE({name})\n" for name in
                 ("BOOL, \"bool\", '?'", "I8, \"int8\", 'b'", "BF16, \"bfloat16\", 'E'"))
DOCS = [
    Fault("docs/seeded.md", "<!-- from examples/x.c -->\n```c\nint main;\n```\n",
          "does not exist"),
    Fault("docs/seeded.md", "<!-- from core/base/seeded.cc -->\n```c\nint main;\n```\n",
          "differs from that file"),
    Fault("docs/seeded.md", "see [this](nowhere.md)\n", "links to nowhere.md"),
    Fault("docs/seeded.md", "`core/base/nowhere.cc` is\n", "names core/base/nowhere.cc, which"),
    Fault("docs/seeded.md", "shown by `seeded`, `conformance_gone`\n",
          "names the test conformance_gone, which"),
    Fault("docs/seeded.md", "| `math_gone_test` |\n", "names the test math_gone_test, which"),
    Fault("docs/seeded.md", "corner 1, 3 to 7\n", "names corner 7, which"),
    Fault("core/base/other.cc", 'const char *s = "GUFUNC_SEEDED";\n', "reads GUFUNC_SEEDED"),
    Fault("docs/environment.md", "| `GUFUNC_GONE` | core | x |\n", "lists GUFUNC_GONE"),
    Fault("docs/seeded.md", "`? b f`\n", "letters . b f, dtypes.def has . b E"),
]

# The header before the change, in the format of abi/layout.txt, and headers that break ABI
# compatibility.
LAYOUT_BEFORE = """guf_old size 8
guf_old.first offset 0 size 4
guf_old.second offset 4 size 4
GUF_ONE = 1
"""
ENUM_BEFORE = "enum guf_e { GUF_ONE = 1 };\n"
LAYOUT = [
    Fault("abi/include/gufunc/seeded.h", f"#include <stdint.h>\ntypedef struct guf_old {fields} "
          f"guf_old;\n{enum}", caught)
    for fields, enum, caught in [
        ("{ int32_t second, first; }", ENUM_BEFORE, r"\+guf_old.first offset 4"),
        ("{ int32_t first; int64_t second; }", ENUM_BEFORE, "-guf_old size 8"),
        ("{ int32_t first, second; }", "enum guf_e { GUF_ONE = 2 };\n", r"\+GUF_ONE = 2"),
        ("{ int32_t first, second; }", "", "-GUF_ONE = 1"),
    ]
]

ABI_TESTS_BEFORE = {
    "abi/src/status.cc": "GUF_E_ARG",
    "tests/unit/seeded_test.cc": "EXPECT_EQ(status, GUF_E_ARG);\n",
    "abi/include/gufunc/status.h": "  GUF_E_ARG = 100,\n  GUF_E_NEW = 101,\n",
    "abi/include/gufunc/seeded.h": "GUF_API guf_status guf_new(void);\n",
}
ABI_TESTS = [
    Fault("abi/include/gufunc/status.h", "  GUF_E_ARG = 100,\n  GUF_E_NEW = 101,\n",
          "GUF_E_NEW: no test expects it"),
    Fault("abi/include/gufunc/status.h", "  GUF_E_ARG = 100,\n  GUF_E_NEW = 101,\n",
          "GUF_E_NEW: guf_status_text lacks it"),
    *(Fault("tests/unit/other_test.cc", text, "GUF_E_NEW: no test expects it") for text in (
        "int x;  // GUF_E_NEW\n", "/* not yet\n * GUF_E_NEW */\n", "EXPECT_NE(f(), GUF_E_NEW);\n",
        "EXPECT_NE(f(1, 2),\n          GUF_E_NEW);\n", "if (f() != GUF_E_NEW) g();\n",
        "status = GUF_E_NEW;\n", "return GUF_E_NEW;\n", 'g("GUF_E_NEW");\n')),
    Fault("tests/elsewhere/other_test.cc", "EXPECT_EQ(f(), GUF_E_NEW);\n",
          "GUF_E_NEW: no test expects it"),
    *(Fault(path, text, "guf_new: no C or C\\+\\+ test in tests/ names it") for path, text in (
        ("tests/abi/other_test.cc", "int x;  // guf_new()\n"),
        ("tests/abi/other_test.cc", 'f("guf_new");\n'),
        ("tests/abi/other_test.cc", "guf_newer();\n"),
        ("tests/abi/table.inc", "guf_new();\n"),
        ("bindings/cpp/tests/other_test.cc", "guf_new();\n"))),
]

DUPLICATES_BEFORE = {"backends/roc/seeded.cc": "".join(f"int x{i};\n" for i in range(40))}
DUPLICATES = [
    Fault("backends/cuda/seeded.cc", "int y;\n" + "".join(f"  int x{i};\n" for i in range(9, 30)),
          "seeded.cc:2: 21 lines as in backends/roc/seeded.cc:10, over 20"),
]

FORMAT = [Fault("core/base/seeded.cc", SPDX + "int  x ;\n", "seeded.cc")]

TIDY = [
    Fault("core/seeded.cc", "int f() { int unused = 1; return 2; }\n",
          "clang-diagnostic-unused-variable"),
    Fault("core/seeded.cc", "int BadName(int x) { return x; }\n", "readability-identifier-naming"),
    Fault("core/seeded.cc",
          "#include <string>\nunsigned long n(std::string s) { return s.size(); }\n",
          "performance-unnecessary-value-param"),
    Fault("core/seeded.cc", "#include <string>\nusing std::string;\nvoid take(string &&);\n"
          "unsigned long f(string s) { take(std::move(s)); return s.size(); }\n",
          "bugprone-use-after-move"),
    Fault("core/seeded.cc", "int f(int x) {\n" + "  ++x;\n" * 70 + "  return x;\n}\n",
          "readability-function-size"),
]

@dataclasses.dataclass
class Library:
    """The source of a shared library that violates a rule, and the expected report of the check."""

    source: str
    caught: str
    language: str = "c"
    nodelete: bool = True


SYMBOLS = [
    Library("#include <stdlib.h>\nvoid guf_a(void) { abort(); }", "uses abort: ends the process"),
    Library("#include <stdlib.h>\nvoid guf_a(void) { exit(1); }", "uses exit: ends the process"),
    Library("#include <unistd.h>\nvoid guf_a(void) { _exit(1); }", "uses _exit: ends the process"),
    Library("#include <assert.h>\nvoid guf_a(int x) { assert(x); }", "uses __assert_fail"),
    Library('#include <stdio.h>\nvoid guf_a(int x) { printf("%d", x); }',
            "uses .*printf.*: prints"),
    Library('#include <stdio.h>\nvoid guf_a(void) { puts("x"); }', "uses puts: prints"),
    Library("#include <stdio.h>\nvoid guf_a(int x) { putchar(x); }", "uses putc.*: prints"),
    Library('#include <stdio.h>\nvoid guf_a(void) { fwrite("x", 1, 1, stderr); }',
            "uses stderr: prints"),
    Library('#include <iostream>\nextern "C" void guf_a() { std::cout << 1; }',
            "uses std::cout: prints", "c++"),
    Library('#include <iostream>\nextern "C" void guf_a() { std::cerr << 1; }',
            "uses std::cerr: prints", "c++"),
    Library('#include <iostream>\nextern "C" void guf_a() { std::clog << 1; }',
            "uses std::clog: prints", "c++"),
    Library("#include <string>\nstatic std::string s(99, 'x');\n"
            "extern \"C\" void guf_a() { s += 'y'; }", "uses __cxa_atexit: runs at exit", "c++"),
    Library('#include <stdlib.h>\nchar *guf_a(void) { return getenv("X"); }',
            "uses getenv: trusts the environment"),
    Library("void guf_a(void) {}\nvoid guf_b(void) {}", "exports guf_b, which is not listed"),
    Library("void guf_c(void) {}", "does not export guf_a"),
    Library("void guf_a(void) {}", "declares guf_undefined, which is not listed"),
    Library("template <class T> int &shared() { static int x; return x; }\n"
            'extern "C" int guf_a() { return shared<int>()++; }', "is STB_GNU_UNIQUE", "c++"),
    Library("void guf_a(void) {}", "may be unloaded", nodelete=False),
]
PLUGINS = [
    Library("void gufunc_backend_open_v1(void) {}\nvoid leaked(void) {}", "exports leaked"),
    Library("static _Thread_local int calls;\nint gufunc_backend_open_v1(void) { return ++calls; }",
            "has thread-local variables"),
]


def run(command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def expect(result, caught, what):
    """Returns whether the check failed for the seeded reason."""
    good = result.returncode == 1 and re.search(caught, result.stdout) is not None
    print(f"{'caught' if good else 'MISSED'}: {what}")
    if not good:
        print(result.stdout)
    return good


def seed_in_tree(check, faults, scenery, options):
    """Seeds one fault at a time in a copy of the tree that contains only the supporting files."""
    good = True
    for fault in faults:
        with tempfile.TemporaryDirectory() as folder:
            copy = pathlib.Path(folder)
            for settings in (".clang-format", ".clang-tidy"):
                shutil.copy(ROOT / settings, copy)
            for path, text in scenery.items():
                write(copy / path, text)
            write(copy / "compile_commands.json", json.dumps([{
                "directory": str(copy), "file": fault.path,
                "command": f"c++ -Wall -c {fault.path}"}]))
            write(copy / fault.path, fault.text)
            command = [sys.executable, ROOT / f"tools/check_{check}.py", "--root", copy, *options]
            if check == "tidy":
                command += ["--build", copy, "--folder", "core"]
            good &= expect(run(command), fault.caught, f"{fault.path}: {fault.caught}")
    return good


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def build(compiler, library, folder):
    """Compiles `library` into the folder and returns the path of the shared object."""
    code, output = pathlib.Path(folder, "seeded.c"), pathlib.Path(folder, "libseeded.so")
    code.write_text(library.source)
    nodelete = ["-Wl,-z,nodelete"] if library.nodelete else []
    subprocess.run([compiler, "-x", library.language, "-O1", "-fPIC", "-shared", *nodelete, code,
                    "-x", "none", "-o", output, "-lstdc++"], check=True)
    return output


def seed_in_library(compiler):
    """Builds one library per violation and runs check_symbols.py on it."""
    check = [sys.executable, ROOT / "tools/check_symbols.py"]
    good = True
    with tempfile.TemporaryDirectory() as folder:
        listing = pathlib.Path(folder, "symbols.txt")
        listing.write_text("guf_a 0.1 unstable\n")
        write(pathlib.Path(folder, "include/seeded.h"), "GUF_API int guf_undefined(void);\n")
        for library in SYMBOLS:
            path = build(compiler, library, folder)
            result = run([*check, "--library", path, "--list", listing, "--include",
                          pathlib.Path(folder, "include")])
            good &= expect(result, library.caught, library.caught)
        for plugin in PLUGINS:
            result = run([*check, "--plugin", build(compiler, plugin, folder)])
            good &= expect(result, plugin.caught, f"plugin: {plugin.caught}")
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("check")
    args, options = parser.parse_known_args()
    if args.check == "symbols":
        sys.exit(not seed_in_library(*options))
    faults, scenery = {
        "layers": (LAYERS, dict.fromkeys(LAYERS_SCENERY, SPDX)),
        "headers": (HEADERS, {}),
        "files": (FILES, {"core/base/error.cc": SPDX}),
        "docs": (DOCS, {"core/base/seeded.cc": SPDX, "abi/include/gufunc/dtypes.def": DTYPES}),
        "layout": (LAYOUT, {"abi/layout.txt": LAYOUT_BEFORE}),
        "abi_tests": (ABI_TESTS, ABI_TESTS_BEFORE),
        "duplicates": (DUPLICATES, DUPLICATES_BEFORE),
        "format": (FORMAT, {}),
        "tidy": (TIDY, {}),
    }[args.check]
    sys.exit(not seed_in_tree(args.check, faults, scenery, options))


if __name__ == "__main__":
    main()
