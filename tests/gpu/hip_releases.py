# SPDX-License-Identifier: Apache-2.0
"""Compares the declarations of HIP in this project with the headers of several releases of HIP.

Usage: hip_releases.py FOLDER [CXX]. The wheels of Triton contain HIP's headers. The script
downloads three wheels (0.8 GB), extracts the headers into FOLDER, and compiles the two comparisons
with each release. Releases that are in FOLDER are not downloaded again. The exit status is 77 if a
wheel is missing and cannot be downloaded.
"""
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMPARISONS = ["backends/roc/hip_api_check.cc", "tests/sim/hip/sim_hip_check.cc"]
INCLUDES = "triton/backends/amd/include/"
# The release of HIP in the wheel of each release of Triton.
RELEASES = {"3.2.0": "6.1", "3.5.1": "6.2", "3.9.0": "7.1"}


def download(triton: str, folder: pathlib.Path) -> None:
    with tempfile.TemporaryDirectory() as wheels:
        subprocess.run(
            [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check",
             "--no-deps", "--only-binary=:all:", "--python-version=3.11",
             "--platform=manylinux_2_28_x86_64", "--platform=manylinux_2_17_x86_64",
             "--dest", wheels, f"triton=={triton}"], check=True)
        (wheel,) = pathlib.Path(wheels).iterdir()
        with zipfile.ZipFile(wheel) as archive:
            names = [name for name in archive.namelist() if name.startswith(INCLUDES)]
            archive.extractall(folder, names)


def release_of(include: pathlib.Path) -> str:
    text = (include / "hip/hip_version.h").read_text()
    return ".".join(re.search(rf"HIP_VERSION_{part} (\d+)", text)[1] for part in ("MAJOR", "MINOR"))


def compiles(source: str, include: pathlib.Path, cxx: str) -> bool:
    command = [cxx, "-std=c++20", "-fsyntax-only", f"-I{ROOT}", f"-I{ROOT}/abi/include",
               "-isystem", include, ROOT / source]
    return subprocess.run(command, check=False).returncode == 0


def main(folder: str, cxx: str = "c++") -> int:
    failed = 0
    for triton, release in RELEASES.items():
        place = pathlib.Path(folder, triton)
        include = place / INCLUDES
        if not include.is_dir():
            try:
                download(triton, place)
            except subprocess.CalledProcessError:
                print(f"hip_releases: cannot download triton {triton}")
                return 77
        found = release_of(include)
        if found != release:
            print(f"hip_releases: triton {triton}: expected headers of HIP {release}, got {found}")
            failed += 1
        for source in COMPARISONS:
            agrees = compiles(source, include, cxx)
            print(f"HIP {found}: {source}: {'agrees' if agrees else 'differs'}")
            failed += not agrees
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
