"""What builds things outside of the repository's own build: commands, files that are made once, source packages."""

import fcntl
import hashlib
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import tarfile
import tempfile

from apt_sources import Apt, AptError


class Unavailable(Exception):
    """Something outside of the repository is not there: a reason to skip."""


class BuildError(Exception):
    """A command failed; carries what it said."""


def run(command, cwd=None):
    done = subprocess.run(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        raise BuildError(f"{shlex.join(map(str, command))}\n{done.stdout.decode(errors='replace')}")
    return done.stdout.decode(errors="replace")


def digest(*parts):
    total = hashlib.sha256()
    for part in parts:
        data = part if isinstance(part, bytes) else str(part).encode()
        total.update(len(data).to_bytes(8, "little") + data)
    return total.hexdigest()[:24]


def make(path, key, build):
    """Calls build(temporary path) unless path was made with the same key before."""
    stamp = path.with_name(path.name + ".key")
    if path.exists() and stamp.exists() and stamp.read_text() == key:
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f"{path.name}.{os.getpid()}.new")
    build(fresh)
    os.replace(fresh, path)
    stamp.write_text(key)
    return path


def source_files(folder, package, *wanted, release=None):
    """Files out of a Debian source package, from wherever this machine gets its packages.

    `wanted` are paths in the package; one that ends in a slash is a folder with all that is in it. They are taken out
    once, to folder/sources/PACKAGE, which is returned. A package's patches are not applied. `release` is for what
    another release of Debian has. Contents-source.gz of a mirror tells which packages have a file.
    """
    name = f"{package}-{release}" if release else package
    target = folder / "sources" / name
    stamp = target.with_name(f"{name}.key")
    key = digest(*wanted)
    target.parent.mkdir(parents=True, exist_ok=True)
    with open(folder / "sources/lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)    # test programs run at the same time
        if stamp.exists() and stamp.read_text() == key:
            return target
        if not shutil.which("apt-get"):
            raise Unavailable(f"source package {package}: no apt-get here")
        shutil.rmtree(target, ignore_errors=True)
        with tempfile.TemporaryDirectory() as temporary:
            try:
                apt = Apt(folder / "sources" / (f"apt-{release}" if release else "apt"), folder / "sources/apt.log",
                          sources_only=True, release=release)
                archives = apt.download(package, pathlib.Path(temporary) / "package")
            except (AptError, OSError) as error:
                raise Unavailable(str(error)) from error
            for archive in archives:
                take_files(archive, target, wanted)
        missing = [name for name in wanted if not (target / name).exists()]
        if missing:
            raise Unavailable(f"the source package {package} holds no {', '.join(missing)}")
        stamp.write_text(key)
    return target


def take_files(archive, target, wanted):
    """Unpacks those files of an archive of a source package, without the folder that everything is in."""
    component = re.search(r"\.orig-([\w-]+)\.tar\.", archive.name)   # dpkg-source(1): it has a folder of its own
    if not re.search(r"\.tar\.(gz|bz2|xz)$", archive.name) or ".debian.tar." in archive.name:
        return
    with tarfile.open(archive) as tar:
        for member in tar:
            name = member.name.removeprefix("./").partition("/")[2]
            if component:
                name = f"{component.group(1)}/{name}"
            if not member.isfile() or ".." in name.split("/"):
                continue
            if any(name.startswith(want) if want.endswith("/") else name == want for want in wanted):
                (target / name).parent.mkdir(parents=True, exist_ok=True)
                (target / name).write_bytes(tar.extractfile(member).read())
