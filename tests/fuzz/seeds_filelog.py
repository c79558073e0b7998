#!/usr/bin/env python3
"""Seeds for fuzz_filelog: rings with file operations as the agent logs them.

Usage: seeds_filelog.py STAMP        (the seeds go to the folder seeds_filelog beside the stamp)

The layout is that of src/wire/files.h.
"""

import struct
import sys
from pathlib import Path

OPEN, UNLINK, RMDIR, RENAME, MKDIR, TRUNCATE = range(1, 7)
ABSENT = bytes(104)


def state(content):
    """A regular file with this content, unhashed."""
    return struct.pack("<4I5Q2I4qQ", 0o100644, 0, 0, 0, 0, 1, 2, len(content), 1, 0, 0, 1, 2, 3, 4, len(content))


def record(call, path, path2=b"", before=ABSENT, before2=ABSENT, text=b"", flags=0o1101):
    body = path + b"\0" + path2 + b"\0" + text
    size = (248 + len(body) + 15) // 16 * 16
    head = struct.pack("<QIIiIIIII", 0, size, call, 4242, flags, 0o644, len(path), len(path2), 0)
    return (head + before + before2 + body).ljust(size, b"\0")


SEEDS = {
    "new": record(OPEN, b"/tmp/no-such-file"),
    "rewrite": record(OPEN, b"/tmp/no-such-file", before=state(b"text"), text=b"text"),
    "rename": record(RENAME, b"/tmp/one", b"/tmp/two", before=state(b"a"), text=b"a"),
    "mixed": record(MKDIR, b"/tmp/folder") + record(OPEN, b"/tmp/folder/a.XXbbc1") + record(TRUNCATE, b"/etc/../tmp/./b")
    + record(UNLINK, b"/tmp/folder/a.XXbbc1", before=state(b"")) + record(RMDIR, b"/tmp/folder"),
    "wild": record(OPEN, b"/" + b"x" * 300, before=state(b"y" * 50), text=b"y" * 50) + record(99, b"relative") + bytes(64),
}


def main():
    stamp = Path(sys.argv[1])
    folder = stamp.with_suffix("")
    folder.mkdir(exist_ok=True)
    for name, ring in SEEDS.items():
        for mode in (0, 1):
            (folder / f"{name}-{mode}").write_bytes(bytes([mode, 0]) + ring)
    stamp.touch()


if __name__ == "__main__":
    main()
