#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Installs the project, moves the prefix, and builds an external project with find_package and
pkg-config."""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SUM = "0.1.0: 11 22 33\n"
TWICE_THE_SUM = "0.1.0: 22 44 66\n"
LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)(?:#[^)]*)?\)")
# Paths of sources and headers of the library and its tools, which are not installed.
PRIVATE = re.compile(r"\b(?:core|backends|kernels/standard|abi/src|tools)/[\w/*-]+\.(?:h|hpp|cc)\b")


def run(*command, **more):
    print("$", *command, flush=True)
    return subprocess.run([str(word) for word in command], check=True, **more)


def output(*command, **more):
    return run(*command, stdout=subprocess.PIPE, text=True, **more).stdout


def expect(what, found, expected):
    if found != expected:
        sys.exit(f"{what}: expected {expected!r}, got {found!r}")
    print(f"{what}: good")


def install_and_move(args, folder):
    """Installs, moves the prefix and returns it, and checks that no text contains the old path."""
    first, prefix = folder / "first", folder / "moved here"
    run(args.cmake, "--install", args.build, "--prefix", first, stdout=subprocess.DEVNULL)
    first.rename(prefix)
    for path in [*prefix.rglob("*.cmake"), *prefix.rglob("*.pc")]:
        text = path.read_text()
        for gone in (str(first), str(args.build), str(ROOT)):
            if gone in text:
                sys.exit(f"{path.name} names {gone}, where nothing will be")
    return prefix


def headers_complete(prefix):
    def listing(include):
        return sorted(str(p.relative_to(include)) for p in include.rglob("*.h*"))
    own = [name for folder in ("abi", "kernels", "bindings/cpp", "backends/sdk")
           for name in listing(ROOT / folder / "include")]
    expect("installed headers", listing(prefix / "include"), sorted(own))


def documentation_complete(prefix):
    """Checks that each link leads to an installed file, and that no page names a source file that
    is not installed."""
    docs = next(prefix.rglob("README.md")).parent
    expect("licence, pages, examples",
           [(docs / name).is_file() for name in ("LICENSE", "docs/kernels.md",
                                                 "examples/c/discriminant.c",
                                                 "bindings/python/README.md")], [True] * 4)
    dead, private = [], []
    for page in docs.rglob("*.md"):
        text = page.read_text()
        dead += [f"{page.relative_to(docs)}: {target}" for target in LINK.findall(text)
                 if not (page.parent / target).exists()]
        if page.name != "CHANGELOG.md":
            private += [f"{page.relative_to(docs)}: {name}" for name in PRIVATE.findall(text)]
    expect("dead links", dead, [])
    expect("private files that pages name", private, [])


def pages_complete(prefix):
    """Checks that the files that the shell and man tests below need exist."""
    expect("manual pages, completions",
           [name for name in ("man/man1/gufunc.1", "man/man1/gufcc.1",
                              "bash-completion/completions/gufunc", "zsh/site-functions/_gufunc",
                              "fish/vendor_completions.d/gufunc.fish")
            if not (prefix / "share" / name).is_file()], [])


def components_alone(args, folder):
    """Checks that the install component of each plugin installs only this plugin."""
    for plugin in sorted((pathlib.Path(args.build) / "lib/gufunc/1").glob("*.so")):
        prefix = folder / plugin.stem
        run(args.cmake, "--install", args.build, "--prefix", prefix, "--component",
            plugin.stem.removeprefix("lib"), stdout=subprocess.DEVNULL)
        expect(f"component of {plugin.name}",
               [p.name for p in prefix.rglob("*") if not p.is_dir()], [plugin.name])


def by_find_package(args, prefix, folder):
    build = folder / "consumer"
    flags = f"-fsanitize={args.sanitize}" if args.sanitize else ""
    run(args.cmake, "-G", "Ninja", "-S", HERE / "consumer", "-B", build,
        f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_C_FLAGS={flags}", f"-DCMAKE_CXX_FLAGS={flags}",
        f"-DEXAMPLES={ROOT / 'examples'}")
    run(args.cmake, "--build", build)
    expect("find_package", output(build / "consumer"), SUM)
    nowhere = folder / "no plugins"
    nowhere.mkdir()
    alone = {**os.environ, "GUFUNC_BACKEND_PATH": str(nowhere)}
    refused = subprocess.run([build / "consumer"], env=alone, stdout=subprocess.DEVNULL).returncode
    expect("no plugin, none inside: fails", refused != 0, True)
    expect("the cpu backend inside", output(build / "consumer_static", env=alone), SUM)
    expect("the module with it", output(build / "consumer_static", build / "twice.so", env=alone),
           TWICE_THE_SUM)
    expect("gufunc_add_module", output(build / "consumer", build / "twice.so"), TWICE_THE_SUM)
    plugins = build / "lib/gufunc/1"
    for name in ("stranger", "minimal"):
        run(sys.executable, ROOT / "tools/check_symbols.py", "--plugin",
            plugins / f"libgufunc_backend_{name}.so")
    expect("a backend on the SDK",
           output(build / "use_backend", plugins / "libgufunc_backend_minimal.so"),
           (ROOT / "examples/backend/use_backend.out").read_text())


def by_pkg_config(args, prefix, folder):
    libdir = next(prefix.rglob("gufunc.pc")).parent.parent
    environment = {**os.environ, "PKG_CONFIG_PATH": str(libdir / "pkgconfig")}
    flags = output("pkg-config", "--cflags", "--libs", "gufunc", env=environment)
    backends = output("pkg-config", "--variable=backenddir", "gufunc-backend", env=environment)
    backends = pathlib.Path(backends.strip().replace("\\ ", " "))
    built = pathlib.Path(args.build) / "lib/gufunc/1"
    expect("plugins", sorted(p.name for p in backends.iterdir()),
           sorted(p.name for p in built.iterdir()))

    program = folder / "by_pkg_config"
    sanitize = f"-fsanitize={args.sanitize}" if args.sanitize else ""
    source = HERE / "consumer/consumer.c"
    compile_line = f"{args.cc} -std=c11 -Wall -Wextra -Werror {sanitize} '{source}' -o '{program}' "
    run("sh", "-c", compile_line + flags)
    environment["LD_LIBRARY_PATH"] = str(libdir)
    expect("pkg-config", output(program, env=environment), SUM)

    gufcc = output("pkg-config", "--variable=gufcc", "gufunc", env=environment).strip()
    module = folder / "twice.so"
    source = HERE / "consumer/twice.guf.cpp"
    run(gufcc.replace("\\ ", " "), source, "-o", module, "--targets", "host")
    expect("gufcc", output(program, module, env=environment), TWICE_THE_SUM)


def by_readme_commands(args, folder):
    """Runs the commands of README.md with another build folder, compiler and home directory."""
    shell = re.search(r"<!-- run by tests/install/install_test.py[^\n]* -->\n```sh\n(.*?)```",
                      (ROOT / "README.md").read_text(), re.DOTALL)[1]
    sanitize = f"-fsanitize={args.sanitize}" if args.sanitize else ""
    shell = shell.replace("build/release", f"'{args.build}'")
    for name, command in (("cc", f"{args.cc} {sanitize}"), ("cmake", args.cmake)):
        shell = shell.replace(f"\n{name} ", f"\n{command} ")
    home = folder / "home"
    home.mkdir()
    (home / "examples").symlink_to(ROOT / "examples")
    text = output("sh", "-euc", shell, cwd=home, env={**os.environ, "HOME": str(home)})
    expected = (ROOT / "examples/c/discriminant.out").read_text()
    expect("README.md", text[-len(expected):], expected)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("build", "cmake", "cc"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--sanitize", default="")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name).resolve()
        prefix = install_and_move(args, folder)
        headers_complete(prefix)
        documentation_complete(prefix)
        pages_complete(prefix)
        components_alone(args, folder)
        by_find_package(args, prefix, folder)
        by_pkg_config(args, prefix, folder)
        by_readme_commands(args, folder)


if __name__ == "__main__":
    main()
