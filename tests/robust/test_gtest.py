#!/usr/bin/env python3
"""GoogleTest beyond its subject: set-ups above the fixture that skip or fail, and a driver that does not start a test.

usage: test_gtest.py --polygraph PATH [-v] [TEST…]
"""
import json
import os
import pathlib
import subprocess
import sys
import time
import unittest

import runner

HERE = pathlib.Path(__file__).resolve().parent
POLYGRAPH = None
FOLDER = None
ORDERS = ([], ["--reverse"], ["--alone"])


def compile_program(name, *libraries):
    program = os.path.join(FOLDER, name)
    if not os.path.exists(program):
        subprocess.run(["g++", "-g", "-O0", HERE / f"gtest/{name}.cc", "-o", program, *libraries], check=True)
    return program


def run(program, *options, arguments=(), **environment):
    """(exit status, {test: its entry in the JSON report}, what it said); everything ends long before a timeout."""
    output = os.path.join(FOLDER, "report.json")
    if os.path.exists(output):
        os.unlink(output)
    done = subprocess.run([POLYGRAPH, "run", "--timeout", "100s", "--format", "json", "--output", output, *options, "--",
                           program, *arguments],
                          env={**os.environ, **environment}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=FOLDER,
                          text=True, timeout=90)
    tests = {}
    if os.path.exists(output):
        with open(output, encoding="utf-8") as file:
            tests = {test["name"]: test for test in json.load(file)["tests"]}
    return done.returncode, tests, done.stderr


class SetUp(unittest.TestCase):
    def setUp(self):
        if not os.path.exists("/usr/include/gtest/gtest.h"):
            self.skipTest("GoogleTest is not installed (Debian: libgtest-dev)")
        self.program = compile_program("set_up", "-lgtest", "-pthread")

    def check(self, expected, **environment):
        for order in ORDERS:
            with self.subTest(order=order):
                _, tests, _ = run(self.program, *order, **environment)
                self.assertEqual({name: test["outcome"] for name, test in tests.items()}, expected)

    def test_content(self):
        self.check({"Suite.One": "pass", "Suite.Two": "fail", "Other.One": "pass", "Other.Two": "fail"})

    def check_suite(self, word):
        """Whether tests run after that depends on the version; its own report says so."""
        report = os.path.join(FOLDER, "own.json")
        subprocess.run([self.program, f"--gtest_output=json:{report}"], env={**os.environ, "SUITE": word},
                       stdout=subprocess.DEVNULL)
        with open(report, encoding="utf-8") as file:
            own = {f"{suite['name']}.{test['name']}": "fail" if "failures" in test else
                   "pass" if test["result"] == "COMPLETED" else "skip"
                   for suite in json.load(file)["testsuites"] for test in suite["testsuite"] if test["name"]}
        self.assertEqual(len(own), 4)
        self.check(own, SUITE=word)

    def test_suite_skips(self):
        self.check_suite("skip")

    def test_suite_fails(self):
        self.check_suite("fail")

    def check_global(self, word, *texts):
        self.check({"Suite.One": "skip", "Suite.Two": "skip", "Other.One": "skip", "Other.Two": "skip"}, GLOBAL=word)
        _, tests, _ = run(self.program, GLOBAL=word)
        for test in tests.values():
            for text in texts:
                self.assertIn(text, test["failure"]["message"])
            self.assertTrue(test["failure"]["file"].endswith("set_up.cc"))

    def test_global_skips(self):
        self.check_global("skip", "Environment::SetUp() skips all tests", "the machine is not for this")
        self.assertEqual(run(self.program, GLOBAL="skip")[0], 0)

    def test_global_fails(self):
        self.check_global("fail", "Environment::SetUp() failed", "the machine is broken")

    def check_outside(self, expected, *options, **environment):
        done = subprocess.run([POLYGRAPH, "run", *options, self.program], env={**os.environ, **environment}, cwd=FOLDER,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=90)
        text = "the program ended with exit status 1 although no test failed: something around its tests did"
        self.assertEqual(text in done.stdout, expected, done.stdout)

    def test_failures_outside_of_tests(self):
        self.check_outside(True, GLOBAL="fail")
        self.check_outside(True, "--tests", "!Other.Two", SUITE="fail")
        self.check_outside(False, GLOBAL="skip")
        self.check_outside(False, "--tests", "*.One")
        self.check_outside(False)

    def test_global_in_all_orders(self):
        done = subprocess.run([POLYGRAPH, "order", self.program], env={**os.environ, "GLOBAL": "skip"}, cwd=FOLDER,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=90)
        self.assertEqual(done.returncode, 0, done.stdout)


class NotBegun(unittest.TestCase):
    def setUp(self):
        self.program = compile_program("not_begun")

    def test_begins(self):
        for order in ORDERS:
            status, tests, said = run(self.program, *order)
            self.assertEqual(status, 0, said)
            self.assertEqual({name: test["outcome"] for name, test in tests.items()},
                             {"First.One": "pass", "Second.Two": "pass"})

    def test_refuses(self):
        for order in ORDERS:
            with self.subTest(order=order):
                start = time.monotonic()
                status, _, said = run(self.program, *order, arguments=["refuse"])
                self.assertEqual(status, 3, said)
                self.assertIn("gtest was made to run the test 'Second.Two' and returned without it having begun", said)
                self.assertIn("--tests '!Second.Two'", said)
                self.assertLess(time.monotonic() - start, 60)

    def test_without_it(self):
        status, tests, said = run(self.program, "--tests", "!Second.Two", arguments=["refuse"])
        self.assertEqual(status, 0, said)
        self.assertEqual(tests["First.One"]["outcome"], "pass")


def prepare(polygraph, folder):
    global POLYGRAPH, FOLDER
    POLYGRAPH, FOLDER = polygraph, folder
    return None


if __name__ == "__main__":
    sys.exit(runner.main("gtest", prepare))
