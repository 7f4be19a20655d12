# SPDX-License-Identifier: Apache-2.0
"""Runs gufcc completely while calls of the C library fail. The faults do not affect the compilers
that gufcc runs.

gufcc_faults_test.py GUFCC FAULT_SHIM PLACES SECONDS: makes about PLACES calls of each kind fail, or
one call if PLACES is 0, one per run, and stops after SECONDS."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import fault_runs

SOURCE = '''#include <gufunc/kernel.hpp>
GUF_DEVICE double twice(double x) { return x + x; }
GUF_UFUNC(twice, "d->d");
'''
WRONG = '''#include <gufunc/kernel.hpp>
GUF_DEVICE double twice(double x) { return x + y; }
GUF_UFUNC(twice, "d->d");
'''
WARM = ''  # folder of a cache that contains the objects of SOURCE


def module(*options):
    return ['k.guf.cpp', '-o', 'k.so', '--targets', 'x86-64-v2', '-j', '2', *options]


def from_cache(folder):
    (folder / 'k.guf.cpp').write_text(SOURCE)
    shutil.copytree(WARM, folder / 'cache')
    return module('--cache-dir', 'cache')


def into_cache(folder):
    (folder / 'k.guf.cpp').write_text(SOURCE)
    return module('--cache-dir', 'cache')


def uncached(folder):
    (folder / 'k.guf.cpp').write_text(SOURCE)
    (folder / 'k.so').write_text('the module of an earlier build')
    return module('--no-cache')


def refused(folder):
    (folder / 'k.guf.cpp').write_text(WRONG)
    return module('--cache-dir', 'cache')


def listed(folder):
    (folder / 'k.guf.cpp').write_text(SOURCE)
    return ['k.guf.cpp', '--list', '--no-cache']


def explained(_):
    return ['--help']


class GufccFaults(unittest.TestCase):
    places = seconds = 0

    def scenario(self, make):
        return fault_runs.Scenario(make.__name__, self.gufcc, make, self.shim,
                                   status=int(make is refused), cache='cache')

    def test_every_scenario(self):
        until = time.monotonic() + self.seconds
        findings, runs = [], 0
        for make in self.scenarios:
            sweep = fault_runs.Sweep(self.scenario(make))
            sweep.sweep(self.places, until)
            findings += sweep.findings
            runs += sweep.runs
        print(f'{runs} runs')
        self.assertEqual(findings, [], "\n".join(findings))

    def test_the_shim_is_seen(self):
        sweep = fault_runs.Sweep(self.scenario(from_cache))
        for kind in ('malloc', 'open', 'read', 'write', 'rename', 'pthread_create', 'spawn'):
            self.assertGreater(sweep.counts[kind], 0, kind)
        status, _, err, files, _ = sweep.scenario.run('spawn:1')
        self.assertEqual((status, err), (1, b"gufcc: error: cannot run clang++-19: Resource "
                                            b"temporarily unavailable\n"))
        self.assertNotIn('k.so', files)
        # Seeded faults: the check must report a leftover file and a different object.
        for name in ('temporary/gufcc-x', 'cache/x.o'):
            self.assertFalse(sweep.scenario.same_files(sweep.files | {name: b''}, sweep.files))
        self.assertTrue(sweep.scenario.same_files(
            {'k.guf.cpp': sweep.files['k.guf.cpp']}, {'k.guf.cpp': sweep.files['k.guf.cpp'],
                                                      'cache/x.o': b''}))


def warm_cache(gufcc, folder):
    (folder / 'k.guf.cpp').write_text(SOURCE)
    subprocess.run([gufcc, *module('--cache-dir', 'cache')], cwd=folder, check=True)
    return folder / 'cache'


if __name__ == '__main__':
    GufccFaults.gufcc, GufccFaults.shim = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    GufccFaults.places, GufccFaults.seconds = int(sys.argv[3]), float(sys.argv[4])
    GufccFaults.scenarios = (explained, from_cache)
    if GufccFaults.places > 0:
        GufccFaults.scenarios += (listed, into_cache, uncached, refused)
    del sys.argv[1:5]
    with tempfile.TemporaryDirectory() as name:
        WARM = warm_cache(GufccFaults.gufcc, pathlib.Path(name))
        unittest.main()
