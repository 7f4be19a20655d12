#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that a runner of the corpus judged every case, and that each case passed. The runner
prints the number of cases and a digest of their ids for each group, which are compared with the
corpus.

    judged_cases.py CORPUS_FOLDER DEVICE MODULE.so... -- RUNNER...
    judged_cases.py --page PAGE [--write]

--page compares the numbers of cases in the page's table of results with the corpus. --write
corrects the table."""

import json
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
LANGUAGES, DEVICES = ('C', 'C++', 'Python', 'Rust', 'Go', 'Julia'), 3


def digest(ids):
    """Returns the FNV-1a digest of the ids, each followed by a newline."""
    found = 0xCBF29CE484222325
    for byte in ''.join(f'{one}\n' for one in ids).encode():
        found = (found ^ byte) * 0x100000001B3 % 2**64
    return f'{found:016x}'


def cases_of(folder):
    """Returns a dict from the groups to the ids of their cases."""
    found = {}
    for path in sorted(folder.glob('*.json')):
        found[path.stem] = [case['id'] for case in json.loads(path.read_text())['cases']]
    return found


def not_judged(folder, printed):
    """Returns the groups whose line in the output of the runner is missing or wrong."""
    lines, found = set(printed.splitlines()), []
    for group, ids in cases_of(folder).items():
        expected = f'{group}: {len(ids)} judged, fnv1a {digest(ids)}'
        if expected not in lines:
            report = [line for line in lines if line.startswith(f'{group}: ')]
            found.append(f'expected "{expected}", got "{report[0] if report else "nothing"}"')
    return found


def page_differs(page, write):
    """Returns the errors in the table of docs/bindings.md. If `write` is true, corrects the numbers
    of cases in the table."""
    text, count = page.read_text(), sum(map(len, cases_of(HERE).values()))
    lines = [f'| passed of {count} cases |']
    lines += [f'| {language} ' + f'| {count} ' * DEVICES + '|' for language in LANGUAGES]
    if write:
        for line in lines:
            text = re.sub(re.escape(line).replace(str(count), r'\d+'), line, text)
        page.write_text(text)
    return [f'{page.name}: expected "{line}"' for line in lines if line not in text]


def run(folder, rest, runner):
    done = subprocess.run([*runner, folder, *rest], capture_output=True, text=True)
    print(done.stdout[-4000:], done.stderr[-2000:], sep='\n', end='')
    if done.returncode == 77:
        sys.exit(77)
    count = sum(map(len, cases_of(pathlib.Path(folder)).values()))
    wrong = not_judged(pathlib.Path(folder), done.stdout)
    if f'{count} cases, {count} passed, 0 failed' not in done.stdout.splitlines():
        wrong.append(f'not all of {count} cases passed')
    return wrong + ([f'it ended with {done.returncode}'] if done.returncode else [])


def main():
    if sys.argv[1] == '--page':
        wrong = page_differs(pathlib.Path(sys.argv[2]), '--write' in sys.argv[3:])
    else:
        split = sys.argv.index('--')
        wrong = run(sys.argv[1], sys.argv[2:split], sys.argv[split + 1 :])
    print('\n'.join(wrong))
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
