#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a wheel with the package, the library, its plugins, gufcc and the headers for kernels from
a build tree. Run it with the Python for which the extension was built.

    make_wheel.py --build build/release --output wheels --version 0.1.0"""

import argparse
import base64
import hashlib
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
# A fixed time stamp, so that the same files result in the same wheel.
EPOCH = (1980, 1, 1, 0, 0, 0)


def fill(package, build):
    """Copies the contents of the wheel into `package`."""
    shutil.copytree(build / "bindings/python/gufunc", package,
                    ignore=shutil.ignore_patterns("__pycache__"))
    plugins = package / "lib/gufunc/1"
    plugins.mkdir(parents=True)
    library = build / "lib/libgufunc.so"
    soname = next(p for p in (build / "lib").glob("libgufunc.so.*.*")
                  if p.name.count(".") == 3)  # libgufunc.so.0.1
    shutil.copy(library.resolve(), package / "lib" / soname.name)
    for plugin in sorted((build / "lib/gufunc/1").glob("libgufunc_backend_*.so")):
        shutil.copy(plugin, plugins)
    if (build / "bin/gufcc").exists():
        (package / "bin").mkdir()
        shutil.copy(build / "bin/gufcc", package / "bin")
        shutil.copytree(build / "include", package / "include")


def set_search_path(module, cmake):
    """Sets the run path of the extension, so that it finds the library in the package and not in
    the build tree."""
    with tempfile.TemporaryDirectory() as folder:
        script = pathlib.Path(folder, "rpath.cmake")
        script.write_text(f'file(RPATH_SET FILE "{module}" NEW_RPATH "$ORIGIN/lib")\n')
        subprocess.run([cmake, "-P", script], check=True, stdout=subprocess.DEVNULL)


def metadata(version):
    readme = ROOT / "bindings/python/README.md"
    text = readme.read_text() if readme.exists() else ""
    return ("Metadata-Version: 2.1\nName: gufunc\n"
            f"Version: {version}\n"
            "Summary: NumPy's ufuncs on the CPU and GPUs\n"
            "License: Apache-2.0\n"
            f"Requires-Python: >={sys.version_info[0]}.{sys.version_info[1]}\n"
            "Provides-Extra: numpy\nRequires-Dist: numpy; extra == 'numpy'\n"
            "Description-Content-Type: text/markdown\n\n" + text)


def add(wheel, name, data, mode, records):
    entry = zipfile.ZipInfo(name, EPOCH)
    entry.external_attr = (0o100000 | mode) << 16
    entry.compress_type = zipfile.ZIP_DEFLATED
    wheel.writestr(entry, data)
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    records.append(f"{name},sha256={digest},{len(data)}")


def write(package, output, version):
    """Writes the wheel and returns its path."""
    number = f"{sys.version_info[0]}{sys.version_info[1]}"
    tag = f"cp{number}-cp{number}-linux_x86_64"
    info, records = f"gufunc-{version}.dist-info", []
    output.mkdir(parents=True, exist_ok=True)
    path = output / f"gufunc-{version}-{tag}.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        for file in sorted(p for p in package.rglob("*") if p.is_file()):
            executable = file.parent.name == "bin" or ".so" in file.suffixes
            name = "gufunc/" + file.relative_to(package).as_posix()
            add(wheel, name, file.read_bytes(), 0o755 if executable else 0o644, records)
        add(wheel, f"{info}/METADATA", metadata(version).encode(), 0o644, records)
        add(wheel, f"{info}/LICENSE", (ROOT / "LICENSE").read_bytes(), 0o644, records)
        add(wheel, f"{info}/WHEEL",
            f"Wheel-Version: 1.0\nGenerator: gufunc\nRoot-Is-Purelib: false\nTag: {tag}\n".encode(),
            0o644, records)
        text = "\n".join([*records, f"{info}/RECORD,,", ""])
        wheel.writestr(zipfile.ZipInfo(f"{info}/RECORD", EPOCH), text)
    return path


def make(build, output, version, cmake):
    """Writes a wheel from a build tree and returns its path."""
    with tempfile.TemporaryDirectory() as folder:
        package = pathlib.Path(folder, "gufunc")
        fill(package, build.resolve())
        set_search_path(package / "_gufunc.so", cmake)
        return write(package, output, version)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("--version", required=True)
    parser.add_argument("--cmake", default="cmake")
    args = parser.parse_args()
    print(make(args.build, args.output, args.version, args.cmake))


if __name__ == "__main__":
    main()
