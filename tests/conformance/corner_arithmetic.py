# SPDX-License-Identifier: Apache-2.0
"""Corner cases of single elements: division, NaN, zeros, rounding, and types."""

import numpy as np

from corner_both import array

INTS, UINTS = 'bhiq', 'BHIQ'
INF, NAN = np.inf, np.nan
OVERFLOW = 600
WIDE = [-(2**200), -(2**64), -(2**63) - 1, -(2**63), 2**63 - 1, 2**63, 2**64 - 1, 2**64, 2**200]


def division_by_zero(both):
    for letter in INTS + UINTS:
        x, zero = array([5, 0, 7], letter), array([0], letter)
        both.returns('floor_divide', [x, zero], array([0, 0, 0], letter))
        both.returns('remainder', [x, zero], array([0, 0, 0], letter))
        both.returns('divmod', [x, zero], array([0, 0, 0], letter), array([0, 0, 0], letter))
        both.fp_flags('divmod', [x, zero], {'divide'})
        both.fp_flags('floor_divide', [x, zero], {'divide'})
        both.fp_flags('remainder', [x, zero], {'divide'})
        both.fp_flags('floor_divide', [x, array([2], letter)], set())


def smallest_integer(both):
    for letter in INTS:
        low = np.iinfo(letter).min
        x, minus_one = array([low, 6], letter), array([-1], letter)
        both.returns('floor_divide', [x, minus_one], array([low, -6], letter))
        both.returns('remainder', [x, minus_one], array([0, 0], letter))
        both.returns('divmod', [x, minus_one], array([low, -6], letter), array([0, 0], letter))
        both.returns('absolute', [x], array([low, 6], letter))
        both.returns('negative', [x], array([low, -6], letter))
    both.notes.append('INT_MIN // -1 raises no flag here, and overflow in NumPy: docs/fp-flags.md')


def signs_of_division(both):
    for letter in 'fd':
        left = array([3, -0.0, 1, INF, -1, 5, -5, 5, -5, 1, NAN], letter)
        right = array([-3, 1, 0, 1, INF, 3, 3, -3, -3, -INF, 2], letter)
        floors = array([-1, -0.0, INF, NAN, -1, 1, -2, -2, 1, -1, NAN], letter)
        rests = array([-0.0, 0.0, NAN, NAN, INF, 2, 1, -1, -2, -INF, NAN], letter)
        both.returns('floor_divide', [left, right], floors)
        both.returns('remainder', [left, right], rests)
        operands = [array([5, -5], letter), array([-3, 3], letter)]
        both.returns('fmod', operands, array([2, -2], letter))
        both.returns('divmod', [left, right], floors, rests)
    for letter in INTS:
        x, y = array([7, -7, 7, -7], letter), array([2, 2, -2, -2], letter)
        both.returns('floor_divide', [x, y], array([3, -4, -4, 3], letter))
        both.returns('remainder', [x, y], array([1, 1, -1, -1], letter))
        floors, rests = array([3, -4, -4, 3], letter), array([1, 1, -1, -1], letter)
        both.returns('divmod', [x, y], floors, rests)


def negative_integer_power(both):
    text = 'Integers to negative integer powers are not allowed.'
    for letter in INTS:
        both.refuses('power', [array([2], letter), array([-1], letter)], ValueError, text)
    both.returns('power', [array([2, 0], 'i'), array([3, 0], 'i')], array([8, 1], 'i'))
    both.returns('power', [array([2.0]), array([-1], 'q')], array([0.5]))


def wide_shifts(both):
    for letter in INTS + UINTS:
        bits = 8 * np.dtype(letter).itemsize
        x, count = array([1, 4], letter), array([bits, bits + 1], letter)
        both.returns('left_shift', [x, count], array([0, 0], letter))
        both.returns('right_shift', [x, count], array([0, 0], letter))
        if letter in INTS:
            fill = array([-1, -1], letter)
            both.returns('right_shift', [array([-1, -4], letter), count], fill)
            both.returns('right_shift', [array([-1, -4], letter), array([-1, -1], letter)], fill)


def casts_out_of_range(both):
    """Checks casts of floats that the integer dtype cannot represent. NumPy leaves their results
    undefined. The library documents that values saturate and that NaN becomes 0."""
    values = array([INF, -INF, NAN, 300.0, -300.0, 1.9, -1.9])
    for letter, expected in (
        ('b', [127, -128, 0, 127, -128, 1, -1]),
        ('B', [255, 0, 0, 255, 0, 1, 0]),
    ):
        out = np.zeros(len(values), letter)
        both.library.call('add', [values, 0.0], [out], casting='unsafe')
        both.same('library', out, array(expected, letter))
    for letter in INTS + UINTS:
        out = np.zeros(2, letter)
        both.library.call('add', [array([1e30, NAN]), 0.0], [out], casting='unsafe')
        both.same('library', out, array([np.iinfo(letter).max, 0], letter))
    both.returns('reciprocal', [array([1, -1, 2, -3], 'i')], array([1, -1, 0, 0], 'i'))
    both.notes.append("reciprocal(integer 0) is open in NumPy; the library's is in numpy-compat.md")


def nan_in_extremes(both):
    for letter in 'efd':
        x, y = array([NAN, 1, NAN, 2], letter), array([1, NAN, NAN, 3], letter)
        both.returns('maximum', [x, y], array([NAN, NAN, NAN, 3], letter))
        both.returns('minimum', [x, y], array([NAN, NAN, NAN, 2], letter))
        both.returns('fmax', [x, y], array([1, 1, NAN, 3], letter))
        both.returns('fmin', [x, y], array([1, 1, NAN, 2], letter))
        both.method('reduce', 'maximum', array([1, NAN, 3], letter), expected=array(NAN, letter))
        both.method('reduce', 'fmax', array([1, NAN, 3], letter), expected=array(3, letter))
        low, high = array([0, 0, NAN, 3], letter), array([3, NAN, 1, 1], letter)
        # In the last element the lower limit is larger than the upper limit. clip then returns the
        # upper limit.
        clipped = array([NAN, NAN, NAN, 1], letter)
        both.returns('clip', [array([NAN, 1, 0, 2], letter), low, high], clipped)
    for letter in 'FD':
        x = array([complex(1, NAN), 2, 1 + 5j, 1 + 5j], letter)
        y = array([3, complex(NAN, 1), 1 + 6j, 2 + 0j], letter)
        expected = array([complex(1, NAN), complex(NAN, 1), 1 + 6j, 2 + 0j], letter)
        both.returns('maximum', [x, y], expected)
        first = array([1, complex(NAN, 7), complex(8, NAN)], letter)
        both.method('reduce', 'maximum', first, expected=array(complex(NAN, 7), letter))


def signed_zeros(both):
    for letter in 'efd':
        zeros = array([-0.0, -0.0, -0.0], letter)
        both.method('reduce', 'add', zeros, expected=array(0.0, letter))
        both.method('reduce', 'add', zeros, initial=-0.0, expected=array(-0.0, letter))
        both.method('accumulate', 'add', zeros, expected=zeros)
        both.method('reduceat', 'add', zeros, array([0, 1]), expected=array([-0.0, -0.0], letter))
        both.method('reduce', 'add', array([], letter), expected=array(0.0, letter))
        many = array([-0.0] * 300, letter)
        both.method('reduce', 'add', many, expected=array(0.0, letter))
        both.method('reduce', 'add', many, initial=-0.0, expected=array(-0.0, letter))
    # For the operands 0 and -0, NumPy returns one of the two zeros, depending on the instruction
    # set. The library returns the first operand.
    for name in ('maximum', 'minimum', 'fmax', 'fmin'):
        found = both.ours(name, [array([0.0, -0.0]), array([-0.0, 0.0])])[0]
        both.same('library', found, array([0.0, -0.0]))


def sign_of_corners(both):
    for letter in 'efd':
        both.returns(
            'sign', [array([NAN, -0.0, 0.0, -3, INF], letter)], array([NAN, 0, 0, -1, 1], letter)
        )
        both.returns(
            'heaviside',
            [array([NAN, 0, -1], letter), array([0.5], letter)],
            array([NAN, 0.5, 0], letter),
        )
    both.returns('sign', [array([3 + 4j, 0])], array([0.6 + 0.8j, 0]))


def booleans(both):
    a, b = array([False, False, True, True]), array([False, True, False, True])
    both.returns('add', [a, b], a | b)
    both.returns('multiply', [a, b], a & b)
    both.refuses('subtract', [a, b], TypeError, 'numpy boolean subtract')
    both.refuses('negative', [a], TypeError, 'numpy boolean negative')
    both.returns('power', [a, b], array([1, 0, 1, 1], 'b'))
    both.returns('floor_divide', [a, array([True])], array([0, 0, 1, 1], 'b'))
    both.returns('divide', [a, array([True])], array([0.0, 0, 1, 1]))


def mixed_signs(both):
    u, s = array([2**63, 1], 'Q'), array([1, -1], 'q')
    both.returns('add', [u, s], array([9223372036854775809.0, 0.0]))
    both.refuses('bitwise_and', [u, s], TypeError, "ufunc 'bitwise_and' not supported")
    top = array([2**63, 2**64 - 1, 0], 'Q')
    low = array([2**63 - 1, -1, -1], 'q')
    for name, expected in (
        ('greater', [True] * 3),
        ('less', [False] * 3),
        ('equal', [False] * 3),
        ('greater_equal', [True] * 3),
        ('less_equal', [False] * 3),
        ('not_equal', [True] * 3),
    ):
        both.returns(name, [top, low], array(expected))


def promotion(both):
    pairs = {'eh': 'f', 'fi': 'd', 'eb': 'e', 'bB': 'h', 'iI': 'q', 'Fd': 'D', '?b': 'b', 'fq': 'd'}
    for (left, right), expected in pairs.items():
        both.returns('add', [array([1], left), array([1], right)], array([2], expected))
    for letter, expected in {
        'b': 'e',
        'h': 'f',
        'i': 'd',
        '?': 'e',
        'B': 'e',
        'H': 'f',
        'q': 'd',
    }.items():
        both.returns('sqrt', [array([1], letter)], array([1], expected))
    both.returns('frexp', [array([3], 'b')], array([0.75], 'e'), array([2], 'i'))
    both.returns('modf', [array([-3], 'h')], array([-0.0], 'f'), array([-3], 'f'))
    both.returns('divmod', [array([7], 'q'), array([2], 'f')], array([3.0]), array([1.0]))
    both.returns('clip', [array([9], 'B'), array([-1], 'b'), array([5], 'h')], array([5], 'h'))
    for letter in 'bB?qQ':
        both.returns('divide', [array([1], letter), array([1], letter)], array([1.0]))


def weak_scalars(both):
    both.refuses(
        'add', [np.uint8(1), 300], OverflowError, 'Python integer 300 out of bounds for uint8'
    )
    both.returns('add', [array([1], 'f'), 3.0], array([4], 'f'))
    both.returns('add', [array([1], 'b'), 2], array([3], 'b'))
    both.returns('add', [array([1], 'e'), 1j], array([1 + 1j], 'F'))
    for name, expected in (('less', True), ('equal', False), ('greater', False)):
        both.returns(name, [array([1], 'i'), 2**40], array([expected]))
        both.returns(name, [array([1], 'B'), 2**70], array([expected]))
    both.returns('less', [array([1], 'B'), -1], array([False]))
    for letter in '?' + INTS + UINTS + 'efdFD':
        for number in WIDE:
            wide_integer(both, letter, number)


def wide_integer(both, letter, number):
    """Checks an int as an operand with an array, with a dtype in signature=, and as initial
    value."""
    one, run = array([1], letter), both.library
    if letter in 'efdFD' and abs(number) >= 2**64:  # NumPy converts to float: numpy-deviations.md
        both.own_rule(lambda: run.call('add', [one, number], [None]), OVERFLOW)
        both.own_rule(lambda: run.reduce('maximum', one, initial=number), OVERFLOW)
        return
    both.like_numpy(lambda: np.add(one, number), lambda: both.ours('add', [one, number])[0])
    both.like_numpy(
        lambda: np.add(one, number, signature=(None, one.dtype, None)),
        lambda: both.ours('add', [one, number], signature=[None, letter, None])[0],
    )
    for name in ('add', 'maximum', 'logical_or'):
        both.like_numpy(
            lambda: getattr(np, name).reduce(one, initial=number),
            lambda: run.reduce(name, one, initial=number)[1],
        )


def half_rounding(both):
    both.returns('add', [array([2048], 'e'), array([1], 'e')], array([2048], 'e'))
    both.returns('add', [array([2048], 'e'), array([3], 'e')], array([2052], 'e'))
    both.returns('add', [array([65504], 'e'), array([16], 'e')], array([INF], 'e'))
    both.returns('add', [array([65504], 'e'), array([8], 'e')], array([65504], 'e'))
    both.returns(
        'multiply',
        [array([2.0**-24], 'e'), array([1, 0.5, 1.5], 'e')],
        array([2.0**-24, 0, 2.0**-23], 'e'),
    )
    both.writes(
        'add',
        lambda: ([array([65519.0, 65520.0]), 0.0], np.zeros(2, 'e')),
        array([65504, INF], 'e'),
    )
    # Each float16 call rounds its result to float16 once.
    both.returns('divide', [array([1], 'e'), array([3], 'e')], array([1 / 3], 'e'))
    both.fp_flags('add', [array([65504], 'e'), array([16], 'e')], {'overflow'})
    both.fp_flags('add', [array([65504], 'e'), array([8], 'e')], set())


# A point of each branch cut. The zero part is the side of the cut.
CUTS = [
    ('arcsin', 2, 0),
    ('arcsin', -2, 0),
    ('arccos', 2, 0),
    ('arccos', -2, 0),
    ('arctan', 0, 2),
    ('arctan', 0, -2),
    ('arcsinh', 0, 2),
    ('arcsinh', 0, -2),
    ('arccosh', 0.5, 0),
    ('arccosh', -2, 0),
    ('arctanh', 2, 0),
    ('arctanh', -2, 0),
    ('log2', -2, 0),
    ('log10', -2, 0),
    ('log1p', -2, 0),
]


def branch_cuts(both):
    both.returns(
        'sqrt',
        [array([complex(-1, -0.0), complex(-1, 0.0)])],
        array([complex(0, -1), complex(0, 1)]),
    )
    both.returns(
        'sqrt',
        [array([complex(INF, NAN), complex(-INF, 1)])],
        array([complex(INF, NAN), complex(0, INF)]),
    )
    for side in (np.log, lambda x: both.ours('log', [x])[0]):
        found = side(array([complex(-1, -0.0), complex(-1, 0.0), 0]))
        both.same('', np.round(found, 12), np.round(array([-1j * np.pi, 1j * np.pi, -INF]), 12))
    for name, re, im in CUTS:
        sides = array([complex(re, im), complex(re or -0.0, im or -0.0)])
        expected, found = getattr(np, name)(sides), both.ours(name, [sides])[0]
        both.same(name, np.round(found, 12), np.round(expected, 12))


def accuracy(both):
    """Tests the accuracy of functions at difficult arguments. math_ulp_test tests the functions at
    many more arguments, and docs/accuracy.md states their error bounds."""
    rng = np.random.default_rng(17)
    names = 'exp log sin cos exp2 expm1 log1p log2 log10 tan sinh cosh tanh arcsin arccos arctan '
    names += 'arcsinh arccosh arctanh cbrt'
    for name, bar in [('sqrt', 0.5)] + [(name, 1) for name in names.split()]:
        for letter in 'fd':
            x = array(np.exp(rng.uniform(-5, 4, 2000)), letter)
            if name in ('arcsin', 'arccos', 'arctanh'):
                x /= 64
            if name == 'arccosh':
                x += 1
            if letter == 'd' and name in 'sincos':
                x[0] = 6381956970095103 * 2.0**4  # near a multiple of pi / 2
            true = getattr(np, name)(x.astype(np.longdouble))
            found = both.ours(name, [x])[0]
            ulp = np.spacing(np.abs(true).astype(letter)).astype(np.longdouble)
            assert (np.abs(found - true) <= (bar + 0.01) * ulp).all(), f'{name} {letter}'
            both.answers += 1


def parts_of_floats(both):
    """Tests the functions that depend on the representation of floats."""
    tiny = array([5e-324, 0.0, INF, 3.0])
    both.returns('frexp', [tiny], array([0.5, 0.0, INF, 0.75]), array([-1073, 0, 0, 2], 'i'))
    half = array([2.0**-24, -0.0, -65504], 'e')
    exponents = array([-23, 0, 16], 'i')
    both.returns('frexp', [half], array([0.5, -0.0, -65504 / 2.0**16], 'e'), exponents)
    for letter in 'efd':
        x = array([-2.5, 3, -3, 0.0, -0.0, INF, -INF, NAN], letter)
        fractions = array([-0.5, 0.0, -0.0, 0.0, -0.0, 0.0, -0.0, NAN], letter)
        both.returns('modf', [x], fractions, array([-2, 3, -3, 0.0, -0.0, INF, -INF, NAN], letter))
    both.returns('ldexp', [array([0.5, 1.0]), array([-1073, 2000], 'i')], array([5e-324, INF]))
    both.returns('nextafter', [array([0.0, 1.0]), array([1.0, 2.0])], array([5e-324, 1 + 2.0**-52]))
    numbers = [1.0, -1.0, 0.0, -0.0, INF, np.finfo('d').max]
    distances = [2.0**-52, -(2.0**-52), 5e-324, 5e-324, NAN, INF]
    both.returns('spacing', [array(numbers)], array(distances))
    numbers, distances = [1.0, -1.0, -1.5, 0.0], [2.0**-10, 2.0**-11, 2.0**-10, 2.0**-24]
    both.returns('spacing', [array(numbers, 'e')], array(distances, 'e'))
    both.returns('rint', [array([0.5, 1.5, -0.5, 2.5])], array([0.0, 2.0, -0.0, 2.0]))


ARITHMETIC = [
    (1, 'integer_division_by_zero', division_by_zero),
    (2, 'smallest_integer_by_minus_one', smallest_integer),
    (3, 'signs_of_floor_division', signs_of_division),
    (4, 'negative_integer_power', negative_integer_power),
    (5, 'shifts_beyond_the_width', wide_shifts),
    (6, 'casts_out_of_range', casts_out_of_range),
    (7, 'nan_in_maximum_and_fmax', nan_in_extremes),
    (8, 'signed_zeros_of_sums', signed_zeros),
    (9, 'sign_of_nan_and_complex', sign_of_corners),
    (10, 'booleans', booleans),
    (11, 'uint64_meets_int64', mixed_signs),
    (12, 'promotion', promotion),
    (13, 'weak_scalars', weak_scalars),
    (15, 'half_rounds_once', half_rounding),
    (16, 'branch_cuts', branch_cuts),
    (17, 'accuracy', accuracy),
    (18, 'parts_of_floats', parts_of_floats),
]
