# SPDX-License-Identifier: Apache-2.0
"""Modules from sources: gufcc, called once per content."""

import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

from ._errors import Error
from ._ufunc import load


class BuildError(Error):
    """gufcc refused the source; the message is what it printed. `command` is what was run."""

    command = ()


def find_gufcc():
    """The compiler: ``GUFUNC_GUFCC``, in this package, beside the library, or on PATH."""
    from ._library import library_path

    here = pathlib.Path(__file__).parent
    found = library_path()
    places = [os.environ.get("GUFUNC_GUFCC"), here / "bin" / "gufcc",
              found and pathlib.Path(found).parent.parent / "bin" / "gufcc", shutil.which("gufcc")]
    for place in places:
        if place and os.access(place, os.X_OK):
            return str(place)
    raise FileNotFoundError("gufcc is not installed: set GUFUNC_GUFCC, or put it on PATH")


def build(source, *, name=None, targets="host", include=(), define=(), options=(), cache=None,
          load_module=True, context=None):
    """Compiles kernels with gufcc and loads them: a Module, or with load_module=False its path.

    source   a path, several, or a source's text (which has a line break)
    name     of the module; the source's by default
    targets  what to compile for, as ``gufcc --targets``: "host", "all", "sm_90,gfx942"
    include  folders for #include
    define   macros: "NAME" or "NAME=VALUE"
    options  other options of gufcc
    cache    a folder; ``GUFUNC_BUILD_CACHE``, or ~/.cache/gufunc/build, by default

    A module is made once for a content: the source's, that of every file it includes, the options
    and the compiler. Blocks while gufcc runs. Errors: BuildError.
    """
    compiler = find_gufcc()
    folder = pathlib.Path(cache or os.environ.get("GUFUNC_BUILD_CACHE")
                          or pathlib.Path(os.environ.get("XDG_CACHE_HOME")
                                          or pathlib.Path.home() / ".cache") / "gufunc" / "build")
    texts, paths = _sources(source)
    name = name or _name_of(paths, texts)
    settings = [f"--name={name}", f"--targets={targets}", *(f"-D{item}" for item in define),
                *(f"-I{os.path.abspath(item)}" for item in include), *map(str, options)]
    key = _hash([*settings, *texts, *(os.path.abspath(path) for path in paths),
                 *(_content(path) for path in paths), _stamp(compiler)])
    place = folder / key[:32]
    module = place / f"{name}.so"
    if not _is_fresh(place):
        _compile(compiler, settings, texts, paths, place, module)
    return load(module, context=context) if load_module else module


def _sources(source):
    """(texts, paths): one of them is empty."""
    if isinstance(source, str) and "\n" in source:
        return [source], []
    several = [source] if isinstance(source, (str, os.PathLike)) else list(source)
    for path in several:
        if not os.path.isfile(path):
            raise FileNotFoundError(f"no source {os.fspath(path)!r}")
    return [], [os.fspath(path) for path in several]


def _name_of(paths, texts):
    """A module's name has letters, digits and underscores."""
    if paths:
        base = os.path.basename(paths[0]).partition(".")[0]
        return re.sub(r"\W", "_", base)
    return "built_" + _hash(texts)[:12]


def _hash(parts):
    digest = hashlib.sha256()
    for part in parts:
        data = part if isinstance(part, bytes) else part.encode()
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()


def _content(path):
    return pathlib.Path(path).read_bytes()


def _stamp(compiler):
    """What tells one compiler from another."""
    found = os.stat(compiler)
    return f"{compiler} {found.st_size} {found.st_mtime_ns}"


def _is_fresh(place):
    """Whether the module is there, and every file that it was made of is as it was."""
    try:
        known = json.loads((place / "made_of.json").read_text())
        return all(_hash([_content(path)]) == digest for path, digest in known.items())
    except (OSError, ValueError):
        return False


def _compile(compiler, settings, texts, paths, place, module):
    """In a folder of its own, which takes its place when it is whole: others may build the same."""
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place.parent, prefix=".") as room:
        made = pathlib.Path(room) / module.name
        depfile = pathlib.Path(room) / "made_of.d"
        if texts:
            source = pathlib.Path(room) / f"{module.stem}.guf.cpp"
            source.write_text(texts[0])
            paths = [str(source)]
        command = [compiler, *paths, "-o", str(made), f"--depfile={depfile}", *settings]
        run = subprocess.run(command, capture_output=True, text=True)
        if run.returncode != 0:
            failure = BuildError((run.stderr or run.stdout).strip() or "gufcc failed")
            failure.message, failure.command = failure.args[0], tuple(command)
            raise failure
        used = [path for path in _dependencies(depfile) if not path.startswith(room)]
        known = {path: _hash([_content(path)]) for path in used}
        (pathlib.Path(room) / "made_of.json").write_text(json.dumps(known))
        final = pathlib.Path(room + ".whole")
        shutil.copytree(room, final)
        _put(final, place)


def _put(final, place):
    """Into its place, over one that is no longer fresh. Another process's, of the same content, is
    as good."""
    try:
        if place.exists():
            shutil.rmtree(place, ignore_errors=True)
        os.rename(final, place)
    except OSError:
        shutil.rmtree(final, ignore_errors=True)
        if not _is_fresh(place):
            raise


def _dependencies(depfile):
    """The files behind the colon of a rule for make."""
    try:
        text = depfile.read_text()
    except OSError:
        return []
    _, _, files = text.replace("\\\n", " ").partition(": ")
    return [part.replace("\\ ", " ") for part in re.split(r"(?<!\\)\s+", files.strip()) if part]
