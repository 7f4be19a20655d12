# SPDX-License-Identifier: Apache-2.0
"""Tests the sources and destinations of the gufunc command's operands: stdin and stdout, archives,
and modules. Also tests arguments that look like options or lists, `info`, and the progress line.

streams_command_test.py GUFUNC CLASH_MODULE CRASH_MODULE EXAMPLE_FOLDER"""

import io
import json
import os
import pty
import shutil
import struct
import subprocess
import zipfile

import command_fixture
import numpy as np


def npy(array):
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


class StreamsCommand(command_fixture.CommandTest):
    def piped(self, data, *arguments, code=0):
        done = subprocess.run([self.command, *map(str, arguments)], input=data,
                              capture_output=True)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout if code == 0 else done.stderr.decode()

    @property
    def reductions(self):
        return '--module', self.folders[2] / 'reductions.so'

    def test_pipes(self):
        values = np.arange(6.0).reshape(2, 3)
        for array in (values, np.asfortranarray(values), np.array(2.5), values.astype('>f4'),
                      np.ones((0, 3)), np.ones(1 << 18)):
            out = self.piped(npy(array), 'run', 'negative', '-', '-o', '-')
            np.testing.assert_array_equal(np.load(io.BytesIO(out)), -array)
        out = self.piped(npy(values), 'reduce', 'add', '-', '--axis', '1', '-o', '-')
        np.testing.assert_array_equal(np.load(io.BytesIO(out)), values.sum(1))
        out = self.piped(npy(values), 'run', 'add', '-', '1')
        self.assertEqual(out.decode(), f'{values + 1}\n')
        with subprocess.Popen([self.command, 'run', 'negative', '-', '-o', '-'],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE) as first:
            with subprocess.Popen([self.command, 'run', 'square', '-', '-o', '-'],
                                  stdin=first.stdout, stdout=subprocess.PIPE) as second:
                first.stdout.close()
                for byte in npy(values):  # one byte per write
                    first.stdin.write(bytes([byte]))
                    first.stdin.flush()
                first.stdin.close()
                np.testing.assert_array_equal(np.load(io.BytesIO(second.stdout.read())), values**2)

    def test_several_arrays_in_a_stream(self):
        a, b = np.arange(3.0), np.arange(3) + 10
        both = npy(a) + npy(b)
        out = io.BytesIO(self.piped(both, 'run', 'add', '-', '-', '-o', '-'))
        np.testing.assert_array_equal(np.load(out), a + b)
        minmax = ('reduce', 'minmax', '-', *self.reductions)
        out = io.BytesIO(self.piped(npy(a), *minmax, '-o', '-', '-o', '-'))
        for expected in (0, 2):
            np.testing.assert_array_equal(np.load(out), expected)
        self.assertIn('more bytes than the arrays have',
                      self.piped(both, 'run', 'negative', '-', code=3))

    def test_streams_that_are_damaged(self):
        whole = npy(np.arange(4.0))
        for length in (0, 5, 10, 60, len(whole) - 1):
            err = self.piped(whole[:length], 'run', 'negative', '-', '-o', '-', code=3)
            self.assertTrue(err.startswith('gufunc: standard input: not a usable .npy file'), err)
        self.assertIn('--into -', self.piped(whole, 'run', 'negative', '-', '--into', '-', code=2))
        self.assertIn('not both', self.piped(whole, 'run', 'negative', '-', '-o', '-', '--json',
                                             code=2))
        self.assertIn('expected a .npy file', self.piped(whole, 'run', 'negative', '-', '--inplace',
                                                         code=2))
        with open('/dev/full', 'wb') as full:
            done = subprocess.run([self.command, 'run', 'negative', '-', '-o', '-'], input=whole,
                                  stdout=full, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 3)
        self.assertIn(b'standard output: cannot write: No space left', done.stderr)

    def test_archives(self):
        a, b = np.arange(6.0).reshape(2, 3), np.arange(3, dtype='f4')
        for save in (np.savez, np.savez_compressed):
            save(self.here / 'x.npz', a=a, b=b)
            x = f'{self.here}/x.npz'
            self.ok('run', 'add', f'{x}:a', f'{x}:b', '-o', self.out)
            np.testing.assert_array_equal(np.load(self.out), a + b)
            save(self.here / 'one.npz', np.asfortranarray(a))
            self.ok('run', 'negative', self.here / 'one.npz', '-o', self.out)
            np.testing.assert_array_equal(np.load(self.out), -a)
            self.fails(3, f'has 2 arrays (a, b); name one as in {x}:a', 'run', 'negative', x)
            self.fails(3, "has no array 'c'; its arrays are a, b", 'run', 'negative', f'{x}:c')
        y = f'{self.here}/y.npz'
        minmax = ('reduce', 'minmax', self.save('a.npy', a), *self.reductions)
        self.ok(*minmax, '-o', f'{y}:least', '-o', f'{y}:greatest')
        with np.load(y) as found:
            self.assertEqual(found.files, ['least', 'greatest'])
            np.testing.assert_array_equal(found['least'], a.min(0))
            np.testing.assert_array_equal(found['greatest'], a.max(0))
        self.assertIsNone(zipfile.ZipFile(y).testzip())
        self.ok('reduce', 'add', self.here / 'a.npy', '-o', y)
        with np.load(y) as found:
            np.testing.assert_array_equal(found['arr_0'], a.sum(0))
        self.fails(2, 'expected an existing .npy file', 'run', 'negative', f'{y}:arr_0', '--into',
                   f'{y}:arr_0')
        self.fails(2, 'the same file', *minmax, '-o', y, '-o', y)
        self.fails(3, 'cannot create', 'run', 'negative', self.here / 'a.npy', '-o',
                   self.here / 'no' / 'z.npz')
        self.fails(3, 'no.npz: no such file', 'run', 'negative', f'{self.here}/no.npz:a')
        for name in (f'{x}:', f'{y}:'):
            self.fails(2, f"'{name}': expected the name of an array after ':'", 'run', 'negative',
                       f'{x}:a', '-o', name)
        self.fails(2, "after ':'", 'run', 'negative', f'{x}:')
        np.savez(self.here / 'none.npz')
        self.fails(3, 'none.npz: has no arrays', 'run', 'negative', self.here / 'none.npz')
        self.fails(3, 'none.npz: has no arrays', 'run', 'negative', f'{self.here}/none.npz:a')
        self.fails(4, 'broadcast', 'run', 'add', f'{x}:a', self.save('c.npy', np.ones(5)), '-o', y)

    def archive(self, *members, compression=zipfile.ZIP_DEFLATED):
        path = self.here / 'hostile.npz'
        with zipfile.ZipFile(path, 'w', compression) as file:
            for name, data in members:
                file.writestr(name, data)
        return path

    def test_hostile_archives(self):
        data = npy(np.arange(4.0))
        for name in ('../a.npy', '/a.npy', 'x/../a.npy', 'a\\b.npy', 'x' * 2000 + '.npy'):
            self.fails(3, 'not a usable .npz file', 'run', 'negative',
                       self.archive(('b.npy', data), (name, data)))
        header = npy(np.zeros(0)).replace(b'(0,), }' + b' ' * 9, b'(99999999999,), }', 1)[:128]
        self.assertEqual(len(header), 128)
        self.fails(3, 'truncated', 'run', 'negative', self.archive(('a.npy', header)))
        self.fails(3, 'has no arrays', 'run', 'negative', self.archive(('a.txt', data)))
        path = self.archive(('a.npy', data), compression=zipfile.ZIP_BZIP2)
        self.fails(3, 'method 12, expected deflate', 'run', 'negative', path)
        whole = self.archive(('a.npy', data)).read_bytes()
        # The directory of the archive declares more data for the member than deflate can produce
        # from its compressed bytes.
        at = whole.rindex(b'PK\x01\x02')
        bomb = bytearray(whole)
        struct.pack_into('<I', bomb, at + 24, 0xFFFFFFF0)
        path.write_bytes(bomb)
        self.fails(3, 'which deflate cannot reach', 'run', 'negative', path)
        for length in range(0, len(whole) - 22, 5):
            path.write_bytes(whole[:length])
            self.fails(3, 'hostile.npz', 'run', 'negative', path)
        stored = self.archive(('a.npy', data), compression=zipfile.ZIP_STORED).read_bytes()
        path.write_bytes(stored.replace(data[-8:], b'\0' * 8))
        self.fails(3, 'its checksum or size differs', 'run', 'negative', path)

    def test_archives_with_any_byte_changed(self):
        path = self.archive(('a.npy', npy(np.arange(4.0))))
        whole = path.read_bytes()
        for at in range(0, len(whole), 7):
            for change in (1, 0x80, 0xFF):
                path.write_bytes(whole[:at] + bytes([whole[at] ^ change]) + whole[at + 1 :])
                code, _, err = self.run_tool('info', path)
                self.assertIn(code, (0, 3, 6), err)
                code, _, err = self.run_tool('run', 'negative', path)
                self.assertIn(code, (0, 3, 6), err)

    def test_names_of_a_module_come_first(self):
        module = ('--module', self.folders[0])
        code, out, err = self.run_tool('run', 'add', '1', '2', *module)
        self.assertEqual((code, out.strip()), (0, '1003.0'))
        note = "gufunc: note: 'add' is 'clash:add' of --module, not the library's 'add'\n"
        self.assertEqual(err, note)
        for command in (('explain', 'add', '1', '2'), ('reduce', 'add', 'f8:1', '--axis', '()'),
                        ('describe', 'add')):
            self.assertEqual(self.run_tool(*command, *module)[2], note)
        self.assertIn('clash:add', self.run_tool('describe', 'add', *module)[1])
        self.assertEqual(self.run_tool('run', 'clash:add', '1', '2', *module)[1:], ('1003.0\n', ''))
        self.assertEqual(self.run_tool('run', 'subtract', '1', '2', *module)[1:], ('-1\n', ''))
        other = self.here / 'other.so'
        shutil.copy(self.folders[0], other)
        self.assertEqual(self.run_tool('run', 'add', '1', '2', *module, '--module', other)[2], note)

    def test_the_first_of_two_modules_is_chosen(self):
        first = self.folders[0]
        second = first.with_name('second_clash.so')
        for modules, name, later in (((first, second), 'clash', 'second_clash'),
                                     ((second, first), 'second_clash', 'clash')):
            options = [word for module in modules for word in ('--module', module)]
            code, out, err = self.run_tool('run', 'add', '1', '2', *options)
            self.assertEqual((code, out), (0, '1003.0\n'))
            self.assertEqual(err, f"gufunc: note: 'add' is '{name}:add', not '{later}:add' of a "
                                  f"later --module\ngufunc: note: 'add' is '{name}:add' of "
                                  "--module, not the library's 'add'\n")
            self.assertIn(f'{name}:add', self.run_tool('describe', 'add', *options)[1])
        both = ('--module', first, '--module', second)
        self.assertEqual(self.run_tool('run', 'second_clash:add', '1', '2', *both)[2], '')

    def test_arguments(self):
        for arguments, expected in (
            (('run', 'add', '-2', '-3'), -5),
            (('run', 'add', '--', '-2', '-3'), -5),
            (('run', 'add', '-2', '--', '-3'), -5),
            (('run', '--', 'add', '-2', '-3'), -5),
            (('--', 'run', 'add', '-2', '-3'), -5),
            (('run', '--threads', '1', 'add', '--', '-2', '3'), 1),
            (('reduce', 'add', '--', '-2'), -2),
            (('outer', 'add', '--', '-2', '-3'), -5),
        ):
            code, out, err = self.run_tool(*arguments)
            self.assertEqual((code, out.strip()), (0, str(expected)), (arguments, err))
        self.fails(3, '[1,2]: no such file, and not a literal', 'run', 'add', '[1,2]', '3')
        self.fails(3, '[1,2]: no such file, and not a literal', 'run', 'negative', '[1,2]')
        self.fails(3, '--json: no such file', 'run', 'negative', '--', '--json')
        path = self.save('[1,2].npy', np.ones(2))
        self.assertEqual(self.ok('run', 'negative', path), '[-1. -1.]\n')
        done = subprocess.run([self.command, 'run', 'negative', '[1,2].npy'], cwd=self.here,
                              capture_output=True, text=True)
        self.assertEqual(done.stdout, '[-1. -1.]\n')

    def test_info(self):
        a = self.save('a.npy', np.zeros((2, 3)))
        f = self.save('f.npy', np.asfortranarray(np.zeros((2, 3), '>i4')))
        self.assertEqual(self.ok('info', a, f),
                         f'{a}: float64, shape (2, 3), C order, 6 elements, 48 bytes\n'
                         f'{f}: int32 (byte-swapped), shape (2, 3), F order, 6 elements, '
                         '24 bytes\n')
        row = json.loads(self.ok('info', a, '--json'))[0]
        self.assertEqual((row['dtype'], row['shape'], row['order'], row['size'], row['bytes']),
                         ('float64', [2, 3], 'C', 6, 48))
        np.savez_compressed(self.here / 'x.npz', a=np.ones(3), b=np.array(1, 'u1'))
        output = self.ok('info', self.here / 'x.npz')
        self.assertIn('  a: float64, shape (3,), C order, 3 elements, 24 bytes, compressed\n',
                      output)
        self.assertIn('  b: uint8, shape (), C order, 1 element, 1 byte, compressed\n', output)
        output = json.loads(self.ok('info', self.folders[0], '--json'))[0]
        self.assertEqual((output['kind'], output['name']), ('module', 'clash'))
        self.assertEqual(output['functions'][0]['name'], 'clash:add')
        self.assertIn('clash:add  2 in, 1 out  The sum and 1000', self.ok('info', self.folders[0]))
        text = self.here / 'text'
        text.write_text('no array at all')
        self.fails(3, 'the magic string is missing', 'info', text)
        self.fails(3, 'cannot read', 'info', self.here)
        self.assertIn('float64, shape (3,)', self.piped(npy(np.ones(3)), 'info', '-').decode())

    def test_paths_that_are_no_utf8(self):
        folder = os.fsencode(self.here) + b'/\xff\xfe'
        os.mkdir(folder)
        with open(folder + b'/libgufunc_backend_broken.so', 'wb') as file:
            file.write(b'no library')
        found = {**os.environ, 'GUFUNC_BACKEND_PATH_ADD': os.fsdecode(folder)}
        done = subprocess.run([self.command, 'devices', '--json'], capture_output=True, env=found)
        self.assertEqual(done.returncode, 0, done.stderr)
        paths = [row['path'] for row in json.loads(done.stdout)]
        self.assertIn(f'{self.here}/\ufffd\ufffd/libgufunc_backend_broken.so', paths)
        path = folder + b'/a.npy'
        with open(path, 'wb') as file:
            np.save(file, np.ones(2))
        done = subprocess.run([self.command, 'info', path, '--json'], capture_output=True)
        self.assertEqual(json.loads(done.stdout)[0]['size'], 2, done.stderr)

    def shows(self, line, *arguments):
        """Runs the command on a new terminal until the progress line appears."""
        master, terminal = pty.openpty()
        with subprocess.Popen([self.command, *arguments, '--module', self.folders[1]],
                              stdout=subprocess.PIPE, stderr=terminal) as process:
            seen = b''
            while line not in seen:
                seen += os.read(master, 1000)
            process.kill()
        os.close(terminal)
        os.close(master)

    def test_progress_of_few_heavy_elements(self):
        a = self.save('a.npy', np.full(2, 1e12))
        self.shows(b'busy: 2 elements, ', 'run', 'busy', a)
        for method in ('reduce', 'accumulate'):
            self.shows(b'busy_sum: 2 elements, ', method, 'busy_sum', a)
        self.shows(b'busy_sum: 2 elements, ', 'outer', 'busy_sum', '1', a)


if __name__ == '__main__':
    command_fixture.main()
