#!/usr/bin/env python3
"""Choices in Java: fragile tests are found, with the API, the level and the call; correct ones are not.

usage: test_jvm_choices.py --polygraph PATH [--full] [-v] [TEST…]

The subject is tests/subjects/jvm/choices: fragile_… and correct_…. By default a few tests of it run, with --full all, at
all levels: that takes half an hour.
"""

import re
import subprocess
import sys
import unittest

from jvm import Java, Suite, main, short

FULL = "--full" in sys.argv
if FULL:
    sys.argv.remove("--full")

# The API that each fragile test assumes too much of, where its name does not say it.
APIS = {
    "hashMap": "HashMap", "weak": "WeakHashMap", "concurrent": "ConcurrentHashMap", "hashtable": "Hashtable",
    "identity": "IdentityHashMap",
}
NAMES = {
    "hashSet": "HashSet", "hashSet_stream": "HashSet", "hashSet_toArray": "HashSet", "setOf": "Set.of", "mapOf": "Map.of",
    "priorityQueue": "PriorityQueue.iterator", "priorityQueue_toArray": "PriorityQueue.toArray",
    "priorityBlockingQueue": "PriorityBlockingQueue", "delayQueue": "DelayQueue", "file_list": "File.list",
    "file_listFiles": "File.listFiles", "newDirectoryStream": "Files.newDirectoryStream",
    "getAvailableLocales": "getAvailableLocales", "getISOCountries": "Locale.getISOCountries",
    "getISOLanguages": "Locale.getISOLanguages", "getAvailableIDs": "TimeZone.getAvailableIDs",
    "getZoneStrings": "DateFormatSymbols.getZoneStrings", "read": "InputStream.read", "readText": "Reader.read",
    "skip": "InputStream.skip", "wait": "Object.wait", "await": "Condition.await", "getAnnotations": "getAnnotations",
    "getDeclaredAnnotations": "getDeclaredAnnotations", "getExceptionTypes": "getExceptionTypes",
    # Which asks the latter where no type has a parameter.
    "getGenericExceptionTypes": "getExceptionTypes",
}


def api_of(test):
    name = short(test).replace("ChoicesTest.fragile_", "")
    first, _, rest = name.partition("_")
    if first in APIS:
        return f"{APIS[first]}.{rest}"
    return NAMES.get(name, f"Class.{name}")


class Choices(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.suite = Suite("choices", "junit4")

    def find(self, *tests, level="full", more=()):
        patterns = [word for test in tests for word in ("--tests", f"*{test}")]
        words = ["--baselines", 1, "--runs", 4 if FULL else 2, "--repeat", 1, "--level", level, *patterns, *more]
        _, report = self.suite.report("choices", *words)
        bad = [test["name"] for test in report["tests"] if test["outcome"] != "pass"]
        self.assertEqual(bad, [])
        return {short(finding["test"]).replace("ChoicesTest.", ""): finding for finding in report["findings"]}

    def test_consistent(self):
        """At level one what is literally expected is found, what is only compared with itself is not."""
        found = self.find("fragile_hashSet", "fragile_identity_entrySet", "correct_linked", "correct_hashMap", level="one")
        self.assertEqual(set(found), {"fragile_hashSet"})
        finding = found["fragile_hashSet"]
        self.assertEqual((finding["kind"], finding["api"], finding["level"]), ("assumption", "HashSet", "one"))
        frame = finding["call"]["stack"][0]
        self.assertEqual(frame["function"], "subject.ChoicesTest.fragile_hashSet")
        self.assertEqual(frame["file"], "subject/ChoicesTest.java")
        self.assertGreater(frame["line"], 0)
        again = subprocess.run([str(Java.polygraph), "replay", finding["id"]], cwd=self.suite.cwd, capture_output=True, text=True,
                               timeout=300)
        self.assertEqual(again.returncode, 1, again.stdout + again.stderr)
        self.assertIn("ComparisonFailure", again.stdout + again.stderr)

    def test_every_call(self):
        found = self.find("fragile_identity_entrySet", "fragile_read", "fragile_getMethods", "correct_read", "correct_identity",
                          "correct_priorityQueue")
        self.assertEqual({test: finding["api"] for test, finding in found.items()},
                         {"fragile_identity_entrySet": "IdentityHashMap.entrySet", "fragile_read": "InputStream.read",
                          "fragile_getMethods": "Class.getMethods"})

    def test_levels_between(self):
        """Equal sets of different objects are alike at level eq, and one object stays as it is at level id."""
        levels = Suite("levels", "junit4")
        for level, tests in (("eq", ("eq", "id")), ("id", ("id", "full", "never"))):
            words = [word for test in tests for word in ("--tests", f"*LevelsTest.{test}")]
            _, report = levels.report("choices", "--baselines", 1, "--runs", 3, "--repeat", 1, "--level", level, *words)
            self.assertEqual([short(finding["test"]) for finding in report["findings"]], [f"LevelsTest.{level}"])
            self.assertEqual([finding["level"] for finding in report["findings"]], [level])

    def test_systematic(self):
        """Every order of three elements, each in a new VM: one of six is what the test expects."""
        levels = Suite("levels", "junit4")
        _, report = levels.report("choices", "--baselines", 1, "--repeat", 1, "--systematic", "--api", "HashSet",
                                  "--tests", "*LevelsTest.one", "--tests", "*LevelsTest.never")
        self.assertEqual([short(finding["test"]) for finding in report["findings"]], ["LevelsTest.one"])
        finding = report["findings"][0]
        self.assertEqual((finding["runs"], finding["failures"]), (6, 5))
        self.assertAlmostEqual(finding["probability"], 5 / 6)
        self.assertEqual(finding["critical"][0]["stack"][0]["function"], "subject.LevelsTest.one")

    @unittest.skipUnless(FULL, "half an hour: --full")
    def test_all(self):
        found, seen = {}, set()
        _, report = self.suite.report("list")
        names = [short(test["name"]) for test in report["tests"]]
        for level in ("full", "id", "one"):
            for name, finding in self.find("*", level=level).items():
                seen.add(finding["api"])
                found.setdefault(name, finding["api"])
        self.assertEqual([name for name in found if not name.startswith("fragile")], [])
        for name in names:
            short_name = name.replace("ChoicesTest.", "")
            if re.match("fragile", short_name):
                self.assertEqual(found.get(short_name), api_of(name), short_name)


if __name__ == "__main__":
    main()
