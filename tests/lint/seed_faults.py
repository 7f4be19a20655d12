#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shows that each check of tools/ bites: plants violations in a copy and sees every one caught."""

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
class Plant:
    """A file to write, and what the check must say about it."""

    path: str
    text: str
    caught: str


LAYERS = [
    Plant("abi/include/gufunc/planted.h", "#include <stdio.h>\n",
          "public headers see only <stddef.h>"),
    Plant("abi/include/gufunc/planted.h", '#include "core/base/error.h"\n', "only themselves"),
    Plant("core/base/planted.cc", '#include "core/dtype/planted.h"\n',
          "core/base may not see core/dtype"),
    Plant("core/resolve/planted.cc", '#include "core/broadcast/planted.h"\n',
          "core/resolve may not see"),
    Plant("core/plan/planted.cc", '#include "core/pipeline.h"\n',
          "core/plan may not see core/pipeline"),
    Plant("core/base/planted.cc", '#include "abi/src/planted.h"\n', "core sees only itself"),
    Plant("core/plan/planted.cc", "#include <gufunc/gufunc.hpp>\n",
          r"core does not see the C\+\+ wrapper"),
    Plant("core/plan/planted.cc", "#include <cuda.h>\n", "a vendor's header outside backends/"),
    Plant("core/plan/planted.cc", "#if defined(__CUDACC__)\n#endif\n", "a vendor's #if outside"),
    Plant("core/planted/planted.cc", '#include "core/base/error.h"\n', "no place in the order"),
    Plant("backends/cpu/planted.cc", '#include "core/base/error.h"\n',
          "a backend sees gufunc/backend.h"),
    Plant("backends/cpu/planted.cc", '#include "backends/cuda/planted.h"\n', "a backend sees"),
    Plant("examples/planted.cc", '#include "core/base/error.h"\n', "examples sees examples"),
    Plant("tests/conformance/planted.cc", '#include "core/base/error.h"\n', "tests sees tests"),
    Plant("tests/unit/base/planted.cc", '#include "abi/src/planted.h"\n',
          "tests/unit sees tests, core"),
    Plant("unheard_of/planted.cc", '#include "core/base/error.h"\n', "this folder has no rule"),
    Plant("core/base/planted.cc", '#include "core/base/nowhere.h"\n', "no such file in the tree"),
]
# What the plants above include must exist, or only "no such file" would be seen.
LAYERS_SCENERY = [
    "abi/include/gufunc/gufunc.hpp", "core/dtype/planted.h", "core/broadcast/planted.h",
    "core/pipeline.h", "core/base/error.h", "abi/src/planted.h", "backends/cuda/planted.h",
]

HEADERS = [
    Plant("abi/include/gufunc/planted.h", "int32_t guf_planted(void);\n", "planted.h alone"),
    Plant("abi/include/gufunc/planted.h", "struct guf_twice { int x; };\n", "redefinition"),
    Plant("abi/include/gufunc/planted.h", "enum { guf_a = 1ll << 40 };\n", "planted.h alone"),
    Plant("abi/include/gufunc/planted.h", "typedef bool guf_flag;\n", "c11"),
]

FILES = [
    Plant("core/base/planted.cc", SPDX + "int x;\n" * 400, "401 lines, over 400"),
    Plant("core/base/planted.cc", SPDX + "// " + "x" * 98 + "\n", "101 columns, over 100"),
    Plant("core/base/planted.cc", "int x;\n", "does not start with its SPDX line"),
    Plant("core/base/planted.cc", SPDX + "int x;  // TO" + "DO: later\n", "left open"),
    Plant("core/base/planted.cc", SPDX + "int x; \n", "ends in spaces"),
    Plant("core/base/planted.cc", SPDX + "int x;", "the last line has no end"),
    Plant("core/plan/error.cc", SPDX + "int x;\n", "one name, several files"),
    Plant("docs/decisions/0999-planted.md", "| `core/base/nowhere.cc` | a long reason |\n",
          "which does not exist"),
]

DOCS = [
    Plant("docs/planted.md", "<!-- from examples/x.c -->\n```c\nint main;\n```\n",
          "does not exist"),
    Plant("docs/planted.md", "<!-- from core/base/planted.cc -->\n```c\nint main;\n```\n",
          "is not what that file says"),
    Plant("docs/planted.md", "see [this](nowhere.md)\n", "links to nowhere.md"),
    Plant("docs/planted.md", "`core/base/nowhere.cc` says\n", "names core/base/nowhere.cc, which"),
    Plant("docs/planted.md", "shown by `planted`, `conformance_gone`\n",
          "names the test conformance_gone, which"),
    Plant("docs/planted.md", "| `math_gone_test` |\n", "names the test math_gone_test, which"),
    Plant("docs/planted.md", "corner 1, 3 to 7\n", "names corner 7, which"),
    Plant("core/base/other.cc", 'const char *s = "GUFUNC_PLANTED";\n', "reads GUFUNC_PLANTED"),
    Plant("docs/environment.md", "| `GUFUNC_GONE` | core | x |\n", "lists GUFUNC_GONE"),
]

# The header as it was, in words of abi/layout.txt, and headers that break the promise.
LAYOUT_BEFORE = """guf_old size 8
guf_old.first offset 0 size 4
guf_old.second offset 4 size 4
GUF_ONE = 1
"""
ENUM_BEFORE = "enum guf_e { GUF_ONE = 1 };\n"
LAYOUT = [
    Plant("abi/include/gufunc/planted.h", f"#include <stdint.h>\ntypedef struct guf_old {fields} "
          f"guf_old;\n{enum}", caught)
    for fields, enum, caught in [
        ("{ int32_t second, first; }", ENUM_BEFORE, r"\+guf_old.first offset 4"),
        ("{ int32_t first; int64_t second; }", ENUM_BEFORE, "-guf_old size 8"),
        ("{ int32_t first, second; }", "enum guf_e { GUF_ONE = 2 };\n", r"\+GUF_ONE = 2"),
        ("{ int32_t first, second; }", "", "-GUF_ONE = 1"),
    ]
]

ERROR_CODES_BEFORE = {
    "abi/src/status.cc": "GUF_E_ARG",
    "tests/unit/planted_test.cc": "EXPECT_EQ(status, GUF_E_ARG);\n",
    "abi/include/gufunc/status.h": "  GUF_E_ARG = 100,\n  GUF_E_NEW = 101,\n",
}
ERROR_CODES = [
    Plant("abi/include/gufunc/status.h", "  GUF_E_ARG = 100,\n  GUF_E_NEW = 101,\n",
          "GUF_E_NEW: no test expects it"),
    Plant("abi/include/gufunc/status.h", "  GUF_E_ARG = 100,\n  GUF_E_NEW = 101,\n",
          "GUF_E_NEW: guf_status_text does not know it"),
    *(Plant("tests/unit/other_test.cc", text, "GUF_E_NEW: no test expects it") for text in (
        "int x;  // GUF_E_NEW\n", "/* not yet\n * GUF_E_NEW */\n", "EXPECT_NE(f(), GUF_E_NEW);\n",
        "EXPECT_NE(f(1, 2),\n          GUF_E_NEW);\n", "if (f() != GUF_E_NEW) g();\n",
        "status = GUF_E_NEW;\n", "return GUF_E_NEW;\n", 'g("GUF_E_NEW");\n')),
    Plant("tests/elsewhere/other_test.cc", "EXPECT_EQ(f(), GUF_E_NEW);\n",
          "GUF_E_NEW: no test expects it"),
]

TWINS_BEFORE = {"backends/roc/planted.cc": "".join(f"int x{i};\n" for i in range(40))}
TWINS = [
    Plant("backends/cuda/planted.cc", "int y;\n" + "".join(f"  int x{i};\n" for i in range(9, 30)),
          "planted.cc:2: 21 lines as in backends/roc/planted.cc:10, over 20"),
]

FORMAT = [Plant("core/base/planted.cc", SPDX + "int  x ;\n", "planted.cc")]

TIDY = [
    Plant("core/planted.cc", "int f() { int unused = 1; return 2; }\n",
          "clang-diagnostic-unused-variable"),
    Plant("core/planted.cc", "int BadName(int x) { return x; }\n", "readability-identifier-naming"),
    Plant("core/planted.cc",
          "#include <string>\nunsigned long n(std::string s) { return s.size(); }\n",
          "performance-unnecessary-value-param"),
    Plant("core/planted.cc", "#include <string>\nusing std::string;\nvoid take(string &&);\n"
          "unsigned long f(string s) { take(std::move(s)); return s.size(); }\n",
          "bugprone-use-after-move"),
    Plant("core/planted.cc", "int f(int x) {\n" + "  ++x;\n" * 70 + "  return x;\n}\n",
          "readability-function-size"),
]

@dataclasses.dataclass
class Library:
    """The source of a shared library, and what the check must say about it."""

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
PLUGIN = Library("void gufunc_backend_open_v1(void) {}\nvoid leaked(void) {}", "exports leaked")


def run(command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def expect(result, caught, what):
    """True when the check failed for the planted reason."""
    good = result.returncode == 1 and re.search(caught, result.stdout) is not None
    print(f"{'caught' if good else 'MISSED'}: {what}")
    if not good:
        print(result.stdout)
    return good


def plant_in_tree(check, plants, scenery, options):
    """Plants one at a time in a copy of the tree that holds only the scenery."""
    good = True
    for plant in plants:
        with tempfile.TemporaryDirectory() as folder:
            copy = pathlib.Path(folder)
            for settings in (".clang-format", ".clang-tidy"):
                shutil.copy(ROOT / settings, copy)
            for path, text in scenery.items():
                write(copy / path, text)
            write(copy / "compile_commands.json", json.dumps([{
                "directory": str(copy), "file": plant.path,
                "command": f"c++ -Wall -c {plant.path}"}]))
            write(copy / plant.path, plant.text)
            command = [sys.executable, ROOT / f"tools/check_{check}.py", "--root", copy, *options]
            if check == "tidy":
                command += ["--build", copy, "--folder", "core"]
            good &= expect(run(command), plant.caught, f"{plant.path}: {plant.caught}")
    return good


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def build(compiler, library, folder):
    """Compiles `library` into the folder and gives the shared object's path."""
    code, output = pathlib.Path(folder, "planted.c"), pathlib.Path(folder, "libplanted.so")
    code.write_text(library.source)
    nodelete = ["-Wl,-z,nodelete"] if library.nodelete else []
    subprocess.run([compiler, "-x", library.language, "-O1", "-fPIC", "-shared", *nodelete, code,
                    "-x", "none", "-o", output, "-lstdc++"], check=True)
    return output


def plant_in_library(compiler):
    """Builds a library per violation and has check_symbols.py look at it."""
    check = [sys.executable, ROOT / "tools/check_symbols.py"]
    good = True
    with tempfile.TemporaryDirectory() as folder:
        listing = pathlib.Path(folder, "symbols.txt")
        listing.write_text("guf_a 0.1 unstable\n")
        write(pathlib.Path(folder, "include/planted.h"), "GUF_API int guf_undefined(void);\n")
        for library in SYMBOLS:
            path = build(compiler, library, folder)
            result = run([*check, "--library", path, "--list", listing, "--include",
                          pathlib.Path(folder, "include")])
            good &= expect(result, library.caught, library.caught)
        result = run([*check, "--plugin", build(compiler, PLUGIN, folder)])
        good &= expect(result, PLUGIN.caught, "a plugin's second symbol")
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("check")
    args, options = parser.parse_known_args()
    if args.check == "symbols":
        sys.exit(not plant_in_library(*options))
    plants, scenery = {
        "layers": (LAYERS, dict.fromkeys(LAYERS_SCENERY, SPDX)),
        "headers": (HEADERS, {}),
        "files": (FILES, {"core/base/error.cc": SPDX}),
        "docs": (DOCS, {"core/base/planted.cc": SPDX}),
        "layout": (LAYOUT, {"abi/layout.txt": LAYOUT_BEFORE}),
        "error_codes": (ERROR_CODES, ERROR_CODES_BEFORE),
        "twins": (TWINS, TWINS_BEFORE),
        "format": (FORMAT, {}),
        "tidy": (TIDY, {}),
    }[args.check]
    sys.exit(not plant_in_tree(args.check, plants, scenery, options))


if __name__ == "__main__":
    main()
