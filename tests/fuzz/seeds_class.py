#!/usr/bin/env python3
"""Class files for fuzz_class: with switches, wide instructions, long constants, interfaces, and calls to redirect.

Usage: seeds_class.py STAMP: they lie beside it. Where there is no JDK there is one seed, put together by hand.
"""

import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = """
import java.util.*;
public class Seed implements Iterable<String> {
    interface Shape { default int read(int a, long b, int n) { return n; } static void run() { } }
    static long time() { return System.nanoTime(); }
    long big = 0x123456789abcdefL;
    double half = 0.5;
    public Iterator<String> iterator() { return Collections.emptyIterator(); }
    synchronized void run() throws InterruptedException { wait(); }
    int choose(int n) {
        switch (n) { case 1: return 5; case 2: return 7; case 3: return 9; default: break; }
        switch (n) { case -9: return 5; case 1000: return 7; case 100000: return 9; default: return 0; }
    }
    int wide() { int n = 0; for (int i = 0; i < 70000; i += 40000) n += i; return n; }
    void forEach(Runnable r) { r.run(); }
}
"""


def text(value):
    return struct.pack(">BH", 1, len(value)) + value


def smallest():
    """class A { static void run() { return; } }"""
    pool = text(b"A") + struct.pack(">BH", 7, 1) + text(b"run") + text(b"()V") + text(b"Code")
    code = struct.pack(">HHI", 0, 0, 1) + b"\xb1" + struct.pack(">HH", 0, 0)
    method = struct.pack(">HHHH", 9, 3, 4, 1) + struct.pack(">HI", 5, len(code)) + code
    return (struct.pack(">IHHH", 0xCAFEBABE, 0, 52, 6) + pool + struct.pack(">HHHHH", 1, 2, 0, 0, 0)
            + struct.pack(">H", 1) + method + struct.pack(">H", 0))


def main():
    stamp = Path(sys.argv[1])
    folder = stamp.with_suffix("")
    folder.mkdir(exist_ok=True)
    (folder / "smallest").write_bytes(smallest())
    if shutil.which("javac"):
        with tempfile.TemporaryDirectory() as place:
            source = Path(place) / "Seed.java"
            source.write_text(SOURCE)
            subprocess.run(["javac", "-nowarn", "-d", place, source], check=True)
            for path in Path(place).glob("*.class"):
                (folder / path.name).write_bytes(path.read_bytes())
    stamp.write_text("")


main()
