#!/usr/bin/env python3
"""The points of a test in Java suites: what lies between which two of them, in each framework.

usage: test_jvm_points.py --polygraph PATH [-v] [TEST…]
"""

import unittest

from jvm import Suite, main, short

QUICK = ["--eager", "--no-effect", "--no-readers", "--sandbox", "never"]
POINTS = ["before-setup", "after-setup", "before-teardown", "after-teardown"]
# What each part of a test changes.
PARTS = ["setUp", "body", "tearDown"]


class Points(unittest.TestCase):
    def found(self, framework, *words):
        suite = Suite(f"points_{framework}", framework)
        _, report = suite.report("pollution", *QUICK, "--tests", "*PointsTest*", *words)
        self.assertEqual([test["name"] for test in report["tests"] if test["outcome"] != "pass"], [])
        found = {}
        for finding in report["findings"]:
            found.setdefault(short(finding["test"]), set()).add(finding["root"].replace("subject.PointsTest.", ""))
        return found

    def check(self, framework, bodies, pairs):
        for first, last in pairs:
            found = self.found(framework, "--capture", f"{POINTS[first]}..{POINTS[last]}")
            for test, body in bodies.items():
                wanted = set()
                for part in PARTS[first:last]:
                    wanted |= body if part == "body" else {part}
                self.assertEqual(found.get(f"PointsTest.{test}", set()), wanted, f"{test} {first}..{last}")

    def test_junit4(self):
        self.check("junit4", {"test": {"body", "body.txt"}, "throwing": {"thrown"}},
                   [(0, 1), (1, 2), (2, 3), (0, 2), (1, 3)])

    def test_junit5(self):
        self.check("junit5", {"test": {"body", "body.txt"}, "twice[1]": {"twice"}, "twice[2]": {"twice"}},
                   [(0, 1), (1, 2)])

    def test_testng(self):
        self.check("testng", {"test": {"body", "body.txt"}, "throwing": {"thrown"}, "twice": {"twice"}}, [(1, 2), (2, 3)])

    def test_readers(self):
        """Of what is changed between two points, too: they are looked for in another run."""
        suite = Suite("points_junit4", "junit4")
        status, report = suite.report("pollution", "--eager", "--only", "memory", "--sandbox", "never",
                                      "--tests", "*PointsTest*", "--capture", "after-setup..before-teardown")
        self.assertEqual((status, report["limits"]), (0, []))
        self.assertTrue(report["findings"])
        self.assertTrue(all(finding["readers_known"] for finding in report["findings"]))

    def test_limits_of_time(self):
        """A test that is given up by its framework is looked at no more; the one that runs is."""
        suite = Suite("points_junit4", "junit4")
        _, report = suite.report("pollution", *QUICK, "--tests", "*LimitsTest*", "--capture",
                                 "after-setup..before-teardown")
        self.assertEqual({test["outcome"] for test in report["tests"] if short(test["name"])[-2] == "u"}, {"pass"})
        self.assertLessEqual({test["outcome"] for test in report["tests"]}, {"pass", "fail"})
        self.assertEqual({finding["root"] for finding in report["findings"]} - {"subject.LimitsTest.all"}, set())

    def test_slow_way(self):
        """Other collectors, and other versions of Java: all is found, and the limit says why it is slow."""
        for words, env, why in (
            (["-XX:+UseShenandoahGC"], {}, "its collector is not Serial, Parallel or G1"),
            ([], {"POLYGRAPH_FAULT_VM_VERSION": "1"}, "this is not HotSpot of Java 17 to 21"),
        ):
            suite = Suite("points_junit4", "junit4", words)
            _, report = suite.report("pollution", *QUICK, "--tests", "*PointsTest.test", env=env)
            self.assertEqual(sorted(finding["root"].replace("subject.PointsTest.", "") for finding in report["findings"]),
                             ["body", "body.txt", "setUp", "tearDown"])
            self.assertEqual(report["limits"], [f"pollution: heaps are compared the slow way: {why}"])

    def test_consecutive(self):
        """From the end of a set-up to that of the next: all that the test, its tear-down and that set-up did."""
        found = self.found("junit4", "--capture", "after-setup..after-setup")
        self.assertEqual(sum(roots >= {"setUp", "tearDown"} for roots in found.values()), 1)


if __name__ == "__main__":
    main()
