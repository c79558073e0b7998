#!/usr/bin/env python3
"""Whole builds: executables that are opened and others, one report and one verdict; shares of a build and their union.

Usage: test_whole.py --polygraph PROGRAM
"""

import json
import os
import pty
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import runner
import fresh  # noqa: E402

POLYGRAPH = None
CMOCKA = r"""
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
int level;
static void raises(void **state) { (void)state; level = LEFT; }
static void is_zero(void **state) { (void)state; assert_int_equal(level, 0); }
static void has_variable(void **state) { (void)state; assert_string_equal(getenv("GIVEN") ? getenv("GIVEN") : "", WANTED); }
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(is_zero), cmocka_unit_test(raises), cmocka_unit_test(has_variable) };
	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests_name("group", tests, NULL, NULL);
}
"""
LOW = r"""
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
static int seen;
static void counts(void **state) { (void)state; seen++; }
static void passes(void **state) { (void)state; assert_true(1); }
int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(counts), cmocka_unit_test(passes) };
	return cmocka_run_group_tests_name("group", tests, NULL, NULL);
}
"""
PLAIN = r"""
#include <fcntl.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	if (argc > 1)
		return access(argv[1], F_OK) == 0;
	return 0;
}
"""
HAND = r"""
#include <stdio.h>
static int level, failures;
static void test_is_zero(void) { failures += level != 0; }
static void test_raises(void) { level = 1; }
int main(void)
{
	test_is_zero();
	test_raises();
	return failures != 0;
}
"""
# Names, what LEFT and WANTED are, and whether the executable has the findings of a polluter and its victim.
SUITES = {"clean": (0, ""), "polluting": (1, ""), "elsewhere": (1, "yes"), "clean_too": (0, "")}


class Whole(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.built = tempfile.TemporaryDirectory(prefix="polygraph-whole-test-")
        cls.programs = Path(cls.built.name)
        (cls.programs / "suite.c").write_text(CMOCKA)
        (cls.programs / "plain.c").write_text(PLAIN)
        for name, (left, wanted) in SUITES.items():
            subprocess.run(["cc", "-g", "-O0", f"-DLEFT={left}", f'-DWANTED="{wanted}"', "-o", f"{name}_test", "suite.c",
                            "-lcmocka"], cwd=cls.programs, check=True)
        (cls.programs / "low.c").write_text(LOW)
        subprocess.run(["cc", "-g", "-o", "plain", "plain.c"], cwd=cls.programs, check=True)
        subprocess.run(["cc", "-g", "-O0", "-o", "low_test", "low.c", "-lcmocka"], cwd=cls.programs, check=True)

    @classmethod
    def tearDownClass(cls):
        cls.built.cleanup()

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="polygraph-whole-test-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.build = self.folder / "build"
        (self.build / "sub").mkdir(parents=True)
        for program in self.programs.iterdir():
            if program.suffix != ".c":
                shutil.copy2(program, self.build)
        self.write_list([f'add_test({name} "{self.build}/{name}_test")' for name in SUITES] +
                        [f'add_test(plain "{self.build}/plain")', f'add_test(script "{shutil.which("sh")}" "-c" "exit 0")',
                         f'set_tests_properties(elsewhere PROPERTIES WORKING_DIRECTORY "{self.build}/sub" '
                         'ENVIRONMENT "GIVEN=yes")'])

    def write_list(self, lines):
        (self.build / "CTestTestfile.cmake").write_text("\n".join(lines) + "\n")

    def run_it(self, *words, status=None, **options):
        done = subprocess.run([POLYGRAPH, *map(str, words)], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, **options)
        if status is not None:
            self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def report(self, *words, status):
        return json.loads(self.run_it(words[0], "--format", "json", *words[1:], status=status).stdout)

    def check(self, *words, status=1):
        return self.report("check", "--ctest", "build", *words, status=status)

    def found(self, report):
        return sorted((finding["suite"], finding["kind"], finding["test"], finding["id"]) for finding in report["findings"])

    def without_times(self, report):
        """What two runs must have in common."""
        for member in report["suites"] + report["tests"]:
            member.pop("seconds", None)
        for suite in report["suites"]:
            # Work that was done, and facts that earlier runs knew; times.
            for key in ("order", "choices", "pollution", "run", "cost", "time"):
                suite.pop(key, None)
        for key in ("shard", "suite", "run"):
            report.pop(key, None)
        report["run"] = {key: report["run"][key] for key in ("folder", "sources") if key in report.get("run", {})}
        return report

    def test_executables_are_opened_and_others_are_processes(self):
        report = self.check()
        suites = {suite["name"]: suite for suite in report["suites"]}
        self.assertEqual({name: (suite["framework"], suite["status"]) for name, suite in suites.items()}, {
            "build/clean_test": ("cmocka", 0), "build/clean_too_test": ("cmocka", 0),
            "build/elsewhere_test": ("cmocka", 1), "build/polluting_test": ("cmocka", 1), "processes": ("ctest", 0)})
        self.assertEqual([(test["suite"], test["name"], test["outcome"]) for test in report["tests"]
                          if test["suite"] == "processes"],
                         [("processes", "plain", "pass"), ("processes", "script", "pass")])
        self.assertEqual({finding[:3] for finding in self.found(report)}, {
            ("build/elsewhere_test", "order-dependent", "group/is_zero"), ("build/elsewhere_test", "pollution", "group/raises"),
            ("build/polluting_test", "order-dependent", "group/is_zero"), ("build/polluting_test", "pollution", "group/raises")})

    def test_findings_replay_as_they_say(self):
        """From where the build was checked: their results are there, and nowhere else."""
        environment = {**os.environ, "PATH": f"{Path(POLYGRAPH).parent}:{os.environ['PATH']}"}
        report = self.check()
        self.assertEqual([str(path.relative_to(self.folder)) for path in self.folder.rglob(".polygraph")], [".polygraph"])
        again = self.report("report", status=0)
        self.assertEqual([again[key] for key in ("suites", "findings", "totals")], [report[key] for key in ("suites", "findings", "totals")])
        for finding in report["findings"]:
            if finding["suite"] == "build/elsewhere_test":
                self.assertEqual("cd " in finding["replay"], finding["kind"] == "pollution")
            done = subprocess.run(["sh", "-c", finding["replay"]], cwd=self.folder, env=environment, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True)
            # Without the tests that read it, what is left behind is of low severity.
            self.assertEqual(done.returncode, finding["kind"] != "pollution", finding["replay"] + "\n" + done.stdout)
            self.assertIn("leaves level" if finding["kind"] == "pollution" else "group/is_zero", done.stdout)

    def test_a_hand_written_runner_is_opened(self):
        """As where it is given alone: else a build would be green over what its executable is not."""
        (self.folder / "hand.c").write_text(HAND)
        subprocess.run(["cc", "-g", "-O0", "-o", self.build / "hand", self.folder / "hand.c"], check=True)
        self.write_list([f'add_test(hand "{self.build}/hand")',
                         f'set_tests_properties(hand PROPERTIES WORKING_DIRECTORY "{self.build}/sub")'])
        alone = self.report("check", "--no-choices", "--no-schedules", "build/hand", status=1)
        report = self.check("--no-choices", "--no-schedules")
        self.assertEqual([finding[1:] for finding in self.found(report)],
                         sorted((finding["kind"], finding["test"], finding["id"]) for finding in alone["findings"]))
        self.assertEqual([finding["test"] for finding in report["findings"] if finding["kind"] == "order-dependent"],
                         ["test_is_zero"])
        # It ran in another folder; sentences name files as seen from here.
        for key in ("message", "headline", "reason", "hint"):
            self.assertEqual({finding["id"]: finding[key] for finding in report["findings"]},
                             {finding["id"]: finding[key] for finding in alone["findings"]})
        self.assertIn("level (hand.c:3)", " ".join(finding["hint"] for finding in report["findings"]))
        report = self.check("--no-choices", "--no-schedules", "--no-inside", status=0)
        self.assertEqual([test["name"] for test in report["tests"]], ["hand"])

    def test_the_running_test_is_shown(self):
        """On a terminal, behind the program; the tested program gets neither the terminal nor what names it."""
        (self.folder / "hand.c").write_text(r"""
#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>
extern char **environ;
static void test_naps(void) { usleep(200000); }
static void test_sees(void)
{
	for (int fd = 3; fd < 100; fd++)
		if (isatty(fd))
			abort();
	if (getenv("POLYGRAPH_WHOLE_TERMINAL"))
		abort();
}
int main(void)
{
	test_naps();
	test_sees();
	return 0;
}
""")
        subprocess.run(["cc", "-g", "-O0", "-o", self.build / "hand", self.folder / "hand.c"], check=True)
        self.write_list([f'add_test(hand "{self.build}/hand")'])
        master, slave = pty.openpty()
        child = subprocess.Popen([POLYGRAPH, "check", "--ctest", "build", "--no-choices", "--no-schedules"], cwd=self.folder,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=slave,
                                 env={**os.environ, "TERM": "xterm"})
        os.close(slave)
        seen = b""
        while True:
            try:
                data = os.read(master, 4096)
            except OSError:
                data = b""
            if not data:
                break
            seen += data
        os.close(master)
        self.assertEqual(child.wait(), 0, seen)
        self.assertRegex(seen.decode(), r"\[1/1\] build/hand  .*test_naps")

    def test_without_looking_inside(self):
        report = self.report("check", "--ctest", "build", "--no-inside", status=0)
        self.assertEqual(report["suite"]["framework"], "ctest")
        self.assertEqual(len(report["tests"]), 6)

    def test_text_is_as_short_as_for_one(self):
        """A block for each cause, worst first; what programs have alike is said once and counted."""
        for number in range(5):
            shutil.copy2(self.build / "polluting_test", self.build / f"same{number}_test")
            shutil.copy2(self.build / "low_test", self.build / f"low{number}_test")
        words = ("check", "--no-choices", "--no-schedules", "--program", "build/same*_test", "--program", "build/low?_test")
        said = self.run_it(*words, status=1).stdout
        self.assertNotIn("\nlow ", said)
        self.assertIn("\n1 more problem of low severity is not listed (--all lists it)\n", said)
        said = self.run_it(*words, "--all", status=1).stdout
        self.assertNotIn("not listed", said)
        *lines, verdict = said.splitlines()
        heads = [line for line in lines if not line.startswith(" ")]
        self.assertRegex(heads[0], r"^high    group/is_zero fails after group/raises, passes alone  \[order-[0-9a-f]{12}\]$")
        self.assertRegex(heads[1], r"^low     group/counts leaves seen: 0 → 1  \[pollution-[0-9a-f]{12}\]$")
        self.assertEqual([head for head in heads[2:] if "shown with --verbose" not in head], [], said)
        for name in ("same", "low"):
            self.assertIn(f"        in build/{name}0_test; also in build/{name}1_test, build/{name}2_test and 2 more", lines)
        lead = heads[0].split("[")[1].rstrip("]")
        start = f"polygraph replay {lead} 'build/same0_test'"
        self.assertEqual(verdict, f"2 problems (1 below severity medium) in 25 tests of 10 suites; start with: {start}")
        self.assertLessEqual(len(lines), 10, said)
        # With --verbose each finding, and a limit of all of them in one line.
        said = self.run_it(*words, "--verbose", status=1).stdout
        self.assertEqual(said.count("group/counts leaves seen"), 5, said)
        limits = [line.split(" (in ")[0] for line in said.splitlines() if line.startswith("limit: ")]
        self.assertEqual(len(limits), len(set(limits)), said)
        self.assertEqual(said.splitlines()[-1], verdict)
        # What milder findings say, nothing counts; with files only, the verdict is still said.
        said = self.run_it("check", "--no-choices", "--no-schedules", "--program", "build/low?_test", "--format", "json", "--output",
                           "low.json", status=0).stdout
        self.assertRegex(said, r"^1 problem in 10 tests of 5 suites, none of severity medium or higher; start with: "
                               r"polygraph replay pollution-[0-9a-f]{12} build/low0_test\n$")
        environment = {**os.environ, "PATH": f"{Path(POLYGRAPH).parent}:{os.environ['PATH']}"}
        for command in (start, said.split("start with: ")[1]):
            done = subprocess.run(["sh", "-c", command], cwd=self.folder, env=environment, stdout=subprocess.PIPE, text=True)
            self.assertEqual(done.returncode, 1, done.stdout)
            self.assertIn("reproduced: group/", done.stdout)

    def test_limits_that_programs_share_are_one_line(self):
        suites = [{"name": f"{name}_test", "status": 0} for name in "abcd"]
        (self.folder / "limits.json").write_text(json.dumps({
            "schema": 1, "tests": [], "findings": [], "suites": suites,
            "limits": [f"{suite['name']}: not done: too slow" for suite in suites] + ["b_test: alone", "of the whole"]}))
        self.assertEqual(self.run_it("merge", "limits.json", status=0).stdout.splitlines(), [
            "limit: of the whole", "2 limits of what was examined, shown with --verbose",
            "no problem found in 0 tests of 4 suites"])
        self.assertEqual(self.run_it("merge", "--verbose", "limits.json", status=0).stdout.splitlines()[-4:], [
            "limit: not done: too slow (in a_test, b_test and 2 more)", "limit: alone (in b_test)", "limit: of the whole",
            "no problem found in 0 tests of 4 suites"])

    def test_one_limit_is_told(self):
        (self.folder / "limit.json").write_text(json.dumps({
            "schema": 1, "tests": [], "findings": [], "suites": [{"name": "a_test", "status": 0}], "limits": ["a_test: schedules: too slow: T"]}))
        self.assertEqual(self.run_it("merge", "limit.json", status=0).stdout.splitlines()[0], "limit: schedules: too slow: T (in a_test)")

    def test_text_has_one_verdict(self):
        done = self.run_it("check", "--ctest", "build", status=1)
        self.assertEqual(done.stderr, "")
        self.assertNotIn("== ", done.stdout)
        self.assertEqual(done.stdout.count("high    group/is_zero fails after group/raises"), 1, done.stdout)
        self.assertRegex(done.stdout, r"(?m)^        in build/elsewhere_test; also in build/polluting_test$")
        self.assertRegex(done.stdout, r"\n1 problem in 14 tests of 5 suites; "
                                      r"start with: polygraph replay order-[0-9a-f]{12} '[^']*'\n\Z")

    def test_junit(self):
        self.run_it("check", "--ctest", "build", "--format", "junit", "--output", "all.xml", status=1)
        root = ElementTree.parse(self.folder / "all.xml").getroot()
        self.assertEqual([suite.get("name") for suite in root],
                         ["build/clean_test", "build/clean_too_test", "build/elsewhere_test", "build/polluting_test", "processes"])
        # One for the cause in each of two suites.
        self.assertEqual(len(root.findall(".//failure")), 2)
        self.assertEqual(root.get("failures"), "2")

    def test_baseline_and_selection(self):
        ids = {finding[3] for finding in self.found(self.check())}
        (self.folder / "known").write_text("".join(f"{identity}\n" for identity in ids))
        report = self.check("--baseline", "known", status=0)
        self.assertTrue(all(finding["known"] for finding in report["findings"]))
        # A finding of the run before that is not tried again stays.
        report = self.check("--tests", "group/is_*", "--tests", "plain", "--fresh", status=0)
        self.assertEqual({test["name"] for test in report["tests"]}, {"group/is_zero", "plain"})
        done = self.run_it("check", "--ctest", "build", "--tests", "nothing", status=2)
        self.assertIn("no test of the build matches --tests", done.stderr)

    def test_html_and_sarif(self):
        self.run_it("check", "--ctest", "build", "--format", "json", "--output", "all.json", "--format", "html", "--output",
                    "page.html", "--format", "sarif", "--output", "page.sarif", status=1)
        self.assertIn("group/is_zero", (self.folder / "page.html").read_text())
        results = json.loads((self.folder / "page.sarif").read_text())["runs"][0]["results"]
        self.assertEqual([len(result["properties"]["findings"]) for result in results], [2, 2], "an alert a cause, in each program")
        self.assertEqual([result["partialFingerprints"]["polygraphCause/v1"].rsplit("/", 1)[-1] for result in results],
                         ["elsewhere_test", "polluting_test"])
        # Places have the source root, and source is shown, as for one executable.
        run, = json.loads((self.folder / "page.sarif").read_text())["runs"]
        about = json.loads((self.folder / "all.json").read_text())["run"]
        self.assertEqual((about["folder"], about["exit_status"]), (str(self.folder.resolve()), 1))
        self.assertEqual(run["originalUriBaseIds"]["SRCROOT"]["uri"], f"file://{about['sources']}/")
        self.assertIn('"uriBaseId": "SRCROOT"', json.dumps(run["results"]))
        self.assertIn("static void raises(void **state) { (void)state; level = LEFT; }\"", (self.folder / "page.html").read_text())
        # The same, made of the JSON file.
        self.run_it("report", "--format", "html", "-o", "again.html", "--format", "sarif", "-o", "again.sarif", "all.json")
        for name in ("html", "sarif"):
            self.assertEqual(*((self.folder / f"{which}.{name}").read_text() for which in ("page", "again")))

    def test_one_baseline_for_all_suites(self):
        self.run_it("check", "--ctest", "build", "--baseline", "known", "--update-baseline", status=0)
        text = (self.folder / "known").read_text()
        self.assertIn("group/is_zero", text)
        report = self.check("--baseline", "known", status=0)
        self.assertTrue(all(finding["known"] for finding in report["findings"]))
        done = self.run_it("check", "--ctest", "build", "--baseline", "missing", status=2)
        self.assertIn("missing", done.stderr)

    def test_discovered_tests_are_one_executable(self):
        self.write_list([f'add_test({test} "{self.build}/polluting_test" "{test}")' for test in
                         ("group/is_zero", "group/raises", "group/has_variable")])
        report = self.check()
        self.assertEqual([suite["name"] for suite in report["suites"]], ["build/polluting_test"])
        self.assertEqual(len(report["findings"]), 2)

    def test_fixtures_stay_processes(self):
        with open(self.build / "CTestTestfile.cmake", "a") as file:
            file.write("set_tests_properties(clean PROPERTIES DEPENDS plain)\n")
        names = [suite["name"] for suite in self.check()["suites"]]
        self.assertNotIn("build/clean_test", names)
        self.assertIn("build/clean_too_test", names)

    def test_a_suite_that_cannot_run_is_named(self):
        self.write_list([f'add_test(clean "{self.build}/clean_test")', f'add_test(gone "{self.build}/gone")'])
        report = self.check(status=3)
        self.assertEqual({suite["name"]: suite["status"] for suite in report["suites"]}, {"build/clean_test": 0, "processes": 3})

    def test_programs(self):
        report = self.report("check", "--program", "build/[cep]*_test", "--program", "build/plain", status=1)
        # Without its variable a test of that one fails.
        self.assertEqual({suite["name"]: suite["status"] for suite in report["suites"]}, {
            "build/clean_test": 0, "build/clean_too_test": 0, "build/elsewhere_test": 1, "build/polluting_test": 1,
            "processes": 0})
        said = self.run_it("check", "--program", "build/elsewhere_test", "--program", "build/plain").stdout
        self.assertRegex(said, r'(?m)^fail    group/has_variable\n +\S*suite\.c:\d+\n(        .*\n)*        .*"" != "yes"')
        done = self.run_it("check", "--program", "build/nothing*", status=2)
        self.assertIn("no file matches --program 'build/nothing*'", done.stderr)
        done = self.run_it("check", "--program", "build/CTestTestfile.cmake", status=2)
        self.assertIn("is not an executable program", done.stderr)

    def test_programs_in_folders_of_any_name(self):
        folder = self.build / "a folder's $name \\n"
        folder.mkdir()
        for name in ("clean_test", "plain"):
            shutil.copy2(self.build / name, folder)
        (folder / "plain").rename(folder / "plain & simple")
        report = self.report("check", "--program", "build/a folder*/*", status=0)
        self.assertEqual([(suite["name"].split("/")[-1], suite["tests"], suite["status"]) for suite in report["suites"]],
                         [("clean_test", 3, 0), ("processes", 1, 0)])
        self.assertEqual([test["outcome"] for test in report["tests"]], ["pass"] * 4)

    def test_budget_says_what_is_left(self):
        report = self.report("check", "--ctest", "build", "--budget", "1ms", status=0)
        self.assertTrue(any("suites not examined (budget)" in limit for limit in report["limits"]), report["limits"])

    def test_interrupt_keeps_results(self):
        """The second suite hangs; what was learnt of the first is reported."""
        self.write_list([f'add_test(clean "{self.build}/clean_test")', 'add_test(sleeps "/bin/sh" "-c" "echo >started; exec sleep 600")'])
        child = subprocess.Popen([POLYGRAPH, "check", "--ctest", "build", "--format", "json", "--sandbox", "never"],
                                 cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertTrue(fresh.wait_for((self.build / "started").exists))
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=120)
        self.assertEqual(child.returncode, 130, err)
        suites = {suite["name"]: suite["status"] for suite in json.loads(out)["suites"]}
        self.assertEqual(suites["build/clean_test"], 0)

    def test_union_of_shares_is_the_whole(self):
        whole = self.without_times(self.check("--fresh"))
        for shares in (1, 2, 3, 7):
            files = []
            for index in range(1, shares + 1):
                files.append(f"share-{shares}-{index}.json")
                self.run_it("check", "--fresh", "--ctest", "build", "--shard", f"{index}/{shares}", "--format", "json",
                            "--output", files[-1])
            found = [suite["name"] for name in files for suite in json.loads((self.folder / name).read_text())["suites"]]
            self.assertEqual(sorted(found), sorted(suite["name"] for suite in whole["suites"]))
            for order in (files, files[::-1]):
                merged = self.without_times(self.report("merge", *order, status=1))
                self.assertEqual(merged, whole)

    def test_shares_of_a_plan_start_only_their_own_executables(self):
        self.run_it("check", "--ctest", "build", "--dry-run", "--format", "json", "--output", "plan.json", status=0)
        plan = json.loads((self.folder / "plan.json").read_text())
        names = {(test["suite"], test["name"]) for test in plan["tests"]}
        found = []
        for index in (1, 2, 3):
            done = subprocess.run([POLYGRAPH, "check", "--ctest", "build", "--dry-run", "--shard", f"{index}/3", "--shard-weights",
                                   "plan.json", "--format", "json"], cwd=self.folder, capture_output=True, text=True, check=True)
            found += [(test["suite"], test["name"]) for test in json.loads(done.stdout)["tests"]]
        self.assertEqual(sorted(found), sorted(names))

    def test_shares_by_weight(self):
        self.run_it("check", "--ctest", "build", "--format", "json", "--output", "before.json")
        before = json.loads((self.folder / "before.json").read_text())
        for suite in before["suites"]:
            suite["seconds"] = 100 if suite["name"] == "processes" else 1
        (self.folder / "before.json").write_text(json.dumps(before))
        first = self.check("--shard", "1/2", "--shard-weights", "before.json", status=0)
        self.assertEqual([suite["name"] for suite in first["suites"]], ["processes"])

    def test_shares_that_do_not_fit(self):
        for index in (1, 2):
            self.run_it("check", "--ctest", "build", "--shard", f"{index}/2", "--format", "json", "--output", f"{index}.json")
        self.run_it("check", "--ctest", "build", "--shard", "2/3", "--format", "json", "--output", "of3.json")
        self.run_it("check", "--ctest", "build", "--tests", "group/*", "--shard", "2/2", "--format", "json", "--output", "other.json")
        for words, message in ((["1.json"], "share 2 of 2 is missing"), (["1.json", "1.json"], "share 1 was given already"),
                               (["1.json", "of3.json"], "is a share of 3, others are shares of 2"),
                               (["1.json", "other.json"], "is a share of another build"),
                               (["build/CTestTestfile.cmake"], "is not JSON"), (["missing.json"], "No such file"),
                               ([], "no report given")):
            self.assertIn(message, self.run_it("merge", *words, status=2).stderr)
        report = json.loads(self.run_it("merge", "--partial", "--format", "json", "1.json").stdout)
        self.assertIn("share 2 of 2 is missing", report["limits"])
        for wrong in ("0/2", "3/2", "2", "a/b", "1/0", "1/100001", "/", "1/2/3"):
            self.assertIn("is not a share", self.run_it("check", "--ctest", "build", "--shard", wrong, status=2).stderr)

    def test_hostile_reports(self):
        """Files that others wrote: no crash, and a clear message."""
        nested = "[" * 100000 + "]" * 100000
        for text in ('{"schema": 1}', '{"schema": 2, "tests": [], "findings": []}', "[]", "{", "null", nested,
                     '{"schema": 1, "tests": [], "findings": [], "suites": [{"name": 3}]}',
                     '{"schema": 1, "tests": [], "findings": [], "suites": [], "shard": {"index": 9, "of": 2, "plan": "x"}}'):
            (self.folder / "bad.json").write_text(text)
            done = self.run_it("merge", "bad.json", status=2)
            self.assertTrue(done.stderr.startswith("polygraph: 'bad.json'"), done.stderr)
        (self.folder / "odd.json").write_text(json.dumps({
            "schema": 1, "tests": [1, {"name": "a\x1b[31m"}, {}], "findings": [{}, None, {"test": "\x1b]0;x", "file": 3}],
            "suites": [{"name": "s\x1b[0m", "status": "x"}], "limits": [4, "\x1b"]}))
        done = self.run_it("merge", "odd.json", status=0)
        self.assertNotIn("\x1b", done.stdout)

    def test_single_reports_can_be_joined(self):
        for name in ("clean", "polluting"):
            self.run_it("check", "--format", "json", "--output", f"{name}.json", f"build/{name}_test")
        report = self.report("merge", "clean.json", "polluting.json", status=1)
        self.assertEqual([(suite["name"], suite["status"]) for suite in report["suites"]],
                         [("build/clean_test", 0), ("build/polluting_test", 1)])

    def test_gnu_parallel(self):
        if not shutil.which("parallel"):
            self.skipTest("GNU parallel is not installed")
        whole = self.found(self.check())
        subprocess.run(["parallel", "--will-cite", "-j2", f"{POLYGRAPH} check --ctest build --shard {{}}/3 --format json "
                        "--output share-{}.json || [ $? -eq 1 ]", ":::", "1", "2", "3"], cwd=self.folder, check=True,
                       env={**os.environ, "PARALLEL_HOME": str(self.folder / "parallel")})
        self.assertEqual(self.found(self.report("merge", "share-1.json", "share-2.json", "share-3.json", status=1)), whole)


def prepare(polygraph, _):
    global POLYGRAPH
    POLYGRAPH = polygraph


if __name__ == "__main__":
    sys.exit(runner.main("whole", prepare))
