# SPDX-License-Identifier: Apache-2.0
"""Tests the state after a signal ends the gufunc command: no file remains, and stderr has a line if
the program itself caused the signal.

fatal_signals_test.py GUFUNC CRASH_MODULE [FAULT_SHIM]"""

import os
import pathlib
import resource
import signal
import subprocess
import time

import command_fixture
import numpy as np

# With these options a sanitizer does not handle the signals of crashes.
LEAVE = ':handle_sigbus=0:handle_segv=0:handle_sigfpe=0:handle_abort=0:handle_sigill=0'
FAULTS = {signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL}


class FatalSignals(command_fixture.CommandTest):
    @property
    def module(self):
        return '--module', self.folders[0]

    def environment(self, **more):
        options = os.environ.get('ASAN_OPTIONS', '') + LEAVE
        return {**os.environ, 'ASAN_OPTIONS': options, **more}

    def start(self, *arguments, limit=None, **more):
        def no_core():
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            if limit is not None:
                resource.setrlimit(resource.RLIMIT_STACK, (limit, limit))

        process = subprocess.Popen([self.command, *map(str, arguments)], stderr=subprocess.PIPE,
                                text=True, env=self.environment(**more), preexec_fn=no_core)
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process):
        process.kill()
        process.wait()
        process.stderr.close()

    def dies(self, number, text, process):
        """Expects that the signal ended the process, that stderr has one line that contains the
        text, and that files are unchanged."""
        with process:
            err = process.communicate(timeout=60)[1]
        self.assertEqual(process.returncode, -number, err)
        self.assertEqual(self.contents(), self.before)
        name = f'gufunc: {signal.Signals(number).name}: '
        self.assertEqual(err.count('\n'), 1 if text else 0, err)
        self.assertTrue(err.startswith(name if text else ''), err)
        self.assertIn(text, err)

    def crash(self, number, text, *arguments, **more):
        self.before = self.contents()
        self.dies(number, text, self.start(*arguments, *self.module, '-o', self.out, **more))

    def writing(self, *options, values=None, **more):
        """Returns a process that is in the middle of a call and has created its output file."""
        a = self.save('a.npy', np.full(4096, 1e12) if values is None else values)
        self.before = self.contents()
        process = self.start('run', 'busy', a, *self.module, '--threads', '1', *options, **more)
        folder, deadline = str(self.here), time.monotonic() + 60
        while time.monotonic() < deadline and process.poll() is None:
            maps = pathlib.Path(f'/proc/{process.pid}/maps').read_text()
            mapped = [line for line in maps.splitlines() if 'rw-s' in line and folder in line]
            if mapped:
                return process
            time.sleep(0.001)
        process.kill()
        self.fail(f'no result is being written: {process.communicate()}')

    def test_integer_division(self):
        zeros, ones = np.zeros(1 << 20, np.int64), np.ones(1 << 20, np.int64)
        a = self.save('a.npy', ones)
        text = 'a kernel divided an integer by zero, or the quotient overflowed'
        for threads in ('1', '2'):
            b = self.save('b.npy', zeros)
            self.crash(signal.SIGFPE, text, 'run', 'quotient', a, b, '--threads', threads)
        least = np.full(4, -(2**63))
        a, b = self.save('a.npy', least), self.save('b.npy', np.full(4, -1))
        self.crash(signal.SIGFPE, text, 'run', 'quotient', a, b)

    def test_integer_division_on_a_pool_thread(self):
        # A pool thread and the caller's thread each compute one part of the array. In one of the
        # two calls the zero divisor is in the part of the pool thread, which traps while the
        # caller's thread is still busy.
        for first in (0, -1):
            divisors = np.ones(1 << 20, np.int64)
            divisors[first] = 0
            a = self.save('a.npy', np.ones(1 << 20, np.int64))
            b = self.save('b.npy', divisors)
            self.crash(signal.SIGFPE, 'divided an integer by zero', 'run', 'quotient', a, b,
                       '--threads', '2')

    def test_threads_leave_faults_unblocked(self):
        a = self.save('a.npy', np.full(1 << 16, 1e12))
        self.before = self.contents()
        process = self.start('run', 'busy', a, *self.module, '-o', self.out, '--threads', '2')
        tasks, deadline = pathlib.Path(f'/proc/{process.pid}/task'), time.monotonic() + 60
        names = {}
        while 'gufunc-pool' not in names and time.monotonic() < deadline:
            names = {(t / 'comm').read_text().strip(): t for t in tasks.iterdir()}
        status = (names['gufunc-pool'] / 'status').read_text()
        mask = next(row for row in status.splitlines() if row.startswith('SigBlk'))
        blocked = int(mask.split()[1], 16)
        for number in FAULTS:
            self.assertEqual(blocked >> (number - 1) & 1, 0, number)
        self.assertEqual(blocked >> (signal.SIGTERM - 1) & 1, 1)
        process.terminate()
        self.dies(signal.SIGTERM, '', process)

    def test_stack_overflow(self):
        text = 'the stack overflowed'
        a = self.save('a.npy', np.ones(4))
        self.crash(signal.SIGSEGV, text, 'run', 'deep', a, limit=1 << 20)
        # A pool thread, whose stack is smaller than the caller's, computes one of the two parts of
        # the array. The test does not know which part.
        for part in (slice(0, 8), slice(-8, None)):
            values = np.zeros(1 << 20)
            values[part] = 1
            a = self.save('a.npy', values)
            self.crash(signal.SIGSEGV, text, 'run', 'deep', a, '--threads', '2', limit=1 << 20)

    def test_truncated_input(self):
        # The first element keeps the loop busy while the file is truncated behind that element.
        values, count = np.zeros(1 << 20), 1e8
        while True:
            values[0] = count
            process = self.writing('-o', self.out, values=values)
            process.send_signal(signal.SIGSTOP)
            os.truncate(self.here / 'a.npy', 4096)
            self.before = self.contents()
            process.send_signal(signal.SIGCONT)
            err = process.communicate(timeout=60)[1]
            if process.returncode != 0:
                break
            count *= 4  # the call ended before the file was truncated
            self.out.unlink()
        self.assertEqual(process.returncode, -signal.SIGBUS, err)
        text = 'became shorter while it was read'
        self.assertEqual(err, f'gufunc: SIGBUS: {self.here}/a.npy {text}\n')
        self.assertEqual(self.contents(), self.before)

    def test_signals_in_the_middle_of_writing(self):
        for number in (signal.SIGKILL, signal.SIGINT, signal.SIGTERM, signal.SIGHUP,
                       signal.SIGQUIT, signal.SIGXCPU):
            if signal.getsignal(number) == signal.SIG_IGN:  # inherited, and preserved by the tool
                continue
            process = self.writing('-o', self.out)
            process.send_signal(number)
            self.dies(number, '', process)
        for number in (signal.SIGBUS, signal.SIGSEGV, signal.SIGFPE, signal.SIGILL):
            process = self.writing('-o', self.out)
            process.send_signal(number)
            self.dies(number, 'sent by a program', process)
        process = self.writing('-o', self.out)
        process.send_signal(signal.SIGABRT)
        self.dies(signal.SIGABRT, 'the program aborted itself', process)

    def test_killed_while_a_file_is_rewritten(self):
        process = self.writing('--inplace')
        process.kill()
        self.dies(signal.SIGKILL, '', process)
        self.save('o.npy', np.zeros(3))
        process = self.writing('-o', self.out)
        process.kill()
        self.dies(signal.SIGKILL, '', process)

    def test_file_systems_without_unnamed_files(self):
        if len(self.folders) < 2:
            self.skipTest('no fault shim here')
        shim = {'LD_PRELOAD': str(self.folders[1]), 'GUFUNC_FAULTS': 'tmpfile:1+'}
        for number in (signal.SIGTERM, signal.SIGINT):
            process = self.writing('-o', self.out, **shim)
            self.assertEqual(len(self.contents()), 2)  # the output has a name here
            process.send_signal(number)
            self.dies(number, '', process)
        a = self.save('a.npy', np.ones(4096))
        with self.start('run', 'negative', a, '-o', self.out, **shim) as process:
            process.wait()
        np.testing.assert_array_equal(np.load(self.out), -np.ones(4096))
        self.assertEqual(sorted(self.contents()), ['a.npy', 'o.npy'])


if __name__ == '__main__':
    command_fixture.main()
