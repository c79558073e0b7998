"""Tests that depend on timing: how many are found, in how many runs and in what time.

The subjects are those of tests/subjects/schedules that need nothing but threads; what depends on timing in them is
counted, and what is found beyond that (false alarms; there must be none). Compared are holding work
(`--strategy delay`), priorities (`pct`), random delays of up to 10, 100 and 400 ms (`random`), and the plain program, run
again and again. Of a test that is found, "runs" is the number of its runs until the first failing one.

Called by bench.py (`./dev bench schedules`).
"""

import json
import re
import shutil
import statistics
import subprocess
import tempfile
import time

from bench import TOP, newer

FOLDER = TOP / "tests" / "subjects" / "schedules"
SUBJECTS = ("threads", "groups", "inside", "signals", "pools", "twins")
CLAIM = re.compile(r"//@ (?:late|early) (\S+)")
RERUNS = 100
RANDOM_RUNS = 10
BUDGET = "60s"


class Subject:
    """A program, and which of its tests depend on timing."""

    def __init__(self, name, build):
        source = FOLDER / name / f"{name}.c"
        self.claims = set(CLAIM.findall(source.read_text()))
        self.program = build / f"schedules_{name}"
        if not newer(self.program, source):
            subprocess.run(["cc", "-g", "-O0", "-o", self.program, source, "-pthread"], check=True)


def show(rows, name, subjects, found, false, runs, seconds):
    mean = f"{statistics.mean(runs):.1f} runs each, at most {max(runs)}" if runs else ""
    tests = sum(len(subject.claims) for subject in subjects)
    print(f"  {name:24} {found:3} of {tests:3} found, {false} false alarms  {mean:30} {seconds:7.1f} s")
    rows.append({"bench": "schedules", "name": name, "found": found, "tests": tests, "false": false, "runs": runs,
                 "seconds": seconds})


def bench_tool(options, rows, subjects, name, words):
    found, false, runs, seconds = 0, 0, [], 0
    for subject in subjects:
        with tempfile.TemporaryDirectory() as folder:
            begin = time.monotonic()
            done = subprocess.run([options.polygraph, "schedules", "--budget", BUDGET, "--format", "json", *words, subject.program],
                                  cwd=folder, capture_output=True, check=False)
            seconds += time.monotonic() - begin
        for finding in json.loads(done.stdout)["findings"]:
            if finding["test"] in subject.claims:
                found += 1
                runs.append(finding["runs"])
            else:
                false += 1
    show(rows, name, subjects, found, false, runs, seconds)


def bench_plain(rows, subjects, times):
    """A failed assertion ends the program: a run finds one test at most."""
    begin, found = time.monotonic(), set()
    for subject in subjects:
        for _ in range(times):
            done = subprocess.run([subject.program], capture_output=True, check=False)
            if done.returncode:
                found.add(done.stderr)
    show(rows, f"plain, {times} times", subjects, len(found), 0, [], time.monotonic() - begin)


def bench_schedules(options, rows):
    print(f"tests that depend on timing (tests/subjects/schedules: {', '.join(SUBJECTS)})")
    if not shutil.which("cc"):
        print("  skipped: no compiler")
        return
    subjects = [Subject(name, options.build) for name in SUBJECTS]
    runs = str(3 if options.quick else RANDOM_RUNS)
    bench_tool(options, rows, subjects, "delay", [])
    bench_tool(options, rows, subjects, "pct", ["--strategy", "pct"])
    for delay in ("10ms", "100ms", "400ms"):
        bench_tool(options, rows, subjects, f"random, up to {delay}", ["--strategy", "random", "--delay", delay, "--runs", runs])
    bench_plain(rows, subjects, 10 if options.quick else RERUNS)
    print()
