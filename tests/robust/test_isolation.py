#!/usr/bin/env python3
"""Frameworks that give each test a process of its own: what memory carries shows only without that, and is low.

usage: test_isolation.py --polygraph PATH [-v] [TEST…]

Files and what else outlives a process is high, as ever; so is all where the user's own runs have one process. The one
command that runs a failing test again is this one with its name, e.g. Isolation.test_check.
"""
import json
import os
import subprocess
import sys
import unittest

import runner

POLYGRAPH = None
FOLDER = None

BODIES = """
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
static int level, twice;
#define WANTS(check) check(level == 0)
#define SETS level = 1
#define ONCE(check) check(twice++ == 0)
#define READS(check) check(access("left.flag", F_OK) != 0)
#define WRITES { FILE *file = fopen("left.flag", "w"); fclose(file); }
#define FINDS(check) { int fd = shm_open("/polygraph-isolation", O_RDONLY, 0); check(fd < 0); }
#define SHARES { int fd = shm_open("/polygraph-isolation", O_RDWR | O_CREAT, 0600); close(fd); }
"""
CHECK = """
#include <check.h>
""" + BODIES + """
START_TEST(wants) { WANTS(ck_assert); } END_TEST
START_TEST(sets) { SETS; } END_TEST
START_TEST(once) { ONCE(ck_assert); } END_TEST
START_TEST(reads) { READS(ck_assert); } END_TEST
START_TEST(writes) WRITES END_TEST
START_TEST(finds) FINDS(ck_assert) END_TEST
START_TEST(shares) SHARES END_TEST
int main(void)
{
	Suite *suite = suite_create("s");
	TCase *tests = tcase_create("t");
	tcase_add_test(tests, wants);
	tcase_add_test(tests, sets);
	tcase_add_test(tests, once);
	tcase_add_test(tests, reads);
	tcase_add_test(tests, writes);
	tcase_add_test(tests, finds);
	tcase_add_test(tests, shares);
	suite_add_tcase(suite, tests);
	SRunner *runner = srunner_create(suite);
	if (CHOICE)
		srunner_set_fork_status(runner, CHOICE);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
"""
CRITERION = """
#include <criterion/criterion.h>
""" + BODIES + """
Test(s, wants) { WANTS(cr_assert); }
Test(s, sets) { SETS; }
Test(s, once) { ONCE(cr_assert); }
Test(s, reads) { READS(cr_assert); }
Test(s, writes) WRITES
Test(s, finds) FINDS(cr_assert)
Test(s, shares) SHARES
"""
FLAKY = """
#include <check.h>
#include <time.h>
static int level;
static int thrown(void) { struct timespec now; clock_gettime(CLOCK_MONOTONIC, &now); return now.tv_nsec / 1000 % 2; }
START_TEST(after) { ck_assert(!level || thrown()); } END_TEST
START_TEST(sets) { level = 1; } END_TEST
START_TEST(alone) { ck_assert(thrown()); } END_TEST
int main(void)
{
	Suite *suite = suite_create("s");
	TCase *tests = tcase_create("t");
	tcase_add_test(tests, after);
	tcase_add_test(tests, sets);
	tcase_add_test(tests, alone);
	suite_add_tcase(suite, tests);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
"""
INSIDE = {"wants", "once"}
OUTSIDE = {"reads", "finds"}
LEAVES_INSIDE = {("sets", "level"), ("once", "twice")}


def build(name, package, source, *flags):
    """The program; None where the framework is not installed."""
    found = subprocess.run(["pkg-config", "--cflags", "--libs", package], stdout=subprocess.PIPE,
                           stderr=subprocess.DEVNULL, text=True, check=False)
    if found.returncode:
        return None
    path = os.path.join(FOLDER, name)
    with open(path + ".c", "w", encoding="utf-8") as file:
        file.write(source)
    subprocess.run(["gcc", "-g", "-w", "-o", path, path + ".c", *flags, *found.stdout.split(), "-lrt"], check=True)
    return path


class Isolation(unittest.TestCase):
    maxDiff = None

    def findings(self, program, *words, **environment):
        run = subprocess.run([POLYGRAPH, *words, "--format=json", program], cwd=FOLDER, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True, check=False, timeout=300,
                             env={**os.environ, **environment})
        self.assertIn(run.returncode, (0, 1, 3), run.stderr)
        return json.loads(run.stdout)["findings"]

    def check(self, program, name, **environment):
        """@name: the framework that isolates the tests; None: nobody does."""
        if not program:
            self.skipTest("the framework is not installed")
        findings = self.findings(program, "check", "--fresh", **environment)
        seen = {}
        for finding in findings:
            test = finding["test"].replace("::", "/").rsplit("/", 1)[-1]
            if finding["kind"] == "order-dependent":
                seen[test] = finding["severity"], finding.get("isolation")
            elif (test, finding.get("root")) in LEAVES_INSIDE:
                self.assertEqual(finding["severity"] == "low" and "isolation" in finding, bool(name), finding)
            else:
                self.assertNotIn("isolation", finding)
        self.assertEqual(set(seen), INSIDE | OUTSIDE)
        for test in OUTSIDE:
            self.assertEqual(seen[test], ("high", None), test)
        for test in INSIDE:
            severity, isolation = seen[test]
            if name:
                self.assertEqual(severity, "low", test)
                self.assertIn(name, isolation)
            else:
                self.assertIn(severity, ("high", "medium"), test)
                self.assertIsNone(isolation)

    def test_check(self):
        self.check(build("forks", "check", CHECK, "-DCHOICE=0"), "Check", CK_FORK="yes")

    def test_check_by_environment(self):
        self.check(build("asks", "check", CHECK, "-DCHOICE=0"), None, CK_FORK="no")

    def test_check_by_program(self):
        """What the program chose counts, whatever the environment says."""
        self.check(build("shares", "check", CHECK, "-DCHOICE=CK_NOFORK"), None, CK_FORK="yes")
        self.check(build("insists", "check", CHECK, "-DCHOICE=CK_FORK"), "Check", CK_FORK="no")

    def test_criterion(self):
        self.check(build("criterion", "criterion", CRITERION), "Criterion")

    def test_flaky(self):
        """By chance, but only after another test. The twin: also alone."""
        program = build("flaky", "check", FLAKY)
        if not program:
            self.skipTest("the framework is not installed")
        for choice, after in (("yes", "low"), ("no", "high")):
            for finding in self.findings(program, "order", "--fresh", CK_FORK=choice):
                if finding["kind"] != "flaky":
                    continue
                wanted = "high" if finding["test"] == "s/t/alone" else after
                self.assertEqual((finding["severity"], "isolation" in finding), (wanted, wanted == "low"), finding)

    def test_texts(self):
        program = build("told", "check", CHECK, "-DCHOICE=CK_FORK")
        if not program:
            self.skipTest("the framework is not installed")
        for words in (("--format=text",), ("--format=text", "--verbose"), ("--format=junit",), ("--format=sarif",)):
            run = subprocess.run([POLYGRAPH, "check", "--fresh", "--fail-on=low", *words, program], cwd=FOLDER,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, timeout=300)
            said = " ".join(run.stdout.split())
            self.assertIn("only where tests share a process, and Check runs them in processes of their own", said)


def prepare(polygraph, folder):
    global POLYGRAPH, FOLDER
    POLYGRAPH, FOLDER = polygraph, folder
    return None


if __name__ == "__main__":
    sys.exit(runner.main("isolation", prepare))
