# SPDX-License-Identifier: Apache-2.0
"""Makes groups of listed cases: every function with every dtype, and Python numbers as operands."""

import itertools

import cases
import corpus_draw
import keyword_cases

CORE_SHAPES = {
    'matmul': [[2, 3], [3, 4]],
    'vecdot': [[2, 3], [3]],
    'matvec': [[2, 3], [3]],
    'vecmat': [[3], [3, 2]],
}
WEAK_INTS = [0, 1, -1, 127, 128, 255, 256, -129, 2**31, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1]
WEAK_INTS += [-(2**31) - 1, -(2**63), -(2**63) - 1, 2**64, 10**30, -(10**30)]


def plain(name, letters, shape, seed, values='mixed'):
    """Returns a call on new arrays of the given shape. The operands of generalized functions get
    the core dimensions that these functions require."""
    shapes = CORE_SHAPES.get(name, [shape] * len(letters))
    if name in CORE_SHAPES:
        values = 'whole'
    buffers, inputs = [], []
    for letter, own in zip(letters, shapes):
        strides, step = [], 1
        for extent in reversed(own):
            strides.insert(0, step)
            step *= extent
        inputs.append({'buffer': len(buffers), 'offset': 0, 'shape': own, 'strides': strides})
        buffers.append(
            {'dtype': letter, 'n': step, 'misaligned': False, 'swapped': False, 'values': values}
        )
    return {
        'op': name,
        'seed': seed,
        'casting': None,
        'order': 'K',
        'inputs': inputs,
        'output': None,
        'buffers': buffers,
    }


def loops():
    """Yields every function of one output with all inputs of one dtype, for every dtype. Complex
    values are small numbers. Group `several` has the functions of several outputs."""
    names = cases.NAMES + [name for name in corpus_draw.LATER if name not in cases.SEVERAL]
    for number, (name, letter) in enumerate(itertools.product(names, cases.DTYPES)):
        nin = cases.TABLE.function(name).nin
        values = 'small' if letter in 'FD' else 'mixed'
        yield plain(name, [letter] * nin, [7], 1000 + number, values)


def mixed():
    """Yields every pair of dtypes, each with one function, to test the choice of the loop and the
    casts."""
    names = itertools.cycle('add subtract multiply divide less maximum floor_divide equal'.split())
    for number, (a, b) in enumerate(itertools.product(cases.DTYPES, cases.DTYPES)):
        if a != b:
            yield plain(next(names), [a, b], [5], 5000 + number, 'small')


def weak_numbers():
    """Yields Python numbers with arrays of every dtype."""
    number = 9000
    for letter, value in itertools.product(cases.DTYPES, WEAK_INTS):
        name = ('add', 'multiply', 'less', 'maximum')[number % 4]
        beyond = not -(2**64) < value < 2**64
        if beyond and letter in 'efdFD' or name in keyword_cases.COMPARISONS and beyond:
            continue  # bindings convert such an int to float: docs/numpy-deviations.md
        case = plain(name, [letter], [3], number, 'small')
        case['inputs'].insert(number // 4 % 2, {'weak_int': value})
        number += 1
        yield case
    for letter, value in itertools.product(cases.DTYPES, (0.5, -0.0, 1e300, float('inf'))):
        case = plain('add' if letter in 'FD' else 'multiply', [letter], [3], number, 'small')
        case['inputs'].append({'weak_float': value})
        number += 1
        yield case
    for letter in cases.DTYPES:
        case = plain('add', [letter], [3], number, 'small')
        case['inputs'].append({'weak_complex': [1.5, -2.0]})
        number += 1
        yield case


LISTED = {'loops': loops, 'mixed': mixed, 'weak_numbers': weak_numbers}
