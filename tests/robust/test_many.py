#!/usr/bin/env python3
"""Orders of many tests: what they cost grows with the tests, not with the pairs of them.

usage: test_many.py --polygraph PATH [-v] [TEST…]

Where a framework has no list of tests, those that are not wanted are skipped by the program itself. A stop for each
would be a stop for each pair of tests in a reversed order. Stops are counted, not timed: a process that stops is a
voluntary context switch.
"""
import json
import os
import pathlib
import subprocess
import sys
import unittest

import runner

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "harness"))
import build  # noqa: E402 (it lies in another folder)
import parts  # noqa: E402

POLYGRAPH = None
FOLDER = None
COUNT = 2000        # a stop for each pair would be a thousand for each test
SWITCHES = 60       # at most for each test, in the tested processes and in ours
LAST = COUNT - 1

# Each test knows its number; the last one fails after the first, not before it.
GREATEST = f"""
#include "greatest.h"
static int first_ran;
TEST first(void) {{ first_ran = 1; PASS(); }}
TEST number(int i) {{ ASSERT(i != 1000); PASS(); }}
TEST last(void) {{ ASSERT_FALSE(first_ran); PASS(); }}
SUITE(many)
{{
	RUN_TEST(first);
	for (int i = 1; i < {LAST}; i++)
		RUN_TESTp(number, i);
	RUN_TEST(last);
}}
GREATEST_MAIN_DEFS();
int main(int argc, char **argv)
{{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(many);
	GREATEST_MAIN_END();
}}
"""


class Greatest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        try:
            component = build.Builder(pathlib.Path(POLYGRAPH).parent).component("greatest", "greatest-1.5")
        except parts.Unavailable as reason:
            raise unittest.SkipTest(str(reason)) from None
        source = os.path.join(FOLDER, "many.c")
        with open(source, "w", encoding="ascii") as file:
            file.write(GREATEST)
        cls.program = source[:-2]
        subprocess.run(["gcc", "-g", "-O2", *component["cflags"], "-o", cls.program, source], check=True)

    def check(self, failing, *options):
        output = os.path.join(FOLDER, "report.json")
        child = subprocess.Popen([POLYGRAPH, "run", "--format", "json", "--output", output, *options, self.program],
                                 cwd=FOLDER)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(child.returncode, 3)
        with open(output, encoding="utf-8") as file:
            tests = json.load(file)["tests"]
        self.assertEqual(len(tests), COUNT)
        self.assertEqual({test["name"] for test in tests if test["outcome"] == "fail"}, failing)
        self.assertEqual(sum(test["outcome"] == "pass" for test in tests), COUNT - len(failing))
        self.assertLess(usage.ru_nvcsw, COUNT * SWITCHES)

    def test_own_sequence(self):
        self.check({"many/number#1000", "many/last"})

    def test_reversed(self):
        self.check({"many/number#1000"}, "--reverse")

    def test_alone(self):
        self.check({"many/number#1000"}, "--alone")


def prepare(polygraph, folder):
    global POLYGRAPH, FOLDER
    POLYGRAPH, FOLDER = polygraph, folder


if __name__ == "__main__":
    sys.exit(runner.main("many", prepare))
