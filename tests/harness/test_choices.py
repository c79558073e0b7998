#!/usr/bin/env python3
"""Checks `polygraph choices` against the subjects in tests/subjects/choices/, which say what it must find in them.

Besides the directives of subject.py these; the first stands on the line of the decisive call:

    assumption TEST api=API           TEST assumes more than API promises; of the call's stack, the innermost place in the
                                      subject's own sources is this line (line=any: elsewhere, or there is none)
                                      level=one: the level at which it is found (default one;
                                      not of runs with --level); with=API,...: further calls
                                      that are decisive only together with it (with=API|API: one of these; with=any: any); outcome=,
                                      argument=, did=, function= (of the innermost place), clause=; thread=other: not the
                                      test's own; before=yes: before the first test; alone=no: only after other tests,
                                      by=OTHER of which this one made the call;
                                      may=yes: need not be found; more=yes: TEST may have others; probability=P critical=N: with --systematic
                                      api, level, outcome: A|B is one of these, "..." in a text is anything
    random TEST                       TEST fails now and then: flaky, no other finding; listed=no: need not be seen to
    space TEST                        with --systematic: nodes= leaves= failing= merged= (N, or N+ for at least N)
                                      probability= (also as a fraction) exhausted=yes|no
    met API...                        these had something to choose
    unmet API...                      these had not: nobody but the framework, the C library and the like calls them
    run NAME [OPTION...]              one more run with these options; those of `run default` are for the ordinary run
                                      status=N; patience=SECONDS; on=GLOB; quick=no: not in quick mode; partial=yes: not
                                      everything has to be found; env="NAME=VALUE ...": environment
                                      twice=yes: called again, it says the same; command=check: not `choices`, but that
    says TEXT                         TEXT is said under "limits" or on standard error

Every test has exactly the findings that are spoken of, whatever the seed: outside of quick mode runs without --runs of
their own are given 20 seeds a level. in=NAME,... restricts a directive to some runs and on=GLOB,... to some executables,
as in test_pollution.py; `subject` takes suite= and arguments= as in test_order.py, prefix= that all names of tests begin
with, and files=no where the tests leave files. Each finding's `replay` command has to show it again (in quick mode: the first one's).
"""

import argparse
import fractions
import json
import os
import pathlib
import shlex
import sys
import time

from test_order import OWN, Suite, differences, replays, snapshot
from test_pollution import applies, fails, listed, matches, remove, wanted_in_quick
from test_subjects import SLOWNESS, Mismatch, Skipped, check_all

HERE = pathlib.Path(__file__).resolve()
PATIENCE = 120 * SLOWNESS
LEVELS = ("one", "eq", "id", "full")
SEVERITIES = {"one": "high", "eq": "high", "id": "medium", "full": "low"}
BAD = ("fail", "crash", "timeout")
SEEDS = 20  # a level, outside of quick mode
VERBS = ("assumption", "random", "space", "met", "unmet", "says")
MOMENTS = ("made", "acted")  # counted without locks: may differ between two runs that do the same


def one_of(pattern, text):
    return text in pattern.split("|")


class Claim:
    """A finding that a subject speaks of."""

    def __init__(self, directive):
        self.directive, options = directive, directive.options
        if len(directive.args) != 1 or "api" not in options:
            raise directive.error("a test and api= are wanted")
        self.test, self.api = directive.args[0], options["api"]
        self.level = options.get("level", "one")
        self.together = listed(directive, "with")
        self.may = options.get("may") == "yes"
        for level in self.level.split("|"):
            if level not in LEVELS:
                raise directive.error(f"level={level}: {', '.join(LEVELS)} are known")


class Run:
    """One call of the tool: its options and what is wanted of it."""

    def __init__(self, subject, name, directive, label):
        self.name = name
        self.arguments = directive.args[1:] if directive else []
        options = directive.options if directive else {}
        self.command = options.get("command", "choices")
        self.status = options.get("status")
        self.patience = float(options.get("patience", PATIENCE))
        self.partial, self.twice = options.get("partial") == "yes", options.get("twice") == "yes"
        self.quick = options.get("quick") != "no"
        self.environment = dict(word.split("=", 1) for word in shlex.split(options.get("env", "")))
        here = [d for d in subject.directives if d.verb in VERBS and applies(d, name, label)]
        prefix = subject.of("subject")[0].options.get("prefix", "")
        for d in here:
            if d.verb in ("assumption", "random", "space") and d.args and not d.args[0].startswith(prefix):
                d.args[0] = prefix + d.args[0]
        self.claims = [Claim(d) for d in here if d.verb == "assumption"]
        self.of = {verb: [d for d in here if d.verb == verb] for verb in VERBS[1:]}
        self.systematic = "--systematic" in self.arguments
        self.level = self.arguments[self.arguments.index("--level") + 1] if "--level" in self.arguments else None

    def words(self, options):
        seeds = self.command == "choices" and not self.systematic and "--runs" not in self.arguments
        return self.arguments + (["--runs", str(options.seeds)] if seeds and not options.quick else [])


def runs_of(subject, label):
    given = {d.args[0]: d for d in subject.of("run")}
    given.setdefault("default", None)
    return [Run(subject, name, d, label) for name, d in given.items() if not d or applies(d, name, label)]


class Check:
    """Compares one report with what a run wants of it."""

    def __init__(self, suite, run, report, said):
        self.suite, self.run, self.report, self.said = suite, run, report, said
        self.sources = {str(path) for path in suite.subject.sources + suite.subject.headers}
        self.wrong = []

    def add(self, text):
        self.wrong.append(text)

    def compare(self):
        tests = [test["name"] for test in self.report["tests"]]
        found = [f for f in self.report["findings"] if f.get("kind") == "assumption" and self.formed(f, tests)]
        others = {f.get("kind") for f in self.report["findings"]} - {"assumption", "flaky"}
        if others and self.run.command == "choices":
            self.add(f"findings of kind {', '.join(map(str, others))}")
        if len({f["id"] for f in found}) != len(found):
            self.add("two findings have one id")
        free = list(found)
        for claim in self.run.claims:
            if claim.test not in tests:
                self.add(f"{claim.directive.where()}: '{claim.test}' is not among the tests")
            mine = [f for f in free if f["test"] == claim.test and one_of(claim.api, f["api"])]
            if mine:
                free.remove(mine[0])
                self.finding(claim, mine[0])
            elif not claim.may and not self.run.partial:
                self.add(f"{claim.directive.where()}: '{claim.test}' assumes more than {claim.api} promises: not found")
        more = {claim.test for claim in self.run.claims if claim.directive.options.get("more") == "yes"}
        for finding in free:
            if finding["test"] in more:
                continue
            self.add(f"false alarm: '{finding['test']}': {finding['api']} at level {finding['level']}, seed "
                     f"{finding['failing_seed']}: {json.dumps(finding['call'])[:600]}")
        for test in self.report["tests"]:
            if test.get("outcome") in BAD and not any(d.args[0] == test["name"] for d in self.run.of["random"]):
                self.add(f"'{test['name']}' is reported as {test['outcome']}")
        self.reach()
        for d in self.run.of["says"]:
            if not matches(f"...{d.args[0]}...", "\n".join([*self.report.get("limits", []), self.said])):
                self.add(f"{d.where()}: '{d.args[0]}' is not said")
        return self.wrong

    def formed(self, finding, tests):
        """What holds for each finding, whatever it is."""
        test, calls = finding.get("test"), finding.get("calls")
        where = f"finding {test}, {finding.get('api')}"
        if test not in tests or finding.get("level") not in LEVELS or not isinstance(calls, list) or not calls:
            self.add(f"{where}: {json.dumps(finding)[:400]}")
            return False
        wanted = {
            "id": str(finding.get("id")).startswith("choice-"),
            "severity": finding.get("severity") == SEVERITIES[finding["level"]],
            "call": finding.get("call") == calls[0],
            "api": finding.get("api") == calls[0].get("api"),
            "clause": bool(finding.get("clause")),
            "outcome": finding.get("outcome") in BAD,
            "minimal": finding.get("minimal") is True,
            "failures": 0 < finding.get("failures", 0) <= finding.get("runs", 0),
            "repeats": finding.get("repeats", 0) >= 1,
            "systematic": ("probability" in finding) == self.run.systematic,
        }
        for key, good in wanted.items():
            if not good:
                self.add(f"{where}: {key} is {json.dumps(finding.get(key))}")
        for one in calls:
            if not isinstance(one.get("index"), int) or one["index"] < 1:
                self.add(f"{where}: a call's index is {one.get('index')}")
        return True

    def place(self, one):
        """The innermost frame of a call that lies in the subject's own sources."""
        for frame in one.get("stack", []):
            file = frame.get("file")
            if file and os.path.realpath(os.path.join(self.suite.subject.folder, file)) in self.sources:
                return frame
        return None

    def finding(self, claim, finding):
        directive, options = claim.directive, claim.directive.options
        where, one = f"{directive.where()}: '{claim.test}', {claim.api}", finding["calls"][0]
        if not one_of(self.run.level or claim.level, finding["level"]):
            self.add(f"{where}: level {finding['level']}, wanted {self.run.level or claim.level}")
        if not one_of(options.get("outcome", "fail|crash"), finding["outcome"]):
            self.add(f"{where}: outcome {finding['outcome']}: {finding.get('failure')}")
        others = [c["api"] for c in finding["calls"][1:]]
        if claim.together == ["any"]:
            others.clear()
        for wanted in claim.together if claim.together != ["any"] else ():
            mine = [api for api in others if one_of(wanted, api)]
            if mine:
                others.remove(mine[0])
            else:
                self.add(f"{where}: {wanted} is not among its calls: {', '.join(c['api'] for c in finding['calls'])}")
        if others:
            self.add(f"{where}: {', '.join(others)} is said to be decisive, too")
        frame = self.place(one)
        debug = self.suite.subject.variants[self.suite.exe.variant].get("debug") != "none"
        if options.get("line") != "any" and debug:
            if not frame:
                self.add(f"{where}: no place in its sources: {json.dumps(one.get('stack'))[:400]}")
            elif (frame.get("line"), os.path.basename(frame["file"])) != (directive.line, directive.file.name):
                self.add(f"{where}: called at {frame['file']}:{frame.get('line')}")
        if "function" in options and debug and not matches(options["function"], (frame or {}).get("function")):
            self.add(f"{where}: called from {frame}")
        for key in ("argument", "did", "clause"):
            if key in options and not matches(options[key], one.get(key)):
                self.add(f"{where}: {key} is '{one.get(key)}'")
        thread = "main" if one.get("thread") == "main" else "other"
        if thread != options.get("thread", "main"):
            self.add(f"{where}: thread is {one.get('thread')}")
        if bool(one.get("before_first_test")) != (options.get("before") == "yes"):
            self.add(f"{where}: before_first_test is {one.get('before_first_test')}")
        if one.get("test") != options.get("by"):
            self.add(f"{where}: made by '{one.get('test')}'")
        if finding.get("alone") != (options.get("alone") != "no"):
            self.add(f"{where}: alone is {finding.get('alone')}")
        if "probability" in options and not same_number(options["probability"], finding.get("probability")):
            self.add(f"{where}: probability {finding.get('probability')}")
        if "critical" in options and len(finding.get("critical", [])) != int(options["critical"]):
            self.add(f"{where}: {len(finding.get('critical', []))} critical choices: "
                     f"{json.dumps(finding.get('critical'))[:600]}")

    def reach(self):
        """How far the search went, and what it set apart."""
        choices = self.report.get("choices")
        if not isinstance(choices, dict):
            self.add("no 'choices' in the report")
            return
        for key in ("executions", "baselines", "made", "acted"):
            if not isinstance(choices.get(key), int):
                self.add(f"choices: {key} is {choices.get(key)}")
        met = choices.get("models", [])
        for d in self.run.of["met"]:
            for api in d.args:
                if api not in met:
                    self.add(f"{d.where()}: {api} had nothing to choose; there are: {', '.join(met) or 'none'}")
        for d in self.run.of["unmet"]:
            for api in d.args:
                if api in met:
                    self.add(f"{d.where()}: {api} had something to choose")
        apart = {item["test"] for item in self.report["findings"] if item.get("kind") == "flaky"}
        claimed = {d.args[0]: d for d in self.run.of["random"]}
        for test in apart - set(claimed):
            self.add(f"'{test}' is called flaky")
        for test, d in claimed.items():
            if test not in apart and d.options.get("listed") != "no" and not self.run.partial:
                self.add(f"{d.where()}: '{test}' fails at random: not said")
        spaces = {space.get("test"): space for space in choices.get("spaces", [])}
        for d in self.run.of["space"]:
            self.space(d, spaces.get(d.args[0]))

    def space(self, d, space):
        if not space:
            self.add(f"{d.where()}: '{d.args[0]}' was not explored")
            return
        for key, wanted in d.options.items():
            if key in ("in", "on"):
                continue
            value = space.get(key)
            if key == "exhausted":
                good = value == (wanted == "yes")
            elif key == "probability":
                good = same_number(wanted, value)
            else:
                good = value >= int(wanted[:-1]) if wanted.endswith("+") else value == int(wanted)
            if not good:
                self.add(f"{d.where()}: {key} is {value}, wanted {wanted}: {json.dumps(space)}")


def same_number(wanted, value):
    return isinstance(value, (int, float)) and abs(float(fractions.Fraction(wanted)) - value) < 1e-9


def check_run(suite, run, folder):
    suite.prepare(folder)
    before = snapshot(folder / "work")
    words = run.words(suite.options)
    run.patience *= max(1, suite.options.seeds / SEEDS)
    status, report = suite.report(folder, run.command, *words, patience=run.patience, **run.environment)
    command, said = (folder / "command").read_text(), (folder / "stderr").read_text(errors="replace")
    if "findings" not in report:
        raise Mismatch("no 'findings' in the report")
    wrong = []
    if suite.subject.of("subject")[0].options.get("files") != "no":
        after = snapshot(folder / "work")
        wrong += [f"after the run {line}" for line in differences(before, after)
                  if not line.startswith((OWN, "build/Testing"))]
    if run.twice:
        wrong += runs_alike(suite, run, words, report, folder)
    wrong += replays(suite, run, [f for f in report["findings"] if f.get("kind") == "assumption"], folder)
    wrong += Check(suite, run, report, said).compare()
    (folder / "command").write_text(command)
    bad = any(test.get("outcome") in BAD for test in report["tests"])
    wanted = run.status.split("|") if run.status else ["1"] if fails(report) else ["3"] if bad else ["0"]
    if str(status) not in wanted:
        wrong.append(f"exit status {status}, wanted {' or '.join(wanted)}")
    if wrong:
        raise Mismatch("\n".join(wrong))


def without_moments(thing):
    if isinstance(thing, dict):
        return {key: without_moments(value) for key, value in thing.items() if key not in MOMENTS}
    return [without_moments(item) for item in thing] if isinstance(thing, list) else thing


def runs_alike(suite, run, words, report, folder):
    """A second call with the same seed says the same, but for numbers that threads add to."""
    _, second = suite.report(folder, run.command, *words, patience=run.patience, **run.environment)
    for key in ("findings", "choices", "limits"):
        first, then = (json.dumps(without_moments(r.get(key)), sort_keys=True) for r in (report, second))
        if first != then:
            at = next((i for i, (a, b) in enumerate(zip(first, then)) if a != b), 0)
            yield f"the same seed again: other {key}: ...{first[max(at - 200, 0):at + 100]} / {then[max(at - 20, 0):at + 100]}"


def check_executable(exe, options, results):
    title = f"{exe.subject.name}/{exe.label}"
    again = ["python3", os.path.relpath(HERE), "--polygraph", options.polygraph_given, "--build", options.build,
             "--only", exe.subject.name, "--exe", exe.label]
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


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--polygraph", default="build/polygraph", metavar="PATH", help="default: build/polygraph")
    parser.add_argument("--build", default="build", metavar="DIR", help="the build folder; default: build")
    parser.add_argument("--subjects", default=HERE.parent.parent / "subjects" / "choices", metavar="DIR")
    parser.add_argument("--only", action="append", default=[], metavar="SUBJECT", help="may be given again")
    parser.add_argument("--exe", metavar="GLOB", help="only executables VARIANT-CC-OPT that match")
    parser.add_argument("--run", action="append", default=[], metavar="NAME", help="only this run; may be given again")
    parser.add_argument("--quick", action="store_true", help="only what variants say under quick=, with few seeds")
    parser.add_argument("--seeds", type=int, default=SEEDS, metavar="N", help=f"a level, but for --quick; default: {SEEDS}")
    parser.add_argument("--keep", action="store_true", help="keep reports of what passes, too")
    parser.add_argument("--build-only", action="store_true", help="build, and run nothing")
    parser.add_argument("--jobs", type=int, default=2, metavar="N")
    parser.add_argument("--verbose", action="store_true", help="name the checks that pass, too")
    options = parser.parse_args()
    options.polygraph_given = options.polygraph
    options.polygraph = pathlib.Path(options.polygraph).resolve()
    if not os.access(options.polygraph, os.X_OK):
        parser.error(f"no polygraph at {options.polygraph_given}")
    return check_all(parser, options, pathlib.Path(options.build) / "choices", check_executable,
                     wanted=lambda exe: not options.quick or wanted_in_quick(exe), look=lambda subject: runs_of(subject, ""))


if __name__ == "__main__":
    sys.exit(main())
