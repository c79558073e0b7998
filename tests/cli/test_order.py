#!/usr/bin/env python3
"""The commands order and check, on a suite and a search made of paper (fake_suite.c, fake_order.c).

usage: test_order.py POLYGRAPH-WITH-FAKE-SUITE [-v] [TEST…]

The one command that runs a failing test again:
    tests/cli/test_order.py PROGRAM Order.test_name
"""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import fresh  # noqa: E402

PROGRAM = None

SUITE = """Registry.Empty|tests/registry_test.cc|30|pass
Registry.Adds|tests/registry_test.cc|12|pass
Registry.Clear|tests/registry_test.cc|40|pass
Config.A|||pass
Config.B|||pass
Config.Reads|||pass
"""
VICTIM = {
    "test": 0, "class": "victim", "polluters": [[1], [3, 4]], "cleaners": [[2]], "passing": [0], "failing": [1, 0],
    "message": "expected 0,\n   got 1\n", "file": "./tests/registry_test.cc", "line": 31, "polluted": ["registry.head"]}
BRITTLE = {"test": 5, "class": "brittle", "setters": [[3], [4]], "passing": [3, 5], "failing": [5], "outcome": "crash"}
TWICE = {"test": 1, "class": "non-idempotent", "passing": [1], "failing": [1, 1], "outcome": "timeout"}
ALL = {"findings": [VICTIM, BRITTLE, TWICE]}
TRIED = "tried: every test alone and twice; the whole suite in 2 orders, including the reverse order; 1,234 test executions\n"
PROVEN = "pairs: all 30 tried: no other test depends on a single test before it\n"


class Order(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="polygraph-order-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.write("suite", SUITE)
        self.found = None

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def finds(self, what):
        """What the search is going to find."""
        self.found = dict(what, asked=self.path("asked"))

    def environment(self):
        environment = dict(os.environ, TMPDIR=self.folder)
        environment.pop("FAKE_ORDER", None)
        if self.found is not None:
            self.write("found", json.dumps(self.found))
            environment["FAKE_ORDER"] = self.path("found")
        return environment

    def run_it(self, *args, status=0, stderr=""):
        # The suite that is faked writes down what it was asked.
        outside = ["--sandbox=never"] if args[0] in ("order", "check") else []
        done = subprocess.run([PROGRAM, args[0], *outside, *args[1:]], cwd=self.folder, capture_output=True, timeout=60, check=False,
                              env=self.environment())
        out, err = done.stdout.decode(), done.stderr.decode()
        self.assertEqual(done.returncode, status, f"{args}\n{out}\n{err}")
        self.assertRegex(err, re.compile(f"^(?:{stderr})$", re.DOTALL))
        return re.sub(r"passed in [^\n]+", "passed in TIME", out)

    def full(self, *args, status=0, stderr=".*"):
        """With --verbose: what was tried and found in all details, without the lines of tests that pass."""
        text = self.run_it(args[0], "-v", *args[1:], status=status, stderr=stderr)
        return re.sub(r"^PASS +[^\n]*\n", "", text, flags=re.MULTILINE)

    def fails(self, *args, message, hint=".*"):
        self.assertEqual(self.run_it(*args, status=2, stderr=f"polygraph: {message}\n(?:  {hint}\n)?"), "")

    def json(self, *args, status=0):
        return json.loads(self.run_it(*args, "--format=json", "suite", status=status))

    def asked(self):
        with open(self.path("asked"), encoding="utf-8") as file:
            return json.load(file)

    # What is shown

    def test_text(self):
        self.finds(ALL)
        self.assertEqual(self.run_it("order", "suite", status=1), """\
high    Registry.Empty fails after Registry.Adds, passes alone  [order-dc68cde0dae2]
        tests/registry_test.cc:31: expected 0,
           got 1
        polluted: registry.head
        also left by: Config.A, Config.B
        fix: restore registry.head at the end of the test
high    Config.Reads crashes alone, passes after Config.A  [order-171a73516744]
        also set by: Config.B
        fix: look for what Config.A leaves that is not compared: a server, a device, the time
medium  Registry.Adds hangs when run a second time, passes alone  [order-305494b79dde]
        fix: look for what Registry.Adds leaves that is not compared: a server, a device, the time
3 problems in 6 tests; start with: polygraph replay order-dc68cde0dae2
""")
        self.assertEqual(self.full("order", "suite", status=1), """\
high    Registry.Empty: victim: fails after Registry.Adds (passes alone)
        fails at tests/registry_test.cc:31: expected 0, got 1
        polluters: Registry.Adds; [Config.A, Config.B] together · cleaners: Registry.Clear
        polluted: registry.head
        failing order: Registry.Adds, Registry.Empty (3 times)
        passing order: Registry.Empty (3 times)
        fix: restore registry.head at the end of the test
        reproduce: polygraph replay order-dc68cde0dae2
high    Config.Reads: brittle: crashes alone (passes after Config.A)
        setters: Config.A; Config.B
        failing order: Config.Reads (3 times)
        passing order: Config.A, Config.Reads (3 times)
        fix: look for what Config.A leaves that is not compared: a server, a device, the time
        reproduce: polygraph replay order-171a73516744
medium  Registry.Adds: non-idempotent: hangs when run a second time (passes alone)
        failing order: Registry.Adds, Registry.Adds (3 times)
        passing order: Registry.Adds (3 times)
        fix: look for what Registry.Adds leaves that is not compared: a server, a device, the time
        reproduce: polygraph replay order-305494b79dde
6 tests: 6 passed in TIME
3 tests depend on the order: 1 victim, 1 brittle, 1 non-idempotent
""" + TRIED + PROVEN + "3 problems in 6 tests; start with: polygraph replay order-dc68cde0dae2\n")

    def test_packages(self):
        """Names of Java are long, and whole."""
        package = "org.example.warehouse.orders.internal."
        self.write("suite", SUITE.replace("Registry.", package + "RegistryTest.").replace("Config.", package + "ConfigTest."))
        self.finds({"findings": [dict(VICTIM, polluted=[])]})
        lines = self.run_it("order", "suite", status=1, stderr=".*").splitlines()
        head = [line for line in lines if line.startswith("high")][0]
        self.assertIn(f"high    {package}RegistryTest.Empty fails after {package}RegistryTest.Adds", head)
        self.assertTrue(any(line.startswith(f"        fix: look for what {package}RegistryTest.Adds leaves") for line in lines), lines)
        verbose = self.full("order", "suite", status=1)
        self.assertIn(f"high    {package}RegistryTest.Empty: victim", verbose)

    def test_nothing(self):
        verdict = "no problem found in 6 tests\n"
        self.assertEqual(self.run_it("order", "suite"), verdict)
        self.assertEqual(self.full("order", "suite"),
                         "6 tests: 6 passed in TIME\nno order-dependent test found\n" + TRIED + PROVEN + verdict)
        self.assertEqual(self.full("check", "--no-choices", "suite"),
                         "6 tests: 6 passed in TIME\nno test leaves shared state changed\n"
                         "no order-dependent test found\n" + TRIED + PROVEN + verdict)
        self.assertEqual(self.run_it("order", "-q", "suite"), "")

    def test_quiet_and_verbose(self):
        self.finds(ALL)
        quiet = self.run_it("order", "-q", "suite", status=1)
        self.assertEqual([line.split()[1] for line in quiet.splitlines()],
                         ["Registry.Empty", "Config.Reads", "Registry.Adds", "problems"])
        verbose = self.run_it("order", "-v", "suite", status=1)
        self.assertIn("        failing order: Registry.Adds, Registry.Empty (3 times)\n"
                      "        passing order: Registry.Empty (3 times)\n", verbose)

    def test_json(self):
        self.finds(ALL)
        result = self.json("order", status=1)
        victim, brittle, twice = result["findings"]
        victim.pop("hint")
        self.assertEqual(victim, {
            "id": "order-dc68cde0dae2", "kind": "order-dependent", "test": "Registry.Empty", "severity": "high",
            "message": "Registry.Empty fails after Registry.Adds and passes alone; polluted: registry.head",
            "known": False, "suppressed": False, "replay": "polygraph replay order-dc68cde0dae2", "class": "victim", "because": [],
            "polluters": [["Registry.Adds"], ["Config.A", "Config.B"]], "setters": [], "cleaners": [["Registry.Clear"]],
            "passing_order": ["Registry.Empty"], "failing_order": ["Registry.Adds", "Registry.Empty"],
            "polluted": ["registry.head"], "outcome": "fail",
            "failure": {"message": "expected 0,\n   got 1\n", "file": "tests/registry_test.cc", "line": 31},
            "repeats": 3, "natural": False, "polluters_complete": True, "setters_complete": True,
            "cleaners_complete": True, "cleaners_by_polluter": [], "polluted_known": True, "polluted_together": False,
            "left": None, "non_idempotent": False, "help": "docs/order.md", "explains_failure": False,
            "headline": "Registry.Empty fails after Registry.Adds, passes alone", "reason": "polluted: registry.head"})
        self.assertEqual(brittle["setters"], [["Config.A"], ["Config.B"]])
        self.assertEqual(twice["failing_order"], ["Registry.Adds"] * 2)
        self.assertEqual(len(result["tests"]), 6)
        self.assertEqual(result["limits"], [])
        self.assertEqual(result["order"]["pairs"], {"all": 30, "tried": 30, "by_state": 0})
        self.assertNotIn("first_initialised", result)

    def test_junit(self):
        self.finds(ALL)
        suites = ElementTree.fromstring(self.run_it("order", "--format=junit", "suite", status=1))
        self.assertEqual([case.get("name") for case in suites[1]],
                         ["registry.head", "Config.A", "Registry.Adds"])
        self.assertEqual([case.get("classname") for case in suites[1]], ["polygraph.memory", "polygraph.left", "polygraph.test"])
        self.assertEqual(suites.get("failures"), "3")
        self.assertIn("at tests/registry_test.cc:31\n", suites[1][0][0].text)
        self.assertIn("polygraph replay order-dc68cde0dae2", suites[1][0][0].text)

    def test_many_polluters(self):
        self.finds({"findings": [dict(VICTIM, polluters=[[i % 6] for i in range(20000)], failing=[1] * 20000 + [0])]})
        text = self.run_it("order", "suite", status=1)
        self.assertLess(len(text), 1000)
        self.assertIn(" fails after Registry.Adds, Registry.Adds, ", text)
        text = self.full("order", "suite", status=1)
        self.assertLess(len(text), 10000)
        self.assertIn(" and 19900 more · cleaners", text)
        self.assertIn("fails after Registry.Adds, Registry.Adds, Registry.Adds, Registry.Adds and 19996 more", text)
        finding = self.json("order", status=1)["findings"][0]
        self.assertEqual(len(finding["polluters"]), 20000)
        self.assertEqual(len(finding["failing_order"]), 20001)

    def test_what_is_left(self):
        """What pollution knows of a polluted root stands there, and in 'check' is not said twice."""
        leaves = SUITE.replace("12|pass", "12|changes:registry.head").replace("40|pass", "40|changes:other")
        self.write("suite", leaves)
        self.finds({"findings": [dict(VICTIM, cleaned=[[[2]], [[2], [4, 5]]])]})
        polluted = "        polluted: registry.head (Registry.Adds leaves registry.head: absent → 3 bytes)\n"
        order = self.full("order", "suite", status=1)
        self.assertIn(polluted, order)
        self.assertNotIn("Registry.Clear: other", order)
        check = self.run_it("check", "suite", status=1)
        self.assertIn("        Registry.Adds leaves registry.head: absent → 3 bytes\n", check)
        self.assertIn("medium  Registry.Clear leaves other changed  [pollution-", check)
        self.assertIn("\n        absent → 3 bytes; each run changes it again; no other test was seen to read it\n", check)
        self.assertEqual(check.count("registry.head: absent"), 1)
        self.assertIn('        fix: restore it at the end of Registry.Adds: remove("registry.head")', check)
        self.assertIn("\n2 problems in 6 tests; start with: polygraph replay order-dc68cde0dae2\n", check)
        self.assertIn("2 tests leave shared state changed: 2 findings", self.full("check", "suite", status=1))
        self.assertIn("Registry.Adds: registry.head: absent → 3 bytes", self.run_it("check", "-v", "suite", status=1))
        found = self.json("check", status=1)["findings"]
        self.assertEqual([finding["kind"] for finding in found], ["pollution", "pollution", "order-dependent"])
        self.assertEqual(found[2]["left"], {"test": "Registry.Adds", "where": "file", "path": "registry.head",
                                            "before": "absent", "after": "3 bytes"})
        # The leftovers that explain it, and no others; 'order' names them as well.
        self.assertEqual(found[2]["because"], [found[0]["id"]])
        self.assertEqual(self.json("order", status=1)["findings"][0]["because"], [found[0]["id"]])
        # Random orders are searched without them, and explained by them all the same.
        found = self.json("check", "--strategy=random", status=1)["findings"]
        self.assertEqual((found[2]["left"]["test"], found[2]["because"]), ("Registry.Adds", [found[0]["id"]]))
        verbose = self.run_it("check", "-v", "suite", status=1)
        self.assertIn("        because of: " + found[0]["id"] + "\n", verbose)
        self.assertEqual(found[2]["cleaners_by_polluter"], [[["Registry.Clear"]], [["Registry.Clear"], ["Config.B", "Config.Reads"]]])
        self.assertEqual([finding["kind"] for finding in self.json("order", status=1)["findings"]], ["order-dependent"])
        # Pollution alone is a finding of check, and none of order.
        self.finds({})
        self.run_it("order", "suite")
        self.run_it("check", "suite", status=1)

    def test_because(self):
        """Of each finding its own: its polluters or setters, or itself, in the roots that it is polluted by."""
        roots = {"A": ("Config.A", "x"), "B": ("Config.B", "w"), "Adds": ("Registry.Adds", "y")}
        lines = [line.split("|") for line in SUITE.splitlines()]
        left = dict(roots.values())
        self.write("suite", "".join("|".join(line[:3] + ["changes:" + left[line[0]] if line[0] in left else line[3]]) + "\n"
                                    for line in lines))
        self.finds({"findings": [
            dict(VICTIM, polluters=[[3], [1]], failing=[3, 0], polluted=["x"]),
            dict(BRITTLE, setters=[[3], [4]], polluted=["w", "x"]),
            dict(TWICE, polluters=[[1]], polluted=["y", "z"])]})
        found = self.json("check", status=1)["findings"]
        ids = {(finding["test"], finding["root"]): finding["id"] for finding in found if finding["kind"] == "pollution"}
        self.assertEqual(sorted(ids), sorted(roots.values()))
        # The victim's other polluter leaves what another finding is about.
        self.assertEqual([finding["because"] for finding in found if finding["kind"] == "order-dependent"],
                         [[ids[roots["A"]]], [ids[roots["A"]], ids[roots["B"]]], [ids[roots["Adds"]]]])

    def test_non_idempotent(self):
        """Who disturbs itself has no polluters, and there are none to be tried."""
        self.finds({"findings": [dict(TWICE, polluters=[[1]], complete=0)]})
        text = self.full("order", "suite", status=1)
        self.assertIn("1 test depends on the order: 1 non-idempotent\n", text)
        self.assertNotIn("not all", text)
        self.assertNotIn("polluters", text)

    def test_unexplained(self):
        """What was seen and could not be explained in time is told, and so is how sure it is."""
        seen = {"test": 5, "class": "unexplained", "passing": [0, 1, 2, 3, 4, 5], "failing": [5], "passing_own": 1,
                "complete": 0}
        for repeats, severity, words in ((2, "medium", "not explained"), (0, "low", "not explained, seen once")):
            with self.subTest(severity):
                self.finds({"findings": [dict(seen, repeats=repeats)]})
                # What was seen once may be chance: it is told, and fails the run where that is asked for.
                status = 1 if severity == "medium" else 0
                text = self.full("order", "suite", status=status)
                self.run_it("order", "--fail-on=low", "suite", status=1)
                self.run_it("order", "--fail-on=high", "suite")
                self.assertIn(f"{severity:7} Config.Reads: unexplained: fails alone (passes in the suite's own order; "
                              f"{words})\n", text)
                self.assertIn("        fix: give the search more time, with a longer --budget\n"
                              "        reproduce: polygraph replay order-171a73516744\n", text)
                self.assertIn("1 test depends on the order: 1 unexplained\n", text)
                self.assertIn("limit: order: 1 test ended differently in other orders and could not be explained", text)
                finding, = self.json("order", status=status)["findings"]
                self.assertEqual((finding["class"], finding["severity"], finding["repeats"], finding["polluters"]),
                                 ("unexplained", severity, repeats, []))
                self.assertEqual((len(finding["passing_order"]), finding["failing_order"]), (6, ["Config.Reads"]))

    def test_natural_failure(self):
        """A failure in the suite's own order is told once."""
        self.write("suite", SUITE.replace("30|pass|", "30|fail|0|").replace("30|pass", "30|fail|0|expected 0, got 1"))
        self.finds({"findings": [dict(VICTIM, natural=1)]})
        text = self.run_it("order", "suite", status=1)
        self.assertEqual(text.count("expected 0"), 1)
        self.assertIn("\n1 problem in 6 tests; start with", text)
        text = self.full("order", "suite", status=1)
        self.assertIn("(passes alone; fails in the suite's own order)\n", text)
        self.assertIn("6 tests: 5 passed, 1 failed", text)
        self.assertIn("FAIL", self.run_it("order", "-v", "suite", status=1))

    def test_polluted_together(self):
        self.finds({"findings": [dict(VICTIM, polluted=["a", "b"], together=2)]})
        self.assertIn("        polluted: [a, b] together\n", self.run_it("order", "suite", status=1))
        self.assertTrue(self.json("order", status=1)["findings"][0]["polluted_together"])
        self.finds({"findings": [dict(BRITTLE, polluted=["a"])]})
        self.assertIn("        relies on: a\n", self.run_it("order", "suite", status=1))

    # What is said of the search

    def test_open(self):
        self.finds({"reach": {"pairs": 4032, "tried": 700, "by_state": 500, "why": "budget", "twice": False, "rows": 3,
                              "rows_all": 63, "known": 12345, "reversed": False, "orders": 1}})
        self.assertEqual(self.run_it("order", "--budget", "90s", "suite"),
                         "the budget of 90s left open: order (1200 of 4032 pairs explored; not all tests were run "
                         "twice); --budget 8m goes further\nno problem found in 6 tests\n")
        text = self.full("order", "--budget", "90s", "suite")
        # What was left of the budget was given to a second search, which goes on from what the first one learnt.
        self.assertIn("tried: every test alone; the whole suite in 1 order; 2,468 test executions, and 12,345 reused from earlier runs\n"
                      "pairs: 700 of 4,032 tried, one test right after the other; in 500 more, the first test leaves no compared state changed; 2,832 not tried; covering orders: 3 of 63\n"
                      "limit: order: 1200 of 4032 pairs explored (budget 90s)\n"
                      "limit: order: not all tests were run twice (budget 90s)\n", text)
        result = self.json("order", "--budget", "90s")
        self.assertEqual(result["limits"], ["order: 1200 of 4032 pairs explored (budget 90s)",
                                            "order: not all tests were run twice (budget 90s)"])
        self.assertEqual(result["order"]["pairs"], {"all": 4032, "tried": 700, "by_state": 500})
        self.assertEqual(result["order"]["ended_by"], "budget")

    def test_by_state(self):
        self.finds({"reach": {"tried": 20, "by_state": 10}})
        text = self.full("order", "suite")
        self.assertIn("pairs: 20 of 30 tried, one test right after the other; in 10 more, the first test leaves no compared state changed; none left\n", text)
        self.assertNotIn("limit", text)

    def test_partial_finding(self):
        self.finds({"findings": [dict(VICTIM, complete=0)], "reach": {"why": "budget"}})
        text = self.full("order", "--budget=1m", "suite", status=1)
        self.assertIn("[Config.A, Config.B] together (not all were tried) · cleaners", text)
        self.assertIn("limit: order: not all tests were tried as polluters or setters of 1 of 1 finding (budget 1m)\n", text)

    def test_flaky(self):
        self.finds({"flaky": [{"test": 3, "runs": 10, "failures": 2}, {"test": 4, "runs": 5, "failures": 4}]})
        self.assertIn("high    Config.A is flaky: fails in 2 of 10 identical runs alone  [flaky-c2661ee5c3f4]\n"
                      "        no luck\n", self.run_it("order", "suite", status=1))
        text = self.full("order", "suite", status=1)
        self.assertIn("high    Config.A: flaky: failed in 2 of 10 identical runs alone\n        fails: no luck\n"
                      "        fix: nothing but chance differs: look for threads, time and random numbers\n"
                      "        reproduce: polygraph replay flaky-", text)
        self.assertIn("2 flaky tests, not order-dependent\n", text)
        self.assertIn("no order-dependent test found", text)
        first, second = self.json("order", status=1)["findings"]
        self.assertEqual((first["kind"], first["severity"], first["runs"], first["failures"], first["order"]),
                         ("flaky", "high", 10, 2, ["Config.A"]))
        self.assertEqual(first["message"], "Config.A is flaky: it passes and fails in identical runs alone")
        self.assertEqual(first["failure"], {"file": None, "line": None, "message": "no luck"})
        self.assertNotEqual(first["id"], second["id"])
        # The chances of another run change neither id nor message.
        self.finds({"flaky": [{"test": 3, "runs": 10, "failures": 7}]})
        again = self.json("order", status=1)["findings"][0]
        self.assertEqual((again["id"], again["message"]), (first["id"], first["message"]))

    def test_shorter_run(self):
        """What a shorter run does not come to, it still reports; what it tried again in vain is gone."""
        self.finds({"findings": [VICTIM], "flaky": [{"test": 3, "runs": 10, "failures": 2}]})
        first = self.json("order", status=1)["findings"]
        self.finds({"reach": {"why": "budget"}})
        for _ in range(2):
            again = self.json("order", "--budget=1m", status=1)["findings"]
            self.assertEqual(again, [dict(finding, earlier=True) for finding in first])
        self.assertIn("        found by an earlier run, not tried again\n",
                      self.run_it("order", "--budget=1m", "suite", status=1))
        text = self.full("order", "--budget=1m", "suite", status=1)
        self.assertIn(f"high    {first[0]['message']} (found by an earlier run, not tried again)\n"
                      f"        fix: {first[0]['hint']}\n        reproduce: {first[0]['replay']}\n", text)
        self.assertIn("no order-dependent test found this time\n", text)
        xml = self.run_it("order", "--budget=1m", "--format=junit", "suite", status=1)
        self.assertIn("polygraph replay " + first[0]["id"], xml)
        # Known ones do not fail the run, and tests that were not chosen are not spoken of.
        self.write("known", "".join(finding["id"] + "\n" for finding in first))
        self.run_it("order", "--budget=1m", "--baseline=known", "suite")
        self.assertEqual(self.json("order", "--budget=1m", "--tests=Config.B")["findings"], [])
        self.assertEqual(sorted(self.run_it("replay", "--list", "--quiet").split()), sorted(f["id"] for f in first))
        # Found again, or tried in vain.
        self.finds({"findings": [VICTIM]})
        self.assertEqual(self.json("order", status=1)["findings"], first[:1])
        self.finds({})
        self.assertEqual(self.json("order")["findings"], [])
        # Of another state of the suite.
        self.finds({"findings": [VICTIM]})
        self.json("order", status=1)
        self.finds({"reach": {"why": "budget"}})
        with open(self.path("suite"), "a") as suite:
            suite.write("New.Test|new.c|1|pass\n")
        self.assertEqual(self.json("order", "--budget=1m")["findings"], [])

    def test_flaky_baseline(self):
        self.finds({"flaky": [{"test": 3, "runs": 10, "failures": 2}]})
        found = self.json("order", status=1)["findings"][0]
        self.write("known", found["id"] + "\n")
        self.assertTrue(self.json("order", "--baseline=known")["findings"][0]["known"])

    # Exit status

    def test_status(self):
        self.write("suite", SUITE.replace("40|pass", "40|fail"))
        self.run_it("order", "suite", status=3)
        self.finds({"findings": [BRITTLE]})
        self.run_it("order", "suite", status=1)

    def test_known(self):
        self.write("known", "order-dc68cde0dae2 the registry\n")
        self.finds({"findings": [VICTIM]})
        self.assertEqual(self.run_it("order", "--baseline", "known", "suite"), "no new problem (1 known) in 6 tests\n")
        self.assertIn("(passes alone; known)\n", self.full("order", "--baseline", "known", "suite"))
        self.assertEqual(self.run_it("order", "-q", "--baseline", "known", "suite"), "")
        # It fails because of what is known: not on its own.
        self.write("suite", SUITE.replace("30|pass", "30|fail"))
        self.run_it("order", "--baseline", "known", "suite")
        self.write("suite", SUITE.replace("40|pass", "40|fail"))
        self.run_it("order", "--baseline", "known", "suite", status=3)
        self.finds({"findings": [VICTIM, BRITTLE]})
        self.run_it("order", "--baseline", "known", "suite", status=1)

    # What is asked of the search

    def test_options(self):
        self.finds({})
        self.run_it("order", "suite")
        asked = self.asked()
        self.assertEqual(asked, {"tests": 6, "pollution": True, "strategy": 0, "any_order": 0, "seed": 0, "orders": -1,
                                 "all_pairs": 0, "repeats": 3, "cleaners": 1, "roots": 1, "budget": 0, "left": 0,
                                 "known": 0})
        self.run_it("order", "--any-order", "--all-pairs", "--repeat=7", "--no-cleaners", "--no-roots", "--no-pollution",
                    "--runs=5", "--seed=9", "--budget=1h", "--tests=Config.*", "suite")
        asked = self.asked()
        self.assertGreater(asked.pop("left"), 3500 * 10**9)
        self.assertEqual(asked, {"tests": 3, "pollution": False, "strategy": 0, "any_order": 1, "seed": 9, "orders": 5,
                                 "all_pairs": 1, "repeats": 7, "cleaners": 0, "roots": 0, "budget": 1,
                                 "known": 0})

    def test_facts(self):
        """What a call found out the next one knows, unless it depends on other options, or is not to be believed."""
        def known(*words):
            self.run_it("order", *words, "suite")
            return bool(self.asked()["known"])
        self.finds({})
        self.assertFalse(known())
        self.assertTrue(known())
        self.assertTrue(known("--repeat=5", "--budget=1m", "--no-cleaners"))
        self.assertFalse(known("--fresh"))
        self.assertTrue(known())
        self.assertFalse(known("--no-pollution"))
        self.write("suite", SUITE + "Another.Test|||pass\n")
        self.assertFalse(known())

    def test_replay(self):
        """What is kept of a finding makes it happen again."""
        self.write("suite", SUITE.replace("30|pass", "30|victim:Registry.Adds|0|expected 0, got 1"))
        self.finds(ALL)
        for command in "order", "check":
            found = self.json(command, status=1)["findings"]
            self.assertEqual(self.run_it("replay", "--list", "-q").split(), [finding["id"] for finding in found])
            self.assertIn("expected 0, got 1", self.run_it(*found[0]["replay"].split()[1:], status=1))
            # These do not fail as the paper has it.
            self.run_it("replay", found[1]["id"])
            self.run_it("replay", found[2]["id"])
        # Orders that were not searched leave what is known of the last search.
        self.run_it("order", "--budget=1us", "-q", "suite", status=1)
        self.assertEqual(len(self.run_it("replay", "--list", "-q").split()), 3)
        self.finds({})
        self.run_it("order", "-q", "suite")
        self.assertEqual(self.run_it("replay", "--list", "-q", stderr=".*"), "")

    def test_without_pollution(self):
        """The run in the suite's own order is told by the search, once."""
        self.assertNotIn("shared state", self.run_it("check", "--no-pollution", "suite"))
        for words in ["--no-pollution"], ["--strategy=random"], []:
            self.assertEqual([test["name"] for test in self.json("order", *words)["tests"]],
                             [line.split("|")[0] for line in SUITE.splitlines()])

    def test_random_strategy(self):
        self.finds({"reach": {"orders": 20, "alone": False, "twice": False, "reversed": False, "tried": 12}})
        text = self.full("order", "--strategy=random", "suite")
        self.assertFalse(self.asked()["pollution"])
        self.assertIn("tried: the whole suite in 20 random orders; 1,234 test executions\n", text)
        self.assertIn("limit: order: 12 of 30 pairs explored (20 random orders)\n", text)
        seed = re.search(r"random choices: --seed (\d+) repeats them\n", text).group(1)
        self.assertEqual(self.asked()["seed"], int(seed))
        self.assertIn("--seed 5 repeats", self.run_it("order", "--strategy=random", "--seed=5", "suite"))

    def test_config(self):
        self.finds({})
        self.write("polygraph.toml", "any-order = true\n[order]\nrepeat = 5\n[check]\nrepeat = 6\n")
        self.run_it("order", "suite")
        self.assertEqual((self.asked()["repeats"], self.asked()["any_order"]), (5, 1))
        self.run_it("--sandbox=never", "suite")
        self.assertEqual((self.asked()["repeats"], self.asked()["any_order"]), (6, 1))
        self.run_it("order", "--repeat=2", "--no-any-order", "suite")
        self.assertEqual((self.asked()["repeats"], self.asked()["any_order"]), (2, 0))

    def test_slips(self):
        self.fails("order", "--strategy", "foo", "suite", message=".*there is no 'foo'", hint=".*systematic, random.*")
        for option in "repeat", "runs":
            self.fails("order", f"--{option}", "0", "suite", message=".*out of range.*")
            self.fails("check", f"--{option}", "many", "suite", message=".*not a number.*")
        self.fails("order", "--no-strategy", "suite", message=".*--no-strategy.*")
        self.fails("order", "--budget", "soon", "suite", message=".*soon.*")
        self.fails("order", "--baseline", "absent", "suite", message="--baseline: .*absent.*")
        self.fails("order", "--effect", "suite", message="unknown option '--effect'")
        self.fails("order", "--anyorder", "suite", message="unknown option '--anyorder'", hint="did you mean '--any-order'.*")
        self.fails("order", "--format", "xml", "suite", message="--format: there is no 'xml'", hint="possible values: .*sarif.*")
        self.write("twice", "Config.A\nConfig.B\nConfig.A\n")
        self.fails("order", "--order", "twice", "suite", message="'Config.A' stands in 'twice' more than once")
        self.write("polygraph.toml", "fresh = true\n")
        self.fails("order", "suite", message="polygraph.toml:1: there is no option 'fresh'")

    def test_help(self):
        for command in "order", "check":
            text = self.run_it("help", command)
            self.assertEqual(text, self.run_it(command, "--help"))
            for option in ("strategy", "runs", "all-pairs", "any-order", "repeat", "cleaners", "roots", "pollution",
                           "fresh", "seed", "exclude-roots", "budget", "baseline", "jobs", "timeout"):
                self.assertIn(f" --{option}", text)
            page = self.run_it("man", command)
            self.assertTrue(page.startswith(f".TH POLYGRAPH-{command.upper()} 1 "))
            self.assertIn("\\fB\\-\\-any\\-order\\fR", page)
        self.assertIn("--effect", self.run_it("help", "check"))

    # Ends

    def test_budget_spent_before(self):
        """The suite's own order takes longer than the budget: orders are not searched."""
        self.finds({})
        out = self.run_it("check", "--budget=100ms", "--format=json", "gen:60:20000")
        limits = json.loads(out)["limits"]
        self.assertRegex(limits[0], r"^pollution: \d+ of 60 tests not examined \(budget 100ms\)$")
        self.assertEqual(limits[1], "order: not searched (budget 100ms)")
        self.assertNotIn("order", json.loads(out))
        self.assertFalse(os.path.exists(self.path("asked")))

    def test_interrupt(self):
        self.finds({"findings": [VICTIM]})
        for words, searched in (["order"], False), (["order", "--no-pollution"], True):
            started = self.path(f"started-{searched}")
            process = subprocess.Popen([PROGRAM, *words, "--sandbox=never", "--format=json", "-opart.json", "gen:1000:200000"],
                                       cwd=self.folder, stderr=subprocess.PIPE,
                                       env=dict(self.environment(), FAKE_STARTED=started))
            self.assertTrue(fresh.wait_for(lambda: fresh.size_of(started) >= 2))
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=60)
            self.assertEqual((process.returncode, err), (130, b"polygraph: interrupted\n"))
            with open(self.path("part.json"), encoding="utf-8") as file:
                result = json.load(file)
            self.assertTrue(0 < len(result["tests"]) < 500)
            self.assertEqual(len(result["findings"]), int(searched))
            if not searched:
                self.assertIn("order: not searched (interrupted)", result["limits"])

    def test_broken_suite(self):
        self.run_it("order", "broken:3", status=3, stderr="polygraph: the program left after.*")

    def test_disabled(self):
        self.finds({})
        self.write("suite", SUITE + "Off.DISABLED_x|||disabled\n")
        result = self.json("order")
        self.assertEqual(result["tests"][6]["outcome"], "skip")
        self.assertEqual(self.asked()["tests"], 6)
        self.assertIn("1 disabled", self.run_it("order", "--tests=Off*", "suite"))


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    fresh.start()
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
