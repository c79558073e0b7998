#!/usr/bin/env python3
"""Schedules of Java suites: tests that depend on when work arrives are found, their properly waiting twins are not.

usage: test_jvm_schedules.py --polygraph PATH [--full] [-v] [TEST…]

The names of the tests in tests/subjects/jvm/schedules… say what must be found: late_…, early_… and hang_…; proper_… must
not. inside_… are late ones that are held in the middle of what a thread does. By default some of them are explored, and one finding is replayed 3 times. With --full it is all of them, and each
finding is replayed 20 times: that takes a quarter of an hour.
"""

import subprocess
import sys
import unittest

from jvm import PATIENCE, Java, Suite, main, short

FULL = "--full" in sys.argv
if FULL:
    sys.argv.remove("--full")

# Of a test, until it is found: as for native programs.
RUNS = {"late": 3, "early": 5, "inside": 12}
FEW = ["late_thread", "late_consumer", "early_flag", "hang_lost_notify", "late_one_of_three", "inside_after_signal",
       "proper_timed_wait", "proper_with_limit", "proper_three"]


class Schedules(unittest.TestCase):
    def explore(self, suite, tests=()):
        words = [word for test in tests for word in ("--tests", f"*.{test}")]
        status, report = suite.report("schedules", *words)
        names = [short(test["name"]).split(".")[-1] for test in report["tests"]]
        self.assertEqual([test["name"] for test in report["tests"] if test["outcome"] != "pass"], [])
        found = {short(finding["test"]).split(".")[-1]: finding for finding in report["findings"]}
        self.assertEqual(sorted(found), sorted(name for name in names if not name.startswith("proper_")))
        self.assertEqual(status, 1 if any(finding["severity"] != "low" for finding in found.values()) else 0)
        return found

    def check(self, name, finding):
        direction = name.split("_")[0]
        self.assertEqual(finding["kind"], "schedule")
        self.assertEqual(finding["hang"], direction == "hang")
        if direction in RUNS:
            self.assertEqual(finding["direction"], "early" if direction == "early" else "late", name)
            self.assertLessEqual(finding["runs"], RUNS[direction], name)
        self.assertTrue(finding["event"]["stack"], name)
        self.assertTrue(finding["timeline"], name)

    def replay(self, suite, finding, times):
        again = subprocess.run([str(Java.polygraph), "replay", finding["id"], "--times", str(times)], cwd=suite.cwd,
                               capture_output=True, text=True, timeout=2 * PATIENCE)
        self.assertEqual(again.returncode, 1, again.stdout + again.stderr)

    def test_threads(self):
        suite = Suite("schedules", "junit4")
        found = self.explore(suite, () if FULL else FEW)
        for name, finding in found.items():
            with self.subTest(name):
                self.check(name, finding)
                if FULL or name == "late_thread":
                    self.replay(suite, finding, 20 if FULL else 3)
        finding = found["late_thread"]
        frame = finding["event"]["stack"][0]
        self.assertEqual((frame["function"], frame["file"]), ("subject.SchedulesTest.start", "subject/SchedulesTest.java"))
        self.assertEqual(finding["event"]["operation"], "start")
        # The time that the test sleeps for; the machine may be busy.
        self.assertGreaterEqual(finding["margin"], 0.05)
        self.assertLess(finding["margin"], 0.5)
        self.assertEqual(finding["failing"]["line"], finding["failure"]["line"])

    def test_limits_of_tests(self):
        """A limit that the test has, and that runs out only because we hold something, is no finding."""
        found = self.explore(Suite("schedules_junit5", "junit5"), () if FULL else ["late_nested", "proper_preemptive",
                                                                                  "late_fixture"])
        for name, finding in found.items():
            with self.subTest(name):
                self.check(name, finding)

    def test_testng(self):
        found = self.explore(Suite("schedules_testng", "testng"), () if FULL else ["late_limit", "proper_limit"])
        for name, finding in found.items():
            with self.subTest(name):
                self.check(name, finding)

    def test_check(self):
        """`check` explores those that have other threads, and replay knows the finding."""
        suite = Suite("schedules", "junit4")
        _, report = suite.report("check", "--no-choices", "--no-pollution", "--tests", "*.late_thread")
        self.assertEqual([finding["kind"] for finding in report["findings"]], ["schedule"])
        self.assertEqual(report["schedules"]["tests"], 1)

    def test_without_threads(self):
        """Threads of the VM itself are none of the tests': each of these would be run by itself, which takes a VM."""
        _, report = Suite("levels", "junit4").report("schedules")
        self.assertGreater(len(report["tests"]), 1)
        self.assertEqual((report["schedules"]["tests"], report["schedules"]["runs"]), (0, 0))

    def test_random(self):
        """Random delays find what is late, and the same seed finds it again, whichever thread comes first."""
        suite = Suite("schedules", "junit4")
        words = ["--strategy", "random", "--delay", "300ms", "--runs", "20"]
        status, report = suite.report("schedules", *words, "--tests", "*.late_thread", "--tests", "*.proper_thread")
        self.assertEqual([short(finding["test"]) for finding in report["findings"]], ["SchedulesTest.late_thread"])
        self.assertEqual(status, 1)
        self.replay(suite, report["findings"][0], 5)

    def test_priorities(self):
        result = Suite("schedules", "junit4").call("schedules", "--strategy", "pct", "--tests", "*.late_thread")
        self.assertEqual(result.returncode, 2, result.stdout + result.stderr)
        self.assertIn("--strategy takes delay or random", result.stderr)


if __name__ == "__main__":
    main()
