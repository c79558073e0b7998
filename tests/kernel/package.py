"""Kernels that distributions ship: downloaded and unpacked, never installed.

The package lists and packages of each kernel are in a folder of its own, so that neither the sources nor the state of this
system's apt change, and root is not needed.
"""

import re
import shutil
import subprocess
from pathlib import Path

DEBIAN = "http://deb.debian.org/debian"
DEBIAN_KEYS = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
UBUNTU = "http://archive.ubuntu.com/ubuntu"
UBUNTU_KEYS = Path("/usr/share/keyrings/ubuntu-archive-keyring.gpg")


class Unavailable(Exception):
    """Why there is no such kernel here."""


class Source:
    """Where a kernel comes from. @package: the package that depends on the newest one."""

    def __init__(self, address, suite, keys, package):
        self.line = f"deb [signed-by={keys} arch=amd64] {address} {suite} main\n"
        self.keys, self.package = keys, package


KERNELS = {
    "5.10": Source(DEBIAN, "bullseye", DEBIAN_KEYS, "linux-image-amd64"),
    "5.15": Source(UBUNTU, "jammy-updates", UBUNTU_KEYS, "linux-image-generic"),
    "6.1": Source(DEBIAN, "bookworm", DEBIAN_KEYS, "linux-image-amd64"),
    "6.12": Source(DEBIAN, "bookworm-backports", DEBIAN_KEYS, "linux-image-amd64"),
}


class Apt:
    """apt with lists and a cache of its own below @folder."""

    def __init__(self, folder, line):
        for name in ("lists/partial", "cache/archives/partial"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / "sources.list").write_text(line)
        (folder / "status").write_text("")
        self.options = [f"-o={key}={value}" for key, value in {
            "Dir::Etc::SourceList": folder / "sources.list",
            "Dir::Etc::SourceParts": "/dev/null",
            "Dir::State": folder,
            "Dir::State::Lists": folder / "lists",
            "Dir::State::Status": folder / "status",
            "Dir::Cache": folder / "cache",
            "APT::Architecture": "amd64",
            "APT::Architectures": "amd64",
            "APT::Sandbox::User": "",
            "Acquire::Languages": "none",
            "Acquire::Retries": "3",
            "Acquire::http::Timeout": "30",
        }.items()]

    def run(self, program, *words, cwd=None):
        done = subprocess.run([program, *self.options, *words], cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, check=False)
        if done.returncode:
            said = (done.stderr or done.stdout).strip().splitlines() or [f"exit status {done.returncode}"]
            raise Unavailable(f"{program} {words[0]}: {said[-1]}")
        return done.stdout

    def depends(self, package):
        """The packages of a kernel that this one names first, before any alternative."""
        return re.findall(r"^ +(?:Pre)?Depends: (linux-(?:image|modules)-[\w.+-]+)$", self.run("apt-cache", "depends", package),
                          re.M)


def unpack(name, folder):
    """Downloads what there is newer, or else takes what was unpacked before. Gives the folder it is in."""
    source = KERNELS[name]
    for program in ("apt-get", "dpkg-deb"):
        if not shutil.which(program):
            raise Unavailable(f"there is no {program} here")
    if not source.keys.is_file():
        raise Unavailable(f"{source.keys}, which vouches for its package, is not installed")
    apt = Apt(folder / "apt", source.line)
    apt.run("apt-get", "-qq", "update")
    packages = apt.depends(source.package)[:1]
    if not packages:
        raise Unavailable(f"no kernel is behind the package {source.package}")
    packages += [other for other in apt.depends(packages[0]) if other.startswith("linux-modules-")]
    root = folder / packages[0]
    if not root.is_dir():
        fresh = folder / "unpacked.new"
        shutil.rmtree(fresh, ignore_errors=True)
        for package in packages:
            apt.run("apt-get", "-qq", "download", package, cwd=folder)
            files = list(folder.glob(f"{package}_*.deb"))
            subprocess.run(["dpkg-deb", "-x", files[0], fresh], check=True)
            for file in files:
                file.unlink()
        fresh.rename(root)
    return root
