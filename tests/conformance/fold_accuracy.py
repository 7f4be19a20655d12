# SPDX-License-Identifier: Apache-2.0
"""Checks the accuracy that docs/reductions.md states: the measured figures on the page, and the
error bounds of sums and accumulations. The elements have one sign or both signs, or the first
element is so large that adding any other element to it has no effect. Yields one sentence for each
violation."""

import math
import pathlib

import numpy as np

PAGE = pathlib.Path(__file__).parents[2] / 'docs' / 'reductions.md'
UNIT = {'f': 2.0**-24, 'd': 2.0**-53}  # u: the largest relative error of one rounding
LENGTHS = (3, 7, 8, 127, 128, 129, 1000, 40_000, 300_007)


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


def differences(library):
    return [*wrong_figures(library), *beyond_bounds(library)]
