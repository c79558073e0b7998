"""What builds things outside of the repository's own build: commands, files that are made once, source packages."""

import hashlib
import os
import pathlib
import shlex
import shutil
import subprocess


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


def fetch_source(package, folder):
    """The files of a Debian source package, from wherever this machine gets its packages."""
    if not shutil.which("apt-get"):
        raise Unavailable(f"source package {package}: no apt-get here")
    parts = folder / "parts"
    for name in ("parts", "lists/partial", "cache/archives/partial"):
        (folder / name).mkdir(parents=True)
    etc = pathlib.Path("/etc/apt")
    for path in [etc / "sources.list", *sorted((etc / "sources.list.d").glob("*"))]:
        if not path.is_file() or path.suffix not in (".list", ".sources"):
            continue
        lines = path.read_text(errors="replace").splitlines()
        if path.suffix == ".sources":
            lines = ["Types: deb-src" if line.lower().startswith("types:") else line for line in lines]
        else:
            lines = ["deb-src" + line[3:] for line in lines if line.startswith(("deb ", "deb\t"))]
        (parts / path.name).write_text("\n".join(lines) + "\n")
    options = {"Dir::Etc::SourceList": "/dev/null", "Dir::Etc::SourceParts": parts, "Dir::State::Lists": folder / "lists",
               "Dir::Cache": folder / "cache", "APT::Sandbox::User": "root" if os.geteuid() == 0 else ""}
    apt = ["apt-get", "-qq"] + [f"-o{key}={value}" for key, value in options.items() if value]
    said = ""
    for command in (["update"], ["source", "--download-only", package]):
        done = subprocess.run(apt + command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        said = done.stdout.decode(errors="replace").strip()
    files = sorted(folder.glob(f"{package}_*"))
    if not files:
        last = said.splitlines()[-1] if said else "apt-get said nothing"
        raise Unavailable(f"source package {package} cannot be fetched: {last}")
    return files
