# SPDX-License-Identifier: Apache-2.0
"""Checks that only the shape determines the order of floating-point reductions. The library's bits
must be equal to the bits of an independent implementation of the tree and the scan in
docs/reductions.md, for axes, strides, masks, initial values and 1, 2, 3 and 7 threads, or on a
device. Products of vectors and matrices must follow the same tree. Then checks the accuracy that
docs/reductions.md states.

    fold_order.py --library build/release/lib/libgufunc.so.0.1 [--cases 400] [--seed 1]
    [--device cuda:0]"""

import argparse
import math
import os
import pathlib
import random
import sys

import numpy as np

import abi
import judge
import method_cases
from cases import layout

BASE_BLOCK, LANES, TILE = 128, 8, 256
FUNCTIONS = {'add': np.add, 'multiply': np.multiply}
THREADS = (1, 2, 3, 7)
NEUTRAL = {'add': -0.0, 'multiply': 1.0}  # values that replace masked elements
PAGE = pathlib.Path(__file__).parents[2] / 'docs' / 'reductions.md'
UNIT = {'f': 2.0**-24, 'd': 2.0**-53}  # u: the largest relative error of one rounding
LENGTHS = (3, 7, 8, 127, 128, 129, 1000, 40_000, 300_007)


def base_block(op, x):
    """Reduces the last axis, which has at most 128 elements."""
    n = x.shape[-1]
    if n < LANES:
        total, rest = x[..., 0], 1
    else:
        rest = n - n % LANES
        lane = [x[..., j] for j in range(LANES)]
        for i in range(LANES, rest, LANES):
            lane = [op(lane[j], x[..., i + j]) for j in range(LANES)]
        while len(lane) > 1:
            lane = [op(lane[k], lane[k + 1]) for k in range(0, len(lane), 2)]
        total = lane[0]
    for i in range(rest, n):
        total = op(total, x[..., i])
    return total


def tree(op, x):
    parts = [base_block(op, x[..., i : i + BASE_BLOCK]) for i in range(0, x.shape[-1], BASE_BLOCK)]
    while len(parts) > 1:
        pairs = [op(*parts[k : k + 2]) for k in range(0, len(parts) - 1, 2)]
        parts = pairs + parts[2 * len(pairs) :]
    return parts[0]


def scan(op, x):
    """Returns all partial results along the last axis."""
    out = np.array(x)
    tiles = [out[..., i : i + TILE] for i in range(0, x.shape[-1], TILE)]
    for tile in tiles:
        for i in range(1, tile.shape[-1]):
            tile[..., i] = op(tile[..., i - 1], tile[..., i])
    if len(tiles) > 1:
        totals = scan(op, np.stack([tile[..., -1] for tile in tiles], -1))
        for k, tile in enumerate(tiles[1:]):
            tile[...] = op(totals[..., k, None], tile)
    return out


def reduced(name, x, axes, mask, start):
    """Reduces all axes as a tree, the last axis first. Half precision is computed in single
    precision."""
    op, wide = FUNCTIONS[name], np.dtype('f') if x.dtype.char == 'e' else x.dtype
    values = x.astype(wide)
    if mask is not None:
        values = np.where(mask, values, wide.type(NEUTRAL[name]))
    for axis in sorted(axes, reverse=True):
        values = tree(op, np.moveaxis(values, axis, -1))
    return op(wide.type(start), values).astype(x.dtype)


def random_view(rng, shape, letter):
    strides, offset, span = layout(rng, shape)
    numbers = np.random.default_rng(rng.randrange(1 << 30))
    scale = np.exp2(numbers.integers(-9, 9, span + 4) * 1.0)
    flat = (numbers.normal(0, 1, span + 4) * scale).astype(letter)
    return np.ndarray(
        shape, letter, flat, offset * flat.itemsize, [s * flat.itemsize for s in strides]
    )


def random_shape(rng):
    draw = rng.random()
    if draw < 0.3:
        return [rng.choice([rng.randint(1, 20), rng.randint(100, 5000), 40_000])]
    if draw < 0.6:
        return rng.choice([[rng.randint(1, 600), rng.randint(1, 9)], [3, rng.randint(100, 3000)]])
    return [rng.randint(1, 30) for _ in range(rng.choice([2, 3, 4]))]


def reduce_difference(rng, library):
    name, letter = rng.choice(list(FUNCTIONS)), rng.choice('fdfde')
    shape = random_shape(rng)
    x = random_view(rng, shape, letter)
    if name == 'multiply':
        x[...] = np.exp2(x.clip(-1, 1) / 16)
    axes = rng.sample(range(len(shape)), rng.randint(1, len(shape)))
    options, start, mask = {}, 0.0 if name == 'add' else 1.0, None
    if rng.random() < 0.3:
        start = options['initial'] = 1.5
    if rng.random() < 0.25:
        kept = method_cases.narrowed(random.Random(1), shape)
        mask = np.random.default_rng(rng.randrange(1 << 30)).random(kept) < 0.7
        if np.broadcast_shapes(mask.shape, tuple(shape)) == tuple(shape):
            options['where'] = mask
        else:
            mask = None
    expected = reduced(name, x, axes, mask, start)
    for threads in THREADS[:1] if library.device else THREADS:
        found = library.reduce(name, x, axis=axes, threads=threads, **options)[1]
        if not judge.same_bits(np.atleast_1d(found), np.atleast_1d(expected)).all():
            return f'{name} {letter} {shape} axes {axes} {options.keys()}, {threads} threads'
    return None


def accumulate_difference(rng, library):
    name, letter = rng.choice(list(FUNCTIONS)), rng.choice('fd')
    shape = random_shape(rng)
    x = random_view(rng, shape, letter)
    if name == 'multiply':
        x[...] = np.exp2(x.clip(-1, 1) / 16)
    axis = rng.randrange(len(shape))
    expected = np.moveaxis(scan(FUNCTIONS[name], np.moveaxis(x, axis, -1)), -1, axis)
    for threads in THREADS[:1] if library.device else THREADS:
        found = library.accumulate(name, x, axis=axis, threads=threads)[1]
        if not judge.same_bits(found, expected).all():
            return f'{name}.accumulate {letter} {shape} axis {axis}, {threads} threads'
    return None


def product_difference(rng, library):
    """Compares vecdot, matvec and vecmat, which add their products along the tree."""
    name, letter = rng.choice(['vecdot', 'matvec', 'vecmat']), rng.choice('fde')
    rows, n = rng.randint(1, 40), rng.choice([rng.randint(1, 20), rng.randint(100, 3000)])
    vector = random_view(rng, [n], letter)
    matrix = random_view(rng, [n, rows] if name == 'vecmat' else [rows, n], letter)
    wide = np.dtype('f') if letter == 'e' else np.dtype(letter)
    products = vector.astype(wide) * (matrix.T if name == 'vecmat' else matrix).astype(wide)
    expected = tree(np.add, products).astype(letter)
    inputs = [matrix, vector] if name == 'matvec' else [vector, matrix]
    for threads in THREADS[:1] if library.device else THREADS:
        found = library.call(name, inputs, [None], threads=threads)[0][1]
        if not judge.same_bits(found, expected).all():
            return f'{name} {letter} {matrix.shape}, {threads} threads'
    return None


def wrong_figures(library):
    tenths = np.full((100_000, 3), 0.1, np.float32)
    columns = library.reduce('add', tenths, axis=0)[1]
    rows = library.reduce('add', np.ascontiguousarray(tenths.T), axis=1)[1]
    numpy_columns = np.add.reduce(tenths, axis=0)
    if len({*columns, *rows}) != 1 or len({*numpy_columns}) != 1:
        yield f'100 000 times 0.1: {columns} along axis 0, {rows} along axis 1'
    message = f'{columns[0]!s} along either axis here, {numpy_columns[0]!s} along axis 0 there'
    if message not in ' '.join(PAGE.read_text().split()):
        yield f'{PAGE.name} does not state: 100 000 times 0.1 is {message}'


def samples(letter):
    """Yields arrays to be summed, with increasing lengths, and their descriptions."""
    rng = np.random.default_rng(1)
    for n in LENGTHS:
        yield 'of one sign', rng.random(n).astype(letter)
        wide = rng.normal(0, 1, n) * np.exp2(rng.integers(-9, 9, n))
        yield 'of both signs', wide.astype(letter)
        losing = np.full(n, UNIT[letter], letter)  # 1 + u rounds to 1, so every addition from left
                                                   # to right has no effect
        losing[0] = 1
        yield 'that lose', losing


def beyond_bounds(library):
    for letter, unit in UNIT.items():
        for kind, x in samples(letter):
            n, size = len(x), math.fsum(np.abs(x).astype('d'))
            found = float(np.ravel(library.reduce('add', x)[1])[0])
            steps = 25 + max(0, math.ceil(math.log2(n / 128)))
            if abs(found - math.fsum(x.astype('d'))) > 1.001 * steps * unit * size:
                yield f'the sum of {n} {letter} {kind} is off by more than {steps} u sum|x|'
            found = np.asarray(library.accumulate('add', x)[1]).astype(np.longdouble)
            steps = 255 * (2 + math.ceil(math.log(max(n, 256), 256)))
            error = np.abs(found - np.add.accumulate(x.astype(np.longdouble)))
            if (error > 1.001 * steps * unit * np.add.accumulate(np.abs(x.astype('d')))).any():
                yield f'accumulate of {n} {letter} {kind} is off by more than {steps} u sum|x|'


def inaccuracies(library):
    """Checks the measured figures of docs/reductions.md, and the error bounds of sums and
    accumulations. The elements have one sign or both signs, or the first element is so large that
    adding any other element to it has no effect. Returns one sentence for each violation."""
    return [*wrong_figures(library), *beyond_bounds(library)]


CHECKS = (reduce_difference, accumulate_difference, reduce_difference, product_difference)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument('--library', required=True)
    parser.add_argument('--device', help='device of all calls (default cpu)')
    parser.add_argument('--cases', type=int, default=400)
    parser.add_argument('--seed', type=int, default=1)
    options = parser.parse_args()
    np.seterr(all='ignore')
    library = abi.Library(os.path.abspath(options.library))
    if options.device:
        library.use_device(options.device)
    rng, differences = random.Random(options.seed), []
    for number in range(options.cases):
        text = CHECKS[number % len(CHECKS)](rng, library)
        if text:
            differences.append(text)
    where = options.device or '1, 2, 3 and 7 threads'
    print(f'{options.cases} reductions and products at {where}: {len(differences)} of other bits')
    untrue = inaccuracies(library)
    print(f'accuracy: {len(untrue)} statements of docs/reductions.md that do not hold')
    differences += untrue
    print('\n'.join(differences[:20]))
    return 1 if differences else 0


if __name__ == '__main__':
    sys.exit(main())
