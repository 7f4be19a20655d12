# SPDX-License-Identifier: Apache-2.0
"""Tests the gufunc command's help, and its options for NumPy's keywords for types, axes and errors.

keywords_command_test.py GUFUNC"""

import json
import os

import command_fixture
import numpy as np

COMMANDS = 'devices list describe run explain reduce accumulate reduceat outer at help'.split()


class Help(command_fixture.CommandTest):
    def test_all_methods_of_queries(self):
        overview = self.ok('--help')
        for name in COMMANDS:
            self.assertRegex(overview, f'(?m)^  {name} ')
            text = self.ok(name, '--help')
            self.assertIn(f'Usage: gufunc {name} ', text)
            self.assertEqual(self.ok('help', name), text)
        self.assertEqual(self.ok('help'), overview)
        self.assertEqual(self.ok('-h'), overview)
        self.assertEqual(self.run_tool('help', 'run')[2], '')
        self.fails(2, "no command 'rum'; did you mean 'run'?", 'help', 'rum')
        self.fails(2, 'help: expected one command, got 2 words', 'help', 'run', 'add')

    def test_names_the_new_options(self):
        for name, options in (
            ('run', ('--signature', '--axes', '--fp-flags')),
            ('explain', ('--signature', '--axes', '--fp-flags')),
            ('outer', ('--signature', '--fp-flags')),
            ('reduce', ('--fp-flags',)),
        ):
            for option in options:
                self.assertIn(option, self.ok('help', name))


class Signature(command_fixture.CommandTest):
    def setUp(self):
        super().setUp()
        self.a = self.save('a.npy', np.array([1.0, 2, 4]))

    def test_as_numpys(self):
        values = np.load(self.a)
        for text, signature in (
            ('ff->f', 'ff->f'),
            ('dd->d', 'dd->d'),
            ('None,None,f', (None, None, 'f')),
            ('f4, None, float32', ('f4', None, 'f4')),
            ('(<f8,None,d)', ('<f8', None, 'd')),
            ('None,None,None', (None, None, None)),
        ):
            more = {'signature': signature, 'casting': 'unsafe'}
            expected = np.add(values, values, **more)
            options = ('--signature', text, '--casting', 'unsafe', '-o', self.out)
            self.ok('run', 'add', self.a, self.a, *options)
            self.assertEqual(np.load(self.out).dtype, expected.dtype, text)
            np.testing.assert_array_equal(np.load(self.out), expected)
            self.ok('outer', 'add', self.a, self.a, *options)
            np.testing.assert_array_equal(np.load(self.out), np.add.outer(values, values, **more))
        report = self.ok('explain', 'add', self.a, self.a, '--signature=DD->D')
        self.assertRegex(report, r'loop \d+ DD->D,')
        report = self.ok('outer', 'add', self.a, self.a, '--signature=DD->D', '--explain')
        self.assertRegex(report, r'loop \d+ DD->D,')

    def test_what_is_none(self):
        expected = 'expected the types of the 2 inputs and 1 output of add'
        for text, found in (
            ('dd->', '2 letters before and 0 after ->'),
            ('->d', '0 letters before'),
            ('dd->dd', '2 after ->'),
            ('d', 'got 1 type'),
            ('d,d', 'got 2 types'),
            ('d,d,d,', 'got 4 types'),
            ('xx->x', "'x', which is not a dtype"),
            ('d,,d', "'', which is not a dtype"),
            ('d,none,d', "'none', which is not a dtype"),
        ):
            for command in ('run', 'explain', 'outer'):
                self.fails(2, f'--signature {text}: expected', command, 'add', self.a, self.a,
                           '--signature', text)
            self.fails(2, found, 'run', 'add', self.a, self.a, '--signature', text)
            self.fails(2, expected, 'run', 'add', self.a, self.a, '--signature', text)
        self.fails(2, '--signature and --dtype: expected one of them', 'run', 'add', self.a, self.a,
                   '--signature=dd->d', '--dtype=d')
        self.fails(4, 'No loop matching the specified signature and casting was found for ufunc '
                   'add; loops: ??->? bb->b', 'run', 'add', self.a, self.a, '--signature=ff->d')
        self.fails(4, "Cannot cast ufunc 'add' input 0 from dtype('float64') to dtype('int32') "
                   "with casting rule 'same_kind'", 'run', 'add', self.a, self.a,
                   '--signature=ii->i')
        self.fails(2, "reduce has no option '--signature'", 'reduce', 'add', self.a,
                   '--signature=dd->d')


class Axes(command_fixture.CommandTest):
    def test_as_numpys(self):
        m, n = np.arange(24.0).reshape(2, 3, 4), np.arange(40.0).reshape(4, 5, 2)
        files = self.save('m.npy', m), self.save('n.npy', n)
        for text in ('(1,2),(0,1),(0,1)', '[(1, 2), (0, 1), (-1, -2)]', '(-2,-1),(-3,-2),(1,0)'):
            expected = np.matmul(m, n, axes=eval(f'[{text.strip("[]")}]'))
            self.ok('run', 'matmul', *files, '--axes', text, '-o', self.out)
            np.testing.assert_array_equal(np.load(self.out), expected)
            # explain prints the shape of an operand with the loop dimensions first and the core
            # dimensions last.
            self.assertIn('argument 2: out, float64, shape (2,3,5)',
                          self.ok('explain', 'matmul', *files, '--axes', text))
        v = self.save('v.npy', m)
        for text in ('0,0', '(0,),0,()', '-1,(2),()', '-2,1'):
            axes = [a if isinstance(a, tuple) else (a,) for a in eval(f'[{text}]')]
            expected = np.vecdot(m, m, axes=axes)
            self.ok('run', 'vecdot', v, v, f'--axes={text}', '-o', self.out)
            np.testing.assert_array_equal(np.load(self.out), expected)
        self.ok('run', 'vecdot', v, v, '--axes', '-2,-2', '-o', self.out)

    def test_what_is_none(self):
        v = self.save('v.npy', np.ones((3, 4)))
        spelling = 'expected the axes of each operand, such as (0,1),(1,2),(0,1)'
        for text in ('(0', '0,', 'x', '(0,x)', '(0 1)', '0 0', '(0),,(0)', '[0,0', '1.5,0', ',',
                     ' ', '[]'):
            self.fails(2, f"--axes: {spelling}, got '{text}'\n", 'run', 'vecdot', v, v, '--axes',
                       text)
        for text, operand, ncore, found in (('0,(0,1)', 1, 1, 2), ('0,0,0', 2, 0, 1),
                                            ('0,()', 1, 1, 0)):
            self.fails(4, f'vecdot: operand {operand} has {ncore} core dimensions, but {found} '
                       'dimensions are specified by axes tuple.', 'run', 'vecdot', v, v, '--axes',
                       text)
        for text in ('0', '0,0,(),()'):
            self.fails(4, 'axes should be a list with an entry for all 3 inputs and outputs', 'run',
                       'vecdot', v, v, '--axes', text)
        self.fails(4, 'axes should be a list with an entry for all 3 inputs and outputs', 'run',
                   'matmul', v, v, '--axes', '(0,1),(0,1)')
        self.fails(4, 'axis 5 is out of bounds for array of dimension 2', 'run', 'vecdot', v, v,
                   '--axes', '5,0')
        self.fails(2, '--axes and --axis: expected one', 'run', 'vecdot', v, v, '--axes', '0,0',
                   '--axis', '0')
        self.fails(4, '--axes 0,0: add has no core dimensions', 'run', 'add', v, v, '--axes', '0,0')


class Events(command_fixture.CommandTest):
    FLAGS = {
        'divide': ('divide', ('1', 'f8:0'), 'divide by zero encountered in divide'),
        'over': ('multiply', ('f8:1e300', 'f8:1e300'), 'overflow encountered in multiply'),
        'under': ('multiply', ('f8:1e-200', 'f8:1e-200'), 'underflow encountered in multiply'),
        'invalid': ('sqrt', ('f8:-1',), 'invalid value encountered in sqrt'),
    }

    def test_run(self):
        for key, (name, inputs, text) in self.FLAGS.items():
            run = ('run', name, *inputs)
            for quiet in ((), ('--fp-flags=ignore',), ('--fp-flags', f'all=fail,{key}=ignore')):
                self.assertEqual(self.run_tool(*run, *quiet)[2], '')
            for requested in ('report', f'{key}=report', f'all=fail,{key}=report'):
                code, out, err = self.run_tool(*run, '--fp-flags', requested)
                self.assertEqual((code, err), (0, f'gufunc: warning: {text}\n'), requested)
                self.assertEqual(out, self.ok(*run))
            self.fails(4, text, *run, '--fp-flags', f'{key}=fail', '-o', self.out)
            report = json.loads(self.ok(*run, '--fp-flags=report', '--json'))
            self.assertEqual(report['fp_flags'], [key])
        report = json.loads(self.ok('run', 'divide', '1', '2', '--fp-flags=report', '--json'))
        self.assertEqual(report['fp_flags'], [])
        self.assertNotIn('fp_flags', json.loads(self.ok('run', 'divide', '1', '2', '--json')))
        both = self.save('both.npy', np.array([1.0, 0]))
        err = self.run_tool('run', 'divide', both, '0', '--fp-flags=report')[2]
        self.assertEqual(err.count('\n'), 2)
        self.assertIn('argument 2', self.ok('explain', 'divide', both, '0', '--fp-flags=fail'))
        self.assertEqual(
            self.run_tool('run', 'floor_divide', 'i4:1', 'i4:0', '--fp-flags=report')[2],
            'gufunc: warning: divide by zero encountered in floor_divide\n')

    def test_methods(self):
        a = self.save('a.npy', np.array([1e300, 1e300, 1.0]))
        before = a.read_bytes()
        for method, more, text in (
            ('reduce', (), 'overflow encountered in multiply'),
            ('accumulate', (), 'overflow encountered in multiply'),
            ('reduceat', ('--indices', '0'), 'overflow encountered in multiply'),
            ('at', ('f8:1e10', '--indices', '0'), 'overflow encountered in multiply'),
            ('outer', (a,), 'overflow encountered in multiply'),
        ):
            inputs = [m for m in more if not str(m).startswith(('-', '0'))]
            options = [m for m in more if m not in inputs]
            call = (method, 'multiply', a, *inputs, *options)
            self.assertEqual(self.run_tool(*call)[2], '')
            code, _, err = self.run_tool(*call, '--fp-flags=report')
            self.assertEqual((code, err), (0, f'gufunc: warning: {text}\n'), method)
            self.assertEqual(json.loads(self.ok(*call, '--fp-flags=report', '--json'))['fp_flags'],
                             ['over'])
            self.fails(4, text, *call, '--fp-flags', 'over=fail', '-o', self.out)
            if method == 'at':
                self.fails(4, text, *call, '--fp-flags=fail', '--inplace')
            report = self.ok(*call, '--fp-flags=report', '--explain')
            if method != 'outer':
                self.assertIn('floating-point flags are computed for every step', report)
        self.assertEqual(a.read_bytes(), before)

    def test_what_is_none(self):
        texts = 'loud over over= =fail above=fail over=fail=x warn report,'.split()
        for text in texts:
            found = '' if text == 'report,' else text
            for command in (('run', 'negative', '1'), ('reduce', 'add', '1', '--axis=none')):
                self.fails(2, f"--fp-flags {text}: expected ignore, report or fail, for one flag "
                           f"as in over=fail, got '{found}'", *command, '--fp-flags', text)


class Chunks(command_fixture.CommandTest):
    def test_give_the_same_file(self):
        rng = np.random.default_rng(1)
        a, b = rng.random((999, 7)), rng.random((7,)).astype(np.float32)
        files = self.save('a.npy', a), self.save('b.npy', b)
        for size in ('100', '1K', '1M', '1G'):
            self.ok('run', 'add', *files, '-o', self.out, '--chunk', size)
            np.testing.assert_array_equal(np.load(self.out), a + b)
            self.out.unlink()
        mask = a > 0.5
        into = self.save('into.npy', np.zeros((999, 7)))
        self.ok('run', 'add', *files, '--into', into, '--chunk=500', '--where',
                self.save('m.npy', mask))
        np.testing.assert_array_equal(np.load(into), np.where(mask, a + b, 0))
        self.ok('run', 'add', *files, '--inplace', '--chunk=500')
        np.testing.assert_array_equal(np.load(files[0]), a + b)

    def test_what_is_none(self):
        file = self.save('a.npy', np.ones(3))
        for text in ('0', '-1', '1T', 'K', '1.5M'):
            self.fails(2, '--chunk: expected a number of bytes below 2^64, such as 65536, 64K, 8M '
                       f"or 1G, got '{text}'\n", 'run', 'add', file, file, '-o', self.out,
                       f'--chunk={text}')
        self.fails(2, '--chunk: expected -o, --into or --inplace',
                   'run', 'add', file, file, '--chunk=1K')


class MethodThreads(command_fixture.CommandTest):
    def test_explain_lists_them(self):
        a = self.save('a.npy', np.ones((1000, 1000), np.float32))
        small = self.save('small.npy', np.ones(100, np.float32))
        os.environ.update(GUFUNC_NUM_THREADS='3', GUFUNC_CPU_ISA='x86-64-v2')
        try:
            for method, options in (('reduce', ()), ('reduce', ('--axis=1',)),
                                    ('reduce', ('--axis=none',)), ('accumulate', ()),
                                    ('reduceat', ('--indices', '0,5')), ('outer', ('f4:1',))):
                call = (method, 'add', a, *options, '--explain')
                self.assertIn('threads: up to 3, by GUFUNC_NUM_THREADS; ', self.ok(*call), call)
                two = self.ok(*call, '--threads=2')
                self.assertIn('threads: up to 2, as the call requests; ', two)
                self.assertIn('threads: 1, as the call requests', self.ok(*call, '--threads=1'))
                self.assertIn('instructions: up to x86-64-v2', self.ok(*call))
                self.assertIn('\nwalk: ', self.ok(*call))
            self.assertIn('threads: 1, as the indices are applied in order',
                          self.ok('at', 'add', a, '1', '--indices', '0', '--explain'))
            for method in ('reduce', 'accumulate'):
                self.assertIn('threads: 1, as the work, 100, is too small to share',
                              self.ok(method, 'add', small, '--explain'))
            self.assertIn('nothing is launched',
                          self.ok('reduce', 'add', self.save('e.npy', np.ones((3, 0))),
                                  '--explain'))
            # The reduction has more axes than a launch block supports, so the operand is copied
            # first. Then the result has more axes than a launch block supports.
            many = self.save('many.npy', np.ones((2,) * 16, np.float32))
            self.assertIn('threads: up to 2, one per piece', self.ok('reduce', 'add', many,
                                                                   '--axis=none', '--explain'))
            kept = self.save('kept.npy', np.ones((2,) * 20, np.int8))
            self.assertIn('walk: ', self.ok('reduce', 'add', kept, '--explain'))
        finally:
            del os.environ['GUFUNC_NUM_THREADS'], os.environ['GUFUNC_CPU_ISA']


if __name__ == '__main__':
    command_fixture.main()
