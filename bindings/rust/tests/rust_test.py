#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs Rust's tests. They are built below the build folder and use its library.

rust_test.py BUILD_FOLDER and then one of
    cargo ARGUMENTS...           runs cargo, offline if the crates of Cargo.lock are available
    without ARGUMENTS...         runs cargo without a library to link with
    loaded                       runs tests that open the library at run time
    repaired                     tests the error of a build without a library, and a later build
    run PROGRAM ARGUMENTS...     runs a program that was built
    examples MODULES DEVICE...   runs the examples and compares their output

Without rustc of MIN_VERSION or later, or without the crates, the exit status is 77 (skipped)."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

RUST = pathlib.Path(__file__).resolve().parents[3] / 'bindings/rust'
MIN_VERSION = (1, 82)
# The argument of each example, which is the folder of modules or the device.
EXAMPLES = {
    'builtin_ufunc': [],
    'own_module': ['{modules}/discriminant.so'],
    'gufunc_closure': [],
    'device_stream': ['{device}'],
    'chunked_call': ['{device}'],
}


def skip(why):
    print(f'skipped: {why}')
    sys.exit(77)


def environment(build):
    env = dict(os.environ)
    env['PATH'] += os.pathsep + str(pathlib.Path.home() / '.cargo/bin')
    env['GUFUNC_LIB_DIR'] = str(build / 'lib')
    env['CARGO_TARGET_DIR'] = str(build / 'cargo')
    env['RUSTFLAGS'] = f'-C link-arg=-Wl,-rpath,{build}/lib'
    env['LD_LIBRARY_PATH'] = os.pathsep.join(
        part for part in (str(build / 'lib'), env.get('LD_LIBRARY_PATH')) if part
    )
    return env


def find_cargo(env):
    cargo, rustc = (shutil.which(name, path=env['PATH']) for name in ('cargo', 'rustc'))
    if not cargo or not rustc:
        skip('no cargo and rustc (bindings/rust/setup installs them)')
    report = subprocess.run([rustc, '--version'], capture_output=True, text=True, env=env).stdout
    found = re.match(r'rustc (\d+)\.(\d+)', report)
    if not found or tuple(map(int, found.groups())) < MIN_VERSION:
        skip(f'{report.strip() or "rustc"}: {".".join(map(str, MIN_VERSION))} or later is needed')
    return cargo


def run_cargo(build, arguments, library=True):
    env = environment(build)
    cargo = find_cargo(env)
    manifest = ['--manifest-path', str(RUST / 'Cargo.toml')]
    report = subprocess.run([cargo, arguments[0], '--version'], capture_output=True, env=env)
    if arguments[0] in ('clippy', 'fmt') and report.returncode:
        skip(f'no cargo {arguments[0]}')
    if arguments[0] == 'fmt':
        command = [cargo, 'fmt', *manifest, *arguments[1:]]
        return subprocess.run(command, env=env).returncode
    if not library:
        env |= {'GUFUNC_LIB_DIR': '/nonexistent', 'CARGO_TARGET_DIR': str(build / 'cargo-without')}
        env |= {'RUSTDOCFLAGS': '-D warnings'}
    # Cargo requires every crate in the lock file, even the crates of unused features.
    fetch = [cargo, 'fetch', '--locked', *manifest]
    for offline in (['--offline'], []):
        done = subprocess.run([*fetch, *offline], env=env, capture_output=True, text=True)
        if done.returncode == 0:
            break
    else:
        skip(f'crates cannot be had: {done.stderr.strip().splitlines()[-1:]}')
    command = [cargo, arguments[0], '--locked', '--offline', *manifest, *arguments[1:]]
    return subprocess.run(command, env=env).returncode


def run_loaded(build):
    """Runs the tests with the feature `load`, and checks the error of a program that finds no
    library."""
    os.environ['GUFUNC_LIBRARY'] = str(build / 'lib/libgufunc.so.0.1')
    features = ['--package', 'gufunc', '--features', 'load']
    tests = ['--test', 'arrays_and_dtypes', '--test', 'host_loops', '--test', 'dlpack_exchange']
    for what in (['--doc'], tests):
        if run_cargo(build, ['test', *features, *what]):
            return 1
    os.environ['GUFUNC_LIBRARY'] = '/nonexistent/libgufunc.so'
    return run_cargo(build, ['test', *features, '--test', 'missing_library', '--', '--ignored'])


def run_repaired(build):
    """Checks that a build reports a pkg-config file that is too old, and that the next build, with
    a valid file, succeeds."""
    env = environment(build)
    cargo = find_cargo(env)
    folder = build / 'cargo-repaired'
    # Otherwise cargo would reuse the output of an earlier run.
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    del env['GUFUNC_LIB_DIR']
    env |= {'PKG_CONFIG_PATH': str(folder), 'CARGO_TARGET_DIR': str(folder / 'target')}
    if not shutil.which('pkg-config'):
        skip('no pkg-config')
    command = [cargo, 'check', '--locked', '--offline', '--package', 'gufunc-sys',
               '--manifest-path', str(RUST / 'Cargo.toml')]
    failures = 0
    for version, warned in (('0', True), ('0.1.0', False)):
        (folder / 'gufunc.pc').write_text(
            f'Name: gufunc\nDescription: its library\nVersion: {version}\n'
            f'Libs: -L{build}/lib -lgufunc\n')
        done = subprocess.run(command, env=env, capture_output=True, text=True)
        if done.returncode or ("required version is" in done.stderr) != warned:
            failures += 1
            print(f'version {version}: {done.returncode}\n{done.stderr}')
    return 1 if failures else 0


def run_program(build, program, arguments):
    path = build / 'cargo/debug' / program
    if not path.exists():
        skip(f'{path} is not there, since bindings_rust_build was skipped')
    os.execve(path, [path, *arguments], environment(build))


def run_examples(build, modules, devices):
    failures = runs = 0
    for name, given in EXAMPLES.items():
        expected = (RUST / f'gufunc/examples/{name}.out').read_text()
        for device in devices if '{device}' in given else devices[:1]:
            arguments = [one.format(modules=modules, device=device) for one in given]
            path = build / 'cargo/debug/examples' / name
            if not path.exists():
                skip(f'{path} is not there, since bindings_rust_build was skipped')
            done = subprocess.run(
                [path, *arguments], env=environment(build), capture_output=True, text=True
            )
            runs += 1
            if done.returncode or done.stdout != expected:
                failures += 1
                print(f'{name} on {device}: {done.returncode}\n{done.stdout}{done.stderr}')
    print(f'{runs} examples ran, {failures} failed')
    return 1 if failures or not runs else 0


def main():
    build, mode, *arguments = sys.argv[1:]
    build = pathlib.Path(build).resolve()
    if mode == 'run':
        return run_program(build, arguments[0], arguments[1:])
    if mode == 'repaired':
        return run_repaired(build)
    if mode == 'loaded':
        return run_loaded(build)
    if mode == 'examples':
        return run_examples(build, arguments[0], arguments[1:])
    return run_cargo(build, arguments, library=mode != 'without')


if __name__ == '__main__':
    sys.exit(main())
