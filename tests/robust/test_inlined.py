#!/usr/bin/env python3
"""Tests that the compiler made part of their runner: what they do is held against no other test.

usage: test_inlined.py --polygraph PATH [-v] [TEST…]

The one command that runs a failing test again is this one with its name, e.g. Inlined.test_alone.
"""
import json
import os
import shutil
import subprocess
import sys
import unittest

import runner

HERE = os.path.dirname(os.path.abspath(__file__))
POLYGRAPH = None
FOLDER = None

BUILDS = [(compiler, level) for compiler in ("gcc", "clang") if shutil.which(compiler) for level in ("-O0", "-O2")]
OTHERS = ["test_first", "test_opens", "test_makes", "test_quiet", "test_loud", "test_ends"]


class Inlined(unittest.TestCase):
    maxDiff = None

    def report(self, flags, *words):
        path = os.path.join(FOLDER, "-".join(["inlined", *flags]))
        if not os.path.exists(path):
            subprocess.run([*flags, "-g", "-w", "-o", path, os.path.join(HERE, "inlined.c")], check=True)
        run = subprocess.run([POLYGRAPH, *words, "--format=json", path], cwd=FOLDER, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True, check=False, timeout=300)
        self.assertIn(run.returncode, (0, 1, 3), run.stderr)
        return json.loads(run.stdout)

    def outcomes(self, flags, *words):
        return {test["name"]: test["outcome"] for test in self.report(flags, *words)["tests"]}

    def misled(self, flags):
        return {(finding["kind"], finding["test"]) for finding in self.report(flags, "check", "--fresh")["findings"]
                if finding["kind"] != "pollution"}

    def test_alone(self):
        """Alone, test_opens lets test_uses crash, and test_quiet lets test_hears fail."""
        for flags in BUILDS:
            with self.subTest(build=" ".join(flags)):
                self.assertEqual(self.outcomes(flags, "run", "--alone"), dict.fromkeys(OTHERS, "pass"))

    def test_orders(self):
        for flags in BUILDS:
            with self.subTest(build=" ".join(flags)):
                failed = [test["failure"]["message"] for test in self.report(flags, "run", "--reverse")["tests"]
                          if test["outcome"] != "pass"]
                self.assertEqual(failed, ["the program ended with exit status 1; a test that was inlined into the runner "
                                          "may have failed: build with -fno-inline"])
                self.assertEqual(self.misled(flags), set())

    def test_fails(self):
        """A program that ends badly does not pass, whoever it was."""
        for flags in BUILDS:
            with self.subTest(build=" ".join(flags)):
                report = self.report((*flags, "-DFAILS"), "check", "--fresh")
                self.assertEqual([test["outcome"] for test in report["tests"]].count("fail"), 1)
                self.assertEqual([finding for finding in report["findings"] if finding["kind"] != "pollution"], [])

    def test_apart(self):
        """The twin: tests of their own."""
        wanted = {("order-dependent", "test_uses"), ("order-dependent", "test_hears")}
        for flags in BUILDS:
            with self.subTest(build=" ".join(flags)):
                self.assertEqual(self.misled((*flags, "-DAPART")), wanted)

    def test_ends(self):
        """The twin: the program crashes after a test, and not in one that was inlined."""
        for flags in BUILDS:
            with self.subTest(build=" ".join(flags)):
                outcomes = self.outcomes((*flags, "-DENDS"), "run", "--alone")
                self.assertEqual(outcomes, {**dict.fromkeys(OTHERS, "pass"), "test_ends": "crash"})


def prepare(polygraph, folder):
    global POLYGRAPH, FOLDER
    POLYGRAPH, FOLDER = polygraph, folder
    return None if BUILDS else "no compiler"


if __name__ == "__main__":
    sys.exit(runner.main("inlined", prepare))
