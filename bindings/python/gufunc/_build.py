# SPDX-License-Identifier: Apache-2.0
"""Modules from sources: gufcc, called once per content."""

import hashlib
import json
import os
import pathlib
import re
import secrets
import shutil
import subprocess
import tempfile

from ._errors import Error, make_refusal
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
    name     of the module: letters, digits and underscores; the source's by default
    targets  what to compile for, as ``gufcc --targets``: "host", "all", "sm_90,gfx942"
    include  folders for #include, or one
    define   macros, or one: "NAME" or "NAME=VALUE"; the kernels' headers see them, too
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
    name = _name_of(paths, texts) if name is None else _checked(name)
    settings = [f"--name={name}", f"--targets={targets}",
                *(f"-D{item}" for item in _several(define)),
                *(f"-I{os.path.abspath(item)}" for item in _several(include)),
                *map(str, _several(options))]
    key = _hash([*settings, *texts, *(os.path.abspath(path) for path in paths),
                 *(_content(path) for path in paths), _stamp(compiler)])
    place = folder / key[:32]
    module = _fresh(place, f"{name}.so") or _compile(compiler, settings, texts, paths, place, name)
    return load(module, context=context) if load_module else module


def _checked(name):
    """A name that is a file's, too."""
    if not isinstance(name, str) or not re.fullmatch(r"\w+", name, re.ASCII):
        raise make_refusal(f"name: found {name!r}, wanted letters, digits and underscores")
    return name


def _several(items):
    """One is as good as a list of it."""
    return [items] if isinstance(items, (str, os.PathLike)) else items


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


def _fresh(place, name):
    """The module that was made of all files as they are now, or None."""
    if not place.is_dir():
        return None
    for made in sorted(place.iterdir()):
        try:
            known = json.loads((made / "made_of.json").read_text())
            if (made / name).is_file() and all(_hash([_content(path)]) == digest
                                               for path, digest in known.items()):
                return made / name
        except (OSError, ValueError):
            continue
    return None


def _compile(compiler, settings, texts, paths, place, name):
    """The module, made in a folder that nobody looks into until it is whole."""
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place.parent, prefix=".") as room:
        final = pathlib.Path(room) / "whole"
        final.mkdir()
        depfile = pathlib.Path(room) / "made_of.d"
        if texts:
            source = pathlib.Path(room) / f"{name}.guf.cpp"
            source.write_text(texts[0])
            paths = [str(source)]
        command = [compiler, *paths, "-o", str(final / f"{name}.so"), f"--depfile={depfile}",
                   *settings]
        run = subprocess.run(command, capture_output=True, text=True)
        if run.returncode != 0:
            failure = BuildError((run.stderr or run.stdout).strip() or "gufcc failed")
            failure.message, failure.command = failure.args[0], tuple(command)
            raise failure
        used = [path for path in _dependencies(depfile) if not path.startswith(room)]
        known = json.dumps({path: _hash([_content(path)]) for path in used}, sort_keys=True)
        (final / "made_of.json").write_text(known)
        return _put(final, place / _hash([known])[:16]) / f"{name}.so"


def _put(final, place):
    """The place that it has then. What lies there already may be in use by any process: it is of
    the same content, and stays; if somebody has damaged it, the new one gets another place."""
    place.parent.mkdir(exist_ok=True)
    try:
        os.rename(final, place)
        return place
    except OSError:
        pass
    names = {item.name for item in final.iterdir()}
    if place.is_dir() and names <= {item.name for item in place.iterdir()}:
        return place
    other = place.with_name(f"{place.name}.{secrets.token_hex(4)}")
    os.rename(final, other)
    return other


def _dependencies(depfile):
    """The files behind the colon of a rule for make."""
    try:
        text = depfile.read_text()
    except OSError:
        return []
    _, _, files = text.replace("\\\n", " ").partition(": ")
    return [part.replace("\\ ", " ") for part in re.split(r"(?<!\\)\s+", files.strip()) if part]
