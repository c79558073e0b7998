#!/usr/bin/env python3
"""Checks `polygraph schedules` against the subjects in tests/subjects/schedules/, which say what it must find in them.

Besides the directives of subject.py these; they stand on the line of the failing assertion:

    late TEST                         TEST fails if the work of another thread comes late; early TEST: if it comes early
                                      margin=A..B: milliseconds; severity=; hang=yes: it does not end;
                                      runs=N: found in at most so many (default: 3 for late, 5 for early work)
    run NAME [OPTION...]              one more run with these options; status=N; partial=yes: not everything has to be found;
                                      command=check: not `schedules`, but that
    says TEXT                         TEXT is said under "limits" or on standard error

Every test has exactly the findings that are spoken of. in=NAME,... restricts a directive to some runs and on=GLOB,... to some
executables, as in test_pollution.py. Each finding's `replay` command has to show it again (in quick mode: the first one's), and
with --times 20 outside of quick mode.
"""

import argparse
import contextlib
import json
import os
import pathlib
import shlex
import subprocess
import sys
import time

from test_order import OWN, Suite, differences, replays, snapshot
from test_pollution import applies, matches, remove, wanted_in_quick
from test_subjects import SLOWNESS, Mismatch, Skipped, check_all

HERE = pathlib.Path(__file__).resolve()
PATIENCE = 300 * SLOWNESS
BAD = ("fail", "crash", "timeout")
VERBS = ("late", "early", "says")
TIMES = 20  # a replay, outside of quick mode
RUNS = {"late": 3, "early": 5}  # of a test, until it is found


class Run:
    """One call of the tool: its options and what is wanted of it."""

    def __init__(self, subject, name, directive, label):
        self.name, self.patience, self.environment = name, PATIENCE, {}
        self.arguments = directive.args[1:] if directive else []
        options = directive.options if directive else {}
        self.command = options.get("command", "schedules")
        self.status, self.partial = options.get("status"), options.get("partial") == "yes"
        self.quick = options.get("quick") != "no"
        here = [d for d in subject.directives if d.verb in VERBS and applies(d, name, label)]
        self.claims = {d.args[0]: d for d in here if d.verb != "says"}
        self.says = [d for d in here if d.verb == "says"]


def runs_of(subject, label):
    given = {d.args[0]: d for d in subject.of("run")}
    given.setdefault("default", None)
    return [Run(subject, name, d, label) for name, d in given.items() if not d or applies(d, name, label)]


class Check:
    """Compares one report with what a run wants of it."""

    def __init__(self, suite, run, report, said):
        self.suite, self.run, self.report, self.said = suite, run, report, said
        self.wrong = []

    def add(self, text):
        self.wrong.append(text)

    def compare(self):
        tests = [test["name"] for test in self.report["tests"]]
        found = {}
        for finding in self.report["findings"]:
            test = finding.get("test")
            if finding.get("kind") != "schedule":
                if self.run.command == "schedules" or test in self.run.claims:
                    self.add(f"'{test}' has a finding of kind {finding.get('kind')}")
                continue
            if test in found:
                self.add(f"'{test}' has two findings")
            found[test] = finding
            self.formed(finding)
        for test, directive in self.run.claims.items():
            if test not in tests:
                self.add(f"{directive.where()}: '{test}' is not among the tests")
            elif test in found:
                self.finding(directive, found[test])
            elif not self.run.partial:
                self.add(f"{directive.where()}: '{test}' depends on timing: not found")
        for test in found.keys() - self.run.claims.keys():
            self.add(f"false alarm: {json.dumps(found[test])[:1500]}")
        for test in self.report["tests"]:
            if test.get("outcome") in BAD and test["name"] not in self.run.claims:
                self.add(f"'{test['name']}' is reported as {test['outcome']}")
        if not isinstance(self.report.get("schedules"), dict):
            self.add("no 'schedules' in the report")
        for d in self.run.says:
            if not matches(f"...{d.args[0]}...", "\n".join([*self.report.get("limits", []), self.said])):
                self.add(f"{d.where()}: '{d.args[0]}' is not said")
        return self.wrong

    def formed(self, finding):
        """What holds for each finding, whatever it is."""
        wanted = {
            "id": str(finding.get("id")).startswith("schedule-"),
            "direction": finding.get("direction") in ("late", "early"),
            "event": {"thread", "operation", "stack"} <= set(finding.get("event") or {}),
            "outcome": finding.get("outcome") in BAD,
            "margin": isinstance(finding.get("margin"), (int, float)) and finding["margin"] >= 0,
            "timeline": any(step.get("what") in ("hold", "wait") for step in finding.get("timeline", [])),
            "lower": isinstance(finding.get("lower"), dict),
            "upper": isinstance(finding.get("upper"), dict),
            "failing": isinstance(finding.get("failing"), dict),
        }
        for key, good in wanted.items():
            if not good:
                self.add(f"finding {finding.get('test')}: {key} is {json.dumps(finding.get(key))[:400]}")

    def finding(self, directive, finding):
        where, options = f"{directive.where()}: '{finding['test']}'", directive.options
        if finding["direction"] != directive.verb:
            self.add(f"{where}: {finding['direction']}")
        if "margin" in options:
            low, high = (float(number) / 1000 for number in options["margin"].split(".."))
            if not low <= finding["margin"] <= high:
                self.add(f"{where}: margin is {finding['margin']}")
        if finding["severity"] != options.get("severity", finding["severity"]):
            self.add(f"{where}: severity is {finding['severity']}")
        if finding["runs"] > int(options.get("runs", RUNS[directive.verb])):
            self.add(f"{where}: found in {finding['runs']} runs")
        if finding["hang"] != (options.get("hang") == "yes"):
            self.add(f"{where}: hang is {finding['hang']}")
        place = finding.get("failure") or {}
        if place.get("line") != directive.line or os.path.basename(place.get("file") or "") != directive.file.name:
            self.add(f"{where}: fails at {place.get('file')}:{place.get('line')}")


def check_run(suite, run, folder):
    suite.prepare(folder)
    before = snapshot(folder / "work")
    status, report = suite.report(folder, run.command, *run.arguments, patience=run.patience)
    command, said = (folder / "command").read_text(), (folder / "stderr").read_text(errors="replace")
    if "findings" not in report:
        raise Mismatch("no 'findings' in the report")
    wrong = [f"after the run {line}" for line in differences(before, snapshot(folder / "work")) if not line.startswith(OWN)]
    mine = [f for f in report["findings"] if f.get("kind") == "schedule"]
    if not suite.options.quick:
        for finding in mine:
            finding["replay"] += f" --times {TIMES}"
    wrong += replays(suite, run, mine, folder)
    wrong += Check(suite, run, report, said).compare()
    (folder / "command").write_text(command)
    loud = [f for f in report["findings"] if not f.get("known")]
    bad = any(test.get("outcome") in BAD for test in report["tests"])
    wanted = run.status.split("|") if run.status else ["1"] if loud else ["3"] if bad else ["0"]
    if str(status) not in wanted:
        wrong.append(f"exit status {status}, wanted {' or '.join(wanted)}")
    if wrong:
        raise Mismatch("\n".join(wrong))


def check_executable(exe, options, results):
    title = f"{exe.subject.name}/{exe.label}"
    again = ["python3", os.path.relpath(HERE), "--polygraph", options.polygraph_given, "--build", options.build,
             "--only", exe.subject.name, "--exe", exe.label, *(["--busy", str(options.busy)] if options.busy else [])]
    if exe.skip:
        results.add("skipped", title, exe.skip)
        return
    if exe.error:
        results.add("failed", f"{title} build", exe.error, shlex.join(again))
        return
    suite = Suite(exe, options)
    for run in runs_of(exe.subject, exe.label):
        if (options.run and run.name not in options.run) or (options.quick and not run.quick):
            continue
        folder = exe.folder / f"run-{run.name}"
        start = time.monotonic()
        try:
            check_run(suite, run, folder)
        except Skipped as reason:
            results.add("skipped", f"{title} {run.name}", str(reason))
        except Mismatch as wrong:
            command = folder / "command"
            results.add("failed", f"{title} {run.name}",
                        f"{wrong}\n{command.read_text().strip() if command.exists() else ''}",
                        shlex.join([*again, "--run", run.name, *(["--quick"] if options.quick else [])]))
        else:
            results.add("passed", f"{title} {run.name} ({time.monotonic() - start:.1f} s)")
            if not options.keep:
                remove(folder)


@contextlib.contextmanager
def busy(processes):
    """So many processes that do nothing but compute, beside all else."""
    running = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(processes)]
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--polygraph", default="build/polygraph", metavar="PATH", help="default: build/polygraph")
    parser.add_argument("--build", default="build", metavar="DIR", help="the build folder; default: build")
    parser.add_argument("--subjects", default=HERE.parent.parent / "subjects" / "schedules", metavar="DIR")
    parser.add_argument("--only", action="append", default=[], metavar="SUBJECT", help="may be given again")
    parser.add_argument("--exe", metavar="GLOB", help="only executables VARIANT-CC-OPT that match")
    parser.add_argument("--run", action="append", default=[], metavar="NAME", help="only this run; may be given again")
    parser.add_argument("--quick", action="store_true", help="only what variants say under quick=")
    parser.add_argument("--keep", action="store_true", help="keep reports of what passes, too")
    parser.add_argument("--build-only", action="store_true", help="build, and run nothing")
    parser.add_argument("--jobs", type=int, default=2, metavar="N")
    parser.add_argument("--busy", type=int, default=0, metavar="N", help="beside N processes that compute all the time")
    parser.add_argument("--verbose", action="store_true", help="name the checks that pass, too")
    options = parser.parse_args()
    options.polygraph_given = options.polygraph
    options.polygraph = pathlib.Path(options.polygraph).resolve()
    if not os.access(options.polygraph, os.X_OK):
        parser.error(f"no polygraph at {options.polygraph_given}")
    with busy(options.busy):
        return check_all(parser, options, pathlib.Path(options.build) / "schedules", check_executable,
                         wanted=lambda exe: not options.quick or wanted_in_quick(exe), look=lambda subject: runs_of(subject, ""))


if __name__ == "__main__":
    sys.exit(main())
