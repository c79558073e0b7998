#!/usr/bin/env python3
"""Seeds for fuzz_object: small programs with symbols and debug information of each kind, as compilers make them.

Usage: seeds_object.py STAMP        (the seeds go to the folder seeds_object beside the stamp)

Made when the tests are built, not kept in the repository: they are binaries.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = """
struct list { struct list *next; union { int number; char *text; } value; unsigned flag : 3; };
static struct list head;
static inline __attribute__((always_inline)) int inlined(int x) { return x * 3; }
int test_first(void) { return inlined(head.flag); }
void test_second(struct list *list, ...) { list->next = &head; }
void _start(void) { test_second(&head); for (;;) head.value.number += test_first(); }
"""
NAMESPACE = """
namespace outer { namespace { struct inner { int a; struct { long b; } c; }; inner value; }
template <typename T> T twice(T x) { return x + x + value.a; } }
extern "C" int test_first() { return outer::twice(2); }
extern "C" void _start() { for (;;) test_first(); }
"""
BARE = ["-nostdlib", "-ffreestanding", "-fno-stack-protector", "-fno-asynchronous-unwind-tables"]

# name: language, flags
SEEDS = {
    "dwarf5": ("c", ["-gdwarf-5", "-static", "-no-pie"]),
    "dwarf4": ("c", ["-gdwarf-4", "-static", "-no-pie", "-O2"]),
    "dwarf3": ("c", ["-gdwarf-3", "-static", "-no-pie"]),
    "type-units": ("c++", ["-gdwarf-5", "-fdebug-types-section", "-static-pie"]),
    "compressed": ("c", ["-g", "-gz=zlib", "-static", "-no-pie"]),
    "namespace": ("c++", ["-g", "-O1", "-static", "-no-pie"]),
    "shared": ("c", ["-g", "-shared", "-fPIC"]),
    "relocatable": ("c", ["-g", "-c"]),
    "symbols-only": ("c", ["-static", "-no-pie"]),
    "stripped": ("c", ["-s", "-static", "-no-pie"]),
}


def main():
    stamp = Path(sys.argv[1])
    folder = stamp.parent / stamp.stem
    folder.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        for name, (language, flags) in SEEDS.items():
            source = Path(temporary) / f"seed.{'c' if language == 'c' else 'cc'}"
            source.write_text(SOURCE if language == "c" else NAMESPACE)
            compiler = "cc" if language == "c" else "c++"
            subprocess.run([compiler, *BARE, *flags, "-o", folder / name, source], check=True)
    (folder / "script").write_text("#!/bin/sh\nexit 0\n")
    (folder / "empty").write_bytes(b"")
    stamp.touch()


if __name__ == "__main__":
    main()
