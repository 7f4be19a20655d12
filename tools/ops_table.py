# SPDX-License-Identifier: Apache-2.0
"""Reads the table of the standard functions, abi/include/gufunc/ops.def, and their loops,
ops_loops.h. Generators and tests take the names of the functions and their types from here.

python3 tools/ops_table.py    prints a line per function: name, inputs, outputs, loops"""

import dataclasses
import pathlib
import re

FOLDER = pathlib.Path(__file__).resolve().parents[1] / 'abi/include/gufunc'
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|\w+|\S')
BOOL, INTEGERS, INEXACT, TIMES = '?', 'bBhHiIqQ', 'eEfdFD', 'mM'


@dataclasses.dataclass(frozen=True)
class Function:
    """A row of ops.def. `loops` are pairs of letters: ('dd', 'd') computes f64 from two f64."""

    name: str
    nin: int
    nout: int
    signature: str | None
    loops: tuple
    doc: str

    @property
    def elementwise(self):
        return self.signature is None

    def has_inputs(self, letters):
        """Whether the function has a loop whose input types are all in `letters`."""
        return any(set(inputs) <= set(letters) for inputs, _ in self.loops)

    def returns(self, letter):
        """Whether an output of a loop has the type `letter`."""
        return any(letter in outputs for _, outputs in self.loops)

    def returns_only(self, letters):
        return all(set(outputs) <= set(letters) for _, outputs in self.loops)


@dataclasses.dataclass(frozen=True)
class Table:
    functions: dict  # name to Function, in the order of ops.def
    reductions: dict  # name to Function, the block functions of reductions with an accumulator
    aliases: dict  # alias to name

    @property
    def names(self):
        """The names of the functions and their aliases."""
        return [*self.functions, *self.reductions, *self.aliases]

    def function(self, name):
        return self.reductions.get(name) or self.functions[self.aliases.get(name, name)]


def without_comments(path):
    text = re.sub(r'/\*.*?\*/', ' ', path.read_text(), flags=re.DOTALL)
    return text.replace('\\\n', ' ')


def text_of(tokens, macros):
    """Concatenates string literals and macros that expand to string literals."""
    parts = []
    for token in tokens:
        if token.startswith('"'):
            parts.append(re.sub(r'\\(.)', r'\1', token[1:-1]))
        elif token in macros:
            parts.append(text_of(macros[token], macros))
        else:
            raise ValueError(f'expected a string or a macro of ops_loops.h, got {token}')
    return ''.join(parts)


def read_macros(path):
    found = re.findall(r'^#define (\w+) (.+)$', without_comments(path), re.MULTILINE)
    return {name: TOKEN.findall(value) for name, value in found}


def arguments(tokens):
    """Splits the tokens after a macro's name at the commas between its parentheses."""
    parts, depth = [[]], 0
    for token in tokens:
        depth += (token == '(') - (token == ')')
        if depth == 0:
            return parts
        if depth == 1 and token == ',':
            parts.append([])
        elif depth > 1 or token != '(':
            parts[-1].append(token)
    raise ValueError(f'expected ")" after {" ".join(tokens[:8])}')


def read(folder=FOLDER):
    """Returns the Table of the headers in `folder`."""
    macros = read_macros(folder / 'ops_loops.h')
    text = re.sub(r'^#.*$', '', without_comments(folder / 'ops.def'), flags=re.MULTILINE)
    tokens = TOKEN.findall(text)
    functions, reductions, aliases = {}, {}, {}
    for place, token in enumerate(tokens):
        if token in ('GUF_OP', 'GUF_OP_REDUCTION'):
            row = arguments(tokens[place + 1 :])
            signature = None if row[3] == ['NULL'] else text_of(row[3], {})
            loops = tuple(
                tuple(loop.split('->'))
                for loop in text_of(row[6 if token == 'GUF_OP' else 5], macros).split()
            )
            function = Function(row[0][0], int(row[1][0]), int(row[2][0]), signature, loops,
                                text_of(row[-1], {}))
            (functions if token == 'GUF_OP' else reductions)[function.name] = function
        elif token == 'GUF_OP_ALIAS':
            row = arguments(tokens[place + 1 :])
            aliases[row[0][0]] = row[1][0]
    return Table(functions, reductions, aliases)


def main():
    for function in read().functions.values():
        loops = ' '.join(map('->'.join, function.loops))
        print(function.name, function.nin, function.nout, loops)


if __name__ == '__main__':
    main()
