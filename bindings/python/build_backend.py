# SPDX-License-Identifier: Apache-2.0
"""PEP 517 backend for `pip install ./bindings/python`: CMake builds the library and the extension
for the running Python, and make_wheel.py packs them. Nothing is downloaded.

The build tree is build/pip, with the cpu backend only. Settings for ``--config-settings``:

``build-dir=build/release``                        another tree, or one that is built already
``cmake.define.GUFUNC_BUILD_BACKENDS="cpu;cuda"``  a variable of CMake
``cmake.args="-G Ninja"``                          other arguments of CMake

The environment variable CMAKE_ARGS may also contain arguments of CMake. The settings are appended
to these arguments."""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import time

import make_wheel

ROOT = make_wheel.ROOT
TARGETS = ("product", "gufunc_python_package")
# Build only the contents of a wheel. If GPU backends are requested, the wheel contains machine code
# for all supported GPUs; the preset alone would select only a few.
DEFAULTS = ("-DGUFUNC_BUILD_BACKENDS=cpu", "-DGUFUNC_CUDA_TARGETS=all", "-DGUFUNC_ROC_TARGETS=all",
            "-DGUFUNC_BUILD_PYTHON=ON", "-DGUFUNC_BUILD_TESTS=OFF", "-DGUFUNC_BUILD_BENCH=OFF",
            "-DGUFUNC_BUILD_EXAMPLES=OFF", "-DGUFUNC_BUILD_TOOLS=OFF")
DEFINE = "cmake.define."
STEP = re.compile(r"\[(\d+)/(\d+)\]")
SECONDS_BETWEEN_REPORTS = 5


def cmake_arguments(settings, environment):
    """Arguments of CMake from CMAKE_ARGS and the settings; ValueError for an unknown setting."""
    arguments = shlex.split(environment.get("CMAKE_ARGS", ""))
    for key, value in settings.items():
        values = value if isinstance(value, list) else [value]
        if key.startswith(DEFINE):
            arguments.append(f"-D{key[len(DEFINE):]}={values[-1]}")
        elif key == "cmake.args":
            arguments += [word for text in values for word in shlex.split(text)]
        elif key != "build-dir":
            raise ValueError(f"config setting '{key}' is unknown: expected build-dir, cmake.args "
                             f"or {DEFINE}<variable>")
    return arguments


def cached(build, name):
    """The value of a CMake variable of a configured build tree, or None."""
    cache = build / "CMakeCache.txt"
    found = re.search(rf"^{name}:\w+=(.*)$", cache.read_text() if cache.exists() else "", re.M)
    return found and found[1]


def find_cmake():
    cmake = shutil.which("cmake")
    if cmake is None:
        raise RuntimeError("cmake is not installed: script/setup installs what a build needs")
    return cmake


class Progress:
    """Reports progress on the terminal, because pip hides the output of a build without -v."""

    def __init__(self):
        self.started = self.reported = time.monotonic()
        try:
            self.terminal = open("/dev/tty", "w", buffering=1, encoding="utf-8")
        except OSError:
            self.terminal = None

    def report(self, text):
        self.reported = time.monotonic()
        if self.terminal is not None:
            seconds = self.reported - self.started
            self.terminal.write(f"\r\033[Kgufunc: {text} ({seconds:.0f} s)\n")

    def run(self, command):
        """Runs a command, forwards its output, and reports the steps that the output mentions."""
        with subprocess.Popen(list(map(str, command)), cwd=ROOT, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace") as process:
            for line in process.stdout:
                sys.stdout.write(line)
                sys.stdout.flush()
                step = STEP.match(line)
                if step and time.monotonic() - self.reported > SECONDS_BETWEEN_REPORTS:
                    self.report(f"built {step[1]} of {step[2]} files")
        if process.returncode != 0:
            raise RuntimeError(f"{' '.join(map(str, command))}: exit status {process.returncode}")


def configure(cmake, build, arguments, progress):
    """Configures a new tree for this Python with the preset "release", so that only the contents of
    a wheel are built. An existing tree is configured again only if there are arguments."""
    if cached(build, "CMAKE_PROJECT_VERSION") is None:
        command = [cmake, "--preset", "release", "-B", build,
                   f"-DPython_EXECUTABLE={sys.executable}", *DEFAULTS, *arguments]
    elif arguments:
        command = [cmake, build, *arguments]
    else:
        return
    progress.report("configuring " + " ".join(arguments))
    progress.run(command)


def check_python(build):
    """Checks that the tree was configured for this Python. An existing tree may be for another
    Python."""
    python = cached(build, "_Python_EXECUTABLE") or cached(build, "Python_EXECUTABLE")
    if python is None:
        raise RuntimeError("the Python binding was left out of the build: swig or the headers of "
                           "Python are not installed; script/setup installs them")
    program = "import sys; print(*sys.version_info[:2])"
    theirs = subprocess.run([python, "-c", program], capture_output=True, text=True).stdout.split()
    if theirs != [str(part) for part in sys.version_info[:2]]:
        raise RuntimeError(f"{build} is built for {python}: remove it, or name another build-dir")


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Builds the targets that are not built yet and a wheel. Returns the wheel's name."""
    settings = config_settings or {}
    arguments = cmake_arguments(settings, os.environ)
    build = (ROOT / settings.get("build-dir", "build/pip")).resolve()
    cmake = find_cmake()
    progress = Progress()
    configure(cmake, build, arguments, progress)
    check_python(build)
    progress.report(f"building the backends {cached(build, 'GUFUNC_BUILD_BACKENDS')} in {build}")
    progress.run([cmake, "--build", build, "--target", *TARGETS])
    version = cached(build, "CMAKE_PROJECT_VERSION")
    return make_wheel.make(build, pathlib.Path(wheel_directory), version, cmake).name


def build_sdist(sdist_directory, config_settings=None):
    """Not supported: the binding is built inside the repository, which contains the library."""
    raise RuntimeError("gufunc has no source distribution: pip install ./bindings/python in the "
                       "repository, or build a wheel there")
