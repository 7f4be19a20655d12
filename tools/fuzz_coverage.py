#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints which share of the core's lines the corpora of the fuzz targets reach.

    cmake --preset coverage && cmake --build --preset coverage
    tools/fuzz_coverage.py [--build build/coverage] [--found build/fuzz/tests/fuzz/found]
                           [--files FOLDER]

Runs each target over its folder of tests/fuzz/corpus and, with --found, over the inputs that a run
of the fuzz preset has found. --files lists the files of a folder of core/ with the lines that no
input reaches. Needs llvm-profdata-19 and llvm-cov-19."""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
from collections import defaultdict

ROOT = pathlib.Path(__file__).resolve().parent.parent
CORPUS = ROOT / 'tests' / 'fuzz' / 'corpus'


def run_target(build, name, folders, profiles):
    """Runs a target on the inputs in the folders. Returns the text that the target prints, which
    contains the number of inputs."""
    command = [build / 'bin' / 'tests' / f'{name}_fuzz', *folders]
    environment = {'LLVM_PROFILE_FILE': f'{profiles}/{name}-%m.profraw'}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f'{command[0]} failed with {done.returncode}:\n{done.stderr}')
    return done.stdout.strip()


def merged(build, found, profiles):
    """Runs all targets and merges their profiles. Returns the path of the merged profile."""
    for folder in sorted(CORPUS.iterdir()):
        more = found / folder.name if found else None
        folders = [folder] + ([more] if more and any(more.iterdir()) else [])
        print(f'{folder.name}: {run_target(build, folder.name, folders, profiles)}', flush=True)
    profile = profiles / 'all.profdata'
    raw = sorted(profiles.glob('*.profraw'))
    subprocess.run(['llvm-profdata-19', 'merge', '-o', profile, *raw], check=True)
    return profile


def exported(build, profile, *options):
    """Returns the coverage that llvm-cov exports for the library and the targets."""
    targets = [build / 'bin' / 'tests' / f'{folder.name}_fuzz' for folder in CORPUS.iterdir()]
    objects = [f'-object={target}' for target in targets]
    command = ['llvm-cov-19', 'export', f'-instr-profile={profile}', *options]
    command += [build / 'lib' / 'libgufunc.so', *objects]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    return json.loads(done.stdout)['data'][0]


def core_files(data):
    """Yields (path below core/, reached lines, total lines) for each source file of the core."""
    for entry in data['files']:
        _, core, path = entry['filename'].rpartition('/core/')
        if core and 'tests' not in entry['filename'].split('/'):
            lines = entry['summary']['lines']
            yield path, lines['covered'], lines['count']


def show(title, reached, count):
    print(f'{title:32} {reached:6} of {count:6}  {100 * reached / max(count, 1):5.1f} %')


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument('--build', type=pathlib.Path, default=ROOT / 'build' / 'coverage')
    parser.add_argument('--found', type=pathlib.Path, help='folders of inputs, one per target')
    parser.add_argument('--files', help='a folder of core/, "." for its own files')
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        profile = merged(options.build, options.found, pathlib.Path(folder))
        files = sorted(core_files(exported(options.build, profile, '-summary-only')))
    folders = defaultdict(lambda: [0, 0])
    for path, reached, count in files:
        parent = str(pathlib.PurePath(path).parent)
        if parent == options.files:
            show(path, reached, count)
        for key in (parent, 'total'):
            folders[key][0] += reached
            folders[key][1] += count
    print('lines of core/ that are reached')
    for name, (reached, count) in sorted(folders.items(), key=lambda item: item[0] == 'total'):
        show({'.': '(its own files)'}.get(name, name), reached, count)
    return 0


if __name__ == '__main__':
    sys.exit(main())
