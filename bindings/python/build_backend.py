# SPDX-License-Identifier: Apache-2.0
"""PEP 517, for `pip install ./bindings/python`: CMake builds the library and the extension for the
Python that asks, and make_wheel.py packs them. Nothing is fetched.

The build tree is build/pip; another one, or one that is built already, is named with
``pip install --config-settings build-dir=build/release ./bindings/python``."""

import pathlib
import re
import shutil
import subprocess
import sys

import make_wheel

ROOT = make_wheel.ROOT
TARGETS = ("product", "gufunc_python_package")


def cached(build, name):
    """A variable of a configured build tree, or None."""
    cache = build / "CMakeCache.txt"
    found = re.search(rf"^{name}:\w+=(.*)$", cache.read_text() if cache.exists() else "", re.M)
    return found and found[1]


def find_cmake():
    cmake = shutil.which("cmake")
    if cmake is None:
        raise RuntimeError("cmake is not installed: script/setup installs what a build needs")
    return cmake


def configure(cmake, build):
    """The tree is configured as the preset "release" is, but for this Python."""
    subprocess.run([cmake, "--preset", "release", "-B", build,
                    f"-DPython_EXECUTABLE={sys.executable}"], cwd=ROOT, check=True)


def check_python(build):
    """A tree that was there may be for another Python."""
    python = cached(build, "_Python_EXECUTABLE") or cached(build, "Python_EXECUTABLE")
    if python is None:
        raise RuntimeError("the Python binding was left out of the build: swig or the headers of "
                           "Python are not installed; script/setup installs them")
    asked = "import sys; print(*sys.version_info[:2])"
    theirs = subprocess.run([python, "-c", asked], capture_output=True, text=True).stdout.split()
    if theirs != [str(part) for part in sys.version_info[:2]]:
        raise RuntimeError(f"{build} is built for {python}: remove it, or name another build-dir")


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Builds what is not built yet; the wheel's name."""
    chosen = (config_settings or {}).get("build-dir")
    build = (ROOT / chosen if chosen else ROOT / "build/pip").resolve()
    cmake = find_cmake()
    if cached(build, "CMAKE_PROJECT_VERSION") is None:
        configure(cmake, build)
    check_python(build)
    subprocess.run([cmake, "--build", build, "--target", *TARGETS], check=True)
    version = cached(build, "CMAKE_PROJECT_VERSION")
    return make_wheel.make(build, pathlib.Path(wheel_directory), version, cmake).name


def build_sdist(sdist_directory, config_settings=None):
    """The binding is built inside the repository, which holds the library."""
    raise RuntimeError("gufunc has no source distribution: pip install ./bindings/python in the "
                       "repository, or build a wheel there")
