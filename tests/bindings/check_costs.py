#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the call benchmark of each language. The limit of a language is the permitted cost of a
one-element call in addition to the cost of the same call in C, which is measured in the same run.
The result is meaningful only on a machine without other load; ctest only checks that the benchmarks
run.

The exit status is 1 if a language exceeds its limit. A language without an installed toolchain is
skipped, and the output names it."""

import argparse
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TESTS = ROOT / 'tests/bindings'
NOT_HERE = 77


def commands(build):
    """Returns the command of each language and its limit in nanoseconds."""
    return {
        'cpp': [build / 'bin/cpp_call_cost', '5'],
        'python': [ROOT / 'build/venv/bin/python',
                   ROOT / 'bindings/python/bench/python_call_cost.py',
                   '--check', build / 'lib/librepeat_call.so'],
        'rust': [sys.executable, TESTS / 'rust/rust_test.py', build, 'cargo', 'bench',
                 '--package', 'gufunc', '--bench', 'call_cost', '--', '--bar=5'],
        'go': ['sh', TESTS / 'go/go_run.sh', build, 'cost', '120'],
        'julia': ['sh', TESTS / 'julia/run_julia.sh', ROOT, build,
                  ROOT / 'bindings/julia/bench/call_cost.jl', '--bar', '20'],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('--build', type=pathlib.Path, default=ROOT / 'build/release')
    parser.add_argument('languages', nargs='*', metavar='LANGUAGE',
                        help='run only these languages: cpp, python, rust, ...')
    options = parser.parse_args()
    build = options.build.resolve()
    known = commands(build)
    unknown = [language for language in options.languages if language not in known]
    if unknown:
        parser.error(f'{unknown[0]} is none of {", ".join(known)}')
    over, missing = [], []
    for language in options.languages or known:
        print(f'{language}:', flush=True)
        try:
            ended = subprocess.run(known[language], env=environment(build)).returncode
        except FileNotFoundError:
            ended = NOT_HERE
        if ended:
            (missing if ended == NOT_HERE else over).append(language)
    print(f'over its bar, or broken: {", ".join(over) or "none"}; '
          f'not here: {", ".join(missing) or "none"}')
    return 1 if over else 0


def environment(build):
    return dict(os.environ, PYTHONPATH=str(build / 'bindings/python'))


if __name__ == '__main__':
    sys.exit(main())
