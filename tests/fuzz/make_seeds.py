#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the seeds of the fuzz targets for module files, texts and DLPack structs:

    python3 tests/fuzz/make_seeds.py OUT MODULE...

OUT/module_file gets the modules, OUT/signature_text and OUT/dlpack_struct what is listed here."""

import argparse
import pathlib
import shutil
import struct

SIGNATURES = [
    '()->()', '(n),(n)->()', '(m,n),(n,p)->(m,p)', '(m?,n),(n,p?)->(m?,p?)', '(3),(3)->(3)',
    '(n|1),(n)->(n)', '(n)->(p)\np=n+1', '(m,n)->(p)\np=max(m,n)*2', '(n),()->(p)\np=value(1)',
    '(i,j),(j)->(i)\n', '(n)->(p)\np=(n-1)//2; ', '()', '->()', '(n)(m)->()', '(n->()']
DTYPES = ['float64', '>f8', '<i4', 'bool', 'complex64', 'bfloat16', 'datetime64[ns]', 'M8[25s]',
          'timedelta64[D]', 'm8', 'float63', '|b1', '']
NOTES = ['name=null;abi=0-0;priority=10;isa=x86-64', 'name=a;abi=1-0;priority=1;isa=x86-64',
         'name=a;name=b;abi=0-1;priority=99999999999;isa=armv8-a', 'name=;abi=-;priority=;isa=']


def texts():
    for kind, lines in enumerate((SIGNATURES, DTYPES, NOTES)):
        for line in lines:
            yield bytes([kind]) + line.encode() + (b'\0' if kind == 2 else b'')


def structs():
    """Fields in the order in which dlpack_struct_fuzz.cc reads them."""
    for choices in (0xFF, 0x7F, 0xF7, 0x5F):
        yield bytes([choices, 4, 20, 16, 12, 8, 1, 5]) + bytes(16)
    # Every field open: address, device, its number, dimensions, type, offset.
    yield struct.pack('<BQiiiIQ', 0x80, 4096, 1, 0, -1, 0x00012002, 8) + bytes(64)
    yield struct.pack('<BQiiiIQ', 0, 4096, 1, 0, 2, 0x00012002, 2**63) + b'\0' + bytes(range(64))


def write(folder, seeds):
    folder.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(seeds):
        (folder / f'seed_{number:02}').write_bytes(seed)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('out', type=pathlib.Path)
    parser.add_argument('modules', nargs='*', type=pathlib.Path)
    args = parser.parse_args()
    write(args.out / 'signature_text', texts())
    write(args.out / 'dlpack_struct', structs())
    folder = args.out / 'module_file'
    folder.mkdir(parents=True, exist_ok=True)
    for module in args.modules:
        shutil.copy(module, folder / module.name)


if __name__ == '__main__':
    main()
