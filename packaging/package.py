#!/usr/bin/env python3
"""Makes the packages: a Debian package and a tarball that runs without installation.

Usage: package.py [--output DIR] [--build DIR] [--quick]

Both come out of one build of its own; --quick makes only the tarball, out of the build folder as it is. The same sources, compiler and libraries give the same bytes, wherever the source
tree lies: all times are that of the commit (or SOURCE_DATE_EPOCH), all paths are mapped to the top of the tree.
"""

import argparse
import gzip
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parents[1]
# Every system has these, and they belong together: the tarball takes them from where it runs.
OF_THE_SYSTEM = re.compile(r"^(ld-linux-x86-64|libc|libm|libpthread|libdl|librt|libresolv|libutil)\.so\.\d+$")
BUNDLED = Path("lib/polygraph/bundled")
# Of Graphviz, which loads them itself; src/report/picture.c looks for them under these names.
PLUGINS = ("libgvplugin_core.so", "libgvplugin_dot_layout.so")
MAINTAINER = "The polygraph developers <polygraph@localhost>"
SUMMARY = "lie detector for C and C++ test suites"
DESCRIPTION = """ Runs an unmodified test executable under control and reports which of its
 tests cannot be trusted, and why: tests that leave shared state changed, tests
 whose outcome depends on which tests ran before, and tests that assume more
 than an API promises. Nothing needs to be compiled again.
"""


def output_of(*command, **options):
    return subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE, text=True, **options).stdout


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if done.returncode:
        raise SystemExit(f"package: {' '.join(map(str, command))}\n{done.stdout}")


def git(*words):
    return output_of("git", "-C", TOP, "-c", f"safe.directory={TOP}", *words).strip()


def version():
    """As in meson.build, with the commit unless that is what the tag stands for."""
    number = re.search(r"^\tversion: '([^']+)'", (TOP / "meson.build").read_text(), re.M)[1]
    if not (TOP / ".git").exists() or git("tag", "--points-at", "HEAD", "--list", f"v{number}"):
        return number
    dirty = "+dirty" if git("status", "--porcelain", "--untracked-files=no") else ""
    day = output_of("date", "-u", f"--date=@{git('log', '-1', '--format=%ct')}", "+%Y%m%d").strip()
    return f"{number}+git{day}.{git('rev-parse', '--short=12', 'HEAD')}{dirty}"


def epoch():
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if given:
        return int(given)
    if (TOP / ".git").exists():
        return int(git("log", "-1", "--format=%ct"))
    return int((TOP / "meson.build").stat().st_mtime)


class Build:
    """The program, built once and linked twice."""

    def __init__(self, folder, when, as_it_is):
        self.folder, self.ready = folder, as_it_is
        self.environment = {**os.environ, "SOURCE_DATE_EPOCH": str(when), "LC_ALL": "C.UTF-8"}
        for name in ("CFLAGS", "CXXFLAGS", "LDFLAGS", "DESTDIR"):
            self.environment.pop(name, None)

    def compile(self):
        """Once."""
        # Paths are relative to the build folder, which may lie anywhere; what is recorded begins at the top of the sources.
        up = os.path.relpath(TOP, self.folder)
        maps = f"-ffile-prefix-map={self.folder}=build -ffile-prefix-map={up}=. -ffile-prefix-map={TOP}=."
        flags = f"-O2 -g -gno-record-gcc-switches {maps}"
        options = ["--prefix=/usr", "--libdir=lib", "--buildtype=plain", "-Dtests=false", "-Dwerror=false",
                   f"-Dc_args={flags}", f"-Dcpp_args={flags}"]
        if not self.ready and not (self.folder / "build.ninja").exists():
            run("meson", "setup", self.folder, TOP, *options, env=self.environment)
        if not self.ready:
            run("ninja", "-C", self.folder, env=self.environment)
        run("ninja", "-C", self.folder, "polygraph-bundled", env=self.environment)
        self.ready = True

    def install(self, destination, bundled):
        """Installs to that folder as if it were /; returns what is there under its prefix."""
        self.compile()
        run("meson", "install", "-C", self.folder, "--no-rebuild",
            env={**self.environment, "DESTDIR": str(destination)})
        prefix = next(path for path in (destination / "usr/local", destination / "usr") if (path / "bin").is_dir())
        if bundled:
            shutil.copyfile(self.folder / "polygraph-bundled", prefix / "bin/polygraph")
        for path in elf_files(prefix):
            run("strip", "--strip-all" if path.parent.name == "bin" else "--strip-unneeded", path)
        return prefix


def document(share, when):
    """Manual pages packed, licence and changes where Debian has them."""
    for page in sorted(share.glob("man/man*/*.[0-9]")):
        pack(page.read_bytes(), page.with_name(page.name + ".gz"))
        page.unlink()
    folder = share / "doc/polygraph"
    folder.mkdir(parents=True)
    pack((TOP / "CHANGELOG.md").read_bytes(), folder / "changelog.gz")
    (folder / "copyright").write_text(
        "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n\n"
        "Files: *\nCopyright: the polygraph developers\nLicense: Apache-2.0\n"
        " On Debian systems, the full text of the Apache License 2.0 is in\n /usr/share/common-licenses/Apache-2.0.\n")
    shutil.copy(TOP / "README.md", folder)


def pack(data, path):
    """gzip without name and time."""
    with open(path, "wb") as file, gzip.GzipFile(filename="", mode="wb", fileobj=file, compresslevel=9, mtime=0) as packed:
        packed.write(data)


def settle(folder, when):
    """The same permissions and times, whatever the umask was."""
    for path in [folder, *folder.rglob("*")]:
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)
        os.utime(path, (when, when), follow_symlinks=False)


def elf_files(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()
                  and path.open("rb").read(4) == b"\x7fELF")


def dependencies(root):
    """What dpkg-shlibdeps finds for the program; the preloaded libraries need nothing but libc."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "debian").mkdir()
        (Path(folder) / "debian/control").write_text("Source: polygraph\n\nPackage: polygraph\nArchitecture: any\n")
        words = [f"-e{path}" for path in elf_files(root)]
        line = output_of("dpkg-shlibdeps", "-O", *words, cwd=folder, stderr=subprocess.DEVNULL)
    return re.search(r"^shlibs:Depends=(.*)$", line, re.M)[1]


def debian_package(build, work, output, number, when):
    root = work / "deb"
    build.install(root, bundled=False)
    document(root / "usr/share", when)
    settle(root, when)
    sums, size = [], 0
    for path in sorted(path for path in root.rglob("*") if path.is_file() and not path.is_symlink()):
        sums.append(f"{hashlib.md5(path.read_bytes()).hexdigest()}  {path.relative_to(root)}\n")
        size += (path.stat().st_size + 1023) // 1024
    control = root / "DEBIAN"
    control.mkdir()
    (control / "md5sums").write_text("".join(sums))
    (control / "control").write_text(
        f"Package: polygraph\nVersion: {number}\nArchitecture: amd64\nMaintainer: {MAINTAINER}\n"
        f"Installed-Size: {size}\nDepends: {dependencies(root)}\nSuggests: git, cmake, meson, libpq5\nSection: devel\n"
        f"Priority: optional\nDescription: {SUMMARY}\n{DESCRIPTION}")
    for script in (TOP / "packaging/debian").iterdir():
        shutil.copy(script, control)
    settle(control, when)
    path = output / f"polygraph_{number}_amd64.deb"
    run("dpkg-deb", "--root-owner-group", "-Zxz", "--build", root, path, env=build.environment)
    return path


def needed(path):
    """The libraries that the dynamic linker finds for it: {name: path}."""
    found = {}
    for name, place in re.findall(r"^\s*(\S+) => (/\S+) \(", output_of("ldd", path), re.M):
        if not OF_THE_SYSTEM.match(name):
            found[name] = Path(place)
    return found


def plugins(libraries):
    """Those of the Graphviz that the program is linked with: beside libgvc, with its number."""
    name, place = next((name, place) for name, place in libraries.items() if name.startswith("libgvc.so"))
    folder = place.parent / "graphviz"
    found = {plugin: folder / (plugin + name.removeprefix("libgvc.so")) for plugin in PLUGINS}
    for path in found.values():
        if not path.exists():
            raise SystemExit(f"package: {path} is missing; Debian and Ubuntu: the package libgvc6")
    return found


def tarball(build, work, output, number, when):
    root = work / "tar"
    top = work / f"polygraph-{number}"
    build.install(root, bundled=True).rename(top)
    # The places that bin/polygraph looks for its own libraries at, also where Debian has the others.
    multiarch = top / "lib/x86_64-linux-gnu/polygraph"
    if multiarch.is_dir():
        multiarch.rename(top / "lib/polygraph")
        multiarch.parent.rmdir()
    document(top / "share", when)
    libraries = top / BUNDLED
    libraries.mkdir(parents=True)
    linked = needed(top / "bin/polygraph")
    found = plugins(linked)
    for path in found.values():
        linked.update(needed(path))
    for name, place in sorted({**linked, **found}.items()):
        shutil.copyfile(place.resolve(), libraries / name)
    (top / "README").write_text(
        "polygraph, ready to run: bin/polygraph. The folder can lie anywhere and be moved.\n\n"
        "It has the libraries that it needs in lib/polygraph/bundled, except those of the C library, which are the\n"
        "system's: glibc of the version of the system that it was built on (Debian 12: 2.36), or a newer one.\n")
    shutil.copyfile(TOP / "LICENSE", top / "LICENSE")
    settle(top, when)
    path = output / f"polygraph-{number}-x86_64.tar.gz"
    with open(path, "wb") as file, gzip.GzipFile(filename="", mode="wb", fileobj=file, compresslevel=9, mtime=0) as packed, \
            tarfile.open(fileobj=packed, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for entry in [top, *sorted(top.rglob("*"))]:
            info = archive.gettarinfo(entry, entry.relative_to(work))
            info.uid = info.gid = 0
            info.uname = info.gname = "root"
            info.mtime = when
            with open(entry, "rb") if info.isfile() else open(os.devnull, "rb") as content:
                archive.addfile(info, content)
    return path


def main():
    parser = argparse.ArgumentParser(description="Makes the packages.")
    parser.add_argument("--output", type=Path, default=TOP / "build-package" / "out")
    parser.add_argument("--build", type=Path, default=TOP / "build-package" / "meson")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    output = options.output.resolve()
    output.mkdir(parents=True, exist_ok=True)
    os.umask(0o022)
    number, when = version(), epoch()
    build = Build(options.build.resolve(), when, options.quick)
    with tempfile.TemporaryDirectory(prefix="polygraph-package-") as folder:
        for make in (tarball,) if options.quick else (tarball, debian_package):
            print(make(build, Path(folder), output, number, when))


if __name__ == "__main__":
    sys.exit(main())
