#!/usr/bin/env python3
"""Results of all runs in one place: SQLite, and PostgreSQL, whose server this starts; it goes away, and nothing is lost.

Usage: test_history.py --polygraph PROGRAM [--million]

--million fills a PostgreSQL database and an SQLite file with 1,000,000 results and prints how long each question takes.
"""

import glob
import json
import os
import pwd
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import runner
import fresh  # noqa: E402
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "report"))
import browser  # noqa: E402

POLYGRAPH = None
SUITE = r"""
#include <stdlib.h>
int level;
__attribute__((noinline)) static void test_raises(void) { level = 1; }
__attribute__((noinline)) static void test_is_zero(void) { if (level) abort(); }
int main(void) { test_is_zero(); test_raises(); return 0; }
"""
RUNS, SUITES, TESTS = 1000, 10, 100
FILL = """
INSERT INTO polygraph_run SELECT 'r' || r, to_char(timestamp '2026-01-01' + r * interval '6 hours', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
  CASE WHEN r % 4 = 0 THEN 'topic' ELSE 'main' END, 'c' || r FROM generate_series(1, {runs}) r;
INSERT INTO polygraph_result SELECT 'r' || r, 'suite' || s, 'test' || t, CASE WHEN (r * 7 + s * 3 + t) % 997 = 0 THEN 'fail'
  ELSE 'pass' END, 0.01 FROM generate_series(1, {runs}) r, generate_series(1, {suites}) s, generate_series(1, {tests}) t;
INSERT INTO polygraph_finding SELECT 'r' || r, 'suite' || s, 'test' || (r % 50), CASE WHEN s % 2 = 0 THEN 'flaky' ELSE 'pollution'
  END, 'id-' || s || '-' || CASE WHEN r % 4 = 0 THEN r % 60 ELSE r % 50 END, 'high', 'message' FROM generate_series(1, {runs}) r,
  generate_series(1, {suites}) s;
INSERT INTO polygraph_suite SELECT run, suite, COUNT(*), SUM(CASE WHEN outcome = 'fail' THEN 1 ELSE 0 END), 1
  FROM polygraph_result GROUP BY run, suite;
ANALYZE;
"""


class Server:
    """PostgreSQL in a folder, reached through a socket in it; as an ordinary user, since it refuses root."""

    def __init__(self, folder):
        programs = sorted(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda path: [int(part) for part in
                                                                                   path.split("/")[4].split(".") if part.isdigit()])
        self.why_not = None if programs else "PostgreSQL's server is not installed"
        if self.why_not:
            return
        self.programs = Path(programs[-1])
        self.folder = Path(folder)
        self.folder.chmod(0o755)
        self.place = self.folder / "server"
        self.place.mkdir()
        self.become, self.user = [], pwd.getpwuid(os.geteuid()).pw_name
        if not os.geteuid():
            other = pwd.getpwnam("postgres" if any(user.pw_name == "postgres" for user in pwd.getpwall()) else "nobody")
            os.chown(self.place, other.pw_uid, other.pw_gid)
            self.become = ["setpriv", f"--reuid={other.pw_uid}", f"--regid={other.pw_gid}", "--clear-groups"]
        self.run("initdb", "-D", self.place / "data", "-U", "tester", "-A", "trust", "-E", "UTF8", "--no-sync", "--locale=C")
        self.url = f"postgresql://tester@/postgres?host={self.place}"
        self.start()

    def run(self, name, *words):
        subprocess.run([*self.become, str(self.programs / name), *map(str, words)], check=True, stdout=subprocess.DEVNULL,
                       stdin=subprocess.DEVNULL, cwd="/", env={"PATH": os.environ["PATH"], "LC_ALL": "C"})

    def start(self):
        options = f"-k {self.place} -c listen_addresses='' -c fsync=off"
        self.run("pg_ctl", "-D", self.place / "data", "-l", self.place / "log", "-w", "-t", "120", "-o", options, "start")

    def stop(self):
        self.run("pg_ctl", "-D", self.place / "data", "-m", "immediate", "-w", "stop")

    def number(self):
        return int((self.place / "data/postmaster.pid").read_text().split()[0])

    def ask(self, sql):
        return subprocess.run(["psql", self.url, "-v", "ON_ERROR_STOP=1", "-qAt", "-c", sql], check=True, stdout=subprocess.PIPE,
                              text=True).stdout.split("\n")[:-1]


# Each of them would set window.hit if it were taken for markup or code.
HOSTILE = "</td></script><script>window.hit = 1</script><img src=x onerror='window.hit = 2'>\"><svg onload='window.hit = 3'>\u202e\u0001"


def fill(path, text=""):
    """A history of two suites on three days, the second of which has got worse; a branch that adds a finding."""
    with sqlite3.connect(path) as database:
        for day, findings in enumerate((1, 2, 5), 1):
            key, branch = f"r{day}", "main" if day < 3 else "topic" + text
            database.execute("INSERT INTO polygraph_run VALUES (?, ?, ?, ?)", (key, f"2026-01-0{day}T10:00:00Z", branch, "c"))
            for suite, found in (("quiet", 0), ("worse" + text, findings)):
                database.execute("INSERT INTO polygraph_suite VALUES (?, ?, 20, ?, ?)", (key, suite, day - 1, found))
                database.executemany("INSERT INTO polygraph_finding VALUES (?, ?, ?, 'flaky', ?, 'high', 'm')",
                                     [(key, suite, f"test{i}{text}", f"flaky-{i}") for i in range(found)])
            database.execute("INSERT INTO polygraph_result VALUES (?, 'quiet', ?, 'fail', 0.1)", (key, "Broken" + text))


class Runs:
    """What both databases must do; a subclass has the place."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="polygraph-history-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "suite.c").write_text(SUITE)
        subprocess.run(["cc", "-g", "-O0", "-o", "suite", "suite.c"], cwd=self.folder, check=True)
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith(("GITHUB_", "CI_"))}
        self.git("init", "-q", "-b", "main")
        self.git("add", "suite.c")
        self.git("commit", "-qm", "first")
        self.prepare()

    def git(self, *words):
        subprocess.run(["git", "-c", "user.email=a@b", "-c", "user.name=a", *words], cwd=self.folder, check=True)

    def run_it(self, *words, status=0):
        done = subprocess.run([POLYGRAPH, *map(str, words)], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, env=self.environment)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def history(self, *words):
        done = self.run_it("history", "--store", self.url, "--format", "json", *words)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def unsent(self):
        return sorted((self.folder / ".polygraph/unsent").glob("*.json"))

    def test_questions(self):
        self.run_it("check", "--store", self.url, "./suite", status=1)
        self.git("checkout", "-q", "-b", "topic")
        (self.folder / "second.c").write_text(SUITE.replace("level", "height"))
        subprocess.run(["cc", "-g", "-O0", "-o", "second", "second.c"], cwd=self.folder, check=True)
        self.run_it("check", "--store", self.url, "./suite", status=1)
        self.run_it("check", "--store", self.url, "./second", status=1)
        flaky = {(row["suite"], row["test"], row["kind"], row["runs"]) for row in self.history("flaky")}
        self.assertEqual(flaky, {("./suite", "test_is_zero", "order-dependent", "2"),
                                 ("./second", "test_is_zero", "order-dependent", "1")})
        new = self.history("--branch", "topic", "new")
        self.assertEqual({row["suite"] for row in new if row["kind"] == "pollution"}, {"./second"})
        self.assertEqual(self.history("--branch", "main", "--base", "topic", "new"), [])
        trend = {row["suite"]: row for row in self.history("trend")}
        self.assertEqual((trend["./second"]["runs"], trend["./second"]["tests"], trend["./second"]["findings"]), ("1", "2", "2"))
        self.assertEqual(self.history("failing"), [])
        self.assertEqual(self.history("new"), new)  # of the branch that is checked out
        self.assertEqual(self.unsent(), [])
        # All answers in one page, next to the text.
        text = self.run_it("history", "--store", self.url, "--format", "text", "--format", "html", "--output", "page.html", "trend").stdout
        self.assertIn("./second", text)
        page = (self.folder / "page.html").read_text()
        for word in ("<h1><b>2</b> tests cannot be trusted</h1>", "<code>topic</code> that <code>main</code>", new[0]["id"],
                     "<div class=\"tile\"><b>3</b><span>runs</span></div>", f"<b>{len(new)}</b><span>new findings", "None failed."):
            self.assertIn(word, page)

    def test_whole_build_and_merge(self):
        self.run_it("check", "--store", self.url, "--test-functions", "test_*", "--framework", "functions", "--program", "./suite",
                    "--format", "json", "--output", "all.json", status=1)
        self.run_it("merge", "--store", self.url, "all.json", status=1)
        self.assertEqual([(row["suite"], row["runs"]) for row in self.history("trend")], [("suite", "2")])

    def test_wrong_questions(self):
        for words, message in ((["weather"], "there is no question 'weather'"), (["new"], "which branch?"),
                               (["flaky", "trend"], "there is no question 'trend'")):
            self.assertIn(message, self.run_it("history", "--store", self.url, *words, status=2).stderr)
        self.run_it("history", "--store", self.url, "--format", "junit", status=2)
        self.assertIn("is not a place for results", self.run_it("check", "--store", "http://x", "./suite", status=2).stderr)

    def test_names_are_data(self):
        hostile = "a'); DROP TABLE polygraph_run; --\u202e\u00e9"
        (self.folder / "report.json").write_text(json.dumps({
            "schema": 1, "suite": {"command": [hostile], "framework": "x", "tests": 1},
            "tests": [{"name": hostile, "outcome": "fail", "seconds": 0.5}], "findings": [], "limits": []}))
        self.run_it("merge", "--store", self.url, "report.json", status=3)
        rows = self.history("failing")
        self.assertEqual([(row["suite"], row["test"], row["failures"]) for row in rows], [(hostile, hostile, "1")])
        self.assertNotIn("\u202e", self.run_it("history", "--store", self.url, "failing").stdout)


class Sqlite(Runs, unittest.TestCase):
    def prepare(self):
        self.url = "results.db"

    def test_nothing_is_said(self):
        """Where there is nothing, why."""
        self.assertIn("there is no history of runs here", self.run_it("history", status=2).stderr)
        self.assertFalse((self.folder / ".polygraph").exists())
        for words in ([], ["failing"], ["trend"], ["--branch", "topic", "new"]):
            self.assertEqual(self.run_it("history", "--store", self.url, *words).stdout,
                             "no run is stored in this history yet; 'polygraph check --store' adds one\n")
        self.assertEqual(self.run_it("history", "--store", self.url, "--format", "json").stdout, "")
        (self.folder / "fine.c").write_text("void test_fine(void) {}\nint main(void) { test_fine(); return 0; }\n")
        subprocess.run(["cc", "-g", "-O0", "-o", "fine", "fine.c"], cwd=self.folder, check=True)
        self.run_it("check", "--store", self.url, "./fine")
        for words, said in (([], "no test with an outcome that varies in 1 run\n"), (["failing"], "no test that failed in 1 run\n"),
                            (["--branch", "topic", "new"], "nothing new on topic against main in 1 run\n")):
            self.assertEqual(self.run_it("history", "--store", self.url, *words).stdout, said)

    def test_a_place_that_cannot_be_written(self):
        done = self.run_it("check", "--store", "/proc/nothing/results.db", "./suite", status=1)
        self.assertIn("results were not stored", done.stderr)
        self.assertEqual(len(self.unsent()), 1)
        self.run_it("check", "--store", self.url, "./suite", status=1)
        self.assertEqual(self.unsent(), [])
        with sqlite3.connect(self.folder / "results.db") as database:
            self.assertEqual(database.execute("SELECT COUNT(*) FROM polygraph_run").fetchone(), (2,))


class Page(unittest.TestCase):
    """The page in a browser."""

    @classmethod
    def setUpClass(cls):
        why = browser.why_not()
        if why:
            raise unittest.SkipTest(why)
        cls.browser = browser.Browser()
        cls.addClassCleanup(cls.browser.close)

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="polygraph-history-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name).resolve()

    def tearDown(self):
        self.assertEqual(self.browser.errors(), [])

    def show(self, *words, text=None):
        command = [POLYGRAPH, "history", "--store", "results.db"]
        if text is not None:
            subprocess.run([*command, "trend"], cwd=self.folder, check=True, stdout=subprocess.DEVNULL)
            fill(self.folder / "results.db", text)
        subprocess.run([*command, "--format", "html", "--output", "page.html", *words], cwd=self.folder, check=True)
        self.browser.open(self.folder / "page.html")

    def texts(self, selector):
        return self.browser.run("return [...document.querySelectorAll(arguments[0])].map(one => one.innerText)", selector)

    def test_contents(self):
        self.show("--branch", "topic", text="")
        self.assertEqual(self.browser.text("h1"), "5 tests cannot be trusted")
        self.assertEqual(self.texts(".tile b"), ["3", "2", "5", "1", "3"])
        self.assertEqual(self.texts("#flaky tbody tr:first-child td"),
                         ["worse", "test0", "flaky", "2026-01-01T10:00:00Z", "2026-01-03T10:00:00Z", "3"])
        self.assertEqual(self.texts("#new tbody td:nth-child(4)"), ["flaky-2", "flaky-3", "flaky-4"])
        self.assertEqual(self.texts("#failing tbody td:nth-child(2)"), ["Broken"])
        # What is worst comes first; its line goes up.
        self.assertEqual(self.texts(".trend figcaption"), ["worse", "quiet"])
        self.assertIn("findings: 5 (first day: 1), failed: 2 of 20 tests", self.texts(".trend p"))
        points = self.browser.run("return [...document.querySelector('.trend polyline.findings').points].map(one => [one.x, one.y])")
        self.assertEqual([x for x, _ in points], sorted({x for x, _ in points}))
        self.assertEqual([y for _, y in points], sorted({y for _, y in points}, reverse=True))
        self.assertEqual(self.browser.run("return document.querySelector('.trend tbody').rows[0].cells[1].textContent"), "5")
        # By keyboard: the first link is the first section, and days open.
        self.browser.press("Tab", "Enter")
        self.browser.wait("location.hash === '#flaky'")
        self.browser.run("document.querySelector('.trend summary').focus()")
        self.browser.press("Enter")
        self.browser.wait("document.querySelector('.trend details').open")

    def test_rows_left_out(self):
        self.show("--branch", "topic", "--limit", "2", text="")
        self.assertEqual(len(self.texts("#flaky tbody tr")), 2)
        self.assertIn("Only 2 rows are shown", self.browser.text("#flaky"))
        self.assertEqual(self.texts(".tile b"), ["3", "2", "5", "1", "2+"])
        self.assertNotIn("rows are shown", self.browser.text("#failing"))

    def test_nothing(self):
        self.show()
        self.assertEqual(self.browser.text("h1"), "No flaky test was found")
        self.assertIn("No branch was examined", self.browser.text("#new"))
        self.assertIn("No run is stored yet", self.browser.text("#trend"))

    def test_hostile(self):
        self.show("--branch", "topic" + HOSTILE, text=HOSTILE)
        self.assertIsNone(self.browser.run("return window.hit === undefined ? null : window.hit"))
        self.assertEqual(self.browser.count("script, img, iframe, object, embed, link, form, [onload], [onerror], [style]"), 0)
        shown = self.browser.run("return document.querySelector('#new td:nth-child(2)').textContent")
        self.assertTrue(shown.startswith("test2</td></script><script>window.hit = 1</script><img"), shown)
        self.assertTrue(shown.endswith("\\xe2\\x80\\xae\\x01"), shown)
        page = (self.folder / "page.html").read_bytes()
        self.assertNotIn("\u202e".encode(), page)
        self.assertNotIn(b"\x01", page)
        self.assertNotIn(b"http:", page)

    def test_dark_and_small(self):
        self.show("--branch", "topic", text="")
        grounds = set()
        for scheme in ("light", "dark"):
            self.browser.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
            grounds.add(self.browser.run("return getComputedStyle(document.body).backgroundColor"))
        self.assertEqual(len(grounds), 2, grounds)
        self.browser.command("Emulation.setEmulatedMedia", features=[])
        self.browser.command("Emulation.setDeviceMetricsOverride", width=360, height=700, deviceScaleFactor=1, mobile=True)
        self.addCleanup(self.browser.command, "Emulation.clearDeviceMetricsOverride")
        self.assertLessEqual(self.browser.run("return document.documentElement.scrollWidth"), 360)


class Postgres(Runs, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.home = tempfile.TemporaryDirectory(prefix="polygraph-postgres-")
        cls.server = Server(cls.home.name)

    @classmethod
    def tearDownClass(cls):
        if not cls.server.why_not:
            subprocess.run([*cls.server.become, cls.server.programs / "pg_ctl", "-D", cls.server.place / "data", "-m", "immediate",
                            "-w", "stop"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/")
        cls.home.cleanup()

    def prepare(self):
        if self.server.why_not:
            self.skipTest(self.server.why_not)
        self.url = self.server.url
        self.server.ask("DROP SCHEMA public CASCADE; CREATE SCHEMA public")

    def count(self, table="polygraph_run"):
        return int(self.server.ask(f"SELECT COUNT(*) FROM {table}")[0])

    def test_the_server_goes_away_in_a_run(self):
        """The second command of the suite kills it, while results of a run before it are already there."""
        self.run_it("check", "--store", self.url, "./suite", status=1)
        number = self.server.number()
        # It ends at once, without waiting for anybody.
        (self.folder / "commands").write_text(f"true\nkill -QUIT {number} 2>/dev/null; true\n")
        done = self.run_it("check", "--store", self.url, "--sandbox", "never", "--only", "process", "--commands", "commands")
        self.assertIn("results were not stored", done.stderr)
        self.assertEqual(len(self.unsent()), 1)
        self.assertTrue(fresh.wait_for(lambda: not os.path.exists(f"/proc/{number}")))
        self.server.start()
        self.assertEqual(self.count(), 1)
        self.run_it("check", "--store", self.url, "./suite", status=1)
        self.assertEqual(self.unsent(), [])
        self.assertEqual(self.count(), 3)
        self.assertEqual(len(self.server.ask("SELECT DISTINCT run FROM polygraph_result")), 3)

    def test_a_run_is_added_once(self):
        self.server.stop()
        try:
            self.run_it("check", "--store", self.url, "./suite", status=1)
        finally:
            self.server.start()
        kept = self.unsent()[0]
        copy = kept.read_bytes()
        self.history("trend")
        self.assertEqual(self.count(), 1)
        kept.write_bytes(copy)  # as if it had been killed between the database and the file
        self.history("trend")
        self.assertEqual((self.count(), self.unsent()), (1, []))


def million():
    """Seconds for each question, the best of three."""
    with tempfile.TemporaryDirectory(prefix="polygraph-million-") as folder:
        server = Server(folder)
        if server.why_not:
            print(server.why_not)
            return
        here = Path(folder) / "here"
        here.mkdir()
        subprocess.run([POLYGRAPH, "history", "--store", server.url, "trend"], cwd=here, check=True, stdout=subprocess.DEVNULL)
        server.ask(FILL.format(runs=RUNS, suites=SUITES, tests=TESTS))
        file = here / "million.db"
        subprocess.run([POLYGRAPH, "history", "--store", file, "trend"], cwd=here, check=True, stdout=subprocess.DEVNULL)
        with sqlite3.connect(file) as database:
            for table in ("run", "result", "finding", "suite"):
                rows = [tuple(line.split("|")) for line in server.ask(f"SELECT * FROM polygraph_{table}")]
                database.executemany(f"INSERT INTO polygraph_{table} VALUES ({','.join('?' * len(rows[0]))})", rows)
            print(database.execute("SELECT COUNT(*) FROM polygraph_result").fetchone()[0], "results")
        for name, url in (("PostgreSQL", server.url), ("SQLite", str(file))):
            for words in (["flaky"], ["failing"], ["--branch", "topic", "new"], ["trend"], ["--branch", "topic", "--format", "html"]):
                times, rows = [], 0
                for _ in range(3):
                    start = time.monotonic()
                    done = subprocess.run([POLYGRAPH, "history", "--store", url, *(() if "html" in words else ("--format", "json")), *words],
                                          cwd=here, check=True, stdout=subprocess.PIPE)
                    times.append(time.monotonic() - start)
                    rows = done.stdout.count(b"\n")
                print(f"{name:10} {words[-1]:8} {min(times):6.3f} s  {rows} rows")
        server.stop()


def prepare(polygraph, _):
    global POLYGRAPH
    POLYGRAPH = polygraph


if __name__ == "__main__":
    if "--million" in sys.argv:
        prepare(os.path.abspath(sys.argv[sys.argv.index("--polygraph") + 1]), None)
        sys.exit(million())
    sys.exit(runner.main("history", prepare))
