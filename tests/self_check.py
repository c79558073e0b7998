#!/usr/bin/env python3
"""The tool checks its own unit tests: `polygraph check` on the cmocka programs of tests/unit.

Usage: self_check.py BUILD-DIR [NAME...]

A finding of high or medium severity is a failure. What is no fault of a test, with the reason, is in
tests/unit/polygraph.toml; programs that are left out, with the reason, are in LEFT_OUT.
"""

import concurrent.futures
import json
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import fresh

TESTS = Path(__file__).resolve().parent
CONFIGURATION = TESTS / "unit" / "polygraph.toml"
BUDGET = "3s"
PATIENCE = 300
FAULTS = ("high", "medium")

CONTROLS = "traces or starts programs of its own, which takes longer than the budget and is what the subjects are for"
COMPILES = "runs compilers"
LEFT_OUT = {
    **dict.fromkeys(("attributes", "files", "files_hostile", "files_random", "follow", "image", "keep", "nest",
                     "places",
                     "process", "process_choices", "process_tree", "process_watch", "unwind", "user_models",
                     "watchpoint"), CONTROLS),
    **dict.fromkeys(("index", "index_cache", "object"), COMPILES),
}


def unit_tests(build):
    """Name, command and environment of each, as Meson runs it."""
    for test in json.loads((build / "meson-info" / "intro-tests.json").read_text()):
        if any(suite.endswith("unit") for suite in test["suite"]) and not test["name"].startswith("containers-"):
            yield test["name"], test["cmd"], test["env"]


def describe(finding):
    what = finding.get("root") or finding.get("api") or finding.get("class") or ""
    return f"{finding['severity']} {finding['kind']}: {finding['test']}: {what}"


def check(polygraph, command, environment):
    """What is wrong, one line each."""
    words = [str(polygraph), "check", "--config", str(CONFIGURATION), "--budget", BUDGET, "--format", "json", "--", *command]
    with tempfile.TemporaryDirectory(prefix="polygraph-self-") as folder:
        done = subprocess.run(words, cwd=folder, env={**os.environ, **environment}, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, errors="replace", timeout=PATIENCE, check=False)
    again = shlex.join([f"{name}={value}" for name, value in environment.items()] + words)
    try:
        report = json.loads(done.stdout)
    except ValueError:
        return [f"exit status {done.returncode}, no report: {done.stderr.strip()}", f"again: {again}"]
    wrong = [f"{test['name']}: {test['outcome']}" for test in report["tests"] if test["outcome"] not in ("pass", "skip")]
    wrong += [describe(finding) for finding in report["findings"] if finding.get("severity") in FAULTS]
    return wrong + [f"again: {again}"] if wrong else []


def main():
    fresh.start()
    build = Path(sys.argv[1]).resolve()
    tests = [test for test in unit_tests(build) if not sys.argv[2:] or test[0] in sys.argv[2:]]
    passed = failed = skipped = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        checks = {name: pool.submit(check, build / "polygraph", command, environment)
                  for name, command, environment in tests if name not in LEFT_OUT}
        for name, _, _ in tests:
            if name in LEFT_OUT:
                skipped += 1
                print(f"left out {name}: {LEFT_OUT[name]}")
                continue
            wrong = checks[name].result()
            passed, failed = passed + (not wrong), failed + bool(wrong)
            print(f"{'FAILED' if wrong else 'ok'} {name}")
            for line in wrong:
                print(f"    {line}")
    print(f"{passed} passed, {failed} failed")
    return int(failed != 0)


if __name__ == "__main__":
    sys.exit(main())
