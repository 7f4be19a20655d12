#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Removes a standard function from a copy of the tree, and adds it again, using only the steps in
docs/hacking.md. Compares the function's results in C and Python with NumPy's results. Before the
files are regenerated, the checks must report each generated file that is out of date. Needs the
NumPy of build/venv.

adding_test.py --cmake CMAKE --cc COMPILER FOLDER [--keep]    copies the tree to FOLDER
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = 'docs/hacking.md'
STEP = re.compile(r'^ *<!-- add to (\S+?)(?: before "([^"\n]*)")? -->\n( *)```\w*\n(.*?)\n *```$',
                  re.DOTALL | re.MULTILINE)
MAX_FILES = 4
COMMAND = 'cmake --build --preset release --target regenerate'
# The generators whose files depend on the standard functions.
OUTDATED = {'bindings', 'resolution', 'corpus'}
CHECKS = ('check_files', 'check_docs', 'check_layers', 'check_format', 'check_duplicates')


class Tree:
    """A copy of the tree."""

    def __init__(self, folder, cmake, cc):
        self.folder, self.cmake, self.cc = folder, cmake, cc
        self.build = folder / 'build/release'
        self.python = folder / 'build/venv/bin/python'

    def copy(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        listing = ['git', '-C', ROOT, 'ls-files', '-coz', '--exclude-standard']
        names = subprocess.run(listing, check=True, capture_output=True, text=True).stdout
        for name in filter(None, names.split('\0')):
            if (ROOT / name).is_file():
                (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, self.folder / name, follow_symlinks=False)
        # The checks examine the files that git does not ignore.
        self.run('git', 'init', '--quiet')
        (self.folder / 'build').mkdir()
        (self.folder / 'build/venv').symlink_to((ROOT / 'build/venv').resolve())

    def run(self, *words, check=True, **more):
        started = time.monotonic()
        print('$', *words, flush=True)
        done = subprocess.run([str(word) for word in words], cwd=self.folder,
                              capture_output=True, **more)
        print(f'  {time.monotonic() - started:.1f} s', flush=True)
        if check and done.returncode:
            text = b'\n'.join((done.stdout, done.stderr)).decode(errors='replace')
            sys.exit(f'{text}\nexpected success, got {done.returncode}')
        return done

    def outdated(self):
        """Returns the generators that the check reports, or an empty set."""
        done = self.run(self.python, 'tools/regenerate.py', '--check', '--build', self.build,
                        '--cc', self.cc, check=False)
        if done.returncode == 0:
            return set()
        message = done.stdout.decode().splitlines()[-1]
        found = re.search(r'got others from (.*)\. Run: (.*)$', message)
        if not found or found[2] != COMMAND:
            sys.exit(f'expected a message that names "{COMMAND}", got "{message}"')
        return set(found[1].split(', '))


def steps(text):
    """Yields the additions that the page describes. Each consists of a file, the start of the line
    before which the text is inserted (empty for the end of the file), and the text."""
    for path, anchor, indent, block in STEP.findall(text):
        yield path, anchor, ''.join(f'{line.removeprefix(indent)}\n' for line in block.split('\n'))


def remove(tree, edits):
    """Removes the page's lines from the files of the tree, and brings the generated files up to
    date."""
    for path, _, block in edits:
        text = (tree.folder / path).read_text()
        # The list of the oracle has several names per line.
        pattern = rf'\b{block.strip()}\s' if block.split() == [block.strip()] else re.escape(block)
        text, count = re.subn(pattern, '', text)
        expect(f'places of the lines in {path}', count, 1)
        (tree.folder / path).write_text(text)
    # The numbers of the cases after the cases of the function change.
    answers = tree.folder / 'tests/conformance/corpus/answers.tsv'
    kept = [line for line in answers.read_text().splitlines(True) if not line.startswith('loops-')]
    answers.write_text(''.join(kept))
    names = ('bindings', 'resolution', 'corpus', 'corpus_page')
    only = [word for name in names for word in ('--only', name)]
    tree.run(tree.python, 'tools/regenerate.py', '--build', tree.build, '--cc', tree.cc, *only)


def apply(tree):
    """Removes the page's lines from the files of the tree and adds them again. Returns the name of
    the function."""
    edits = list(steps((tree.folder / PAGE).read_text()))
    files = {path for path, _, _ in edits}
    if not 0 < len(files) <= MAX_FILES:
        sys.exit(f'{PAGE}: expected 1 to {MAX_FILES} files to edit, got {sorted(files)}')
    remove(tree, edits)
    for path, anchor, block in edits:
        lines = (tree.folder / path).read_text().splitlines(keepends=True)
        places = [i for i, line in enumerate(lines) if anchor and line.startswith(anchor)]
        if anchor and not places:
            sys.exit(f'{PAGE}: expected a line of {path} that starts with {anchor!r}, got none')
        lines.insert(places[0] if anchor else len(lines), block)
        (tree.folder / path).write_text(''.join(lines))
    return next(re.search(r'GUF_OP\((\w+)', block)[1] for _, _, block in edits
                if block.startswith('GUF_OP('))


def expect(what, found, expected):
    if found != expected:
        sys.exit(f'{what}: expected {expected}, got {found}')
    print(f'{what}: good', flush=True)


def operands(nin):
    """Returns special values and random values."""
    special = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, np.inf, -np.inf, np.nan]
    grid = np.array(np.meshgrid(*[special] * nin)).reshape(nin, -1)
    return np.hstack([grid, np.random.default_rng(1).normal(size=(nin, 100))])


def near(found, expected):
    """Returns whether results are approximately equal. The test also runs the oracle, which checks
    the exact error bound of the function."""
    return np.allclose(found, expected, rtol=1e-12, atol=0, equal_nan=True)


def call_from_c(tree, name, expected, inputs):
    program, library = tree.build / 'apply_by_name', tree.build / 'lib'
    tree.run(tree.cc, '-std=c11', '-Wall', '-Werror', '-Iabi/include',
             'tests/generated/apply_by_name.c', '-o', program, f'-L{library}', '-lgufunc',
             f'-Wl,-rpath,{library}')
    count = inputs.shape[1]
    done = tree.run(program, name, len(inputs), count, input=np.ascontiguousarray(inputs).tobytes())
    found = np.frombuffer(done.stdout)
    expect(f'{name} in C', near(found, expected), True)


def call_from_python(tree, name, expected, inputs):
    np.save(tree.build / 'inputs.npy', inputs)
    script = (f'import gufunc, numpy as np; x = np.load("inputs.npy"); '
              f'np.save("found.npy", gufunc.{name}(*x))')
    package = os.environ | {'PYTHONPATH': str(tree.build / 'bindings/python')}
    tree.run('env', '-C', tree.build, tree.python, '-c', script, env=package)
    found = np.load(tree.build / 'found.npy')
    expect(f'{name} in Python', near(found, expected), True)


def compare_with_numpy(tree, name):
    """Calls the function from C and Python, and runs its cases of the oracle and of the corpus."""
    table = tree.run(tree.python, 'tools/ops_table.py').stdout.decode()
    nin = int(re.search(rf'^{name} (\d+) ', table, re.MULTILINE)[1])
    inputs = operands(nin)
    with np.errstate(all='ignore'):
        expected = getattr(np, name)(*inputs)
    call_from_c(tree, name, expected, inputs)
    call_from_python(tree, name, expected, inputs)
    tree.run(tree.python, 'tests/conformance/every_function.py', '--library',
             tree.build / 'lib/libgufunc.so', '--only', name, '--rounds', '20')
    corpus, loops = tree.folder / 'tests/conformance/corpus', tree.build / 'loops'
    loops.mkdir(exist_ok=True)
    for file in ('loops.json', 'loops.bin'):
        shutil.copyfile(corpus / file, loops / file)
    expect(f'{name} in the corpus', f'"ufunc":"{name}"' in (loops / 'loops.json').read_text(), True)
    tree.run(tree.build / 'bin/run_corpus', loops, 'cpu')


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--cmake', default='cmake')
    parser.add_argument('--cc', default='cc')
    parser.add_argument('--keep', action='store_true', help='keep the folder')
    parser.add_argument('folder', type=pathlib.Path)
    options = parser.parse_args()
    tree = Tree(options.folder.resolve(), options.cmake, options.cc)
    tree.copy()
    name = apply(tree)
    tree.run(tree.cmake, '--preset', 'release', '-DGUFUNC_BUILD_BACKENDS=cpu',
             '-DGUFUNC_CPU_ISA_LEVELS=v2', '-DGUFUNC_BUILD_BENCH=OFF',
             '-DGUFUNC_BUILD_EXAMPLES=OFF')
    found = tree.outdated()
    expect('generators with files that are out of date', found, OUTDATED)
    tree.run(tree.cmake, *COMMAND.split()[1:])
    expect('the same after they are regenerated', tree.outdated(), set())
    for check in CHECKS:
        tree.run(tree.python, f'tools/{check}.py')
    compare_with_numpy(tree, name)
    if not options.keep:
        shutil.rmtree(tree.folder)


if __name__ == '__main__':
    main()
