# SPDX-License-Identifier: Apache-2.0
"""What gpu-check found: printed line by line, written as JSON."""

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
        """Seconds that remain, but for those that are kept."""
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
        """The table as it is now, in place of the one before: a reader finds a whole file."""
        if not self.options.json:
            return
        mode = 'slow' if self.options.slow else 'short' if self.options.short else 'whole'
        report = {'device': self.options.device, 'date': time.strftime('%Y-%m-%d'), 'mode': mode,
                  'seconds': self.seconds(), 'complete': complete, 'passed': not self.failed(),
                  'rows': self.rows}
        path = pathlib.Path(self.options.json)
        if path.exists() and not path.is_file():  # /dev/stdout
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
    """What a command did: `code` is None where its time was over."""

    def __init__(self, code, output, errors, seconds):
        self.code, self.output, self.errors, self.seconds = code, output, errors, seconds

    def last(self, wanted=''):
        lines = [line.strip() for line in self.output.splitlines() if wanted in line]
        return lines[-1][:200] if lines else ''

    def missing(self):
        """Why the program could not even start, or ''."""
        for line in self.errors.splitlines():
            if self.code == 127 and 'error while loading shared libraries' in line:
                return line.split('libraries: ')[-1]
        return ''


def run(command, seconds, environment):
    """Runs a command for so long at most; what it printed until then is kept."""
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
