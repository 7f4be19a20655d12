# SPDX-License-Identifier: Apache-2.0
"""Computes sizes and offsets of structures and values of constants with the C compiler."""

import json
import subprocess
import tempfile

HEAD = '''#include <gufunc/gufunc.h>
#include <stddef.h>
#include <stdio.h>
#define SIGNED(x) (((x) - (x) - 1 < 0) && sizeof(x) >= sizeof(int))
#define VALUE(x) \\
  printf(SIGNED(x) ? "\\"%s\\": %lld,\\n" : "\\"%s\\": %llu,\\n", #x, (unsigned long long)(x))
#define SIZE(x) printf("\\"%s\\": [%zu, %zu],\\n", #x, sizeof(x), _Alignof(x))
#define OFFSET(x, field) printf("\\"%s.%s\\": %zu,\\n", #x, #field, offsetof(x, field))
int main(void) {
  printf("{\\n");
'''


class Layout:
    """Layout of structures (size, alignment, field offsets), and values of constants."""

    def __init__(self, facts):
        self.facts = facts

    def value(self, name):
        return self.facts[name]

    def size(self, struct):
        return self.facts[struct][0]

    def alignment(self, struct):
        return self.facts[struct][1]

    def offset(self, struct, field):
        return self.facts[f'{struct}.{field}']


def program(model):
    lines = [f'  VALUE({name});' for name in names_of_constants(model)]
    for struct in model.structs:
        lines.append(f'  SIZE({struct.name});')
        lines += [f'  OFFSET({struct.name}, {field.name});' for field in struct.fields]
    return HEAD + '\n'.join(lines) + '\n  printf("\\"\\": 0}\\n");\n  return 0;\n}\n'


def names_of_constants(model):
    return [c.name for c in model.constants] + [i for enum in model.enums for i in enum.items]


def measure(model, compiler, includes):
    with tempfile.TemporaryDirectory() as folder:
        source, probe = f'{folder}/probe.c', f'{folder}/probe'
        with open(source, 'w', encoding='utf-8') as text:
            text.write(program(model))
        subprocess.run([*compiler, '-std=c11', '-w', f'-I{includes}', source, '-o', probe],
                       check=True)
        output = subprocess.run([probe], check=True, capture_output=True, text=True).stdout
    return Layout(json.loads(output))
