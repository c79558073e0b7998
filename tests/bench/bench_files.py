"""What files and process state cost: `polygraph pollution` against the plain run, on a suite whose tests write files.

files_suite.c: 1,000 tests that write 10 files of 1 KiB each, under a tree of 100,000 files. They rewrite files that are
there with the same content, or make new ones and remove them, or leave them. Printed is the first pass, from the first
test's beginning to the last one's end, for each kind of state alone and for all together; and, for a few tests, what
comparing the whole tree costs where system calls are not followed (--file-tracking walk).

Called by bench.py (`./dev bench files`).
"""

import os
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

from bench import HERE, Spread, newer
from bench_pollution import seconds

GOAL_RATIO = 1.10  # of all kinds together
GOAL_WALK_MS = 50  # a test, 100,000 files
FILES = 100000
FOLDERS = 1000
KINDS = ("memory", "process", "files", "all")
MODES = ("rewrite", "remove", "leave")


def build_suite(build):
    target, source = build / "files_suite", HERE / "files_suite.c"
    if not newer(target, source, HERE / "suite.h"):
        subprocess.run(["cc", "-g", "-O1", "-Wall", "-o", target, source], check=True)
    return target


def make_tree(folder):
    content = b"x" * 1024
    for i in range(FOLDERS):
        (folder / str(i)).mkdir(parents=True)
        for j in range(FILES // FOLDERS):
            (folder / str(i) / str(j)).write_bytes(content)


def clean(tree):
    for path in tree.glob("*/new*"):
        path.unlink()


def measure(command, tree, tests, mode, microseconds, good):
    """Seconds from the first test to the last."""
    clean(tree)
    # Not in a watched folder: the suite itself writes it.
    with tempfile.NamedTemporaryFile(dir="/dev/shm") as clock:
        clock.write(bytes(16))
        clock.flush()
        environment = {**os.environ, "BENCH_TESTS": str(tests), "BENCH_MICROSECONDS": str(microseconds), "BENCH_TREE": str(tree),
                       "BENCH_MODE": mode, "BENCH_CLOCK": clock.name}
        seconds(command, environment, good)
        first, last = struct.unpack("qq", Path(clock.name).read_bytes())
    if last <= first:
        sys.exit(f"bench: not all tests were run: {command[-1]}")
    return (last - first) / 1e9


class Row:
    def __init__(self, plain, controlled, tree, tests, mode, microseconds, times):
        self.tests, self.plain, self.controlled = tests, [], []
        good = (0, 1) if mode == "leave" else (0,)
        for i in range(times + 1):
            both = [(self.plain, plain, (0,)), (self.controlled, controlled, good)]
            for into, command, status in both if i % 2 else reversed(both):
                took = measure(command, tree, tests, mode, microseconds, status)
                if i:  # the first round warms the page cache
                    into.append(took)

    def ratio(self):
        return Spread([b / a for a, b in zip(self.plain, self.controlled)])

    def extra_us(self):
        return Spread([(b - a) / self.tests * 1e6 for a, b in zip(self.plain, self.controlled)])


def bench_tree(options, rows, program, tree):
    tests = 200 if options.quick else 1000
    print(f"\n{tests} tests that write 10 files each, in a tree of {FILES} files: plain against the first pass of polygraph pollution")
    print(f"\n{'mode':<8} {'each':>7} {'plain':>8} {'kinds':<8} {'ratio':<30} {'µs more a test':<30} goal")
    first_pass = [options.polygraph, "pollution", "--no-effect", "--no-readers", "--format", "json", "--output", "/dev/null"]
    for microseconds in (1000,) if options.quick else (0, 1000):
        for mode in MODES:
            for kind in KINDS:
                command = [*first_pass, "--only", kind, program]
                # Memory alone finds nothing, whatever files stay.
                row = Row([program], command, tree, tests, mode, microseconds, 2 if options.quick else 4)
                ratio, extra = row.ratio(), row.extra_us()
                each = Spread(row.plain).median / tests * 1e6
                goal = ""
                if kind == "all":
                    goal = f"<= {GOAL_RATIO}x: {'met' if ratio.median <= GOAL_RATIO else 'not met'}"
                print(f"{mode:<8} {f'{microseconds} µs':>7} {f'{each:.0f} µs':>8} {kind:<8} {ratio.show(3)} {extra.show(1)} {goal}",
                      flush=True)
                rows.append({"bench": "files", "mode": mode, "microseconds": microseconds, "kind": kind, "tests": tests,
                             "ratio": ratio.values, "extra_us": extra.values})


def bench_walk(options, rows, program, tree):
    tests = 20
    command = [options.polygraph, "pollution", "--no-effect", "--no-readers", "--only", "files", "--file-tracking", "walk",
               "--watch-dir", tree, "--format", "json", "--output", "/dev/null", program]
    row = Row([program], command, tree, tests, "rewrite", 0, 1 if options.quick else 3)
    each = Spread([value / 1000 for value in row.extra_us().values])
    print(f"\nThe whole tree compared, {tests} tests that rewrite 10 files: {each.show(1)} ms more a test, "
          f"goal <= {GOAL_WALK_MS}: {'met' if each.median <= GOAL_WALK_MS else 'not met'}")
    rows.append({"bench": "walk", "tests": tests, "files": FILES, "ms": each.values})


def bench_files(options, rows):
    program = build_suite(options.build)
    tree = Path(tempfile.mkdtemp(prefix="polygraph-bench-"))
    try:
        make_tree(tree)
        bench_tree(options, rows, program, tree)
        bench_walk(options, rows, program, tree)
    finally:
        shutil.rmtree(tree, ignore_errors=True)
