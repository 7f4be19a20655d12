# SPDX-License-Identifier: Apache-2.0
"""Runs a program in which calls of the C library fail (fault_shim.cc)."""

import os
import pathlib
import re
import subprocess
import tempfile
import time

KINDS = ('malloc', 'mmap', 'open', 'tmpfile', 'read', 'write', 'link', 'rename', 'pthread_create',
         'dlopen', 'spawn')
HANG = 60  # seconds until a run counts as hung


def contents(folder):
    """Returns the content of every file below the folder, indexed by path."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob('*')
            if path.is_file()}


def addresses_of(program, function):
    """Returns the first and last address of a function, for GUFUNC_FAULT_EXEMPT."""
    symbols = subprocess.run(['nm', '-S', program], check=True, capture_output=True, text=True)
    (found,) = re.findall(rf'^(\w+) (\w+) \w {function}$', symbols.stdout, re.MULTILINE)
    first, size = (int(number, 16) for number in found)
    return f'{first:x}-{first + size - 1:x}'


class Scenario:
    """A scenario is one command line. `make(folder)` writes the input files and returns the
    arguments. `status` is the expected exit status. Files below `cache` may be missing, because the
    program works without them. Calls of malloc by the function `exempt` do not fail."""

    def __init__(self, name, program, make, shim, status=0, cache=None, exempt=None):
        self.name, self.program, self.make, self.shim = name, program, make, shim
        self.status, self.cache = status, cache
        self.exempt = addresses_of(program, exempt) if exempt else ''

    def same_files(self, files, expected):
        def kept(several):
            return {name: data for name, data in several.items()
                    if self.cache is None or not name.startswith(f'{self.cache}/')}
        return (kept(files) == kept(expected)
                and all(expected.get(name) == data for name, data in files.items()))

    def run(self, faults='', counts=False):
        """Runs the program in a new folder and returns (status, stdout, stderr, files, counts)."""
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name) / 'work'
            folder.mkdir()
            arguments = self.make(folder)
            temporary = pathlib.Path(name) / 'temporary'
            temporary.mkdir()
            environment = {**os.environ, 'LD_PRELOAD': str(self.shim), 'GUFUNC_FAULTS': faults,
                           'GUFUNC_FAULT_EXEMPT': self.exempt, 'TMPDIR': str(temporary),
                           'GUFUNC_FAULT_PROGRAM': os.path.basename(self.program)}
            if counts:
                environment['GUFUNC_FAULT_COUNTS'] = f'{name}/counts'
            self.before = contents(folder)
            done = subprocess.run([self.program, *arguments], cwd=folder, env=environment,
                                  stdin=subprocess.DEVNULL, capture_output=True, timeout=HANG)
            # The result includes temporary files and folders that the program did not delete.
            files = contents(folder) | {f'temporary/{path.name}': b'' for path in
                                        temporary.iterdir()}
            numbers = {}
            if counts:
                rows = pathlib.Path(f'{name}/counts').read_text().split('\n')
                numbers = {kind: int(number) for kind, number in (row.split() for row in rows[:-1])}
            return done.returncode, done.stdout, done.stderr, files, numbers


class Sweep:
    """Runs a scenario repeatedly. In each run, one call of one kind fails, or this call and all
    later calls of the kind. Each call of the scenario, or each call in a sample, is the first to
    fail in some run. A run must either produce the correct result, or print a message, return an
    error status and leave every file unchanged or complete."""

    def __init__(self, scenario):
        self.scenario = scenario
        status, self.out, err, self.files, self.counts = scenario.run(counts=True)
        if status != scenario.status:
            raise AssertionError(f'{scenario.name}: status {status}: {err}')
        self.err = err
        self.findings, self.runs = [], 0

    def check(self, faults):
        self.runs += 1
        try:
            status, out, err, files, _ = self.scenario.run(faults)
        except subprocess.TimeoutExpired:
            self.findings.append(f'{self.scenario.name}: {faults}: hangs')
            return
        if status == 0 or (status, out, err) == (self.scenario.status, self.out, self.err):
            right = (status, out) == (self.scenario.status, self.out)
            wrong = not (right and self.scenario.same_files(files, self.files)) and \
                f'wrong result with status {status}'
        elif status < 0 or status > 127:
            wrong = f'ends with status {status}: {err[-200:]}'
        elif not err.strip():
            wrong = f'status {status} and no message'
        else:
            # Each file must be unchanged or have its expected final content.
            odd = [name for name, data in files.items()
                   if data not in (self.files.get(name), self.scenario.before.get(name))]
            lost = self.scenario.before.keys() - files.keys()
            wrong = (odd or lost) and f'leaves {odd}, lacks {lost}'
        if wrong:
            self.findings.append(f'{self.scenario.name}: {faults}: {wrong}')

    def sample(self, places):
        """Selects about `places` positions of each kind, including the first and the last. If
        `places` is 0, selects the position after about two thirds of the calls."""
        for kind in KINDS:
            count = self.counts[kind]
            if places == 0:
                yield from [(kind, (count + 1) * 2 // 3)] * (count > 0)
                continue
            step = max(1, count // places)
            for place in sorted({*range(1, count + 1, step), count} - {0}):
                yield kind, place

    def sweep(self, places, until=None):
        for kind, place in self.sample(places):
            for later in ('', '+') if places > 0 else ('',):
                if until is not None and time.monotonic() > until:
                    return
                self.check(f'{kind}:{place}{later}')
