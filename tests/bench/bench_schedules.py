"""Tests that depend on timing: how many are found, in how many runs and in what time.

The subject is tests/subjects/schedules/threads, each of whose tests depends on timing. Compared are holding work
(`--strategy delay`), priorities (`pct`), random delays of up to 10, 100 and 400 ms (`random`), and the plain program, run
again and again. Of a test that is found, "runs" is the number of its runs until the first failing one.

Called by bench.py (`./dev bench schedules`).
"""

import json
import shutil
import statistics
import subprocess
import tempfile
import time

from bench import TOP, newer

SUBJECT = TOP / "tests" / "subjects" / "schedules" / "threads" / "threads.c"
RERUNS = 100
RANDOM_RUNS = 10
BUDGET = "60s"


def build_subject(build):
    target = build / "schedules_threads"
    if not newer(target, SUBJECT):
        subprocess.run(["cc", "-g", "-O0", "-o", target, SUBJECT, "-pthread"], check=True)
    return target


def show(rows, name, found, tests, runs, seconds):
    mean = f"{statistics.mean(runs):.1f} runs each" if runs else ""
    print(f"  {name:24} {found:3} of {tests:3} found  {mean:18} {seconds:7.1f} s")
    rows.append({"bench": "schedules", "name": name, "found": found, "tests": tests, "runs": runs, "seconds": seconds})


def bench_tool(options, rows, suite, name, words):
    with tempfile.TemporaryDirectory() as folder:
        begin = time.monotonic()
        done = subprocess.run([options.polygraph, "schedules", "--budget", BUDGET, "--format", "json", *words, suite],
                              cwd=folder, capture_output=True, check=False)
        seconds = time.monotonic() - begin
    report = json.loads(done.stdout)
    found = [f for f in report["findings"] if f["kind"] == "schedule"]
    show(rows, name, len(found), len(report["tests"]), [f["runs"] for f in found], seconds)


def bench_plain(options, rows, suite, tests, times):
    """A failed assertion ends the program: a run finds one test at most."""
    begin, found = time.monotonic(), set()
    for _ in range(times):
        done = subprocess.run([suite], capture_output=True, check=False)
        if done.returncode:
            found.add(done.stderr)
    show(rows, f"plain, {times} times", len(found), tests, [], time.monotonic() - begin)


def bench_schedules(options, rows):
    print("tests that depend on timing (tests/subjects/schedules/threads)")
    if not shutil.which("cc"):
        print("  skipped: no compiler")
        return
    suite = build_subject(options.build)
    runs = str(3 if options.quick else RANDOM_RUNS)
    bench_tool(options, rows, suite, "delay", [])
    bench_tool(options, rows, suite, "pct", ["--strategy", "pct"])
    for delay in ("10ms", "100ms", "400ms"):
        bench_tool(options, rows, suite, f"random, up to {delay}", ["--strategy", "random", "--delay", delay, "--runs", runs])
    bench_plain(options, rows, suite, rows[-1]["tests"], 10 if options.quick else RERUNS)
    print()
