#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether the Go binding reaches every function of the C interface: each one that zcalls.go has,
but for those that bindings/gufunc.i names as raw only, is called by another file of the package.

    go_bound.py [--root FOLDER]"""

import argparse
import pathlib
import re
import sys

CALL = re.compile(r'^func (c\w+)\(.*\n\treturn (?:failure\()?C\.(z?guf_\w+)\(', re.MULTILINE)
RAW_ONLY = re.compile(r'%feature\("abi:raw_only", "[^"]+"\) (guf_\w+);')
# Called by the shims of block.h and callbacks.c, which build what the function takes.
SHIM = re.compile(r'\bz(guf_\w+)\(')


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--root', type=pathlib.Path, default=pathlib.Path(__file__).parents[3])
    root = parser.parse_args().root
    folder = root / 'bindings/go'
    generated = (folder / 'zcalls.go').read_text()
    raw_only = set(RAW_ONLY.findall((root / 'bindings/gufunc.i').read_text()))
    written = ''.join(path.read_text() for path in sorted(folder.glob('*.go'))
                      if path.name != 'zcalls.go' and not path.name.endswith('_test.go'))
    shims = set(SHIM.findall((folder / 'block.h').read_text() +
                             (folder / 'callbacks.c').read_text()))
    functions = {c.removeprefix('z'): go for go, c in CALL.findall(generated)}
    missing = sorted(c for c, go in functions.items()
                     if c not in raw_only | shims and not re.search(rf'\b{go}\b', written))
    for name in missing:
        print(f'{name}: no Go function reaches it')
    if missing or not functions:
        sys.exit(f'{len(missing)} of {len(functions)} functions are not bound')
    print(f'{len(functions)} functions: {len(functions) - len(raw_only)} bound, '
          f'{len(raw_only & functions.keys())} raw only')


if __name__ == '__main__':
    main()
