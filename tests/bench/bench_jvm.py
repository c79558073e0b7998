"""What `polygraph pollution` costs on Java suites: a VM's plain run against the VM of the first pass, in turns.

The plain run is the framework's own runner: `org.junit.runner.JUnitCore` for JUnit 4, the launcher for JUnit 5
(PlainJUnit5.java). The first pass runs with --no-effect and --no-readers; on generated suites with --only memory, on
projects with and without. Each is one VM, from its start to its end. The VM that lists the tests, and what else the command
does, is in the column "whole command" only.

 1. HeapSuite.java: tests of 100 µs over 10 thousand to 10 million objects, that change none of them, ten, or a few values of
    a large map. What a test costs more is measured from the second test on: the first one makes the objects, and all of
    them are copied once; that is a column of its own.
 2. Projects (--projects DIR): each folder below DIR with a file "cp", the class path, and target/test-classes, as the
    framework's own runner is started in it. Classes with a test that takes longer than five seconds are left out on both
    sides, and so are those that end the VM, and those that a file "without" lists, as patterns.

Processor time is that of the VM with all its threads, so that a busy machine says nearly the same. Called by bench.py
(`./dev bench jvm`).
"""

import json
import math
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench import HERE, Spread, newer

JARS = Path("/usr/share/java")
JUNIT4 = ":".join(str(JARS / name) for name in ("junit4.jar", "hamcrest.jar"))
SIZES = (10_000, 100_000, 1_000_000, 10_000_000)
CHANGES = ("none", "back", "kept", "new", "map")
GOAL_RATIO = 1.15  # geometric mean over projects
GOAL_GROWTH = 2  # of what a test costs more, from the smallest heap to the largest
NOISE_US = 20  # less than that is not told apart
LONG_SECONDS = 5
ROUNDS_SECONDS = 15  # short projects are run more often, as chance weighs more there
EXAMINED = re.compile(r"VM \d+: heap examined (\d+) times, changed (\d+) times, compared as a whole (\d+) times, walked (\d+) "
                      r"times; (\d+) objects; (\d+) us, at most (\d+) us; (\d+) ms of processor time")


def cpu_of_children():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


class Plain:
    """One plain run: seconds by the clock and of processor time."""

    def __init__(self, command, cwd):
        before, started = cpu_of_children(), time.perf_counter()
        subprocess.run(command, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       check=False)
        self.wall, self.cpu = time.perf_counter() - started, cpu_of_children() - before


class FirstPass:
    """The same of the VM of the first pass, and of the whole command."""

    def __init__(self, command, cwd):
        before, started = cpu_of_children(), time.perf_counter()
        environment = {**os.environ, "POLYGRAPH_LOG": "jvm"}
        process = subprocess.Popen(command, cwd=cwd, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, text=True, errors="replace")
        began, found = {}, None
        for line in process.stderr:
            start = re.search(r"started VM (\d+)", line)
            if start:
                began[start.group(1)] = time.perf_counter()
            examined = EXAMINED.search(line)
            if examined and not found:
                found = [int(word) for word in examined.groups()]
                self.wall = time.perf_counter() - began[re.search(r"VM (\d+)", line).group(1)]
        process.wait()
        if not found:
            sys.exit(f"bench: exit status {process.returncode}, and no heap was examined: {' '.join(map(str, command))}")
        self.whole_wall, self.whole_cpu = time.perf_counter() - started, cpu_of_children() - before
        self.looks, self.changed, self.everywhere, self.walks, self.objects, self.us, self.longest_us, cpu_ms = found
        self.cpu = cpu_ms / 1000


def in_turns(runs, times):
    """Results of all runs, once a round; who goes first changes, so that drift of the machine hits all alike."""
    rounds = []
    for i in range(times + 1):
        results = [None] * len(runs)
        for kind in range(len(runs)) if i % 2 else reversed(range(len(runs))):
            results[kind] = runs[kind]()
        if i:  # the first round warms the page cache
            rounds.append(results)
    return rounds


def why_not(options):
    if not shutil.which("javac"):
        return "there is no JDK (./dev setup jvm)"
    if not (options.polygraph.parent / "polygraph-jvm.jar").exists():
        return "polygraph was built without Java"
    if not (JARS / "junit4.jar").exists():
        return "there is no JUnit 4 (./dev setup jvm)"
    return None


def compile_java(build, name, class_path):
    target, source = build / "java" / name, HERE / f"{name}.java"
    if not newer(target / f"{name}.class", source):
        target.mkdir(parents=True, exist_ok=True)
        subprocess.run(["javac", "-g", "-nowarn", "-cp", class_path, "-d", target, source], check=True)
    return target


def pollution(options, class_path, classes, more, vm, tests=()):
    words = [options.polygraph, "pollution", "--no-effect", "--no-readers", "--format", "json", "--output", "/dev/null", *more]
    for pattern in tests:
        words += ["--tests", pattern]
    return [*words, "--classpath", class_path, "--test-classes", classes, *(["--", *vm] if vm else [])]


# ---- generated suites ----


class Generated:
    """Inner times: from the second test's beginning to the last one's end, by the clock and of the tests' thread."""

    def __init__(self, options, objects, change, tests, times):
        classes = compile_java(options.build, "HeapSuite", JUNIT4)
        self.tests = tests
        # In memory: files are put back as they were.
        with os.fdopen(os.memfd_create("clock"), "r+") as clock:
            path = f"/proc/{os.getpid()}/fd/{clock.fileno()}"
            vm = [f"-Dbench.{key}={value}" for key, value in
                  {"tests": tests, "objects": objects, "change": change, "clock": path}.items()]
            # Room for all objects, so that what is measured is no collection.
            vm += ["-Xms6g", "-Xmx6g", "-XX:+UseSerialGC", "-Xss16m"] if objects > 1_000_000 else ["-XX:+UseSerialGC", "-Xss16m"]
            plain = ["java", *vm, "-cp", f"{classes}:{JUNIT4}", "org.junit.runner.JUnitCore", "HeapSuite"]
            more = ["--only", "memory", "--sandbox", "never"]
            controlled = pollution(options, JUNIT4, classes, more, vm)

            def measured(run, command):
                def call():
                    clock.truncate(0)
                    result = run(command, options.build)
                    line = Path(path).read_text().splitlines()
                    if not line:
                        sys.exit(f"bench: not all tests were run: {' '.join(map(str, command))}")
                    result.inner = [int(word) / 1e3 for word in line[0].split()]
                    return result
                return call

            self.pairs = in_turns([measured(Plain, plain), measured(FirstPass, controlled)], times)

    def extra_us(self, clock):
        return Spread([(controlled.inner[clock] - plain.inner[clock]) / (self.tests - 1) for plain, controlled in self.pairs])

    def ratio(self, clock):
        return Spread([controlled.inner[clock] / plain.inner[clock] for plain, controlled in self.pairs])

    def look_us(self):
        return Spread([(run.us - run.longest_us) / run.looks for _, run in self.pairs])

    def first_ms(self):
        return Spread([run.longest_us / 1000 for _, run in self.pairs])


def bench_generated(options, rows):
    tests = 200 if options.quick else 1000
    sizes = SIZES[:2] if options.quick else SIZES
    print(f"Generated: {tests} tests of 100 µs; what a test costs more in the first pass than with JUnitCore, from the second "
          "test on\n")
    print(f"{'objects':>9} {'changed':<7} {'ratio, processor time':<30} {'µs more a test, processor time':<31} "
          f"{'by the clock':<30} {'µs an examination':<30} first copy, ms")
    costs = {}
    for change in CHANGES:
        for objects in sizes:
            run = Generated(options, objects, change, tests, 2 if options.quick or objects > 1_000_000 else 3)
            ratio, extra, wall = run.ratio(1), run.extra_us(1), run.extra_us(0)
            look, first = run.look_us(), run.first_ms()
            costs[change, objects] = extra.median
            print(f"{objects:>9} {change:<7} {ratio.show(2)} {extra.show(1)}  {wall.show(1)} {look.show(1)} {first.show(0)}",
                  flush=True)
            rows.append({"bench": "jvm", "objects": objects, "change": change, "tests": tests, "ratio": ratio.values,
                         "extra_us": extra.values, "wall_us": wall.values, "look_us": look.values, "first_ms": first.values})
    print()
    for change in CHANGES:
        small, large = (max(costs[change, size], NOISE_US) for size in (sizes[0], sizes[-1]))
        print(f"{change}: {sizes[-1]:,} objects cost {large / small:.2f} times what {sizes[0]:,} do, goal <= {GOAL_GROWTH}: "
              f"{'met' if large / small <= GOAL_GROWTH else 'not met'}")


# ---- projects ----


def listed_classes(options, folder, class_path, classes, without):
    """Classes whose tests are run on both sides, those that are left out, and how many tests there are."""
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        subprocess.run([options.polygraph, "run", "--format", "json", "--output", file.name, "--timeout", f"{4 * LONG_SECONDS}s",
                        *(word for pattern in without for word in ("--tests", pattern)), "--classpath", class_path,
                        "--test-classes", classes], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, check=False)
        report = json.loads(Path(file.name).read_text())
    # Names begin with the class: the longest of which there is a file.
    found, dropped = {}, set()
    for test in report["tests"]:
        words = re.split(r"[\[(]", test["name"])[0].split(".")
        for n in range(len(words) - 1, 0, -1):
            name = ".".join(words[:n])
            if (Path(folder) / classes / (name.replace(".", "/") + ".class")).exists():
                found[name.split("$")[0]] = found.get(name.split("$")[0], 0) + 1
                if test.get("seconds", 0) > LONG_SECONDS or test["outcome"] in ("timeout", "crash"):
                    dropped.add(name.split("$")[0])
                break
    return sorted(set(found) - dropped), sorted(dropped), sum(n for name, n in found.items() if name not in dropped)


def project_plain(options, class_path, classes, names):
    words = ["-cp", f"{classes}:{class_path}"]
    if "jupiter" not in class_path:
        return ["java", *words, "org.junit.runner.JUnitCore", *names]
    runner = compile_java(options.build, "PlainJUnit5", class_path)
    return ["java", "-cp", f"{classes}:{class_path}:{runner}", "PlainJUnit5", *names]


def bench_project(options, folder, rows):
    class_path, classes = (folder / "cp").read_text().strip(), "target/test-classes"
    listed = folder / "without"
    without = [f"!{pattern}.*" for pattern in listed.read_text().split()] if listed.exists() else []
    names, dropped, tests = listed_classes(options, folder, class_path, classes, without)
    if not names:
        print(f"{folder.name:<14} no test was listed")
        return None
    plain = project_plain(options, class_path, classes, names)
    without += [f"!{name}.*" for name in dropped]

    def first_pass(*more):
        command = pollution(options, class_path, classes, ["--sandbox", "never", *more], [], without)
        return lambda: FirstPass(command, folder)

    least, most = (3, 3) if options.quick else (5, 15)
    times = min(max(least, round(ROUNDS_SECONDS / Plain(plain, folder).wall)), most)
    rounds = in_turns([lambda: Plain(plain, folder), first_pass("--only", "memory"), first_pass()], times)
    shown, medians = [], []
    for kind in (1, 2):
        for clock in ("cpu", "wall"):
            ratio = Spread([getattr(results[kind], clock) / getattr(results[0], clock) for results in rounds])
            shown.append(ratio.show(2, 6))
            medians.append(ratio.median)
            rows.append({"bench": "jvm", "project": folder.name, "tests": tests, "dropped": dropped, "clock": clock,
                         "only": "memory" if kind == 1 else None, "ratio": ratio.values})
    base, last = Spread([results[0].cpu for results in rounds]), rounds[-1][1]
    whole = Spread([results[2].whole_cpu / results[0].cpu for results in rounds])
    print(f"{folder.name:<14} {tests:>5} {base.median:>7.2f} {' '.join(shown)} {whole.show(2, 6)} {last.us / last.looks:.0f} µs, "
          f"{last.objects} objects" + (f"; without {', '.join(dropped)}" if dropped else ""), flush=True)
    return medians


def bench_projects(options, rows):
    folders = sorted(path.parent for path in options.projects.glob("*/cp") if (path.parent / "target/test-classes").is_dir())
    print(f"\nProjects below {options.projects}: the VM of the first pass against the framework's own runner\n")
    print(f"{'':<28} {'heap alone (--only memory)':<51} {'all that pollution examines':<51} whole command")
    print(f"{'project':<14} {'tests':>5} {'plain s':>7} {'processor time':<25} {'by the clock':<25} {'processor time':<25} "
          f"{'by the clock':<25} {'processor time':<25} an examination")
    ratios = [ratio for ratio in (bench_project(options, folder, rows) for folder in folders) if ratio]
    for i, what in enumerate(("heap alone, processor time", "heap alone, by the clock", "all, processor time", "all, by the clock")):
        if ratios:
            mean = math.exp(sum(math.log(ratio[i]) for ratio in ratios) / len(ratios))
            print(f"geometric mean, {what}: {mean:.2f}, goal <= {GOAL_RATIO}: {'met' if mean <= GOAL_RATIO else 'not met'}")


def bench_jvm(options, rows):
    print("\nJava suites: plain against the first pass of polygraph pollution")
    missing = why_not(options)
    if missing:
        print(f"  skipped: {missing}")
        return
    if not options.only_projects:
        bench_generated(options, rows)
    if options.projects:
        bench_projects(options, rows)
