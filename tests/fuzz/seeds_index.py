#!/usr/bin/env python3
"""Seeds for fuzz_index: small programs with variables and types of each kind, as compilers make them.

Usage: seeds_index.py STAMP        (the seeds go to the folder seeds_index beside the stamp)

Made when the tests are built, not kept in the repository: they are binaries.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

C = """
struct hidden; enum color { RED, GREEN = -3 };
struct list { struct list *next; struct hidden *hidden; union { int number; char *text; } value; unsigned flag : 3, more : 9;
  enum color color; struct { short in; }; double matrix[2][3]; int rest[]; };
static struct list head; _Thread_local long tls; int (*function)(int, ...); typedef struct { _Bool b; } named; named typed[3];
int count(int i) { static int last; static _Complex double c; c += i; return last += i; }
void _start(void) { for (;;) head.value.number += count((int)++tls); }
"""
CXX = """
namespace app { struct A { long a; }; struct B : virtual A { int b; }; struct C : virtual A { int c; };
struct D : B, C { int A::*data; void (B::*code)(); int &ref; enum class E : char { one, two } e; D(); };
template <class T, int N, class... R> struct Box { T items[N]; static T shared; static inline int counted; };
template <class T, int N, class... R> T Box<T, N, R...>::shared; Box<D *, 3, int, char> box; struct Out { struct In; In *in; } out;
struct Out::In { Out out; }; namespace { struct Hidden { int h; } hidden; } inline int next() { static int last; return ++last; } }
const app::A *pointer; extern "C" void _start() { for (;;) { app::Box<int, 2>::shared += app::next(); app::hidden.h++; } }
"""
BARE = ["-nostdlib", "-ffreestanding", "-fno-stack-protector", "-fno-asynchronous-unwind-tables", "-fno-rtti", "-w"]

# name: compiler, language, flags
SEEDS = {
    "dwarf5": ("cc", "c", ["-gdwarf-5", "-static", "-no-pie"]),
    "dwarf4": ("cc", "c", ["-gdwarf-4", "-static", "-no-pie", "-O2"]),
    "dwarf3": ("cc", "c", ["-gdwarf-3", "-gstrict-dwarf", "-static", "-no-pie"]),
    "compressed": ("cc", "c", ["-g", "-gz=zlib", "-static-pie"]),
    "shared": ("cc", "c", ["-g", "-shared", "-fPIC"]),
    "symbols": ("cc", "c", ["-static", "-no-pie"]),
    "classes": ("c++", "c++", ["-g", "-static", "-no-pie"]),
    "optimised": ("c++", "c++", ["-g", "-O2", "-static", "-no-pie"]),
    "type-units": ("c++", "c++", ["-gdwarf-5", "-fdebug-types-section", "-static", "-no-pie"]),
    "type-units-4": ("c++", "c++", ["-gdwarf-4", "-fdebug-types-section", "-static", "-no-pie"]),
    "clang-c": ("clang", "c", ["-g", "-O2", "-static", "-no-pie"]),
    "clang-classes": ("clang++", "c++", ["-g", "-static", "-no-pie"]),
    "clang-type-units": ("clang++", "c++", ["-g", "-fdebug-types-section", "-static", "-no-pie"]),
}


def main():
    stamp = Path(sys.argv[1])
    folder = stamp.parent / stamp.stem
    folder.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        for name, (compiler, language, flags) in SEEDS.items():
            if not shutil.which(compiler):
                continue
            source = Path(temporary) / f"seed.{'c' if language == 'c' else 'cc'}"
            source.write_text(C if language == "c" else CXX)
            standard = "-std=gnu17" if language == "c" else "-std=c++17"
            subprocess.run([compiler, standard, *BARE, *flags, "-o", folder / name, source], check=True)
    stamp.touch()


if __name__ == "__main__":
    main()
