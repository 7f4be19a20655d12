#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the checked-in files that are generated from other files of the tree, or checks that they
are up to date. The target `regenerate` builds what the generators need, and writes all files:

    cmake --build --preset release --target regenerate

    regenerate.py [--check] [--build FOLDER] [--cc COMPILER] [--only GENERATOR]...

Needs the NumPy of build/venv, swig and clang++-19."""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
COMMAND = 'cmake --build --preset release --target regenerate'


def bindings(args):
    return ['tools/abigen', '--cc', args.cc]


def corpus(args):
    runner = args.build / 'bin/run_corpus'
    with_runner = ['--runner', runner] if runner.exists() else []
    return ['tests/conformance/corpus/make_corpus.py', *with_runner]


# Each generator: its command, the option that writes, and the option that checks. The order
# matters: a later generator may read what an earlier one wrote.
GENERATORS = {
    'letters': (lambda args: ['tools/check_docs.py'], ['--write'], []),
    'symbols': (lambda args: ['tools/check_symbols.py', '--list', 'abi/symbols.txt', '--include',
                              'abi/include'], ['--write'], []),
    'bindings': (bindings, [], ['--check']),
    'layout': (lambda args: ['tools/check_layout.py', '--cc', args.cc], ['--write'], []),
    'misuse_table': (lambda args: ['tests/abi/misuse/make_misuse.py'], [], ['--check']),
    'kernel_reference': (lambda args: ['tools/kernel_reference.py'], [], ['--check']),
    'coverage': (lambda args: ['tests/bindings/coverage.py'], ['--write'], []),
    'resolution': (lambda args: ['tests/data/make_resolution.py'], [], ['--check']),
    'corpus': (corpus, [], ['--check']),
    'corpus_page': (lambda args: ['tests/conformance/corpus/judged_cases.py', '--page',
                                  'docs/bindings.md'], ['--write'], []),
    'python_reference': (lambda args: ['bindings/python/reference/make_reference.py'], [],
                         ['--check']),
}


def copy_sources(package):
    """Copies the package's sources to the build tree, as the build does: an earlier generator may
    have changed them after the build."""
    for path in (ROOT / 'bindings/python/gufunc').glob('*.py'):
        shutil.copyfile(path, package / 'gufunc' / path.name)


def run(name, args):
    """Runs a generator, and returns whether it succeeded."""
    package = args.build / 'bindings/python'
    if name == 'python_reference' and not (package / 'gufunc/_gufunc.so').exists():
        print(f'{name}: skipped, because {args.build} has no Python package')
        return True
    if name == 'python_reference' and not args.check:
        copy_sources(package)
    command, writes, checks = GENERATORS[name]
    words = [sys.executable, *command(args), *(checks if args.check else writes)]
    environment = os.environ | {'PYTHONPATH': str(package), 'PYTHONDONTWRITEBYTECODE': '1'}
    print(f'{name}:', flush=True)
    return subprocess.run(words, cwd=ROOT, env=environment).returncode == 0


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument('--check', action='store_true', help='compare instead of writing')
    parser.add_argument('--build', type=pathlib.Path, default=ROOT / 'build/release')
    parser.add_argument('--cc', default='cc', help='the C compiler')
    parser.add_argument('--only', action='append', choices=GENERATORS, metavar='GENERATOR',
                        help=f'run only this generator: {", ".join(GENERATORS)}')
    args = parser.parse_args()
    args.build = args.build.resolve()
    failed = [name for name in args.only or GENERATORS if not run(name, args)]
    if failed and args.check:
        print(f'expected the generated files to be up to date, got others from '
              f'{", ".join(failed)}. Run: {COMMAND}')
    elif failed:
        print(f'expected all generators to succeed, got errors from {", ".join(failed)}')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
