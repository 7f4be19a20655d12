# SPDX-License-Identifier: Apache-2.0
"""Builds modules from sources with gufcc. Each distinct content is compiled once and cached."""

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
    """gufcc failed. The message is the output of gufcc; `command` is its command line."""

    command = ()


def find_gufcc():
    """The path of gufcc: ``GUFUNC_GUFCC``, or else the first gufcc in this package, in the folder
    ``bin`` next to the folder of the library, or on PATH."""
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
    """Compiles kernels with gufcc and loads them. Returns a Module, or the path of the module file
    with load_module=False.

    source   a path, several paths, or the text of a source (which contains a line break)
    name     the name of the module: letters, digits and underscores; by default the source's name
    targets  the targets, as in ``gufcc --targets``: "host", "all", "sm_90,gfx942"
    include  one or several folders for #include
    define   one or several macros: "NAME" or "NAME=VALUE"; also defined in the headers for kernels
    options  other options of gufcc
    cache    the cache folder; by default ``GUFUNC_BUILD_CACHE``, else gufunc/build in
             ``XDG_CACHE_HOME`` or ~/.cache

    A module is compiled again only if the content of the source or of an included file, the
    options or the compiler change. Blocks while gufcc runs. BuildError if gufcc fails.
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
    """Checks the name of a module, which is also a file name."""
    if not isinstance(name, str) or not re.fullmatch(r"\w+", name, re.ASCII):
        raise make_refusal(f"name: expected letters, digits and underscores, got {name!r}")
    return name


def _several(items):
    """`items` as a list; a single path or string becomes a list of one."""
    return [items] if isinstance(items, (str, os.PathLike)) else items


def _sources(source):
    """(texts, paths) of the sources. One of the two is empty."""
    if isinstance(source, str) and "\n" in source:
        return [source], []
    several = [source] if isinstance(source, (str, os.PathLike)) else list(source)
    for path in several:
        if not os.path.isfile(path):
            raise FileNotFoundError(f"no source {os.fspath(path)!r}")
    return [], [os.fspath(path) for path in several]


def _name_of(paths, texts):
    """The default name of a module: the name of the first source, or a hash of the text."""
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
    """Identifies a compiler by its path, size and modification time."""
    found = os.stat(compiler)
    return f"{compiler} {found.st_size} {found.st_mtime_ns}"


def _fresh(place, name):
    """The cached module that was built from the present content of its files, or None."""
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
    """Compiles the module in a temporary folder and moves it to the cache once it is complete."""
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place.parent, prefix=".") as folder:
        final = pathlib.Path(folder) / "whole"
        final.mkdir()
        depfile = pathlib.Path(folder) / "made_of.d"
        if texts:
            source = pathlib.Path(folder) / f"{name}.guf.cpp"
            source.write_text(texts[0])
            paths = [str(source)]
        command = [compiler, *paths, "-o", str(final / f"{name}.so"), f"--depfile={depfile}",
                   *settings]
        run = subprocess.run(command, capture_output=True, text=True)
        if run.returncode != 0:
            failure = BuildError((run.stderr or run.stdout).strip() or "gufcc failed")
            failure.message, failure.command = failure.args[0], tuple(command)
            raise failure
        used = [path for path in _dependencies(depfile) if not path.startswith(folder)]
        known = json.dumps({path: _hash([_content(path)]) for path in used}, sort_keys=True)
        (final / "made_of.json").write_text(known)
        return _put(final, place / _hash([known])[:16]) / f"{name}.so"


def _put(final, place):
    """Moves the folder `final` to `place` and returns its path. An existing folder at `place` has
    the same content and may be in use by another process, so it is kept. If the existing folder
    lacks files, the new folder gets another name."""
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
    """The prerequisites of the make rule in a dependency file."""
    try:
        text = depfile.read_text()
    except OSError:
        return []
    _, _, files = text.replace("\\\n", " ").partition(": ")
    return [part.replace("\\ ", " ") for part in re.split(r"(?<!\\)\s+", files.strip()) if part]
