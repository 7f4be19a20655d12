#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the table "C function x language": the functions of the C API that the safe layer of each
language uses. Reads the handwritten sources of the bindings. If no language uses a function,
bindings/gufunc.i must list the function as abi:raw_only, with the reason. If one language does not
use a function, bindings/gufunc.i must list the function as abi:raw_only_<language>.

    coverage.py [--write] [--allow-missing] [--root FOLDER]

--write writes the table to docs/bindings.md; without --write the table is compared with this page.
With --allow-missing a language may have no sources, and its column contains a note."""

import argparse
import pathlib
import re
import sys

PAGE, INTERFACE = 'docs/bindings.md', 'bindings/gufunc.i'
BEGIN, END = '<!-- coverage: begin -->', '<!-- coverage: end -->'
FEATURE = re.compile(r'%feature\("abi:raw_only(?:_(\w+))?",\s*"([^"]+)"\)\s*(\w+);')
DECLARED = re.compile(r'^GUF_API\s[^;(]*?\b(guf_\w+)\(', re.MULTILINE)
# Function names in comments and strings are not counted.
STRING = r'"(?:\\.|[^"\\])*"'
LIKE_C = rf"//[^\n]*|/\*.*?\*/|r#+\".*?\"#+|{STRING}|'(?:\\.|[^'\\\n])'|`[^`]*`"
LIKE_PYTHON = rf'""".*?"""|{STRING}|#[^\n]*'
NO_CODE = {True: re.compile(LIKE_C, re.DOTALL), False: re.compile(LIKE_PYTHON, re.DOTALL)}
# Matches a function that is called, passed as an argument, or converted to a pointer.
USED = re.compile(r'\b\w+\b(?=\s*(?:[(,)>};]|\bas\b|$))', re.MULTILINE)


def code_of(path):
    return NO_CODE[path.suffix not in ('.py', '.jl')].sub(' "" ', path.read_text())


def camel(name):
    """Returns the name of a C function in Go's generated layer: cArrayAlloc for guf_array_alloc."""
    return 'c' + ''.join(word.capitalize() for word in name.split('_')[1:])


class Language:
    def __init__(self, title, key, globs, generated=(), spelling=None, ignores=None):
        self.title, self.key, self.globs = title, key, globs
        self.generated, self.spelling = generated, spelling
        self.ignores = ignores  # path of the file that lists what SWIG omits from the raw layer

    def words(self, root):
        """Returns every word that the safe layer uses as a function, or None if there are no
        sources.
        """
        files = sorted({path for pattern in self.globs for path in root.glob(pattern)})
        files = [path for path in files if path.name not in self.generated]
        if not files:
            return None
        return {word for path in files for word in USED.findall(code_of(path))}

    def left_out(self, root):
        """Returns a pattern that matches the functions that are missing in the raw layer."""
        text = (root / self.ignores).read_text() if self.ignores else ''
        names = re.findall(r'%ignore (guf_\w+);', text)
        patterns = re.findall(r'%rename\("\$ignore", regexmatch\$name="([^"]+)"\)', text)
        return re.compile('|'.join([f'^{name}$' for name in names] + patterns) or '(?!)')

    def uses(self, words, function):
        spelled = {function, f'z{function}'}
        return bool(spelled & words or self.spelling and self.spelling(function) in words)


LANGUAGES = [
    Language(
        'C++', 'cpp', ['bindings/cpp/include/**/*.hpp']
    ),
    Language(
        'Python',
        'python',
        ['bindings/python/**/*.py', 'bindings/python/**/*.c', 'bindings/python/**/*.h'],
        ('setup.py',),
        ignores='bindings/python/gufunc_python.i',
    ),
    Language('Rust', 'rust', ['bindings/rust/gufunc/src/**/*.rs']),
    Language(
        'Go',
        'go',
        ['bindings/go/*.go', 'bindings/go/*.[ch]'],
        ('zcalls.go', 'zcalls.h'),
        camel,
    ),
    Language('Julia', 'julia', ['bindings/julia/src/*.jl'], ('ffi.jl',)),
]


def functions(root):
    """Returns every function that gufunc/gufunc.h declares, in the order of the headers."""
    include = root / 'abi/include/gufunc'
    headers = re.findall(r'#include "(\w+\.h)"', (include / 'gufunc.h').read_text())
    texts = [(include / header).read_text() for header in headers]
    return list(dict.fromkeys(name for text in texts for name in DECLARED.findall(text)))


def exceptions(root):
    """Returns a dict from (language or '', function) to the reason why the function is not used."""
    text = (root / INTERFACE).read_text()
    return {(language or '', name): why for language, why, name in FEATURE.findall(text)}


def table(root):
    """Returns the lines of the table, the functions that are neither used nor listed as exceptions,
    and the missing languages."""
    names, excepted = functions(root), exceptions(root)
    words = {language: language.words(root) for language in LANGUAGES}
    left_out = {language: language.left_out(root) for language in LANGUAGES}
    lines = ['| function | ' + ' | '.join(one.title for one in LANGUAGES) + ' |']
    lines.append('|---|' + '---|' * len(LANGUAGES))
    open_ones = []
    for name in names:
        row = []
        for language in LANGUAGES:
            raw_only = ('', name) in excepted or (language.key, name) in excepted
            if words[language] is None:
                row.append('')
            elif language.uses(words[language], name):
                row.append('yes')
            else:
                row.append('no' if left_out[language].search(name) else 'raw')
                if not raw_only:
                    open_ones.append(f'{language.title}: {name}')
        lines.append(f'| `{name}` | ' + ' | '.join(row) + ' |')
    lines += ['', 'Raw only, and why:', '']
    for (key, name), why in sorted(excepted.items(), key=lambda item: item[0][1]):
        where = next((f' ({one.title})' for one in LANGUAGES if one.key == key), '')
        lines.append(f'- `{name}`{where}: {why}')
    for (key, name), _ in excepted.items():
        using = [one for one in LANGUAGES if words[one] and key in ('', one.key)]
        if name in names and using and all(one.uses(words[one], name) for one in using):
            where = 'every language' if key == '' else using[0].title
            open_ones.append(f'{INTERFACE} excepts {name}, which {where} uses')
    stale = [name for (_, name) in excepted if name not in names]
    open_ones += [f'{INTERFACE} excepts {name}, which there is not' for name in stale]
    return lines, open_ones, [one.title for one in LANGUAGES if words[one] is None]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument('--write', action='store_true')
    parser.add_argument('--allow-missing', action='store_true')
    parser.add_argument('--root', type=pathlib.Path, default=pathlib.Path(__file__).parents[2])
    options = parser.parse_args()
    lines, findings, missing = table(options.root)
    page = options.root / PAGE
    text = page.read_text()
    begin, end = text.index(BEGIN) + len(BEGIN), text.index(END)
    expected = text[:begin] + '\n' + '\n'.join(lines) + '\n' + text[end:]
    if options.write:
        page.write_text(expected)
    elif expected != text:
        findings.append(f'{PAGE} does not match the sources: coverage.py --write')
    if missing and not options.allow_missing:
        findings += [f'{title} has no sources here (--allow-missing)' for title in missing]
    for finding in findings:
        print(finding)
    count = len(functions(options.root))
    print(f'{count} functions, {len(LANGUAGES) - len(missing)} languages, {len(findings)} found')
    if missing:
        print(f'not here: {", ".join(missing)}')
    return 1 if findings or not count else 0


if __name__ == '__main__':
    sys.exit(main())
