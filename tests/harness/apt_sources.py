"""Source packages from whatever mirror the machine is set up for, without touching its set-up.

The machine's own entries (one-line `.list` files and deb822 `.sources` files) are copied into a folder of ours with
source entries added; apt is then pointed at that folder for its lists and its cache. So an ordinary user can fetch
sources on a machine that has binary entries only, and nothing outside the folder is written. Installing packages is
the exception: it needs root, and it changes the machine as `apt-get install` does.
"""

import functools
import os
import re
import shutil
import subprocess
from pathlib import Path


class AptError(Exception):
    pass


def _config_path(name):
    """The file or folder apt itself would read, honouring the machine's apt.conf."""
    out = subprocess.run(["apt-config", "shell", "P", f"{name}/{'d' if name.endswith('parts') else 'f'}"],
                         capture_output=True, text=True, check=True).stdout
    match = re.match(r"P='(.*)'", out.strip())
    return Path(match.group(1)) if match and match.group(1) else None


def one_line_with_sources(text, kinds=("deb", "deb-src"), release=None):
    """The entries of a `.list` file, each as `deb` and the same line as `deb-src`. See sources.list(5).

    With `release` those of the Debian archive itself, with that release.
    """
    lines = []
    for line in text.splitlines():
        line = line.split("#", 1)[0].strip()
        match = re.match(r"(deb|deb-src)\s+(.*)$", line)
        if not match or re.search(r"(^|\s)cdrom:", match.group(2)):
            continue
        place = match.group(2)
        if release:
            place, found = re.subn(r"(/debian/?)\s+\S+\s.*$", rf"\1 {release} main", place + " ")
            if not found:
                continue
        for kind in kinds:
            entry = f"{kind} {place}"
            if entry not in lines:
                lines.append(entry)
    return "".join(line + "\n" for line in lines)


def deb822_with_sources(text, kinds=("deb", "deb-src"), release=None):
    """The stanzas of a `.sources` file, each with `Types: deb deb-src`; disabled ones are left out.

    With `release` those of the Debian archive itself, with that release.
    """
    stanzas = []
    # Comments first: one inside a stanza does not end it, not even a line of nothing else.
    text = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    for stanza in re.split(r"\n[ \t]*\n", text):
        if not stanza.strip():
            continue
        fields = {}
        for match in re.finditer(r"(?m)^([\w-]+):[ \t]*(.*(?:\n[ \t]+.*)*)", stanza):
            fields[match.group(1).lower()] = match.group(2)
        if fields.get("enabled", "yes").strip().lower() in ("no", "false", "without", "off", "disable"):
            continue
        if "types" not in fields or fields.get("uris", "").strip().startswith("cdrom:"):
            continue
        stanza = re.sub(r"(?mi)^types:.*$", "Types: " + " ".join(kinds), stanza.strip("\n"))
        if release:
            if not re.search(r"/debian/?$", fields.get("uris", "").strip()):
                continue
            stanza = re.sub(r"(?mi)^suites:.*(\n[ \t]+.*)*$", f"Suites: {release}", stanza)
            stanza = re.sub(r"(?mi)^components:.*(\n[ \t]+.*)*$", "Components: main", stanza)
        stanzas.append(stanza + "\n")
    return "\n".join(stanzas)


class Apt:
    """apt with lists, cache and entries in `folder`.

    With `sources_only` it cannot install. With `release` it has that release of Debian instead of the machine's own.
    """

    def __init__(self, folder, log, sources_only=False, release=None):
        self.folder = Path(folder).resolve()
        self.log = log
        self.kinds = ("deb-src",) if sources_only else ("deb", "deb-src")
        self.release = release
        parts = self.folder / "sources.list.d"
        self.options = [
            "-qq",
            "-o", "Dir::Etc::SourceList=/dev/null",
            "-o", f"Dir::Etc::SourceParts={parts}",
            "-o", f"Dir::State::Lists={self.folder}/lists",
            "-o", f"Dir::Cache={self.folder}/cache",
            "-o", "APT::Get::List-Cleanup=false",
            # The folder may lie where apt's own download user cannot go.
            "-o", "APT::Sandbox::User=root",
            "-o", "Acquire::Languages=none",
            "-o", "Acquire::Retries=3",
            # What hooks the machine runs after an update concerns its own lists only.
            "-o", "APT::Update::Post-Invoke=",
            "-o", "APT::Update::Post-Invoke-Success=",
        ]

    def _run(self, command, **kwargs):
        env = dict(os.environ, LC_ALL="C.UTF-8", DEBIAN_FRONTEND="noninteractive")
        with open(self.log, "a", encoding="utf-8") as log:
            log.write(f"$ {' '.join(command)}\n")
            log.flush()
            return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=env,
                                  **kwargs).returncode

    def _write_entries(self):
        parts = self.folder / "sources.list.d"
        shutil.rmtree(parts, ignore_errors=True)
        for folder in (parts, self.folder / "lists/partial", self.folder / "cache/archives/partial"):
            folder.mkdir(parents=True, exist_ok=True)
        files = []
        main = _config_path("Dir::Etc::sourcelist")
        if main and main.is_file():
            files.append(main)
        more = _config_path("Dir::Etc::sourceparts")
        if more and more.is_dir():
            files += sorted(p for p in more.iterdir() if p.suffix in (".list", ".sources"))
        count = 0
        for number, path in enumerate(files):
            try:
                text = path.read_text(encoding="utf-8", errors="replace")
            except OSError as error:
                raise AptError(f"cannot read {path}: {error.strerror}") from error
            convert = deb822_with_sources if path.suffix == ".sources" else one_line_with_sources
            text = convert(text, self.kinds, self.release)
            if text:
                (parts / f"{number:02d}{path.suffix}").write_text(text, encoding="utf-8")
                count += 1
        if not count:
            raise AptError("this machine has no apt sources (looked at "
                           + (", ".join(map(str, files)) or "none") + "): set up a Debian mirror first")

    def update(self, again=False):
        """Fetches the lists, once for the life of the folder unless `again`."""
        stamp = self.folder / "updated"
        if stamp.exists() and not again:
            return
        self._write_entries()
        # A machine may have third-party entries without sources, or unreachable: fetch() and install() tell whether
        # what is needed is there.
        if self._run(["apt-get", *self.options, "update"]) == 0 or self._has_sources():
            stamp.touch()
        else:
            raise AptError(f"`apt-get update` fetched no source lists: see {self.log}")

    def _has_sources(self):
        return any("_source_Sources" in p.name for p in (self.folder / "lists").iterdir())

    def _source_versions(self, package):
        """The versions the lists know, newest first."""
        out = subprocess.run(["apt-cache", *self.options, "showsrc", "--only-source", package],
                             capture_output=True, text=True).stdout
        versions = set(re.findall(r"(?m)^Version: (\S+)", out))

        def compare(a, b):
            newer = subprocess.run(["dpkg", "--compare-versions", a, "gt", b]).returncode == 0
            return -1 if newer else 1 if a != b else 0
        return sorted(versions, key=functools.cmp_to_key(compare))

    def _get_source(self, package, folder, *options):
        """`apt-get source` into `folder`, emptied first: the newest version that can be had."""
        lists_are_new = not (self.folder / "updated").exists()
        for again in (False,) if lists_are_new else (False, True):
            self.update(again)
            # A mirror that keeps what it was once asked for may lack the files of the newest version it lists.
            for version in self._source_versions(package):
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir(parents=True)
                if self._run(["apt-get", *self.options, "source", "--only-source", *options, f"{package}={version}"],
                             cwd=folder) == 0:
                    return
        raise AptError(f"cannot fetch the source package {package}: see {self.log}")

    def download(self, package, folder):
        """The archives of the newest source version of `package`, without Debian's own part, in `folder`."""
        self._get_source(package, Path(folder), "--download-only", "--tar-only")
        return sorted(Path(folder).iterdir())

    def fetch(self, package, folder):
        """Unpacks the newest source version of `package` below `folder`; returns (version, tree)."""
        folder = Path(folder)
        stamp = folder / "fetched"
        if not stamp.exists():
            self._get_source(package, folder)
        dsc = sorted(folder.glob("*.dsc"))
        trees = sorted(p for p in folder.iterdir() if (p / "debian").is_dir())
        if len(dsc) != 1 or len(trees) != 1:
            raise AptError(f"expected one unpacked source package in {folder}")
        version = re.search(r"(?m)^Version: (\S+)", dsc[0].read_text(encoding="utf-8")).group(1)
        stamp.touch()
        return version, trees[0]

    def install(self, packages):
        """Installs what is missing; as an ordinary user says what is."""
        missing = [p for p in packages if not installed(p)]
        if not missing:
            return
        if os.geteuid() != 0:
            raise AptError("missing packages; as root: apt-get install " + " ".join(missing))
        self.update()
        if self._run(["apt-get", *self.options, "install", "-y", "--no-install-recommends", *missing]) != 0:
            raise AptError(f"cannot install {' '.join(missing)}: see {self.log}")


def installed(package):
    out = subprocess.run(["dpkg-query", "-W", "-f", "${db:Status-Status}\n", package], capture_output=True, text=True)
    return "installed" in out.stdout.split()
