# SPDX-License-Identifier: Apache-2.0
"""Runs the gufunc command and gufcc on untrusted files, within 256 MiB of address space and one
second of processor time. Each run must print one message and exit with a status before a limit
kills it.

untrusted_files_test.py GUFUNC GUFCC INCLUDE_FOLDER"""

import os
import pathlib
import resource
import struct
import subprocess
import zipfile
import zlib

import command_fixture

MIB = 1 << 20
ADDRESS_SPACE = 256 * MIB
COMPILER_SPACE = 2048 * MIB  # clang needs more memory than the limit for the tools
EDGE = 2  # seconds after which the system kills the process; the test itself permits 1 second


def npy(descr="'<f8'", shape='(8,)', data=bytes(64), text=None):
    if text is None:
        text = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}"
    return b'\x93NUMPY\2\0' + struct.pack('<I', len(text) + 1) + text.encode() + b'\n' + data


SMALL = npy(shape='()', data=bytes(8))
HOSTILE_ARRAYS = {
    'nothing': b'',
    'random bytes': os.urandom(100_000),
    'magic alone': b'\x93NUMPY',
    'a header of 4 GiB': b'\x93NUMPY\2\0\xff\xff\xff\xff' + b'{' * 1000,
    'a header of 1 MiB, absent': b'\x93NUMPY\2\0' + struct.pack('<I', MIB),
    'a header of blanks': npy(text=' ' * (MIB - 1)),
    '2^60 bytes': npy(shape=f'({1 << 57},)'),
    '2^63 bytes': npy(shape=f'({1 << 60},)'),
    '2^60 bytes, of many axes': npy(shape=f'({"2, " * 57})'),
    '1 GiB': npy(shape=f'({1 << 27},)'),
    '200 MiB': npy(shape=f'({25 * MIB},)'),
    'an endless extent': npy(shape=f'({"9" * 1_000_000},)'),
    'a negative extent': npy(shape='(-8,)'),
    'many axes': npy(shape=f'({"1, " * 300_000})'),
    'deep brackets': npy(descr='[' * 500_000 + ']' * 500_000),
    'deep parentheses': npy(shape='(' * 500_000 + ')' * 500_000),
    'deep braces': npy(text='{' * 1_000_000),
    'many keys': npy(text="{'descr': '<f8', " * 50_000 + '}'),
    'a long key': npy(text="{'" + 'k' * 1_000_000 + "': 1}"),
    'a long descr': npy(descr="'" + '<f' * 500_000 + "'"),
    'a long unit': npy(descr="'<M8[" + '9' * 1_000_000 + "s]'"),
    'many fields': npy(descr="[" + "('a', '<f8'), " * 50_000 + "]"),
    'a cut header': npy()[:40],
}


def member(name, data, claim=None, shared_by=None):
    """Returns a deflated member and its directory entry. `shared_by` is the number of additional
    names of the member."""
    packed = zlib.compress(data, 9, wbits=-15)
    common = struct.pack('<HHHHIII', 0, 8, 0, 33, zlib.crc32(data), len(packed),
                         len(data) if claim is None else claim)
    local = struct.pack('<IH', 0x04034B50, 20) + common
    local += struct.pack('<HH', len(name), 0) + name + packed
    rows = [struct.pack('<IHH', 0x02014B50, 20, 20) + common
            + struct.pack('<HHHHHII', len(called), 0, 0, 0, 0, 0, 0) + called
            for called in shared_by or [name]]
    return local, b''.join(rows), len(rows)


def archive(local, rows, count):
    end = struct.pack('<IHHHHIIH', 0x06054B50, 0, 0, count, count, len(rows), len(local), 0)
    return local + rows + end


class UntrustedFiles(command_fixture.CommandTest):
    def limited(self, command, space=ADDRESS_SPACE, **more):
        """Returns status, output and messages. The process must have ended before the time limit
        and without a signal."""
        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (space, space))
            resource.setrlimit(resource.RLIMIT_CPU, (EDGE, EDGE))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([str(word) for word in command], capture_output=True,
                              preexec_fn=limit, timeout=60, **more)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        self.assertGreaterEqual(done.returncode, 0, (command, seconds, done.stderr[:500]))
        return done.returncode, done.stdout, done.stderr.decode(), seconds

    def refused(self, *arguments, codes=(3,), **more):
        code, out, err, seconds = self.limited([self.command, *arguments], **more)
        self.assertIn(code, codes, (arguments, err[:500]))
        self.assertEqual((out, err.count('\n'), err[:8]), (b'', 1, 'gufunc: '), err[:500])
        self.assertLess(len(err), 1000)
        self.assertLess(seconds, 1, arguments)

    def write(self, name, data, size=None):
        path = self.here / name
        with open(path, 'wb') as file:
            file.write(data)
            if size is not None:
                file.truncate(size)
        return path

    def test_arrays(self):
        for name, data in HOSTILE_ARRAYS.items():
            with self.subTest(name):
                path = self.write('x.npy', data)
                self.refused('info', path)
                self.refused('run', 'negative', path, '-o', self.out)
                self.refused('reduce', 'add', path)
                for command in (('info', '-'), ('run', 'negative', '-', '-o', '-')):
                    # The command allocates memory for the declared size before it reads the data,
                    # because the size of a stream is known only at its end. The allocation can
                    # fail, so two statuses are accepted.
                    self.refused(*command, codes=(3, 6), input=data)
                self.assertFalse(self.out.exists())

    def test_large_arrays(self):
        path = self.write('zeros.npy', b'', 1 << 40)
        self.refused('info', path)
        self.refused('run', 'negative', path)
        with open(path, 'rb') as file:
            self.refused('run', 'negative', '-', stdin=file)
        with open('/dev/zero', 'rb') as zeros:
            self.refused('info', '-', stdin=zeros)
        self.refused('info', '/dev/zero')
        self.refused('info', '/proc/self/mem')

    def test_valid_arrays_that_do_not_fit(self):
        for count in (64 * MIB, 1 << 37):
            header = npy(shape=f'({count},)', data=b'')
            path = self.write('x.npy', header, len(header) + 8 * count)
            code, out, err, _ = self.limited([self.command, 'info', path])
            self.assertEqual((code, err), (0, ''))
            for command in (('run', 'negative', path, '-o', self.out), ('reduce', 'add', path),
                            ('run', 'add', '1', '2', '--into', path)):
                self.refused(*command, codes=(6,))
            with open(path, 'rb') as file:
                self.refused('run', 'negative', '-', codes=(6,), stdin=file)

    def test_archives(self):
        big = npy(shape=f'({300 * MIB // 8},)', data=bytes(300 * MIB))
        blanks = npy(text="{'descr': '<f8', 'fortran_order': False, 'shape': (), }"
                     + ' ' * (MIB - 100), data=bytes(8))
        names = [b'%05d.npy' % i for i in range(65535)]
        hostile = {
            'a name of 60,000': archive(*member(b'x' * 60_000 + b'.npy', SMALL)),
            'names that leave': archive(*member(b'../' * 300 + b'a.npy', SMALL)),
            'less than it claims': archive(*member(b'a.npy', SMALL, claim=len(SMALL) + 8)),
            'more than it claims': archive(*member(b'a.npy', big, claim=len(SMALL))),
            '4 GiB claimed': archive(*member(b'a.npy', SMALL, claim=0xFFFFFFFE)),
            'blanks for a header': archive(*member(b'a.npy', npy(text=' ' * (1 << 24)))),
            'a directory alone': archive(b'', member(b'a.npy', SMALL)[1], 1),
            'more members than there are': archive(*member(b'a.npy', SMALL)[:2], 65535),
            'a file in itself': archive(*member(b'a.npy', archive(*member(b'a.npy', SMALL)))),
            'a header that claims 2^60': archive(*member(b'a.npy', npy(shape=f'({1 << 57},)'))),
        }
        for name, data in hostile.items():
            with self.subTest(name):
                path = self.write('x.npz', data)
                self.refused('run', 'negative', path, '-o', self.out)
                self.refused('run', 'negative', f'{path}:nothing')
                code, _, err, seconds = self.limited([self.command, 'info', path])
                self.assertIn(code, (0, 3), err)  # info reads no elements
                self.assertLess(seconds, 1)
        path = self.write('x.npz', archive(*member(b'a.npy', big)))
        self.refused('run', 'negative', path, codes=(6,))  # the declared size is correct
        path = self.write('x.npz', archive(*member(names[0], blanks, shared_by=names)))
        self.refused('info', path)
        self.refused('run', 'negative', path)
        path = self.write('x.npz', archive(*member(names[0], SMALL, shared_by=names[:1] * 2)))
        self.refused('info', path)
        for start in (b'', b'PK', b'PK\3\4'):
            self.refused('run', 'negative', self.write('hole.npz', start, 1 << 40))

    def test_archives_of_many_members(self):
        path = self.here / 'x.npz'
        with zipfile.ZipFile(path, 'w') as file:
            for i in range(65535):
                file.writestr(f'{"d/" * (i % 5)}{i}.npy', SMALL)
        code, out, err, _ = self.limited([self.command, 'info', path])
        self.assertEqual((code, out.count(b'\n'), err), (0, 65536, ''))
        code, out, err, _ = self.limited([self.command, 'run', 'negative', f'{path}:d/d/d/d/65534'])
        self.assertEqual((code, out, err), (0, b'-0.0\n', ''))
        self.refused('run', 'negative', path)

    def test_modules(self):
        tool = pathlib.Path(self.command).read_bytes()
        for path in (self.write('a.so', b'\x7fELF', 1 << 40), self.write('b.so', b'\x7fELF'),
                     self.write('c.so', tool), self.write('d.so', tool, 900 * MIB),
                     self.write('e.so', tool[:200], 128 * MIB)):
            self.refused('info', path)
            self.refused('run', 'negative', '1', '--module', path)

    def compiler_refuses(self, source, space, lines=1):
        for options in (('-o', self.here / 'x.so', '--targets', 'host'), ('--list',)):
            code, out, err, seconds = self.limited(
                [self.folders[0], '-I', self.folders[1], source, *options], space,
                env={**os.environ, 'GUFUNC_CACHE_DIR': str(self.here / 'cache')})
            self.assertEqual((code, out), (1, b''), err[:500])
            self.assertIn('error: ', err)
            self.assertLessEqual(err.count('\n'), lines, err[:500])
            self.assertLess(seconds, 1, source)
            self.assertFalse((self.here / 'x.so').exists())

    def test_sources(self):
        for name, data, size in (('huge', b'', 1 << 40), ('large', b'//', 17 * MIB),
                                 ('zeros', b'', MIB), ('binary', b'\x7fELF\0' * 1000, None)):
            self.compiler_refuses(self.write(f'{name}.guf.cpp', data, size), ADDRESS_SPACE)
        self.compiler_refuses(self.here, ADDRESS_SPACE)
        include = b'#include <gufunc/kernel.hpp>\n'
        for name, data in (
            ('empty', b''),
            ('comment', b'/*' * 5_000_000),
            ('quote', b'"\\' * 5_000_000),
            ('braces', include + b'{' * 1_000_000),
            ('registrations', b'GUF_UFUNC(' * 100_000),
            ('signature', include + b'GUF_GUFUNC(a, "' + b'(n),' * 1_000_000 + b'->()", "f->f")'),
            ('letters', include + b'GUF_UFUNC(a, "' + b'f' * 1_000_000 + b'->f");'),
        ):
            with self.subTest(name):
                source = self.write(f'{name}.guf.cpp', data)
                self.compiler_refuses(source, COMPILER_SPACE, lines=101)


if __name__ == '__main__':
    command_fixture.main()
