# SPDX-License-Identifier: Apache-2.0
"""A minimal Debian, made by debootstrap, in which tests run commands as on a new machine."""

import os
import pathlib
import re
import shutil
import subprocess

SKIPPED = 77
SUITE = "bookworm"
# The variables that a machine needs to reach its package indexes: proxies, certificates, mirrors.
NETWORK = re.compile(r"(SSL_CERT_|PIP_|CARGO_(NET|HTTP|REGISTR)|GOPROXY|GOSUMDB|GOFLAGS|CURL_CA|"
                     r"REQUESTS_CA|\w+_proxy$|\w+_PROXY$)", re.ASCII)
NETWORK_FILES = ("/etc/apt/sources.list.d/debian.sources", "/etc/apt/apt.conf.d", "/etc/ssl",
                 "/etc/resolv.conf", "/etc/hosts", "/etc/pip.conf")
HOME_FILES = (".config/pip", ".config/go/env", ".cargo/config.toml")


def network_variables():
    return {name: value for name, value in os.environ.items() if NETWORK.match(name)}


class CleanRoot:
    """A minimal Debian below `work`, entered with chroot in a mount namespace. The downloaded
    system stays in `work` as an archive for the next time."""

    ENTER = ('mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && '
             'mount -t tmpfs -o mode=1777 tmpfs "$0/tmp" && exec chroot "$0" /bin/sh')

    @staticmethod
    def lacks():
        """Returns why the minimal Debian cannot be made, or an empty text."""
        if os.geteuid() != 0:
            return "it needs root"
        for program in ("debootstrap", "unshare", "chroot"):
            if shutil.which(program) is None:
                return f"{program} is not installed"
        try:
            subprocess.run(["unshare", "--mount", "true"], check=True, capture_output=True)
        except subprocess.CalledProcessError:
            return "this machine allows no mount namespaces"
        return "" if CleanRoot.mirror() else "apt names no mirror of Debian"

    @staticmethod
    def mirror():
        indexes = subprocess.run(["apt-get", "indextargets", "--format", "$(REPO_URI)",
                                  "Created-By: Packages", "Origin: Debian", f"Codename: {SUITE}"],
                                 capture_output=True, text=True).stdout.split()
        return indexes[0] if indexes else ""

    def __init__(self, work):
        base = work / f"{SUITE}.tar"
        work.mkdir(parents=True, exist_ok=True)
        if not base.exists():
            fresh = work / SUITE
            shutil.rmtree(fresh, ignore_errors=True)
            subprocess.run(["debootstrap", "--variant=minbase", "--include=ca-certificates",
                            SUITE, fresh, self.mirror()], check=True, stdout=subprocess.DEVNULL)
            subprocess.run(["tar", "-C", fresh, "-cf", f"{base}.part", "."], check=True)
            pathlib.Path(f"{base}.part").rename(base)
            shutil.rmtree(fresh)
        self.root = work / "root"
        self.close()
        self.root.mkdir()
        subprocess.run(["tar", "-C", self.root, "-xf", base], check=True)
        (self.root / "etc/apt/sources.list").unlink(missing_ok=True)
        variables = network_variables()
        for name in [*NETWORK_FILES, *(v for v in variables.values() if v.startswith("/"))]:
            self.copy_from_host(pathlib.Path(name), pathlib.Path(name))
        for name in HOME_FILES:
            self.copy_from_host(pathlib.Path.home() / name, pathlib.Path("/root") / name)
        self.environment = {
            **variables, "HOME": "/root", "LANG": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive",
            "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}

    def copy_from_host(self, source, target):
        """Copies a file or folder of this machine into the minimal Debian. For a symbolic link,
        copies the file that it points to. An existing link at the target is replaced."""
        target = self.root / str(target)[1:]
        if source.is_dir():
            target.mkdir(parents=True, exist_ok=True)
            source = f"{source}/."
        elif not source.is_file():
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        # cp reports dangling links and skips them.
        subprocess.run(["cp", "-aL", "--remove-destination", source, target], check=False)

    def command(self):
        return (["unshare", "--mount", "--propagation", "private", "sh", "-c", self.ENTER,
                 str(self.root)], self.environment)

    def close(self):
        if self.root.exists():  # mounts are gone with their namespace
            subprocess.run(["rm", "-rf", "--one-file-system", self.root], check=True)
