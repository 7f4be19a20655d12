#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Generates files of the language bindings: the declarations of the C interface, from
bindings/gufunc.i, and the lists of the standard functions, from ops.def:

    python3 tools/abigen            writes the files
    python3 tools/abigen --check    lists the files that differ"""

import argparse
import difflib
import pathlib
import shlex
import subprocess
import sys
import tempfile

import comments
import go
import julia
import model
import probe
import roles
import rust
import standard

ROOT = pathlib.Path(__file__).resolve().parents[2]
INCLUDES = ROOT / 'abi/include'
INTERFACE = ROOT / 'bindings/gufunc.i'


def read_interface(swig, path=INTERFACE):
    with tempfile.TemporaryDirectory() as folder:
        xml = f'{folder}/gufunc.xml'
        subprocess.run([swig, '-xml', f'-I{INCLUDES}', '-o', xml, path], check=True)
        return model.Model(xml)


def misread(path, declared):
    """Returns the errors in the annotations of the interface file, and in the comments of the
    headers."""
    folder = INCLUDES / 'gufunc'
    texts = model.read_comments(folder)
    return [*roles.findings(path.read_text(), declared, texts, folder),
            *comments.findings(declared.functions, texts, folder)]


def generate(args):
    declared = read_interface(args.swig)
    wrong = misread(INTERFACE, declared)
    if wrong:
        wrong.append(f'abigen: {len(wrong)} findings in bindings/gufunc.i and in the headers')
        sys.exit('\n'.join(wrong))
    layout = probe.measure(declared, shlex.split(args.cc), INCLUDES)
    texts = model.read_comments(INCLUDES / 'gufunc')
    files = {}
    for language in (rust, julia, go):
        files |= language.generate(declared, layout, texts)
    return files | standard.generate(ROOT)


def differences(path, text):
    old = (ROOT / path).read_text() if (ROOT / path).exists() else ''
    return list(difflib.unified_diff(old.splitlines(), text.splitlines(), path, 'generated',
                                     lineterm='', n=1))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--check', action='store_true')
    parser.add_argument('--swig', default='swig')
    parser.add_argument('--cc', default='cc')
    args = parser.parse_args()
    differing = 0
    for path, text in generate(args).items():
        if args.check:
            lines = differences(path, text)
            differing += bool(lines)
            print('\n'.join(lines[:40]), end='\n' if lines else '')
            continue
        (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / path).write_text(text)
    if differing:
        sys.exit(f'abigen: {differing} files differ')


if __name__ == '__main__':
    main()
