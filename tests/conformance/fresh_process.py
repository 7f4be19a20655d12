# SPDX-License-Identifier: Apache-2.0
"""A case judged where NumPy has been called for nothing else: its answers may depend on earlier
calls (keyword_cases.remembers). One process imports all that is needed, and has a child of its own
for every case.

    fresh_process.py LIBRARY DEVICE CALLER [MODULE]

reads a case in JSON a line, and writes a line with what differs."""

import atexit
import json
import os
import subprocess
import sys

STARTED = {}


def difference(case, library):
    """The sentence of the case's judge, or None. The process has the library's device and modules.
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
        if device:  # of the child's own: devices do not outlive a fork
            library.use_device(device)
        case = json.loads(line)
        return oracle.judged(case, library)
    except Exception as error:  # noqa: BLE001 - told like a difference
        return f'the judge failed: {type(error).__name__}: {error}'


def serve(library_path, device, caller_path, *modules):
    import oracle  # which imports this file

    oracle.np.seterr(all='ignore')
    library = oracle.abi_methods.Library(library_path)
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
