#!/usr/bin/env python3
"""Pollution of Java suites outside of the heap: files and process state, each with its twin.

usage: test_jvm_outside.py --polygraph PATH [-v] [TEST…]

A test of tests/subjects/jvm/outside says above itself what it leaves: "// leaves: ROOT: BEFORE → AFTER", "*" is anything. A test
that says nothing leaves nothing. $TMPDIR is the temporary folder.
"""

import os
import re
import tempfile
import unittest

from jvm import SUBJECTS, Java, Suite, main, short

TEST = re.compile(r"(?:// leaves: (.*): (.*) → (.*)\n\s*)?@Test public void (\w+)")
QUICK = ["--no-effect", "--no-readers", "--sandbox", "never"]


def expected(name):
    """Test to what it leaves: (root, before, after), or None."""
    source = (SUBJECTS / "outside" / f"{name}.java").read_text()
    return {f"{name}.{test}": (root, before, after) if root else None for root, before, after, test in TEST.findall(source)}


class Outside(unittest.TestCase):
    def setUp(self):
        self.suite = Suite("outside", "junit4")
        # Java's own temporary folder is /tmp, whatever TMPDIR is.
        self.temporary = tempfile.mkdtemp(dir=Java.folder)
        self.suite.vm = [f"-Djava.io.tmpdir={self.temporary}"]
        self.env = {"TMPDIR": self.temporary}

    def report(self, *words):
        _, report = self.suite.report("pollution", *words, env=self.env)
        self.assertEqual([test["name"] for test in report["tests"] if test["outcome"] != "pass"], [])
        found = {}
        for finding in report["findings"]:
            found.setdefault(short(finding["test"]), []).append(finding)
        return report, found

    def check(self, name, *words):
        _, found = self.report("--tests", f"*{name}.*", *words)
        for test, wanted in expected(name).items():
            roots = [finding["root"] for finding in found.get(test, [])]
            if wanted is None:
                self.assertEqual(roots, [], test)
                continue
            root = wanted[0].replace("$TMPDIR", self.temporary)
            self.assertIn(root, roots, test)
            finding = found[test][roots.index(root)]
            for field, value in zip(("before", "after"), wanted[1:]):
                if value != "*":
                    self.assertEqual(finding[field], value, test)
            # A lock is held by an open descriptor: that is left, too.
            others = [other for other in roots if other != root and not root.startswith("lock[")]
            self.assertEqual(others, [], test)

    def test_files(self):
        self.check("FilesTest", *QUICK)

    def test_files_walk(self):
        self.check("FilesTest", *QUICK, "--only", "files", "--file-tracking", "walk", "--watch-dir", self.suite.cwd,
                   "--watch-dir", self.temporary)

    def test_folder_of_a_fixture(self):
        """Its generated name is masked, too, so that findings keep theirs."""
        _, found = self.report(*QUICK, "--tests", "*FolderTest.*")
        self.assertEqual([finding["root"] for finding in found["FolderTest.leaves"]],
                         [f"{self.temporary}/sharedXXXXXX/left.txt"])
        self.assertEqual(found["FolderTest.leaves"][0]["severity"], "low")

    def test_process(self):
        self.check("ProcessTest", *QUICK)

    def test_only(self):
        _, found = self.report(*QUICK, "--only", "memory")
        self.assertEqual(found, {})
        _, found = self.report(*QUICK, "--only", "process")
        self.assertEqual({finding["where"] for findings in found.values() for finding in findings}, {"process"})
        _, found = self.report(*QUICK, "--only", "files")
        self.assertEqual({finding["where"] for findings in found.values() for finding in findings}, {"file"})

    def test_effect_and_readers(self):
        _, found = self.report("--sandbox", "never", "--tests", "*FilesTest.*")
        changes = found["FilesTest.c_changes"][0]
        self.assertEqual([short(name) for name in changes["readers"]], ["FilesTest.l_reads"])
        self.assertEqual(changes["effect"], "accumulates")
        self.assertEqual(found["FilesTest.a_creates"][0]["effect"], "settles")
        self.assertEqual(found["FilesTest.a_creates"][0]["readers"], [])

    def test_nothing_stays(self):
        """Files are as they were, and the same is found a second time."""
        first, _ = self.report(*QUICK, "--sandbox", "auto")
        self.assertEqual(os.listdir(self.suite.cwd), [".polygraph"])
        second, _ = self.report(*QUICK, "--sandbox", "auto")
        self.assertEqual([finding["id"] for finding in first["findings"]], [finding["id"] for finding in second["findings"]])


if __name__ == "__main__":
    main()
