#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the corpus, or checks that its files are up to date. Requires the NumPy version of
build/venv.

    make_corpus.py [--check] [--group NAME]... [--runner RUN_CORPUS] [FOLDER]

--check writes nothing. The exit status is 1 if a file differs, is missing or is superfluous.
--runner adds the missing lines to answers.tsv; RUN_CORPUS is the program of run_corpus.c."""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import warnings

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import numpy as np  # noqa: E402

import corpus_draw  # noqa: E402
import corpus_functions  # noqa: E402
import corpus_hand  # noqa: E402
import corpus_refusals  # noqa: E402
import corpus_rows  # noqa: E402
from corpus_pool import Blob  # noqa: E402

FORMAT = 1


def groups():
    made = {name: corpus_draw.draw for name in corpus_draw.DRAWN}
    made |= {name: corpus_draw.listed(cases) for name, cases in corpus_rows.LISTED.items()}
    made |= {name: corpus_hand.by_hand(cases) for name, cases in corpus_functions.GROUPS.items()}
    made |= {name: corpus_hand.by_hand(cases) for name, cases in corpus_refusals.GROUPS.items()}
    return dict(sorted(made.items()))


def answers():
    """Returns the argument, axis and message of the C library for each rejected case, by id. The
    messages were reviewed, and the runner of every language must report the same message, argument
    and axis. Each message must begin with NumPy's message."""
    lines = (HERE / 'answers.tsv').read_text().splitlines()
    parts = [line.split('\t', 3) for line in lines]
    return {name: (int(argument), int(axis), text) for name, argument, axis, text in parts}


def answered(name, case, report):
    """Returns the case. A rejected case also gets the argument, axis and message of its error."""
    expect = case['expect']
    if not refused(case):
        return {'id': name, **case}
    argument, axis, text = report.get(name, (-1, -1, expect.get('message', '')))
    if not text.startswith(expect.get('message', '')):
        sys.exit(f'{name}: "{text}", of NumPy "{expect["message"]}"')
    expect = {**expect, 'message': text, 'argument': argument, 'axis': axis}
    return {'id': name, **case, 'expect': expect}


def files_of(group, make, log, runner=None):
    """Returns a dict from the names of the group's two files to their contents."""
    blob = Blob()
    cases, left_out = make(group, blob)
    cases = {f'{group}-{number:04}': case for number, case in enumerate(cases)}
    refusals = [name for name, case in cases.items() if refused(case)]

    def files_with(report):
        return encoded(group, [answered(name, case, report) for name, case in cases.items()], blob)

    report = answers()
    if runner and not report.keys() >= set(refusals):
        add_answers(runner, files_with(report), report)
        report = answers()
    for name in refusals:
        if name not in report:
            print(f'{name}: answers.tsv has no line for this refusal (option --runner)')
    files = files_with(report)
    size = ' + '.join(str(len(data)) for data in files.values())
    log(f'{group}: {len(cases)} cases, {len(refusals)} refusals, {size} bytes')
    for why, count in sorted(left_out.items(), key=lambda row: -row[1]):
        log(f'    left out {count:5} {why}')
    return len(cases), files


def refused(case):
    return case['expect']['status'] != 'GUF_OK'


def add_answers(runner, files, report):
    """Adds the answers of the C library to the refusals of a group that have none."""
    with tempfile.TemporaryDirectory() as folder:
        for name, data in files.items():
            pathlib.Path(folder, name).write_bytes(data)
        command = [runner, '--answers', folder, 'cpu']
        lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    new = [line for line in lines.splitlines() if line.split('\t')[0] not in report]
    table = HERE / 'answers.tsv'
    lines = sorted(table.read_text().splitlines() + new, key=lambda line: line.split('\t')[0])
    table.write_text('\n'.join(lines) + '\n')
    print(f'answers.tsv: {len(new)} new lines. Review them.')


def encoded(group, cases, blob):
    head = {'format': FORMAT, 'group': group, 'numpy': np.__version__, 'nbytes': blob.size}
    lines = [json.dumps(case, separators=(',', ':')) for case in cases]
    text = json.dumps(head, separators=(',', ':'))[:-1] + ',"cases":[\n'
    text += ',\n'.join(lines) + '\n]}\n'
    return {f'{group}.json': text.encode(), f'{group}.bin': blob.array().tobytes()}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument('--check', action='store_true')
    parser.add_argument('--group', action='append', choices=list(groups()))
    parser.add_argument('--runner', help='path of run_corpus, which completes answers.tsv')
    parser.add_argument('folder', nargs='?', type=pathlib.Path, default=HERE)
    options = parser.parse_args()
    np.seterr(all='ignore')
    warnings.simplefilter('ignore')
    count, expected = 0, {}
    for name, make in groups().items():
        if not options.group or name in options.group:
            log = (lambda _: None) if options.check else print
            cases, files = files_of(name, make, log, None if options.check else options.runner)
            count, expected = count + cases, expected | files
    if not options.check:
        for name, data in expected.items():
            (options.folder / name).write_bytes(data)
        print(f'{count} cases')
        return 0
    files = [*options.folder.glob('*.json'), *options.folder.glob('*.bin')]
    there = {path.name: path.read_bytes() for path in files}
    names = expected.keys() | there.keys()
    wrong = sorted(name for name in names if expected.get(name) != there.get(name))
    print(f'{count} cases in {len(expected)} files; differ: {", ".join(wrong) or "none"}')
    return 1 if wrong or not count else 0


if __name__ == '__main__':
    sys.exit(main())
