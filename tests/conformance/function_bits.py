# SPDX-License-Identifier: Apache-2.0
"""Calls every elementwise function of floating-point numbers on several places, with the same
arguments. The bytes of the results must be equal; all NaNs are equal.

    function_bits.py --library LIBGUFUNC [--places native x86-64-v3 cuda:0 roc:0 ptx]
                     [--count 100000] [--seed 1] [--only NAME ...]

A place is an ISA level of the cpu, a device, or `ptx`: the simulated CUDA device that interprets
the PTX text of the kernels. The first place is compared with each other place. The program starts
one process per place, which prints digests of the results."""

import argparse
import hashlib
import os
import pathlib
import subprocess
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'tools'))
import ops_table  # noqa: E402

FLOATS = 'eEfdFD'
CHUNK = 4096  # results per digest
PARTS = {'e': 'e', 'E': 'E', 'f': 'f', 'd': 'd', 'F': 'f', 'D': 'd'}
WORDS = {'e': np.uint16, 'E': np.uint16, 'f': np.uint32, 'd': np.uint64}
INFINITIES = {'e': 0x7C00, 'E': 0x7F80, 'f': 0x7F800000, 'd': 0x7FF0000000000000}


def loops():
    """Yields the name and the types of each loop that has floating-point numbers."""
    for name, function in ops_table.read().functions.items():
        for inputs, outputs in function.loops if function.elementwise else ():
            if set(inputs) <= set(FLOATS + 'il') and set(inputs) & set(FLOATS):
                yield name, inputs, outputs


def to_bits(values, letter):
    """The bits of f64 numbers, converted to a type."""
    if letter == 'E':
        return (values.astype('f').view(np.uint32) >> 16).astype(np.uint16)
    return values.astype(letter).view(WORDS[letter])


def bits_of_reals(rng, letter, count):
    """A third each of random bits, of ordinary numbers of many sizes, and of special values."""
    whole = rng.integers(0, 2 ** (8 * WORDS[letter]().itemsize), count, WORDS[letter])
    sizes = rng.standard_normal(count) * 10.0 ** rng.uniform(-4, 4, count)
    infinity = INFINITIES[letter]
    top = 1 << (8 * WORDS[letter]().itemsize - 1)
    words = [0, 1, infinity - 1, infinity, infinity + 1]
    halves = to_bits(np.arange(0, 40) / 2, letter).tolist()
    turns = to_bits(np.arange(1, 200) * (np.pi / 4), letter).tolist()
    edges = to_bits(np.array([88.7, 103.9, 709.7, 745.1, 1023.9, 1074.5, 2.0**25]), letter).tolist()
    values = [w + d for w in words[2:] + halves[1:] + turns + edges for d in (-1, 0, 1)] + words
    special = np.array([v | sign for v in values for sign in (0, top)], WORDS[letter])
    kind = rng.integers(0, 3, count)
    with np.errstate(all='ignore'):
        ordinary = to_bits(sizes, letter)
    return np.where(kind == 0, whole, np.where(kind == 1, ordinary, rng.choice(special, count)))


def argument(rng, letter, count, abi):
    if letter in 'il':
        return rng.integers(-200, 200, count).astype(letter)
    part = PARTS[letter]
    parts = 2 if letter in 'FD' else 1
    bits = bits_of_reals(rng, part, parts * count)
    return abi.BFloat16(bits) if letter == 'E' else bits.view(letter)


def words_of(result):
    """The bits of a result, with one pattern for all NaNs."""
    letter, array, _ = result
    if letter not in PARTS:
        return array.tobytes()
    words = np.ascontiguousarray(array).view(WORDS[PARTS[letter]])
    infinity, sign = INFINITIES[PARTS[letter]], 1 << (8 * words.itemsize - 1)
    is_nan = (words & words.dtype.type(sign - 1)) > infinity
    return np.where(is_nan, words.dtype.type(infinity + 1), words).tobytes()


def run(options):
    import abi

    library = abi.Library(os.path.abspath(options.library))
    place = options.places[0]
    if place == 'ptx' or ':' in place:
        library.use_device('cuda:0' if place == 'ptx' else place)
    for name, inputs, outputs in loops():
        if options.only and name not in options.only:
            continue
        rng = np.random.default_rng([options.seed, *f'{name} {inputs}'.encode()])
        arguments = [argument(rng, letter, options.count, abi) for letter in inputs]
        results = library.call(name, arguments, [None] * len(outputs))
        digests = []
        for words in map(words_of, results):
            step = CHUNK * len(words) // options.count
            digests += [hashlib.sha256(words[i : i + step]).hexdigest()[:12]
                        for i in range(0, len(words), step)]
        print(name, f'{inputs}->{outputs}', *digests)
    return 0


def report_of(place, options):
    """The digests at a place, by the name and the types of a loop."""
    environment = dict(os.environ)
    if place == 'ptx':
        environment.update(GUFUNC_SIM_PTX='1', GUFUNC_SIM_ARCH='sm_75')
    elif ':' not in place and place != 'native':
        environment['GUFUNC_CPU_ISA'] = place
    command = [sys.executable, __file__, '--library', options.library, '--count',
               str(options.count), '--seed', str(options.seed), '--places', place, '--run']
    command += ['--only', *options.only] if options.only else []
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f'{place}: exit {done.returncode}\n{done.stdout[-500:]}\n{done.stderr[-2000:]}')
    return {tuple(line.split()[:2]): line.split()[2:] for line in done.stdout.splitlines()}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument('--library', required=True)
    parser.add_argument('--places', nargs='+', default=['native', 'x86-64-v3'])
    parser.add_argument('--count', type=int, default=100000, help='number of arguments per loop')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--only', nargs='+', metavar='NAME', help='only these functions')
    parser.add_argument('--run', action='store_true', help='run as the process of one place')
    options = parser.parse_args()
    if options.run:
        return run(options)
    first, differing = report_of(options.places[0], options), 0
    for place in options.places[1:]:
        other = report_of(place, options)
        for loop in sorted(first.keys() | other.keys()):
            mine, theirs = first.get(loop, []), other.get(loop, [])
            chunks = sum(a != b for a, b in zip(mine, theirs)) + abs(len(mine) - len(theirs))
            if chunks:
                differing += 1
                print(f'DIFFERS {place}: {" ".join(loop)}, {chunks} of {len(mine)} digests')
    print(f'{len(first)} loops, {options.count} arguments each, on {" ".join(options.places)}: '
          f'{differing} differ')
    return 1 if differing or len(first) < (150 if not options.only else 1) else 0


if __name__ == '__main__':
    sys.exit(main())
