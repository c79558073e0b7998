"""What looking for left-over memory costs: `polygraph pollution --only memory` against the plain run, on generated suites.

The suites are state_suite.c: 1,000 tests that share 1 MiB, 64 MiB and 1 GiB of state and write 0, 1 and 1,000 pages of it
each, put back before the test ends. Further rows leave what they wrote, and take other shapes of state. Printed are, for
each suite,

    ratio           of the whole run to the plain one
    µs more a test  of the whole run; and of the first pass alone, from the first test's beginning to the last one's end:
                    without start-up, and without the runs that tell effects and readers
    memory          of the controller at its peak, over the size of the state

Called by bench.py (`./dev bench pollution`).
"""

import json
import os
import struct
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from bench import HERE, Spread, newer

GOAL_EXTRA_US = 60  # more a test
GOAL_GROWTH = 2  # of the cost of a test, from the smallest state to the largest
GOAL_MEMORY = 1.25  # of the state
BASE_MIB = 32  # the controller's own, which is small only next to a large state
SAMPLE_SECONDS = 0.02

# shape, MiB, pages a test, kept, microseconds a test
SUITES = [("array", mib, pages, 0, 100) for mib in (1, 64, 1024) for pages in (0, 1, 1000)]
MORE = [
    ("list", 1, 1, 0, 100),
    ("list", 64, 1, 0, 100),
    ("list", 1024, 1, 0, 100),
    ("mixed", 1, 10, 0, 1000),
    ("mixed", 64, 10, 0, 1000),
    ("mixed", 64, 1, 1, 100),
    ("mixed", 64, 100, 1, 100),
    ("list", 64, 1, 1, 100),
]
QUICK = [("array", 1, 1, 0, 100), ("array", 64, 1, 0, 100), ("mixed", 64, 10, 0, 1000), ("list", 64, 1, 1, 100)]


def build_state(build):
    target, source = build / "state_suite", HERE / "state_suite.c"
    if not newer(target, source, HERE / "suite.h"):
        subprocess.run(["cc", "-g", "-O1", "-Wall", "-o", target, source], check=True)
    return target


def environment_for(tests, shape, mib, pages, keep, microseconds):
    return {
        **os.environ,
        "BENCH_TESTS": str(tests),
        "BENCH_SHAPE": shape,
        "BENCH_MIB": str(mib),
        "BENCH_PAGES": str(pages),
        "BENCH_KEEP": str(keep),
        "BENCH_MICROSECONDS": str(microseconds),
    }


def start(command, environment):
    return subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def finish(process, command, good):
    said = process.communicate()[1].decode(errors="replace")
    if process.returncode not in good:
        words = " ".join(str(word) for word in command)
        sys.exit(f"bench: exit status {process.returncode}: {words}\n{said}")


def seconds(command, environment, good=(0,)):
    started = time.perf_counter()
    finish(start(command, environment), command, good)
    return time.perf_counter() - started


def status_kib(pid, field):
    try:
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith(field + ":"):
                return int(line.split()[1])
    except (OSError, ValueError, IndexError):
        pass
    return 0


def tree(pid):
    """The process and those below it."""
    yield pid
    try:
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                yield from tree(int(child))
    except OSError:
        pass


def program_of(pid):
    try:
        return os.readlink(f"/proc/{pid}/exe")
    except OSError:
        return None


def peak_mib(command, environment, good):
    """Memory of the controller, all processes of it together, at its peak."""
    process = start(command, environment)
    own = str(Path(command[0]).resolve())
    peak = 0

    def watch():
        nonlocal peak
        while process.poll() is None:
            rss = sum(status_kib(pid, "VmRSS") for pid in tree(process.pid) if program_of(pid) == own)
            peak = max(peak, rss, status_kib(process.pid, "VmHWM") if program_of(process.pid) == own else 0)
            time.sleep(SAMPLE_SECONDS)

    watcher = threading.Thread(target=watch)
    watcher.start()
    finish(process, command, good)
    watcher.join()
    return peak / 1024


def check_findings(polygraph, program, tests, keep, environment):
    """The comparison is worth something only where every test was run and looked at, and what it leaves was found."""
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        seconds([polygraph, "pollution", "--only", "memory", "--format", "json", "--output", file.name, program], environment, (0, 1))
        report = json.loads(Path(file.name).read_text())
    passed = sum(test["outcome"] == "pass" for test in report["tests"])
    polluters = {finding["test"] for finding in report["findings"]}
    if passed != tests or len(polluters) != (tests if keep else 0):
        sys.exit(f"bench: {passed} of {tests} tests passed, {len(polluters)} of them polluters: {program}")


class Measured:
    """Plain and controlled runs in turns; times of whole runs, and from the first test's beginning to the last one's end."""

    def __init__(self, plain, controlled, suite, tests, times):
        self.tests = tests
        self.whole, self.inner = ([], []), ([], [])
        # In memory: files are put back as they were.
        clock = os.memfd_create("clock")
        for i in range(times + 1):
            # Who goes first changes, so that drift of the machine hits both alike.
            for kind in (0, 1) if i % 2 else (1, 0):
                environment = {**environment_for(tests, *suite), "BENCH_CLOCK": f"/proc/{os.getpid()}/fd/{clock}"}
                os.pwrite(clock, bytes(16), 0)
                whole = seconds((plain, controlled)[kind], environment, (0, kind))
                first, last = struct.unpack("qq", os.pread(clock, 16, 0))
                if last <= first:
                    sys.exit(f"bench: not all tests were run: {plain[-1]}")
                if i:  # the first round warms the page cache
                    self.whole[kind].append(whole)
                    self.inner[kind].append((last - first) / 1e9)
        os.close(clock)

    def ratio(self):
        return Spread([controlled / plain for plain, controlled in zip(*self.whole)])

    def extra_us(self):
        return Spread([(controlled - plain) / self.tests * 1e6 for plain, controlled in zip(*self.whole)])

    def inner_us(self):
        return Spread([(controlled - plain) / max(self.tests - 1, 1) * 1e6 for plain, controlled in zip(*self.inner)])


def has_pollution(polygraph):
    return subprocess.run([polygraph, "pollution", "--help"], capture_output=True, check=False).returncode == 0


def bench_pollution(options, rows):
    print("\nSuites with state: plain against polygraph pollution")
    if not has_pollution(options.polygraph):
        print("  this polygraph has no command pollution")
        return
    program = build_state(options.build)
    controlled = [options.polygraph, "pollution", "--only", "memory", "--format", "json", "--output", "/dev/null", program]
    tests = 200 if options.quick else 1000
    print(f"{tests} tests each\n")
    print(f"{'shape':<6} {'MiB':>5} {'pages':>5} {'kept':>4} {'each':>6}   {'ratio':<30} {'µs more a test':<30} "
          f"{'first pass alone':<30} memory")
    inner = {}
    for suite in QUICK if options.quick else SUITES + MORE:
        shape, mib, pages, keep, microseconds = suite
        environment = environment_for(tests, *suite)
        check_findings(options.polygraph, program, tests, keep, environment)
        measured = Measured([program], controlled, suite, tests, 3 if options.quick or mib > 64 or keep else 5)
        memory = peak_mib(controlled, environment, (0, 1))
        ratio, extra, each = measured.ratio(), measured.extra_us(), measured.inner_us()
        inner[suite] = each.median
        print(f"{shape:<6} {mib:>5} {pages:>5} {'yes' if keep else 'no':>4} {f'{microseconds} µs':>6}   {ratio.show(3)} "
              f"{extra.show(1)} {each.show(1)} {memory:.0f} MiB", flush=True)
        rows.append({"bench": "pollution", "shape": shape, "mib": mib, "pages": pages, "keep": keep, "tests": tests,
                     "microseconds": microseconds, "ratio": ratio.values, "extra_us": extra.values,
                     "inner_us": each.values, "memory_mib": memory})
    print_goals(rows, inner)


def print_goals(rows, inner):
    """Each goal with what came of it."""
    def said(text, met):
        print(f"{text}: {'met' if met else 'not met'}")

    print()
    for (shape, mib, pages, keep, each), cost in inner.items():
        if pages <= 1 and not keep:
            said(f"{shape}, {mib} MiB, {pages} pages: {cost:.1f} µs more a test, goal <= {GOAL_EXTRA_US}", cost <= GOAL_EXTRA_US)
    for (shape, mib, pages, keep, each), cost in inner.items():
        small = inner.get((shape, 1, pages, keep, each))
        if mib > 1 and small:
            # Below a microsecond it is noise that is divided by noise.
            growth = max(cost, 1) / max(small, 1)
            said(f"{shape}, {pages} pages: {mib} MiB cost {growth:.2f} times what 1 MiB does, goal <= {GOAL_GROWTH}",
                 growth <= GOAL_GROWTH)
    for row in rows:
        if row["bench"] == "pollution" and row["mib"] > 1:
            goal = row["mib"] * GOAL_MEMORY + BASE_MIB
            said(f"{row['shape']}, {row['mib']} MiB, {row['pages']} pages: controller {row['memory_mib']:.0f} MiB, "
                 f"goal <= {goal:.0f}", row["memory_mib"] <= goal)
