#!/usr/bin/env python3
"""Time stamps of files, and floating-point exceptions: what is left there is worth little, unless it misleads a test.

usage: test_stamps.py --polygraph PATH [-v] [TEST…]

The one command that runs a failing test again is this one with its name, e.g. Stamps.test_commands.
"""
import json
import os
import subprocess
import sys
import unittest

import runner

POLYGRAPH = None
FOLDER = None

# The reader fails after it, for a reason that is known to be the content, the stamp, or neither.
TOUCHES = "touch -d 2020-01-01 data.txt"
WRITES = "echo changed > data.txt"
NOT_OLDER = "cat data.txt; test ! data.txt -ot old.txt"
UNCHANGED = "grep -q original data.txt"

FLOATS = """
#include <assert.h>
#include <fenv.h>
#include <stdio.h>
static volatile double zero;
__attribute__((noinline)) void test_divides(void) { volatile double far = 1 / zero; (void)far; }
__attribute__((noinline)) void test_wants_none(void) { assert(!READS || !fetestexcept(FE_DIVBYZERO)); }
__attribute__((noinline)) void test_traps(void) { if (TRAPS) { feclearexcept(FE_ALL_EXCEPT); feenableexcept(FE_OVERFLOW); } }
__attribute__((noinline)) void test_rounds(void) { if (TRAPS) fesetround(FE_UPWARD); }
int main(void) { test_wants_none(); test_divides(); test_traps(); test_rounds(); puts("done"); return 0; }
"""


class Stamps(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = os.path.join(FOLDER, self.id().rsplit(".", 1)[-1])
        os.mkdir(self.folder)

    def findings(self, command, *words):
        run = subprocess.run([POLYGRAPH, command, "--format=json", *words], cwd=self.folder, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True, check=False, timeout=300)
        self.assertIn(run.returncode, (0, 1, 3), run.stderr)
        return json.loads(run.stdout)["findings"]

    def commands(self, command, *lines):
        for name, text, stamp in (("data.txt", "original\n", "2022-01-01"), ("old.txt", "", "2021-01-01")):
            with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
                file.write(text)
            subprocess.run(["touch", "-d", stamp, name], cwd=self.folder, check=True)
        with open(os.path.join(self.folder, "suite"), "w", encoding="utf-8") as file:
            file.write("".join(f"{line}\n" for line in lines))
        return self.findings(command, "--commands", "suite")

    def severities(self, findings):
        return {(finding["kind"], finding["test"]): finding["severity"] for finding in findings}

    def test_commands(self):
        found = self.severities(self.commands("pollution", TOUCHES, NOT_OLDER))
        self.assertEqual(found, {("pollution", TOUCHES): "medium"})
        found = self.severities(self.commands("pollution", TOUCHES))
        self.assertEqual(found, {("pollution", TOUCHES): "low"})

    def test_commands_content(self):
        """The twin: what is in the file."""
        found = self.severities(self.commands("pollution", WRITES, UNCHANGED))
        self.assertEqual(found, {("pollution", WRITES): "high"})

    def test_commands_misled(self):
        """The twin: who looks at the stamp, and fails by it."""
        found = self.severities(self.commands("check", TOUCHES, NOT_OLDER))
        self.assertEqual(found.get(("order-dependent", NOT_OLDER)), "high")

    def floats(self, *flags):
        program = os.path.join(self.folder, "floats")
        with open(program + ".c", "w", encoding="utf-8") as file:
            file.write("#define _GNU_SOURCE\n" + FLOATS)
        subprocess.run(["gcc", "-g", "-o", program, program + ".c", *flags, "-lm"], check=True)
        return self.findings("check", "--fresh", program)

    def test_floats(self):
        self.assertEqual(self.floats("-DREADS=0", "-DTRAPS=0"), [])

    def test_floats_that_trap(self):
        """The twins: what traps from then on, and how is rounded."""
        found = {(finding["test"], finding["root"]): finding for finding in self.floats("-DREADS=0", "-DTRAPS=1")}
        self.assertEqual(set(found), {("test_traps", "floating-point-exceptions"), ("test_rounds", "rounding-mode")})
        trap = found["test_traps", "floating-point-exceptions"]
        self.assertEqual((trap["before"], trap["after"]), ("trapping: none", "trapping: overflow"))
        self.assertIn("fedisableexcept", trap["hint"])

    def test_floats_that_mislead(self):
        """The twin: who looks at the flags, and fails by them."""
        found = self.floats("-DREADS=1", "-DTRAPS=0")
        self.assertEqual([(finding["kind"], finding["test"], finding["polluted"]) for finding in found],
                         [("order-dependent", "test_wants_none", ["floating-point-exceptions"])])


def prepare(polygraph, folder):
    global POLYGRAPH, FOLDER
    POLYGRAPH, FOLDER = polygraph, folder
    return None


if __name__ == "__main__":
    sys.exit(runner.main("stamps", prepare))
