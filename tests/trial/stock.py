"""The user's files: what a trial makes, looks at, and expects to find as it was.

Below BASE: `project`, the working directory, with `tree` (a folder for each operation of operations.h), `build` (the suites)
and `.git`; `home`; `beside`, with files and further names of files in the tree; `bin`, the tool. The places outside of it
(/tmp, /var/tmp, /dev/shm) have a folder each.
"""

import os
import shutil
import subprocess
from pathlib import Path

STEP = "a-folder-that-goes-down-and-down-and-down"
DEPTH = 120
LARGE = 300 << 20
LONG_AGO = 1_500_000_000_123_456_789  # nanoseconds
TEXT = "".join(f"line {i} of a file of the user's\n" for i in range(150))


class Operation:
    def __init__(self, line):
        self.name, self.group, self.who = line.split()

    @property
    def heavy(self):
        return self.group in ("many", "large")


def make_files(folder):
    """What most operations need."""
    folder.mkdir(parents=True)
    (folder / "a").write_text(TEXT)
    (folder / "a").chmod(0o640)
    try:
        os.setxattr(folder / "a", "user.trial", b"of the user's")
    except OSError:  # a file system without them
        pass
    (folder / "b").write_text("b\n" + TEXT[::-1])
    (folder / "empty").touch()
    (folder / "x.sh").write_text("#!/bin/sh\n")
    (folder / "x.sh").chmod(0o755)
    (folder / "big").write_bytes(bytes(range(256)) * 1024)
    (folder / "one").write_text("a file with several names\n")
    os.link(folder / "one", folder / "two")
    (folder / "soft").symlink_to("a")
    (folder / "dangling").symlink_to("nowhere")
    (folder / "folder_link").symlink_to("sub")
    for name in ("sub/c", "sub/d", "sub/deeper/e", "other/f"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{name}\n")
    os.mkfifo(folder / "fifo")


def make_deep(folder):
    """Deeper than a path may be long."""
    folder.mkdir()
    fd = os.open(folder, os.O_RDONLY)
    for _ in range(DEPTH):
        os.mkdir(STEP, dir_fd=fd)
        below = os.open(STEP, os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = below
    file = os.open("bottom", os.O_WRONLY | os.O_CREAT, 0o644, dir_fd=fd)
    os.write(file, b"at the bottom\n")
    os.close(file)
    os.close(fd)


def make_many(folder, count):
    for i in range(100):
        (folder / f"d{i}").mkdir(parents=True)
    for i in range(count):
        (folder / f"d{i % 100}" / str(i)).write_text(f"{i}\n")


def make_large(path):
    with path.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, LARGE)
        for offset in range(0, LARGE, 1 << 20):
            os.pwrite(file.fileno(), b"a block of the user's\n", offset)


def make_place(folder):
    folder.mkdir(parents=True)
    (folder / "a").write_text(TEXT)
    (folder / "b").write_text("b\n")


def change_owner(path, uid, gid, when):
    """Everything below belongs to the user, and is old."""
    for folder, folders, files, fd in os.fwalk(path, topdown=False, follow_symlinks=False):
        for name in folders + files:
            if uid is not None:
                os.chown(name, uid, gid, dir_fd=fd, follow_symlinks=False)
            os.utime(name, ns=(when, when), dir_fd=fd, follow_symlinks=False)
            when += 1_000_003
    if uid is not None:
        os.chown(path, uid, gid)
    os.utime(path, ns=(when, when))


def remove_tree(path):
    """Also what a test made unreadable."""
    if not os.path.lexists(path):
        return
    if os.geteuid() != 0:
        subprocess.run(["chmod", "-R", "u+rwX", path], check=True)
    shutil.rmtree(path)


class Stock:
    """@owner: (uid, gid) of the user, or None where it is us. @heavy: the group of heavy operations, or None."""

    def __init__(self, base, places, programs, tools, operations, owner, heavy, many):
        self.base, self.many = Path(base), many
        self.project, self.home = self.base / "project", self.base / "home"
        self.tree, self.build = self.project / "tree", self.project / "build"
        self.beside = self.base / "beside"
        self.places = {name: Path(place) / self.base.name for name, place in places.items()}
        self.programs, self.tools, self.operations = programs, tools, operations
        self.owner, self.heavy = owner, heavy
        self.roots = [self.base, *self.places.values()]

    def make(self):
        self.remove()
        self.base.mkdir(mode=0o755, parents=True)
        (self.base / "bin").mkdir()
        for tool in self.tools:
            shutil.copy2(tool, self.base / "bin")
        for operation in self.operations:
            self.make_operation(operation)
        self.build.mkdir(parents=True)
        for program in self.programs:
            shutil.copy2(program, self.build)
        make_place(self.build / "in_build")
        make_files(self.build / "own_data")
        make_place(self.project / ".git")
        make_place(self.project / "in_cwd")
        make_place(self.home / "in_home")
        make_place(self.home / ".cache" / "of-others")
        make_place(self.beside / "beside_the_project")
        for name, place in self.places.items():
            make_place(place / f"in_{name}")
        uid, gid = self.owner or (None, None)
        for number, root in enumerate(self.roots):
            change_owner(root, uid, gid, LONG_AGO + number * 10**12)

    def make_operation(self, operation):
        folder = self.tree / operation.name
        make_files(folder)
        # A further name outside of the working directory.
        self.beside.mkdir(exist_ok=True)
        os.link(folder / "one", self.beside / f"{operation.name}.one")
        if operation.name in ("deep", "rmdir_deep"):
            make_deep(folder / "deep")
        if operation.group == self.heavy == "many":
            make_many(folder / "many", self.many)
        if operation.group == self.heavy == "large":
            make_large(folder / "large")

    def remove(self):
        for root in self.roots:
            remove_tree(root)

    def environment(self):
        return {
            "HOME": str(self.home),
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "TMPDIR": str(self.places["tmp"].parent),
            "TRIAL_TREE": str(self.tree),
            "TRIAL_PROJECT": str(self.project),
            "TRIAL_BUILD": str(self.build),
            "TRIAL_BESIDE": str(self.beside),
            "TRIAL_MANY": str(self.many),
            **{f"TRIAL_{name.upper()}": str(place) for name, place in self.places.items()},
        }

    def own(self):
        """What the tool may leave, and the folders that show it."""
        cache = self.home / ".cache"
        return [self.project / ".polygraph", cache / "polygraph"], [self.project, cache]
