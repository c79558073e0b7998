#!/usr/bin/env python3
"""Hand-written runners: in which places `polygraph run` runs their tests, in orders that are not their own.

usage: test_places.py --polygraph PATH [-v] [TEST…]

The one command that runs a failing test again is this one with its name, e.g. Stops.test_reversed.
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

BUILDS = [(cc, level) for cc in (("gcc", "g++"), ("clang", "clang++")) if all(map(shutil.which, cc))
          for level in ("-O0", "-O2")]


class Places(unittest.TestCase):
    maxDiff = None
    source = None

    def programs(self):
        for compilers, level in BUILDS:
            cc = compilers[self.source.endswith(".cc")]
            path = os.path.join(FOLDER, f"{self.source}-{cc}{level}-{self.id()}")
            if not os.path.exists(path):
                subprocess.run([cc, level, "-g", "-Wall", "-o", path, os.path.join(HERE, "places", self.source)],
                               check=True)
            with self.subTest(build=f"{cc} {level}"):
                yield path

    def run_tests(self, *words):
        """Names with their outcomes, as they ran, and the limits."""
        run = subprocess.run([POLYGRAPH, "run", "--format", "json", *words], cwd=FOLDER, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True, check=False, timeout=300)
        self.assertIn(run.returncode, (0, 3), run.stderr)
        report = json.loads(run.stdout)
        return ([(test["name"], test["outcome"]) for test in report["tests"]],
                [limit for limit in report.get("limits", ()) if limit.startswith("run: ")])


class Stops(Places):
    """A runner that stops at the first failure, with a set-up: what follows runs in a new process."""
    source = "stops.c"

    def test_reversed(self):
        for program in self.programs():
            tests, limits = self.run_tests("--reverse", program)
            self.assertEqual(tests, [("test_fails", "fail"), ("test_last", "pass"), ("test_second", "pass"),
                                     ("test_first", "pass")])
            self.assertEqual(len(limits), 1, limits)
            self.assertIn("the runner ended before 'test_last'", limits[0])


class Numbered(Places):
    """A number that the runner gives to each test, and nobody else changes, is an argument."""
    source = "numbered.c"

    def test_reversed(self):
        for program in self.programs():
            tests, limits = self.run_tests("--reverse", program)
            self.assertEqual(tests, [("test_three", "pass"), ("test_two", "pass"), ("test_one", "pass")])
            self.assertEqual(limits, [])


class Stepped(Places):
    """Every place differs: a test runs in its own, in a new process if that was passed."""
    source = "stepped.c"

    def test_reversed(self):
        for program in self.programs():
            tests, limits = self.run_tests("--reverse", program)
            self.assertEqual(tests, [("test_three", "pass"), ("test_two", "pass"), ("test_one", "pass")])
            self.assertEqual(len(limits), 1, limits)
            self.assertIn("because the runner changes 'number' between its tests", limits[0])


class Rows(Places):
    """What arguments point to in the runner's frame differs from call to call."""
    source = "rows.c"

    def test_reversed(self):
        for program in self.programs():
            tests, _ = self.run_tests("--reverse", program)
            self.assertEqual(tests, [("test_number#2", "pass"), ("test_length#2", "pass"), ("test_number", "pass"),
                                     ("test_length", "pass")])


class Leaves(Places):
    """Tests that are left by longjmp or an exception, in places of others, with arguments."""
    source = "leaves.cc"

    def test_reversed(self):
        for program in self.programs():
            tests, _ = self.run_tests("--reverse", program)
            self.assertEqual(tests, [("test_jumps", "fail"), ("test_last", "pass"), ("test_throws#2", "fail"),
                                     ("test_throws", "pass"), ("test_first", "pass")])

    def test_reversed_without_debug_information(self):
        for program in self.programs():
            subprocess.run(["strip", "--strip-debug", program], check=True)
            tests, _ = self.run_tests("--reverse", program)
            self.assertEqual([name for name, _ in tests],
                             ["test_jumps", "test_last", "test_throws#2", "test_throws", "test_first"])
            self.assertEqual([outcome for _, outcome in tests][:3], ["fail", "pass", "fail"])


class Free(Places):
    """All places are alike, and the last one serves for more."""
    source = "free.c"

    def test_reversed(self):
        for program in self.programs():
            tests, limits = self.run_tests("--reverse", program)
            self.assertEqual(tests, [("test_fails", "fail"), ("test_counts", "pass"), ("test_passes", "pass")])
            self.assertEqual(limits, [])

    def test_more_than_calls(self):
        """All in one process: the sixth time is noticed."""
        order = os.path.join(FOLDER, "order")
        with open(order, "w", encoding="utf-8") as file:
            file.write("test_passes\n" + "test_counts\n" * 6)
        for program in self.programs():
            tests, limits = self.run_tests("--order", order, program)
            self.assertEqual(tests, [("test_passes", "pass")] + 5 * [("test_counts", "pass")] + [("test_counts", "fail")])
            self.assertEqual(limits, [])


def prepare(polygraph, folder):
    global POLYGRAPH, FOLDER
    POLYGRAPH, FOLDER = polygraph, folder
    return None if BUILDS else "no compiler"


if __name__ == "__main__":
    sys.exit(runner.main("places", prepare))
