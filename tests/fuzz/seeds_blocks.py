#!/usr/bin/env python3
"""Seeds for fuzz_blocks: memory with the agent's table, glibc's chunks or AddressSanitizer's shadow.

Usage: seeds_blocks.py STAMP        (the seeds go to the folder seeds_blocks beside the stamp)

The places have the numbers that they have in fuzz_blocks.c; the layout is that of src/wire/heap.h.
"""

import struct
import sys
from pathlib import Path

HEAP, CHUNKS, MORE_CHUNKS, DIRECTORY, LEAVES, STACKS, LEAF, CELLS, SHADOW = 1, 2, 3, 7, 8, 9, 10, 12, 16
INDEX = 0x5555_0000_0000 >> 24
SLOT = INDEX % (1 << 16)


def page(place, offset, data):
    return struct.pack("<BBH", place, offset // 16, len(data)) + data


def words(*values):
    return struct.pack(f"<{len(values)}Q", *values)


def heap(active=1, reason=0):
    head = struct.pack("<QIIII", 0x7061656867796C6F, 1, active, reason, 1)
    tables = words(0x7100_0000_0000, 0x7000_0000_0000, 0x7200_0000_0000, 1 << 18, 0)
    return page(HEAP, 0, head + tables + b"liballocator.so".ljust(64, b"\0") + words(1, 0x7300_0000_0000, 0x801000))


def agent():
    directory = page(DIRECTORY, SLOT * 16 % 4096, words(INDEX + 1, 0x7300_0000_0000, INDEX + 2, 0x7300_0080_1000))
    entries = page(LEAF, 0, words(0, 101 | 5 << 40, 0, 0, 0, 0, 0, 0, 0, 200001 | 6 << 40))
    cells = page(CELLS, 0, struct.pack("<128H", 10, *[0] * 127))
    stacks = page(STACKS, 5 * 64, words(0x401000, 0x402000))
    return heap() + directory + page(LEAVES, 0, struct.pack("<I", SLOT + 1)) + entries + cells + stacks


def chunks():
    user = 0x20000000 + 0x290 + 16
    cache = [0, 0x291] + [0] * 16 + [user] + [0] * 63
    cache += [0, 0x21, user + 0x20 ^ user >> 12, 77, 0, 0x21, user + 0x20 >> 12, 77, 0, 0x21, 1, 2, 0, 0x1D11]
    return page(CHUNKS, 0, words(*cache)) + page(MORE_CHUNKS, 0, words(0, 0x1002, 0, 0))


def arena():
    head = words(0x7100_0000_0030, 0, 0x1000, 0x21000, 0x1000, 0, 0, 0)
    return page(LEAVES, 0, head + words(0, 0x25, 1, 2, 0, 0xFA1)) + page(CHUNKS, 0, words(0, 0x21, 0x7100_0000_0050, 0))


def shadow():
    return page(SHADOW, 0, bytes([0xFA, 0xFA, 0, 0, 5, 0xFA, 0xFA, 0, 0xFC, 0xFA, 0xFD, 0xFD, 0xFA]))


def main():
    stamp = Path(sys.argv[1])
    folder = stamp.parent / stamp.stem
    folder.mkdir(exist_ok=True)
    (folder / "agent").write_bytes(agent())
    (folder / "foreign").write_bytes(heap(0, 1))
    (folder / "chunks").write_bytes(chunks())
    (folder / "arena").write_bytes(arena())
    (folder / "shadow").write_bytes(shadow())
    (folder / "empty").write_bytes(b"")
    stamp.touch()


if __name__ == "__main__":
    main()
