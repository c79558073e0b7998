#!/usr/bin/env python3
"""Looked at as a new user would: a small project with six problems, one of each kind (newcomer/shop_test.cc).

Each is found, each cause is one block and one card, each hint is right, a debugger stops at the assertion, and a baseline makes
everything quiet until something is new.

usage: test_newcomer.py --polygraph PATH [-v] [TEST…]
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

import runner

SOURCE = pathlib.Path(__file__).resolve().parent / "newcomer" / "shop_test.cc"
POLYGRAPH = None
FOLDER = None

# The test that is misled or assumes too much: kind, what the block has, its hint, and what the assertion is about.
PROBLEMS = {
    "CatalogStart.IsEmpty": ("order", "Catalog.AddsAnItem leaves shop::Catalog::instance::catalog.items: 0 elements → 1 element",
                             "restore it in TearDown, after Catalog.AddsAnItem: shop::Catalog::instance::catalog.items (shop_test.cc:20) "
                             "has to be empty again; 'polygraph repair order-", "items.size()"),
    "OrderStart.HasNoOrders": ("order", "OrderLog.Appends leaves orders.log: absent → file of 6 bytes",
                               'restore it in TearDown, after OrderLog.Appends: remove("orders.log")', "logged_orders()"),
    "LocaleStart.DefaultIsDollar": ("order", 'Locale.GermanPaysInEuro leaves environment[SHOP_LOCALE]: unset → "de"',
                                    'restore it in TearDown, after Locale.GermanPaysInEuro: unsetenv("SHOP_LOCALE")', "currency()"),
    "PriceStart.NothingIsCached": ("order", 'Price.HasTax leaves shop::prices::cache["tea"]: (absent) → 120',
                                   'restore it in TearDown, after Price.HasTax: shop::prices::cache["tea"] (shop_test.cc:48) '
                                   "has to be gone again; 'polygraph repair order-", 'count("tea")'),
    "Tags.AreListed": ("choice", "may do this, too: ", "sort the elements before comparing them", "shop::tags(all)"),
}
RACE = "Checkout.ShipsInTheBackground"


def compile_shop(folder, text):
    (folder / "shop_test.cc").write_text(text)
    subprocess.run(["g++", "-g", "-O0", "shop_test.cc", "-o", "shop_test", "-lgtest", "-lgtest_main", "-pthread"], cwd=folder,
                   check=True)


class Newcomer(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        if not os.path.exists("/usr/include/gtest/gtest.h"):
            raise unittest.SkipTest("GoogleTest is not installed (Debian: libgtest-dev)")
        cls.shop = pathlib.Path(FOLDER) / "shop"
        cls.shop.mkdir()
        compile_shop(cls.shop, SOURCE.read_text())

    def polygraph(self, *words, status, folder=None, **options):
        done = subprocess.run([POLYGRAPH, *words], cwd=folder or self.shop, text=True, timeout=300, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
        self.assertIn(done.returncode, status if isinstance(status, tuple) else (status,), f"{words}\n{done.stdout}{done.stderr}")
        return done.stdout

    def blocks(self, text):
        """{test: the lines of its block}; the verdict."""
        *lines, verdict = text.splitlines()
        blocks = {}
        for line in lines:
            if line.startswith(" "):
                blocks[list(blocks)[-1]].append(line)
            else:
                self.assertRegex(line, r"^(high|medium|low) +\S.*  \[[a-z]+-[0-9a-f]{12}\]$")
                test = line.split()[1]
                self.assertNotIn(test, blocks, "one block for each cause")
                blocks[test] = [line]
        return blocks, verdict

    def test_what_is_shown(self):
        text = self.polygraph("check", "--fresh", "--budget", "100s", "./shop_test", status=1)
        blocks, verdict = self.blocks(text)
        severities = [block[0].split()[0] for block in blocks.values()]
        self.assertEqual(severities, sorted(severities, key=["high", "medium", "low"].index), "worst first")
        for test, (kind, through, hint, about) in PROBLEMS.items():
            block = blocks.pop(test)
            with self.subTest(test):
                self.assertLessEqual(len(block), 9)
                self.assertNotIn("…", "".join(block), "nothing is cut where there is no terminal")
                self.assertIn(f"  [{kind}-", block[0])
                self.assertTrue(any(through in line for line in block), block)
                self.assertTrue(block[-1].startswith("        fix: " + hint), block[-1])
                self.assertTrue(any(f"shop_test.cc:{self.line_of(about)}: " in line for line in block), block)
        self.assertLessEqual(set(blocks), {RACE}, "and nothing else")
        problems = len(PROBLEMS) + len(blocks)
        lead = re.search(r"\[(.*)\]", text.splitlines()[0]).group(1)
        self.assertEqual(verdict, f"{problems} problems in 12 tests; start with: polygraph replay {lead}")
        self.assertNotIn("passed", text)
        # With files only the verdict is on the terminal nevertheless.
        said = self.polygraph("check", "--format", "json", "--output", "report.json", "./shop_test", status=1)
        self.assertEqual(said, verdict + "\n")
        hints = {finding["test"]: finding.get("hint") for finding in json.loads((self.shop / "report.json").read_text())["findings"]
                 if finding["kind"] == "order-dependent"}
        self.assertEqual(set(hints), {test for test, problem in PROBLEMS.items() if problem[0] == "order"})
        (self.shop / "report.json").unlink()
        self.check_cards({test: re.search(r"\[(.*)\]", block[0]).group(1) for test, block in self.blocks(text)[0].items()})

    def test_all(self):
        """What nobody is expected to act on is counted, unless it is asked for, or fails the run."""
        (self.shop / "few.c").write_text("static int calls;\nvoid test_counts(void) { calls++; }\nvoid test_fine(void) { }\n"
                                         "int main(void) { test_counts(); test_fine(); return 0; }\n")
        subprocess.run(["cc", "-g", "-O0", "-o", "few", "few.c"], cwd=self.shop, check=True)
        said = self.polygraph("pollution", "./few", status=0)
        self.assertIn("1 problem of low severity is not listed (--all lists it)\n", said)
        self.assertNotIn("calls: 0 → 1", said)
        for words, status in ((["--all"], 0), (["--fail-on", "low"], 1)):
            said = self.polygraph("pollution", *words, "./few", status=status)
            self.assertRegex(said, r"(?m)^low     test_counts leaves calls: 0 → 1  \[pollution-\w+\]$")
            self.assertNotIn("not listed", said)

    def test_verbose(self):
        """It says more of what was found, and nothing of how that is done: that is what the log is for."""
        words = [POLYGRAPH, "pollution", "--verbose", "./shop_test"]
        done = subprocess.run(words, cwd=self.shop, text=True, timeout=300, check=False, capture_output=True)
        self.assertEqual(done.stderr, "")
        self.assertIn("PASS", done.stdout)
        self.assertIn("        reproduce: polygraph pollution --tests ", done.stdout)
        # Shown again, it is no finding of another run.
        shown = subprocess.run([POLYGRAPH, "report", "--verbose"], cwd=self.shop, text=True, timeout=300, check=False,
                               capture_output=True).stdout
        self.assertRegex(shown, r"(?m)^high .* leaves ")
        self.assertNotIn("found by an earlier run", shown)
        done = subprocess.run(words, cwd=self.shop, text=True, timeout=300, check=False, capture_output=True,
                              env={**os.environ, "POLYGRAPH_LOG": "native,watch"})
        self.assertIn("polygraph: [native] framework: gtest\n", done.stderr)
        self.assertRegex(done.stderr, r"(?m)^polygraph: \[watch\] \d+ roots, \d+ objects reachable$")

    def check_cards(self, leads):
        """Each cause is one card of the page: those of the blocks, and no other; each finding is on one."""
        self.polygraph("check", "--format", "html", "--output", "report.html", "./shop_test", status=1)
        page = (self.shop / "report.html").read_text()
        (self.shop / "report.html").unlink()
        report, more = (json.loads(re.search(rf'<script type="application/json" id="{name}">\n(.*?)</script>', page, re.DOTALL).group(1))
                        for name in ("report", "more"))
        cards = [[report["findings"][number]["id"] for number in cause["findings"]] for cause in more["causes"]]
        self.assertEqual(sorted(sum(cards, [])), sorted(finding["id"] for finding in report["findings"]))
        self.assertEqual(len(cards), len(leads))
        for test, lead in leads.items():
            self.assertEqual([lead in card for card in cards].count(True), 1, test)
        self.assertEqual(len({next(number for number, card in enumerate(cards) if lead in card) for lead in leads.values()}),
                         len(cards), "a card for each block")

    def line_of(self, text):
        lines = [number for number, line in enumerate(SOURCE.read_text().splitlines(), 1) if text in line and "EXPECT" in line]
        return lines[0]

    def find_race(self):
        """The lines of its block."""
        text = self.polygraph("schedules", "--tests", RACE, "./shop_test", status=1)
        return self.blocks(text)[0][RACE]

    def test_race(self):
        head, *lines = self.find_race()
        self.assertRegex(head, rf"^high +{RACE} fails if the thread started at shop_test\.cc:\d+ is \S+ ms late  \[schedule-")
        self.assertEqual(lines[-1], "        fix: wait for the work itself (join the thread, or wait for a condition that it sets), not for a time")

    def test_debugger_at_the_race(self):
        """It stops at the assertion. How late the thread begins is a matter of time, so what is seen there may be either."""
        if not shutil.which("gdb"):
            self.skipTest("gdb is not installed")
        found = re.search(r"\[(.*)\]", self.find_race()[0]).group(1)
        stopped = self.stop_in_debugger(found, "frame\nkill\n")
        self.assertIn(RACE.replace(".", "_") + "_Test::TestBody", stopped)
        self.assertRegex(stopped, rf"\n{self.line_of('shipped')}\s")

    def stop_in_debugger(self, found, commands):
        """What gdb said once it had stopped."""
        said = self.polygraph("replay", found, "--gdb", status=1, input=commands)
        stopped = said.split("Temporary breakpoint 1, ")
        self.assertEqual(len(stopped), 2, said)
        return stopped[1]

    def test_debugger(self):
        if not shutil.which("gdb"):
            self.skipTest("gdb is not installed")
        text = self.polygraph("check", "--budget", "100s", "./shop_test", status=1)
        for test, head in ((test, block[0]) for test, block in self.blocks(text)[0].items() if test in PROBLEMS):
            with self.subTest(test):
                found = re.search(r"\[(.*)\]", head).group(1)
                stopped = self.stop_in_debugger(found, "frame\nkill\n")
                self.assertIn(test.replace(".", "_") + "_Test::TestBody", stopped)
                self.assertRegex(stopped, rf"\n{self.line_of(PROBLEMS[test][3])}\s")

    def test_no_debugger(self):
        self.polygraph("check", "--budget", "100s", "./shop_test", status=1)
        left = self.polygraph("replay", "--list", status=0)
        leftover = re.search(r"^pollution-\S+", left, re.MULTILINE).group(0)
        self.polygraph("replay", leftover, "--gdb", status=2)
        order = re.search(r"^order-\S+", left, re.MULTILINE).group(0)
        self.polygraph("replay", order, "--gdb", status=2, env={**os.environ, "PATH": str(self.shop)})

    def test_baseline(self):
        """Known findings are counted; what is new is shown; what went away is named. Ids survive edits of the source."""
        folder = pathlib.Path(FOLDER) / "baseline"
        folder.mkdir()
        shutil.copy(self.shop / "shop_test", folder)
        # Whether the race shows without being looked for is chance.
        options = ("check", "--no-choices", "--no-schedules", "--tests", f"!{RACE}", "--baseline", "known.txt")
        self.polygraph(*options, "./shop_test", status=2, folder=folder)
        self.polygraph(*options, "--update-baseline", "./shop_test", status=0, folder=folder)
        known = (folder / "known.txt").read_text()
        self.assertEqual(len(re.findall(r"^order-[0-9a-f]{12}\t\S+\t", known, re.MULTILINE)), 4)
        for number in range(4):
            said = self.polygraph(*options, *(["--fresh"] if number == 2 else []), "./shop_test", status=0, folder=folder)
            self.assertEqual(said.splitlines()[-1], "no new problem (4 known) in 11 tests")
            # What the program reads is not known where a test is left out: all is run again.
            self.assertFalse(said.startswith("nothing has changed since the last check"), said)
        # Lines move, and something else is there: the same ids.
        text = SOURCE.read_text()
        moved = text.replace("namespace shop\n{", "\n\n\nnamespace shop\n{").replace(
            "/* The singleton. */", "int unrelated(int number)\n{\n\treturn number * 3;\n}\n\n/* The singleton. */")
        compile_shop(folder, moved)
        self.assertEqual(self.polygraph(*options, "./shop_test", status=0, folder=folder),
                         "no new problem (4 known) in 11 tests\n")
        # One is mended, and one is new.
        changed = moved.replace('"EUR");\n', '"EUR");\n\tunsetenv("SHOP_LOCALE");\n').replace(
            "TEST(Sum, OfTwo)\n{\n", "int sums;\n\nTEST(Sum, OfTwo)\n{\n\tEXPECT_EQ(sums++, 0);\n")
        compile_shop(folder, changed)
        said = self.polygraph(*options, "./shop_test", status=1, folder=folder)
        self.assertRegex(said, r"(?m)^gone    order-[0-9a-f]{12} LocaleStart.DefaultIsDollar: not found any more$")
        self.assertRegex(said, r"(?m)^medium  Sum.OfTwo fails when run a second time")
        self.assertRegex(said.splitlines()[-1], r"^4 problems \(1 new\) in 11 tests; start with: polygraph replay order-")
        self.assertNotIn("CatalogStart", said)
        self.polygraph(*options, "--update-baseline", "./shop_test", status=0, folder=folder)
        self.assertNotIn("LocaleStart", (folder / "known.txt").read_text())
        self.polygraph(*options, "./shop_test", status=0, folder=folder)
        # What a line says has an effect, or is an error; a test that is gone is a warning.
        shown = self.polygraph("baseline", "known.txt", status=0, folder=folder)
        self.assertRegex(shown, r"(?m)^order-[0-9a-f]{12}  found      Sum.OfTwo: ")
        for line, words in (("order-123\n", "is not the id of a finding"), ("what is known\n", "is not the id of a finding"),
                            ("order-0123456789ab\tShop.IsGone\tfails\n", "there is no test 'Shop.IsGone' any more")):
            (folder / "bad.txt").write_text("# known\n\n" + line)
            done = subprocess.run([POLYGRAPH, "order", "--baseline", "bad.txt", "./shop_test"], cwd=folder, text=True, timeout=60,
                                  capture_output=True, check=False)
            self.assertEqual(done.returncode, 1 if "IsGone" in line else 2, done.stdout)
            self.assertIn("bad.txt:3: ", done.stderr)
            self.assertIn(words, done.stderr)


def prepare(polygraph, folder):
    global POLYGRAPH, FOLDER
    POLYGRAPH, FOLDER = polygraph, folder
    return None


if __name__ == "__main__":
    sys.exit(runner.main("newcomer", prepare))
