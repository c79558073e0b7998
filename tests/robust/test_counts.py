#!/usr/bin/env python3
"""One severity, one count, one exit status: whatever command, format and sentence says it.

usage: test_counts.py --polygraph PATH [-v] [TEST…]

The one command that runs a failing test again is this one with its name, e.g. Severity.test_commands_agree.
"""
import json
import pathlib
import re
import shutil
import signal
import subprocess
import unittest
from xml.etree import ElementTree

import runner
import fresh

POLYGRAPH = None
FOLDER = None

# What is left: a flag that misleads a test, a setting and a file that are read and mislead none, a folder.
LEAVES = """#include <assert.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
int raised, setting = 1, unread;
void test_is_down(void) { assert(raised == 0); }
void test_raises(void) { raised = 1; }
void test_sets(void) { setting = 7; }
void test_reads(void) { assert(setting > 0); }
void test_reads_again(void) { assert(setting < 9); }
void test_writes(void) { FILE *file = fopen("left.txt", "w"); fclose(file); }
void test_looks(void) { FILE *file = fopen("left.txt", "r"); if (file) fclose(file); }
void test_moves(void) { mkdir("below", 0755); assert(!chdir("below")); }
void test_stays(void) { assert(access("nothing", F_OK) != 0); }
void test_ends(void) { unread = 3; }
int main(void)
{
    test_is_down(); test_raises(); test_sets(); test_reads(); test_reads_again(); test_writes(); test_looks(); test_moves();
    test_stays(); test_ends();
    return 0;
}
"""


class Case(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = pathlib.Path(FOLDER) / self.id().rsplit(".", 1)[1]
        self.folder.mkdir()

    def build(self, source, name="suite"):
        """Each source is compiled once."""
        built = pathlib.Path(FOLDER) / f"built-{abs(hash(source))}"
        if not built.exists():
            built.with_suffix(".c").write_text(source)
            subprocess.run(["gcc", "-g", "-O0", "-o", built, built.with_suffix(".c")], check=True)
        shutil.copy2(built, self.folder / name)

    def run_it(self, *words, status=None, **options):
        done = subprocess.run([POLYGRAPH, *words], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=300, check=False, **options)
        if status is not None:
            self.assertEqual(done.returncode, status, f"{words}\n{done.stdout}{done.stderr}")
        return done

    def report(self, command, *words, status=None):
        done = self.run_it(command, "--format", "json", *words, status=status)
        self.assertTrue(done.stdout, done.stderr)
        return json.loads(done.stdout)

    def read(self, name):
        return (self.folder / name).read_text()

    def check(self, *words, status=None):
        """What each format counts."""
        formats = [word for name in ("json", "junit", "sarif", "html") for word in ("--format", name, "-o", f"out.{name}")]
        done = self.run_it("check", "--format", "text", "-o", "out.text", *formats, *words, "./suite")
        totals = json.loads(self.read("out.json"))["totals"]
        problems = totals["problems"]
        root = ElementTree.parse(self.folder / "out.junit").getroot()
        failures = len(root.findall(".//failure")) + len(root.findall(".//error"))
        self.assertEqual(int(root.get("failures")) + int(root.get("errors")), failures)
        self.assertEqual(done.returncode, 1 if problems["counted"] else 3 if totals["failing"] else 0, totals)
        self.assertEqual(done.returncode != 0, failures > 0, self.read("out.junit"))
        self.assertEqual(problems["high"] + problems["medium"] + problems["low"], problems["new"] + problems["known"])
        line = self.read("out.text").splitlines()[-1]
        count = re.match(r"(\d+) problems?|no new problem \((\d+) known\)|no problem found", line)
        self.assertTrue(count, line)
        self.assertEqual(int(count[1] or count[2] or 0), problems["new"] + problems["known"], line)
        page = json.loads(self.read("out.html").split('id="report">')[1].split("</script>")[0])
        self.assertEqual(page["totals"], totals)
        self.assertEqual(json.loads(self.read("out.json"))["run"]["exit_status"], done.returncode)
        if status is not None:
            self.assertEqual(done.returncode, status, line)
        return line, totals, root, done.stderr


class Severity(Case):
    """It follows from what is left and from what its readers do right after it, which each command finds out."""

    @staticmethod
    def severities(report):
        return {finding["id"]: (finding["root"], finding["severity"], finding["message"]) for finding in report["findings"]
                if finding["kind"] == "pollution"}

    def test_commands_agree(self):
        self.build(LEAVES)
        check = self.severities(self.report("check", "./suite"))
        shutil.rmtree(self.folder / ".polygraph")
        self.assertEqual(self.severities(self.report("pollution", "./suite")), check)
        found = {root: severity for root, severity, _ in check.values()}
        self.assertEqual(found["raised"], "high")
        self.assertEqual(found["setting"], "low")
        self.assertEqual(found["left.txt"], "low")
        # Everything after it depends on it, whoever was seen to.
        self.assertEqual(found["working-directory"], "medium")
        self.assertEqual(found["unread"], "low")

    def test_replay_says_what_was_found(self):
        """A replay runs the test alone, which knows less of its readers."""
        self.build(LEAVES)
        for identity, (root, severity, message) in self.severities(self.report("check", "./suite")).items():
            done = self.run_it("replay", identity, status=1)
            lines = done.stdout.splitlines()
            self.assertEqual([line.split()[0] for line in lines if re.match("high|medium|low", line)], [severity], done.stdout)
            self.assertNotIn("no other test was seen to read it" if "other test" in message else "\0", done.stdout, root)


# The second fails in the suite's own order, because of the first.
MISLEADS = """#include <assert.h>
int raised, kept;
void test_raises(void) { raised = 1; }
void test_is_down(void) { assert(raised == 0); }
void test_keeps(void) { kept = 5; }
int main(void) { test_raises(); test_is_down(); test_keeps(); return 0; }
"""
FAILS = """#include <assert.h>
int zero;
void test_passes(void) { }
void test_fails(void) { assert(zero == 1); }
int main(void) { test_passes(); test_fails(); return 0; }
"""


class Counts(Case):
    """Text, JSON, JUnit, SARIF, the page and the exit status come to the same."""

    def test_formats_agree(self):
        self.build(LEAVES)
        for fail_on, status, words in (("low", 1, ""), ("medium", 1, " (4 below severity medium)"), ("high", 1, " (5 below severity high)"),
                                       ("none", 0, "")):
            with self.subTest(fail_on):
                line, totals, root, _ = self.check(f"--fail-on={fail_on}", status=status)
                self.assertTrue(line.startswith(f"6 problems{words} in 10 tests"), line)
                self.assertEqual(totals["fail_on"], fail_on)
                self.assertEqual(len(root.findall(".//system-out")), {"low": 0, "medium": 4, "high": 5, "none": 6}[fail_on])
        self.assertIn(", none of which counts (--fail-on none)", line)
        self.assertEqual({key: totals["problems"][key] for key in ("high", "medium", "low")}, {"high": 1, "medium": 1, "low": 4})

    def test_what_is_new_counts(self):
        """A cause of which the worst is known is as bad as the rest of it."""
        self.build(LEAVES)
        report = self.report("check", "./suite")
        self.write_baseline(finding for finding in report["findings"] if finding["severity"] != "low")
        line, totals, _, _ = self.check("--baseline=known", status=0)
        self.assertIn(", no new one of severity medium or higher", line)
        self.assertEqual((totals["problems"]["new"], totals["problems"]["counted"]), (4, 0))

    def write_baseline(self, findings):
        (self.folder / "known").write_text("".join(f"{finding['id']}\n" for finding in findings))

    def test_tests_that_fail_because_of_what_is_known(self):
        self.build(MISLEADS)
        _, totals, root, _ = self.check(status=1)
        self.assertEqual((totals["tests"]["crash"], totals["failing"]), (1, 0))
        self.write_baseline(self.report("check", "./suite")["findings"])
        line, totals, root, _ = self.check("--baseline=known", status=0)
        self.assertEqual((totals["tests"]["crash"], totals["failing"]), (1, 0))
        self.assertIn("known: crash", " ".join(one.text for one in root.findall(".//skipped")))
        # Also where it was not searched for this time.
        report = self.report("pollution", "--baseline=known", "./suite", status=0)
        self.assertEqual([test["name"] for test in report["tests"] if test.get("known")], ["test_is_down"])
        # Shown again, it is the same.
        self.run_it("report", "--format", "junit", "-o", "again.junit", "out.json", status=0)
        self.assertEqual(self.read("again.junit"), self.read("out.junit"))
        self.check("--fail-on=none", status=0)

    def test_tests_that_fail_on_their_own(self):
        self.build(FAILS)
        line, totals, root, _ = self.check(status=3)
        self.assertEqual(totals["failing"], 1)
        self.assertIn("of which 1 fails", line)
        self.check("--fail-on=none", status=3)


class Baseline(Case):
    def test_first_update(self):
        self.build(LEAVES)
        line, totals, _, said = self.check("--baseline=known", "--update-baseline", status=0)
        n = totals["findings"]["known"]
        self.assertIn(f"known: {n} known findings written, {n} of them new\n", said)
        self.assertEqual(len([one for one in self.read("known").splitlines() if not one.startswith("#")]), n)
        self.assertTrue(line.startswith("no new problem (6 known) in 10 tests"), line)
        self.assertEqual(self.check("--baseline=known", status=0)[0], line)

    def test_tests_that_are_gone(self):
        self.build(LEAVES)
        self.run_it("check", "--baseline=known", "--update-baseline", "./suite", status=0)
        with open(self.folder / "known", "a", encoding="utf-8") as file:
            file.write("order-0123456789ab\ttest_that_went\tfails\n")
        _, _, _, said = self.check("--baseline=known", status=0)
        self.assertIn("there is no test 'test_that_went' any more", said)
        said = self.run_it("check", "--baseline=known", "--update-baseline", "./suite", status=0).stderr
        self.assertIn("; 1 that are gone removed", said)
        self.assertNotIn("any more", said)
        self.assertNotIn("test_that_went", self.read("known"))


WAITS = """#include <stdio.h>
#include <unistd.h>
void test_waits(void) { fclose(fopen(STARTED, "w")); sleep(600); }
void test_more(void) { }
int main(void) { test_waits(); test_more(); return 0; }
"""


class Whole(Case):
    """A whole build comes to what its executables come to."""

    def build_all(self):
        self.build(LEAVES, "a_test")
        self.build(LEAVES, "b_test")
        self.build(MISLEADS, "c_test")

    def whole(self, *words, status=None):
        formats = [word for name in ("json", "junit", "html", "text") for word in ("--format", name, "-o", f"out.{name}")]
        done = self.run_it("check", "--framework=functions", *formats, "--program", "*_test", *words, status=status)
        report = json.loads(self.read("out.json"))
        root = ElementTree.parse(self.folder / "out.junit").getroot()
        page = json.loads(self.read("out.html").split('id="report">')[1].split("</script>")[0])
        self.assertEqual(page["totals"], report["totals"])
        failures = len(root.findall(".//failure")) + len(root.findall(".//error"))
        self.assertEqual(done.returncode != 0, failures > 0)
        return self.read("out.text").splitlines()[-1], report, root, done.stderr

    @staticmethod
    def cases(suites):
        """What each test is called and comes to, whatever suites they are in."""
        return sorted((case.get("name"), [(part.tag, part.get("message"), part.get("type")) for part in case])
                      for suite in suites for case in suite.iter("testcase"))

    def test_as_one_by_one(self):
        self.build_all()
        line, report, root, _ = self.whole(status=1)
        # The same in two programs is one problem.
        self.assertTrue(line.startswith("8 problems (5 below severity medium) in 23 tests of 3 suites; start with: "), line)
        self.assertEqual(report["totals"]["problems"], {"high": 2, "medium": 1, "low": 5, "new": 8, "known": 0, "counted": 3})
        for suite in root:
            name = suite.get("name")
            self.run_it("check", "--fresh", "--framework=functions", "--format", "junit", "-o", "one.junit", f"./{name}")
            one = ElementTree.parse(self.folder / "one.junit").getroot()
            self.assertEqual(self.cases([suite]), self.cases(one))
            self.assertEqual([suite.get("failures"), suite.get("errors")], [one.get("failures"), one.get("errors")])

    def test_what_counts(self):
        self.build_all()
        line, report, _, _ = self.whole("--fail-on=none", status=0)
        self.assertIn(", none of which counts (--fail-on none)", line)
        line, report, _, said = self.whole("--baseline=known", "--update-baseline", status=0)
        self.assertTrue(line.startswith("no new problem (8 known) in 23 tests of 3 suites"), line)
        self.assertIn("known findings written", said)
        self.assertEqual([suite["status"] for suite in report["suites"]], [0, 0, 0])
        again, _, _, _ = self.whole("--baseline=known", status=0)
        self.assertEqual(again, line)
        with open(self.folder / "known", "a", encoding="utf-8") as file:
            file.write("order-0123456789ab\ttest_that_went\tfails\n")
        _, _, _, said = self.whole("--baseline=known", status=0)
        self.assertIn("there is no test 'test_that_went' any more", said)
        self.whole("--baseline=known", "--update-baseline", status=0)
        self.assertNotIn("test_that_went", self.read("known"))

    def test_interrupted(self):
        """What was found until then counts as ever."""
        self.build(LEAVES, "a_test")
        started = self.folder / "started"
        (self.folder / "z.c").write_text(WAITS)
        subprocess.run(["gcc", "-g", f'-DSTARTED="{started}"', "-o", self.folder / "z_test", self.folder / "z.c"], check=True)
        with subprocess.Popen([POLYGRAPH, "check", "--framework=functions", "--sandbox=never", "--program", "*_test"], text=True,
                              cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
            self.assertTrue(fresh.wait_for(started.exists))
            child.send_signal(signal.SIGINT)
            said, _ = child.communicate(timeout=120)
        self.assertEqual(child.returncode, 130)
        line = said.splitlines()[-1]
        self.assertTrue(line.startswith("6 problems (4 below severity medium) in "), said)
        self.assertNotIn("none of", line)


def prepare(polygraph, folder):
    global POLYGRAPH, FOLDER
    POLYGRAPH, FOLDER = polygraph, folder
    return None if shutil.which("gcc") else "gcc is not installed"


if __name__ == "__main__":
    raise SystemExit(runner.main("counts", prepare))
