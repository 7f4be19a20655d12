# SPDX-License-Identifier: Apache-2.0
"""Checks that bindings/cpp/cpp-classes.md lists every class of gufunc/cpp/*.hpp with its header,
and that the C names on the page are declared in the linked header.

cpp_classes_test.py ROOT
"""

import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(sys.argv.pop(1))
C_HEADERS = ROOT / "abi/include/gufunc"
CPP_HEADERS = ROOT / "bindings/cpp/include/gufunc/cpp"
PAGE = ROOT / "bindings/cpp/cpp-classes.md"
HIDDEN = re.compile(r"^namespace detail \{.*?^\}  // namespace detail$", re.DOTALL | re.MULTILINE)
# Matches a definition without indentation, but neither declarations nor specializations.
CLASS = re.compile(r"^(?:(?:class|struct)(?: \[\[nodiscard\]\])? (\w+)(?= [:{])|using (\w+) =)",
                   re.MULTILINE)
ROW = re.compile(r"^\| `(\w+)` \| (.{10,}) \| \[([\w.]+)\]\([^)]*/cpp/\3\) \| (.+) \|$",
                 re.MULTILINE)
CONTRACT = re.compile(r"\[([\w.]+)\]\([^)]*/gufunc/\1\): (`.+`)$")


def classes(text):
    return {found[1] or found[2] for found in CLASS.finditer(HIDDEN.sub("", text))}


def declared(text, name):
    """Returns whether a C header declares a name, or, for a name that ends with *, any name with
    this prefix.
    """
    end = "" if name.endswith("*") else r"\b"
    code = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    return re.search(rf"\b{re.escape(name.rstrip('*'))}{end}", code) is not None


def findings(page, headers, c_headers):
    """Returns what is wrong or missing on the page. `headers` maps names to texts."""
    expected = {(name, header) for header, text in headers.items() for name in classes(text)}
    rows = ROW.findall(page)
    report = {(name, header) for name, _, header, _ in rows}
    yield from (f"{name} of {header} is not there" for name, header in sorted(expected - report))
    yield from (f"{name} is not in {header}" for name, header in sorted(report - expected))
    for name, _, _, contract in rows:
        found = CONTRACT.match(contract)
        if found is None and contract != "C++'s own":
            yield f"{name}: no contract"
        elif found is not None:
            names = found[2].replace("`", "").split(", ")
            text = c_headers.get(found[1], "")
            yield from (f"{name}: {one} is not in {found[1]}" for one in names
                        if not declared(text, one))


class Classes(unittest.TestCase):
    def test_the_page_is_the_headers(self):
        headers = {path.name: path.read_text() for path in CPP_HEADERS.glob("*.hpp")}
        c_headers = {path.name: path.read_text() for path in C_HEADERS.glob("*.h")}
        self.assertGreater(len(set().union(*map(classes, headers.values()))), 35)
        self.assertEqual(list(findings(PAGE.read_text(), headers, c_headers)), [])

    def test_what_differs_is_found(self):
        header = ("class Late;\nnamespace detail {\nclass Own {\n};\n}  // namespace detail\n"
                  "template <class T>\nclass [[nodiscard]] Box : public Base {\n};\n"
                  "using Boxes = int;\n")
        self.assertEqual(classes(header), {"Box", "Boxes"})
        row = "| `{}` | something to hold | [box.hpp](x/cpp/box.hpp) | {} |\n"
        good = row.format("Box", "[box.h](x/gufunc/box.h): `guf_box_*`, `guf_box`")
        page = good + row.format("Boxes", "C++'s own")
        known = {"box.h": "/* guf_lid */ guf_status guf_box_make(guf_box box);"}
        self.assertEqual(list(findings(page, {"box.hpp": header}, known)), [])
        for old, new in (("`Box`", "`Bin`"), ("`guf_box`", "`guf_lid`"), ("guf_box_*", "guf_bin_*"),
                         ("C++'s own", "somewhere"), (good, "")):
            fault = page.replace(old, new)
            self.assertTrue(list(findings(fault, {"box.hpp": header}, known)), fault)


if __name__ == "__main__":
    unittest.main()
