#!/usr/bin/env python3
"""What lies in the way: a folder that is gone, files that are too large, read-only, tampered with or left, tools that do not end.

usage: test_obstacles.py --polygraph PATH [-v] [TEST…]
"""
import fcntl
import json
import os
import pathlib
import pwd
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
import unittest

import runner

POLYGRAPH = None
FOLDER = None
SOURCE = """
static int state;
__attribute__((noinline)) int test_sets(void) { state = 4; return 0; }
__attribute__((noinline)) int test_is_zero(void) { return state != 0; }
int main(void) { return test_sets() + test_is_zero(); }
"""
EVIL = "\x1b]0;title\x07\x9b31m"


class Obstacles(unittest.TestCase):
    def setUp(self):
        self.room = FOLDER / self.id().rsplit(".", 1)[1]
        self.room.mkdir()
        self.room.chmod(0o755)

    def build(self, source=SOURCE):
        (self.room / "suite.c").write_text(source)
        subprocess.run(["cc", "-g", "-O0", "-o", "suite", "suite.c"], cwd=self.room, check=True)

    def run_it(self, *words, status=None, prefix=(), **options):
        done = subprocess.run([*prefix, POLYGRAPH, *words], cwd=options.pop("cwd", self.room), stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=options.pop("timeout", 300), check=False, **options)
        if status is not None:
            self.assertEqual(done.returncode, status, done.stdout)
        return done.stdout

    def check(self):
        """Finds the one that depends on the other; its id."""
        out = self.run_it("check", "--no-choices", "--no-schedules", "--format", "json", "--output", "report", "./suite", status=1)
        findings = json.loads((self.room / "report").read_text())["findings"]
        self.assertEqual({finding["kind"] for finding in findings}, {"pollution", "order-dependent"}, out)
        return next(finding["id"] for finding in findings if finding["kind"] == "order-dependent")

    def test_deleted_folder(self):
        self.build()
        for words in (["check", self.room / "suite"], ["run", self.room / "suite"], ["list", self.room / "suite"], ["repair"],
                      ["check", "--ctest", self.room], ["init"]):
            gone = self.room / "gone"
            gone.mkdir()
            with self.subTest(words[0]):
                out = self.run_it(*words, status=2, cwd=gone, preexec_fn=lambda gone=gone: os.rmdir(gone))
                self.assertIn("the working directory has been deleted", out)

    def test_source_that_is_too_large(self):
        self.build(SOURCE + ("/* " + "x" * 90 + " */\n") * 100000)
        self.check()
        out = self.run_it("repair", status=1)
        self.assertIn("test_is_zero was not fixed: the source of the test was not found, or is no text of at most 8 MiB", out)
        self.run_it("report", "--format", "html", "--output", "page.html", status=0)

    def test_results_that_cannot_be_written(self):
        become = []
        program = POLYGRAPH
        self.build()
        finding = self.check()
        if os.geteuid() == 0:
            # root may write anything: the folder of somebody else, as that user.
            nobody = pwd.getpwnam("nobody")
            if not shutil.which("setpriv"):
                self.skipTest("there is no setpriv")
            become = ["setpriv", f"--reuid={nobody.pw_uid}", f"--regid={nobody.pw_gid}", "--clear-groups"]
            program = self.room / "polygraph"
            shutil.copy(POLYGRAPH, program)
            FOLDER.chmod(0o755)
            for path in (self.room, *self.room.rglob("*")):
                os.chown(path, nobody.pw_uid, nobody.pw_gid)
            if subprocess.run([*become, "ls", self.room], capture_output=True, check=False).returncode:
                self.skipTest("the temporary folder is closed to other users")
        results = self.room / ".polygraph"
        for path in results.iterdir():
            if path.is_file():
                path.chmod(0o400)
        results.chmod(0o500)

        def say(*words, status=0):
            done = subprocess.run([*become, program, *words], cwd=self.room, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  text=True, timeout=300, check=False)
            self.assertEqual(done.returncode, status, done.stdout)
            return done.stdout
        try:
            self.assertIn(finding, say("replay", "--list"))
            self.assertIn(finding, say("report"))
            self.assertIn("reproduced", say("replay", "--sandbox", "never", finding, status=1))
            (self.room / "known").write_text(f"{finding}\n")
            self.assertIn("found", say("baseline", "--baseline", "known"))
            out = say("check", "--no-choices", "--no-schedules", "--sandbox", "never", "./suite", status=1)
            self.assertIn("results are not kept: '.polygraph/results.db'", out)
        finally:
            results.chmod(0o700)

    def test_records_that_were_tampered_with(self):
        """They come from a shared cache, or with a copy of a project: no control character of theirs is printed."""
        self.build()
        finding = self.check()
        report = self.room / ".polygraph" / "report.json"
        document = json.loads(report.read_text())
        for one in document["findings"]:
            one["id"] += EVIL
        report.write_text(json.dumps(document))
        database = sqlite3.connect(self.room / ".polygraph" / "results.db")
        for row, replay in database.execute("SELECT place, replay FROM findings WHERE id = ?", (finding.encode(),)).fetchall():
            record = json.loads(replay)
            for trial in record["trials"]:
                trial["name"] += EVIL
            database.execute("UPDATE findings SET replay = ? WHERE place = ? AND id = ?",
                             (json.dumps(record).encode(), row, finding.encode()))
        database.commit()
        database.close()
        for words in (["report"], ["report", "--verbose"], ["replay", finding], ["replay", "--list"]):
            with self.subTest(words):
                out = self.run_it(*words)
                self.assertIn("test_is_zero", out)
                self.assertFalse(set(out) & {"\x1b", "\x07", "\x9b"}, out)

    def test_list_that_does_not_end(self):
        if not shutil.which("ctest"):
            self.skipTest("there is no ctest")
        (self.room / "CTestTestfile.cmake").write_text("while(1)\nendwhile()\n")
        for command in ("list", "check"):
            out = self.run_it(command, "--timeout", "500ms", "--ctest", ".", status=3)
            self.assertIn("ctest: it does not end", out)

    def test_build_that_does_not_end(self):
        self.build()
        finding = self.check()
        out = self.run_it("repair", "--budget", "3s", "--build", "sleep 1000", finding, timeout=100)
        if "--build needs a sandbox" in out:
            self.skipTest("there is no sandbox here")
        self.assertRegex(out, r"'sleep 1000' failed: it does not end within|the time for it \(--budget\) ended")

    def test_many_exclusions(self):
        """One child tries them all, not one each; the one that is too dear is named."""
        self.build()
        words = [f"--exclude-roots=^name_{i}$" for i in range(20000)]
        first = subprocess.Popen(["true"])
        first.wait()
        self.run_it("pollution", *words, "./suite", status=1)
        last = subprocess.Popen(["true"])
        last.wait()
        most = int(pathlib.Path("/proc/sys/kernel/pid_max").read_text())
        self.assertLess((last.pid - first.pid) % most, 15000)
        dear = "((a{1,255}){1,255}){1,255}"
        out = self.run_it("pollution", "--exclude-roots=a", f"--exclude-roots={dear}", "--exclude-roots=b", "./suite", status=2)
        self.assertIn(f"--exclude-roots '{dear}' takes too much time or memory", out)

    def test_killed_check_of_a_build(self):
        """What it leaves, the next one removes, and nothing else."""
        if not shutil.which("ctest"):
            self.skipTest("there is no ctest")
        temporary = self.room / "temporary"
        temporary.mkdir()
        environment = {**os.environ, "TMPDIR": str(temporary)}
        self.build("#include <unistd.h>" + SOURCE.replace("return state != 0", "return sleep(100)"))
        tests = self.room / "CTestTestfile.cmake"
        tests.write_text(f'add_test(suite "{self.room}/suite")\n')
        child = subprocess.Popen([POLYGRAPH, "check", "--quiet", "--ctest", "."], cwd=self.room, env=environment,
                                 start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(2000):
            left = list(temporary.glob("polygraph-whole-*"))
            if left:
                break
            time.sleep(0.02)
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        self.assertEqual(len(left), 1)
        mine = temporary / "polygraph-whole-notes1"
        mine.mkdir(mode=0o700)
        (mine / "of the user").write_text("")
        used = temporary / "polygraph-whole-aaaaaa"
        used.mkdir(mode=0o700)
        lock = os.open(used, os.O_RDONLY)
        fcntl.flock(lock, fcntl.LOCK_EX)
        self.build(SOURCE.replace("state != 0", "state > 9"))
        for _ in range(2000):  # until the last of those that were killed is gone
            self.run_it("check", "--quiet", "--no-choices", "--ctest", ".", env=environment)
            if not left[0].exists():
                break
            time.sleep(0.02)
        self.assertEqual(set(temporary.glob("polygraph-whole-*")), {mine, used})
        self.assertTrue((mine / "of the user").exists())
        os.close(lock)


def prepare(polygraph, folder):
    global POLYGRAPH, FOLDER
    POLYGRAPH = polygraph
    FOLDER = pathlib.Path(folder)


if __name__ == "__main__":
    sys.exit(runner.main("obstacles", prepare))
