#!/usr/bin/env python3
"""What control costs: suites run plain and under polygraph, in turns, on the same machine at the same time.

Usage: bench.py [--polygraph PROGRAM] [--build DIR] [--work DIR] [--quick] [--json FILE] [run] [alone] [pollution]
                [tracking] [files] [malloc] [order] [choices] [schedules] [sandbox] [repair] [jvm [--projects DIR]]

Absolute times say little about another machine, so everything here is a ratio or a difference between two runs made one
right after the other; each is measured several times and shown as median with [smallest .. largest]. A test's length is
processor time of its own, so that what the tool takes from it shows.

 1. Suites of 10, 1,000 and 10,000 tests of 10 µs and of 1 ms each, GoogleTest and plain functions: the plain run against
    `polygraph run --format json --output /dev/null`.
 2. 1,000 tests, each in a process of its own: `polygraph run --alone` from a checkpoint against 1,000 starts of the
    program with a filter for one test.
 3. Suites with up to 1 GiB of state: `polygraph pollution`, see bench_pollution.py.
 4. The same with each way to find written memory: bench_tracking.py.
 5. A suite that writes files in a tree of 100,000: `polygraph pollution`, see bench_files.py.
 6. What the preloaded library adds to a pair of malloc and free: malloc_cost.py.
 7. Finding order-dependent tests, systematically and by random orders: `polygraph order`, see bench_order.py.
 8. APIs that do something else that is allowed: what it costs on real suites (--work: where they are built), and how many
    runs it needs: `polygraph choices`, see bench_choices.py.
 9. The sandbox: `--sandbox never` against `--sandbox always`, see bench_sandbox.py.
10. Tests that depend on timing: runs until they are found, by each strategy: `polygraph schedules`, see
    bench_schedules.py.
11. Patches for order-dependent tests: tries a second, and from the finding to the proof: `polygraph repair`, see
    bench_repair.py.
12. Java suites: `polygraph pollution`, see bench_jvm.py.

Words choose among them: run, alone, pollution, tracking, files, malloc, order, choices, schedules, sandbox, repair,
jvm.
--quick leaves out the 10,000 tests and the 1 GiB, and measures fewer times. --json also writes the numbers to a file.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent

SIZES = (10, 1000, 10000)
MICROSECONDS = (10, 1000)
GOAL_RATIO = 1.05  # at 1 ms a test
GOAL_EXTRA_US = 40  # more a test, at 10 µs
ALONE_TESTS = 1000

FUNCTIONS_HEAD = """#include <stdlib.h>
#include <time.h>

static long long nanoseconds;
volatile int sink;

static long long now(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

static __attribute__((noinline)) void spin(int which)
{
	sink = which;
	long long end = now() + nanoseconds;
	/* The clock is a system call: between two of them, work. */
	while (now() < end)
		for (int i = 0; i < 300; i++)
			sink = sink + 1;
}

"""


def functions_source(count):
    """A hand-written runner: functions in a table, called one after the other."""
    text = [FUNCTIONS_HEAD]
    for i in range(count):
        text.append(f"void test_{i}(void);\nvoid test_{i}(void)\n{{\n\tspin({i});\n}}\n")
    text.append("static void (*const tests[])(void) = {\n")
    text += [f"\ttest_{i},\n" for i in range(count)]
    text.append("};\n\nint main(void)\n{\n")
    text.append('\tnanoseconds = atol(getenv("BENCH_MICROSECONDS")) * 1000LL;\n')
    text.append("\tfor (unsigned i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)\n\t\ttests[i]();\n\treturn 0;\n}\n")
    return "".join(text)


def newer(target, *sources):
    return target.exists() and all(target.stat().st_mtime > source.stat().st_mtime for source in sources)


def build_gtest(build):
    target, source = build / "gtest_suite", HERE / "gtest_suite.cc"
    if not newer(target, source):
        subprocess.run(["c++", "-std=c++17", "-g", "-O1", "-o", target, source, "-lgtest", "-pthread"], check=True)
    return target


def build_functions(build, count):
    target, source = build / f"functions_{count}", build / f"functions_{count}.c"
    if not newer(target, Path(__file__)):
        source.write_text(functions_source(count))
        subprocess.run(["cc", "-g", "-O1", "-o", target, source], check=True)
    return target


def seconds(command, environment):
    started = time.perf_counter()
    done = subprocess.run(
        command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False
    )
    elapsed = time.perf_counter() - started
    if done.returncode:
        words = " ".join(str(word) for word in command)
        sys.exit(f"bench: exit status {done.returncode}: {words}\n{done.stderr.decode(errors='replace')}")
    return elapsed


class Spread:
    def __init__(self, values):
        self.values = sorted(values)
        self.median = statistics.median(values)

    def show(self, digits, width=8):
        low, middle, high = (f"{value:.{digits}f}" for value in (self.values[0], self.median, self.values[-1]))
        return f"{middle:>{width}} {f'[{low} .. {high}]':<{2 * width + 6}}"


class Pair:
    """Plain and controlled run of the same suite, in turns."""

    def __init__(self, plain, controlled, environment, tests, times):
        self.plain, self.controlled, self.tests = [], [], tests
        for i in range(times + 1):
            both = [(self.plain, plain), (self.controlled, controlled)]
            # Who goes first changes, so that drift of the machine hits both alike.
            for into, command in both if i % 2 else reversed(both):
                elapsed = seconds(command, environment)
                if i:  # the first round warms the page cache
                    into.append(elapsed)

    def ratio(self):
        return Spread([b / a for a, b in zip(self.plain, self.controlled)])

    def extra_us(self):
        return Spread([(b - a) / self.tests * 1e6 for a, b in zip(self.plain, self.controlled)])

    def extra_seconds(self):
        return statistics.median(b - a for a, b in zip(self.plain, self.controlled))


def environment_for(tests, microseconds, startup_ms=0):
    return {
        **os.environ,
        "BENCH_TESTS": str(tests),
        "BENCH_MICROSECONDS": str(microseconds),
        "BENCH_STARTUP_MS": str(startup_ms),
    }


def check_outcomes(polygraph, suite, tests, environment):
    """The comparison is worth something only where the controlled run ran every test, and each passed."""
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        seconds([polygraph, "run", "--format", "json", "--output", file.name, *suite], environment)
        results = json.loads(Path(file.name).read_text())
    passes = [test for test in results["tests"] if test["outcome"] == "pass"]
    if len(passes) != tests:
        sys.exit(f"bench: {len(passes)} of {tests} tests passed under polygraph: {suite[-1]}")


def bench_run(options, rows):
    sizes = SIZES[:2] if options.quick else SIZES
    print("Suites run in one process: plain against polygraph run")
    print(f"\n{'suite':<10} {'tests':>6} {'each':>6}   {'ratio':<30} {'µs more a test':<30} goal")
    for kind in ("gtest", "functions"):
        for microseconds in MICROSECONDS:
            start_up = None
            for tests in sizes:
                program = build_gtest(options.build) if kind == "gtest" else build_functions(options.build, tests)
                environment = environment_for(tests, microseconds)
                controlled = [options.polygraph, "run", "--format", "json", "--output", "/dev/null", program]
                check_outcomes(options.polygraph, [program], tests, environment)
                long = tests * microseconds > 5e6
                times = 3 if options.quick or long else 7
                pair = Pair([program], controlled, environment, tests, times)
                ratio, extra = pair.ratio(), pair.extra_us()
                if microseconds == 1000:
                    goal, met = f"<= {GOAL_RATIO}x", ratio.median <= GOAL_RATIO
                else:
                    goal, met = f"<= {GOAL_EXTRA_US} µs more", extra.median <= GOAL_EXTRA_US
                each = "1 ms" if microseconds == 1000 else f"{microseconds} µs"
                line = f"{kind:<10} {tests:>6} {each:>6}   {ratio.show(3)} {extra.show(1)} {goal}"
                line += ": met" if met else ": not met"
                if start_up is None:
                    start_up = pair
                else:
                    # What a longer suite adds, start-up of the tool left out.
                    more = pair.extra_seconds() - start_up.extra_seconds()
                    line += f" ({more / (tests - start_up.tests) * 1e6:.1f} µs without start-up)"
                print(line, flush=True)
                rows.append(
                    {
                        "bench": "run",
                        "suite": kind,
                        "tests": tests,
                        "microseconds": microseconds,
                        "ratio": ratio.values,
                        "extra_us": extra.values,
                        "goal": goal,
                        "met": met,
                    }
                )


def plain_starts(program, names, environment):
    """One process a test, one after the other, without a shell in between."""
    null = os.open("/dev/null", os.O_RDWR)
    actions = [(os.POSIX_SPAWN_DUP2, null, fd) for fd in (0, 1)]
    started = time.perf_counter()
    for name in names:
        pid = os.posix_spawn(program, [str(program), f"--gtest_filter={name}"], environment, file_actions=actions)
        if os.waitpid(pid, 0)[1]:
            sys.exit(f"bench: {name} failed on its own")
    elapsed = time.perf_counter() - started
    os.close(null)
    return elapsed


def bench_alone(options, rows):
    tests = 100 if options.quick else ALONE_TESTS
    program = build_gtest(options.build)
    names = [f"Many/Bench.Spins/{i}" for i in range(tests)]
    print(f"\n{tests} tests, each in a process of its own: plain starts against polygraph run --alone, both one at a time")
    print(f"\n{'start-up of the suite':<26} {'plain / polygraph':<30} {'ms a test, polygraph':<30}")
    for startup_ms in (0, 20):
        environment = environment_for(tests, 10, startup_ms)
        controlled = [options.polygraph, "run", "--alone", "--jobs", "1", "--format", "json", "--output", "/dev/null", program]
        ratios, each = [], []
        for i in range(2 if options.quick or startup_ms else 4):
            plain = plain_starts(program, names, environment)
            alone = seconds(controlled, environment)
            if i or startup_ms:
                ratios.append(plain / alone)
                each.append(alone / tests * 1e3)
        print(f"{f'{startup_ms} ms':<26} {Spread(ratios).show(2)} {Spread(each).show(3)}", flush=True)
        rows.append({"bench": "alone", "tests": tests, "startup_ms": startup_ms, "ratio": ratios, "ms": each})


def bench_pollution(options, rows):
    import bench_pollution  # which is made of parts of this file

    bench_pollution.bench_pollution(options, rows)


def bench_whole(options, rows):
    import bench_whole

    bench_whole.bench_whole(options, rows)


def bench_files(options, rows):
    import bench_files

    bench_files.bench_files(options, rows)


def bench_malloc(options, rows):
    import malloc_cost

    options.build.mkdir(parents=True, exist_ok=True)
    malloc_cost.bench_malloc(options.build, options.polygraph.resolve().parent / "libpolygraph-agent.so", rows)


def bench_order(options, rows):
    import bench_order

    bench_order.bench_order(options, rows)


def bench_tracking(options, rows):
    import bench_tracking

    bench_tracking.bench_tracking(options, rows)


def bench_choices(options, rows):
    import bench_choices

    bench_choices.bench_choices(options, rows)


def bench_schedules(options, rows):
    import bench_schedules

    bench_schedules.bench_schedules(options, rows)


def bench_sandbox(options, rows):
    import bench_sandbox

    bench_sandbox.bench_sandbox(options, rows)


def bench_repair(options, rows):
    import bench_repair

    bench_repair.bench_repair(options, rows)


def bench_jvm(options, rows):
    import bench_jvm

    bench_jvm.bench_jvm(options, rows)


BENCHES = {
    "run": bench_run,
    "alone": bench_alone,
    "pollution": bench_pollution,
    "whole": bench_whole,
    "tracking": bench_tracking,
    "files": bench_files,
    "malloc": bench_malloc,
    "order": bench_order,
    "choices": bench_choices,
    "schedules": bench_schedules,
    "sandbox": bench_sandbox,
    "repair": bench_repair,
    "jvm": bench_jvm,
}


def main():
    parser = argparse.ArgumentParser(description="What control costs: plain runs against runs under polygraph.")
    parser.add_argument("--polygraph", type=Path, default=TOP / "build" / "polygraph")
    parser.add_argument("--build", type=Path, default=TOP / "build" / "bench")
    parser.add_argument("--work", type=Path, default=TOP / "build" / "real-suites", help="where real suites are built")
    parser.add_argument("--projects", type=Path, help="with jvm: also Java projects, see bench_jvm.py")
    parser.add_argument("--only-projects", action="store_true", help="with jvm: nothing else")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", type=Path)
    parser.add_argument("what", nargs="*", metavar="WHAT", help=f"{', '.join(BENCHES)}; default: all")
    options = parser.parse_args()
    for word in options.what:
        if word not in BENCHES:
            parser.error(f"'{word}' is none of {', '.join(BENCHES)}")
    options.polygraph, options.work = options.polygraph.resolve(), options.work.resolve()
    options.build.mkdir(parents=True, exist_ok=True)
    options.build = options.build.resolve()
    rows = []
    load = os.getloadavg()[0]
    print(f"{os.cpu_count()} CPUs, Linux {os.uname().release}; load {load:.2f}\n")
    if load > os.cpu_count() / 2:
        print("The machine is busy with something else: wait, or take the numbers for what they are.\n")
    for word in options.what or BENCHES:
        BENCHES[word](options, rows)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
