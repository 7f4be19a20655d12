#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""script/setup without root and without sudo must report what is missing before it changes
anything."""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
STUBS = {"id": "echo 1000", "dpkg-query": "exit 1", "apt-get": "echo apt-get called; exit 1"}


def main():
    with tempfile.TemporaryDirectory() as name:
        bin_folder, script = pathlib.Path(name, "bin"), pathlib.Path(name, "script")
        bin_folder.mkdir()
        script.mkdir()
        shutil.copy(ROOT / "script/setup", script)
        for tool in ("dirname", "grep", "env"):
            (bin_folder / tool).symlink_to(shutil.which(tool))
        for stub, text in STUBS.items():
            (bin_folder / stub).write_text(f"#!/bin/sh\n{text}\n")
            (bin_folder / stub).chmod(0o755)
        result = subprocess.run(["/bin/sh", script / "setup"], env={"PATH": str(bin_folder)},
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    message = re.search(r"needs root or sudo.*apt-get install .*clang-19", result.stdout)
    if result.returncode == 0 or not message or "called" in result.stdout:
        sys.exit(f"rc {result.returncode}, output:\n{result.stdout}")
    print("reports what is missing: good")


if __name__ == "__main__":
    main()
