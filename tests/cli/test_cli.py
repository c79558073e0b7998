#!/usr/bin/env python3
"""The whole command line, on a suite made of paper (fake_suite.c).

usage: test_cli.py POLYGRAPH-WITH-FAKE-SUITE [-v] [TEST…]

The one command that runs a failing test again:
    tests/cli/test_cli.py PROGRAM Cli.test_name
"""
import fcntl
import json
import os
import pty
import re
import resource
import select
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest
import xml.etree.ElementTree as ElementTree

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import fresh  # noqa: E402

PROGRAM = None

TESTS = r"""Registry.Adds|tests/registry_test.cc|12|pass|0.4
Registry.Removes|tests/registry_test.cc|20|fail|1.2|expected 1\ngot 2|tests/registry_test.cc:24|some\noutput\n
Name with spaces and "quotes"|x.c|3|crash|2|Segmentation fault
Newline\nin name|a.c|4|timeout|3|no end after 30 s
ünïcödé 中文|a.c|7|skip|0|needs a network
back\\slash|||pass
bad\xff\x01byte|../b.c|8|pass|0.1
Off.DISABLED_x|a.c|9|disabled
"""
NAMES = ["Registry.Adds", "Registry.Removes", 'Name with spaces and "quotes"',
         "Newline\nin name", "ünïcödé 中文", "back\\slash", "bad\\xff\x01byte",
         "Off.DISABLED_x"]


class Cli(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="polygraph-cli-")
        self.addCleanup(self.folder.cleanup)
        self.write("suite", TESTS)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8", newline="") as file:
            file.write(text)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def run_it(self, *args, status=0, stderr=""):
        """Standard output; checks status and standard error (a regex)."""
        done = subprocess.run([PROGRAM, *args], cwd=self.folder.name,
                              capture_output=True, timeout=60, check=False)
        out, err = done.stdout.decode(), done.stderr.decode()
        self.assertEqual(done.returncode, status, f"{args}\n{out}\n{err}")
        self.assertRegex(err, re.compile(f"^(?:{stderr})$", re.DOTALL))
        return out

    def fails(self, *args, message, hint=None, status=2):
        pattern = f"polygraph: {message}\n"
        pattern += f"  {hint}\n" if hint else "(?:  .*)?"
        self.assertEqual(self.run_it(*args, status=status, stderr=pattern), "")

    def json(self, *args, status=0):
        return json.loads(self.run_it(*args, status=status))

    def names(self, *args, status=0):
        result = self.json("run", "--format", "json", *args, status=status)
        return [test["name"] for test in result["tests"]]

    # What the program says of itself

    def test_help(self):
        main = self.run_it("--help")
        self.assertIn("Commands:", main)
        self.assertEqual(main, self.run_it("help"))
        self.assertEqual(main, self.run_it("-h"))
        self.assertEqual(self.run_it("help", "run"), self.run_it("run", "--help"))
        # -h is what is used most: a screen or two, and it says where the rest is.
        whole, short = (self.run_it("check", word) for word in ("--help", "-h"))
        self.assertLess(len(short.splitlines()), len(whole.splitlines()) / 2)
        self.assertLessEqual(set(short.splitlines()[:3]), set(whole.splitlines()))
        options = len(re.findall("^ {2,6}(?:-., )?--", whole, re.M))
        self.assertEqual(short.splitlines()[-1], f"'polygraph help check' explains all {options} options and has examples.")
        for word in ("--budget", "--output", "--ctest", "--baseline", "--help"):
            self.assertRegex(short, f"(?m)^ .*{word}")
        self.assertNotIn("--page-tracking", short)
        self.assertEqual(self.run_it("init", "-h"), self.run_it("init", "--help"))
        self.assertNotIn("  man", main)
        self.run_it(status=2, stderr="Usage: .*")
        version = r"polygraph 0\.1\.0 \(commit ([0-9a-f]{12}(-dirty)?|unknown)\)\n"
        self.assertRegex(self.run_it("--version"), f"^{version}$")
        self.assertRegex(self.run_it("version"), f"^{version}$")

    def test_manual(self):
        for command, title in ([], "POLYGRAPH"), (["run"], "POLYGRAPH-RUN"):
            page = self.run_it("man", *command)
            self.assertTrue(page.startswith(f".TH {title} 1 "))

    def test_log(self):
        def log(channels):
            done = subprocess.run([PROGRAM, "list", "suite"], cwd=self.folder.name, capture_output=True, timeout=60,
                                  env={**os.environ, "POLYGRAPH_LOG": channels}, check=True)
            return done.stderr.decode().splitlines()

        self.assertEqual(log(""), [])
        head = r"polygraph: \[cli\] version 0\.1\.0, Linux .* on .*, user \d+"
        arguments = [f"polygraph: [cli] argument {i}: {word}" for i, word in enumerate(("list", "suite"), 1)]
        for channels in "cli", "wire,cli", "all":
            lines = log(channels)
            self.assertRegex(lines[-3] if channels != "all" else lines[0], head)
            self.assertEqual([line for line in lines if " argument " in line], arguments)
        self.assertEqual(log("wire,report"), ["polygraph: warning: POLYGRAPH_LOG: there is no channel 'wire'"])
        self.assertRegex(self.run_it("man"), r"separated by commas: agent, .*, whole, or all\.")

    def test_commands(self):
        self.fails("lst", "suite", message="'lst' is neither .*",
                   hint="did you mean 'list'.*")
        self.fails("mend", "suite", hint="the commands are: .*list, run.*",
                   message="'mend' is neither a command nor a file")
        # Without one it is 'check'.
        for words in ["check", "gen:3"], ["./three"], ["three"], ["--tests", "*", "gen:3"], ["--ctest", "gen:3"]:
            self.write("three", "a|||pass\nb|||pass\nc|||pass\n")
            self.assertRegex(self.run_it(*words), r"(?m)^no problem found in 3 tests\n\Z")
        self.fails("--no-such-option", "suite", message="unknown option.*", hint="'polygraph help check'.*")

    def test_alone(self):
        """Without words it is 'check' where a polygraph.toml names the suite, here or above."""
        self.write("three", "a|||pass\nb|||pass\nc|||pass\n")
        self.write("polygraph.toml", 'ctest = "three"\n')
        self.assertRegex(self.run_it(), r"(?m)^no problem found in 3 tests\n\Z")
        os.mkdir(self.path("below"))
        done = subprocess.run([PROGRAM], cwd=self.path("below"), capture_output=True, text=True, timeout=60, check=True)
        self.assertIn("no problem found in 3 tests\n", done.stdout)
        # One that names none is none; one that is wrong is an error.
        self.write("polygraph.toml", 'fail-on = "high"\n')
        self.run_it(status=2, stderr="Usage: .*")
        self.write("polygraph.toml", "ctest = 3 4\n")
        self.fails(message="polygraph.toml:1: .*")

    def test_pollution_slips(self):
        self.fails("pollution", "--capture", "begin..end", "suite", message="--capture 'begin..end' is not a pair of points",
                   hint="FROM..TO.*")
        self.fails("pollution", "--capture", "after-teardown..before-setup", "suite",
                   message=".*the second point comes before the first")
        self.fails("pollution", "--container", "app::list", "suite", message=".* is not a valid recipe", hint=".*docs/containers.md")
        self.fails("pollution", "--container", "app::list: chain frist=head", "suite", message=".* is not a valid recipe",
                   hint=".*first, last.*")
        self.fails("pollution", "--baseline", "no-such-file", "suite", message="--baseline: .*no-such-file.*")
        self.fails("pollution", "--only", "sockets", "suite", message=".*sockets.*", hint=".*")
        self.fails("pollution", "--file-tracking", "magic", "suite", message=".*magic.*", hint=".*")
        self.fails("pollution", "--watch-dir", "no-such-folder", "suite", message="--watch-dir 'no-such-folder'.*", hint=".*")
        self.fails("pollution", "--page-tracking", "magic", "suite", message=".*magic.*", hint=".*")

    # Results that are kept, and replay

    KEPT = ("Sets|a.c|3|changes:left.txt\nFine|a.c|5|pass\n"
            "Victim|a.c|9|victim:Sets|1|expected 1\\ngot 2|a.c:11\n"
            "Odd\\xffname|a.c|12|random|1|no luck\n")

    @staticmethod
    def trial(name, order, expect="fail"):
        return {"name": name, "expect": expect, "forced": False, "order": order, "command": []}

    def keep_order(self, failing, passing, more=()):
        """An order-dependent finding, as `order` keeps it; its id."""
        test = failing[-1]
        replay = {"version": 2, "files_digest": "", "test": test, "suite": ["--", "kept"], "files": [],
                  "trials": [self.trial("failing", failing), self.trial("passing", passing, "pass")], **dict(more)}
        finding = {"id": "order-0123456789ab", "kind": "order-dependent", "test": test, "class": "victim"}
        database = sqlite3.connect(self.path(".polygraph/results.db"))
        with database:
            database.execute("PRAGMA foreign_keys = ON")
            database.execute("DELETE FROM runs WHERE command = ?", (b"order",))
            run = database.execute("INSERT INTO runs (suite, command) VALUES (?, ?)", (b"kept", b"order")).lastrowid
            database.execute("INSERT INTO findings VALUES (?, 0, ?, ?, ?)",
                             (run, finding["id"].encode(), json.dumps(finding).encode(),
                              json.dumps(replay).encode()))
        database.close()
        return finding["id"]

    def kept(self):
        self.write("kept", self.KEPT)
        self.run_it("pollution", "--quiet", "kept", status=1)
        return self.run_it("replay", "--list", "--quiet").split()

    def test_kept(self):
        self.write("kept", self.KEPT)
        # Nothing found, nothing kept.
        self.run_it("pollution", "--quiet", "--tests", "Fine", "kept")
        self.assertFalse(os.path.exists(self.path(".polygraph")))
        self.fails("replay", "--list", message="no stored findings.*", hint=".*[.]polygraph.*")
        self.fails("replay", "pollution-1", message="no stored findings.*")
        ids = self.kept()
        self.assertEqual(len(ids), 1)
        self.assertRegex(ids[0], "^pollution-[0-9a-f]{12}$")
        self.assertEqual(sorted(os.listdir(self.path(".polygraph"))), [".gitignore", "report.json", "results.db"])
        self.assertEqual(self.read(".polygraph/.gitignore"), "*\n")
        self.assertEqual(self.run_it("replay", "--list"), f"{ids[0]}  pollution  Sets: left.txt\n")
        found = self.json("replay", "--list", "--format", "json")
        self.assertEqual([(finding["id"], finding["test"], finding["root"]) for finding in found],
                         [(ids[0], "Sets", "left.txt")])
        # A run without findings takes away those of the last one.
        self.write("kept", self.KEPT.replace("changes:left.txt", "pass"))
        self.run_it("pollution", "--quiet", "kept")
        self.assertEqual(self.run_it("replay", "--list", stderr=".*no findings\n"), "")
        self.fails("replay", ids[0], message=f"there is no finding '{ids[0]}'", hint="the last runs had no findings")

    def test_not_kept(self):
        """A place that cannot be written to costs a warning, not the run."""
        self.write("kept", self.KEPT)
        self.write(".polygraph", "a file")
        out = self.run_it("pollution", "kept", status=1, stderr="polygraph: warning: results are not kept: [^\n]*\n")
        self.assertIn("left.txt", out)
        os.remove(self.path(".polygraph"))
        os.mkdir(self.path(".polygraph"))
        self.write(".polygraph/results.db", "no database" * 100)
        self.run_it("pollution", "kept", status=1, stderr="polygraph: warning: [^\n]*results.db' is damaged[^\n]*\n")
        self.assertIn("results.db.old", os.listdir(self.path(".polygraph")))
        self.run_it("replay", "--list")

    def test_replay_pollution(self):
        found, = self.kept()
        out = self.run_it("replay", found, status=1)
        self.assertIn("Sets leaves left.txt changed", out)
        self.assertNotIn("Fine", out)
        self.assertNotIn("start with", out)
        self.assertRegex(out.splitlines()[-1], "^reproduced: Sets leaves left.txt changed.*")
        out = self.run_it("replay", "--quiet", found[:-4], status=1)
        self.assertRegex(out, "^reproduced: [^\n]*\n$")
        self.assertTrue(self.json("replay", "--format", "json", found, status=1)["reproduced"])
        # What is kept stays what the last run found.
        self.assertEqual(self.run_it("replay", "--list", "--quiet").split(), [found])
        self.write("kept", self.KEPT.replace("changes:left.txt", "pass"))
        out = self.run_it("replay", found, stderr=".*'kept' has changed since this was found\n")
        self.assertRegex(out.splitlines()[-1], "^not reproduced: Sets leaves.*")
        self.assertFalse(self.json("replay", "--quiet", "--format", "json", found)["reproduced"])
        os.remove(self.path("kept"))
        self.fails("replay", found, message=".*kept.*", status=3)

    def test_replay_order(self):
        self.kept()
        found = self.keep_order(["Sets", "Victim"], ["Fine", "Victim"])
        line = "failing order {}/3: fail: [Sets, Victim]: expected 1\\ngot 2 (a.c:11)\n"
        good = "passing order {}/3: pass: [Fine, Victim]\n"
        verdict = "reproduced: Victim fails in the failing order and passes in the passing one, {0} of {0} times each\n"
        self.assertEqual(self.run_it("replay", found, status=1),
                         "".join(line.format(i) for i in (1, 2, 3)) + "".join(good.format(i) for i in (1, 2, 3)) +
                         verdict.format(3))
        self.assertEqual(self.run_it("replay", "--quiet", "--times=7", "order", status=1), verdict.format(7))
        self.assertIn("\033[32mfail", self.run_it("replay", "--color=always", "-n1", found, status=1))
        result = self.json("replay", "--format=json", "--times=2", found, status=1)
        self.assertEqual(result["id"], found)
        self.assertTrue(result["reproduced"])
        failure = {"outcome": "fail", "message": "expected 1\ngot 2", "file": "a.c", "line": 11}
        self.assertEqual(result["failing"], {"order": ["Sets", "Victim"], "runs": [failure] * 2})
        self.assertEqual([run["outcome"] for run in result["passing"]["runs"]], ["pass"] * 2)

        found = self.keep_order(["Fine", "Victim"], ["Fine", "Victim"])
        self.assertEqual(self.run_it("replay", "--quiet", found),
                         "not reproduced: Victim fails 0 of 3 times in the failing order\n")
        # It fails every second time, whatever the order; and its name is no UTF-8.
        found = self.keep_order(["Sets", "Odd\\xffname"], ["Odd\\xffname"])
        self.assertEqual(self.run_it("replay", "--quiet", found),
                         "not reproduced: Odd\\xffname fails only 1 of 3 times in the failing order, "
                         "and passes only 1 of 3 times in the passing order\n")
        many = ["Fine"] * 9 + ["Sets", "Victim"]
        found = self.keep_order(many, ["Victim"])
        self.assertIn("[Fine, Fine, Fine, … 7 more, Victim]: ", self.run_it("replay", "-n1", found, status=1))

    def test_options_behind_words(self):
        """Of replay and others whose words are not a program's."""
        self.kept()
        found = self.keep_order(["Sets", "Victim"], ["Fine", "Victim"])
        wanted = self.run_it("replay", "--quiet", "--times=2", found, "kept", status=1)
        for words in ([found, "--quiet", "--times=2", "kept"], ["--quiet", found, "kept", "--times", "2"], [found, "kept", "-qn2"]):
            self.assertEqual(self.run_it("replay", *words, status=1), wanted)
        self.fails("replay", found, "--", "--times=2", message=f"'{found}' does not belong to '--times=2'", hint=".*")

    def test_replay_slips(self):
        known, = self.kept()
        found = self.keep_order(["Sets", "Victim"], ["Victim"])
        self.fails("replay", message="no finding given", hint="give the id of a finding; --list shows them")
        self.fails("replay", found, "another", message=f"'{found}' does not belong to 'another'", hint="it belongs to .*")
        self.fails("replay", found, "another", "third", message="one finding at a time, not also 'third'",
                   hint="give one id, and the program whose finding it is")
        self.fails("replay", "--list", found, message="--list takes no finding.*")
        self.fails("replay", "--times=0", found, message=".*range.*", hint=".*")
        self.fails("replay", "order-0123456789ac", message="there is no finding 'order-0123456789ac'",
                   hint=f"did you mean '{found}'. known are:\n  {found}  victim  Victim\n"
                        f"  {known}  pollution  Sets: left.txt")
        self.fails("replay", "", message="there is no finding ''", hint="known are:.*")
        found = self.keep_order(["Sets", "Victim"], ["Victim"], {"files": ["no-such-file"]})
        self.fails("replay", found, message="cannot keep 'no-such-file'", status=3)
        found = self.keep_order(["Gone", "Victim"], ["Victim"])
        self.fails("replay", found, message="the suite no longer has a test 'Gone'", hint=".*polygraph order.*", status=3)
        for wrong in ({"version": 1}, {"files": None}, {"suite": []}, {"test": "Sets"}, {"test": None}, {"trials": []},
                      {"trials": [self.trial("failing", [])]}, {"trials": [self.trial("failing", "Victim")]},
                      {"trials": [self.trial("failing", ["Victim", 3])]}, {"trials": [self.trial("failing", ["Sets"])]},
                      {"trials": [self.trial("failing", ["Victim"], "luck")]},
                      {"trials": [self.trial("alone", ["Victim"], "finding")]}):
            found = self.keep_order(["Sets", "Victim"], ["Victim"], wrong)
            message = "this finding was stored by another version.*" if "version" in wrong else "the stored record.*cannot be read.*"
            self.fails("replay", found, message=message, hint="run the command.*", status=4)
        found = self.keep_order(["Sets", "Victim"], ["Victim"], {"suite": ["--frame", "x", "kept"]})
        self.fails("replay", found, message="unknown option '--frame'", hint=".*")
        found = self.keep_order(["Sets", "Victim"], ["Victim"], {"files_digest": "0" * 32})
        self.run_it("replay", "--quiet", found, status=1)
        self.run_it("replay", found, status=1, stderr=".*'kept' has changed since this was found\n")

    def test_slips(self):
        self.fails("run", "--fromat", "json", "suite",
                   message="unknown option '--fromat'",
                   hint="did you mean '--format'.*")
        self.fails("list", "--format", "xml", "suite",
                   message="--format: there is no 'xml'", hint="possible values: text, json, sarif, junit, html")
        for name in ("sarif", "html"):
            self.fails("list", "--format", name, "suite", message=f"the format '{name}' is for tests that ran.*")
        self.fails("list", "--format", "junit", "suite",
                   message="the format 'junit' is for tests that ran.*")
        self.fails("run", message="no test executable given.*")
        self.fails("run", "--ctest", "x", "suite", message="both .*")
        self.fails("run", "--reverse", "--shuffle", "suite", message=".*")
        self.fails("run", "--tests", "Registry.Add", "suite",
                   message="no test matches.*", hint="did you mean.*Adds'.*")
        self.fails("run", "nothing", status=3, message="cannot open.*")
        self.fails("run", "gen:0", status=3, message="'gen:0' has no tests")

    def test_late_options(self):
        warning = "polygraph: warning: '--format' comes after.*\n"
        self.run_it("list", "suite", "--format", "json", stderr=warning)
        self.run_it("list", "--", "suite", "--format", "json")
        self.run_it("list", "-q", "suite", "--format", "json")

    # list

    def test_list(self):
        lines = self.run_it("list", "suite").split("\n")
        self.assertEqual(lines[0],
                         "Registry.Adds                  "
                         "tests/registry_test.cc:12")
        self.assertEqual(lines[4], "ünïcödé 中文                   a.c:7")
        self.assertEqual(lines[-2], "8 tests, 1 disabled (fake)")
        result = self.json("list", "--format=json", "suite", "--x")
        self.assertEqual(result["suite"],
                         {"command": ["suite", "--x"], "arguments": ["--x"], "framework": "fake",
                          "tests": 8})
        self.assertEqual([t["name"] for t in result["tests"]], NAMES)
        self.assertEqual(result["tests"][7]["disabled"], True)
        self.assertEqual(result["findings"], [])

    def test_list_of_processes(self):
        result = self.json("list", "--format=json", "--commands", "suite")
        self.assertEqual(result["suite"]["command"], ["--commands", "suite"])

    def test_quiet_list_is_an_order(self):
        self.write("order", self.run_it("list", "--quiet", "suite"))
        self.assertEqual(self.names("--order", "order", "suite", status=3),
                         NAMES)

    # run

    def test_run(self):
        out = self.run_it("run", "suite", status=3)
        self.assertNotIn("Registry.Adds", out)
        self.assertIn("FAIL       1.2 ms  Registry.Removes\n"
                      "        tests/registry_test.cc:24\n"
                      "        expected 1\n        got 2\n"
                      "        | some\n        | output\n", out)
        self.assertRegex(out, r"8 tests: 3 passed, 1 failed, 1 crashed, "
                              r"1 timed out, 2 skipped \(1 disabled\) in ")
        self.assertIn("PASS", self.run_it("run", "-v", "suite", status=3))
        quiet = self.run_it("run", "-q", "suite", status=3)
        self.assertEqual(quiet.count("\n"), 3)
        self.assertNotIn("\033", out)
        self.assertIn("\033", self.run_it("run", "--color", "always", "suite",
                                          status=3))

    def test_json(self):
        result = self.json("run", "--format", "json", "suite", status=3)
        self.assertEqual(result["schema"], 1)
        self.assertEqual(result["polygraph"], "0.1.0")
        self.assertEqual([t["outcome"] for t in result["tests"]],
                         ["pass", "fail", "crash", "timeout", "skip", "pass",
                          "pass", "skip"])
        self.assertEqual(result["tests"][1]["failure"],
                         {"file": "tests/registry_test.cc", "line": 24,
                          "message": "expected 1\ngot 2"})
        verbose = self.json("run", "-v", "--format", "json", "suite", status=3)
        self.assertEqual(verbose["tests"][1]["output"], "some\noutput\n")

    def test_junit(self):
        out = self.run_it("run", "--format", "junit", "suite", status=3)
        suite = ElementTree.fromstring(out)[0]
        self.assertEqual(suite.get("errors"), "2")
        self.assertEqual([case.get("name") for case in suite.findall("testcase")],
                         NAMES[:6] + ["bad\\xff\\x01byte", NAMES[7]])

    def test_orders(self):
        three = [f"Generated.Test0000{i}" for i in range(3)]
        self.assertEqual(self.names("gen:3"), three)
        self.assertEqual(self.names("--reverse", "gen:3"), three[::-1])
        self.assertEqual(self.names("--repeat", "2", "gen:3"),
                         [three[0]] * 2 + [three[1]] * 2 + [three[2]] * 2)
        self.write("order", f"{three[2]}\r\n\n{three[0]}\n{three[2]}")
        self.assertEqual(self.names("--order", "order", "gen:3"),
                         [three[2], three[0], three[2]])
        self.assertEqual(self.names("--order=order", "--tests=!*0", "gen:3"),
                         [three[2], three[2]])
        self.assertEqual(self.names("--tests", "*2", "--tests", "*0", "gen:3"),
                         [three[0], three[2]])

    def test_shuffle(self):
        args = ["run", "--shuffle", "--format", "json", "gen:50"]
        first = self.json(*args)
        again = self.json(*args[:-1], "--seed", str(first["seed"]), "gen:50")
        self.assertEqual([t["name"] for t in first["tests"]],
                         [t["name"] for t in again["tests"]])
        self.assertNotEqual([t["name"] for t in first["tests"]],
                            self.names("gen:50"))
        self.assertIn("--seed 7 repeats", self.run_it(
            "run", "--shuffle", "--seed", "7", "gen:5"))

    def test_unknown_names_in_order(self):
        self.write("order", "Registry.Adds\nRegistry.Aads\nzzzz\n1\n2\n3\n4\n")
        self.fails("run", "--order", "order", "suite",
                   message="order file 'order' names 6 tests the suite.*",
                   hint="line 2: 'Registry.Aads' .did you mean "
                        "'Registry.Adds'.*\n  … and 1 more")
        self.write("order", "\n\n")
        self.fails("run", "--order", "order", "suite", message=".*no test")
        self.fails("run", "--order", "absent", "suite", message="cannot open.*")

    def test_disabled(self):
        def outcome(*args):
            return [t["outcome"] for t in self.json(
                "run", "--format", "json", *args, "suite")["tests"]]
        self.assertEqual(outcome("--tests", "Off*"), ["skip"])
        self.assertEqual(outcome("--tests", "Off.DISABLED_x"), ["pass"])
        self.write("order", "Off.DISABLED_x\n")
        self.assertEqual(outcome("--order", "order"), ["skip"])

    def test_budget(self):
        result = self.json("run", "--budget", "200ms", "--format", "json",
                           "gen:1000:20000")
        self.assertLess(len(result["tests"]), 50)
        self.assertRegex(result["limits"][0],
                         r"^run: \d+ of 1000 tests not run \(budget 200ms\)$")

    def test_broken_suite(self):
        out = self.run_it("run", "broken:3", status=3,
                          stderr="polygraph: the program left after.*")
        self.assertIn("3 tests: 3 passed", out)
        self.assertIn("7 of 10 tests without a result", out)

    def test_many(self):
        def spent():
            usage = resource.getrusage(resource.RUSAGE_CHILDREN)
            return usage.ru_utime + usage.ru_stime

        before = spent()
        self.assertEqual(len(self.names("gen:20000")), 20000)
        self.run_it("run", "gen:20000")
        self.assertLess(spent() - before, 10)

    # Where reports go

    def test_outputs(self):
        out = self.run_it("run", "--format", "text", "--format", "json",
                          "-o", "x.json", "--format=junit", "--output=x.xml",
                          "gen:2")
        self.assertIn("2 tests: 2 passed", out)
        self.assertEqual(len(json.loads(self.read("x.json"))["tests"]), 2)
        ElementTree.parse(self.path("x.xml"))
        self.assertEqual(sorted(os.listdir(self.folder.name)),
                         ["suite", "x.json", "x.xml"])
        self.assertEqual(self.run_it("list", "-o", "x.txt", "gen:2"), "")
        self.assertIn("2 tests", self.read("x.txt"))

    def test_format_by_name(self):
        begins = {"html": "<!doctype html>", "json": "{", "sarif": "{", "xml": "<?xml", "txt": "2 tests: 2 passed"}
        for end, beginning in begins.items():
            self.run_it("run", "-o", f"x.{end}", "gen:2")
            self.assertTrue(self.read(f"x.{end}").lstrip().startswith(beginning), end)
        self.assertIn('"version": "2.1.0"', self.read("x.sarif"))
        # Several, and also beside a --format, which is for the others.
        self.assertEqual(self.run_it("run", "-o", "1.json", "-o", "1.xml", "gen:2"), "")
        self.assertIn("2 passed", self.run_it("run", "-o", "2.html", "--format", "text", "-o", "-", "-o", "2.json", "gen:2"))
        self.run_it("run", "--format", "junit", "-o", "3.json", "-o", "3.html", "gen:2")
        for name, beginning in {"1.json": "{", "1.xml": "<?xml", "2.html": "<!d", "2.json": "{", "3.json": "<?xml", "3.html": "<!d"}.items():
            self.assertTrue(self.read(name).startswith(beginning), name)
        # Where a format is given, it counts, before or after.
        for words in ["--format=json", "-o", "4.html"], ["-o", "4.html", "--format=json"]:
            self.run_it("run", *words, "gen:2")
            json.loads(self.read("4.html"))
        self.fails("list", "-o", "x.html", "gen:2", message="the format 'html' is for tests that ran.*")

    def test_output_keeps_links_and_modes(self):
        self.write("real", "")
        os.chmod(self.path("real"), 0o640)
        os.symlink("real", self.path("link"))
        self.run_it("list", "-o", "link", "gen:2")
        self.assertTrue(os.path.islink(self.path("link")))
        self.assertIn("2 tests", self.read("real"))
        self.assertEqual(os.stat(self.path("real")).st_mode & 0o777, 0o640)

    def test_bad_outputs(self):
        self.fails("run", "-o", "no/x", "gen:1", message="cannot write.*")
        self.fails("run", "-o", ".", "gen:1", message=".*is a folder")
        self.fails("run", "-o", "a", "-o", "b", "gen:1", message=".*no --form.*")
        self.fails("run", "--format=json", "--format=text", "gen:1",
                   message=".*cannot both go to standard output")
        self.fails("run", "--format=json", "-o", "a", "--format=text", "-o",
                   "a", "gen:1", message=".*given twice")
        self.fails("list", "-o", "/dev/full", "gen:1", status=4,
                   message=".*No space left.*")
        self.fails("run", "--pass-through", "--format=json", "gen:1",
                   message="--pass-through would mix.*")

    def test_closed_pipe(self):
        for args in ["list"], ["run", "-v"], ["run", "--format", "json"]:
            process = subprocess.Popen(
                [PROGRAM, *args, "gen:20000"], stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, restore_signals=True)
            process.stdout.readline()
            process.stdout.close()
            self.assertEqual(process.stderr.read(), b"")
            self.assertEqual(process.wait(), -signal.SIGPIPE)
            process.stderr.close()

    def test_pass_through(self):
        out = self.run_it("run", "--pass-through", "suite", status=3)
        self.assertTrue(out.startswith("some\noutput\n"))

    # Configuration

    def test_config(self):
        self.write("polygraph.toml",
                   'tests = ["*1"]\n[run]\nformat = "json"\n')
        self.assertIn("1 test of 3", self.run_it("list", "gen:3"))
        self.assertEqual(len(self.json("run", "gen:3")["tests"]), 1)
        self.assertIn("2 tests of 3",
                      self.run_it("list", "--tests", "!*1", "gen:3"))
        self.assertIn("3 tests",
                      self.run_it("list", "--config", "/dev/null", "gen:3"))
        self.write("other.toml", "\ntimeuot = 1\n")
        self.fails("list", "--config=other.toml", "gen:3",
                   message="other.toml:2: there is no option 'timeuot'",
                   hint="did you mean 'timeout'.*")
        self.fails("list", "--config=absent", "gen:3", message="cannot open.*")

    def test_config_suite(self):
        self.write("polygraph.toml", 'commands = "gen:2"\n')
        self.assertIn("2 tests", self.run_it("list"))
        self.assertIn("3 tests", self.run_it("list", "gen:3"))
        self.assertIn("4 tests", self.run_it("list", "--ctest", "gen:4"))

    def test_config_loudness(self):
        self.write("polygraph.toml", "quiet = true\n")
        self.assertEqual(self.run_it("run", "gen:2"), "")
        self.assertIn("2 tests", self.run_it("run", "--no-quiet", "gen:2"))
        self.assertIn("PASS", self.run_it("run", "-v", "gen:2"))

    # Signals and terminals

    def noting(self):
        """An environment in which the fake suite notes each test it starts."""
        if os.path.exists(self.path("started")):
            os.unlink(self.path("started"))
        return dict(os.environ, FAKE_STARTED=self.path("started"))

    def wait_until_started(self, tests):
        self.assertTrue(fresh.wait_for(
            lambda: fresh.size_of(self.path("started")) >= tests))

    def test_interrupt(self):
        for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
            process = subprocess.Popen(
                [PROGRAM, "run", "--format", "json", "-o", "part.json",
                 "gen:1000:200000"], cwd=self.folder.name,
                stderr=subprocess.PIPE, env=self.noting())
            self.wait_until_started(2)
            process.send_signal(number)
            _, err = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 130)
            self.assertEqual(err, b"polygraph: interrupted\n")
            result = json.loads(self.read("part.json"))
            self.assertTrue(0 < len(result["tests"]) < 500)
            self.assertRegex(result["limits"][0], "^run: interrupted, ")

    def test_second_interrupt(self):
        self.write("stuck", "a|||pass|20000|STUCK\n")
        process = subprocess.Popen([PROGRAM, "run", "stuck"],
                                   cwd=self.folder.name, env=self.noting())
        self.wait_until_started(1)
        process.send_signal(signal.SIGINT)
        time.sleep(0.5)  # less would be one signal heard twice
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=60), 130)

    def test_ignored_signals_stay_ignored(self):
        process = subprocess.Popen(
            ["sh", "-c", 'trap "" HUP INT; exec "$0" run gen:30:20000',
             PROGRAM], stdout=subprocess.PIPE, env=self.noting())
        self.wait_until_started(1)
        process.send_signal(signal.SIGHUP)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0)
        self.assertIn(b"30 passed", out)

    def test_suspend(self):
        try:
            pid, fd = pty.fork()
        except OSError as error:
            self.skipTest(f"no terminal to be had: {error}")
        if pid == 0:
            os.execve(PROGRAM, [PROGRAM, "run", "-q", "gen:60:20000"],
                      self.noting())
        self.wait_until_started(1)
        os.write(fd, b"\x1a")  # Ctrl-Z
        _, status = os.waitpid(pid, os.WUNTRACED)
        self.assertTrue(os.WIFSTOPPED(status))
        time.sleep(0.2)
        self.assertEqual(os.waitpid(pid, os.WNOHANG), (0, 0))
        os.kill(pid, signal.SIGCONT)
        _, status = os.waitpid(pid, 0)
        os.close(fd)
        self.assertEqual(os.waitstatus_to_exitcode(status), 0)

    def on_terminal(self, *args, term="xterm", columns=0):
        """What a terminal gets to see, and the exit status."""
        try:
            pid, fd = pty.fork()
        except OSError as error:
            self.skipTest(f"no terminal to be had: {error}")
        if pid == 0:
            os.chdir(self.folder.name)
            os.environ["TERM"] = term
            os.environ.pop("NO_COLOR", None)
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
            os.execv(PROGRAM, [PROGRAM, *args])
        seen = b""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            if not select.select([fd], [], [], 0.5)[0]:
                continue
            try:
                chunk = os.read(fd, 65536)
            except OSError:
                break
            if not chunk:
                break
            seen += chunk
        os.close(fd)
        _, status = os.waitpid(pid, 0)
        return seen.decode(), os.waitstatus_to_exitcode(status)

    def test_terminal(self):
        start = time.monotonic()
        seen, status = self.on_terminal("run", "gen:300:2000")
        seconds = time.monotonic() - start
        self.assertEqual(status, 3)
        self.assertRegex(seen, r"\r\x1b\[K +\d+/300  (\d failed  )?Generated")
        # Drawn every 80 ms, however long it takes.
        self.assertLess(seen.count("\r\x1b[K"), 20 + seconds / 0.08)
        # The line is gone before the report begins.
        self.assertIn("\r\x1b[K\x1b[1;31mFAIL", seen)
        for calm in ["--quiet"], ["--pass-through"]:
            seen, _ = self.on_terminal("run", *calm, "gen:100:2000")
            self.assertNotIn("\x1b[K", seen)
        seen, _ = self.on_terminal("run", "gen:100:2000", term="dumb")
        self.assertNotIn("\x1b", seen)
        seen, _ = self.on_terminal("run", "--color=never", "gen:2")
        self.assertNotIn("\x1b[3", seen)

    def test_progress_fits(self):
        """One line, however narrow the terminal is."""
        for columns in (1, 2, 7, 20, 33, 80):
            seen, _ = self.on_terminal("run", "--color=never", "gen:100:3000", columns=columns)
            lines = re.findall(r"\r\x1b\[K([^\r\x1b]*)(?=\r\x1b\[K)", seen)
            self.assertTrue(lines)
            self.assertLess(max(map(len, lines)), columns, (columns, lines))

    def test_width(self):
        """Text has the width of the terminal; elsewhere, and in files, nothing is cut or wrapped."""
        long = "Leaves." + "and_then_".join("abcdefgh")
        self.write("kept", self.KEPT.replace("Sets|", f"{long} and some more words of its name|"))
        plain = self.run_it("pollution", "kept", status=1)
        head = next(line for line in plain.splitlines() if long in line)
        self.assertRegex(head, rf"^medium  {long} and some more words of its name leaves left.txt changed  \[pollution-\w+\]$")
        self.assertNotIn("…", plain)
        for columns in (30, 64, 100, 300):
            seen, _ = self.on_terminal("pollution", "--color=never", "--format=text", "-o", "report", "--format=text",
                                       "kept", columns=columns)
            self.assertEqual(self.read("report"), plain, columns)
            lines = seen.replace("\r\n", "\n").rsplit("\r\x1b[K", 1)[-1].splitlines()
            self.assertEqual(" ".join(" ".join(lines).split()), " ".join(plain.split()))
            for line in lines[:-1]:
                self.assertTrue(len(line) <= max(columns, 40) or len(line.split()) == 1 or line.startswith(f"medium  {long}"), line)


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    fresh.start()
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
