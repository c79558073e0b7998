#!/usr/bin/env python3
"""What a report advises: one cause is one block with one advice, code in it can be typed, and values are those that tests find.

usage: test_hints.py --polygraph PATH [-v] [TEST…]
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

import runner

HERE = pathlib.Path(__file__).resolve().parent / "hints"
POLYGRAPH = None
FOLDER = None
LEVELS = ("-O0", "-O2")


class Checked:
    """A program and what a check says of it."""

    def __init__(self, source, level, *libraries):
        folder = pathlib.Path(FOLDER) / f"{source}{level}"
        folder.mkdir()
        compiler = "g++" if source.endswith(".cc") else "gcc"
        subprocess.run([compiler, "-g", level, "-fno-inline", str(HERE / source), "-o", "tests", *libraries], cwd=folder, check=True)
        done = subprocess.run([POLYGRAPH, "check", "--fresh", "--no-schedules", "--no-choices", "--format", "text", "--format",
                               "json", "-o", "report.json", "./tests"], cwd=folder, text=True, capture_output=True, check=False,
                              timeout=300, env={**os.environ, "COLOUR": 'say "red"', "SIZE": "large"})
        if done.returncode != 1:
            raise AssertionError(f"exit status {done.returncode}\n{done.stdout}{done.stderr}")
        self.level = level
        self.findings = json.loads((folder / "report.json").read_text())["findings"]
        self.blocks, self.ids, self.fixes = {}, {}, {}  # by the test that a block's head begins with
        test = None
        for line in done.stdout.splitlines()[:-1]:
            if line.startswith("        fix: "):
                self.fixes[test] = line.strip()[len("fix: "):]
            elif line.startswith(" "):
                self.blocks[test].append(line.strip())
            elif re.match("high|medium|low", line):
                test = line.split()[1]
                self.blocks[test], self.ids[test] = [], re.search(r"\[(.*)\]$", line).group(1)


class Pool(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.programs = [Checked("pool_test.c", level) for level in LEVELS]

    def test_one_cause_one_advice(self):
        for program in self.programs:
            with self.subTest(program.level):
                fix = program.fixes["test_peek"]
                self.assertEqual(fix, "set it up at the beginning of test_peek, as test_words does")
                self.assertNotIn("test_words", program.blocks, "the table is not another cause than its size")
                left = [finding for finding in program.findings if finding["test"] == "test_words"]
                self.assertIn("words[0]", [finding["path"] for finding in left])
                self.assertEqual({finding["hint"] for finding in left}, {fix}, "what test_peek needs is not to be taken away")

    def test_pointers(self):
        """Whoever sets one has lost what it pointed to, or crashes: what closes the handle is named, and what counts is not."""
        for program in self.programs:
            with self.subTest(program.level):
                self.assertFalse([finding for finding in program.findings if "NULL" in (finding.get("hint") or "")])
                self.assertRegex(program.fixes["test_pool_is_empty"], "^restore it at the end of test_pool_opens: pool_used "
                                 r"\(\S*pool_test.c:18\) has to be 0 again; pool_close\(…\) may do that; 'polygraph "
                                 rf"repair {program.ids['test_pool_is_empty']}' looks for the call$")

    def test_statements(self):
        """Code is what a C file takes as it stands."""
        for program in self.programs:
            with self.subTest(program.level):
                self.assertEqual(program.fixes["test_no_colour"],
                                 "restore it at the end of test_colour: set the variable COLOUR back to what it was")
                self.assertEqual(program.fixes["test_no_size"], 'restore it at the end of test_size: setenv("SIZE", "large", 1)')
                self.assertEqual(program.fixes["test_has_no_folder"], "restore it at the end of test_makes_folder: "
                                 "remove the folder settings, or write to a new folder for each test")
                hints = [finding.get("hint") for finding in program.findings if finding.get("root") == "working-directory"]
                self.assertEqual(hints, ["restore it at the end of the test: chdir() back to the folder that getcwd() gave "
                                         "at its start"])


class Guest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not os.path.exists("/usr/include/gtest/gtest.h"):
            raise unittest.SkipTest("GoogleTest is not installed (Debian: libgtest-dev)")
        cls.programs = [Checked("guest_test.cc", level, "-lgtest", "-lgtest_main", "-pthread") for level in LEVELS]

    def test_first_value(self):
        """That of whoever uses it first, not what was there before it was initialised."""
        for program in self.programs:
            with self.subTest(program.level):
                lines = program.blocks["Visitor.IsGuest"]
                self.assertTrue(any(re.match(r'Login.Ada leaves \S+: "guest" → "ada"$', line) for line in lines), lines)
                self.assertRegex(program.fixes["Visitor.IsGuest"],
                                 r'^restore it in TearDown, after Login.Ada: \S+ \(\S*guest_test.cc:\d+\) has to be "guest" again; ')

    def test_private_members(self):
        """An element that has to go is named as a whole, and nothing says that a test could."""
        for program in self.programs:
            with self.subTest(program.level):
                self.assertRegex(program.fixes["Carriers.AreNone"], r"^restore it in TearDown, after Carriers.CanBeAdded: "
                                 r'\S+\.carriers_\["dhl"\] \(\S*guest_test.cc:\d+\) has to be gone again; Registry::instance\(\)\.remove\(…\) may do that; ')


def prepare(polygraph, folder):
    global POLYGRAPH, FOLDER
    POLYGRAPH, FOLDER = polygraph, folder
    return None


if __name__ == "__main__":
    sys.exit(runner.main("hints", prepare))
