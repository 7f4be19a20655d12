#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares abigen's Rust declarations with bindgen's declarations of the same headers, and compares
the declarations of each tool with the list of exported symbols. Functions are compared by the types
of their parameters and result, structures by size, alignment and field offsets, and constants by
value.

    signatures_test.py [--bindgen bindgen]"""

import argparse
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
# bindgen does not generate these constants.
NOT_READ = {'GUF_ALL_AXES', 'GUF_NAT', 'GUF_LEAF_SIZE', 'GUF_SCAN_TILE'}
FUNCTION = re.compile(r'pub fn (guf_\w+)\s*\((.*?)\)\s*(?:->\s*([^;{]+?))?\s*;')


def signatures(text):
    """Returns {function: (types of parameters, result)}. Names of parameters are not compared."""
    found = {}
    linked = re.sub(r'\s+', ' ', re.sub(r'///.*', '', text)).replace('::std::os::raw::', '')
    linked = re.sub(r'\bsize_t\b', 'usize', linked)
    for name, parameters, result in FUNCTION.findall(linked):
        kinds = [part.split(':', 1)[1].strip()
                 for part in re.split(r',\s*(?=(?:r#)?\w+\s*:)', parameters.strip(' ,')) if part]
        found[name] = (kinds, result or '()')
    return found


def layouts(text):
    """Returns {property: number} of structures from abigen's output, from assertions such as
    `offset_of!(guf_x, y) == 4`."""
    found = re.findall(r'assert!\((\w+)!?(?:::<|\()([\w, #]+)>?\(?\)+ == (\d+)\)', text)
    return {(kind, re.sub(r'r#|\s', '', what)): int(number) for kind, what, number in found}


def layouts_by_bindgen(text):
    """Returns the sizes, alignments and offsets that the tests in bindgen's output expect, as
    {property: number}."""
    found = re.findall(r'mem::(\w+)::<(guf_\w+)>\(\),\s*(\d+)usize', text)
    fields = re.findall(r'(\d+)usize,\s*concat!\(\s*"Offset of field: ",\s*stringify!\((\w+)\),'
                        r'\s*"::",\s*stringify!\((\w+)\)', text)
    made = {(kind, name): int(number) for kind, name, number in found}
    # Field names that are keywords of Rust end with an underscore.
    return made | {('offset_of', f'{name},{field.rstrip("_")}'): int(at)
                   for at, name, field in fields}


def constants(text):
    found = re.findall(r'pub const (GUF_\w+): \w+ = (-?\w+);', text)
    return {('constant', name): int(value) for name, value in found if name not in NOT_READ}


def by_bindgen(bindgen):
    command = [bindgen, '--allowlist-function', 'guf_.*',
               '--allowlist-type', 'guf_.*', '--allowlist-var', 'GUF_.*',
               '--no-prepend-enum-name', ROOT / 'abi/include/gufunc/gufunc.h']
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--bindgen', default='bindgen')
    args = parser.parse_args()
    text = (ROOT / 'bindings/rust/gufunc-sys/src/ffi.rs').read_text()
    bound = by_bindgen(args.bindgen)
    ours, theirs = signatures(text), signatures(bound)
    kept = layouts(text) | constants(text)
    read = layouts_by_bindgen(bound) | constants(bound)
    listed = {line.split()[0] for line in (ROOT / 'abi/symbols.txt').read_text().splitlines()
              if line.startswith('guf_')}
    wrong = [f'{name}: abigen {ours.get(name)}, bindgen {theirs.get(name)}'
             for name in sorted(ours.keys() | theirs.keys()) if ours.get(name) != theirs.get(name)]
    wrong += [f'{name}: exported, but in no header that bindings/gufunc.i includes'
              for name in sorted(listed - ours.keys())]
    wrong += [f'{name}: declared, but not exported' for name in sorted(ours.keys() - listed)]
    wrong += [f'{what}: abigen {kept.get(what)}, bindgen {read.get(what)}'
              for what in sorted(kept.keys() | read.keys()) if kept.get(what) != read.get(what)]
    print('\n'.join(wrong))
    if wrong or not ours or not kept:
        sys.exit(f'{len(wrong)} of {len(ours)} functions and {len(kept)} numbers differ')
    print(f'{len(ours)} functions, {len(kept)} sizes, offsets and constants: equal')


if __name__ == '__main__':
    main()
