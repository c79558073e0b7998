#!/usr/bin/env python3
"""The command choices on a suite made of paper (fake_suite.c, fake_choices.c): the search, its report and its replay.

usage: test_choices.py POLYGRAPH-WITH-FAKE-SUITE [-v] [TEST…]

The one command that runs a failing test again:
    tests/cli/test_choices.py PROGRAM Choices.test_name
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import fresh  # noqa: E402

PROGRAM = None

SUITE = """Listing.PrintsAll|tests/listing.cc|17|chooses:qsort,qsort,qsort;1|0|expected "a b c",\\n got "b a c"|./tests/listing.cc:19
Sort.Both|||chooses:qsort,+qsort,qsort;0,1
Sort.Early|||chooses:crash=/qsort,qsort;0
Sort.Fine|||chooses:qsort,qsort;9
Plain|||pass
"""
# What is asserted holds for one model however many there are.
ONLY = ("--api", "qsort")
CLAUSE = "C17 7.22.5.2: if two elements compare as equal, their order in the resulting sorted array is unspecified"


class Choices(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="polygraph-choices-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.write("suite", SUITE)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def run_it(self, *args, status=0, stderr=""):
        done = subprocess.run([PROGRAM, *args], cwd=self.folder, capture_output=True, timeout=60, check=False,
                              env=dict(os.environ, TMPDIR=self.folder))
        out, err = done.stdout.decode(), done.stderr.decode()
        self.assertEqual(done.returncode, status, f"{args}\n{out}\n{err}")
        self.assertRegex(err, re.compile(f"^(?:{stderr})$", re.DOTALL))
        out = re.sub(r"( in) [0-9.]+ (µs|ms|s)\n", r"\1 TIME\n", out)
        # How many the way to the decisive call takes is the search's.
        return re.sub(r"\b[0-9,]+ test executions", "N test executions", out)

    def choices(self, *args, status=0, stderr=""):
        return self.run_it("choices", *ONLY, *args, "suite", status=status, stderr=stderr)

    def full(self, *args, status=0):
        """With --verbose: what was tried and found in all details, without the lines of tests that pass."""
        return re.sub(r"^PASS +[^\n]*\n", "", self.choices("-v", *args, status=status, stderr=".*"), flags=re.MULTILINE)

    def json(self, *args, status=0):
        return json.loads(self.choices("--format=json", *args, status=status))

    def fails(self, *args, message, hint=".*"):
        self.assertEqual(self.run_it(*args, status=2, stderr=f"polygraph: {message}\n(?:  {hint}\n)?"), "")

    # What is shown

    def test_text(self):
        fix = "        fix: break ties in the comparison function, so that no two elements compare equal\n"
        self.assertEqual(self.choices(status=1), f"""\
high    Listing.PrintsAll assumes more than qsort promises  [choice-a580e31df121]
        tests/listing.cc:19: expected "a b c",
         got "b a c"
        the call may do this, too: they came otherwise
{fix}\
high    Sort.Both assumes more than qsort promises  [choice-0901bd0d7bee]
        the call may do this, too: they came otherwise
{fix}\
high    Sort.Early assumes more than qsort promises  [choice-290c0c499922]
        the call may do this, too: they came otherwise
{fix}3 problems in 5 tests; start with: polygraph replay choice-a580e31df121
""")
        self.assertEqual(self.full(status=1), f"""\
high    Listing.PrintsAll assumes more than qsort promises
        qsort: {CLAUSE}
        call 2 of the test: qsort (3 things\\x1b[1m): they came otherwise
        then it fails at tests/listing.cc:19: expected "a b c", got "b a c"
        level one, seed 1: failed in 3 of 3 runs; with that call alone in 3 of 3, without choices in none
{fix}        reproduce: polygraph replay choice-a580e31df121
high    Sort.Both assumes more than qsort promises
        qsort: {CLAUSE}
        2 calls together, none of them can be left out:
        call 1 of the test: qsort (2 things\\x1b[1m): they came otherwise
        call 1 of another thread: qsort (2 things\\x1b[1m): they came otherwise
        then it fails
        level one, seed 1: failed in 3 of 3 runs; with those calls alone in 3 of 3, without choices in none
{fix}        reproduce: polygraph replay choice-0901bd0d7bee
high    Sort.Early assumes more than qsort promises
        qsort: {CLAUSE}
        call 1 before the first test: qsort (2 things\\x1b[1m): they came otherwise
        then it crashes
        level one, seed 1: failed in 3 of 3 runs; with that call alone in 3 of 3, without choices in none
{fix}        reproduce: polygraph replay choice-290c0c499922
5 tests: 5 passed in TIME
3 tests assume more than an API promises: 3 findings
choices: 12 runs at levels one, eq, id, full with seeds 1 to 3, and 2 without; N test executions
models: 1 of 1 exercised: qsort; 31 of 120 calls varied
3 problems in 5 tests; start with: polygraph replay choice-a580e31df121
""")

    def test_quiet(self):
        self.assertEqual(self.choices("-q", status=1), """\
high    Listing.PrintsAll assumes more than qsort promises  [choice-a580e31df121]
high    Sort.Both assumes more than qsort promises  [choice-0901bd0d7bee]
high    Sort.Early assumes more than qsort promises  [choice-290c0c499922]
3 problems in 5 tests; start with: polygraph replay choice-a580e31df121
""")

    def test_json(self):
        result = self.json(status=1)
        listing, both, early = result["findings"]
        call = {"api": "qsort", "index": 2, "thread": "main", "before_first_test": False, "argument": "3 things\x1b[1m",
                "did": "they came otherwise", "clause": CLAUSE, "stack": []}
        listing.pop("hint")
        self.assertEqual(listing, {
            "id": "choice-a580e31df121", "kind": "assumption", "test": "Listing.PrintsAll", "severity": "high",
            "message": "Listing.PrintsAll assumes more than qsort promises: it fails when the call behaves differently (they came otherwise)",
            "known": False, "suppressed": False, "replay": "polygraph replay choice-a580e31df121", "api": "qsort", "level": "one", "runs": 3,
            "failures": 3, "failing_seed": 1, "call": call, "calls": [call], "clause": CLAUSE, "minimal": True, "alone": True,
            "outcome": "fail", "repeats": 3, "help": "docs/choices.md", "explains_failure": False,
            "headline": "Listing.PrintsAll assumes more than qsort promises",
            "reason": "the call may do this, too: they came otherwise",
            "failure": {"file": "tests/listing.cc", "line": 19, "message": 'expected "a b c",\n got "b a c"'}})
        self.assertEqual([call["thread"] for call in both["calls"]], ["main", "4d"])
        self.assertTrue(early["call"]["before_first_test"])
        self.assertEqual(early["outcome"], "crash")
        self.assertGreater(result["choices"].pop("executions"), 70)
        outcomes = result["choices"].pop("outcomes")
        self.assertEqual([(run["level"], run["seed"]) for run in outcomes],
                         [(level, seed) for level in ("one", "eq", "id", "full") for seed in (1, 2, 3)])
        self.assertEqual(outcomes[0]["failed"], ["Listing.PrintsAll", "Sort.Both", "Sort.Early"])
        self.assertEqual(result["choices"], {
            "levels": ["one", "eq", "id", "full"], "seeds": 3, "seed": 1, "runs": 12, "baselines": 2,
            "made": 120, "acted": 31, "models": ["qsort"], "models_all": 1, "ended_by": None, "unexplained": 0, "spaces": [],
            })
        self.assertEqual([test["outcome"] for test in result["tests"]], ["pass"] * 5)
        self.assertEqual(result["limits"], [])
        self.assertNotIn("seed", result)
        self.assertNotIn("first_initialised", result)

    def test_junit(self):
        suites = ElementTree.fromstring(self.choices("--format=junit", status=1))
        self.assertEqual([case.get("name") for case in suites[1]],
                         ["qsort in Listing.PrintsAll", "qsort in Sort.Both", "qsort in Sort.Early"])
        self.assertEqual(suites.get("failures"), "3")
        self.assertIn("at tests/listing.cc:19\n", suites[1][0][0].text)
        text = suites[1][0][0].text
        self.assertIn("call 2 of the test: qsort (3 things", text)
        self.assertIn("polygraph replay choice-a580e31df121", text)

    def test_baseline(self):
        self.write("known", "choice-a580e31df121\nchoice-0901bd0d7bee\nchoice-290c0c499922  as ever\n")
        self.assertEqual(self.choices("--baseline=known"), "no new problem (3 known) in 5 tests\n")
        self.assertIn("Listing.PrintsAll assumes more than qsort promises (known)\n", self.full("--baseline=known"))
        self.assertEqual([finding["known"] for finding in self.json("--baseline=known")["findings"]], [True] * 3)

    # What is asked for

    def test_level_and_runs(self):
        result = self.json("--level=full", "--runs=5", "--seed=40", "--tests=Sort.Fine")
        self.assertEqual(result["choices"]["levels"], ["full"])
        self.assertEqual(result["choices"]["runs"], 5)
        self.assertEqual(result["choices"]["seed"], 40)
        text = self.full("--level=eq", "--runs=1", "--baselines=4", "--tests=Sort.Fine")
        self.assertIn("\nchoices: 1 run at level eq with seed 1, and 4 without; N test executions\n", text)
        finding = self.json("--level=full", "--seed=7", "--repeat=5", "--tests=Listing*", "--runs=20")["findings"][0]
        self.assertEqual(finding["level"], "full")
        self.assertEqual(finding["severity"], "low")
        self.assertEqual(finding["repeats"], 5)
        self.assertGreaterEqual(finding["failing_seed"], 7)
        self.assertLess(finding["failing_seed"], 27)

    def test_api(self):
        self.fails("choices", "--api", "qsrt", "suite", message="--api 'qsrt' matches no model of an API",
                   hint="did you mean 'qsort'.*--list-models.*")
        self.fails("choices", "--api", "!nothing*", "suite", message="--api 'nothing\\*' matches no model of an API")
        self.fails("choices", "--api", "qsort", "--api", "!qsort", "suite", message="--api excludes every API")
        self.fails("choices", "--level", "two", "suite", message=".*two.*")
        self.fails("choices", "--list-models", "suite", message="--list-models runs nothing and takes no argument, but 'suite' was given")

    def test_pedantic(self):
        """Optional models are used with --pedantic, and what is excluded stays so."""
        models = json.loads(self.run_it("choices", "--list-models", "--format", "json"))["models"]
        # Those of Java are not used: the suite is none.
        models = models[: [model["api"] for model in models].index("HashMap.keySet")]
        optional = sum(model["optional"] for model in models)
        self.assertGreater(optional, 5)
        short = ("--level=full", "--runs=1", "--baselines=1", "--format=json", "--tests=Sort.Fine")
        used = [json.loads(self.run_it("choices", *more, *short, "suite"))["choices"]["models_all"]
                for more in ((), ("--pedantic",), ("--pedantic", "--api=!HOME"), ("--pedantic", "--api=qsort"))]
        self.assertEqual(used, [len(models) - optional, len(models), len(models) - 1, 1])

    def test_list_models(self):
        text = self.run_it("choices", "--list-models", "--api", "qsort")
        self.assertRegex(text, r"^qsort  permute      one   C17 7\.22\.5\.2: [^\n]*\n\n1 model; 0 used only if named with --api, or with --pedantic\n$")
        models = json.loads(self.run_it("choices", "--list-models", "--format", "json"))["models"]
        self.assertIn({"api": "qsort", "kind": "permute", "level": "one", "optional": False, "clause": CLAUSE,
                       "never": "elements that compare as different, or an inconsistent comparison"}, models)
        names = [model["api"] for model in models]
        self.assertEqual(len(names), len(set(names)), "a name stands for one model")
        self.assertEqual(self.run_it("choices", "--list-models", "-q").splitlines(), names)
        for model in models:
            self.assertIn(model["kind"], ["permute", "random", "extend", "short", "spurious", "environment"], model)
            self.assertIn(model["level"], ["one", "eq", "id", "full"], model)
            self.assertTrue(model["clause"] and model["never"], model)
        self.fails("choices", "--list-models", "--format", "junit", message=".*--list-models runs none",
                   hint="use text or json")

    def test_config(self):
        self.write("polygraph.toml", '[choices]\napi = ["qsort"]\nlevel = "one"\nruns = 2\n')
        result = json.loads(self.run_it("choices", "--format=json", "suite", status=1))
        self.assertEqual(result["choices"]["levels"], ["one"])
        self.assertEqual(result["choices"]["runs"], 2)

    # What tests do by themselves

    def test_failing(self):
        self.write("suite", SUITE.replace("Plain|||pass", "Plain|||fail|0|no"))
        self.assertIn("FAIL", self.choices(status=1))
        self.assertIn("no unsafe API assumption found", self.full("--tests=Plain", status=3))
        self.assertIn("\nno problem found in 1 test, of which 1 fails\n", self.choices("--tests=Plain", status=3))

    def test_random(self):
        self.write("suite", "Coin|||random\nPlain|||pass\n")
        text = self.choices("--baselines=4", status=1)
        self.assertIn("high    Coin is flaky: fails in 15 of 30 identical runs alone  [flaky-", text)
        found, = self.json("--baselines=4", status=1)["findings"]
        self.assertEqual((found["kind"], found["test"], found["runs"], found["failures"]), ("flaky", "Coin", 30, 15))

    def test_nothing_to_choose(self):
        text = self.full("--tests=Plain")
        self.assertIn("models: none of 1 exercised", text)
        self.assertIn("limit: choices: the tests made no call that could be varied, so this proves nothing\n", text)

    def test_budget(self):
        self.write("suite", "".join(f"T{i}|||pass|10\n" for i in range(20)))
        text = self.full("--budget=300ms")
        self.assertRegex(text, r"the budget of 300ms left open: choices \(\d of 12 runs with choices made\); --budget 1500ms goes further\n")
        self.assertRegex(text, r"limit: choices: \d of 12 runs with choices made \(budget 300ms\)\n")

    def test_cannot(self):
        self.write("suite", "no choices|||pass\nPlain|||pass\n")
        self.fails("choices", *ONLY, "suite", message="what APIs do cannot be chosen for fake suites")
        text = self.run_it("check", "-v", "suite", stderr=".*")
        self.assertIn("limit: choices: not searched (what APIs do cannot be chosen for fake suites)\n", text)

    # check and replay

    def test_check(self):
        text = self.run_it("check", "-v", *ONLY, "suite", status=1, stderr=".*")
        self.assertIn("no test leaves shared state changed\n", text)
        self.assertIn("no order-dependent test found\n", text)
        self.assertIn("3 tests assume more than an API promises: 3 findings\n", text)
        self.assertIn("5 tests: 5 passed", text)
        self.assertIn("reproduced", self.run_it("replay", "choice-a580", status=1))
        text = self.run_it("check", "--no-choices", "suite")
        self.assertNotIn("assume", text)
        result = json.loads(self.run_it("check", *ONLY, "--level=one", "--format=json", "suite", status=1))
        self.assertEqual([finding["kind"] for finding in result["findings"]], ["assumption"] * 3)
        self.assertEqual(result["choices"]["runs"], 3)

    def test_replay(self):
        self.choices(status=1)
        self.assertEqual(self.run_it("replay", "--list"), """\
choice-a580e31df121  choices  Listing.PrintsAll: qsort
choice-0901bd0d7bee  choices  Sort.Both: qsort
choice-290c0c499922  choices  Sort.Early: qsort
""")
        self.assertEqual(self.run_it("replay", "-n", "2", "choice-a580", status=1), """\
with choices 1/2: fail: Listing.PrintsAll: expected "a b c",\\n got "b a c" (tests/listing.cc:19)
with choices 2/2: fail: Listing.PrintsAll: expected "a b c",\\n got "b a c" (tests/listing.cc:19)
without choices 1/2: pass: Listing.PrintsAll
without choices 2/2: pass: Listing.PrintsAll
reproduced: Listing.PrintsAll fails with the decisive choices and passes without, 2 of 2 times each
""")
        for finding in "choice-0901", "choice-290c":
            self.assertIn("reproduced", self.run_it("replay", "-q", finding, status=1))
        result = json.loads(self.run_it("replay", "--format=json", "choice-0901", status=1))
        self.assertTrue(result["reproduced"])
        self.assertEqual([run["outcome"] for run in result["with"]["runs"]], ["fail"] * 3)
        self.assertEqual([run["outcome"] for run in result["without"]["runs"]], ["pass"] * 3)
        # Another choice than the decisive one is not it.
        self.write("suite", SUITE.replace(";1|0", ";2|0").replace("Sort.Early", "Sort.Gone"))
        changed = "polygraph: warning: 'suite' has changed since this was found\n"
        self.assertIn("not reproduced: Listing.PrintsAll fails 0 of 3 times with the decisive choices, and passes 3 of 3 times "
                      "without\n", self.run_it("replay", "choice-a580", stderr=changed))
        self.run_it("replay", "choice-290c", status=3, stderr=".*no longer has a test 'Sort.Early'\n.*")

    def test_later_run_replaces(self):
        self.choices(status=1)
        self.write("suite", "Plain|||pass\n")
        self.choices()
        self.assertEqual(self.run_it("replay", "--list", stderr=".*no findings\n"), "")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    fresh.start()
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
