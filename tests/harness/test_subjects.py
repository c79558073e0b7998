#!/usr/bin/env python3
"""Checks polygraph against the subjects: builds them all, runs them plain and under polygraph, and compares.

For each executable (a subject in one variant, compiler and optimisation level) these checks:

    plain      the framework's own run, the whole suite and test by test, agrees with the annotations
    list       names, files and lines
    natural    every test, in the order of the list
    reversed, shuffled   the same by --order, without tests that hang
    alone      each test in a process of its own
    repeat     each test twice
    subset     --tests with globs
    tree       random trees of orders (tests/tree/tree_driver.c) go as their orders do one by one

A check that fails keeps what it saw in BUILD/subjects/NAME/VARIANT-CC-OPT/CHECK/ and prints the command that runs
it again.
"""

import argparse
import collections
import concurrent.futures
import fnmatch
import json
import os
import pathlib
import random
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import threading

import build
import frameworks
import subject as subject_module

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
import fresh  # noqa: E402
from fresh import SLOWNESS  # noqa: E402

HERE = pathlib.Path(__file__).resolve()
TEST_TIMEOUT = f"{SLOWNESS}s"  # for tests that hang
PATIENCE = 120 * SLOWNESS  # for one run of polygraph, which has to be stopped after that
DEFAULT_SUBSET = ["*[Pp]ass*", "*[Oo]rder*", "!*[Ww]riter*"]


class Mismatch(Exception):
    """What a check found wrong, one line each."""


class Skipped(Exception):
    """Why a check could not be made."""


def name_in_order_file(name):
    return name.replace("\\", "\\\\").replace("\n", "\\n")


def glob_of(name):
    return "".join(f"[{c}]" if c in "*?[" else "\\\\" if c == "\\" else c for c in name)


def same_place(file, line, expected, cwd):
    return (file is not None and line == expected[1]
            and os.path.realpath(os.path.join(cwd, file)) == os.path.realpath(expected[0]))


def at(place):
    return f"{os.path.relpath(place[0])}:{place[1]}" if place else "nowhere"


def possible_outcomes(subject, order, together=True):
    """For each place in an order of tests run in one process, the outcomes that are right there."""
    tests = subject.tests
    wanted = []
    for index, name in enumerate(order):
        test, outcomes = tests[name], {tests[name].outcome}
        for other, outcome in test.after.items() if together else ():
            before = [i for i in range(index) if order[i] == other]
            if before:
                # What ends the process in between may or may not have taken the traces along.
                ended = any(tests[order[i]].ends for i in range(before[-1], index))
                outcomes = outcomes | {outcome} if ended else {outcome}
        wanted.append(outcomes)
    return wanted


class Checker:
    """The checks of one executable; each is a method check_NAME(folder)."""

    def __init__(self, exe, options):
        self.exe, self.subject, self.options = exe, exe.subject, options
        self.names = None  # as polygraph lists them
        self.list_failed = False

    # The framework's own word.

    def check_plain(self, folder):
        framework = frameworks.load(self.subject.framework).Plain()
        wrong = []
        results = framework.run_all(self.exe)
        order = [name for name in results if name in self.subject.tests]
        possible = dict(zip(order, possible_outcomes(self.subject, order, together=framework.one_by_one)))
        for name, test in self.subject.tests.items():
            if name in results:
                wrong += self._plain_differences("whole run", test, results[name], possible[name])
            elif not test.ends and not test.hidden:
                wrong.append(f"whole run: '{name}' is missing")
        wrong += [f"whole run: '{name}' has no annotation" for name in results if name not in self.subject.tests]
        for name, test in self.subject.tests.items():
            if test.outcome == "timeout" and self.exe.build not in self.options.hang_builds:
                continue
            result = framework.run_one(self.exe, name)
            if result:
                wrong += self._plain_differences("alone", test, result, {test.outcome})
        if wrong:
            raise Mismatch("\n".join(wrong))

    def _plain_differences(self, how, test, result, outcomes):
        if result.outcome not in outcomes:
            return [f"{how}: '{test.name}': the framework says {result.outcome}, wanted {' or '.join(sorted(outcomes))}"]
        wrong = []
        if result.place and not same_place(*result.place, (test.file, test.line), "/"):
            wrong.append(f"{how}: '{test.name}': the framework says {at(result.place)}, annotated at "
                         f"{at((test.file, test.line))}")
        if result.outcome == "fail" and result.failure:
            if not test.failure:
                wrong.append(f"{how}: '{test.name}': fails at {at(result.failure)}, not annotated")
            elif not same_place(*result.failure, test.failure, "/"):
                wrong.append(f"{how}: '{test.name}': fails at {at(result.failure)}, annotated at {at(test.failure)}")
        return wrong

    # polygraph's.

    def polygraph(self, folder, command, *arguments):
        """Runs it; its JSON and exit status. Everything is kept in the folder."""
        words = [str(self.options.polygraph), command, "--format", "json", *arguments, "--", str(self.exe.path)]
        (folder / "command").write_text(f"cd {shlex.quote(str(folder))} && {shlex.join(words)}\n")
        with open(folder / "stdout", "wb") as out, open(folder / "stderr", "wb") as err:
            try:
                process = subprocess.Popen(words, cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                           start_new_session=True)
            except OSError as error:
                raise Mismatch(f"polygraph cannot be started: {error}") from None
            try:
                status = process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                raise Mismatch(f"polygraph {command} was still running after {PATIENCE} seconds") from None
        try:
            report = json.loads((folder / "stdout").read_text(encoding="utf-8"))
            report["tests"]
        except (ValueError, KeyError, TypeError) as error:
            said = (folder / "stderr").read_text(errors="replace").strip().splitlines()
            raise Mismatch(f"polygraph {command}: exit status {status}, no JSON report ({error}); standard error: "
                           f"{said[-1] if said else 'nothing'}") from None
        return report, status

    def listed(self, folder):
        """The names in natural order; asked once."""
        if self.list_failed:
            raise Skipped("the list is wrong already")
        if self.names is None:
            self.list_failed = True
            report, status = self.polygraph(folder, "list")
            names = [test["name"] for test in report["tests"]]
            unknown = [name for name in names if name not in self.subject.tests]
            if status != 0 or unknown:
                raise Mismatch(f"polygraph list: exit status {status}; not annotated: {', '.join(map(repr, unknown))}")
            self.names = names
            self.list_failed = False
        return self.names

    def check_list(self, folder):
        self.list_failed = True
        report, status = self.polygraph(folder, "list")
        self.list_failed = status != 0 or any(test["name"] not in self.subject.tests for test in report["tests"])
        wrong = [] if status == 0 else [f"exit status {status}, wanted 0"]
        seen = collections.Counter(test["name"] for test in report["tests"])
        for name, test in self.subject.tests.items():
            if not seen[name] and not test.hidden:
                wrong.append(f"'{name}' is missing")
        for item in report["tests"]:
            test = self.subject.tests.get(item["name"])
            if not test:
                wrong.append(f"'{item['name']}' is no test")
            elif seen[test.name] > 1:
                wrong.append(f"'{test.name}' is listed {seen[test.name]} times")
            elif not same_place(item.get("file"), item.get("line"), (test.file, test.line), folder):
                wrong.append(f"'{test.name}' is said to be at {item.get('file')}:{item.get('line')}, and is at "
                             f"{at((test.file, test.line))}")
        suite = report.get("suite", {})
        if suite.get("framework", self.subject.framework) != self.subject.framework:
            wrong.append(f"recognised as {suite['framework']}, and is {self.subject.framework}")
        if wrong:
            raise Mismatch("\n".join(wrong))

    def ran(self, folder, order, *arguments, together=True, any_order=False, times=1):
        """Runs and compares with what must come of the tests in this order."""
        report, status = self.polygraph(folder, "run", *arguments)
        outcomes = collections.defaultdict(list)
        wrong = []
        for item in report["tests"]:
            outcomes[item["name"]].append(item)
        possible = collections.defaultdict(set)
        for name, right in zip(order, possible_outcomes(self.subject, order, together)):
            possible[name] |= right
            if any_order:
                possible[name] |= set(self.subject.tests[name].after.values())
        for name in possible:
            # A test that is not run may be said to be skipped once only.
            if len(outcomes[name]) not in (times, 1 if possible[name] == {"skip"} else times):
                wrong.append(f"'{name}' is reported {len(outcomes[name])} times, wanted {times}")
        for name, items in outcomes.items():
            if items and name not in possible:
                wrong.append(f"'{name}' is reported, and was not asked for")
                continue
            for item in items:
                wrong += self._differences(item, possible[name], folder)
        failed = any(item.get("outcome") not in ("pass", "skip") for item in report["tests"])
        if status != (3 if failed else 0):
            wrong.append(f"exit status {status}, wanted {3 if failed else 0}")
        if wrong:
            raise Mismatch("\n".join(wrong))

    def _differences(self, item, outcomes, folder):
        test = self.subject.tests[item["name"]]
        if item.get("outcome") not in outcomes:
            return [f"'{test.name}': {item.get('outcome')}, wanted {' or '.join(sorted(outcomes))}"]
        wrong = []
        if not same_place(item.get("file"), item.get("line"), (test.file, test.line), folder):
            wrong.append(f"'{test.name}' is said to be at {item.get('file')}:{item.get('line')}, and is at "
                         f"{at((test.file, test.line))}")
        if item["outcome"] in ("fail", "crash") and test.failure:
            failure = item.get("failure") or {}
            if not same_place(failure.get("file"), failure.get("line"), test.failure, folder):
                wrong.append(f"'{test.name}' is said to fail at {failure.get('file')}:{failure.get('line')}, and fails "
                             f"at {at(test.failure)}")
        return wrong

    def without_hanging(self, names):
        return [name for name in names if self.subject.tests[name].outcome != "timeout"]

    def excluded(self, names):
        kept = set(names)
        return [word for name in self.names if name not in kept for word in ("--tests", "!" + glob_of(name))]

    def in_order(self, folder, names):
        file = folder / "order"
        file.write_text("".join(name_in_order_file(name) + "\n" for name in names), encoding="utf-8")
        self.ran(folder, names, "--order", str(file))

    def check_natural(self, folder):
        self.ran(folder, self.listed(folder), "--timeout", TEST_TIMEOUT)

    def check_reversed(self, folder):
        self.in_order(folder, self.without_hanging(self.listed(folder))[::-1])

    def check_shuffled(self, folder):
        names = self.without_hanging(self.listed(folder))
        random.Random(f"{self.subject.name}/{self.exe.label}").shuffle(names)
        self.in_order(folder, names)

    def check_alone(self, folder):
        names = self.listed(folder)
        if self.exe.build not in self.options.hang_builds:
            names = self.without_hanging(names)
        self.ran(folder, names, "--alone", "--timeout", TEST_TIMEOUT, *self.excluded(names), together=False)

    def check_repeat(self, folder):
        names = self.without_hanging(self.listed(folder))
        self.ran(folder, names, "--repeat", "2", *self.excluded(names), any_order=True, times=2)

    def check_subset(self, folder):
        globs = self.subject.subset or DEFAULT_SUBSET

        def chosen(name):
            good = [glob for glob in globs if not glob.startswith("!")]
            bad = [glob[1:] for glob in globs if glob.startswith("!")]
            return (any(fnmatch.fnmatchcase(name, glob) for glob in good)
                    and not any(fnmatch.fnmatchcase(name, glob) for glob in bad))

        names = [name for name in self.listed(folder) if chosen(name)]
        if not names:
            raise Mismatch(f"no test matches {globs}: give the subject a 'subset' directive")
        self.ran(folder, names, *(word for glob in globs for word in ("--tests", glob)))

    def check_tree(self, folder):
        driver = self.options.polygraph.parent / "tests/tree/tree_driver"
        if not os.access(driver, os.X_OK):
            raise Skipped(f"no {driver}")
        if frameworks.load(self.subject.framework).FIXED:
            raise Skipped("the tests have one order only")
        words = [str(driver), "--timeout-ms", "60000", "--jobs", "2" if self.exe.opt == "O2" else "1"]
        for name in self.listed(folder):
            test = self.subject.tests[name]
            if test.outcome == "timeout":
                words += ["--avoid", glob_of(name)]
            elif test.ends or "exits" in name:  # Check would fork for it
                words += ["--ends", glob_of(name)]
        words += [str(self.exe.path)]
        (folder / "command").write_text(f"cd {shlex.quote(str(folder))} && {shlex.join(words)}\n")
        try:
            done = subprocess.run(words, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            raise Mismatch(f"still running after {PATIENCE} seconds") from None
        if done.returncode:
            raise Mismatch(done.stdout.decode(errors="replace")[-4000:])


CHECKS = ("plain", "list", "natural", "reversed", "shuffled", "alone", "repeat", "subset", "tree")


class Results:
    """Counts, and prints as things happen."""

    def __init__(self, options):
        self.options = options
        self.counts = collections.Counter()
        self.lock = threading.Lock()

    def add(self, kind, title, text="", again=""):
        with self.lock:
            self.counts[kind] += 1
            if kind == "passed" and not self.options.verbose:
                return
            print(f"{ {'passed': 'ok  ', 'failed': 'FAIL', 'skipped': 'SKIP'}[kind]} {title}"
                  + (f": {text}" if kind == "skipped" else ""))
            if kind == "failed":
                for line in text.splitlines():
                    print(f"       {line}")
                print(f"     again: {again}")
            sys.stdout.flush()


def again(options, exe, check=None):
    words = ["python3", os.path.relpath(HERE), "--build", options.build, "--only", exe.subject.name, "--exe", exe.label]
    words += ["--check", check] if check else []
    if check != "plain":
        words += ["--polygraph", options.polygraph_given]
    return shlex.join(words)


def check_executable(exe, options, results):
    title = f"{exe.subject.name}/{exe.label}"
    if exe.skip:
        results.add("skipped", title, exe.skip)
        return
    if exe.error:
        results.add("failed", f"{title} build", exe.error, again(options, exe))
        return
    checker = Checker(exe, options)
    for check in options.checks:
        folder = exe.folder / check
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        try:
            getattr(checker, "check_" + check)(folder)
        except Skipped as reason:
            results.add("skipped", f"{title} {check}", str(reason))
        except Mismatch as wrong:
            text = str(wrong)
            (folder / "differences").write_text(text + "\n", encoding="utf-8")
            kept = folder / "command"
            if kept.exists():
                text += f"\n{kept.read_text().strip()}"
            results.add("failed", f"{title} {check}", text, again(options, exe, check))
        else:
            results.add("passed", f"{title} {check}")
            shutil.rmtree(folder, ignore_errors=True)


def processor_seconds():
    """What our children took that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def check_all(parser, options, folder, check, builds=build.BUILDS, wanted=lambda exe: True, look=lambda subject: None):
    """Finds and builds the subjects, calls @check for each executable, and prints the sum. @look may find fault with a subject."""
    fresh.start()
    try:
        subjects = subject_module.find_subjects(options.subjects, options.only)
        for subject in subjects:
            look(subject)
    except subject_module.SubjectError as error:
        print(f"FAIL {error}\n0 passed, 1 failed, 0 skipped")
        return 1
    for name in set(options.only) - {subject.name for subject in subjects}:
        parser.error(f"no subject '{name}' in {options.subjects}")
    start = processor_seconds()
    executables = build.Builder(folder, options.jobs).build(
        subjects, builds,
        lambda exe: (not options.exe or fnmatch.fnmatchcase(exe.label, options.exe)) and wanted(exe))
    if options.build_only:
        for exe in executables:
            print(f"FAIL {exe.path}\n{exe.error}" if exe.error else exe.path)
        return int(any(exe.error for exe in executables))
    built = processor_seconds()
    results = Results(options)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for future in [pool.submit(check, exe, options, results) for exe in executables]:
            future.result()
    print(f"{len(executables)} executables; seconds of the processors: {built - start:.0f} to build, "
          f"{processor_seconds() - built:.0f} to check")
    counts = results.counts
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return 1 if counts["failed"] or not executables else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--polygraph", default="build/polygraph", metavar="PATH", help="default: build/polygraph")
    parser.add_argument("--build", default="build", metavar="DIR", help="the build folder; default: build")
    parser.add_argument("--subjects", default=HERE.parent.parent / "subjects", metavar="DIR")
    parser.add_argument("--only", action="append", default=[], metavar="SUBJECT", help="may be given again")
    parser.add_argument("--exe", metavar="GLOB", help="only executables VARIANT-CC-OPT that match")
    parser.add_argument("--check", action="append", default=[], choices=CHECKS, help="may be given again")
    parser.add_argument("--plain-only", action="store_true", help="only the frameworks' own runs; needs no polygraph")
    parser.add_argument("--quick", action="store_true", help="only gcc -O0 and clang -O2")
    parser.add_argument("--build-only", action="store_true", help="build, and run nothing")
    parser.add_argument("--jobs", type=int, default=2, metavar="N")
    parser.add_argument("--verbose", action="store_true", help="name the checks that pass, too")
    options = parser.parse_args()
    options.polygraph_given = options.polygraph
    options.polygraph = pathlib.Path(options.polygraph).resolve()
    options.checks = ["plain"] if options.plain_only else options.check or list(CHECKS)
    options.hang_builds = ("gcc-O0",)  # waiting for time limits is dear
    if options.checks != ["plain"] and not os.access(options.polygraph, os.X_OK):
        parser.error(f"no polygraph at {options.polygraph_given} (--plain-only does without)")
    return check_all(parser, options, options.build, check_executable, build.QUICK if options.quick else build.BUILDS)


if __name__ == "__main__":
    sys.exit(main())
