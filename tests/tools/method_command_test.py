# SPDX-License-Identifier: Apache-2.0
"""Runs the methods and explain of the gufunc command as a user does, and compares the results with
NumPy.

method_command_test.py GUFUNC"""

import json
import os

import command_fixture
import numpy as np


class MethodCommand(command_fixture.CommandTest):
    def setUp(self):
        super().setUp()
        self.values = np.arange(24).reshape(2, 3, 4)
        self.a = self.save('a.npy', self.values)

    def prints(self, expected, *arguments):
        """Expects that the command prints the expected array on stdout and, with -o, writes it to a
        new file with the same dtype and shape."""
        self.assertEqual(self.ok(*arguments).rstrip('\n'), str(expected))
        self.assertEqual(self.ok(*arguments, '-o', self.out), '')
        found, expected = np.load(self.out), np.asarray(expected)
        self.assertEqual((found.dtype, found.shape), (expected.dtype, expected.shape))
        np.testing.assert_array_equal(found, expected)
        self.out.unlink()

    def test_explain_of_methods(self):
        mask = self.save('mask.npy', np.ones((2, 3, 4), bool))
        for method, more, parts in (
            ('reduce', ['--axis=0,2', '--where', mask], ['reduces axis 2 of 4, then axis 0 of 2']),
            ('accumulate', ['--axis', '1'], ['reduces axis 1 of 3', 'shape (2,3,4), to allocate']),
            ('reduceat', ['--indices', '0,1'], ['2 slices', 'shape (2,3,4), to allocate']),
            ('at', ['1', '--indices', '0,1'], ['indices of shape (2,) for the first 1 axes']),
            ('outer', ['f4:1.5'],
             ['shape (2,3,4), strides (96,32,8), to allocate', 'elementwise launch']),
        ):
            arguments = [method, 'add', self.a, *more, '--explain']
            before = self.a.read_bytes()
            text = self.ok(*arguments)
            for part in [f'add.{method} on cpu: loop ', '  refused ', *parts]:
                self.assertIn(part, text)
            self.assertEqual(self.a.read_bytes(), before)
            message = json.loads(self.ok(*arguments, '--json'))
            self.assertEqual(message, {'ufunc': 'add', 'method': method, 'text': text})
        self.fails(4, 'which has no identity', 'reduce', 'maximum',
                   self.save('none.npy', np.ones(0)), '--explain')

    def test_parameters_of_reductions(self):
        values = self.save('values.npy', np.array([1.0, 2.0, 6.0]))
        self.prints(7.0, 'reduce', 'var', values, '--parameter', '1')
        self.fails(4, 'nparameters: expected 0 to 0', 'reduce', 'add', values, '--parameter', '1')

    def test_reduce_without_elements(self):
        """The file has 27 axes, several of extent 0, and 192 bytes including its header."""
        empty = self.save('empty.npy', np.zeros([0, 2, 0] * 9))
        self.prints(0.0, 'reduce', 'add', empty, '--axis', 'none')
        self.ok('reduce', 'add', empty, '--axis', 'none', '--explain')

    def test_reduce(self):
        for axis, options in (
            (0, ()),
            (1, ('--axis', '1')),
            (-1, ('--axis', '-1')),
            ((0, 2), ('--axis=0,2',)),
            ((-1, 0), ('--axis', '-1,0')),
            (None, ('--axis=none',)),
            ((), ('--axis=()',)),
            ((0, 1), ('--axis', '(0,1)')),
            ((0, -1), ('--axis=(0, -1)',)),
            ((1,), ('--axis', '(1,)')),
        ):
            self.prints(np.add.reduce(self.values, axis=axis), 'reduce', 'add', self.a, *options)
            self.prints(
                np.maximum.reduce(self.values, axis=axis, keepdims=True),
                'reduce',
                'maximum',
                self.a,
                *options,
                '--keepdims',
            )

    def test_reduce_keywords(self):
        mask = self.save('m.npy', self.values % 3 == 0)
        where = np.load(mask)
        arguments = ('reduce', 'maximum', self.a, '--where', mask)
        self.prints(
            np.maximum.reduce(self.values, where=where, initial=-5), *arguments, '--initial', '-5'
        )
        self.prints(np.add.reduce(self.values, initial=10), 'reduce', 'add', self.a, '--initial=10')
        single = np.add.reduce(self.values, dtype='f4')
        self.prints(single, 'reduce', 'add', self.a, '--dtype', 'f4')
        self.prints(np.int64(7), 'reduce', 'add', '7', '--dtype', 'i8', '--axis', 'none')
        self.fails(4, "one has to specify 'initial'", *arguments)
        self.fails(4, "duplicate value in 'axis'; axis 0 is named twice", 'reduce', 'add', self.a,
                   '--axis=0,-3')
        self.fails(4, 'axis 3 is out of bounds', 'reduce', 'add', self.a, '--axis', '3')
        self.fails(4, "reduction operation 'subtract' is not reorderable, so at most one axis may "
                   'be specified', 'reduce', 'subtract', self.a, '--axis=none')
        for text in ('x', '0,', '(0', '0)', '(0,1,)x', '(0,,1)', '(,)', '((0))', '(0 1)', '( )'):
            self.fails(2, '--axis: expected an integer, several (0,2), none or (), got '
                       f"'{text}'\n", 'reduce', 'add', self.a, '--axis', text)
        self.fails(4, 'zero-size array to reduction operation add which has no identity', 'reduce',
                   'add', self.save('e.npy', np.ones(0)), '--initial=none')

    def test_accumulate_and_reduceat(self):
        self.prints(
            np.add.accumulate(self.values, axis=2), 'accumulate', 'add', self.a, '--axis', '2'
        )
        indices = self.save('i.npy', np.array([0, 2, 1]))
        expected = np.add.reduceat(self.values, [0, 2, 1], axis=-1)
        for given in (indices, '0,2,1'):
            self.prints(expected, 'reduceat', 'add', self.a, '--indices', given, '--axis', '-1')
        self.fails(4, 'index 9 out-of-bounds in add.reduceat [0, 2)', 'reduceat', 'add', self.a,
                   '--indices', '0,9')
        self.fails(2, "--indices is required; see 'gufunc reduceat --help'", 'reduceat',
                   'add', self.a)
        self.fails(3, '0,x: no such file, and not a list of integers (0,3,5)', 'reduceat', 'add',
                   self.a, '--indices', '0,x')

    def test_outer(self):
        b = self.save('b.npy', np.array([1.5, 2.5]))
        self.prints(np.multiply.outer(self.values, np.load(b)), 'outer', 'multiply', self.a, b)
        self.fails(2, 'input: At least 2 required but received 1', 'outer', 'multiply', self.a)

    def test_at(self):
        expected = self.values.copy()
        np.add.at(expected, ([0, 0, -1], [1, 1, 2]), 10)
        arguments = ('at', 'add', self.a, 'i8:10', '--indices', '0,0,-1', '--indices', '1,1,2')
        self.prints(expected, *arguments)
        np.testing.assert_array_equal(np.load(self.a), self.values)
        self.ok(*arguments, '--inplace')
        np.testing.assert_array_equal(np.load(self.a), expected)
        negative = self.save('n.npy', np.array([5, 6]))
        self.prints(np.array([-5, 6]), 'at', 'negative', negative, '--indices', '0')
        self.fails(
            4,
            'index 2 is out of bounds',
            'at',
            'add',
            negative,
            'i8:1',
            '--indices',
            '2',
            '--inplace',
        )
        self.fails(4, 'second operand needed for ufunc [GUF_E_VALUE]', 'at', 'add', negative,
                   '--indices', '0')
        self.fails(2, 'must be a .npy file', 'at', 'add', 'i8:1', 'i8:1', '--indices', '0')

    def test_into_keeps_shape_and_dtype(self):
        into = self.save('into.npy', np.zeros((3, 4), np.int16))
        self.ok('reduce', 'add', self.a, '--into', into)
        self.assertEqual(np.load(into).dtype, np.int16)
        np.testing.assert_array_equal(np.load(into), self.values.sum(0))
        self.fails(4, '(3,4)->(3,newaxis,4) (2,3,4) ; argument 2, axis 0: expected 2, got 3',
                   'reduce', 'add', self.a, '--axis', '1', '--into', into)
        self.fails(2, '-o, --into and --inplace: expected only one of them',
                   'reduce', 'add', self.a, '--into', into, '-o', self.out)

    def test_json(self):
        row = json.loads(self.ok('reduce', 'add', self.a, '--json', '-o', self.out))
        self.assertEqual((row['ufunc'], row['method']), ('add', 'reduce'))
        self.assertEqual(
            row['outputs'], [{'dtype': 'int64', 'shape': [3, 4], 'file': str(self.out)}]
        )
        printed = json.loads(self.ok('reduce', 'add', self.a, '--axis', 'none', '--json'))
        self.assertEqual(printed['outputs'][0]['values'], 276)

    def test_explain(self):
        b = self.save('b.npy', np.ones((3, 1), np.float32))
        text = self.ok('explain', 'add', self.a, b)
        self.assertIn('loop', text)
        for part in (
            'dd->d',
            'float32 cast to float64',
            'int64 cast to float64',
            '(2,3,4)',
            'refused ff->f: argument 0 cannot be cast safely to float32',
        ):
            self.assertIn(part, text)
        report = json.loads(self.ok('explain', 'add', self.a, b, '--json'))
        self.assertEqual([o['cast'] for o in report['operands']], [True, True, False])
        self.assertEqual(report['operands'][2]['shape'], [2, 3, 4])
        self.assertEqual(report['operands'][0]['loop_dtype'], 'float64')
        self.fails(4, "'bitwise_and' not supported", 'explain', 'bitwise_and', self.a, b)
        self.fails(
            4, 'could not be broadcast', 'explain', 'add', self.a, self.save('c.npy', np.ones(5))
        )

    def test_explain_contains_the_backends_description(self):
        big = self.save('big.npy', np.ones((300, 500), np.float32))
        flipped = self.save('flipped.npy', np.ones((300, 500), np.float32, order='F'))
        self.assertIn('walk: one call of the loop', self.ok('explain', 'add', self.a, '1'))
        os.environ.update(GUFUNC_NUM_THREADS='3', GUFUNC_CPU_ISA='x86-64-v2')
        try:
            text = self.ok('explain', 'add', big, flipped)
            for part in (
                'kernel image x86-64-v2, of ',
                'walk: tile by tile of dimensions 0 and 1; argument 1 is transposed in',
                'threads: up to 3, by GUFUNC_NUM_THREADS; ',
                'instructions: up to x86-64-v2',
            ):
                self.assertIn(part, text)
            text = self.ok('explain', 'add', big, '1', '--threads=2')
            self.assertIn('threads: up to 2, as the call requests', text)
            self.assertIn('kernel image x86-64-v2', self.ok('reduce', 'add', big, '--explain'))
            os.environ['GUFUNC_NUM_THREADS'] = '1'
            self.assertIn('threads: 1, by GUFUNC_NUM_THREADS', self.ok('explain', 'add', big, '1'))
        finally:
            del os.environ['GUFUNC_NUM_THREADS'], os.environ['GUFUNC_CPU_ISA']

    def test_help(self):
        overview = self.ok('--help')
        for name in ('reduce', 'accumulate', 'reduceat', 'outer', 'at', 'explain'):
            self.assertIn(f'\n  {name} ', overview)
            self.assertIn('INPUT'.lower(), self.ok(name, '--help').lower())


if __name__ == '__main__':
    command_fixture.main()
