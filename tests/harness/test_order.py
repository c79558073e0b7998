#!/usr/bin/env python3
"""Checks `polygraph order` against the subjects in tests/subjects/order/, which say what it must find in them.

Besides the directives of subject.py these, mostly next to the test they speak of. Lists of tests are written A,B (one
after the other) and alternatives A,B|C; an alternative that ends with ? may be missing from the report.

    victim TEST polluters=LISTS       TEST fails after each of these, and passes alone
    brittle TEST setters=LISTS        TEST passes after each of these, and fails alone
    non-idempotent TEST               TEST passes, and fails the second time
                                      of these three: polluted=ROOT,... exactly these (`none`: none; left out: whatever);
                                      more=yes: further lists may be found; some=yes: one of the lists has to be
                                      class=CLASS: what it is called, where more than one would be right (A|B)
                                      left=PATH: what the report shows to be left by one of the tests before it
                                      twice=yes|no: of a victim: whether it also fails the second time
    cleaned TEST after=LIST by=LISTS  run after the polluters and before TEST these let it pass, and nothing else does;
                                      by=none: nothing does
    random TEST                       TEST fails now and then: flaky, no other finding; listed=no: need not be seen to
    order OUTCOME TEST...             run in this order, the last one ends so: pass, fail, skip, crash, timeout, good or bad
    run NAME [OPTION...]              one more run with these options; those of `run default` are for the ordinary run
                                      status=N; patience=SECONDS; on=GLOB; quick=no: not in quick mode; off=yes: no run;
                                      env="NAME=VALUE ...": environment; partial=yes: not everything has to be found,
                                      nor explained
                                      twice=yes: called again in the same folder, it finds the same with less work
    says TEXT                         TEXT is said under "limits" or on standard error

Every test that is not spoken of has no finding. in=NAME,... restricts a directive to some runs and on=GLOB,... to some
executables, as in test_pollution.py. `subject` takes suite=commands|ctest|meson: the program is `./NAME` in the working
directory (the commands are in a file called `suite`); `arguments=` are the program's own. The working directory has the
subject's files but for its sources. pairs=no: too many tests to try all of them.

Three things are checked of each executable:

    claims     what the directives say is true: each order that they imply is run with `polygraph run --order`
    pairs      no pair of tests depends on its order that the directives do not speak of (not in quick mode)
    NAME       a run of `polygraph order`: its findings are those of the directives; each of them is shown by its failing
               and its passing order, run with `polygraph run --order`, and by `polygraph replay`; all files are as before
"""

import argparse
import json
import os
import pathlib
import shlex
import shutil
import stat
import subprocess
import sys
import time

import subject as subject_module
from test_pollution import applies, call, fails, make_room, matches, remove, wanted_in_quick
from test_subjects import SLOWNESS, Mismatch, Skipped, check_all, name_in_order_file

HERE = pathlib.Path(__file__).resolve()
PATIENCE = 120 * SLOWNESS
CLASSES = ("victim", "brittle", "non-idempotent")
UNEXPLAINED = "unexplained"
SEVERITIES = ("high", "medium", "low")
BAD = ("fail", "crash", "timeout")
GOOD = ("pass", "skip")
OWN = ".polygraph"  # where results are kept
CTEST_OWN = "work/build/Testing"  # where ctest keeps its, whatever it is asked


def is_outcome(outcome, wanted):
    return outcome in {"good": GOOD, "bad": BAD}.get(wanted, (wanted,))


def show(lists):
    return " | ".join(", ".join(names) or "nothing" for names in sorted(lists)) or "none"


class Lists:
    """Alternative lists of tests, as a directive has them."""

    def __init__(self, text, restricted=False):
        self.wanted, self.optional = set(), set()
        self.restricted = restricted  # to some runs: other orders may say something else
        for alternative in text.split("|") if text and text != "none" else ():
            into = self.optional if alternative.endswith("?") else self.wanted
            into.add(tuple(alternative.removesuffix("?").split(",")))

    def all(self):
        return sorted(self.wanted | self.optional)


class Claim:
    """What a subject says of one of its tests."""

    def __init__(self, directive):
        self.directive, self.kind = directive, directive.verb
        if len(directive.args) != 1:
            raise directive.error("one test is wanted")
        self.test, options = directive.args[0], directive.options
        key = {"victim": "polluters", "brittle": "setters"}.get(self.kind)
        if key and key not in options:
            raise directive.error(f"{key}= is wanted")
        self.lists = Lists(options[key] if key else "")
        self.more, self.some = options.get("more") == "yes", options.get("some") == "yes"
        self.classes = options.get("class", self.kind).split("|")
        self.polluted = None
        if "polluted" in options:
            self.polluted = [] if options["polluted"] == "none" else options["polluted"].split(",")
        self.left = options.get("left")
        self.listed = options.get("listed") != "no"
        self.twice = {"yes": True, "no": False}.get(options.get("twice"), True if self.kind == "non-idempotent" else None)
        self.cleaners = {}  # a list of polluters -> Lists

    def orders(self):
        """The orders that make it true, each with how its last test ends."""
        if self.kind == "random":
            return
        alone, after = ("bad", "good") if self.kind == "brittle" else ("good", "bad")
        yield (self.test,), alone
        if self.twice is not None:
            yield (self.test, self.test), after if self.twice else alone
        for names in self.lists.all():
            yield (*names, self.test), after
            # Minimal: nothing can be left out.
            for i in range(len(names)) if len(names) > 1 else ():
                yield (*names[:i], *names[i + 1:], self.test), alone
        for polluters, lists in self.cleaners.items():
            for names in lists.all():
                yield (*polluters, *names, self.test), "good"

    def after_one(self, other, alone):
        """How the test ends after this other one, where it ends like `alone` in a process of its own."""
        if self.kind == "random":
            return None
        if (other,) in self.lists.wanted | self.lists.optional:
            return "good" if self.kind == "brittle" else "bad"
        if other == self.test:
            return {True: "bad", False: "good", None: None if self.kind == "victim" else alone}[self.twice]
        return None if self.more else alone


def claims_of(subject, label, run=None):
    """What it says of its tests; of all runs together where none is given. At most one finding a test."""
    here = [d for d in subject.directives
            if (applies(d, run, label) if run else applies(d, (d.options.get("in") or "default").split(",")[0], label))]
    claims = {}
    for d in here:
        if d.verb in (*CLASSES, "random"):
            claim = Claim(d)
            if run and claim.test in claims:
                raise d.error(f"'{claim.test}' is spoken of already")
            claims.setdefault(claim.test, claim)
    for d in here:
        if d.verb == "cleaned":
            if not d.args or "after" not in d.options or "by" not in d.options:
                raise d.error("a test, after= and by= are wanted")
            claim = claims.get(d.args[0])
            if not claim and label:
                raise d.error(f"'{d.args[0]}' is no victim here")
            if claim:
                claim.cleaners[tuple(d.options["after"].split(","))] = Lists(d.options["by"], "in" in d.options)
    return claims


def snapshot(folder):
    """Everything in a folder, but for the tool's own results: kind, permissions and content of each name."""
    found = {}
    for top, folders, files in os.walk(folder):
        if OWN in folders and pathlib.Path(top) == folder:
            folders.remove(OWN)
        for name in folders + files:
            path = pathlib.Path(top) / name
            info = path.lstat()
            content = (os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else None)
            found[str(path.relative_to(folder))] = (stat.S_IFMT(info.st_mode), stat.S_IMODE(info.st_mode), content)
    return found


def restore(folder, wanted):
    """Brings a folder back to how it was; only what the subjects of processes do there: files and folders."""
    now = snapshot(folder)
    for name in sorted(set(now) - set(wanted), reverse=True):
        path = folder / name
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink(missing_ok=True)
    for name in sorted(wanted):
        kind, mode, content = wanted[name]
        path = folder / name
        if now.get(name) != wanted[name] and kind != stat.S_IFLNK:
            if kind == stat.S_IFDIR:
                path.mkdir(exist_ok=True)
            else:
                path.write_bytes(content)
            path.chmod(mode)


class Suite:
    """An executable, or the suite of processes that it is part of, and how to call the tool on it."""

    def __init__(self, exe, options):
        self.exe, self.options, self.subject = exe, options, exe.subject
        head = exe.subject.of("subject")[0].options
        self.kind = head.get("suite")
        self.arguments = shlex.split(head.get("arguments", ""))
        self.environment = {}
        self.outcomes = {}

    def prepare(self, folder):
        """The working directory as the tests want it."""
        make_room(folder)
        work = folder / "work"
        for path in self.subject.folder.iterdir():
            if path.suffix not in (*subject_module.SOURCES, *subject_module.HEADERS):
                shutil.copy2(path, work)
        if not self.kind:
            return
        shutil.copy2(self.exe.path, work / self.subject.name)
        words = {"commands": None, "ctest": ["cmake", "-S", ".", "-B", "build"],
                 "meson": ["meson", "setup", "build"]}[self.kind]
        if words and not shutil.which(words[0]):
            raise Skipped(f"{words[0]} is not installed")
        if words:
            done = subprocess.run(words, cwd=work, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT)
            if done.returncode:
                raise Mismatch(f"{shlex.join(words)}:\n{done.stdout.decode(errors='replace')}")

    def words(self):
        if self.kind:
            return [f"--{self.kind}", "suite" if self.kind == "commands" else "build"]
        return ["--", str(self.exe.path), *self.arguments]

    def report(self, folder, command, *arguments, patience=PATIENCE, **environment):
        words = [str(self.options.polygraph), command, "--format", "json", *arguments, *self.words()]
        status = call(words, folder, patience, LSAN_OPTIONS="detect_leaks=0", **environment)
        try:
            report = json.loads((folder / "stdout").read_text(encoding="utf-8"))
            report["tests"]
        except (ValueError, KeyError, TypeError) as error:
            said = (folder / "stderr").read_text(errors="replace").strip().splitlines()
            raise Mismatch(f"{command}: exit status {status}, no JSON report ({error}); standard error: "
                           f"{said[-1] if said else 'nothing'}") from None
        return status, report

    def names(self, folder):
        return [test["name"] for test in self.report(folder, "list")[1]["tests"]]

    def ends(self, folder, order, clean, timeout, again=False):
        """How the last test of this order ends."""
        if order in self.outcomes and not again:
            return self.outcomes[order]
        if self.kind:
            restore(folder / "work", clean)
        else:
            self.prepare(folder)
        file = folder / "order"
        file.write_text("".join(f"{name_in_order_file(name)}\n" for name in order), encoding="utf-8")
        more = ["--timeout", timeout] if timeout else []
        _, report = self.report(folder, "run", "--jobs", "1", "--order", str(file), *more)
        entries = [test for test in report["tests"] if test["name"] == order[-1]]
        if len(report["tests"]) != len(order) or not entries:
            raise Mismatch(f"run --order {', '.join(order)}: reported are "
                           f"{', '.join(test['name'] for test in report['tests']) or 'none'}")
        self.outcomes[order] = entries[-1]["outcome"]
        return self.outcomes[order]


class Run:
    """One call of the tool: its options and what is wanted of it."""

    def __init__(self, subject, name, directive, label):
        self.name, self.label = name, label
        self.arguments = directive.args[1:] if directive else []
        options = directive.options if directive else {}
        self.status = options.get("status")
        self.patience = float(options.get("patience", PATIENCE))
        self.partial, self.twice = options.get("partial") == "yes", options.get("twice") == "yes"
        self.quick, self.off = options.get("quick") != "no", options.get("off") == "yes"
        self.environment = dict(word.split("=", 1) for word in shlex.split(options.get("env", "")))
        self.claims = claims_of(subject, label, name)
        self.says = [d for d in subject.of("says") if applies(d, name, label)]


def runs_of(subject, label):
    given = {d.args[0]: d for d in subject.of("run")}
    given.setdefault("default", None)
    return [Run(subject, name, d, label) for name, d in given.items() if not d or applies(d, name, label)]


def timeout_of(subject):
    """The time that its ordinary run gives to a test; None: the tool's own."""
    for d in subject.of("run"):
        if d.args[0] == "default" and "--timeout" in d.args:
            return d.args[d.args.index("--timeout") + 1]
    return None


class Check:
    """Compares one report with what a run wants of it."""

    def __init__(self, suite, run, report, said, folder, clean):
        self.suite, self.run, self.report, self.said = suite, run, report, said
        self.folder, self.clean = folder, clean
        self.timeout = timeout_of(suite.subject)
        self.wrong = []

    def add(self, text):
        self.wrong.append(text)

    def ends(self, order, again=False):
        return self.suite.ends(self.folder, tuple(order), self.clean, self.timeout, again)

    def compare(self):
        tests = [test["name"] for test in self.report["tests"]]
        findings = {}
        for finding in self.report.get("findings", []):
            if finding.get("kind") == "flaky":
                continue  # see reach()
            if finding.get("kind") != "order-dependent":
                self.add(f"a finding of kind {finding.get('kind')}")
            elif finding.get("test") in findings:
                self.add(f"'{finding['test']}' has more than one finding")
            elif self.formed(finding, tests):
                findings[finding["test"]] = finding
        for claim in self.run.claims.values():
            if claim.test not in tests:
                if self.run.partial:
                    continue
                self.add(f"{claim.directive.where()}: '{claim.test}' is not among the tests")
            elif claim.kind in CLASSES and claim.test not in findings and not self.run.partial:
                self.add(f"{claim.directive.where()}: '{claim.test}' is {claim.kind}: not found")
        for test, finding in findings.items():
            claim = self.run.claims.get(test)
            if claim and claim.kind in CLASSES:
                self.finding(claim, finding)
            else:
                self.add(f"false alarm: '{test}' is {finding['class']}: {finding.get('message')}")
            self.shown(finding)
        self.reach()
        for d in self.run.says:
            if not matches(f"...{d.args[0]}...", "\n".join([*self.report.get("limits", []), self.said])):
                self.add(f"{d.where()}: '{d.args[0]}' is not said")
        return self.wrong

    def formed(self, finding, tests):
        """Has the finding all its fields, with values that make sense?"""
        title, before = f"finding {finding.get('test')}", len(self.wrong)
        for key in ("id", "test", "severity", "message", "class", "replay"):
            if not isinstance(finding.get(key), str) or not finding[key]:
                self.add(f"{title}: no {key}")
        if finding.get("test") not in tests:
            self.add(f"{title}: no such test")
        for key, right in (("class", (*CLASSES, UNEXPLAINED)), ("severity", SEVERITIES), ("outcome", (*BAD, None))):
            if finding.get(key) not in right:
                self.add(f"{title}: {key} is {finding.get(key)}")
        for key in ("polluters", "setters", "cleaners"):
            lists = finding.get(key, [])
            good = isinstance(lists, list) and all(
                isinstance(names, list) and names and all(name in tests for name in names) for names in lists)
            if not good:
                self.add(f"{title}: {key} is no list of lists of tests: {lists}")
            elif len({tuple(names) for names in lists}) != len(lists):
                self.add(f"{title}: {key} has a list twice: {lists}")
        for key in ("failing_order", "passing_order"):
            order = finding.get(key)
            if not isinstance(order, list) or not order or order[-1] != finding.get("test") \
                    or not all(name in tests for name in order):
                self.add(f"{title}: {key} is {order}")
        if not isinstance(finding.get("polluted", []), list):
            self.add(f"{title}: polluted is {finding['polluted']}")
        if "\n" in finding.get("message", ""):
            self.add(f"{title}: its message has more than one line")
        if [f.get("id") for f in self.report["findings"]].count(finding.get("id")) != 1:
            self.add(f"{title}: its id is not its own")
        return len(self.wrong) == before

    def finding(self, claim, finding):
        """Is it as the directive says?"""
        where = f"{claim.directive.where()}: '{claim.test}'"
        if finding["class"] == UNEXPLAINED and self.run.partial:
            return
        if finding["class"] not in claim.classes:
            self.add(f"{where}: found as {finding['class']}, wanted {' or '.join(claim.classes)}")
            return
        for kind, key in (("victim", "polluters"), ("brittle", "setters")):
            lists = {tuple(names) for names in finding.get(key, [])}
            if claim.kind == kind:
                self.same_lists(f"{where}: {key}", claim, claim.lists, lists)
            elif lists and claim.kind == finding["class"]:
                self.add(f"{where}: {key} of one that is {claim.kind}: {show(lists)}")
            if (claim.test,) in lists:
                self.add(f"{where}: is called one of its own {key}")
        if claim.twice is not None and finding.get("non_idempotent") != claim.twice:
            self.add(f"{where}: non_idempotent is {finding.get('non_idempotent')}")
        if claim.cleaners and finding.get("polluters"):
            first = tuple(finding["polluters"][0])
            if first in claim.cleaners:
                lists = {tuple(names) for names in finding.get("cleaners", [])}
                self.same_lists(f"{where}: cleaners after {', '.join(first)}", None, claim.cleaners[first], lists)
        left = (finding.get("left") or {}).get("path")
        if claim.left and not (left and matches(claim.left, left)):
            self.add(f"{where}: {left} is shown to be left, wanted {claim.left}")
        if claim.polluted is not None:
            roots = finding.get("polluted", [])
            for wanted in claim.polluted:
                if not any(matches(wanted, root) for root in roots):
                    self.add(f"{where}: polluted is {', '.join(map(str, roots)) or 'none'}; {wanted} is missing")
            for root in roots:
                if not any(matches(wanted, root) for wanted in claim.polluted):
                    self.add(f"{where}: {root} is called polluted")

    def same_lists(self, title, claim, wanted, found):
        missing = wanted.wanted - found if not self.run.partial else set()
        if claim and claim.some and wanted.wanted & found:
            missing = set()
        if missing:
            self.add(f"{title}: {show(missing)}: missing; there are: {show(found)}")
        more = found - wanted.wanted - wanted.optional
        if more and not (claim and claim.more):
            self.add(f"{title}: {show(more)}: not so")

    def shown(self, finding):
        """Its orders go as they have to, whatever the directives say."""
        title, test = f"finding {finding['test']}", finding["test"]
        for key, wanted in (("failing_order", "bad"), ("passing_order", "good")):
            outcome = self.ends(finding[key], again=True)
            if not is_outcome(outcome, wanted):
                self.add(f"{title}: {key} {', '.join(finding[key])}: {outcome}")
            elif wanted == "bad" and finding.get("outcome") not in (None, outcome):
                self.add(f"{title}: {key} ends as {outcome}, reported as {finding['outcome']}")
        if any("needs" in d.options for d in self.suite.subject.of("subject")):
            return  # lists are not orders there: what is needed comes in between
        for key, wanted in (("polluters", "bad"), ("setters", "good")):
            for names in finding.get(key, []):
                outcome = self.ends([*names, test])
                if not is_outcome(outcome, wanted):
                    self.add(f"{title}: {key}: after {', '.join(names)}: {outcome}")
        for names in finding.get("cleaners", []) if finding.get("polluters") else ():
            outcome = self.ends([*finding["polluters"][0], *names, test])
            if not is_outcome(outcome, "good"):
                self.add(f"{title}: cleaners: after {', '.join(finding['polluters'][0])} and {', '.join(names)}: {outcome}")

    def reach(self):
        """How far the search went, and what it set apart."""
        order = self.report.get("order")
        if not isinstance(order, dict):
            if not self.run.partial:
                self.add("no 'order' in the report")
            return
        executions, last = order.get("executions"), order.get("until_last")
        if not isinstance(executions, int) or executions < 1 or not isinstance(last, int) or last > executions:
            self.add(f"executions: {executions}, until the last finding: {last}")
        pairs = order.get("pairs", {})
        if not all(isinstance(pairs.get(key), int) for key in ("all", "tried", "by_state")) \
                or pairs["tried"] + pairs["by_state"] > pairs["all"]:
            self.add(f"pairs: {pairs}")
        listed = {item["test"]: item for item in self.report["findings"] if item.get("kind") == "flaky"}
        for test, item in listed.items():
            claim = self.run.claims.get(test)
            if not claim or claim.kind != "random":
                self.add(f"'{test}' is called flaky")
            if not 0 < item.get("failures", 0) < item.get("runs", 0):
                self.add(f"'{test}' fails {item.get('failures')} times in {item.get('runs')}: is that random?")
        for claim in self.run.claims.values():
            if claim.kind == "random" and claim.listed and claim.test not in listed and not self.run.partial:
                self.add(f"{claim.directive.where()}: '{claim.test}' fails at random: not said")


def check_claims(suite, folder):
    """What the subject says of itself is true."""
    suite.prepare(folder)
    clean = snapshot(folder / "work")
    label = suite.exe.label
    names, wrong, wanted, done = suite.names(folder), [], [], set()
    for run in [None] + [run.name for run in runs_of(suite.subject, label)]:
        for claim in claims_of(suite.subject, label, run).values():
            wanted += [(order, outcome, claim.directive.where()) for order, outcome in claim.orders()]
    wanted += [(tuple(d.args[1:]), d.args[0], d.where()) for d in suite.subject.of("order") if applies(d, "default", label)]
    for order, outcome, where in wanted:
        if (order, outcome) in done:
            continue
        done.add((order, outcome))
        unknown = [name for name in order if name not in names]
        if unknown:
            wrong.append(f"{where}: '{unknown[0]}' is not among the tests")
            continue
        got = suite.ends(folder, order, clean, timeout_of(suite.subject))
        if not is_outcome(got, outcome):
            wrong.append(f"{where}: {', '.join(order)}: {got}, wanted {outcome}")
    if wrong:
        raise Mismatch("\n".join(wrong))


def check_pairs(suite, folder):
    """Nothing depends on one other test that the subject does not speak of; no single cleaner is missing."""
    suite.prepare(folder)
    clean, wrong = snapshot(folder / "work"), []
    names, timeout = suite.names(folder), timeout_of(suite.subject)
    claims = claims_of(suite.subject, suite.exe.label)
    for test in names:
        claim = claims.get(test)
        if claim and claim.kind == "random":
            suite.outcomes[(test,)] = "fail"
            continue
        alone = "bad" if suite.ends(folder, (test,), clean, timeout) in BAD else "good"
        for other in names:
            wanted = claim.after_one(other, alone) if claim else alone
            if claims.get(other) and claims[other].kind == "random":
                wanted = None
            got = wanted and suite.ends(folder, (other, test), clean, timeout)
            if wanted and not is_outcome(got, wanted):
                wrong.append(f"{other}, {test}: {got}; the subject does not say so")
    for claim in claims.values():
        test = claim.test
        for polluters, lists in claim.cleaners.items():
            for other in names if not lists.restricted else ():
                # One that fails may end the process, and what was in it; after them it is a victim, too.
                if other == test or (other,) in lists.all() or suite.outcomes[(other,)] in BAD \
                        or suite.ends(folder, (*polluters, other), clean, timeout) in BAD:
                    continue
                got = suite.ends(folder, (*polluters, other, test), clean, timeout)
                if got in GOOD:
                    wrong.append(f"{', '.join(polluters)}, {other}, {test}: {got}; the subject does not call it a cleaner")
    if wrong:
        raise Mismatch("\n".join(wrong))


def differences(before, after):
    for name in sorted(set(before) | set(after)):
        if name not in after:
            yield f"{name} is gone"
        elif name not in before:
            yield f"{name} is new"
        elif before[name] != after[name]:
            yield f"{name} has changed"


def check_run(suite, run, folder):
    suite.prepare(folder)
    clean = snapshot(folder / "work")
    before = snapshot(folder)
    status, report = suite.report(folder, "order", *run.arguments, patience=run.patience, **run.environment)
    said = (folder / "stderr").read_text(errors="replace")
    after = {name: value for name, value in snapshot(folder).items() if not name.startswith(f"work/{OWN}")}
    wrong = [f"after the run {line}" for line in differences(before, after)
             if line.split()[0] not in ("command", "stdout", "stderr") and not line.startswith(CTEST_OWN)]
    if "findings" not in report:
        raise Mismatch("no 'findings' in the report")
    command = (folder / "command").read_text()
    if run.twice and "twice" not in suite.options.without:
        wrong += runs_alike(suite, run, report, folder)
    if "replay" not in suite.options.without:
        wrong += replays(suite, run, report["findings"], folder)
    inner = folder / "orders"
    suite.prepare(inner)
    wrong += Check(suite, run, report, said, inner, clean).compare()
    (folder / "command").write_text(command)
    bad = any(test.get("outcome") in BAD for test in report["tests"])
    wanted = run.status.split("|") if run.status else ["1"] if fails(report) else ["0", "3"] if bad else ["0"]
    if str(status) not in wanted:
        wrong.append(f"exit status {status}, wanted {' or '.join(wanted)}")
    if wrong:
        raise Mismatch("\n".join(wrong))


def runs_alike(suite, run, report, folder):
    """A second call, which has the results of the first, finds the same with fewer tests run.

    Where a test fails or crashes in the suite's own order, nothing tells what the tests behind it read: all is run again.
    """
    _, second = suite.report(folder, "order", *run.arguments, patience=run.patience, **run.environment)

    def essence(findings):
        keys = ("id", "test", "class", "polluters", "setters", "cleaners", "passing_order", "failing_order")
        return sorted([finding.get(key) for key in keys] for finding in findings if finding.get("kind") != "flaky")

    if essence(second.get("findings", [])) != essence(report["findings"]):
        yield "a second call in the same folder finds something else: " + json.dumps(second.get("findings"))[:1000]
    first, then = (r.get("order", {}).get("executions") for r in (report, second))
    good = all(test["outcome"] in ("pass", "skip") for test in report["tests"])
    if good and isinstance(first, int) and isinstance(then, int) and then >= first:
        yield f"a second call in the same folder runs {then} tests, the first one {first}"


def replays(suite, run, findings, folder):
    """The command that each finding gives makes it happen again; in quick mode the first one's has to do."""
    for finding in findings[:1 if suite.options.quick else None]:
        words = shlex.split(finding.get("replay", ""))
        if len(words) < 3 or words[1] != "replay":
            yield f"finding {finding.get('test')}: replay is '{finding.get('replay')}'"
            continue
        room = folder / "replay"
        shutil.rmtree(room, ignore_errors=True)
        for name in ("work", "tmp"):
            (room / name).mkdir(parents=True)
        # Where the results are.
        (room / "work").rmdir()
        (room / "work").symlink_to(folder / "work")
        status = call([str(suite.options.polygraph), *words[1:]], room, run.patience, LSAN_OPTIONS="detect_leaks=0",
                      **run.environment)
        if status != 1:
            text = (room / "stdout").read_text(errors="replace") + (room / "stderr").read_text(errors="replace")
            yield f"finding {finding.get('test')}: {shlex.join(words)} ends with status {status}: {text.strip()[-300:]}"


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
    checks = [("claims", lambda folder: check_claims(suite, folder))]
    pairs = exe.subject.of("subject")[0].options.get("pairs") != "no"
    if pairs and (options.pairs or not options.quick and exe.build == "gcc-O0"):
        checks.append(("pairs", lambda folder: check_pairs(suite, folder)))
    if not options.claims_only:
        checks += [(run.name, lambda folder, run=run: check_run(suite, run, folder))
                   for run in runs_of(exe.subject, exe.label) if not run.off and (run.quick or not options.quick)]
    for name, check in checks:
        if options.run and name not in options.run:
            continue
        folder = exe.folder / f"run-{name}"
        start = time.monotonic()
        try:
            check(folder)
        except Skipped as reason:
            results.add("skipped", f"{title} {name}", str(reason))
        except Mismatch as wrong:
            command = folder / "command"
            results.add("failed", f"{title} {name}", f"{wrong}\n{command.read_text().strip() if command.exists() else ''}",
                        shlex.join([*again, "--run", name]))
            if name == "claims":
                return
        else:
            results.add("passed", f"{title} {name} ({time.monotonic() - start:.1f} s)")
            if not options.keep:
                remove(folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--polygraph", default="build/polygraph", metavar="PATH", help="default: build/polygraph")
    parser.add_argument("--build", default="build", metavar="DIR", help="the build folder; default: build")
    parser.add_argument("--subjects", default=HERE.parent.parent / "subjects" / "order", metavar="DIR")
    parser.add_argument("--only", action="append", default=[], metavar="SUBJECT", help="may be given again")
    parser.add_argument("--exe", metavar="GLOB", help="only executables VARIANT-CC-OPT that match")
    parser.add_argument("--run", action="append", default=[], metavar="NAME", help="only this check; may be given again")
    parser.add_argument("--claims-only", action="store_true", help="only check what the subjects say of themselves")
    parser.add_argument("--pairs", action="store_true", help="all pairs of every executable")
    parser.add_argument("--without", action="append", default=[], choices=("replay", "twice"), help="leave out these parts")
    parser.add_argument("--quick", action="store_true", help="only what variants say under quick=")
    parser.add_argument("--keep", action="store_true", help="keep reports of what passes, too")
    parser.add_argument("--build-only", action="store_true", help="build, and run nothing")
    parser.add_argument("--jobs", type=int, default=2, metavar="N")
    parser.add_argument("--verbose", action="store_true", help="name the checks that pass, too")
    options = parser.parse_args()
    options.polygraph_given = options.polygraph
    options.polygraph = pathlib.Path(options.polygraph).resolve()
    if not os.access(options.polygraph, os.X_OK):
        parser.error(f"no polygraph at {options.polygraph_given}")
    return check_all(parser, options, pathlib.Path(options.build) / "order", check_executable,
                     wanted=lambda exe: not options.quick or wanted_in_quick(exe), look=lambda subject: runs_of(subject, ""))


if __name__ == "__main__":
    sys.exit(main())
