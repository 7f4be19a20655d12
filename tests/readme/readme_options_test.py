#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that README.md lists exactly the options of the CMake files with their defaults, that
invalid values in the lists of backends and targets are rejected by name, and that the distribution
preset has machine code for every GPU. Argument: cmake."""

import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEFINED = re.compile(r'^ *(?:option\((GUFUNC_\w+) "[^"]*" (\S+)\)'
                     r'|set\((GUFUNC_\w+)\s+"?([^"\s]*)"?\s+CACHE)', re.MULTILINE)
FOUND = re.compile(r"^ *find_(?:program|path|library)\((GUFUNC_\w+)", re.MULTILINE)
ADVANCED = re.compile(r"^ *mark_as_advanced\(([^)]*)\)", re.MULTILINE)
ROW = re.compile(r"^\| (`GUFUNC_\w+`(?:, `GUFUNC_\w+`)*) \| (.*?) \|", re.MULTILINE)
COMPUTED = "${"
REFUSED = {
    "GUFUNC_BUILD_BACKENDS=gpu": "'gpu' is not a backend: expected any of cpu cuda roc",
    "GUFUNC_BUILD_BACKENDS=cpu,cuda": "'cpu,cuda' is not a backend",
    "GUFUNC_BUILD_BACKENDS=cuda": "without cpu",
    "GUFUNC_BUILD_BACKENDS=": "GUFUNC_BUILD_BACKENDS is empty",
    "GUFUNC_CUDA_TARGETS=": "GUFUNC_CUDA_TARGETS is empty",
    "GUFUNC_CUDA_TARGETS=host": "'host' is not a target",
    "GUFUNC_ROC_TARGETS=": "GUFUNC_ROC_TARGETS is empty",
    "GUFUNC_ROC_TARGETS=sm_90": "'sm_90' is not a target",
    "GUFUNC_CPU_ISA_LEVELS=": "GUFUNC_CPU_ISA_LEVELS is empty",
    "GUFUNC_CPU_ISA_LEVELS=native": "'native' is not a level: expected any of v2 v3 v4 host",
}
ACCEPTED = [("GUFUNC_BUILD_BACKENDS=cpu", "GUFUNC_CUDA_TARGETS=", "GUFUNC_ROC_TARGETS="),
            ("GUFUNC_BUILD_BACKENDS=cpu;roc", "GUFUNC_ROC_TARGETS=gfx942;gfx11-generic"),
            ("GUFUNC_CUDA_TARGETS=all",), ("GUFUNC_CPU_ISA_LEVELS=host",)]


def defined():
    """Returns the names and defaults of the options in the CMake files. The variables that
    find_path, find_program and similar commands set are also options, unless they are marked as
    advanced."""
    options, advanced = {}, set()
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard"],
                            capture_output=True, text=True, check=True).stdout.splitlines()
    for name in listed:
        if name.endswith((".cmake", "CMakeLists.txt")) and (ROOT / name).is_file():
            text = (ROOT / name).read_text()
            for match in DEFINED.finditer(text):
                value = match[2] or match[4] or ""
                options[match[1] or match[3]] = value
            options |= dict.fromkeys(FOUND.findall(text), "")
            advanced.update(word for words in ADVANCED.findall(text) for word in words.split())
    return {name: value for name, value in options.items() if name not in advanced}


def check_list():
    listed = {}
    for names, defaults in ROW.findall((ROOT / "README.md").read_text()):
        for name, default in zip(re.findall(r"`(\w+)`", names), defaults.split(", ")):
            listed[name] = default.strip("`")
    options = defined()
    for name in sorted(options.keys() - listed.keys()):
        yield f"README.md does not list {name}"
    for name in sorted(listed.keys() - options.keys()):
        yield f"README.md lists {name}, which no CMake file has"
    for name in sorted(options.keys() & listed.keys()):
        value = options[name]
        if value and COMPUTED not in value and listed[name] != value:
            yield f"README.md: the default of {name} is '{value}', not '{listed[name]}'"


def check_values(cmake):
    def run(*values):
        return subprocess.run([cmake, *(f"-D{value}" for value in values), "-P",
                               ROOT / "cmake/GufuncBackends.cmake"], capture_output=True, text=True)
    for value, expected in REFUSED.items():
        done = run(value)
        text = " ".join(done.stderr.split())
        if done.returncode == 0 or expected not in text:
            yield f"{value}: expected '{expected}', got status {done.returncode}: {text}"
    for values in ACCEPTED:
        done = run(*values)
        if done.returncode != 0:
            yield f"{values}: refused: {done.stderr}"


def cache_variables(presets, name):
    """Returns the cache variables of a preset. The values of the preset take precedence over the
    values of the presets that it inherits."""
    found = dict(presets[name].get("cacheVariables", {}))
    inherited = presets[name].get("inherits", [])
    for other in [inherited] if isinstance(inherited, str) else inherited:
        found = {**cache_variables(presets, other), **found}
    return found


def check_presets():
    listed = json.loads((ROOT / "CMakePresets.json").read_text())["configurePresets"]
    dist = cache_variables({preset["name"]: preset for preset in listed}, "dist")
    expected = {"GUFUNC_CUDA_TARGETS": "all", "GUFUNC_ROC_TARGETS": "all",
              "GUFUNC_BUILD_BACKENDS": "cpu;cuda;roc", "CMAKE_BUILD_TYPE": "Release"}
    for name, value in expected.items():
        if dist.get(name) != value:
            yield f"CMakePresets.json: dist: {name} is '{dist.get(name)}', not '{value}'"


def main():
    faults = [*check_list(), *check_values(sys.argv[1]), *check_presets()]
    if faults:
        sys.exit("\n".join(faults))
    print(f"{len(defined())} options are listed")


if __name__ == "__main__":
    main()
