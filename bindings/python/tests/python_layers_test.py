# SPDX-License-Identifier: Apache-2.0
"""Tests that the imports between the package's modules have no cycles, including imports in
functions.

python_layers_test.py ROOT
"""

import ast
import graphlib
import pathlib
import sys
import unittest

ROOT = pathlib.Path(sys.argv.pop(1))


def imported(text, modules):
    """Yields the modules of the package that a source imports, including imports in functions."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.level == 1:
            names = [alias.name for alias in node.names] if node.module is None else [node.module]
            yield from (name for name in names if name in modules)


def circle(sources):
    graph = {name: set(imported(text, sources)) for name, text in sources.items()}
    try:
        list(graphlib.TopologicalSorter(graph).static_order())
    except graphlib.CycleError as error:
        return error.args[1]
    return []


class Layers(unittest.TestCase):
    def test_imports_point_one_way(self):
        folder = ROOT / "bindings/python/gufunc"
        sources = {path.stem: path.read_text() for path in folder.glob("*.py")
                   if path.stem != "__init__"}
        self.assertGreater(len(sources), 15)
        self.assertEqual(circle(sources), [])

    def test_a_circle_is_found(self):
        lazy = "def f():\n    from .a import x\n"
        self.assertTrue(circle({"a": "from . import b", "b": "from .c import y", "c": lazy}))
        self.assertFalse(circle({"a": "from . import b", "b": "import c", "c": lazy}))


if __name__ == "__main__":
    unittest.main()
