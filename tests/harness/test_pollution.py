#!/usr/bin/env python3
"""Checks `polygraph pollution` against the subjects in tests/subjects/pollution/, which say what it must find in them.

Besides the directives of subject.py these, mostly next to the test they speak of:

    pollutes TEST ROOT [PATH]     a finding for TEST and ROOT with PATH among its paths; said again for further paths
                                  where=memory|file|process (default: that of the `subject` directive, else memory)
                                  effect= severity= before= after= (of PATH); readers=A,B (at least these)
                                  at-most=N findings of this test that match; may=yes: it need not be there
                                  not-readers=A,B; allocated=FUNCTION (in the stack of what was left, which is not
                                  looked for without the agent: in static executables, with AddressSanitizer)
    clean TEST                    TEST has no finding at all
    first TEST ROOT               TEST initialises ROOT for the first time: said so, and no finding
    run NAME [OPTION...]          one more run with these options; those of `run default` are for the ordinary run
                                  status=N (default: 1 with findings, else 0); patience=SECONDS
                                  on=GLOB; quick=no: not in quick mode; skip=TEXT: skipped where limits say TEXT
                                  deep=yes: access paths may be longer than anybody reads
                                  beside=COMMAND: a shell command that runs meanwhile; prepare=COMMAND: runs before
    says TEXT                     TEXT is said under "limits", under "left_out" (as "2 variables of GoogleTest: a, b") or on
                                  standard error; in=, on=

Wherever it makes sense, alternatives are separated by | and "..." stands for anything. TEST may be such a pattern: it
speaks of the tests that no directive names. in=NAME,... restricts a directive to some runs, on=GLOB,... (or !GLOB) to
some executables (VARIANT-CC-OPT), if=root or if=user to who runs it. In each run every test has to be spoken of by `pollutes` or `clean`, and no finding
may be there beyond those. Each run has an empty working directory and an empty temporary directory (TMPDIR) of its own,
since files stay. `subject` takes only=root|user|xattr (skipped elsewhere) and after=WORD: the program is called with it
after each run, to remove what outlives a process. A variant is built in quick mode only as its quick=gcc-O0,... says.
"""

import argparse
import collections
import fnmatch
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time

from test_subjects import SLOWNESS, Mismatch, Skipped, check_all

HERE = pathlib.Path(__file__).resolve()
PATIENCE = 120 * SLOWNESS
LONG_PATH = 120  # characters; the subjects' structures are small
WHERES = ("memory", "file", "process")
EFFECTS = ("accumulates", "settles", "unknown")
SEVERITIES = ("high", "medium", "low")
MATCHERS = {}


def matches(pattern, text):
    """Is text one of the |-separated alternatives, in which "..." is anything?"""
    if pattern not in MATCHERS:
        MATCHERS[pattern] = re.compile("|".join(
            ".*".join(re.escape(part) for part in alternative.split("...")) for alternative in pattern.split("|")), re.S)
    return isinstance(text, str) and MATCHERS[pattern].fullmatch(text) is not None


def left_out_line(left_out):
    return f"{left_out['variables']} variables {left_out['why']}: {', '.join(left_out['names'])}"


def listed(directive, key):
    return directive.options[key].split(",") if key in directive.options else []


def applies(directive, run, label):
    """Does it speak of this run of this executable?"""
    if "if" in directive.options and directive.options["if"] != ("user" if os.geteuid() else "root"):
        return False
    if "in" in directive.options and run not in listed(directive, "in"):
        return False
    globs = listed(directive, "on")
    good = [glob for glob in globs if not glob.startswith("!")]
    return (not good or any(fnmatch.fnmatchcase(label, glob) for glob in good)) and not any(
        fnmatch.fnmatchcase(label, glob[1:]) for glob in globs if glob.startswith("!"))


class Run:
    """One call of the tool: its options and what is wanted of it."""

    def __init__(self, subject, name, directive, label):
        self.subject, self.name = subject, name
        self.arguments = directive.args[1:] if directive else []
        options = directive.options if directive else {}
        self.status = int(options["status"]) if "status" in options else None
        self.patience = float(options.get("patience", PATIENCE))
        self.quick = options.get("quick") != "no"
        self.skip = options.get("skip")
        self.deep = options.get("deep") == "yes"
        self.beside, self.prepare = options.get("beside"), options.get("prepare")
        self.where = subject.of("subject")[0].options.get("where", "memory")
        here = [d for d in subject.directives if applies(d, name, label)]
        self.pollutes = [d for d in here if d.verb == "pollutes"]
        self.clean = [d for d in here if d.verb == "clean"]
        self.first = [d for d in here if d.verb == "first"]
        self.says = [d for d in here if d.verb == "says"]
        for d in self.pollutes + self.clean + self.first:
            least, most = {"pollutes": (2, 3), "clean": (1, 1), "first": (2, 2)}[d.verb]
            if not least <= len(d.args) <= most:
                raise d.error("a wrong number of arguments")
        self.named = {d.args[0] for d in self.pollutes + self.clean + self.first}

    def speaks_of(self, d, finding):
        """Is the finding one that this `pollutes` wants?"""
        return (finding.get("where") == d.options.get("where", self.where)
                and matches(d.args[1], finding.get("root")))

    def of(self, directives, test):
        """The directives that speak of a test: by its name, or else by a pattern."""
        if test in self.named:
            return [d for d in directives if d.args[0] == test]
        return [d for d in directives if matches(d.args[0], test)]


def runs_of(subject, label):
    given = {}
    for d in subject.of("run"):
        if not d.args:
            raise d.error("NAME is wanted")
        if d.args[0] in given:
            raise d.error(f"'{d.args[0]}' is there already")
        given[d.args[0]] = d
    given.setdefault("default", None)
    return [Run(subject, name, d, label) for name, d in given.items() if not d or applies(d, name, label)]


def paths_of(finding):
    """All its paths with their values, the first one first."""
    first = {key: finding.get(key) for key in ("path", "before", "after")}
    return [first] + [path for path in finding.get("paths", []) if path != first]


class Check:
    """Compares one report with what a run wants of it."""

    def __init__(self, run, report, said, folder, options):
        self.run, self.report, self.said, self.folder = run, report, said, folder
        self.debug = options.get("debug") != "none"
        libs = options.get("libs", "").split()
        self.agent = "-static" not in libs and "-fsanitize=address" not in libs
        self.wrong = []
        self.lines = {}

    def add(self, text):
        self.wrong.append(text)

    def compare(self):
        tests = [test["name"] for test in self.report["tests"]]
        for test in self.report["tests"]:
            if test.get("outcome") != "pass":
                self.add(f"'{test['name']}' is reported as {test.get('outcome')}")
        findings = collections.defaultdict(list)
        for finding in self.report.get("findings", []):
            self.finding(finding, tests)
            findings[finding.get("test")].append(finding)
        first = collections.defaultdict(set)
        for item in self.report.get("first_initialised", []):
            first[item.get("test")].add(item.get("root"))
        for test in tests:
            self.test(test, findings.pop(test, []), first[test])
        for test in findings:
            self.add(f"a finding for '{test}', which is no test")
        for d in self.run.pollutes + self.run.clean + self.run.first:
            if not any(d in self.run.of([d], test) for test in tests):
                self.add(f"{d.where()}: '{d.args[0]}' is not among the tests")
        for d in self.run.says:
            text = "\n".join([*self.report.get("limits", []), *map(left_out_line, self.report.get("left_out", [])), self.said])
            if not any(matches(f"...{alternative}...", text) for alternative in d.args[0].split("|")):
                self.add(f"{d.where()}: '{d.args[0]}' is not said")
        return self.wrong

    def test(self, test, findings, first):
        pollutes, clean = self.run.of(self.run.pollutes, test), self.run.of(self.run.clean, test)
        if not pollutes and not clean:
            self.add(f"'{test}' has neither 'pollutes' nor 'clean'")
        if pollutes and clean:
            self.add(f"'{test}' has both 'pollutes' and 'clean'")
        for d in pollutes:
            found = [f for f in findings if self.run.speaks_of(d, f)]
            if len(found) > int(d.options.get("at-most", len(found))):
                self.add(f"{d.where()}: '{test}': {len(found)} findings like {d.args[1]}: "
                         + ", ".join(str(f.get("root")) for f in found[:5]) + "...")
            if found:
                self.wanted(d, found)
            elif d.options.get("may") != "yes":
                self.add(f"{d.where()}: '{test}' pollutes {d.args[1]}: not found")
        for finding in findings:
            if not any(self.run.speaks_of(d, finding) for d in pollutes):
                self.add(f"false alarm: '{test}': {finding.get('where')} {finding.get('root')}: " + "; ".join(
                    f"{p.get('path')}: {p.get('before')} -> {p.get('after')}" for p in paths_of(finding)[:3]))
        for d in self.run.of(self.run.first, test):
            if not any(matches(d.args[1], root) for root in first):
                self.add(f"{d.where()}: '{test}' initialises {d.args[1]} for the first time: not said")

    def wanted(self, d, findings):
        """One of the findings that a `pollutes` speaks of is as it says; mostly there is only one."""
        pattern = d.args[2] if len(d.args) > 2 else "..."
        found = []
        for finding in findings:
            paths = paths_of(finding)
            found = [path for path in paths if matches(pattern, path.get("path"))]
            if found:
                break
        where = f"{d.where()}: '{finding['test']}': {finding['root']}"
        if not found:
            self.add(f"{where}: no path {pattern}; there are " + ", ".join(str(path.get("path")) for path in paths))
            return
        for key in ("before", "after"):
            if key in d.options and not any(matches(d.options[key], path.get(key)) for path in found):
                self.add(f"{where}: {key} is {found[0].get(key)!r} at {found[0].get('path')}, wanted {d.options[key]!r}")
        for key in ("effect", "severity"):
            if key in d.options and not matches(d.options[key], finding.get(key)):
                self.add(f"{where}: {key} is {finding.get(key)}, wanted {d.options[key]}")
        readers = finding.get("readers") or []
        for name in listed(d, "readers"):
            if name not in readers:
                self.add(f"{where}: reader '{name}' is missing; there are: {', '.join(readers) or 'none'}")
        for name in listed(d, "not-readers"):
            if name in readers:
                self.add(f"{where}: '{name}' does not read it")
        if "allocated" in d.options and self.agent:
            # The optimiser's copies of functions have a suffix.
            stack = [(frame.get("function") or "?").split(".")[0] for frame in finding.get("allocated") or []]
            if not any(matches(d.options["allocated"], name) for name in stack):
                self.add(f"{where}: {d.options['allocated']} is not in the stack of the allocation: {' < '.join(stack)}")

    def finding(self, finding, tests):
        """What holds for every finding."""
        title = f"finding {finding.get('test')}: {finding.get('root')}"
        for key in ("id", "kind", "test", "severity", "message", "where", "root", "path", "before", "after", "effect"):
            if not isinstance(finding.get(key), str) or not finding[key]:
                self.add(f"{title}: no {key}")
        for key, right in (("kind", ("pollution",)), ("where", WHERES), ("effect", EFFECTS),
                           ("severity", SEVERITIES)):
            if finding.get(key) not in right:
                self.add(f"{title}: {key} is {finding.get(key)}")
        if "\n" in finding.get("message", ""):
            self.add(f"{title}: its message has more than one line")
        for path in paths_of(finding):
            if len(path.get("path") or "") > LONG_PATH and not self.run.deep:
                self.add(f"{title}: the path {path['path']} is too long")
            if path.get("before") == path.get("after"):
                self.add(f"{title}: {path.get('path')}: before and after are both {path.get('before')!r}")
        for name in finding.get("readers") or []:
            if name not in tests:
                self.add(f"{title}: reader '{name}' is no test")
            if name == finding.get("test"):
                self.add(f"{title}: it is called a reader of what it leaves itself")
        same = [f for f in self.report["findings"] if f is not finding]
        if any(f.get("id") == finding.get("id") for f in same):
            self.add(f"{title}: its id is not its own")
        if any(f.get("test") == finding.get("test") and f.get("root") == finding.get("root")
               and f.get("where") == finding.get("where") and f.get("declared") == finding.get("declared") for f in same):
            self.add(f"{title}: there is another one for the same test and root")
        if self.debug and finding.get("where") == "memory":
            self.declared(title, finding)

    def declared(self, title, finding):
        """
        The line that it gives as the root's declaration has the root's name in it. What a framework gives to tests is
        "*state", a parameter, or "this", of which the place is the call that gave the object away.
        """
        place = finding.get("declared") or {}
        name = re.split(r"::|\.", re.sub(r"<.*>|\[.*", "", finding.get("root") or ""))[-1].lstrip("*")
        if name == "this":
            name = "qExec"
        path = self.folder / (place.get("file") or "")
        if path not in self.lines:
            try:
                self.lines[path] = path.read_text(errors="replace").splitlines()
            except OSError:
                self.lines[path] = []
        lines, number = self.lines[path], place.get("line") or 0
        if not 0 < number <= len(lines):
            self.add(f"{title}: declared at {place.get('file')}:{number}, which is not there")
        elif not re.search(rf"\b{re.escape(name)}\b", lines[number - 1]):
            self.add(f"{title}: declared at {place.get('file')}:{number}, where there is no '{name}'")


def make_room(folder):
    """An empty folder for a run, with one to work in and one for temporary files."""
    remove(folder)
    for name in ("work", "tmp"):
        (folder / name).mkdir(parents=True)


def remove(folder):
    """Also where tests took away permissions."""
    if os.path.isdir(folder):
        subprocess.run(["chmod", "-R", "u+rwx", str(folder)], stderr=subprocess.DEVNULL)
    shutil.rmtree(folder, ignore_errors=True)


def fails(report):
    """Whether findings make the exit status 1: those of low severity do not (--fail-on)."""
    return any(finding["severity"] != "low" for finding in report["findings"])


def call(words, folder, patience, beside=None, **environment):
    """Runs the tool in a folder in this one and keeps everything here; `beside` runs meanwhile."""
    work = folder / "work"
    environment = {**os.environ, "TMPDIR": str(folder / "tmp"), **environment}
    (folder / "command").write_text(f"cd {shlex.quote(str(work))} && TMPDIR={shlex.quote(str(folder / 'tmp'))} "
                                    f"{shlex.join(words)}\n")
    beside = beside and subprocess.Popen(["sh", "-c", beside], cwd=work, env=environment, start_new_session=True)
    try:
        with open(folder / "stdout", "wb") as out, open(folder / "stderr", "wb") as err:
            try:
                process = subprocess.Popen(words, cwd=work, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                           start_new_session=True, env=environment)
            except OSError as error:
                raise Mismatch(f"{words[0]} cannot be started: {error}") from None
            try:
                return process.wait(patience)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                raise Mismatch(f"still running after {patience:.0f} seconds") from None
    finally:
        if beside:
            os.killpg(beside.pid, signal.SIGKILL)
            beside.wait()


def check_run(exe, run, options, folder):
    arguments = [word.replace("$HERE", str(exe.subject.folder)) for word in run.arguments]
    # What the tests that read it do then is not a matter of these subjects.
    words = [str(options.polygraph), "pollution", "--format", "json", "--no-prove", *arguments, "--", str(exe.path)]
    if run.prepare:
        subprocess.run(["sh", "-c", run.prepare], cwd=folder / "work", check=True)
    status = call(words, folder, run.patience, run.beside)
    said = (folder / "stderr").read_text(errors="replace")
    try:
        report = json.loads((folder / "stdout").read_text(encoding="utf-8"))
        report["tests"], report["findings"]
    except (ValueError, KeyError, TypeError) as error:
        last = said.strip().splitlines()
        raise Mismatch(f"exit status {status}, no JSON report ({error}); standard error: "
                       f"{last[-1] if last else 'nothing'}") from None
    for limit in report.get("limits", []):
        if run.skip and run.skip in limit:
            raise Skipped(limit)
    wrong = Check(run, report, said, folder / "work", exe.subject.variants[exe.variant]).compare()
    wanted = run.status if run.status is not None else 1 if fails(report) else 0
    if status != wanted:
        last = said.strip().splitlines()
        wrong.append(f"exit status {status}, wanted {wanted}; standard error: {last[-1] if last else 'nothing'}")
    if wrong:
        raise Mismatch("\n".join(wrong))


def check_plain(exe, folder, patience):
    """It runs to its end without the tool, or what is found in it means nothing."""
    status = call([str(exe.path)], folder, patience, LSAN_OPTIONS="detect_leaks=0")  # they leak on purpose
    if status != 0:
        raise Mismatch(f"the plain run ends with status {status}")


def lacks(subject, folder):
    """Why the subject cannot be run here; None: it can."""
    only = subject.of("subject")[0].options.get("only")
    if only == "root" and os.geteuid():
        return "only root can do what its tests do"
    if only == "user" and not os.geteuid():
        return "root may do what its tests must not"
    if only == "xattr":
        try:
            os.setxattr(folder, "user.polygraph", b"1")
            os.removexattr(folder, "user.polygraph")
        except OSError as error:
            return f"no extended attributes here: {error.strerror}"
    return None


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
    reason = lacks(exe.subject, exe.folder)
    if reason:
        results.add("skipped", title, reason)
        return
    after = exe.subject.of("subject")[0].options.get("after")
    runs = [run for run in runs_of(exe.subject, exe.label) if run.quick or not options.quick]
    patience = max(run.patience for run in runs)
    checks = [("plain", lambda folder: check_plain(exe, folder, patience))]
    if not options.plain_only:
        checks += [(run.name, lambda folder, run=run: check_run(exe, run, options, folder)) for run in runs]
    for name, check in checks:
        if options.run and name not in options.run:
            continue
        folder = exe.folder / f"run-{name}"
        make_room(folder)
        start = time.monotonic()
        try:
            try:
                check(folder)
            finally:
                if after:
                    subprocess.run([str(exe.path), after], cwd=folder / "work")
        except Skipped as reason:
            results.add("skipped", f"{title} {name}", str(reason))
        except Mismatch as wrong:
            (folder / "differences").write_text(f"{wrong}\n", encoding="utf-8")
            results.add("failed", f"{title} {name}", f"{wrong}\n{(folder / 'command').read_text().strip()}",
                        shlex.join([*again, "--run", name]))
            if name == "plain":
                return
        else:
            results.add("passed", f"{title} {name} ({time.monotonic() - start:.1f} s)")
            if not options.keep:
                remove(folder)


def wanted_in_quick(exe):
    return exe.build in exe.subject.variants[exe.variant].get("quick", "").split(",")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--polygraph", default="build/polygraph", metavar="PATH", help="default: build/polygraph")
    parser.add_argument("--build", default="build", metavar="DIR", help="the build folder; default: build")
    parser.add_argument("--subjects", default=HERE.parent.parent / "subjects" / "pollution", metavar="DIR")
    parser.add_argument("--only", action="append", default=[], metavar="SUBJECT", help="may be given again")
    parser.add_argument("--exe", metavar="GLOB", help="only executables VARIANT-CC-OPT that match")
    parser.add_argument("--run", action="append", default=[], metavar="NAME", help="only this run; may be given again")
    parser.add_argument("--plain-only", action="store_true", help="only build and run; needs no polygraph")
    parser.add_argument("--quick", action="store_true", help="only what variants say under quick=")
    parser.add_argument("--keep", action="store_true", help="keep reports of what passes, too")
    parser.add_argument("--build-only", action="store_true", help="build, and run nothing")
    parser.add_argument("--jobs", type=int, default=2, metavar="N")
    parser.add_argument("--verbose", action="store_true", help="name the checks that pass, too")
    options = parser.parse_args()
    options.polygraph_given = options.polygraph
    options.polygraph = pathlib.Path(options.polygraph).resolve()
    if not options.plain_only and not os.access(options.polygraph, os.X_OK):
        parser.error(f"no polygraph at {options.polygraph_given} (--plain-only does without)")
    return check_all(parser, options, pathlib.Path(options.build) / "pollution", check_executable,
                     wanted=lambda exe: not options.quick or wanted_in_quick(exe), look=lambda subject: runs_of(subject, ""))


if __name__ == "__main__":
    sys.exit(main())
