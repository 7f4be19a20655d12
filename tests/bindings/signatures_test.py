#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds what abigen wrote for Rust against bindgen's reading of the same headers, and the list of
exported symbols against both: two parsers and the linker have to agree.

    signatures_test.py [--bindgen bindgen]"""

import argparse
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FUNCTION = re.compile(r'pub fn (guf_\w+)\s*\((.*?)\)\s*(?:->\s*([^;{]+?))?\s*;')


def signatures(text):
    """{function: (types of parameters, result)}; the names of parameters are not compared."""
    found = {}
    linked = re.sub(r'\s+', ' ', re.sub(r'///.*', '', text)).replace('::std::os::raw::', '')
    linked = re.sub(r'\bsize_t\b', 'usize', linked)
    for name, parameters, result in FUNCTION.findall(linked):
        kinds = [part.split(':', 1)[1].strip()
                 for part in re.split(r',\s*(?=(?:r#)?\w+\s*:)', parameters.strip(' ,')) if part]
        found[name] = (kinds, result or '()')
    return found


def by_bindgen(bindgen):
    command = [bindgen, '--allowlist-function', 'guf_.*', '--no-layout-tests',
               ROOT / 'abi/include/gufunc/gufunc.h']
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--bindgen', default='bindgen')
    args = parser.parse_args()
    ours = signatures((ROOT / 'bindings/rust/gufunc-sys/src/ffi.rs').read_text())
    theirs = signatures(by_bindgen(args.bindgen))
    listed = {line.split()[0] for line in (ROOT / 'abi/symbols.txt').read_text().splitlines()
              if line.startswith('guf_')}
    wrong = [f'{name}: abigen {ours.get(name)}, bindgen {theirs.get(name)}'
             for name in sorted(ours.keys() | theirs.keys()) if ours.get(name) != theirs.get(name)]
    wrong += [f'{name}: exported, but in no header that bindings/gufunc.i includes'
              for name in sorted(listed - ours.keys())]
    wrong += [f'{name}: declared, but not exported' for name in sorted(ours.keys() - listed)]
    print('\n'.join(wrong))
    if wrong or not ours:
        sys.exit(f'{len(wrong)} of {len(ours)} functions differ')
    print(f'{len(ours)} functions: equal')


if __name__ == '__main__':
    main()
