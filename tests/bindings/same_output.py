#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a program and compares its output with a file: same_output.py EXPECTED COMMAND..."""

import difflib
import pathlib
import subprocess
import sys

expected = pathlib.Path(sys.argv[1]).read_text()
done = subprocess.run(sys.argv[2:], capture_output=True, text=True)
lines = difflib.unified_diff(
    expected.splitlines(True), done.stdout.splitlines(True), 'expected', 'printed'
)
difference = ''.join(lines)
print(difference + done.stderr, end='')
sys.exit(1 if difference or done.returncode or not expected else 0)
