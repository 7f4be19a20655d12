#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs six programs in one language and in C++, and compares their outputs: dtype, shape and every
byte.

    compare.py --modules FOLDER... --reference 'FOLDER/{program}' [--device cpu]... [--needs FILE]
               [--together] LANGUAGE COMMAND...

In COMMAND, {program} is replaced with a program's name. --needs names a file without which the test
is skipped (77). With --together, COMMAND runs all programs on all devices in one process. Its
arguments are MODULES INPUTS FOLDER DEVICE,... PROGRAM..., and it writes to FOLDER/DEVICE/ours.
README.md in this folder describes the programs."""

import argparse
import itertools
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

import make_inputs

# The outputs of each program, with name, dtype and shape.
OUTPUTS = {
    'discriminant': [
        ('discriminant_x', '<f4', (5,)),
        ('discriminant_numbers', '<f4', (5,)),
        ('discriminant_masked', '<f4', (5,)),
    ],
    'device_function': [
        ('device_function_out', '<f8', (4, 3)),
        ('device_function_sum', '<f8', ()),
        ('device_function_most', '<f8', (4, 1)),
    ],
    'matmulcore': [('matmulcore_c', '<f4', (2, 3, 5)), ('matmulcore_transposed', '<f4', (5, 3))],
    'chunked_stream': [
        ('chunked_stream_x', '<f8', (100_000,)),
        ('chunked_stream_by_hand', '<f8', (100_000,)),
        ('chunked_stream_progress', '<i8', (2,)),
    ],
    'cumulative_power': [
        ('cumulative_power_rows', '<f4', (1000, 4)),
        ('cumulative_power_reversed', '<f4', (1000, 4)),
        ('cumulative_power_columns', '<f8', (3, 2)),
    ],
    'hermite': [
        ('hermite_out', '<f4', (1000, 4)),
        ('hermite_in_place', '<f4', (1000, 4)),
        ('hermite_long', '<f8', (2, 6)),
    ],
}


def run(command, program, options, inputs, outputs, device):
    """Runs a program. Returns an error message, or None."""
    arguments = [part.replace('{program}', program) for part in command]
    return ended([*arguments, options.modules, inputs, outputs, device], f'{program} on {device}')


def ended(arguments, what):
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=600)
    if done.returncode == 77:
        print(done.stdout, end='')
        sys.exit(77)
    if done.returncode or done.stdout:
        report = (done.stdout + done.stderr).strip()[-2000:]
        return f'{what}: exit {done.returncode}: {report}'
    return None


def array(folder, name):
    """Returns (array, None), or (None, reason why the array is missing)."""
    path = pathlib.Path(folder, f'{name}.npy')
    try:
        return np.load(path), None
    except (OSError, ValueError) as error:
        return None, f'{path.name}: {error}'


def difference(name, dtype, shape, theirs, ours):
    expected, why = array(theirs, name)
    found, other = array(ours, name)
    if why or other:
        return why or other
    for side, one in (('the reference', expected), ('ours', found)):
        if one.dtype.str != dtype or one.shape != shape:
            return f'{name}: {side} is {one.dtype.str} {one.shape}, not {dtype} {shape}'
    if expected.tobytes() != found.tobytes():
        places = np.flatnonzero(expected.view(np.uint8).ravel() != found.view(np.uint8).ravel())
        return f'{name}: {places.size} bytes differ, the first is {places[0]}'
    return None


def plausible(name, folder):
    """Checks a result without the reference program, so that an all-zero reference is detected."""
    value, why = array(folder, name)
    if why:
        return why
    first = {
        'discriminant_x': 10.0,
        'discriminant_masked': 10.0,
        'chunked_stream_x': 10.0,
        'cumulative_power_columns': 2.0,
        'hermite_out': 1.0,
        'chunked_stream_progress': 100_000,
    }.get(name)
    if first is not None and value.ravel()[0] != first:
        return f'{name} begins with {value.ravel()[0]}, not with {first}'
    return None


def compare_on(device, options, folder):
    """Returns the differences on a device, and the number of files that were compared."""
    inputs = folder / 'inputs'
    sides = folder / device / 'reference', folder / device / 'ours'
    wrong, count = [], 0
    for program, outputs in OUTPUTS.items():
        failures = [run([options.reference], program, options, inputs, sides[0], device)]
        if not options.together:
            failures.append(run(options.command, program, options, inputs, sides[1], device))
        if any(failures):
            wrong += [failure for failure in failures if failure]
            continue
        for name, dtype, shape in outputs:
            count += 1
            found = difference(name, dtype, shape, *sides) or plausible(name, sides[0])
            wrong += [f'{device}: {found}'] if found else []
    return wrong, count


def run_together(options, folder):
    """Runs all programs of the language on all devices. Returns a list of error messages."""
    given = [options.modules, folder / 'inputs', folder, ','.join(options.device), *OUTPUTS]
    failure = ended([*options.command, *given], 'the programs')
    return [failure] if failure else []


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument('--modules', required=True)
    parser.add_argument('--reference', required=True)
    parser.add_argument('--device', action='append')
    parser.add_argument('--needs')
    parser.add_argument('--together', action='store_true')
    parser.add_argument('language')
    parser.add_argument('command', nargs=argparse.REMAINDER)
    options = parser.parse_args()
    if options.needs and not pathlib.Path(options.needs).exists():
        print(f'skipped: {options.language} has no {options.needs}')
        return 77
    wrong, count = [], 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        make_inputs.write(folder / 'inputs')
        options.device = options.device or ['cpu']
        for device, side in itertools.product(options.device, ('reference', 'ours')):
            (folder / device / side).mkdir(parents=True)
        if options.together:
            wrong += run_together(options, folder)
        for device in options.device:
            failures, compared = compare_on(device, options, folder)
            wrong, count = wrong + failures, count + compared
    for line in wrong:
        print(line)
    print(f'{options.language}: {count} files compared, {len(wrong)} differ')
    return 1 if wrong or not count else 0


if __name__ == '__main__':
    sys.exit(main())
