# SPDX-License-Identifier: Apache-2.0
"""Checks that a loop over each mathematical function of the dialect vectorizes at every ISA level,
and that no loop calls the C library. Usage: vectorize_check.py CLANG INCLUDE_FOLDER."""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ONE = """exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh acosh
atanh sqrt cbrt erf erfc tgamma lgamma floor ceil trunc rint fabs degrees radians""".split()
TWO = "pow atan2 hypot copysign nextafter fmin fmax".split()
LEVELS = ["x86-64-v2", "x86-64-v3", "x86-64-v4"]
# Without fused multiply-add, these functions exceed the size limit of the vectorizer.
SCALAR = {("x86-64-v2", "tgamma"), ("x86-64-v2", "lgamma")}


def source():
    """Returns source text with one function per line, and a dict from line to function name."""
    lines, names = ["#include <gufunc/kernel/math.hpp>"], {}
    for kind in ("f32", "f64"):
        for name in ONE + TWO:
            call = f"guf::{name}(x[i]{', y[i]' if name in TWO else ''})"
            lines.append(
                f"void {name}_{kind}(const guf::{kind} *x, const guf::{kind} *y, guf::{kind} *out, "
                f"guf::i64 n) {{ (void)y; GUF_INDEPENDENT for (guf::i64 i = 0; i < n; ++i) "
                f"out[i] = {call}; }}")
            names[len(lines)] = f"{name} {kind}"
    return "\n".join(lines) + "\n", names


def main(clang, include):
    text, names = source()
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "loops.cc")
        path.write_text(text, encoding="ascii")
        for level in LEVELS:
            compiled = subprocess.run(
                [clang, "-std=c++17", "-O3", f"-march={level}", "-ffp-contract=off",
                 "-fno-math-errno", "-ffreestanding", f"-I{include}", "-c", str(path), "-o",
                 str(Path(folder, "loops.o")), "-Rpass=loop-vectorize"],
                capture_output=True, text=True, check=False)
            if compiled.returncode != 0:
                sys.exit(compiled.stderr)
            vector = {int(line) for line in re.findall(r"loops\.cc:(\d+):\d+: remark: vectorized",
                                                       compiled.stderr)}
            for line, name in names.items():
                if line not in vector and (level, name.split()[0]) not in SCALAR:
                    print(f"{level}: the loop over {name} did not vectorise")
                    failed += 1
            symbols = subprocess.run(["nm", "-u", str(Path(folder, "loops.o"))],
                                     capture_output=True, text=True, check=True).stdout.split()
            for symbol in symbols:
                if symbol != "U":
                    print(f"{level}: calls {symbol}")
                    failed += 1
            print(f"{level}: {len(names)} loops looked at")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main(*sys.argv[1:3])
