#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that a runner of the corpus detects faults. The runner must report every case with a
seeded fault as failed, and must pass the same case without the fault. Some cases of each group are
tested.

    seeded_cases.py MODULE.so... -- RUNNER..."""

import copy
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

from judged_cases import not_judged

HERE = pathlib.Path(__file__).parent


def first_result(case):
    return case['expect'].get('results', [{}])[0]


def bytes_of(case, blob):
    spec = first_result(case)
    return blob[spec['at'] : spec['at'] + spec['nbytes']]


def move(case, blob, data):
    """Appends `data` to the blob as the expected bytes of the first result."""
    first_result(case)['at'] = len(blob)
    blob.extend(data)
    blob.extend(bytes(-len(data) % 16))


def flip(case, blob):
    data = bytearray(bytes_of(case, blob))
    data[0] ^= 1
    move(case, blob, data)


def step_too_far(case, blob):
    """Changes the first result by slightly more than its tolerance. A NaN becomes 0."""
    spec = first_result(case)
    kind, bits = ('<f4', '<i4') if spec['dtype'] == 'float32' else ('<f8', '<i8')
    values = np.frombuffer(bytes(bytes_of(case, blob)), kind)
    steps = values.view(bits) + (2 * spec['ulp'] + 2)
    steps[np.isnan(values)] = 0
    move(case, blob, steps.astype(bits).tobytes())


def complex_too_far(case, blob):
    spec = first_result(case)
    kind = '<c8' if spec['dtype'] == 'complex64' else '<c16'
    values = np.frombuffer(bytes(bytes_of(case, blob)), kind)
    eps = np.finfo(kind).eps
    move(case, blob, (values * (1 + 8 * spec['ulp'] * eps)).astype(kind).tobytes())


def change(key, value):
    def seed(case, blob):
        first_result(case)[key] = value

    return seed


def longer(case, blob):
    first_result(case)['shape'].append(1)


def stride(case, blob):
    first_result(case)['strides'][0] += 8


def status(case, blob):
    found = case['expect']['status']
    case['expect']['status'] = 'GUF_E_ARG' if found == 'GUF_E_AXIS' else 'GUF_E_AXIS'


def succeeds(case, blob):
    case['expect'] = {'status': 'GUF_OK', 'results': [], 'inouts': []}


def message(case, blob):
    case['expect']['message'] = case['expect']['message'][:-1] + '~'


def longer_message(case, blob):
    case['expect']['message'] += '~'


def argument(case, blob):
    case['expect']['argument'] += 1


def axis(case, blob):
    case['expect']['axis'] += 1


def unwritten(case, blob):
    del case['expect']['written']


def fp_flags(case, blob):
    case['expect']['fp_flags'] ^= 1


def unknown_key(case, blob):
    case['surprise'] = 1


def unknown_kind(case, blob):
    case['inputs'][0]['kind'] = 'matrix'


def refused_instead(case, blob):
    case['expect'] = {'status': 'GUF_E_SHAPE'}


def has(**expected):
    """Returns a condition that is true for cases that succeed and whose first result is not empty
    and has the properties in `expected`."""

    def fits(case):
        spec = first_result(case)
        return spec.get('nbytes', 0) > 0 and 'defined' not in spec and all(
            spec.get(k) in v if isinstance(v, tuple) else spec.get(k) == v
            for k, v in expected.items()
        )

    return fits


def is_real(case):
    spec = first_result(case)
    return spec.get('ulp', 0) > 0 and spec['dtype'] in ('float32', 'float64') and spec['nbytes']


def is_complex(case):
    spec = first_result(case)
    return spec.get('ulp', 0) > 0 and spec['dtype'].startswith('complex') and spec['nbytes'] > 8


def given(case):
    return bool(case.get('outputs') and case['outputs'][0] and first_result(case).get('nbytes'))


# Each fault is paired with the condition on the cases in which it can be seeded.
FAULTS = [
    (flip, lambda c: given(c) and 'int' in first_result(c)['dtype']),
    (flip, lambda c: c['method'] == 'at' and has()(c) and 'int' in first_result(c)['dtype']),
    (flip, lambda c: 'inouts' in c['expect'] and first_result(c)['nbytes']),
    (flip, has(dtype=('int8', 'uint64', 'bool', 'bfloat16', 'complex64'), ulp=0)),
    (step_too_far, is_real),
    (complex_too_far, is_complex),
    (change('dtype', 'datetime64[7D]'), has()),
    (longer, has()),
    (stride, lambda c: bool(first_result(c).get('strides')) and first_result(c)['nbytes']),
    (status, lambda c: c['expect']['status'] != 'GUF_OK'),
    (refused_instead, lambda c: c['expect']['status'] == 'GUF_OK'),
    (succeeds, lambda c: c['expect']['status'] != 'GUF_OK'),
    (message, lambda c: 'message' in c['expect']),
    (longer_message, lambda c: 'message' in c['expect']),
    (argument, lambda c: 'argument' in c['expect']),
    (axis, lambda c: 'axis' in c['expect']),
    (unwritten, lambda c: c['expect'].get('written') and 'outputs' in c),
    (fp_flags, lambda c: 'fp_flags' in c['expect']),
    (unknown_key, lambda c: True),
    (unknown_kind, lambda c: c['inputs'] and c['inputs'][0]['kind'] == 'array'),
]
EACH = 6  # number of cases per fault
OF_A_GROUP = 5  # number of additional cases per group


def chosen():
    """Yields (number of the fault, group, case). The cases are distributed over the groups."""
    groups = [json.loads(path.read_text()) for path in sorted(HERE.glob('*.json'))]
    for number, (_, fits) in enumerate(FAULTS):
        found = [(g['group'], c) for g in groups for c in g['cases'] if fits(c)]
        for place in range(0, len(found), max(1, len(found) // EACH)):
            yield number, *found[place]
    for group in groups:
        cases = group['cases']
        for turn, place in enumerate(range(0, len(cases), max(1, len(cases) // OF_A_GROUP))):
            case = cases[place]
            fitting = [number for number, (_, fits) in enumerate(FAULTS) if fits(case)]
            yield fitting[turn % len(fitting)], group['group'], case


def write(folder, faulty):
    """Writes the chosen cases of each group, with or without their faults. Returns their ids."""
    blobs, lines = {}, {}
    for number, group, case in chosen():
        if group not in blobs:
            blobs[group] = bytearray((HERE / f'{group}.bin').read_bytes())
        case = copy.deepcopy(case)
        case['id'] += f'-{number}-{FAULTS[number][0].__name__}'
        if faulty:
            FAULTS[number][0](case, blobs[group])
        lines.setdefault(group, {})[case['id']] = case
    for group, blob in blobs.items():
        cases = list(lines[group].values())
        whole = {'format': 1, 'group': group, 'numpy': '', 'nbytes': len(blob), 'cases': cases}
        (folder / f'{group}.json').write_text(json.dumps(whole))
        (folder / f'{group}.bin').write_bytes(blob)
    return [one for cases in lines.values() for one in cases]


def run(modules, runner, faulty):
    with tempfile.TemporaryDirectory() as name:
        ids = write(pathlib.Path(name), faulty)
        command = [*runner, name, 'cpu', *modules]
        done = subprocess.run(command, capture_output=True, text=True)
        missed = not_judged(pathlib.Path(name), done.stdout)
    if done.returncode == 77:
        print(done.stdout, end='')
        sys.exit(77)
    count, report = len(ids), {line.split(': ')[0] for line in done.stdout.splitlines()}
    expected = f'{count} cases, {0 if faulty else count} passed, {count if faulty else 0} failed'
    lines = done.stdout.splitlines() or ['nothing was printed']
    print(*missed, sep='\n', end='\n' if missed else '')
    good = not missed and lines[-1] == expected and done.returncode == (1 if faulty else 0)
    wrong = [one for one in ids if (one in report) != faulty]
    print(f'{"faults" if faulty else "no faults"}: {lines[-1]}; expected {expected}')
    if wrong:
        print(f'{"not seen" if faulty else "failed"}: {", ".join(wrong)}')
    if not good:
        print(done.stdout[-4000:], done.stderr[-2000:])
    return good and not wrong


def main():
    split = sys.argv.index('--')
    modules, runner = sys.argv[1:split], sys.argv[split + 1 :]
    return 0 if all([run(modules, runner, False), run(modules, runner, True)]) else 1


if __name__ == '__main__':
    sys.exit(main())
