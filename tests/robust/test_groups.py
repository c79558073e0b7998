#!/usr/bin/env python3
"""A runner that forks for each test and ends what the test had started: that is left by nobody.

usage: test_groups.py --polygraph PATH [-v] [TEST…]

The one command that runs a failing test again is this one with its name, e.g. Groups.test_ended.
"""
import json
import os
import subprocess
import sys
import unittest

import runner

HERE = os.path.dirname(os.path.abspath(__file__))
POLYGRAPH = None
FOLDER = None


class Groups(unittest.TestCase):
    maxDiff = None

    def found(self, name, *flags):
        program = os.path.join(FOLDER, name)
        subprocess.run(["gcc", "-g", "-o", program, *flags, os.path.join(HERE, "groups.c")], check=True)
        run = subprocess.run([POLYGRAPH, "pollution", "--format=json", program], cwd=FOLDER, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True, check=False, timeout=300)
        self.assertIn(run.returncode, (0, 1), run.stderr)
        return {(finding["test"], finding["root"]) for finding in json.loads(run.stdout)["findings"]}

    def test_ended(self):
        self.assertEqual(self.found("ended", "-DESCAPES=0"), set())

    def test_escaped(self):
        """The twin: one is in a session of its own."""
        self.assertEqual(self.found("escaped", "-DESCAPES=1"), {("test_escapes", "child[escaped]")})

    def test_left(self):
        """The twin: nobody ends them."""
        self.assertEqual(self.found("left", "-DESCAPES=0", "-DLEAVES"),
                         {("test_starts", "child[left]"), ("test_starts_last", "child[left]")})


def prepare(polygraph, folder):
    global POLYGRAPH, FOLDER
    POLYGRAPH, FOLDER = polygraph, folder
    return None


if __name__ == "__main__":
    sys.exit(runner.main("groups", prepare))
