# SPDX-License-Identifier: Apache-2.0
"""Calls every elementwise function of floating-point numbers in several places, with the same
arguments. The bytes of the results must be equal; all NaNs are equal.

    function_bits.py --library LIBGUFUNC [--places x86-64-v3 x86-64-v4 cuda:0 roc:0 ptx]
                     [--count 100000] [--seed 1] [--only NAME ...]

A place is an ISA level of the cpu, a device, or `ptx`: the simulated CUDA device that interprets
the PTX text of the kernels. The first place is compared with each other place. A level that this
processor lacks is left out. The program starts one process per place, which prints digests of the
results."""

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
            if set(inputs) <= set(FLOATS + 'iq?') and set(inputs) & set(FLOATS):
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
    limits = [edge(np.float64(number)) for kind in 'fd' for edge in (np.log, np.log2)
              for number in (np.finfo(kind).max, np.finfo(kind).smallest_subnormal)]
    edges = to_bits(np.abs([*limits, 2.0**13, 2.0**25]), letter).tolist()
    values = [w + d for w in words[2:] + halves[1:] + turns + edges for d in (-1, 0, 1)] + words
    special = np.array([v | sign for v in values for sign in (0, top)], WORDS[letter])
    kind = rng.integers(0, 3, count)
    with np.errstate(all='ignore'):
        ordinary = to_bits(sizes, letter)
    return np.where(kind == 0, whole, np.where(kind == 1, ordinary, rng.choice(special, count)))


def argument(rng, letter, count, abi):
    if letter in 'iq?':
        low, high = (0, 2) if letter == '?' else (-200, 200)
        return rng.integers(low, high, count).astype(letter)
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
    library.use_device('cuda:0' if place == 'ptx' else place if ':' in place else 'cpu')
    print(library.target())
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
    """The digests in a place, by the name and the types of a loop. None if the processor lacks the
    ISA level."""
    environment = dict(os.environ)
    if place == 'ptx':
        environment.update(GUFUNC_SIM_PTX='1', GUFUNC_SIM_ARCH='sm_75')
    elif ':' not in place:
        environment['GUFUNC_CPU_ISA'] = place
    command = [sys.executable, __file__, '--library', options.library, '--count',
               str(options.count), '--seed', str(options.seed), '--places', place, '--run']
    command += ['--only', *options.only] if options.only else []
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f'{place}: exit {done.returncode}\n{done.stdout[-500:]}\n{done.stderr[-2000:]}')
    target, *lines = done.stdout.splitlines()
    if ':' not in place and place not in ('ptx', target):
        return None
    report = {tuple(line.split()[:2]): line.split()[2:] for line in lines}
    expected = sum(not options.only or name in options.only for name, *_ in loops())
    if len(report) != expected or not all(report.values()):
        sys.exit(f'{place}: expected results of {expected} loops, got {len(report)}')
    return report


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument('--library', required=True)
    parser.add_argument('--places', nargs='+', default=['x86-64-v3', 'x86-64-v4'])
    parser.add_argument('--count', type=int, default=100000, help='number of arguments per loop')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--only', nargs='+', metavar='NAME', help='only these functions')
    parser.add_argument('--run', action='store_true', help='run as the process of one place')
    options = parser.parse_args()
    if options.run:
        return run(options)
    reports = {place: report_of(place, options) for place in options.places}
    missing = [place for place, report in reports.items() if report is None]
    if missing:
        print('this processor lacks', *missing)
    reports = {place: report for place, report in reports.items() if report is not None}
    first, differing = next(iter(reports.values()), {}), 0
    for place, other in list(reports.items())[1:]:
        for loop, mine in first.items():
            chunks = sum(a != b for a, b in zip(mine, other[loop], strict=True))
            if chunks:
                differing += 1
                print(f'DIFFERS {place}: {" ".join(loop)}, {chunks} of {len(mine)} digests')
    print(f'{len(first)} loops, {options.count} arguments each, on {" ".join(reports)}: '
          f'{differing} differ')
    return 1 if differing or len(reports) < 2 else 0


if __name__ == '__main__':
    sys.exit(main())
