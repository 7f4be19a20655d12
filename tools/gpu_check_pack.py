# SPDX-License-Identifier: Apache-2.0
"""Creates a folder from which gpu-check runs on another machine. It contains the required files of
the build and the sources, at the expected paths, and the libraries that a minimal system lacks.
"""

import pathlib
import shutil
import subprocess

LARGEST = 60 << 20  # bytes, in total
SOURCES = ('tools/gpu-check', 'tools/roc-check', 'tools/gpu_check_*.py', 'tools/ops_table.py',
           'abi/include/gufunc/ops.def', 'abi/include/gufunc/ops_loops.h', 'docs/reductions.md',
           'tests/conformance/*.py', 'tests/conformance/rows/*', 'bench/*.py', 'examples/c/*.out',
           'examples/cpp/*.out')
PROGRAMS = ('bin/gufunc', 'bin/device_bench', 'examples/programs/*')
LIBRARIES = ('lib/libgufunc.so.0.1', 'lib/gufunc/1/libgufunc_backend_cpu.so')
# Modules contain a digest of themselves and must not be stripped.
MODULES = ('examples/modules/*.so', 'bench/modules/*.so',
           'tests/conformance/modules/numpy_functions.so',
           'tests/abi/kernels/modules/raw_kernels.so')
# Libraries of every glibc system. A copy from another release would not match the loader.
SYSTEM = ('linux-vdso', 'ld-linux', 'libc.so', 'libm.so', 'libdl.so', 'libpthread.so', 'librt.so')
# Most machines have their own release of these libraries, which other programs need. The packed
# copies are used only if our programs do not run with the machine's release.
FALLBACK = ('libstdc++.so', 'libgcc_s.so')
START = '''#!/bin/sh
# Runs every check that this folder was packed for. It accepts the options of tools/gpu-check
# --help.
here=$(cd "$(dirname "$0")" && pwd) || exit 2
exec "${{PYTHON:-python3}}" "$here/tools/gpu-check" --device {device} \\
  --json "$here/gpu-check.json" "$@"
'''


def put(file, to, stripped=False):
    to.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(file.resolve(), to)
    if stripped:
        to.chmod(0o755)
        subprocess.run(['strip', '--strip-unneeded', to], check=True)


def dependencies(files, search):
    """Returns the paths of the shared libraries that our files link, by soname."""
    found = {}
    for file in files:
        done = subprocess.run(['ldd', file], capture_output=True, text=True,
                              env={'LD_LIBRARY_PATH': str(search), 'PATH': '/usr/bin:/bin'})
        for line in done.stdout.splitlines():
            name, arrow, path = line.strip().partition(' => ')
            if arrow and path.startswith('/'):
                found[name] = pathlib.Path(path.split(' (')[0])
            elif arrow:
                raise OSError(f'{file} needs {name}, which is not installed')
    return found


def pack(root, build, folder, device, tests):
    """Fills `folder`, which must be empty or not exist yet, and returns its size in bytes.
    Errors  OSError, subprocess.CalledProcessError: something is missing; the message names it"""
    if folder.exists() and any(folder.iterdir()):
        raise OSError(f'{folder} is not empty')
    for pattern in SOURCES:
        for file in root.glob(pattern):
            if file.is_file():
                put(file, folder / file.relative_to(root))
    target = folder / 'build/release'
    plugin = f'lib/gufunc/1/libgufunc_backend_{device.split(":")[0]}.so'
    names = (*PROGRAMS, *LIBRARIES, plugin, *(f'bin/tests/{name}_test' for name in tests))
    native = []
    for pattern in (*names, *MODULES):
        files = [file for file in build.glob(pattern)
                 if file.is_file() and not file.name.endswith('.emu.so')]
        if not files and pattern in (*LIBRARIES, plugin):
            raise OSError(f'{build} has no {pattern}')
        for file in files:
            put(file, target / file.relative_to(build), stripped=pattern not in MODULES)
            native.append(file)
    for name, path in dependencies(native, build / 'lib').items():
        if name.startswith(SYSTEM) or path.is_relative_to(build):
            continue
        place = 'lib/fallback' if name.startswith(FALLBACK) else 'lib'
        put(path, target / place / name)
    start = folder / 'gpu-check'
    start.write_text(START.format(device=device))
    start.chmod(0o755)
    return check_size(folder)


def check_size(folder):
    sizes = sorted(((file.stat().st_size, file) for file in folder.rglob('*') if file.is_file()),
                   reverse=True)
    total = sum(size for size, _ in sizes)
    if total > LARGEST:
        largest = ', '.join(f'{file.relative_to(folder)} of {size >> 20} MiB'
                            for size, file in sizes[:3])
        raise OSError(f'{folder} holds {total >> 20} MiB, expected at most {LARGEST >> 20}; the '
                      f'largest are {largest}. A build for one architecture is smaller: '
                      '-DGUFUNC_CUDA_TARGETS=sm_90')
    return total
