#!/usr/bin/env python3
"""Pollution of Java heaps: each kind of state with its twin, by every collector and both ways of looking at the heap.

usage: test_jvm_pollution.py --polygraph PATH [-v] [TEST…]

A test of tests/subjects/jvm/pollution says above itself what it leaves: "// leaves: PATH: BEFORE → AFTER". A test that says
nothing leaves nothing.
"""

import re
import unittest

from jvm import SUBJECTS, Suite, main, short

TEST = re.compile(r"(?:// leaves: (.*?): (.*)\n\s*)?@Test public void (\w+)")
OPTIONS = ["--container", "subject.State$Ring: sequence first=items count=used",
           "--container", "subject.State$Statistics: skip",
           "--exclude-fields", r"\.lastUsed$", "--exclude-roots", r"State\.excluded$"]
QUICK = ["--no-effect", "--no-readers", "--sandbox", "never"]
COLLECTORS = ("-XX:+UseSerialGC", "-XX:+UseParallelGC", "-XX:+UseG1GC")
WORDS = ["-Duser.timezone=UTC", "-Duser.language=en", "-Duser.region=US", "--add-opens=java.base/java.util=ALL-UNNAMED"]


def expected():
    """Test name to what it leaves: (path, "before → after"), or None."""
    found = {}
    for source in sorted((SUBJECTS / "pollution").glob("*Test.java")):
        for path, values, name in TEST.findall(source.read_text()):
            found[f"{source.stem}.{name}"] = (path, values) if path else None
    return found


def leftovers(report):
    found = {}
    for finding in report["findings"]:
        found.setdefault(short(finding["test"]), []).append((finding["path"], f"{finding['before']} → {finding['after']}"))
    return found


class Heap(unittest.TestCase):
    def check(self, vm, *words, limits=()):
        suite = Suite("pollution", "junit4", WORDS + list(vm))
        _, report = suite.report("pollution", "--eager", *QUICK, *OPTIONS, *words)
        found = leftovers(report)
        self.assertEqual([test["name"] for test in report["tests"] if test["outcome"] != "pass"], [])
        for name, wanted in expected().items():
            if wanted is None:
                self.assertEqual(found.get(name, []), [], name)
            elif wanted[1] == "*":
                self.assertEqual([path for path, _ in found.get(name, [])], [wanted[0]], name)
            else:
                self.assertEqual(found.get(name), [wanted], name)
        self.assertEqual(report["limits"], list(limits))

    def test_serial(self):
        self.check(["-XX:+UseSerialGC"])

    def test_parallel(self):
        self.check(["-XX:+UseParallelGC"])

    def test_g1(self):
        self.check(["-XX:+UseG1GC"])

    def test_wide_references(self):
        self.check(["-XX:+UseSerialGC", "-XX:-UseCompressedOops"])

    def test_wide_classes(self):
        self.check(["-XX:+UseSerialGC", "-XX:-UseCompressedClassPointers"])

    def test_slow_way(self):
        self.check([], "--page-tracking", "compare")

    def test_other_collector(self):
        self.check(["-XX:+UseZGC"],
                   limits=["pollution: heaps are compared the slow way: its collector is not Serial, Parallel or G1"])


class Steps(unittest.TestCase):
    """Only what changed is examined: that says the same as graphs by JVMTI, which are always made anew."""

    told = None

    def found(self, vm, *words):
        suite = Suite("pollution_steps", "junit4", WORDS + list(vm))
        _, report = suite.report("pollution", "--eager", *QUICK, "--only", "memory", *words)
        return leftovers(report)

    def check(self, *vm):
        if Steps.told is None:
            Steps.told = self.found([], "--page-tracking", "compare")
        self.assertGreater(len(Steps.told), 50)
        self.assertEqual(self.found(vm), Steps.told)

    def test_serial(self):
        self.check("-XX:+UseSerialGC")

    def test_g1_and_collections(self):
        self.check("-XX:+UseG1GC", "-Dsteps.collects=true")

    def test_parallel_and_collections(self):
        self.check("-XX:+UseParallelGC", "-Xmn4m", "-Dsteps.collects=true")

    def test_small_heap(self):
        """Few objects are compared one by one, without the kernel."""
        told = self.found(["-Dsteps.filler=100", "-Dsteps.tests=60"], "--page-tracking", "compare")
        self.assertEqual(self.found(["-Dsteps.filler=100", "-Dsteps.tests=60"]), told)


class Meaning(unittest.TestCase):
    def test_caches_are_low(self):
        """What any test would make, and entries that depend on their key only; a registry is neither."""
        for collector in COLLECTORS:
            with self.subTest(collector):
                self.check_caches(Suite("pollution_caches", "junit4", WORDS + [collector]))

    def check_caches(self, suite):
        _, report = suite.report("pollution", "--no-prove", "--sandbox", "never")
        found = {(short(finding["test"]), finding["root"].replace("subject.", "")): finding
                 for finding in report["findings"]}
        severities = {key: finding["severity"] for key, finding in found.items()}
        self.assertEqual(severities.pop(("RegistryTest.b", "RegistryTest.Registry.handlers")), "high")
        self.assertEqual(severities.get(("CachesTest.b", "Zone.utc")), "low")
        self.assertEqual(severities.get(("CachesTest.d", "Zone.byName")), "low")
        self.assertEqual(severities.get(("LocalTest.b", "LocalTest.buffer")), "low")
        self.assertEqual([key for key, severity in severities.items() if severity != "low"], [])
        # The key of Zone.labels has changed inside, and is the same key.
        self.assertNotIn(("CachesTest.h", "Zone.labels"), found)

    def test_filled_by_readers(self):
        """Where all code that reads it makes what it does not find, it may be a cache; where other code looks, it is none."""
        suite = Suite("pollution_fills", "junit4", WORDS)
        _, report = suite.report("pollution", "--no-prove", "--eager", "--sandbox", "never")
        found = {(short(finding["test"]), finding["root"].replace("subject.", "")): finding for finding in report["findings"]}
        severities = {key: finding["severity"] for key, finding in found.items()}
        for root in ("slots", "byKey", "computed", "listed"):
            self.assertEqual(severities[("FillsTest.a_fills", f"Fills.{root}")], "medium", root)
            self.assertIn("probably a cache", found[("FillsTest.a_fills", f"Fills.{root}")]["message"])
        self.assertIn(severities[("FillsTest.a_fills", "Fills.grown")], ("low", "medium"))
        for root in ("slots", "byKey", "name"):
            self.assertEqual(severities[("FillsTest.c_adds", f"Looks.{root}")], "high", root)
        # Of an object that is made when it is first needed, what changes when it is there, and who reads that.
        made = found["MadeTest.a_fills", "Made.instance"]
        self.assertEqual((made["severity"], made["path"]), ("medium", "subject.Made.instance.slots[3]"))
        self.assertEqual([short(test) for test in made["readers"]], ["MadeTest.c_reads", "MadeTest.d_reads"])
        # A reader fails alone for another reason; another does because what it reads is not there.
        self.assertEqual(severities["ApartTest.a_fills", "Apart.slots"], "medium")
        self.assertEqual(severities["ApartTest.a_fills", "Apart.entries"], "high")
        # A buffer of the thread, a generator, what goes when its key does; what all threads share, or keep, may be read.
        for root, severity in (("buffer", "medium"), ("kept", "high"), ("drawn", ("low", "medium")), ("weak", "medium"),
                               ("strong", "high")):
            self.assertIn(severities["WorksTest.a_works", f"Works.{root}"], severity, root)
        # Who replaces a stream, not who prints to the new one.
        self.assertEqual([test for test, root in severities if root == "System.err"], ["WorksTest.c_replaces"])
        # Counts are judged by what they do to outcomes, and are never taken for a cache.
        self.assertNotIn("cache", found[("FillsTest.e_counts", "Looks.counts")]["message"])

    def test_first_use_is_none(self):
        """A class that a test is the first to use: nothing without --eager, a change with it."""
        suite = Suite("pollution_more", "junit4", WORDS)
        _, report = suite.report("pollution", *QUICK, "--tests", "*FirstTest.*")
        self.assertEqual(leftovers(report), {})
        _, report = suite.report("pollution", "--eager", *QUICK, "--tests", "*FirstTest.*")
        self.assertEqual(leftovers(report), {"FirstTest.uses": [("subject.FirstTest.Later.count", "1 → 2")]})

    def test_what_cannot_be_asked(self):
        """A security manager that a test leaves is found, and what it hides is named."""
        suite = Suite("pollution_more", "junit4", WORDS)
        _, report = suite.report("pollution", *QUICK, "--tests", "*ManagerTest.*")
        self.assertIn("security-manager", {finding["root"] for finding in report["findings"]})
        self.assertIn("pollution: what a test does to threads, loggers and the environment is not known: the VM does "
                      "not tell", report["limits"])
        _, report = suite.report("pollution", *QUICK, "--tests", "*FirstUserTest.*")
        self.assertEqual(report["limits"], [])

    def test_first_user(self):
        """What the first user of a class leaves is its own, not that of the test which restores it."""
        suite = Suite("pollution_more", "junit4", WORDS)
        _, report = suite.report("pollution", "--no-prove", "--only", "memory", "--sandbox", "never", "--tests", "*FirstUserTest.*")
        found = {(short(finding["test"]), finding["path"].split(".", 1)[1]): finding for finding in report["findings"]}
        seen = {key: (finding["before"], finding["after"], finding["severity"]) for key, finding in found.items()}
        self.assertEqual(seen, {("FirstUserTest.a_uses", "FirstUserTest.Put.mode"): ("1", "7", "high"),
                                ("FirstUserTest.b_restores", "FirstUserTest.Put.mode"): ("7", "1", "low"),
                                ("FirstUserTest.c_changes", "FirstUserTest.Kept.mode"): ("1", "7", "high")})
        first = found["FirstUserTest.a_uses", "FirstUserTest.Put.mode"]
        self.assertIn(" --eager ", first["replay"])
        result = suite.call("pollution --eager --tests subject.FirstUserTest.a_uses --only memory")
        self.assertIn(first["id"], result.stdout)

    def test_between_tests(self):
        """What runners and fixtures do between two tests is nobody's; what constructors do is the test's."""
        suite = Suite("pollution_between", "junit4", WORDS)
        _, report = suite.report("pollution", "--eager", *QUICK)
        self.assertEqual(len(report["tests"]), 11)
        made = [short(test["name"]) for test in report["tests"] if "Constructor" in test["name"]]
        self.assertEqual(leftovers(report),
                         {test: [("subject.Between.byConstructor", f"{i} → {i + 1}")] for i, test in enumerate(made)})
        # JUnit 5 says that a test starts when its object was made: known to be the test's if the one before was just there.
        suite = Suite("pollution_between5", "junit5", WORDS)
        _, report = suite.report("pollution", "--eager", *QUICK)
        tests = [short(test["name"]) for test in report["tests"]]
        self.assertEqual([test["outcome"] for test in report["tests"]], ["pass"] * 7)
        plain = {f"ConstructorTest.{name}" for name in ("first", "second", "third")}
        charged = [test for before, test in zip(tests, tests[1:]) if {before, test} <= plain]
        self.assertGreater(len(charged), 0)
        self.assertEqual({test: [path for path, _ in found] for test, found in leftovers(report).items()},
                         {test: ["subject.ConstructorTest.byConstructor"] for test in charged})

    def test_effect_and_readers(self):
        for collector in COLLECTORS:
            with self.subTest(collector):
                self.check_effect_and_readers(Suite("pollution_more", "junit4", WORDS + [collector]))

    def check_effect_and_readers(self, suite):
        _, report = suite.report("pollution", "--no-prove", "--eager", "--sandbox", "never", "--tests", "*ReadersTest.*")
        found = {short(finding["test"]): finding for finding in report["findings"]}
        self.assertEqual(sorted(found), ["ReadersTest.adds", "ReadersTest.sets"])
        self.assertEqual(found["ReadersTest.adds"]["effect"], "accumulates")
        self.assertEqual(found["ReadersTest.sets"]["effect"], "settles")
        self.assertEqual([short(name) for name in found["ReadersTest.sets"]["readers"]], ["ReadersTest.reads"])
        self.assertEqual(found["ReadersTest.adds"]["readers"], [])

    def test_uses_of_fields(self):
        """However the code names a field, its readers are found, and no others."""
        suite = Suite("pollution_more", "junit4", WORDS)
        _, report = suite.report("pollution", "--no-prove", "--eager", "--sandbox", "never", "--tests", "*UsesTest.*")
        self.assertEqual({test["outcome"] for test in report["tests"]}, {"pass"})
        readers = {finding["root"]: [short(name) for name in finding["readers"]] for finding in report["findings"]}
        self.assertEqual(readers["subject.UsesTest.Base.shared"], ["UsesTest.b_readsThroughSub", "UsesTest.c_readsInLambda"])
        self.assertEqual(readers["subject.UsesTest.Base.one"], ["UsesTest.g_readsField"])
        self.assertIn("UsesTest.j_readsLocale", readers["default-locale"])
        self.assertNotIn("UsesTest.e_readsOtherClass", readers["default-locale"])

    def test_points(self):
        """What tear-down restores is none; in between it is there (test_jvm_points.py has the rest)."""
        suite = Suite("pollution_more", "junit4", WORDS)
        _, report = suite.report("pollution", "--eager", *QUICK, "--tests", "*PointsTest.*")
        self.assertEqual(leftovers(report), {})
        _, report = suite.report("pollution", "--eager", *QUICK, "--tests", "*PointsTest.*",
                                 "--capture", "after-setup..before-teardown")
        self.assertEqual(leftovers(report), {"PointsTest.changes": [("subject.PointsTest.made", "1 → 2")]})

    def test_property_of_the_library(self):
        """user.timezone is set when the default time zone is first asked for: not by the test."""
        suite = Suite("pollution", "junit4", WORDS[1:])
        _, report = suite.report("pollution", *QUICK, "--only", "process", "--tests", "*VmTest.reads",
                                 "--tests", "*VmTest.property")
        self.assertEqual(list(leftovers(report)), ["VmTest.property"])

    def test_only_process(self):
        suite = Suite("pollution", "junit4", WORDS)
        _, report = suite.report("pollution", "--only", "process", *QUICK, "--tests", "*VmTest.locale",
                                 "--tests", "*LeavesTest.number")
        self.assertEqual(list(leftovers(report)), ["VmTest.locale"])


class Roots(unittest.TestCase):
    def test_polluted_roots(self):
        """The root that carries it is found by putting fields back; another that differs is not named."""
        for collector in COLLECTORS:
            with self.subTest(collector):
                self.check_polluted_roots(Suite("pollution_more", "junit4", WORDS + [collector]))

    def check_polluted_roots(self, suite):
        _, report = suite.report("order", "--sandbox", "never", "--tests", "*OrderTest.*")
        found = {short(finding["test"]): finding for finding in report["findings"] if finding["kind"] == "order-dependent"}
        self.assertEqual(list(found), ["OrderTest.victim"])
        self.assertEqual(found["OrderTest.victim"]["polluted"], ["subject.OrderTest.Config.values"])

    def test_polluted_thread_local(self):
        suite = Suite("pollution_more", "junit4", WORDS)
        _, report = suite.report("order", "--sandbox", "never", "--tests", "*OrderLocalTest.*")
        found = {short(finding["test"]): finding for finding in report["findings"] if finding["kind"] == "order-dependent"}
        self.assertEqual(list(found), ["OrderLocalTest.victim"])
        self.assertEqual(found["OrderLocalTest.victim"]["polluted"], ["subject.OrderLocalTest.Context.user"])


if __name__ == "__main__":
    main()
