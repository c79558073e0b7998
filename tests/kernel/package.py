"""Kernels that Debian ships: downloaded and unpacked, never installed.

The package lists and packages of each kernel are in a folder of its own, so that neither the sources nor the state of this
system's apt change, and root is not needed.
"""

import re
import shutil
import subprocess
from pathlib import Path

KEYS = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
PACKAGE = "linux-image-amd64"  # depends on the newest one
# By the release of Debian that they are of.
KERNELS = {
    "5.10": "bullseye",
    "6.1": "bookworm",
    "6.12": "bookworm-backports",
}


class Unavailable(Exception):
    """Why there is no such kernel here."""


def archive():
    """Where this system gets Debian's packages from."""
    known = subprocess.run(["apt-get", "indextargets", "--format", "$(ORIGIN) $(LABEL) $(REPO_URI)", "Created-By: Packages"],
                           stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False).stdout
    found = re.search(r"^Debian Debian (\S+)$", known, re.M)
    if not found:
        raise Unavailable("this system knows no archive of Debian's packages")
    return found.group(1)


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
        """The kernel that this package stands for."""
        return re.findall(r"^ +(?:Pre)?Depends: (linux-image-[\w.+-]+)$", self.run("apt-cache", "depends", package),
                          re.M)


def unpack(name, folder):
    """Downloads what there is newer, or else takes what was unpacked before. Gives the folder it is in."""
    for program in ("apt-get", "dpkg-deb"):
        if not shutil.which(program):
            raise Unavailable(f"there is no {program} here")
    if not KEYS.is_file():
        raise Unavailable(f"{KEYS}, which vouches for its package, is not installed")
    apt = Apt(folder / "apt", f"deb [signed-by={KEYS} arch=amd64] {archive()} {KERNELS[name]} main\n")
    apt.run("apt-get", "-qq", "update")
    packages = apt.depends(PACKAGE)
    if not packages:
        raise Unavailable(f"no kernel is behind the package {PACKAGE} of {KERNELS[name]}")
    root = folder / packages[0]
    if not root.is_dir():
        fresh = folder / "unpacked.new"
        shutil.rmtree(fresh, ignore_errors=True)
        apt.run("apt-get", "-qq", "download", packages[0], cwd=folder)
        files = list(folder.glob("linux-image-*.deb"))
        subprocess.run(["dpkg-deb", "-x", files[0], fresh], check=True)
        for file in files:
            file.unlink()
        fresh.rename(root)
    return root
