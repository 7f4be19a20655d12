# SPDX-License-Identifier: Apache-2.0
"""Runs the gufunc command completely while calls of the C library fail.

command_faults_test.py GUFUNC FAULT_SHIM MODULE PLACES SECONDS: makes about PLACES calls of each
kind fail, one per run, and stops after SECONDS."""

import os
import sys
import time
import unittest

import fault_runs
import numpy as np

MODULE = ''
# This function of minizip writes to the memory that it requests without checking that it got any.
UNCHECKED = 'zipOpenNewFileInZip4_64'


def run(folder):
    np.save(folder / 'a.npy', np.arange(6.0).reshape(2, 3))
    return ['run', 'add', 'a.npy', '1', '-o', 'o.npy', '--threads', '1']


def printed(folder):
    np.save(folder / 'a.npy', np.arange(6.0))
    return ['reduce', 'add', 'a.npy', '--threads', '1']


def replaced(folder):
    np.save(folder / 'a.npy', np.arange(6.0))
    (folder / 'old').mkdir()
    np.save(folder / 'old' / 'o.npy', np.zeros(3))
    return ['run', 'negative', 'a.npy', '-o', 'old/o.npy']


def module(folder):
    np.save(folder / 'a.npy', np.arange(6.0))
    return ['run', 'clash:add', 'a.npy', '1', '--module', MODULE, '-o', 'o.npy']


def archive(folder):
    np.savez_compressed(folder / 'x.npz', a=np.arange(6.0))
    return ['run', 'negative', 'x.npz:a', '-o', 'o.npz', '--threads', '1']


def info(folder):
    np.savez(folder / 'x.npz', a=np.arange(6.0))
    return ['info', 'x.npz']


def listed(_):
    return ['list']


class CommandFaults(unittest.TestCase):
    places = seconds = 0

    def scenario(self, make):
        return fault_runs.Scenario(make.__name__, self.command, make, self.shim, exempt=UNCHECKED)

    def test_every_scenario(self):
        until = time.monotonic() + self.seconds
        findings, runs = [], 0
        for make in (run, printed, replaced, module, archive, info, listed):
            sweep = fault_runs.Sweep(self.scenario(make))
            sweep.sweep(self.places, until)
            findings += sweep.findings
            runs += sweep.runs
        print(f'{runs} runs')
        self.assertEqual(findings, [])

    def test_a_lack_of_memory_or_descriptors_is_no_fault_of_a_file(self):
        for make in (run, printed, replaced, module, archive, info):
            scenario = self.scenario(make)
            counts = scenario.run(counts=True)[4]
            for kind in ('mmap', 'open'):
                for place in range(1, counts[kind] + 1):
                    status, _, err, _, _ = scenario.run(f'{kind}:{place}')
                    self.assertIn(status, (0, 6), (make.__name__, kind, place, err))
            last = counts['malloc']
            for place in [*range(1, last, last // 10), *range(last - 20, last + 1)]:
                status, _, err, _, _ = scenario.run(f'malloc:{place}+')
                self.assertIn(status, (0, 6), (make.__name__, place, err))

    def test_the_shim_is_seen(self):
        sweep = fault_runs.Sweep(self.scenario(run))
        for kind in ('malloc', 'mmap', 'open', 'tmpfile', 'link'):
            self.assertGreater(sweep.counts[kind], 0, kind)
        status, _, err, files, _ = sweep.scenario.run('malloc:20+')
        self.assertNotEqual(status, 0, err)
        self.assertEqual(sorted(files), ['a.npy'])
        # Seeded fault: the check must report a different result.
        sweep.files = {}
        sweep.check('')
        self.assertEqual(sweep.findings, ['run: : wrong result with status 0'])


if __name__ == '__main__':
    CommandFaults.command = os.path.abspath(sys.argv[1])
    CommandFaults.shim, MODULE = os.path.abspath(sys.argv[2]), os.path.abspath(sys.argv[3])
    CommandFaults.places, CommandFaults.seconds = int(sys.argv[4]), float(sys.argv[5])
    del sys.argv[1:6]
    unittest.main()
