# SPDX-License-Identifier: Apache-2.0
"""Tests the outputs of the gufunc command: several outputs in separate files, masked elements, and
byte-swapped files.

results_command_test.py GUFUNC EXAMPLE_FOLDER"""

import json
import os

import command_fixture
import numpy as np


class SeveralResults(command_fixture.CommandTest):
    def setUp(self):
        super().setUp()
        self.values = np.arange(-6, 6).reshape(3, 4)
        self.a, self.b = self.save('a.npy', self.values), self.save('b.npy', np.array([2, 5]))
        self.second = self.here / 'p.npy'

    def test_outer(self):
        expected = [op.outer(self.values, [2, 5]) for op in (np.floor_divide, np.remainder)]
        outer = 'outer', 'divmod', self.a, self.b
        self.assertEqual(self.ok(*outer), f'{expected[0]}\n{expected[1]}\n')
        self.ok(*outer, '-o', self.out, '-o', self.second)
        rows = json.loads(self.ok(*outer, '--json'))['outputs']
        self.assertEqual([row['values'] for row in rows], [e.tolist() for e in expected])
        into = [self.save(f'into{k}.npy', np.zeros((3, 4, 2))) for k in range(2)]
        self.ok(*outer, '--into', into[0], '--into', into[1])
        for array, *paths in zip(expected, (self.out, self.second), into):
            for path in paths:
                np.testing.assert_array_equal(np.load(path), array)
        self.assertEqual(self.ok(*outer, '--explain').count('shape (3,4,2), strides'), 2)
        self.fails(2, 'divmod: 2 results, but -o was given 1 time', *outer, '-o', self.out)
        self.fails(2, 'add: 1 result, but -o was given 2 times', 'outer', 'add', self.a, self.b,
                   '-o', self.out, '-o', self.second)
        self.fails(4, '', 'reduce', 'divmod', self.a)

    def test_one_file_is_not_given_twice(self):
        x, y = self.save('x.npy', np.zeros((3, 4))), self.save('y.npy', np.zeros((3, 4)))
        (self.here / 'link.npy').symlink_to('x.npy')
        (self.here / 'folder').mkdir()
        os.link(x, self.here / 'hard.npy')
        calls = [('run', 'divmod', self.a, '3')]
        calls.append(('reduce', 'minmax', self.a, '--axis=1', '--module',
                      self.folders[0] / 'reductions.so'))
        calls.append(('outer', 'divmod', self.a, '3'))
        for call in calls:
            for option in ('-o', '--into'):
                for again in (x, f'{self.here}/./x.npy', self.here / 'folder/../x.npy',
                              self.here / 'link.npy', self.here / 'hard.npy'):
                    self.fails(2, f'{option} {again}: the same file as {option} {x}, expected one '
                               'of its own per result', *call, option, x, option, again)
            for again in (self.out, f'{self.here}/./o.npy', self.here / 'folder/../o.npy',
                          os.path.relpath(self.out)):
                self.fails(2, f'-o {again}: the same file as -o', *call, '-o', self.out, '-o',
                           again)
        self.fails(2, '--into', 'explain', 'divmod', self.a, '3', '--into', x, '--into', x)
        self.ok(*calls[0], '--into', x, '--into', y)
        np.testing.assert_array_equal(np.load(y), self.values % 3)


class Masked(command_fixture.CommandTest):
    """Elements of new results are 0 where the mask is False, whatever their memory contained."""

    def prints(self, expected, *arguments):
        # With this setting glibc fills freed memory, so that reused memory is not zero.
        os.environ['GLIBC_TUNABLES'] = 'glibc.malloc.perturb=90'
        try:
            rows = json.loads(self.ok(*arguments, '--json'))['outputs']
            texts = self.ok(*arguments)
            paths = [self.here / f'result{k}.npy' for k in range(len(expected))]
            self.ok(*arguments, *[part for path in paths for part in ('-o', path)])
        finally:
            del os.environ['GLIBC_TUNABLES']
        self.assertEqual(texts, ''.join(f'{e}\n' for e in expected))
        for row, path, array in zip(rows, paths, expected):
            self.assertEqual((row['dtype'], row['shape']), (array.dtype.name, [*array.shape]))
            found = np.load(path)
            self.assertEqual((found.dtype, found.strides), (array.dtype, array.strides))
            np.testing.assert_array_equal(found, array)

    def test_run_and_outer(self):
        for dtype in ('i4', 'f8', 'm8[s]', 'c8', '?'):
            for order in 'CF':
                values = np.asarray(np.arange(6).reshape(2, 3) + 1, dtype, order)
                mask = np.array([[True, False, True], [False, True, False]], order=order)
                a, m = self.save('a.npy', values), self.save('m.npy', mask)
                result = np.zeros_like(values)
                np.add(values, values, out=result, where=mask)
                self.prints([result], 'run', 'add', a, a, '--where', m)
                self.prints([np.zeros_like(values)], 'run', 'add', a, a, '--where', 'False')
                self.prints([values + values], 'run', 'add', a, a, '--where', 'True')
                vector = self.save('v.npy', values[0].copy())
                result = np.zeros((3, 2, 3), values.dtype)
                np.add.outer(values[0], values, out=result, where=mask)
                self.prints([result], 'outer', 'add', vector, a, '--where', m)

    def test_several_results(self):
        a, m = self.save('a.npy', np.arange(5)), self.save('m.npy', np.arange(5) != 3)
        expected = [np.array([0, 0, 1, 0, 2]), np.array([0, 1, 0, 0, 0])]
        self.prints(expected, 'run', 'divmod', a, '2', '--where', m)
        self.prints(expected, 'outer', 'divmod', a, 'i8:2', '--where', m)

    def test_fp_flags_are_those_of_the_elements_that_take_part(self):
        a, m = self.save('a.npy', np.array([1.0, 0])), self.save('m.npy', np.array([True, False]))
        for command in (('run', 'divide', '1', a), ('outer', 'divide', 'f8:1', a)):
            report = json.loads(self.ok(*command, '--where', m, '--fp-flags=fail', '--json'))
            self.assertEqual((report['fp_flags'], report['outputs'][0]['values']), ([], [1, 0]))
            self.fails(4, 'divide by zero', *command, '--where', 'True', '--fp-flags=fail')

    def test_failures_read_as_without_zeros(self):
        a = self.save('a.npy', np.arange(3))
        for command in ('run', 'outer'):
            self.fails(4, 'where', command, 'add', a, a, '--where', a)
            self.fails(4, 'broadcast', command, 'add', a, a, '--where',
                       self.save('m.npy', np.ones((2, 2), bool)))

    def test_existing_files_keep_what_is_left_out(self):
        a, m = self.save('a.npy', np.arange(3)), self.save('m.npy', np.array([True, False, True]))
        into = self.save('into.npy', np.full(3, 9))
        self.ok('run', 'add', a, '1', '--where', m, '--into', into)
        np.testing.assert_array_equal(np.load(into), [1, 9, 3])
        into = self.save('into.npy', np.full((1, 3), 9))
        self.ok('outer', 'add', self.save('one.npy', np.ones(1, int)), a, '--where', m,
                '--into', into)
        np.testing.assert_array_equal(np.load(into), [[1, 9, 3]])
        self.ok('run', 'add', a, '10', '--where', m, '--inplace')
        np.testing.assert_array_equal(np.load(a), [10, 1, 12])

    def test_help_lists(self):
        for command in ('run', 'outer'):
            self.assertRegex(self.ok('help', command), r'new\s+result\s+is\s+0')


class OtherByteOrder(command_fixture.CommandTest):
    def test_is_read_and_not_written_over(self):
        swapped = self.save('swapped.npy', np.arange(3, dtype='>i4'))
        self.assertEqual(self.ok('run', 'add', swapped, '1'), '[1 2 3]\n')
        text = f"{swapped}: not in this machine's byte order"
        at = 'at', 'add', swapped, '1', '--indices', '0'
        for arguments in (
            ('run', 'add', swapped, '1', '--inplace'),
            ('run', 'add', '1', '2', '--into', swapped),
            ('explain', 'add', swapped, '1', '--inplace'),
            ('reduce', 'add', self.save('m.npy', np.ones((2, 3))), '--into', swapped),
            (*at, '--inplace'),
            (*at, '-o', self.out),
        ):
            self.fails(3, text, *arguments)


if __name__ == '__main__':
    command_fixture.main()
