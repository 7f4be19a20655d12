#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/kernel-reference.md: every function of namespace guf that kernels may call, and links
to the sections of kernels.md that describe macros and members.

The functions come from the preprocessed headers. A function without a description in this file, or
a description without a function, is an error. --check writes nothing and fails if the page is not
up to date."""

import argparse
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "kernel-reference.md"

SECTIONS = {
    "Powers, logarithms, roots": {
        "cbrt": "cube root",
        "exp": "e to the power z; of complex numbers too",
        "exp2": "2 to the power z; of complex numbers too",
        "expm1": "exp(z) - 1, accurate near 0; of complex numbers too",
        "hypot": "sqrt(x * x + y * y) without overflow",
        "log": "natural logarithm; of complex numbers too",
        "log10": "logarithm to base 10; of complex numbers too",
        "log1p": "log(1 + z), accurate near 0; of complex numbers too",
        "log2": "logarithm to base 2; of complex numbers too",
        "pow": "z to the power w; of complex numbers too",
        "sqrt": "square root, correctly rounded; of complex numbers too",
    },
    "Trigonometry and hyperbolic functions": {
        "acos": "arc cosine; of complex numbers too",
        "acosh": "inverse hyperbolic cosine; of complex numbers too",
        "asin": "arc sine; of complex numbers too",
        "asinh": "inverse hyperbolic sine; of complex numbers too",
        "atan": "arc tangent; of complex numbers too",
        "atan2": "angle of the point (x, y)",
        "atanh": "inverse hyperbolic tangent; of complex numbers too",
        "cos": "cosine; of complex numbers too",
        "cosh": "hyperbolic cosine; of complex numbers too",
        "degrees": "radians to degrees",
        "radians": "degrees to radians",
        "sin": "sine; of complex numbers too",
        "sinh": "hyperbolic sine; of complex numbers too",
        "tan": "tangent; of complex numbers too",
        "tanh": "hyperbolic tangent; of complex numbers too",
    },
    "Special functions": {
        "erf": "error function",
        "erfc": "1 - erf(x), accurate for large x",
        "gamma": "the gamma function, same as tgamma",
        "lgamma": "logarithm of the absolute value of the gamma function",
        "tgamma": "the gamma function",
    },
    "Rounding, signs, parts of a number": {
        "abs": "absolute value of any number",
        "ceil": "smallest integer that is not below x",
        "copysign": "x with the sign of y",
        "fabs": "absolute value",
        "floor": "largest integer that is not above x",
        "fma": "a * b + c, rounded once",
        "fmax": "the larger argument, or the number if the other argument is NaN",
        "fmin": "the smaller argument, or the number if the other argument is NaN",
        "fmod": "remainder of x / y with the sign of x",
        "frexp": "the members fraction and exponent, where x = fraction * 2^exponent",
        "isclose": "like Python's math.isclose",
        "isfinite": "whether x is neither infinite nor NaN",
        "isinf": "whether x is infinite",
        "isnan": "whether x is NaN",
        "ldexp": "x * 2^n",
        "max": "the larger of a and b",
        "min": "the smaller of a and b",
        "modf": "the members fraction and whole of x",
        "nextafter": "the next number from x towards y",
        "remainder": "remainder of x / y, rounded to the nearest quotient",
        "rint": "nearest integer, ties to even",
        "signbit": "whether the sign is minus",
        "trunc": "the integer part",
        "ulp": "distance to the next larger number",
    },
    "Integers and division": {
        "comb": "binomial coefficient",
        "factorial": "n!",
        "floor_divide": "Python's //; division by an integer 0 yields 0",
        "floor_divmod":
            "floor_divide and floor_modulo at once, in the members quotient and remainder",
        "floor_modulo": "Python's %; division by an integer 0 yields 0",
        "gcd": "greatest common divisor",
        "isqrt": "integer square root",
        "lcm": "least common multiple",
        "perm": "number of ordered selections",
        "trunc_divide": "C's / of integers; division by 0 yields 0",
        "trunc_modulo": "C's % of integers; division by 0 yields 0",
    },
    "Complex numbers": {
        "arg": "angle",
        "conj": "conjugate",
        "imag": "imaginary part, z.im",
        "real": "real part, z.re",
    },
    "Types and times": {
        "bit_cast": "the bits of x as another type of the same size",
        "cast": "x converted to another type; floats saturate in integers, and NaN becomes 0",
        "is_nat": "whether a datetime or timedelta is not-a-time",
        "load": "a copy of an element, whether the view returns a value or a reference",
        "select_path":
            "the body of an elementwise function that has a fast path for common arguments",
        "to_bf16": "x rounded to bfloat16",
        "to_f16": "x rounded to float16",
        "to_f32": "the value of a float16 or bfloat16",
    },
    "Atomics and random numbers (`<gufunc/raw_kernel.hpp>`)": {
        "atomic_add": "adds; returns the previous value",
        "atomic_and": "bitwise and; returns the previous value",
        "atomic_compare_exchange":
            "stores `desired` if the value is `expected`; returns the previous value",
        "atomic_exchange": "stores; returns the previous value",
        "atomic_max": "stores the larger value; returns the previous value",
        "atomic_min": "stores the smaller value; returns the previous value",
        "atomic_or": "bitwise or; returns the previous value",
        "atomic_sub": "subtracts; returns the previous value",
        "atomic_xor": "bitwise exclusive or; returns the previous value",
        "philox": "one block of Philox4x32-10 for a counter and a key; see guf::random",
    },
}

MEMBERS = {
    "is_integer": "whether T is an integer type or bool",
    "is_signed": "whether T has negative values",
    "lowest": "the lowest finite value",
    "max": "the largest finite value",
    "min_normal": "the smallest positive normal number",
    "epsilon": "distance from 1 to the next larger number",
    "infinity": "positive infinity",
    "nan": "a quiet NaN",
}

HEAD = """# Functions for kernels

This page is for authors of kernels. It lists every function of namespace `guf` that a kernel may
call. [kernels.md](kernels.md) explains how to write kernels, and it describes the macros and the
members of views, groups, blocks and `guf::random` ([list](#described-in-kernelsmd)).
`tools/kernel_reference.py` generates this page from the headers.

`T` is a type that the arguments determine. Functions of `f32` and `f64` compute in the type of
their argument, so write constants as `T(0.5)`.

The types are:

- numbers: `i8` `i16` `i32` `i64` `u8` `u16` `u32` `u64` `f32` `f64`
- complex numbers: `c64` and `c128`, which are `complex<f32>` and `complex<f64>`
- datetime types: `datetime` and `timedelta`, with the member `value`
- element types of arrays that functions receive as another type: `b8` (as `bool`), `f16` and
  `bf16` (as `float`)
- `out<T>` for outputs, `view<T, N>` for arrays

The constants are `pi`, `tau`, `e`, `inf` and `nan` in `f64`, and `nat`.
"""


# Names that are not functions, and the sections of kernels.md that describe them.
ELSEWHERE = {
    "`GUF_UFUNC`, `GUF_GUFUNC`, `GUF_KERNEL`": "Registrations",
    "`GUF_DEVICE`, `GUF_DEVICE_NOINLINE`, `GUF_TABLE`": "What a kernel may use",
    "members of `guf::view<T, N>`, and of a group: `size`, `rank`, `sum`, `min`, "
    "`max`, `reduce`, `shared`, `sync`":
        "Views and groups",
    "members of `guf::block`, `guf::lanes` and `guf::random`": "Raw kernels",
}


def preprocessed(compiler):
    command = [compiler, "-x", "c++", "-std=c++17", "-E", "-P", "-DGUF_ALLOW_STD_MATH",
               f"-I{ROOT}/kernels/include", f"-I{ROOT}/abi/include", "-include",
               "gufunc/kernel.hpp", "-include", "gufunc/raw_kernel.hpp", "/dev/null"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def functions(text):
    """Returns the names and parameters of the functions that namespace guf itself defines."""
    strings = r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\''
    tokens = re.findall(strings + r"|[A-Za-z_]\w*|::|->|[0-9][\w.+\-]*|\S", text)
    scopes, head, found = [], [], {}
    for token in tokens:
        if token == "{":
            if "namespace" in head:
                scopes.append(head[-1])
            else:
                declaration = re.sub(r"__attribute__ \( \( [^)]*\) \)", "", " ".join(head))
                match = re.search(r"\b(\w+) \(((?:[^()]|\([^()]*\))*)\)\s*(?:->.*)?$", declaration)
                plain = re.sub(r"template <.*?> ", "", declaration)
                if scopes == ["guf"] and match and "operator" not in declaration and not re.match(
                        r"(struct|class|enum|union)\b", plain):
                    found.setdefault(match[1], []).append(match[2])
                scopes.append("{")
            head = []
        elif token == "}":
            scopes.pop()
            head = []
        elif token == ";":
            head = []
        else:
            head.append(token)
    return found


def spelled(name, overloads):
    # Overloads differ in their types; the parameter names are the useful part.
    parameters = re.sub(r"\braw :: same_t < T >", "T", overloads[-1])
    parameters = re.sub(r"\s*=\s*[^,]*(\([^)]*\))?", "", parameters)
    parameters = re.sub(r"<[^<>]*>", "", parameters)
    names = [re.split(r"\s+", part.strip())[-1] for part in parameters.split(",")]
    return f"`{name}({', '.join(n for n in names if n)})`"


def limits():
    text = (ROOT / "kernels/include/gufunc/kernel/types.hpp").read_text()
    text = text[text.index("// ---- limits"):]
    return set(re.findall(r"static constexpr \w+ (\w+) =", text)) - {"value"}


def complex_members():
    """Returns the data members of guf::complex, in the order of their declaration."""
    text = (ROOT / "kernels/include/gufunc/kernel/complex.hpp").read_text()
    found = re.search(r"^struct complex \{\n  T (\w+(?:, \w+)*);$", text, re.MULTILINE)
    return found[1].split(", ")


def missing_sections():
    text = (ROOT / "docs/kernels.md").read_text()
    return sorted(set(ELSEWHERE.values()) - set(re.findall(r"^#+ (.*)$", text, re.MULTILINE)))


def page(compiler):
    found = functions(preprocessed(compiler))
    described = {name for section in SECTIONS.values() for name in section}
    wrong = [f"{name} is in no section" for name in sorted(set(found) - described)]
    wrong += [f"{name} is in no header" for name in sorted(described - set(found))]
    wrong += [f"limits<T>::{name} differs" for name in sorted(limits() ^ set(MEMBERS))]
    lines = [HEAD]
    for title, section in SECTIONS.items():
        lines += [f"## {title}\n", "| `guf::` | |", "|---|---|"]
        lines += [f"| {spelled(name, found.get(name, ['']))} | {text} |"
                  for name, text in section.items()]
        lines.append("")
    lines += ["## Members of `guf::limits<T>`\n",
              "For every number type and `bool`. Only `f32` and `f64` have the last four.\n",
              "| | |", "|---|---|"]
    lines += [f"| `limits<T>::{name}` | {text} |" for name, text in MEMBERS.items()]
    lines += ["", "## Members of `guf::c64` and `guf::c128`\n",
              "A complex number has the members "
              f"{' and '.join(f'`{name}`' for name in complex_members())}. "
              "`guf::c64(1, 2)` constructs one.",
              "`+ - * /`, `==` and `!=` use NumPy's formulas. The functions above that are marked",
              "\"of complex numbers too\" accept complex numbers.", "",
              "## Described in kernels.md\n", "| | |", "|---|---|"]
    lines += [f"| {what} | [{title}](kernels.md#{title.lower().replace(' ', '-')}) |"
              for what, title in ELSEWHERE.items()]
    lines.append("")
    wrong += [f"kernels.md has no section '{name}'" for name in missing_sections()]
    return "\n".join(lines), wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--compiler", default="clang++-19")
    arguments = parser.parse_args()
    text, wrong = page(arguments.compiler)
    if not arguments.check:
        PAGE.write_text(text)
    elif not PAGE.exists() or PAGE.read_text() != text:
        wrong.append(f"{PAGE.name} is not what tools/kernel_reference.py writes")
    for complaint in wrong:
        print(f"kernel_reference: {complaint}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
