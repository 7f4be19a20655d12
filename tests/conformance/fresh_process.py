# SPDX-License-Identifier: Apache-2.0
"""Judges cases in processes in which NumPy has made no other call, because NumPy's results can
depend on earlier calls (keyword_cases.remembers). One process imports everything and forks a child
for each case.

    fresh_process.py LIBRARY DEVICE CALLER [MODULE]

Reads one JSON case per line. For each case, writes one line with the difference between NumPy and
the library."""

import atexit
import json
import os
import subprocess
import sys

STARTED = {}


def difference(case, library):
    """Returns the judge's description of the difference, or None. The process that judges the case
    uses the device and the modules of `library`.
    """
    caller_path = library.caller.path if library.caller else ''
    paths = (library.lib._name, library.spec, caller_path, *library.modules)
    process = STARTED.get(paths) or start(paths)
    process.stdin.write(json.dumps(case) + '\n')
    process.stdin.flush()
    return json.loads(process.stdout.readline())


def start(paths):
    command = [sys.executable, '-W', 'ignore', __file__, *paths]
    pipes = {'stdin': subprocess.PIPE, 'stdout': subprocess.PIPE}
    STARTED[paths] = process = subprocess.Popen(command, text=True, **pipes)
    atexit.register(process.stdin.close)
    return process


def judged(line, oracle, library, device):
    try:
        if device:  # the child opens the device again, because devices do not survive a fork
            library.use_device(device)
        case = json.loads(line)
        return oracle.judged(case, library)
    except Exception as error:  # noqa: BLE001 - reported as a difference
        return f'the judge failed: {type(error).__name__}: {error}'


def serve(library_path, device, caller_path, *modules):
    import oracle  # oracle imports this file

    oracle.np.seterr(all='ignore')
    library = oracle.abi.Library(library_path)
    if caller_path:
        library.use_caller(caller_path)
    for path in modules:
        library.load_module(path)
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            print(json.dumps(judged(line, oracle, library, device)), flush=True)
            os._exit(0)
        if os.waitpid(child, 0)[1] != 0:
            print(json.dumps('the judge crashed'), flush=True)


if __name__ == '__main__':
    serve(*sys.argv[1:])
