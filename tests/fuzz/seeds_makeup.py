#!/usr/bin/env python3
"""Seeds for fuzz_makeup: small programs with tables of pointers and jumps, virtual functions, exceptions and thread-locals.

Usage: seeds_makeup.py STAMP        (the seeds go to the folder seeds_makeup beside the stamp)

Made when the tests are built, not kept in the repository: they are binaries.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = """
static int one(int x) { return x + 1; }
static int two(int x) { return x * 2; }
static int (*const table[])(int) = { one, two };
__thread int own = 3;
int test_first(int x) { return table[x & 1](x); }
int test_second(int x) { switch (x) { case 0: return 5; case 1: return one(x); case 2: return two(x); case 3: return 8;
case 4: return one(9); case 5: return own; default: return 0; } }
const char *names[] = { "red", "green" };
void _start(void) { for (;;) own = test_first(own) + test_second(own) + names[0][0]; }
"""
THROWS = """
struct shape { virtual int area(); int side; };
int shape::area() { return side; }
int cleanup;
struct guard { ~guard() { cleanup++; } };
int test_first(shape *s) { guard g; try { return s->area(); } catch (int) { return 1; } catch (shape &) { return 2; } }
static int begun = test_first(nullptr);
template <class T> T largest(T a, T b) { return a < b ? b : a; }
int test_second(int x) { guard g; return largest(x, begun); }
int main() { shape s; return test_first(&s) + test_second(1); }
"""
BARE = ["-nostdlib", "-ffreestanding", "-fno-stack-protector"]

# name: language, flags
SEEDS = {
    "fixed": ("c", [*BARE, "-g", "-O2", "-static", "-no-pie"]),
    "moved": ("c", [*BARE, "-g", "-O1", "-static-pie"]),
    "shared": ("c", [*BARE, "-g", "-shared", "-fPIC"]),
    "short-relocations": ("c", [*BARE, "-g", "-O2", "-fPIC", "-shared", "-Wl,-z,pack-relative-relocs"]),
    "plain": ("c", [*BARE, "-static", "-no-pie"]),
    "throws": ("c++", ["-g", "-O1"]),
    "throws-unoptimised": ("c++", ["-g", "-O0"]),
    "throws-shared": ("c++", ["-g", "-O2", "-shared", "-fPIC"]),
}


def main():
    stamp = Path(sys.argv[1])
    folder = stamp.parent / stamp.stem
    folder.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        for name, (language, flags) in SEEDS.items():
            source = Path(temporary) / f"seed.{'c' if language == 'c' else 'cc'}"
            source.write_text(SOURCE if language == "c" else THROWS)
            subprocess.run(["cc" if language == "c" else "c++", *flags, "-o", folder / name, source], check=True)
    (folder / "empty").write_bytes(b"")
    stamp.touch()


if __name__ == "__main__":
    main()
