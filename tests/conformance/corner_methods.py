# SPDX-License-Identifier: Apache-2.0
"""Corner cases of methods: identities, axes, indices, duplicates, and sizes."""

import mmap

import numpy as np

import corner_refusals
from corner_both import array

SHAPE, READ_ONLY = 300, 302
NO_IDENTITY = 'zero-size array to reduction operation maximum which has no identity'
MASK = "does not have an identity, so to use a where mask one has to specify 'initial'"


def widened_sums(both):
    for name in ('add', 'multiply'):
        for letter in '?bhiq':
            x = array([1, 1, 1], letter)
            expected = 3 if name == 'add' else 1
            both.method('reduce', name, x, expected=array(expected, 'q'))
            scan = [1, 2, 3] if name == 'add' else [1, 1, 1]
            both.method('accumulate', name, x, expected=array(scan, 'q'))
            both.method('reduceat', name, x, array([0]), expected=array([expected], 'q'))
        for letter in 'BHIQ':
            x = array([255 if letter == 'B' else 1, 1], letter)
            expected = int(x.astype(object).sum() if name == 'add' else x.astype(object).prod())
            both.method('reduce', name, x, expected=array(expected, 'Q'))
    both.method('reduce', 'maximum', array([1, 2], 'b'), expected=array(2, 'b'))
    both.method('reduce', 'add', array([100, 100], 'b'), dtype='b', expected=array(-56, 'b'))


def empty_reductions(both):
    empty = np.empty((0, 3))
    both.method_fails('reduce', 'maximum', empty, kind=ValueError, text=NO_IDENTITY)
    both.method('reduce', 'maximum', empty, axis=1, expected=np.empty(0))
    both.method('reduce', 'maximum', empty, initial=5.0, expected=array([5.0, 5.0, 5.0]))
    both.method('reduce', 'add', empty, expected=array([0.0, 0.0, 0.0]))
    both.method('reduce', 'multiply', empty, axis=None, expected=array(1.0))
    both.method('reduce', 'bitwise_and', np.empty(0, np.uint8), expected=array(255, 'B'))
    both.method('reduce', 'logical_and', np.empty(0), expected=array(True))
    both.method_fails(
        'reduce',
        'add',
        empty,
        initial=None,
        kind=ValueError,
        text='zero-size array to reduction operation add which has no identity',
    )
    mask = array([True, False, True])
    both.method_fails('reduce', 'maximum', np.ones((2, 3)), where=mask, kind=ValueError, text=MASK)
    both.method(
        'reduce',
        'maximum',
        np.ones((2, 3)),
        where=mask,
        initial=0.0,
        expected=array([1.0, 0.0, 1.0]),
    )
    both.method('reduce', 'add', np.ones((2, 3)), where=mask, expected=array([2.0, 0.0, 2.0]))
    corner_refusals.initial_values(both)


def not_reorderable(both):
    x = np.arange(6.0).reshape(2, 3)
    text = "reduction operation 'subtract' is not reorderable, so at most one axis may be specified"
    both.method_fails('reduce', 'subtract', x, axis=(0, 1), kind=ValueError, text=text)
    both.method_fails('reduce', 'subtract', x, axis=None, kind=ValueError, text=text)
    both.method('reduce', 'subtract', x, axis=(0,), expected=array([-3.0, -3.0, -3.0]))
    both.method('reduce', 'subtract', x, axis=(), expected=x)
    for method, more in (('reduce', ()), ('accumulate', ()), ('reduceat', (array([0]),))):
        for name in ('divmod', 'modf', 'clip'):
            text = f'{method} only supported for binary functions'
            if name == 'divmod':
                text = f'{method} only supported for functions returning a single value'
            both.method_fails(method, name, x, *more, kind=ValueError, text=text)
    both.method('reduce', 'add', x, axis=(0, 1), expected=array(15.0))
    both.method_fails('reduce', 'add', x, axis=(0, -2), kind=ValueError, text='duplicate value')
    both.method_fails(
        'reduce',
        'add',
        x,
        axis=2,
        kind=np.exceptions.AxisError,
        text='axis 2 is out of bounds for array of dimension 2',
    )


def stretches(both):
    x = np.arange(8)
    both.method(
        'reduceat',
        'add',
        x,
        array([0, 4, 1, 5, 2, 6, 3, 7]),
        expected=array([6, 4, 10, 5, 14, 6, 18, 7]),
    )
    both.method('reduceat', 'add', x, array([3, 3, 2]), expected=array([3, 3, 27]))
    both.method('reduceat', 'add', x, np.empty(0, np.int64), expected=np.empty(0, np.int64))
    both.method('reduceat', 'subtract', x, array([1]), expected=array([-26]))
    both.method(
        'reduceat',
        'maximum',
        x.reshape(2, 4),
        array([0, 2]),
        axis=-1,
        expected=array([[1, 3], [5, 7]]),
    )
    for index in (8, -1):
        both.method_fails(
            'reduceat',
            'add',
            x,
            array([0, index]),
            kind=IndexError,
            text=f'index {index} out-of-bounds in add.reduceat [0, 8)',
        )
    corner_refusals.swapped_indices(both)


def own_outputs(both):
    """Checks cases in which NumPy writes to read-only memory or reads out of bounds."""
    fixed, x = np.zeros(3), np.ones(3)
    fixed.flags.writeable = False
    run = both.library
    both.own_rule(lambda: run.at('add', fixed, [array([0])], x[:1]), READ_ONLY)
    both.own_rule(lambda: run.reduceat('add', x, array([0]), np.zeros(3)), SHAPE)
    both.own_rule(lambda: run.accumulate('add', x, np.zeros(())), SHAPE)
    square, further = np.ones((3, 3)), np.zeros((3, 3, 1))
    both.own_rule(lambda: run.accumulate('add', square, further), SHAPE)
    both.own_rule(lambda: run.reduceat('add', square, array([0, 1, 2]), further), SHAPE)
    both.same('library', run.reduce('add', array(2.0), axis=(0,))[1], array(2.0))
    # `outer` does not have weak scalars.
    both.method('outer', 'add', array([1], 'B'), 2, expected=array([3]))


def overlapping(both):
    a = np.arange(6.0)
    expected = array([0.0, 1, 3, 5, 7, 9])

    def shifted():
        a = np.arange(6.0)
        return a

    for run in (np.add, lambda x, y, out: both.library.call('add', [x, y], [out])):
        a = shifted()
        run(a[1:], a[:-1], out=a[1:])
        both.same('', a, expected)
        a = shifted()
        run(a, a[::-1], out=a)
        both.same('', a, array([5.0] * 6))
        a = shifted()
        run(a[::-1], 1.0, out=a)
        both.same('', a, array([6.0, 5, 4, 3, 2, 1]))
    a, b = array([7, 8, 9, 10]), array([2, 3, 4, 5])

    def exchanged():
        x, y = a.copy(), b.copy()
        return [x, y], (y, x)

    both.writes('divmod', exchanged, (a // b, a % b))

    def moved():
        x = a.copy()
        return [x[1:], x[:-1]], (x[:-1], np.zeros(3, int))

    both.writes('divmod', moved, (a[1:] // a[:-1], a[1:] % a[:-1]))

    def reversed_limits():
        x = a.copy()
        return [x[::-1], b, np.full(4, 9)], x

    both.writes('clip', reversed_limits, array([9, 9, 8, 7]))
    for side in ('NumPy', 'library'):
        a, mask = np.arange(6.0), array([True, False] * 3)
        if side == 'NumPy':
            np.add(a[::-1], 1.0, out=a, where=mask)
        else:
            both.library.call('add', [a[::-1], 1.0], [a], where=mask)
        both.same(side, a, array([6.0, 1, 4, 3, 2, 5]))
        a = np.arange(6.0)
        accumulate(both, side, 'add', a, a)
        both.same(side, a, array([0.0, 1, 3, 6, 10, 15]))
        a = np.arange(6.0)
        accumulate(both, side, 'add', a, a[::-1])
        both.same(side, a, array([15.0, 10, 6, 3, 1, 0]))
        a = np.arange(6.0).reshape(2, 3)
        if side == 'NumPy':
            np.add.reduce(a, axis=0, out=a[1])
        else:
            both.library.reduce('add', a, a[1], axis=0)
        both.same(side, a, array([[0.0, 1, 2], [3, 5, 7]]))


def accumulate(both, side, name, source, out):
    if side == 'NumPy':
        getattr(np, name).accumulate(source, out=out)
    else:
        both.library.accumulate(name, source, out)


def hits(both):
    def counted(values, *arguments, name='add', expected):
        for side in ('NumPy', 'library'):
            a = array(values)
            if side == 'NumPy':
                getattr(np, name).at(a, *arguments)
            else:
                both.our_method('at', name, (a, *arguments), {})
            both.same(side, a, array(expected))

    own_outputs(both)
    counted([0, 0, 0], array([0, 0, 2, 0]), array([1, 1, 1, 1]), expected=[3, 0, 1])
    counted([0, 0, 0], array([-1, -3, -1]), array([5, 7, 1]), expected=[7, 0, 6])
    counted([1, 2], array([0, 0]), array([10, 3]), name='subtract', expected=[-12, 2])
    counted([5, 6], array([1, 1, 1]), name='negative', expected=[5, -6])
    counted(
        [[0, 0], [0, 0]],
        (array([0, 1, 0]), array([1, 0, 1])),
        array([1, 2, 3]),
        expected=[[0, 4], [2, 0]],
    )
    counted([[0, 0], [0, 0]], (array([0, 0]),), array([1, 2]), expected=[[2, 4], [0, 0]])
    counted([0, 0], array([0, 0]), array([1.5, 1.5]), expected=[2, 0])
    for index, axis, size in ((3, 0, 3), (-4, 0, 3)):
        both.method_fails(
            'at',
            'add',
            np.zeros(3),
            array([index]),
            array([1.0]),
            kind=IndexError,
            text=f'index {index} is out of bounds for axis {axis} with size {size}',
        )
    both.method_fails(
        'at',
        'add',
        np.zeros(3),
        (array([0]), array([0])),
        array([1.0]),
        kind=IndexError,
        text='too many indices for array',
    )
    both.notes.append('bool and Ellipsis indices are the binding\'s to turn into integers')


def huge(both):
    """Checks counts and byte offsets above 2^31 and 2^32. The test reserves that much memory but
    accesses only a small part of it."""
    n = 2**31 + 5
    ones = np.broadcast_to(np.uint8(1), n)
    found = both.library.reduce('bitwise_xor', ones)[1]
    both.same('library', found, array(1, 'B'))
    block = mmap.mmap(-1, 2**32 + 2**31 + 16)
    far = np.ndarray((4,), np.uint8, block, 0, (2**31 - 3,))
    far[...] = [1, 2, 3, 4]
    both.returns('add', [far, np.uint8(1)], array([2, 3, 4, 5], 'B'))
    both.method('reduce', 'add', far, expected=array(10, 'Q'))
    both.method('reduce', 'maximum', far, expected=array(4, 'B'))
    both.method('accumulate', 'add', far[::-1], expected=array([4, 7, 9, 10], 'Q'))
    del far


METHODS = [
    (14, 'sums_of_small_integers_are_widened', widened_sums),
    (19, 'empty_reductions', empty_reductions),
    (20, 'reductions_that_are_not_reorderable', not_reorderable),
    (21, 'reduceat', stretches),
    (22, 'overlap', overlapping),
    (24, 'at_counts_every_hit', hits),
    (33, 'more_than_2_31_elements', huge),
]
