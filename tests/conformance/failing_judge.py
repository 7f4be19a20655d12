# SPDX-License-Identifier: Apache-2.0
"""Checks that a failing loop ends its call with GUF_E_LOOP and the loop's message, that everything
except the output is unchanged, and that the same call succeeds immediately afterwards."""

import build
import caller
import judge
import method_judge
import tally

GUF_E_LOOP = 1201
TEXTS = {
    'throws': 'the loop threw an exception: the chosen element',
    'throws an int': 'the loop threw an exception',
}


def expected_text(fails):
    if fails['how'] != 'returns':
        return TEXTS[fails['how']]
    report = fails['kind'] == 'error'
    return 'the chosen element failed' if report else f'a loop failed with status {GUF_E_LOOP}'


def difference(case, library):
    """Returns None, or one sentence that describes the library's error."""
    judges = method_judge if 'method' in case else judge
    theirs = judges.run_numpy(case)
    own = {**case, 'op': library.failing_name(case['fails']['kind'])}
    library.choose_failure(case['fails'])
    try:
        first = judges.run_library(own, library)
    finally:
        failed = library.end_failure()
    text = failure_difference(case, first) if failed else None
    if text or not failed and first.error and not theirs.error:
        return text or f'fails without a failing loop: {first.error.status} "{first.text}"'
    again = judges.run_library(own, library)
    text = success_difference(case, theirs, again, judges, library)
    if text and failed:
        return f'after a loop that failed: {text}'
    tally.TALLY['with a loop that failed'] += failed
    return text


def failure_difference(case, ours):
    if not ours.error:
        return 'a loop failed, and the call succeeds'
    expected = expected_text(case['fails'])
    if (ours.error.status, ours.text) != (GUF_E_LOOP, expected):
        return f'a loop failed: {ours.error.status} "{ours.text}", expected "{expected}"'
    if not case['output']:
        same = build.Memory(case).bytes() == ours.memory.bytes()
        return None if same else 'a loop failed: memory of the inputs changed'
    ours.output = ours.memory.view(case['output'])
    text = judge.untouched_difference(case, ours, ours)
    return text and f'a loop failed: {text}'


def success_difference(case, theirs, ours, judges, library):
    """Compares the outcome of a case in which no loop failed. Replaces the name of the function
    with the failing loop by NumPy's name, which the judge expects in messages."""
    ours.text = ours.text.replace(caller.failing_name(case['fails']['kind']), 'add')
    if theirs.error or ours.error:
        return judges.error_difference(case, theirs, ours)
    if theirs.letter != ours.letter:
        return f'dtype: NumPy {theirs.letter}, ours {ours.letter}'
    if theirs.output.shape != ours.output.shape:
        return f'shape: NumPy {theirs.output.shape}, ours {ours.output.shape}'
    if case.get('method') == 'outer':
        case, judges = method_judge.flat(case), judge
    untouched = judge.untouched_difference(case, theirs, ours)
    if untouched or judges is judge:
        return untouched or judge.value_difference(case, theirs, ours)
    return method_judge.value_difference(case, theirs, ours, library)
