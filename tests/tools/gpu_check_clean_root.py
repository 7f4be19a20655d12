#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a packed gpu-check in a minimal Debian that has only Python and NumPy, over the simulated
driver. Needs a release build and root.

    gpu_check_clean_root.py BUILD"""

import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'tests/readme'))
import clean_root  # noqa: E402

NUMPY = 'numpy==2.4.6'
# The parts of a short run that must pass without other GPU libraries and without NVIDIA's tools.
PASSED = {'device', 'every_function', 'oracle', 'raw_kernels', 'device_tests', 'examples'}
SCRIPT = '''set -eu
apt-get update -qq
apt-get install -y -qq --no-install-recommends python3 python3-venv >/dev/null
python3 -m venv /home/user/venv
/home/user/venv/bin/pip install --quiet {numpy}
export LD_LIBRARY_PATH=/home/user/sim GUFUNC_SIM_EMULATION={emulation}
PYTHON=/home/user/venv/bin/python exec /home/user/pack/gpu-check --short
'''


def emulation(build):
    """Returns the emulation files of the simulated devices, which the CMake test
    gpu_check_pack_cuda also uses."""
    listed = subprocess.run(['ctest', '--show-only=json-v1', '-R', '^gpu_check_pack_cuda$'],
                            cwd=build, capture_output=True, text=True, check=True).stdout
    [test] = json.loads(listed)['tests']
    [values] = [one['value'] for one in test['properties'] if one['name'] == 'ENVIRONMENT']
    [files] = [value.partition('=')[2] for value in values
               if value.startswith('GUFUNC_SIM_EMULATION=')]
    return files.split(':')


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    if lack := clean_root.CleanRoot.lacks():
        print(f'SKIPPED: gpu-check in a clean root: {lack}', file=sys.stderr)
        return clean_root.SKIPPED
    place = clean_root.CleanRoot(ROOT / 'build/readme')
    try:
        user = place.root / 'home/user'
        user.mkdir(parents=True)
        subprocess.run([ROOT / 'tools/gpu-check', '--pack', user / 'pack', '--build', build,
                        '--device', 'cuda:0'], check=True)
        place.copy_from_host(build / 'sim/libcuda.so.1', '/home/user/sim/libcuda.so.1')
        files = [f'/home/user/sim/{file}' for file in emulation(build)]
        for file in files:
            place.copy_from_host(pathlib.Path(file.removeprefix('/home/user/sim/')), file)
        command, environment = place.command()
        script = SCRIPT.format(numpy=NUMPY, emulation=':'.join(files))
        done = subprocess.run(command, env=environment, input=script, text=True, check=False)
        table = json.loads((user / 'pack/gpu-check.json').read_text())
    finally:
        place.close()
    passed = {row['part'] for row in table['rows'] if row['state'] == 'passed'}
    failed = [row['name'] for row in table['rows'] if row['state'] == 'FAILED']
    if done.returncode or failed or not table['complete'] or PASSED - passed:
        print(f'expected that {sorted(PASSED)} pass, got exit status {done.returncode}, '
              f'passed {sorted(passed)}, failed {failed}', file=sys.stderr)
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
