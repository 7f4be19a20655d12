#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the exports, imports and loader flags of libgufunc and its plugins. With --write, adds the
functions that the headers declare to the list of symbols."""

import argparse
import pathlib
import re
import subprocess

import source_tree as tree

PLUGIN_ENTRY = "gufunc_backend_open_v1"
# Undefined symbols that our libraries must not have, demangled and without version.
FORBIDDEN = {
    "ends the process": r"abort|exit|_exit|_Exit|quick_exit|__assert_fail|__assert_perror_fail",
    "prints": r"(__)?v?d?f?w?printf(_chk)?|puts|puts_unlocked|f?put(w?c|w?char|s|ws)(_unlocked)?"
              r"|perror|psignal|std(out|err)|v?(warn|err)x?|v?syslog"
              r"|std::w?(cout|cerr|clog|cin)|std::ios_base::Init::.*",
    "runs at exit": r"(__cxa_)?(thread_)?at(_quick_)?exit(_impl)?|on_exit",
    "trusts the environment": r"getenv|(un)?setenv|putenv|clearenv|system|popen",
}
DECLARATION = re.compile(r"^GUF_API [^;(]*?\b(guf\w+)\s*\(", re.MULTILINE)
VERSION_NODE = re.compile(r"^GUFUNC_([\d.]+)", re.MULTILINE)
NEVER_NEEDED = re.compile(r"libgufunc|libcuda|libamdhip64|libOpenCL")


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def exported(path):
    """Returns the symbols that `path` defines, with their kind. Version nodes (absolute symbols)
    are left out."""
    names = {}
    for line in run("nm", "-D", "--defined-only", path).splitlines():
        *_, kind, name = line.split()
        if kind != "A":
            names[name.split("@")[0]] = kind
    return names


def listed(path):
    """Returns the names of the symbols in symbols.txt, which are its first column."""
    rows = [line.split("#")[0].split() for line in path.read_text().splitlines()]
    return [row[0] for row in rows if row]


def compare(path, expected):
    found = exported(path)
    for name in sorted(set(found) - set(expected)):
        yield f"{path}: exports {name}, which is not listed"
    for name in sorted(set(expected) - set(found)):
        yield f"{path}: does not export {name}"
    if expected != sorted(expected):
        yield f"{path}: the list of symbols is not sorted"
    for name, kind in found.items():
        if kind == "u":
            yield f"{path}: {name} is STB_GNU_UNIQUE: it pins the library and is shared by copies"


def declarations(include):
    """Returns the names of the functions of libgufunc that the headers declare."""
    text = "".join((include / header).read_text() for header in tree.files(include, {".h"}))
    # Plugins define the plugin entry. libgufunc does not define it, although a header declares it.
    return set(DECLARATION.findall(text)) - {PLUGIN_ENTRY}


def declared(include, expected):
    """Compares the functions that the headers declare with the names in symbols.txt."""
    names = declarations(include)
    for name in sorted(names - set(expected)):
        yield f"{include}: declares {name}, which is not listed"
    for name in sorted(set(expected) - names):
        yield f"{include}: does not declare {name}"


def write(path, include):
    """Adds the functions that the headers declare to symbols.txt, with the newest version of the
    symbol map. Removes nothing: a removed function breaks programs that use it."""
    lines = path.read_text().splitlines()
    comment = [line for line in lines if line.startswith("#")]
    rows = {line.split()[0]: line for line in lines[len(comment):]}
    version = VERSION_NODE.findall((path.parent / "gufunc.map").read_text())[-1]
    for name in declarations(include) - set(rows):
        rows[name] = f"{name:<34} {version}  unstable"
    path.write_text("\n".join(comment + [rows[name] for name in sorted(rows)]) + "\n")


def imports(path):
    for line in run("nm", "-D", "--undefined-only", "--demangle", path).splitlines():
        name = line.split(maxsplit=1)[1].split("@")[0]
        for why, pattern in FORBIDDEN.items():
            if re.fullmatch(pattern, name):
                yield f"{path}: uses {name}: {why}"


def loading(path, plugin):
    dynamic = run("readelf", "--dynamic", "--wide", path)
    if "NODELETE" not in dynamic:
        yield f"{path}: may be unloaded (link it with -z nodelete)"
    if "STATIC_TLS" in dynamic:
        yield f"{path}: needs static TLS, which dlopen may not have left"
    if plugin:
        if re.search(r"^\s*TLS\s", run("readelf", "--segments", "--wide", path), re.MULTILINE):
            yield f"{path}: has thread-local variables: the loader ends the process if it finds " \
                  "no memory for them"
        for needed in re.findall(r"NEEDED.*\[(.*)\]", dynamic):
            if NEVER_NEEDED.match(needed):
                yield f"{path}: needs {needed}: plugins open it themselves, or do without"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--library", type=pathlib.Path)
    parser.add_argument("--list", type=pathlib.Path,
                        help="file with the names of the library's exports")
    parser.add_argument("--include", type=pathlib.Path,
                        help="folder of the headers that declare the exports")
    parser.add_argument("--plugin", type=pathlib.Path, action="append", default=[])
    parser.add_argument("--write", action="store_true", help="write the list")
    args = parser.parse_args()
    if args.write:
        write(args.list, args.include)
        return

    findings = []
    if args.list:
        findings += declared(args.include, listed(args.list))
    if args.library:
        findings += compare(args.library, listed(args.list))
        findings += [*imports(args.library), *loading(args.library, plugin=False)]
    for plugin in args.plugin:
        findings += compare(plugin, [PLUGIN_ENTRY])
        findings += [*imports(plugin), *loading(plugin, plugin=True)]
    tree.finish("symbols", findings, len(args.plugin) + bool(args.list))


if __name__ == "__main__":
    main()
