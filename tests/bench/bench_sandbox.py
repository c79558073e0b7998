"""What the sandbox costs: the same call with `--sandbox never` and `--sandbox always`, in turns.

The start: one test that does nothing, as a program and as a suite of processes; shown are milliseconds more. Suites whose
tests write files (files_suite.c): 1,000 tests of 1 ms that write 10 files of 1 KiB each, and 200 processes that do the same;
shown is the ratio of whole runs. They rewrite files that are there, or make new ones and remove them, or leave them; each run
finds the tree as the one before found it. Both by the clock, which counts for the goal, and in processor time, which says more
on a machine that is busy with something else.

Called by bench.py (`./dev bench sandbox`).
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench import Spread, newer
from bench_files import MODES, build_suite, clean

GOAL_START_MS = 30
GOAL_RATIO = 1.03
FOLDERS = 1000
FILES = 10
STEPS = 200
EMPTY = "#define TEST __attribute__((noinline)) void\nTEST test_nothing(void) { __asm__ volatile(\"\"); }\n" \
        "int main(void) { test_nothing(); return 0; }\n"
DETECTORS = {
    "run": ["run"],
    "pollution": ["pollution", "--no-effect", "--no-readers"],
}


def build_empty(build):
    target, source = build / "empty_suite", build / "empty_suite.c"
    if not newer(target, Path(__file__)):
        source.write_text(EMPTY)
        subprocess.run(["cc", "-g", "-O1", "-w", "-o", target, source], check=True)
    return target


def make_tree(folder):
    for i in range(FOLDERS):
        (folder / str(i)).mkdir(parents=True)
        for j in range(FILES):
            (folder / str(i) / str(j)).write_bytes(b"x" * 1024)


class Calls:
    """The same call without and with the sandbox, in turns; each is (seconds, processor seconds)."""

    def __init__(self, options, words, suite, environment, folder, times, between=None):
        self.without, self.within = [], []
        for i in range(times + 1):
            both = [(self.without, "never"), (self.within, "always")]
            # Who goes first changes, so that drift of the machine hits both alike.
            for into, mode in both if i % 2 else reversed(both):
                took = self.call([options.polygraph, *words, "--sandbox", mode, "--format", "json", "--output", "/dev/null",
                                  *suite], environment, folder)
                if between:
                    between()
                if i:  # the first round warms the page cache
                    into.append(took)

    @staticmethod
    def call(command, environment, folder):
        with tempfile.TemporaryFile() as errors:
            started = time.perf_counter()
            child = subprocess.Popen(command, env=environment, cwd=folder, stdin=subprocess.DEVNULL,
                                     stdout=subprocess.DEVNULL, stderr=errors)
            _, status, usage = os.wait4(child.pid, 0)
            elapsed = time.perf_counter() - started
            child.returncode = os.waitstatus_to_exitcode(status)
            if child.returncode not in (0, 1):
                errors.seek(0)
                sys.exit(f"bench: exit status {child.returncode}: {' '.join(map(str, command))}\n"
                         f"{errors.read().decode(errors='replace')}")
        return elapsed, usage.ru_utime + usage.ru_stime

    def extra_ms(self, which):
        return Spread([(b[which] - a[which]) * 1e3 for a, b in zip(self.without, self.within)])

    def ratio(self, which):
        return Spread([b[which] / a[which] for a, b in zip(self.without, self.within)])


def bench_start(options, rows, folder):
    program = build_empty(options.build)
    commands = folder / "empty.txt"
    commands.write_text("true\n")
    print(f"\n{'start':<12} {'detector':<12} {'ms more':<30} {'processor ms more':<30} goal")
    for title, suite in (("program", ["--", program]), ("processes", ["--commands", commands])):
        for detector, words in DETECTORS.items():
            calls = Calls(options, words, suite, dict(os.environ), folder, 5 if options.quick else 15)
            extra, cpu = calls.extra_ms(0), calls.extra_ms(1)
            goal = f"<= {GOAL_START_MS} ms: {'met' if extra.median <= GOAL_START_MS else 'not met'}"
            print(f"{title:<12} {detector:<12} {extra.show(1)} {cpu.show(1)} {goal}", flush=True)
            rows.append({"bench": "sandbox start", "suite": title, "detector": detector, "ms": extra.values,
                         "processor_ms": cpu.values})


def bench_writes(options, rows, folder, tree):
    program = build_suite(options.build)
    tests = 200 if options.quick else FOLDERS
    commands = folder / "commands.txt"
    commands.write_text("".join(f"BENCH_FIRST={i} {program}\n" for i in range(STEPS)))
    suites = (("program", ["--", program], tests), ("processes", ["--commands", commands], 1))
    print(f"\n{'suite':<12} {'tests':>6} {'detector':<12} {'mode':<8} {'ratio':<30} {'of processor time':<30} goal")
    for title, suite, count in suites:
        environment = {**os.environ, "BENCH_TESTS": str(count), "BENCH_MICROSECONDS": "1000", "BENCH_TREE": str(tree),
                       "BENCH_FILES": str(FILES)}
        for detector, words in DETECTORS.items():
            for mode in MODES:
                calls = Calls(options, words, suite, {**environment, "BENCH_MODE": mode}, folder, 3 if options.quick else 7,
                              lambda: clean(tree))
                ratio, cpu = calls.ratio(0), calls.ratio(1)
                goal = f"<= {GOAL_RATIO}x: {'met' if ratio.median <= GOAL_RATIO else 'not met'}"
                shown = tests if title == "program" else STEPS
                print(f"{title:<12} {shown:>6} {detector:<12} {mode:<8} {ratio.show(3)} {cpu.show(3)} {goal}", flush=True)
                rows.append({"bench": "sandbox writes", "suite": title, "detector": detector, "mode": mode, "tests": shown,
                             "ratio": ratio.values, "processor_ratio": cpu.values})


def bench_sandbox(options, rows):
    print("\nThe sandbox: --sandbox never against --sandbox always")
    folder = Path(tempfile.mkdtemp(prefix="polygraph-bench-"))
    tree = folder / "tree"
    try:
        bench_start(options, rows, folder)
        make_tree(tree)
        bench_writes(options, rows, folder, tree)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
