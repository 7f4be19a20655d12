# SPDX-License-Identifier: Apache-2.0
"""The results of gpu-check: printed line by line, and written as JSON."""

import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time



class Report:
    def __init__(self, options, limit):
        self.options, self.limit = options, limit
        self.started, self.rows = time.monotonic(), []

    def left(self, kept=0):
        """Returns the remaining seconds, minus the reserved seconds."""
        return max(self.limit - kept - (time.monotonic() - self.started), 1)

    def row(self, part, name, state, detail='', **numbers):
        self.rows.append({'part': part, 'name': name, 'state': state, 'detail': detail, **numbers})
        self.write(complete=False)
        print(f'{part:<18} {name:<34} {state:<12} {detail}', flush=True)

    def failed(self):
        return any(row['state'] == 'FAILED' for row in self.rows)

    def count(self, state):
        return sum(row['state'] == state for row in self.rows)

    def seconds(self):
        return round(time.monotonic() - self.started)

    def write(self, complete):
        """Writes the table. The file is replaced atomically, so that a reader always finds a
        complete file."""
        if not self.options.json:
            return
        mode = 'slow' if self.options.slow else 'short' if self.options.short else 'whole'
        report = {'device': self.options.device, 'date': time.strftime('%Y-%m-%d'), 'mode': mode,
                  'seconds': self.seconds(), 'complete': complete, 'passed': not self.failed(),
                  'rows': self.rows}
        path = pathlib.Path(self.options.json)
        if path.exists() and not path.is_file():  # such as /dev/stdout
            if complete:
                path.write_text(json.dumps(report, indent=1) + '\n')
            return
        new = path.with_name(path.name + '.new')
        new.write_text(json.dumps(report, indent=1) + '\n')
        new.replace(path)

    def finish(self):
        seconds = self.seconds()
        self.write(complete=True)
        words = [f'{self.count(state)} {state}' for state in
                 ('FAILED', 'cut', 'skipped', 'met', 'not met', 'not measured')]
        print(f'{"FAILED" if self.failed() else "passed"} in {seconds} s: {", ".join(words)}')
        return 1 if self.failed() else 0


class Outcome:
    """The result of a command. `code` is None if the command exceeded its time limit."""

    def __init__(self, code, output, errors, seconds):
        self.code, self.output, self.errors, self.seconds = code, output, errors, seconds

    def last(self, requested=''):
        lines = [line.strip() for line in self.output.splitlines() if requested in line]
        return lines[-1][:200] if lines else ''

    def missing(self):
        """Returns why the program could not be started, or ''."""
        for line in self.errors.splitlines():
            if self.code == 127 and 'error while loading shared libraries' in line:
                return line.split('libraries: ')[-1]
        return ''


def run(command, seconds, environment):
    """Runs a command for at most `seconds`. The output is kept even if the command exceeds the time
    and is ended."""
    started = time.monotonic()
    with tempfile.TemporaryFile('w+') as out, tempfile.TemporaryFile('w+') as err:
        child = subprocess.Popen(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=out,
                                 stderr=err, env={**os.environ, **environment},
                                 start_new_session=True)
        try:
            code = child.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
            code = None
        for stream in (out, err):
            stream.seek(0)
        return Outcome(code, out.read(), err.read(), time.monotonic() - started)
