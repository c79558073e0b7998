#!/usr/bin/env python3
"""A folder that the program makes before its first test and removes at its own end: what one copy of the process does to it
never reaches another.

usage: test_begins.py --polygraph PATH [-v] [TEST…]

tests/robust/begins.c says in how many ways. All tests pass in every order and alone, and nothing is found. Its twins have a
test that breaks the folder for the next one in the same process: that is found, and it is not found alone.

tests/robust/gtest/begins.cc has tests that are listed without a run, so that nobody knows of their files when they begin side
by side. All of them pass in any case; only those that change no file run side by side.
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

import runner

POLYGRAPH = None
FOLDER = None
BEGINS = None
HERE = os.path.dirname(os.path.abspath(__file__))
KINDS = ("atexit", "end", "atexit,chdir", "end,chdir,folder", "atexit,folder", "end,file", "atexit,fixed", "end,fixed,chdir",
         "")
RUNS = ("run", "run --reverse", "run --shuffle --seed 5", "run --alone", "run --alone --jobs 1")
SANDBOXES = ("never", "auto")


class Begins(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.mkdtemp(dir=FOLDER)

    def call(self, command, kind, *options):
        result = subprocess.run([POLYGRAPH, *command.split(), "--format", "json", *options, "--", BEGINS, kind],
                                cwd=self.place, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300,
                                env={**os.environ, "TMPDIR": self.place})
        self.assertIn(result.returncode, (0, 1, 3), result.stderr)
        return json.loads(result.stdout)

    def outcomes(self, report):
        return {test["name"]: test["outcome"] for test in report["tests"]}

    def left(self):
        return sorted(name for name in os.listdir(self.place) if name.startswith("begins"))

    def assert_all_pass(self, report, *but):
        outcomes = self.outcomes(report)
        self.assertEqual(len(outcomes), 8, outcomes)
        self.assertEqual({name for name, outcome in outcomes.items() if outcome != "pass"}, set(but), report["tests"])

    def test_run(self):
        for kind in KINDS:
            for command in RUNS:
                with self.subTest(kind=kind, command=command):
                    self.assert_all_pass(self.call(command, kind))
                    # As after a plain run, and nothing of the copies.
                    if kind:
                        self.assertEqual(self.left(), [])

    def test_left_by_exit(self):
        """A test that ends the program: its exit handlers remove the folder, and the next process has it."""
        for command in RUNS:
            with self.subTest(command=command):
                self.assert_all_pass(self.call(command, "atexit,chdir,exits"), "test_exits")
                self.assertEqual(self.left(), [])

    def test_detectors(self):
        for kind in KINDS:
            for sandbox in SANDBOXES:
                with self.subTest(kind=kind, sandbox=sandbox):
                    report = self.call("order --no-roots --no-cleaners --repeat 1", kind, "--sandbox", sandbox)
                    self.assert_all_pass(report)
                    self.assertEqual(report["findings"], [])
        for command in ("pollution --only files", "choices --level one --runs 1"):
            with self.subTest(command=command):
                report = self.call(command, "atexit,chdir", "--sandbox", "never")
                self.assert_all_pass(report)
                self.assertEqual(report["findings"], [])

    def test_left_by_restarts(self):
        """An open file that a test removed is gone for good: none of the starts that this takes leaves its folder."""
        for command in ("run --alone", "order --no-roots --no-cleaners --repeat 1 --sandbox never",
                        "pollution --only files --sandbox never"):
            with self.subTest(command=command):
                self.call(command, "atexit,file,breaks")
                self.assertEqual(self.left(), [])

    def test_twin_in_one_process(self):
        """What a test does to the folder reaches the next one in the same process."""
        broken = ("test_reads_again",)
        self.assert_all_pass(self.call("run", "atexit,chdir,breaks"), *broken)
        self.assert_all_pass(self.call("run --alone", "atexit,chdir,breaks"))
        report = self.call("order --no-roots --no-cleaners --repeat 1", "atexit,chdir,breaks", "--sandbox", "never")
        found = {finding["test"]: finding.get("polluters") for finding in report["findings"]}
        self.assertEqual(found.get("test_reads_again"), [["test_breaks"]], report["findings"])

    def test_twin_that_stays(self):
        """`run` leaves what the tests leave, `run --alone` nothing."""
        before = os.path.join(self.place, "before")
        open(before, "x").close()
        for command in ("run --alone", "order --no-roots --no-cleaners --repeat 1 --sandbox never"):
            self.call(command, "atexit,breaks")
            self.assertTrue(os.path.exists(before), command)
        self.call("run", "atexit,breaks")
        self.assertFalse(os.path.exists(before))


class SideBySide(unittest.TestCase):
    JOBS = 4
    SERIAL = "they run one at a time"

    @classmethod
    def setUpClass(cls):
        if not os.path.exists("/usr/include/gtest/gtest.h"):
            raise unittest.SkipTest("GoogleTest is not installed (Debian: libgtest-dev)")
        cls.program = os.path.join(FOLDER, "begins-gtest")
        subprocess.run(["g++", "-g", "-O0", "-o", cls.program, os.path.join(HERE, "gtest", "begins.cc"), "-lgtest",
                        "-pthread"], check=True)

    def setUp(self):
        self.place = tempfile.mkdtemp(dir=FOLDER)
        self.shared = os.path.join(self.place, "begins-shared")

    def call(self, command, word):
        result = subprocess.run([POLYGRAPH, *command.split(), "--jobs", str(self.JOBS), "--verbose", "--format", "json", "--",
                                 self.program], cwd=self.place, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                timeout=300, env={**os.environ, "TMPDIR": self.place, "BEGINS": word,
                                                  "POLYGRAPH_LOG": "follow,native,process,watch"})
        self.assertEqual(result.returncode, 0, result.stderr)
        if "files are not kept" in result.stderr:
            self.skipTest("calls cannot be followed here")
        report = json.loads(result.stdout)
        self.assertEqual([test["outcome"] for test in report["tests"]], 12 * ["pass"], report["tests"])
        return report, result.stderr

    def test_alone(self):
        for word in ("shares", "late", "starts"):
            with self.subTest(word=word):
                self.assertIn(self.SERIAL, self.call("run --alone", word)[1])
                self.assertEqual(os.path.exists(self.shared), word == "starts")

    def test_alone_restores(self):
        """A file from before is as it was, whoever was first to change it."""
        with open(self.shared, "x", encoding="utf-8") as file:
            file.write("before")
        self.call("run --alone", "shares")
        with open(self.shared, encoding="utf-8") as file:
            self.assertEqual(file.read(), "before")

    def test_orders(self):
        """That main() changes a file is seen only where its beginning is followed."""
        report, log = self.call("order --no-roots --no-cleaners --repeat 1 --sandbox never", "starts")
        self.assertEqual(report["findings"], [])
        self.assertIn(self.SERIAL, log)

    def test_restarts(self):
        """No copy of the later starts comes to its end. An earlier start's file is no reason for one more."""
        log = self.call("order --no-roots --no-cleaners --repeat 1 --sandbox never", "opens")[1]
        self.assertEqual([name for name in os.listdir(self.place) if name.startswith("begins")], [])
        self.assertLess(log.count("it is started again"), 12, log)

    def test_twin_stays_parallel(self):
        for command in ("run --alone", "order --no-roots --no-cleaners --repeat 1 --sandbox never"):
            with self.subTest(command=command):
                log = self.call(command, "nothing")[1]
                self.assertNotIn(self.SERIAL, log)
                # A program for each worker.
                self.assertGreaterEqual(log.count(" is followed"), self.JOBS, log)


def prepare(polygraph, folder):
    global POLYGRAPH, FOLDER, BEGINS
    POLYGRAPH, FOLDER = polygraph, folder
    BEGINS = os.path.join(folder, "begins")
    subprocess.run(["cc", "-g", "-O0", "-D_GNU_SOURCE", "-o", BEGINS, os.path.join(HERE, "begins.c")], check=True)


if __name__ == "__main__":
    sys.exit(runner.main("begins", prepare))
