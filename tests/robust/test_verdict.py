#!/usr/bin/env python3
"""Hand-written runners whose tests return nothing: what became of them, and where.

usage: test_verdict.py --polygraph PATH [-v] [TEST…]

The styles that runners have are the subject verdicts; here is what differs from them: lines, verdicts that cannot be
found, and what is none. The one command that runs a failing test again is this one with its name, e.g. Lines.test_lines.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import unittest

import runner

HERE = os.path.dirname(os.path.abspath(__file__))
POLYGRAPH = None
FOLDER = None

COMPILERS = [pair for pair in (("gcc", "g++"), ("clang", "clang++")) if shutil.which(pair[1])]
BUILDS = [(*pair, level) for pair in COMPILERS for level in ("-O0", "-O2") if (pair[0], level) != ("clang", "-O0")]
UNKNOWN = "verdicts are unknown"


def build(source, cc, cxx, level, *flags):
    """The program made of verdict/@source in one way."""
    words = [cxx if source.endswith(".cc") else cc, level, *flags]
    path = os.path.join(FOLDER, "-".join([source, *words]))
    if not os.path.exists(path):
        debug = [] if "-g0" in flags else ["-g"]
        subprocess.run([*words, *debug, "-Wall", "-o", path, os.path.join(HERE, "verdict", source)], check=True)
    return path


def tool(*words, status=(0, 1, 3)):
    run = subprocess.run([POLYGRAPH, *words], cwd=FOLDER, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                         check=False, timeout=300)
    if run.returncode not in status:
        raise AssertionError(f"{' '.join(words)}: exit status {run.returncode}\n{run.stdout}{run.stderr}")
    return json.loads(run.stdout), run.returncode


class Verdict(unittest.TestCase):
    maxDiff = None
    source = None
    flags = ()

    def programs(self, *flags):
        for how in BUILDS:
            with self.subTest(build=" ".join([*how[1:], *self.flags, *flags])):
                yield build(self.source, *how, *self.flags, *flags)

    def outcomes(self, program, *words):
        report, status = tool("run", "--format=json", *words, program)
        outcomes = {test["name"]: test["outcome"] for test in report["tests"]}
        self.assertEqual(status, 3 if set(outcomes.values()) - {"pass", "skip"} else 0)
        return outcomes

    def failed(self, program, *words):
        return sorted(name for name, outcome in self.outcomes(program, *words).items() if outcome == "fail")

    def limits(self, program, *words):
        return " ".join(tool("run", "--format=json", *words, program)[0].get("limits", []))


class Lines(Verdict):
    """A failure is at the test's own line, out of the functions that it called."""
    source = "lines.c"

    def check(self, *words):
        wanted = {}
        with open(os.path.join(HERE, "verdict", self.source), encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                wanted.update((name, number) for name in re.findall(r"/\* fails (\w+) \*/", line))
        for program in self.programs():
            report, _ = tool("run", "--format=json", *words, program)
            lines = {test["name"]: test["failure"].get("line") for test in report["tests"] if test["outcome"] == "fail"}
            self.assertEqual(lines, wanted)

    def test_lines(self):
        self.check()

    def test_lines_alone(self):
        self.check("--alone")

    def test_message(self):
        for program in self.programs():
            report, _ = tool("run", "--format=json", program)
            self.assertIn("'failures' went from 0 to 1", report["tests"][0]["failure"]["message"])

    def test_no_debug_information(self):
        for program in self.programs("-g0"):
            self.assertEqual(len(self.failed(program)), 3)


class Members(Verdict):
    """C++: a vector of messages that is a static member, a flag in a namespace without name."""
    source = "members.cc"
    wanted = ["test_clears", "test_lists", "test_lists_again"]

    def test_outcomes(self):
        for program in self.programs():
            for words in ((), ("--reverse",), ("--alone",)):
                self.assertEqual(self.failed(program, *words), self.wanted)


class Unknown(Verdict):
    """Where nothing is found, a program that ends with another status than 0 did not pass, in any order."""
    source = "unknown.c"

    def test_breaks(self):
        for program in self.programs("-DBREAKS"):
            for words in ((), ("--reverse",), ("--shuffle", "--seed=1"), ("--tests=test_breaks",), ("--alone",)):
                self.assertEqual(self.failed(program, *words), ["test_breaks"])
                self.assertIn(UNKNOWN, self.limits(program, *words))
            self.assertEqual(self.failed(program, "--tests=test_last"), [])

    def test_well(self):
        for program in self.programs():
            self.assertEqual(self.failed(program), [])
            self.assertIn(UNKNOWN, self.limits(program))

    def test_pollution(self):
        for program in self.programs("-DBREAKS"):
            report, _ = tool("pollution", "--format=json", program)
            outcomes = {test["name"]: test["outcome"] for test in report["tests"]}
            self.assertEqual(outcomes, {"test_first": "pass", "test_breaks": "fail", "test_last": "pass"})


class Chance(Verdict):
    """A test that fails by chance: no other is called flaky, and one that another misleads is found beside it."""
    source = "chance.c"

    def check(self, *flags, times):
        program = build(self.source, "gcc", "g++", "-O0", *flags)
        for _ in range(times):
            report, _ = tool("check", "--fresh", "--format=json", program)
            found = {(finding["kind"], finding["test"]) for finding in report["findings"] if finding["kind"] != "pollution"}
            self.assertEqual(found, {("flaky", "test_by_chance"), ("order-dependent", "test_wants_zero")})
        return program

    def test_counter(self):
        self.check(times=4)

    def test_hidden(self):
        self.check("-DHIDDEN", times=4)


class Asserts(Verdict):
    """Tests that abort have a verdict: nothing is said to be unknown."""
    source = "asserts.c"

    def test_known(self):
        for program in self.programs():
            self.assertEqual(self.failed(program), [])
            self.assertNotIn(UNKNOWN, self.limits(program))


class State(Verdict):
    """What tests write and restore is theirs, even where the program's end depends on it."""
    source = "state.c"

    def test_own_order(self):
        for program in self.programs():
            self.assertEqual(self.failed(program), [])

    def test_reverse(self):
        for program in self.programs():
            self.assertEqual(self.failed(program, "--reverse"), ["test_close", "test_open", "test_use"])

    def test_pollution(self):
        for program in self.programs():
            report, _ = tool("pollution", "--format=json", program)
            self.assertEqual({finding["root"] for finding in report["findings"]}, {"handles"})


class RunnersOwn(Verdict):
    """What tests tell their runner, and what it counts, is not state that they share."""
    source = "runners_own.c"

    def test_pollution(self):
        for program in (*self.programs(), *self.programs("-DSTYLE_LIST")):
            report, _ = tool("pollution", "--format=json", program)
            outcomes = {test["name"]: test["outcome"] for test in report["tests"]}
            self.assertEqual(sorted(name for name in outcomes if outcomes[name] == "fail"),
                             ["test_fails", "test_fails_again"])
            self.assertEqual([(finding["test"], finding["root"]) for finding in report["findings"]],
                             [("test_raises_level", "level")])


class Argument(Verdict):
    """The verdict is in what tests are called with, on the stack of their runner."""
    source = "argument.c"
    wanted = ["test_fails", "test_fails_too"]

    def check(self):
        for program in self.programs():
            for words in ((), ("--reverse",), ("--alone",)):
                self.assertEqual(self.failed(program, *words), self.wanted)
            self.assertNotIn(UNKNOWN, self.limits(program))

    def test_pointer(self):
        self.check()

    def test_context(self):
        self.flags = ("-DCONTEXT",)
        self.check()


class Planned(Verdict):
    """Without its tests the program ends badly, so that only whole runs say something."""
    source = "planned.c"

    def test_fails(self):
        for program in self.programs("-DBREAKS"):
            for words in ((), ("--reverse",), ("--tests=test_fails",)):
                self.assertEqual(self.failed(program, *words), ["test_fails"])

    def test_passes(self):
        for program in self.programs():
            for words in ((), ("--reverse",), ("--alone",)):
                self.assertEqual(self.failed(program, *words), [])


def prepare(polygraph, folder):
    global POLYGRAPH, FOLDER
    POLYGRAPH, FOLDER = polygraph, folder
    return None if COMPILERS else "no compiler"


if __name__ == "__main__":
    sys.exit(runner.main("verdict", prepare))
