#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of README.md and of the bindings' READMEs in order, in a copy of the tree.

    walk_readmes.py here         on this machine, in a new home folder with an empty prefix
    walk_readmes.py clean-root   in a clone in a minimal Debian, made by debootstrap; needs root
    walk_readmes.py ... --page bindings/go/README.md   only that page after README.md

A page ends at its first failing command. A missing language is reported and skipped."""

import argparse
import os
import pathlib
import resource
import shlex
import shutil
import subprocess
import sys
import time

import clean_root
import readme_blocks

ROOT = readme_blocks.ROOT
WORK = ROOT / "build/readme"
SKIPPED = clean_root.SKIPPED
# Limit of the processor time of README's commands, from the clone to the first result, if only the
# cpu backend is built. The commands take four minutes on two cores.
MAX_CPU_SECONDS = 480
GPU_FILES = ("/dev/nvidiactl", "/dev/kfd")


def copy_tree(target):
    """Copies the files that git tracks or would track to the folder `target`."""
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-coz", "--exclude-standard"],
                            capture_output=True, text=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name, follow_symlinks=False)


def page_script(page, clone, state):
    """Returns the page's blocks as one script. The script of README.md exports its variables, and
    the scripts of all other pages start with these variables."""
    lines = ["set -eu", "set -a", f"[ ! -e {state} ] || . {state}", f"cd {shlex.quote(clone)}"]
    for block in readme_blocks.blocks(page):
        if not block.run:
            continue
        if block.run["needs"]:
            lines.append(f"command -v {block.run['needs']} >/dev/null || exit {SKIPPED}")
        lines += [f"echo '== {page}:{block.line}'", block.text.rstrip("\n")]
    if page.parent == pathlib.Path("."):
        lines.append(f"export -p >{state}")
    return "\n".join(lines) + "\n"


class Here:
    """A copy of the tree on this machine. Files that setup would download again are linked."""

    is_new = False

    def __init__(self):
        shutil.rmtree(WORK / "here", ignore_errors=True)
        self.clone = str(WORK / "here/project")
        self.state = str(WORK / "here/state")
        home = WORK / "here/home"
        home.mkdir(parents=True)
        copy_tree(pathlib.Path(self.clone))
        made = pathlib.Path(self.clone, "build")
        made.mkdir()
        for name in ("venv", "go", "julia"):
            if (ROOT / "build" / name).is_dir():
                (made / name).symlink_to(ROOT / "build" / name)
        before = pathlib.Path.home()
        cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME", before / ".cache"))
        self.environment = {
            **clean_root.network_variables(), "HOME": str(home), "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "CCACHE_DIR": os.environ.get("CCACHE_DIR", str(cache / "ccache")),
            "GUFUNC_CACHE_DIR": os.environ.get("GUFUNC_CACHE_DIR", str(cache / "gufunc/gufcc"))}
        for name, folder in (("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup"),
                             ("GOENV", ".config/go/env"), ("PIP_CONFIG_FILE",
                                                           ".config/pip/pip.conf")):
            if name in os.environ or (before / folder).exists():
                self.environment[name] = os.environ.get(name, str(before / folder))

    def command(self):
        return ["sh"], self.environment

    def close(self):
        shutil.rmtree(WORK / "here", ignore_errors=True)


class ClonedRoot(clean_root.CleanRoot):
    """A minimal Debian with a clone of the last commit. Like the clone of a new user, it contains
    no untracked and no ignored files."""

    is_new = True

    def __init__(self):
        super().__init__(WORK)
        self.clone, self.state = "/home/user/libgufunc", "/home/user/state"
        subprocess.run(["git", "clone", "--quiet", "--no-local", ROOT, self.root / self.clone[1:]],
                       check=True)


def cpu_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def walk(page, place):
    """Runs a page. Returns "run", "skipped", or an error message."""
    command, environment = place.command()
    started, used = time.monotonic(), cpu_seconds()
    output = []
    with subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace") as process:
        process.stdin.write("{\n" + page_script(page, place.clone, place.state) + "} </dev/null\n")
        process.stdin.close()
        for line in process.stdout:
            output.append(line)
            print(line, end="", flush=True)
    used = cpu_seconds() - used
    print(f"== {page}: {time.monotonic() - started:.0f} s, {used:.0f} s of processors", flush=True)
    if process.returncode == SKIPPED:
        return "skipped"
    if process.returncode != 0:
        return f"exit status {process.returncode}"
    # If the machine has no GPU, script/demo builds only the cpu backend, so the limit applies.
    cpu_alone = place.is_new and not any(map(os.path.exists, GPU_FILES))
    if cpu_alone and page == pathlib.Path("README.md") and used > MAX_CPU_SECONDS:
        return f"took {used:.0f} s of processors, expected at most {MAX_CPU_SECONDS}"
    for block in readme_blocks.blocks(page):
        prints = block.run and block.run["prints"]
        if prints and (ROOT / prints).read_text() not in "".join(output):
            return f"did not print what is in {prints}"
    return "run"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("place", choices=("here", "clean-root"))
    parser.add_argument("--page", action="append", type=pathlib.Path)
    args = parser.parse_args()
    if args.place == "clean-root" and (lack := clean_root.CleanRoot.lacks()):
        print(f"SKIPPED: the READMEs in a clean root: {lack}", file=sys.stderr)
        sys.exit(SKIPPED)
    place = Here() if args.place == "here" else ClonedRoot()
    results = {}
    try:
        for page in readme_blocks.pages():
            if args.page and page not in args.page and page != pathlib.Path("README.md"):
                continue
            results[page] = walk(page, place)
            if page == pathlib.Path("README.md") and results[page] != "run":
                break  # all other pages need the installation that README.md makes
    finally:
        place.close()
    for page, result in results.items():
        print(f"{'SKIPPED: ' if result == 'skipped' else ''}{page}: {result}")
    sys.exit(any(result not in ("run", "skipped") for result in results.values()))


if __name__ == "__main__":
    main()
