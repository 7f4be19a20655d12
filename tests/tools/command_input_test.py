# SPDX-License-Identifier: Apache-2.0
"""Runs the gufunc command with input that new users type: reductions with several results, calls
without inputs, queries about large results, literals, and misspelt words.

command_input_test.py GUFUNC GRID_FOLDER EXAMPLE_FOLDER"""

import json
import os
import random
import subprocess

import command_fixture
import numpy as np

COMMANDS = 'devices list describe run explain reduce accumulate reduceat outer at'.split()


class CommandInput(command_fixture.CommandTest):
    def module(self, name):
        folder = self.folders[0] if name == 'grid' else self.folders[1]
        return '--module', folder / f'{name}.so'

    def test_reductions_with_several_results(self):
        values = np.arange(24.0).reshape(2, 3, 4)[:, ::-1]
        a, modules = self.save('a.npy', values), self.module('reductions')
        reduce = ('reduce', 'minmax', a, *modules, '--axis=0,2')
        expected = [values.min((0, 2)), values.max((0, 2))]
        self.assertEqual(self.ok(*reduce), f'{expected[0]}\n{expected[1]}\n')
        self.ok(*reduce, '-o', self.out, '-o', self.here / 'p.npy')
        for path, array in zip((self.out, self.here / 'p.npy'), expected):
            np.testing.assert_array_equal(np.load(path), array)
        rows = json.loads(self.ok(*reduce, '--json'))['outputs']
        self.assertEqual([row['values'] for row in rows], [e.tolist() for e in expected])
        into = [self.save(f'into{k}.npy', np.zeros(3, np.float32)) for k in range(2)]
        report = self.ok(*reduce, '--into', into[0], '--into', into[1], '--json')
        self.assertEqual([r['file'] for r in json.loads(report)['outputs']], list(map(str, into)))
        np.testing.assert_array_equal(np.load(into[1]), expected[1].astype(np.float32))
        self.assertIn('result 1: float64, shape (3,)', self.ok(*reduce, '--explain'))
        self.fails(2, 'minmax: 2 results, but -o was given 1 time', *reduce, '-o', self.out)
        self.fails(2, '--into was given 3 times', *reduce, *['--into', into[0]] * 3)
        self.fails(4, '--initial 1: reductions:minmax has a user-defined accumulator', *reduce,
                   '--initial', '1')
        self.assertEqual(self.ok(*reduce, '--initial', 'none'), self.ok(*reduce))
        self.assertIn('copied first: argument 1, as the reduced axes have no common stride\n',
                      self.ok(*reduce, '--explain'))
        rows = self.ok('reduce', 'minmax', a, *modules, '--axis=1', '--explain')
        self.assertNotIn('copied', rows)
        self.fails(2, 'add: 1 result, but -o was given 2 times', 'reduce', 'add', a,
                   *['-o', self.out] * 2)

    def test_one_result_of_a_finished_state(self):
        a = self.save('a.npy', np.array([1.0, 2, 6, 100]))
        mask = self.save('m.npy', np.array([True, True, True, False]))
        out = self.ok('reduce', 'mean_variance', a, '--where', mask, *self.module('reductions'))
        self.assertEqual([float(line) for line in out.split()], [3, 14 / 3])

    def test_describe_reductions(self):
        modules = self.module('reductions')
        self.assertIn('\n  reduces   to 2 results: q->qq Q->QQ f->ff d->dd\n'
                      '  merge     reductions:minmax_merge\n',
                      self.ok('describe', 'minmax', *modules))
        report = json.loads(self.ok('describe', 'mean_variance', *modules, '--json'))['reduction']
        self.assertEqual(report, {'results': 2, 'merge': 'reductions:mean_variance_merge',
                                'finish': 'reductions:mean_variance_finish',
                                'types': ['f->dd', 'd->dd']})
        self.assertIsNone(json.loads(self.ok('describe', 'add', '--json'))['reduction'])

    def test_no_inputs(self):
        grid = ('grid', *self.module('grid'), '--dim', 'n=5')
        self.assertEqual(self.ok('run', *grid), '[0.   0.25 0.5  0.75 1.  ]\n')
        self.ok('run', *grid, '-o', self.out)
        np.testing.assert_array_equal(np.load(self.out), np.linspace(0, 1, 5))
        self.assertIn('argument 0: out, float64, shape (5,), strides (8,), to allocate',
                      self.ok('explain', *grid))
        self.assertIn('->(n)', self.ok('describe', *grid[:3]))
        self.fails(4, 'state its size with --dim n=SIZE', 'run', *grid[:3])
        self.fails(4, "grid:grid has no core dimension 'k', expected one of n in ->(n)", 'run',
                   *grid[:3], '--dim', 'k=3')
        self.fails(2, '--inplace: the first input', 'run', *grid, '--inplace')
        self.fails(4, 'inputs of add(): expected 2, got 0', 'run', 'add')

    def test_axes_of_a_signature_with_blanks(self):
        values = np.arange(6.0).reshape(2, 3)
        call = 'scaled', self.save('a.npy', values), '2.0', *self.module('grid')
        self.ok('run', *call, '--axes', '0,(),0', '-o', self.out)
        np.testing.assert_array_equal(np.load(self.out), 2 * values)
        self.fails(4, 'operand 1 has 0 core dimensions, but 1 dimensions', 'run', *call, '--axes',
                   '0,0,0')

    def test_explain_has_no_memory(self):
        shape = (300000, 1)
        column = self.save('column.npy', np.zeros(shape, np.float32))
        row = self.save('row.npy', np.zeros(shape[::-1], np.float32))
        self.assertIn('(300000,300000)', self.ok('explain', 'add', column, row))
        self.assertIn('300000,', self.ok('outer', 'add', column, row, '--explain'))
        report = json.loads(self.ok('explain', 'add', column, row, '--json'))
        self.assertEqual(report['operands'][2]['shape'], [300000, 300000])
        # The command must not create a temporary copy, although the folder has space for one.
        one = self.save('one.npy', np.zeros(1))
        before = self.contents()
        self.assertIn('the same view', self.ok('explain', 'negative', column, '--inplace'))
        self.ok('explain', 'negative', row, '--into', row)
        self.ok('at', 'add', column, '1', '--indices', '0', '--inplace', '--explain')
        self.ok('at', 'add', column, '1', '--indices', '0', '-o', self.out, '--explain')
        self.ok('reduce', 'add', column, '--into', one, '--explain')
        self.assertEqual(self.contents(), before)

    def test_explain_of_inout_operands(self):
        a = self.save('a.npy', np.ones((2, 3), np.float32))
        explain = ('explain', 'cumulative_power', a, *self.module('cumulative_power'))
        self.assertIn('into a separate output, to allocate', self.ok(*explain))
        self.assertNotIn('separate output', self.ok(*explain, '--inplace'))
        self.assertEqual(self.ok('run', *explain[1:]), '[[1. 2. 3.]\n [1. 2. 3.]]\n')
        self.ok('run', *explain[1:], '-o', self.out)
        self.assertEqual(np.load(self.out).dtype, np.float32)

    def test_order_of_files(self):
        c = np.arange(24.0).reshape(2, 3, 4)
        arrays = {'c': c, 'f': np.asfortranarray(c), 't': np.asfortranarray(c[0]), 'v': c[0, 0]}
        for left, right in (('c', 'c'), ('c', 'f'), ('f', 'f'), ('f', 'v'), ('f', 't'), ('t', 'v'),
                            ('c', 't')):
            files = [self.save(f'{name}.npy', arrays[name]) for name in (left, right)]
            for order in 'KACF':
                expected = np.add(arrays[left], arrays[right], order=order)
                fortran = expected.flags.f_contiguous and not expected.flags.c_contiguous
                for path in ((), ('-o', self.out)):
                    self.ok('run', 'add', *files, '--order', order, *path)
                found = np.load(self.out)
                np.testing.assert_array_equal(found, expected)
                self.assertEqual(found.flags.f_contiguous and not found.flags.c_contiguous, fortran,
                                 (left, right, order))
        for order in 'KACF':
            self.ok('accumulate', 'add', self.here / 'f.npy', '--order', order, '-o', self.out)
            np.testing.assert_array_equal(np.load(self.out), np.add.accumulate(c))
            self.assertEqual(np.load(self.out).flags.f_contiguous, order != 'C')
        for value in ('X', 'k', '', 'KA'):
            text = f"--order: expected K, A, C or F, got '{value}'\n"
            self.fails(2, text, 'run', 'add', '1', '2', '--order', value)
            self.fails(2, text, 'reduce', 'add', '1', '--order', value)

    def test_bool_literals(self):
        for literal, expected in {'?:True': 1, '?:1': 1, '?:False': 0, '?:0': 0}.items():
            self.assertEqual(self.ok('run', 'logical_not', literal), f'{not expected}\n')
        for literal in ('?:2', '?:true', '?:', '?:-1', '?:0.5'):
            self.fails(2, f"literal '{literal}': not a value of bool; expected True, False, 1 or 0",
                       'run', 'logical_not', literal)

    def test_dates(self):
        draw = random.Random(20)
        units = 'Y M W D h m s ms us ns 7D 3M 25us'.split()
        texts = ['2020-01-01', '1969-12-31T23:59:59.999999', '2000-02-29', '1900-03-01', '2020-02',
                 '-0001-01-01',
                 '0000-02-29T05', '2020-01-01 12:30']
        for _ in range(40):
            moment = np.datetime64(draw.randrange(-10**9, 10**9) * 4, 's')
            texts.append(str(moment)[: draw.choice([7, 10, 13, 16, 19])])
        for text in texts:
            for unit in draw.sample(units, 3):
                if unit[-2:] == 'ns' and not '1700' < text < '2200':
                    continue
                expected = np.datetime64(text, unit)
                found = self.ok('run', 'maximum', f'M8[{unit}]:{text}', f'M8[{unit}]:{text}')
                self.assertEqual(found, f'{expected}\n', (text, unit))
        self.assertEqual(self.ok('run', 'add', 'M8[D]:2020-01-01', 'm8[D]:-1'), '2019-12-31\n')
        self.assertEqual(self.ok('run', 'add', 'm8[s]:5', 'm8[s]:5'), '10 seconds\n')
        self.assertEqual(self.ok('run', 'isnat', 'M8[D]:NaT'), 'True\n')
        for text in ('2020-13-01', '2020-02-30', '1900-02-29', '2020-1-1', '2020-01-01T24', '20-01',
                     '2020-01-01T12:30Z', '2020-01-01T', '2020-01-01T12:', 'today', '', '1.5',
                     '2020-01-01T12:30:15.', '999999999999-01-01', '2020-00-01', '2020-01-00'):
            self.fails(2, f"literal 'M8[s]:{text}': not a value of datetime64[s]; expected a "
                       'number of steps, a date such as 2020-01-31T12:30 or NaT', 'run', 'isnat',
                       f'M8[s]:{text}')
        for text in ('M8[as]:2020-01-01', 'M8[ns]:9999-01-01', 'M8[ns]:1600-01-01'):
            self.fails(2, f"literal '{text}': the date is out of the range of datetime64[", 'run',
                       'isnat', text)
        self.fails(2, 'not a value of', 'run', 'isnat', 'M8:2020-01-01')
        self.fails(2, 'expected a number of steps or NaT', 'run', 'isnat', 'm8[D]:2020-01-01')

    def test_names_that_are_nearly_right(self):
        near = "did you mean '{}'?"
        self.fails(4, near.format('subtract'), 'run', 'substract', '1', '2')
        for typed, meant in (('rum', 'run'), ('reudce', 'reduce'), ('lists', 'list'), ('a', 'at')):
            self.fails(2, f"no command '{typed}'; " + near.format(meant), typed, 'add', '1')
        for command, typed, meant in (
            ('run', '--ordr', '--order'),
            ('run', '--treads=2', '--threads'),
            ('reduce', '--axes=0', '--axis'),
            ('at', '--indice', '--indices'),
            ('list', '--jsn', '--json'),
        ):
            self.fails(2, f"{command} has no option '{typed.split('=')[0]}'; " + near.format(meant),
                       command, 'add', typed)
        self.fails(2, "no command 'frobnicate'; expected devices, list", 'frobnicate')
        self.fails(2, 'no command; expected devices, list')
        self.fails(2, "reduce has no option '--casting'", 'reduce', 'add', '1', '--casting', 'no')
        self.fails(2, "gufunc has no option '--frob'", '--frob', 'list')
        self.fails(2, "gufunc has no option '--json'; it belongs after 'list'", '--json', 'list')

    def test_options_are_named(self):
        a = self.save('a.npy', np.arange(4.0))
        for option in (('--dim', 'n=4'), ('--axis', '0'), ('--keepdims',)):
            self.fails(4, f'{" ".join(option)}: add has no core dimensions', 'run', 'add', a, a,
                       *option)
        for command in (('run', 'add', a, a), ('reduce', 'add', a)):
            for value in ('', ' ', 'x', '-1', '1.5', '2 ', '1x', '4294967296', '99999999999',
                          '99999999999999999999', '99999999999x'):
                self.fails(2, "--threads: expected a number from 0, the backend's choice, to "
                           f"4294967295, got '{value}'\n", *command, '--threads', value)
        for value in ('', ' ', 'x', '1.5', '1x', '0 ', '+1', '99999999999999999999'):
            text = f"--axis: expected an integer, got '{value}'\n"
            self.fails(2, text, 'run', 'vecdot', a, a, '--axis', value)
            self.fails(2, text, 'accumulate', 'add', a, '--axis', value)
            self.fails(2, text, 'reduceat', 'add', a, '--indices', '0', '--axis', value)
        for value in ('', '0,,1', '0,', '(0,1', '(,)', '0x', 'none,0'):
            self.fails(2, '--axis: expected an integer, several (0,2), none or (), got '
                       f"'{value}'\n", 'reduce', 'add', a, '--axis', value)
        for value in ('', 'n', 'n=', '=4', 'n=x', 'n=-4', 'n=1e3', 'n=4x', 'n= 4'):
            self.fails(2, f"--dim: expected NAME=SIZE with a size of at least 0, got '{value}'\n",
                       'run', 'vecdot', a, a, '--dim', value)
        self.fails(2, 'reduceat expects one list', 'reduceat', 'add', a, *['--indices', '0'] * 2)
        self.fails(3, f'--module {a}: not an ELF file', 'list', '--module', a)
        self.fails(3, "'': cannot", 'run', 'add', a, '1', '-o', '')
        self.fails(2, '--axis: 1 required TEXT missing', 'run', 'vecdot', a, a, '--axis')
        self.fails(2, '--axis: 1 required TEXT missing', 'run', 'vecdot', a, a, '--axis=')
        self.fails(2, "see 'gufunc outer --help'", 'outer', 'add', a)
        self.fails(3, "'': no such file", 'run', 'add', a, '')

    def test_empty_values(self):
        """The command must not treat an option with an empty value like an absent option."""
        a = self.save('a.npy', np.arange(4.0))
        run, reduce = ('run', 'vecdot', a, a), ('reduce', 'add', a)
        for calls, code, option, text in (
            ((run, reduce), 4, '--device', "malformed device; expected auto, <backend> or "
             "<backend>:<index>, got ''"),
            ((run, reduce), 4, '--dtype', "data type '' not understood"),
            ((run, reduce), 3, '--where', "'': no such file, and not a literal"),
            ((run, reduce), 2, '--fp-flags', "--fp-flags '': expected ignore, report or fail"),
            ((run,), 2, '--casting', "--casting: expected no, equiv, safe, same_kind or unsafe, "
             "got ''"),
            ((run,), 2, '--axes', '--axes: expected the axes of each operand, such as '
             "(0,1),(1,2),(0,1), got ''"),
            ((run,), 2, '--signature', "--signature '': expected the types of the 2 inputs and 1 "
             'output of vecdot'),
            ((run,), 2, '--chunk', '--chunk: expected a number of bytes below 2^64, such as 65536, '
             "64K, 8M or 1G, got ''"),
            ((reduce,), 3, '--initial', "'': no such file, and not a literal"),
        ):
            for call in calls:
                self.fails(code, text, *call, option, '')

    def test_indices_of_no_element(self):
        a = self.save('a.npy', np.arange(4.0))
        self.assertEqual(self.ok('reduceat', 'add', a, '--indices', ''), '[]\n')
        self.assertEqual(self.ok('at', 'add', a, '1', '--indices', ''), '[0. 1. 2. 3.]\n')

    def test_outputs_that_cannot_be(self):
        a = self.save('a.npy', np.arange(4.0))
        closed = self.here / 'closed'
        closed.mkdir(mode=0o555)
        other = {'user': 65534, 'group': 65534} if os.geteuid() == 0 else {}
        self.here.chmod(0o755)
        for command in (('run', 'negative', a), ('reduce', 'add', a)):
            done = subprocess.run([self.command, *map(str, command), '-o', closed / 'o.npy'],
                                  capture_output=True, text=True, **other)
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertIn('o.npy: cannot create a file beside: Permission denied', done.stderr)
        self.fails(2, 'negative: 1 result, but -o was given 2 times', 'run', 'negative', a,
                   *['-o', self.out] * 2)
        self.fails(3, 'nothing.npy', 'run', 'negative', a, '--into', self.here / 'nothing.npy')
        self.fails(6, 'no memory for 360000000000 bytes', 'run', 'add',
                   self.save('c.npy', np.zeros((300000, 1), np.float32)),
                   self.save('r.npy', np.zeros(300000, np.float32)))

    def test_every_command_helps(self):
        for command in COMMANDS:
            out = self.ok(command, '--help')
            self.assertIn(f'Usage: gufunc {command} ', out)
            self.assertIn('Exit codes: 0 success', out)


if __name__ == '__main__':
    command_fixture.main()
