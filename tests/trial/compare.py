"""What files are, at one moment, and how two moments differ: content, modes, owners, times, links and attributes.

Shares no code with the tool, and goes down by folder descriptors, so that no path is too long for it.
"""

import fcntl
import hashlib
import os
import stat
import struct
from dataclasses import dataclass, field

FS_IOC_GETFLAGS = 0x80086601  # linux/fs.h, 64 bits
# Of a file that was put back, and of its folder: it has another inode and another time of change.
PUT_BACK = ("ino", "ctime")
PUT_BACK_FOLDER = ("ino", "ctime", "mtime")
TIMES = ("ctime", "mtime", "mtime, ctime")
# Of a folder in which the tool may make its own.
OWN_FOLDER = ("mtime", "ctime", "nlink", "size")


@dataclass
class Entry:
    mode: int
    uid: int
    gid: int
    nlink: int
    size: int
    mtime: int
    ctime: int
    ino: tuple
    device: int
    content: bytes = b""
    target: str = ""
    xattrs: dict = field(default_factory=dict)
    flags: int = 0
    names: tuple = ()  # all names of the same file, as far as they were looked at


FIELDS = tuple(Entry.__dataclass_fields__)


def read_content(path):
    """Hash and flags of a regular file."""
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        digest = hashlib.blake2b(digest_size=16)
        while block := os.read(fd, 1 << 20):
            digest.update(block)
        try:
            flags = struct.unpack("l", fcntl.ioctl(fd, FS_IOC_GETFLAGS, bytes(8)))[0]
        except OSError:  # a file system without them
            flags = 0
        return digest.digest(), flags
    finally:
        os.close(fd)


def read_xattrs(path):
    try:
        return {name: os.getxattr(path, name, follow_symlinks=False)
                for name in os.listxattr(path, follow_symlinks=False)}
    except OSError:
        return {}


def read_entry(folder, name):
    """The entry of a name in a folder that is open."""
    st = os.stat(name, dir_fd=folder, follow_symlinks=False)
    path = f"/proc/self/fd/{folder}/{name}"
    # The size of a folder says how many names it once had.
    size = 0 if stat.S_ISDIR(st.st_mode) else st.st_size
    entry = Entry(st.st_mode, st.st_uid, st.st_gid, st.st_nlink, size, st.st_mtime_ns, st.st_ctime_ns,
                  (st.st_dev, st.st_ino), st.st_rdev)
    entry.xattrs = read_xattrs(path)
    if stat.S_ISLNK(st.st_mode):
        entry.target = os.readlink(name, dir_fd=folder)
    elif stat.S_ISREG(st.st_mode):
        try:
            entry.content, entry.flags = read_content(path)
        except PermissionError:
            entry.content = b"not readable"
    return entry


def walk(folder, path, leave_out, entries):
    with os.scandir(folder) as listing:
        names = sorted(item.name for item in listing)
    for name in names:
        below = f"{path}/{name}"
        if below in leave_out:
            continue
        entry = entries[below] = read_entry(folder, name)
        if not stat.S_ISDIR(entry.mode):
            continue
        try:
            fd = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
        except PermissionError:
            continue
        try:
            walk(fd, below, leave_out, entries)
        finally:
            os.close(fd)


def snapshot(roots, leave_out=()):
    """path -> Entry, of everything at and below the roots."""
    entries = {}
    for root in map(str, roots):
        above, name = os.path.split(root)
        fd = os.open(above, os.O_RDONLY | os.O_DIRECTORY)
        try:
            entries[root] = read_entry(fd, name)
        finally:
            os.close(fd)
        fd = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
        try:
            walk(fd, root, frozenset(map(str, leave_out)), entries)
        finally:
            os.close(fd)
    same = {}
    for path, entry in entries.items():
        if not stat.S_ISDIR(entry.mode):
            same.setdefault(entry.ino, []).append(path)
    for paths in same.values():
        for path in paths:
            entries[path].names = tuple(paths)
    return entries


def changed_fields(one, two, put_back, own):
    ignored = OWN_FOLDER if own else ()
    if put_back:
        ignored += PUT_BACK_FOLDER if stat.S_ISDIR(one.mode) else PUT_BACK
    return [name for name in FIELDS if getattr(one, name) != getattr(two, name) and name not in ignored]


def differences(before, after, own=(), put_back=False):
    """path -> what is different. @own: folders in which the tool may make its own. @put_back: files may have been."""
    result = {}
    own = frozenset(map(str, own))
    for path in before.keys() | after.keys():
        if path not in after:
            result[path] = "gone"
        elif path not in before:
            result[path] = "new"
        elif changed := changed_fields(before[path], after[path], put_back, path in own):
            result[path] = ", ".join(changed)
    return result


def mounts():
    """Mount points with what is mounted there."""
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
        return sorted(" ".join(line.split()[3:6] + line.split(" - ")[1].split()[:2]) for line in file)
