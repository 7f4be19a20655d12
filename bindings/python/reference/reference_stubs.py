# SPDX-License-Identifier: Apache-2.0
"""Reads the declarations of the package's stubs for make_reference.py."""

import ast
import dataclasses

SHOWN = ("__new__", "__init__", "__call__")  # names with underscores that the pages show
WIDTH = 100
QUIET = {"Any", "object", "Self"}
UFUNCS = {"Ufunc", "_Unary", "_Binary"}


@dataclasses.dataclass
class Entry:
    """A function, class, property or attribute of a stub."""

    name: str
    kind: str
    type: str = ""
    nodes: list = dataclasses.field(default_factory=list)
    bases: list = dataclasses.field(default_factory=list)
    members: dict = dataclasses.field(default_factory=dict)


class Spelling(ast.NodeTransformer):
    """Replaces private names of types by their definitions."""

    def __init__(self, aliases):
        self.aliases = aliases

    def visit_Name(self, node):
        return self.aliases.get(node.id, node)


def _arguments(node):
    given = node.args
    return [*given.posonlyargs, *given.args, *given.kwonlyargs,
            *filter(None, (given.vararg, given.kwarg))]


def _parts(text):
    """Splits a text at the commas outside of brackets."""
    found, depth = [""], 0
    for letter in text:
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth == 0:
            found.append("")
        else:
            found[-1] += letter
    return [part.strip() for part in found if part.strip()]


def _spaced(part):
    """Formats ``x: int=1`` as ``x: int = 1``."""
    return part.replace("=", " = ", 1) if ":" in part.partition("=")[0] else part


def typed(node, name):
    """A declaration for readers, without self and without types such as Any."""
    given = node.args
    for arguments in (given.posonlyargs, given.args):
        if arguments and arguments[0].arg in ("self", "cls"):
            arguments.pop(0)
    for argument in _arguments(node):
        if argument.annotation is not None and ast.unparse(argument.annotation) in QUIET:
            argument.annotation = None
    result = ast.unparse(node.returns)
    constructs = node.name in ("__new__", "__init__")
    arrow = "" if constructs or result in QUIET or result == "None" else f" -> {result}"
    parts = [_spaced(part) for part in _parts(ast.unparse(given))]
    lines = [f"{name}("]
    for i, part in enumerate(parts):
        part += "," if i + 1 < len(parts) else f"){arrow}"
        if len(lines[-1]) + len(part) >= WIDTH:
            lines.append("   ")
        lines[-1] += part if lines[-1].endswith("(") else f" {part}"
    return "\n".join(lines) + ("" if parts else f"){arrow}")


def _decorated(node, name):
    return any(ast.unparse(mark).split(".")[-1] == name for mark in node.decorator_list)


class Stubs:
    """`modules` contains the entries of each stub, `exported` maps each public name to its module,
    and `ufuncs` contains the names of the ufuncs."""

    def __init__(self, folder):
        trees = {path.stem: ast.parse(path.read_text()) for path in sorted(folder.glob("*.pyi"))}
        aliases, listed = {}, {}
        for module, tree in trees.items():
            for node in tree.body:
                if isinstance(node, ast.Assign) and node.targets[0].id == "__all__":
                    listed[module] = ast.literal_eval(node.value)
                elif isinstance(node, ast.Assign) and node.targets[0].id.startswith("_"):
                    aliases[node.targets[0].id] = node.value
                if isinstance(node, ast.ImportFrom):
                    aliases.update((one.asname, ast.Name(one.name)) for one in node.names
                                   if one.asname and one.asname.startswith("_"))
        spelling = Spelling(aliases)
        self.modules = {name: self._entries(spelling.visit(tree).body, {})
                        for name, tree in trees.items() if name != "__init__"}
        private = {name: entry.members for module in self.modules.values()
                   for name, entry in module.items() if name.startswith("_")}
        for module in self.modules.values():
            for entry in module.values():
                for base in [base for base in entry.bases if base in private]:
                    entry.bases.remove(base)
                    entry.members = {**private[base], **entry.members}
        first = trees["__init__"].body
        self.exported = {name: node.module for node in first
                         if isinstance(node, ast.ImportFrom) and node.names[0].name == "*"
                         for name in sorted(listed.get(node.module) or
                                            self._public(self.modules[node.module]))
                         if not name.startswith("_")}
        self.ufuncs = [node.target.id for node in first if isinstance(node, ast.AnnAssign)
                       and ast.unparse(node.annotation) in UFUNCS]

    def _entries(self, body, found):
        for node in body:
            if isinstance(node, ast.ClassDef):
                bases = [ast.unparse(base) for base in node.bases]
                found[node.name] = Entry(node.name, "class", bases=bases,
                                         members=self._public(self._entries(node.body, {})))
            elif isinstance(node, ast.AnnAssign):
                found[node.target.id] = Entry(node.target.id, "attribute",
                                              ast.unparse(node.annotation))
            elif isinstance(node, ast.FunctionDef) and not _decorated(node, "setter"):
                kind = "property" if _decorated(node, "property") else "function"
                entry = found.setdefault(node.name, Entry(node.name, kind))
                entry.nodes.append(node)
                entry.type = ast.unparse(node.returns)
        return found

    @staticmethod
    def _public(members):
        return {name: entry for name, entry in members.items()
                if name in SHOWN or not name.startswith("_")}
