# SPDX-License-Identifier: Apache-2.0
"""Corner cases of calls: shapes, outputs, errors, core dimensions, and layouts."""

import numpy as np

import corner_refusals
from corner_both import array


def gufunc_in_place(both):
    def product(view_of):
        def make():
            a = np.arange(12.0).reshape(3, 4)[:, :3].copy()
            return [a, a], view_of(a)

        return make

    square = np.arange(12.0).reshape(3, 4)[:, :3]
    both.writes('matmul', product(lambda a: a), square @ square)
    both.writes('matmul', product(lambda a: a.T), square @ square)

    def vector():
        a = np.arange(9.0).reshape(3, 3)
        return [a, a[0]], a[:, 1]

    both.writes('matmul', vector, array([5.0, 14.0, 23.0]))
    both.writes('matvec', vector, array([5.0, 14.0, 23.0]))


def larger_outputs(both):
    both.writes(
        'add', lambda: ([np.ones((1, 3)), np.ones(3)], np.zeros((5, 4, 3))), np.full((5, 4, 3), 2.0)
    )
    both.refuses(
        'add',
        [np.ones(2), np.ones(2)],
        ValueError,
        "non-broadcastable output operand with shape (1,) doesn't match the broadcast "
        'shape (2,)',
        outputs=[np.zeros(1)],
    )
    both.writes(
        'divmod',
        lambda: ([array([7]), 2], (np.zeros((2, 1), int), np.zeros((2, 1), int))),
        (array([[3], [3]]), array([[1], [1]])),
    )
    corner_refusals.wrong_outputs(both)


def shapes_that_do_not_fit(both):
    both.refuses(
        'add',
        [np.ones(3), np.ones(4)],
        ValueError,
        'operands could not be broadcast together with shapes (3,) (4,) ',
    )
    both.returns('add', [np.ones((3, 1)), np.ones((1, 2))], np.full((3, 2), 2.0))
    both.returns('add', [np.ones((3, 1)), np.ones((1, 0))], np.empty((3, 0)))
    corner_refusals.too_large(both)


def casts_that_are_refused(both):
    both.refuses(
        'add',
        [np.ones(2), np.ones(2)],
        TypeError,
        "Cannot cast ufunc 'add' output from dtype('float64') to dtype('int64') with "
        "casting rule 'same_kind'",
        outputs=[np.zeros(2, np.int64)],
    )
    both.refuses(
        'sqrt',
        [np.ones(2, np.int32)],
        TypeError,
        "Cannot cast ufunc 'sqrt' input from dtype('int32') to dtype('float64') with "
        "casting rule 'no'",
        casting='no',
    )
    both.refuses(
        'add',
        [np.ones(2), np.ones(2, np.int32)],
        TypeError,
        "Cannot cast ufunc 'add' input 1 from dtype('int32') to dtype('float64') with "
        "casting rule 'no'",
        casting='no',
    )
    for first, second in (('d', 'b'), ('b', 'd'), ('b', 'b')):
        outputs = [np.zeros(2, first), np.zeros(2, second)]
        for casting in ('same_kind', 'safe', 'no'):
            both.refuses(
                'divmod',
                [np.ones(2), np.ones(2)],
                TypeError,
                f"Cannot cast ufunc 'divmod' output {2 + (first == 'd')} from dtype('float64') to "
                f"dtype('int8') with casting rule '{casting}'",
                outputs=outputs,
                casting=casting,
            )
    corner_refusals.datetime_types(both)


def read_only(both):
    out = np.zeros(2)
    out.flags.writeable = False
    both.refuses(
        'add', [np.ones(2), np.ones(2)], ValueError, 'output array is read-only', outputs=[out]
    )
    first = np.zeros(2)
    both.refuses(
        'divmod', [np.ones(2), 2.0], ValueError, 'output array is read-only', outputs=[first, out]
    )
    both.same('', out, np.zeros(2))
    both.same('', first, np.zeros(2))


def core_dimensions(both):
    both.refuses(
        'matmul',
        [np.ones((2, 2)), np.ones((3, 2))],
        ValueError,
        'Input operand 1 has a mismatch in its core dimension 0, with gufunc signature '
        '(n?,k),(k,m?)->(n?,m?) (size 3 is different from 2)',
    )
    both.refuses(
        'matmul',
        [np.float64(1), np.ones((3, 2))],
        ValueError,
        'Input operand 0 does not have enough dimensions',
    )
    both.refuses(
        'vecdot',
        [np.ones(1), np.ones(3)],
        ValueError,
        'Input operand 1 has a mismatch in its core dimension 0',
    )
    both.notes.append(
        'frozen and output-only dimensions: ufunc_capi_test, signature_test and '
        'the golden rows of tests/data/signatures.txt'
    )


def empty_core_dimensions(both):
    both.returns('vecdot', [np.ones((3, 0)), np.ones((3, 0))], np.zeros(3))
    both.returns('matmul', [np.ones((2, 0)), np.ones((0, 3))], np.zeros((2, 3)))
    both.returns('matmul', [np.ones((0, 2)), np.ones((2, 3))], np.zeros((0, 3)))
    both.returns(
        'matmul',
        [np.ones((2, 2, 0), np.int32), np.ones((0, 1), np.int32)],
        np.zeros((2, 2, 1), np.int32),
    )


def masked_places(both):
    mask = array([True, False, True])
    for run in (
        lambda out: np.add(np.ones(3), 1.0, out=out, where=mask),
        lambda out: both.library.call('add', [np.ones(3), 1.0], [out], where=mask),
    ):
        out = array([7.0, 7.0, 7.0])
        run(out)
        both.same('', out, array([2.0, 7.0, 2.0]))
    both.writes(
        'divmod',
        lambda: ([array([7, 8, 9]), 4], (np.full(3, -1), np.full(3, -1.0))),
        (array([1, -1, 2]), array([3.0, -1, 1])),
        where=mask,
    )
    found = both.ours('add', [np.ones(3), 1.0], where=mask)[0]
    # Masked elements of an allocated output are undefined, as in NumPy.
    both.same('library', found[mask], array([2.0, 2.0]))
    wide = both.ours('add', [np.ones(3), 1.0], where=np.ones((2, 1), bool))[0]
    both.same('library', wide, np.full((2, 3), 2.0))


def layouts(both):
    fortran = np.asfortranarray(np.ones((3, 4)))
    transposed = np.ones((2, 3, 4)).transpose(1, 2, 0)
    for inputs in (
        [fortran, fortran],
        [transposed, transposed],
        [np.ones((3, 4)), np.ones((3, 4))],
        [fortran, np.ones(4)],
        [np.ones((4, 6))[:, ::2], 1.0],
    ):
        for order in 'KCFA':
            expected = np.add(*inputs, order=order)
            result = both.library.call('add', inputs, [None], order=order)[0]
            strides = expected.strides
            assert result[2] == strides, f'{order}: {result[2]}, expected {strides}'
            both.same('library', result[1], expected)
    both.returns('add', [np.float64(1), np.float64(2)], np.float64(3))


def unusual_memory(both):
    for letter in 'hiqfdFD':
        plain = array([1, 2, 3], letter)
        swapped = plain.astype(plain.dtype.newbyteorder())
        block = np.zeros(plain.nbytes + 1, np.uint8)
        unaligned = block[1:].view(plain.dtype)
        unaligned[...] = plain
        for odd in (swapped, unaligned):
            both.returns('add', [odd, odd], array([2, 4, 6], letter))
            out = odd.copy() if odd is swapped else odd
            both.library.call('add', [odd, plain], [out])
            both.same('library', out.astype(plain.dtype), array([2, 4, 6], letter))
            unaligned[...] = plain
            wide = {'h': 'q', 'i': 'q'}.get(letter, letter)
            both.method('reduce', 'add', odd, expected=array(6, wide))
            both.method('accumulate', 'maximum', odd, expected=plain)
            if letter in 'hiqfd':
                two = array(2, letter)
                both.returns('divmod', [odd, two], plain // two, plain % two)
                results = np.zeros_like(swapped), odd.copy() if odd is swapped else odd
                both.writes(
                    'divmod', lambda: ([plain, two], results), (plain // two, plain % two)
                )


def fp_flags(both):
    for letter in 'fd':
        top, least = np.finfo(letter).max, np.finfo(letter).tiny
        one, zero = array([1.0, 2.0], letter), array([0.0, 4.0], letter)
        both.fp_flags('divide', [one, one], set())
        both.fp_flags('divide', [one, zero], {'divide'})
        both.fp_flags('divide', [zero, zero], {'invalid'})
        both.fp_flags('divmod', [one, zero], {'divide', 'invalid'})
        both.fp_flags('divmod', [zero, zero], {'invalid'})
        both.fp_flags('frexp', [array([np.inf, np.nan, least / 4], letter)], set())
        both.fp_flags('modf', [array([np.inf, np.nan, least / 4], letter)], set())
        both.fp_flags('log', [zero], {'divide'})
        both.fp_flags('sqrt', [array([-1.0], letter)], {'invalid'})
        both.fp_flags('multiply', [array([top], letter), one], {'overflow'})
        both.fp_flags('multiply', [array([least], letter), array([1 / 3], letter)], {'underflow'})
        both.fp_flags('add', [array([np.inf], letter), array([-np.inf], letter)], {'invalid'})
        both.fp_flags('add', [array([np.inf, np.nan], letter), one], set())
        both.fp_flags('exp', [array([1e4, -1e4], letter)], {'overflow', 'underflow'})


def moved_axes(both):
    x = np.arange(6.0).reshape(2, 3)
    both.returns('vecdot', [x, x], array([9.0, 17.0, 29.0]), axes=[[0], [0]])
    both.returns('vecdot', [x, x], array([9.0, 17.0, 29.0]), axis=0)
    both.returns('vecdot', [x, x], array([[5.0], [50.0]]), keepdims=True)
    both.returns('matmul', [x, x], x @ x.T, axes=[[0, 1], [1, 0], [0, 1]])
    both.returns('matmul', [x, x], (x @ x.T).T, axes=[[0, 1], [1, 0], [1, 0]])
    both.refuses(
        'matmul', [x, x], TypeError, 'matmul does not support keepdims', keepdims=True, status=100
    )
    both.refuses(
        'matmul',
        [x, x],
        TypeError,
        'axis can only be used with a single shared core ' 'dimension',
        axis=0,
        status=100,
    )


CALLS = [
    (23, 'gufunc_writes_over_its_input', gufunc_in_place),
    (25, 'larger_outputs', larger_outputs),
    (26, 'shapes_that_do_not_fit', shapes_that_do_not_fit),
    (27, 'casts_that_are_refused', casts_that_are_refused),
    (28, 'read_only_outputs', read_only),
    (29, 'core_dimensions_that_do_not_fit', core_dimensions),
    (30, 'empty_core_dimensions', empty_core_dimensions),
    (31, 'masked_places', masked_places),
    (32, 'layout_of_fresh_outputs', layouts),
    (34, 'unaligned_and_swapped', unusual_memory),
    (35, 'floating_point_flags', fp_flags),
    (36, 'axes_and_keepdims', moved_axes),
]
