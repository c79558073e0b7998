#!/usr/bin/env python3
"""Seeds for fuzz_containers: small memories in which containers of each kind could lie."""

import struct
import sys
from pathlib import Path

KINDS = 32
BASE = 0x1000


def words(*values):
    return struct.pack(f"<{len(values)}Q", *values)


def memories():
    yield "zero", bytes(128)
    # Three pointers: a sequence, or a string of 16 characters.
    yield "sequence", words(BASE + 256, BASE + 272, BASE + 512).ljust(512, b"a")
    yield "text", words(BASE + 256, 16).ljust(512, b"a")
    # Nodes that link to each other, with a count where libraries have one.
    nodes = words(BASE + 64, BASE + 128, 2, 2, 2, 2, 0, 0) + words(BASE + 128, 0, 7, 0, 0, 0, 0, 0) + words(0, 0, 8, 0, 0, 0, 0, 0)
    yield "chain", nodes
    yield "circle", words(BASE, BASE, BASE, BASE, BASE, BASE, BASE, BASE)
    yield "tree", words(0, 0, BASE + 64, BASE + 64, BASE + 64, 1, 0, 0) + bytes(128)
    # Two iterators of a deque.
    end = BASE + 256 + 512
    yield "deque", words(0, 0, BASE + 256, BASE + 256, end, BASE + 80, BASE + 264, BASE + 256, end, BASE + 80, BASE + 256).ljust(1024, b"\1")
    # A hash table of GLib's: eight entries, one in use.
    table = struct.pack("<QIIIIII3Q", 8, 7, 7, 1, 1, 3, 0, BASE + 128, BASE + 192, BASE + 256)
    yield "ghash", (table.ljust(192, b"\0") + struct.pack("<8I", 0, 9, 0, 0, 0, 0, 0, 0)).ljust(512, b"\0")


def main():
    stamp = Path(sys.argv[1])
    folder = stamp.with_suffix("")
    folder.mkdir(parents=True, exist_ok=True)
    for kind in range(KINDS):
        for name, memory in memories():
            (folder / f"{kind:02}-{name}").write_bytes(bytes([kind, kind & 1]) + memory)
    stamp.write_text("")


if __name__ == "__main__":
    main()
