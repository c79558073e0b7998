#!/usr/bin/env python3
"""Configuration, suppressions, seeds and results that are used again, on a suite made of paper (fake_suite.c, fake_order.c).

usage: test_config.py POLYGRAPH-WITH-FAKE-SUITE [-v] [TEST…]

The one command that runs a failing test again:
    tests/cli/test_config.py PROGRAM Config.test_name
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import fresh  # noqa: E402

PROGRAM = None
SUITE = "Registry.Adds|a.cc|12|changes:left\nRegistry.Empty|a.cc|30|pass\n"
LEFT = "1 problem in 2 tests; start with: polygraph replay pollution-"


class Config(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="polygraph-config-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        os.makedirs(self.path("deep/er"))
        self.write("deep/er/suite", SUITE)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def run_it(self, *args, status=0, stderr="", cwd="deep/er"):
        done = subprocess.run([PROGRAM, *args], cwd=self.path(cwd), capture_output=True, timeout=60, check=False,
                              env=dict(os.environ, TMPDIR=self.folder))
        out, err = done.stdout.decode(), done.stderr.decode()
        self.assertEqual(done.returncode, status, f"{args}\n{out}\n{err}")
        self.assertRegex(err, re.compile(f"^(?:{stderr})$", re.DOTALL))
        return out

    def pollution(self, *args, **options):
        return self.run_it("pollution", "--sandbox=never", *args, "suite", **options)

    def fails(self, *args, message, **options):
        self.run_it(*args, status=2, stderr=f"polygraph: {message}\n(?:  .*\n)?", **options)

    # Where it is

    def test_folders_above(self):
        self.write("polygraph.toml", 'fail-on = "high"\nbaseline = "known.txt"\n')
        self.pollution(status=2, stderr="polygraph: --baseline: .*'../../known.txt'.*")
        self.write("known.txt", "")
        self.assertIn("1 problem in 2 tests, none of severity high; start with: polygraph replay pollution-", self.pollution())
        found = self.run_it("replay", "--list", "-q").strip()
        self.write("known.txt", found + "\n")
        self.assertIn("no new problem (1 known) in 2 tests\n", self.pollution())
        # The nearest one alone counts; and the command line before all.
        self.write("deep/polygraph.toml", 'fail-on = "low"\n')
        self.assertIn(LEFT, self.pollution(status=1))
        self.pollution("--fail-on=high")
        shown = self.run_it("config", "pollution")
        self.assertRegex(shown, r"(?m)^# options of 'pollution' from \.\./polygraph\.toml\n--fail-on=low +# \.\./polygraph\.toml$")
        os.remove(self.path("deep/polygraph.toml"))
        shown = self.run_it("config")
        self.assertIn("--baseline=../../known.txt ", shown)
        self.write("deep/polygraph.toml", '[pollution]\nfail-on = "low"\nfresh-air = 1\n')
        self.fails("pollution", "suite", message="../polygraph.toml:3: there is no option 'fresh-air'")

    def test_none(self):
        self.assertRegex(self.run_it("config"), "^there is no polygraph.toml here or above; 'check' has its defaults\n$")
        self.fails("config", "lst", message="'lst' is neither a command nor a file")
        self.fails("config", "run", "list", message="one command at a time.*")

    def test_schema(self):
        schema = json.loads(self.run_it("config", "--schema"))
        options = schema["properties"]
        self.assertEqual(options["fail-on"]["enum"], ["low", "medium", "high", "none"])
        self.assertEqual(options["tests"]["type"], "array")
        self.assertEqual(options["order"]["type"], "string")
        self.assertIn("budget", options["check"]["properties"])
        self.assertNotIn("fresh", options)
        here = os.path.dirname(os.path.abspath(__file__))
        with open(os.path.join(here, "../../docs/polygraph.schema.json"), encoding="utf-8") as file:
            written = json.load(file)
        # Frameworks are those of the program, and this one has its own.
        for part in (written, schema):
            for table in (part, *part["properties"].values()):
                table.get("properties", {}).pop("framework", None)
        self.assertEqual(written, schema, "written by: build/polygraph config --schema >docs/polygraph.schema.json")

    def test_init(self):
        self.assertIn("wrote polygraph.toml; next: polygraph ./TEST-EXECUTABLE\n", self.run_it("init"))
        self.fails("init", message="there is a polygraph.toml already")
        self.write("deep/er/build/CTestTestfile.cmake", "")
        self.assertIn("the tests of the CMake build in build;", self.run_it("init", "--force"))
        self.assertIn('\nctest = "build"\n', self.read("deep/er/polygraph.toml"))
        self.assertIn("--ctest=build ", self.run_it("config", "list"))
        self.write('deep/er/a "b\\/meson-info/intro-tests.json', "[]")
        self.run_it("init", "--force", 'a "b\\')
        self.assertIn('--meson=a "b', self.run_it("config", "list"))
        self.fails("init", "--force", "nowhere", message="cannot read 'nowhere'.*")
        self.fails("init", "--force", ".", message="'.' is no build folder of CMake or Meson with tests")

    # What is known for a while

    def test_suppress(self):
        rule = "test=Registry.*; reason=it goes away; expires={}"
        self.assertIn("no new problem (1 known) in 2 tests\n", self.pollution("--suppress", rule.format("2999-12-31")))
        self.assertIn(LEFT, self.pollution("--suppress", "kind=order-dependent; " + rule.format("2999-12-31"), status=1))
        self.assertIn(LEFT, self.pollution("--suppress", rule.format("2020-02-29"), status=1,
                                           stderr=".*a suppression has expired on 2020-02-29: it goes away\n"))
        self.write("polygraph.toml", '[[suppress]]\ntest = "Registry.Adds"\nkind = "pollution"\nreason = "why"\n'
                                     'expires = "2999-01-01"\n')
        self.pollution()
        # What is suppressed does not go to a baseline.
        self.pollution("--baseline=known", "--update-baseline", stderr="known: 0 known findings written, 0 of them new\n")
        self.assertNotIn("pollution-", self.read("deep/er/known"))
        for bad, message in (("reason=x; expires=2999-01-01", "neither an id nor a test is given"),
                             ("test=a; expires=2999-01-01", "no reason is given"),
                             ("test=a; reason=x", "there is no day.*"), ("test=a; reason=x; expires=2999-02-30", "there is no day.*"),
                             ("test=a; tset=b", "there is no such key"), ("test", "a part is not 'key=value'"),
                             ("test=a; test=b", "a key is given twice"), ("test=", "a value is empty")):
            self.fails("pollution", "--suppress", bad, "suite", message=f"--suppress '{re.escape(bad)}': {message}")

    def test_baseline(self):
        """Entries of tests and kinds that were not looked for stay."""
        self.fails("pollution", "--update-baseline", "suite", message="--update-baseline does not say which file")
        said = self.pollution("--baseline=known", "--update-baseline", stderr="known: 1 known finding written, 1 of them new\n")
        self.assertIn("no new problem (1 known) in 2 tests\n", said)
        entry = self.read("deep/er/known").splitlines()[1]
        self.assertRegex(entry, "^pollution-[0-9a-f]{12}\tRegistry.Adds\tRegistry.Adds leaves left changed")
        self.write("deep/er/known", f"{entry}\norder-0123456789ab\tRegistry.Empty\tfails\npollution-0123456789ab\n")
        said = self.pollution("--baseline=known")
        self.assertIn("gone    pollution-0123456789ab: not found any more\n", said)
        self.assertNotIn("order-0123456789ab", said)
        self.pollution("--baseline=known", "--tests=Registry.Empty", "--update-baseline", "-q")
        self.assertEqual(len(self.read("deep/er/known").splitlines()), 4)
        said = self.pollution("--baseline=known", "--update-baseline",
                              stderr="known: 2 known findings written, 0 of them new; 1 that are gone removed\n")
        self.assertNotIn("gone    ", said)
        self.assertEqual([line.split("\t")[0] for line in self.read("deep/er/known").splitlines()[1:]],
                         [entry.split("\t")[0], "order-0123456789ab"])
        self.assertIn("2 known findings, 1 of them found by the last runs\n", self.run_it("baseline", "known"))
        self.assertIn("known: 1 known finding written, 0 of them new; 1 that are gone removed\n",
                      self.run_it("baseline", "--update", "known"))
        self.assertEqual(len(self.run_it("baseline", "-q", "known").splitlines()), 1)
        self.fails("baseline", message="no baseline given")
        self.write("deep/er/known", "a\0b")
        self.fails("pollution", "--baseline=known", "suite", message="--baseline: 'known' is not a text")

    # Seeds

    def test_seeds(self):
        def seed(*words):
            text = self.run_it("order", "--sandbox=never", *words, "suite")
            return int(re.search(r"random choices: --seed (\d+) repeats them\n", text).group(1))
        self.assertEqual(seed("--seed=7"), 7)
        drawn = {seed("--seed=random") for _ in range(3)}
        self.assertGreater(len(drawn), 1)
        self.assertGreater(seed("--seed=daily"), 20000)
        self.assertNotIn("--seed", self.run_it("order", "--sandbox=never", "suite"))
        self.fails("order", "--seed=weekly", "suite", message=".*not a number.*")

    # Used again

    def test_again(self):
        def check(*words, status=1):
            text = self.run_it("check", "--sandbox=never", "--no-choices", *words, "suite", status=status)
            return "nothing has changed since the last check" in text, text.splitlines()[-1]
        again, first = check()
        self.assertFalse(again)
        self.assertTrue(first.startswith(LEFT), first)
        self.assertEqual(check(), (True, first))
        # Options that matter, and being asked to.
        self.assertFalse(check("--fresh")[0])
        self.assertFalse(check("--repeat=2")[0])
        self.assertTrue(check("--fail-on=high", status=0)[0])
        self.assertFalse(check("-v")[0])
        # Another suite.
        self.write("deep/er/suite", SUITE + "Another.Test|||pass\n")
        self.assertFalse(check()[0])
        self.assertTrue(check()[0])


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    fresh.start()
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
