#!/usr/bin/env python3
"""Results of all runs in one place: SQLite, and PostgreSQL, whose server this starts; it goes away, and nothing is lost.

Usage: test_history.py --polygraph PROGRAM [--million]

--million fills a PostgreSQL database and an SQLite file with 1,000,000 results and prints how long each question takes.
"""

import argparse
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

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import fresh  # noqa: E402

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
        done = self.run_it("history", "--store", self.url, "--json", *words)
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
        self.assertEqual(self.unsent(), [])

    def test_whole_build_and_merge(self):
        self.run_it("check", "--store", self.url, "--test-functions", "test_*", "--framework", "functions", "--program", "./suite",
                    "--format", "json", "--output", "all.json", status=1)
        self.run_it("merge", "--store", self.url, "all.json", status=1)
        self.assertEqual([(row["suite"], row["runs"]) for row in self.history("trend")], [("suite", "2")])

    def test_wrong_questions(self):
        for words, message in ((["weather"], "there is no question 'weather'"), (["new"], "which branch?"),
                               (["flaky", "trend"], "there is no question 'trend'")):
            self.assertIn(message, self.run_it("history", "--store", self.url, *words, status=2).stderr)
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

    def test_a_place_that_cannot_be_written(self):
        done = self.run_it("check", "--store", "/proc/nothing/results.db", "./suite", status=1)
        self.assertIn("results were not stored", done.stderr)
        self.assertEqual(len(self.unsent()), 1)
        self.run_it("check", "--store", self.url, "./suite", status=1)
        self.assertEqual(self.unsent(), [])
        with sqlite3.connect(self.folder / "results.db") as database:
            self.assertEqual(database.execute("SELECT COUNT(*) FROM polygraph_run").fetchone(), (2,))


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
            for words in (["flaky"], ["failing"], ["--branch", "topic", "new"], ["trend"]):
                times, rows = [], 0
                for _ in range(3):
                    start = time.monotonic()
                    done = subprocess.run([POLYGRAPH, "history", "--store", url, "--json", *words], cwd=here, check=True,
                                          stdout=subprocess.PIPE)
                    times.append(time.monotonic() - start)
                    rows = done.stdout.count(b"\n")
                print(f"{name:10} {words[-1]:8} {min(times):6.3f} s  {rows} rows")
        server.stop()


def main():
    global POLYGRAPH
    parser = argparse.ArgumentParser(description="Results of all runs in one place.")
    parser.add_argument("--polygraph", required=True)
    parser.add_argument("--million", action="store_true")
    options, rest = parser.parse_known_args()
    POLYGRAPH = os.path.abspath(options.polygraph)
    fresh.start()
    if options.million:
        return million()
    return unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
