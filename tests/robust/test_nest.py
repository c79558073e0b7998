#!/usr/bin/env python3
"""Whatever a test does to the process above it: results stay the same; and whoever is killed, nothing stays behind.

usage: test_nest.py --polygraph PATH [-v] [TEST…]
"""
import json
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import unittest

import runner
from fresh import wait_for
from test_robust import processes

HERE = os.path.dirname(os.path.abspath(__file__))
POLYGRAPH = None
FOLDER = None
NESTED = None

KIND = ("test_signals_parent", "test_signals_parent_as_orphan", "test_signals_group", "test_stops_parent",
        "test_stops_parent_as_orphan", "test_signals_child", "test_has_parent")
ROUGH = ("test_kills_parent", "test_kills_parent_as_orphan")


def children(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            return [int(child) for child in file.read().split()]
    except OSError:
        return []


def name_of(pid):
    with open(f"/proc/{pid}/comm", encoding="ascii", errors="replace") as file:
        return file.read().strip()


def kill_if_there(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def only(*names):
    return [word for name in names for word in ("--tests", name)]


class Base(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.word = f"nested-{os.getpid()}-{self.id().rsplit('.', 1)[-1]}"

    def tearDown(self):
        for pid in processes(self.word):
            kill_if_there(pid)

    def report(self, command, *args, statuses=(0, 1, 3), prefix=(), **options):
        options.setdefault("cwd", FOLDER)
        done = subprocess.run([*prefix, POLYGRAPH, command, "--format", "json", *args], capture_output=True, timeout=120,
                              check=False, **options)
        self.assertIn(done.returncode, statuses, (done.stdout + done.stderr).decode(errors="replace"))
        self.assertTrue(wait_for(lambda: not processes(self.word)), f"left running: {processes(self.word)}")
        return json.loads(done.stdout)

    def outcomes(self, *args, **options):
        return {test["name"]: test["outcome"] for test in self.report("run", *args, **options)["tests"]}

    def commands(self, *lines):
        path = os.path.join(FOLDER, self.word + ".txt")
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        return path


class Parent(Base):
    """Signals to the parent, to the group, of the test itself and of its orphans."""

    wanted = {**dict.fromkeys(KIND, "pass"), "test_fails": "crash"}

    def test_signals(self):
        for how in ([], ["--reverse"], ["--alone", "--jobs", "1"], ["--alone", "--jobs", "2"]):
            with self.subTest(how):
                self.assertEqual(self.outcomes(*how, *only(*self.wanted), NESTED, self.word), self.wanted)

    def test_detectors(self):
        """Those that run in a sandbox: the same outcomes, and nobody is interrupted."""
        for command in ("pollution", "order", "choices"):
            with self.subTest(command):
                report = self.report(command, *only(*KIND), NESTED, self.word, statuses=(0, 1))
                self.assertEqual({test["outcome"] for test in report["tests"]}, {"pass"})

    def test_killed_parent(self):
        for name in ROUGH:
            with self.subTest(name):
                names = (name, "test_fails", "test_has_parent")
                self.assertEqual(self.outcomes(*only(*names), NESTED, self.word),
                                 {name: "pass", "test_fails": "crash", "test_has_parent": "pass"})

    def test_ordinary_user(self):
        if os.geteuid() != 0:
            self.skipTest("all tests run as an ordinary user already")
        if not shutil.which("setpriv"):
            self.skipTest("there is no setpriv")
        nobody = pwd.getpwnam("nobody")
        become = ["setpriv", f"--reuid={nobody.pw_uid}", f"--regid={nobody.pw_gid}", "--clear-groups"]
        with tempfile.TemporaryDirectory(prefix="polygraph-user-") as folder:
            os.chmod(folder, 0o755)
            if subprocess.run([*become, "ls", folder], capture_output=True, check=False).returncode:
                self.skipTest("the temporary folder is closed to other users")
            for path in (POLYGRAPH, NESTED):
                shutil.copy(path, folder)
            done = subprocess.run([*become, "./" + os.path.basename(POLYGRAPH), "run", "--format", "json",
                                   *only(*self.wanted), "./" + os.path.basename(NESTED), self.word],
                                  cwd=folder, capture_output=True, timeout=120, check=False)
            tests = json.loads(done.stdout)["tests"]
            self.assertEqual({test["name"]: test["outcome"] for test in tests}, self.wanted)

    def test_commands(self):
        signals = "; ".join(f"kill -{number} $PPID" for number in range(1, 65) if number not in (9, 19, 32, 33))
        wanted = {
            f"{signals}; exit 0": "pass",
            f"{signals}; exit 3": "fail",
            f"(sleep 0.05; {signals}) & wait": "pass",
            f"(({signals}) & exit 0); sleep 0.2; exit 5": "fail",
            "kill -STOP $PPID": "pass",
            "kill -STOP $PPID; exit 1": "fail",
            "kill -KILL $PPID": "pass",
            "kill -KILL $PPID; exit 7": "fail",
            "kill -KILL $PPID; sleep 0.1; kill -SEGV $$": "crash",
            f"test $PPID -gt 1 && test {self.word}": "pass",
        }
        path = self.commands(*wanted)
        for jobs in ("1", "3"):
            with self.subTest(jobs):
                self.assertEqual(self.outcomes("--jobs", jobs, "--commands", path), wanted)


class Left(Base):
    """Processes that tests leave end with the process of the test, and not before."""

    LEAVING = [f"test_leaves_{i}" for i in range(1, 10)]

    def test_do_not_pile_up(self):
        for how in (["--alone", "--jobs", "1"], ["--alone", "--jobs", "1", "--repeat", "3"]):
            with self.subTest(how):
                found = self.outcomes(*how, *only(*self.LEAVING), NESTED, self.word)
                self.assertEqual(found, dict.fromkeys(self.LEAVING, "pass"))

    def test_are_there_in_their_process(self):
        """The twin: two tests in one process meet what the first one left."""
        found = self.outcomes(*only(*self.LEAVING[:2]), NESTED, self.word)
        self.assertEqual(sorted(found.values()), ["crash", "pass"])

    def test_port(self):
        """The daemon that holds a port is gone when the test runs again: it does not fail at random."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        environment = {**os.environ, "PORT": str(port)}
        report = self.report("order", "--jobs", "1", *only("test_holds_port", "test_has_parent", "test_signals_child"), NESTED,
                             self.word, env=environment)
        self.assertEqual({test["outcome"] for test in report["tests"]}, {"pass"})
        # In one process it fails the second time, every time.
        self.assertEqual([(finding["kind"], finding.get("class")) for finding in report["findings"]],
                         [("order-dependent", "non-idempotent")])


class Killed(Base):
    """kill -9 of any of us, and of several at once: no process of the tested program is left."""

    # No command line has a number like that by chance.
    seconds = 5000000 + os.getpid()

    def left(self):
        return processes(self.word) + processes(f"sleep\0{self.seconds}")

    def start(self, *args):
        child = subprocess.Popen([POLYGRAPH, "run", "--timeout", "100s", *args], cwd=FOLDER, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL, start_new_session=True)
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        return child

    def family(self, child):
        """The guards, the controller and the nest."""
        found = []

        def find():
            found[:] = [child.pid]
            try:
                while name_of(found[-1]) != "pg-nest":
                    found.append(children(found[-1])[0])
            except (OSError, IndexError):
                return False  # one that was on its way out
            return len(found) == 4
        self.assertTrue(wait_for(find), found)
        return dict(zip(("guard", "second", "controller", "nest"), found, strict=True))

    def native(self):
        child = self.start(*only("test_hangs"), NESTED, self.word)
        running = wait_for(lambda: sum(name_of_or_none(pid) == "pg-left" for pid in processes(self.word)) == 2)
        self.assertTrue(running, "test_hangs did not start")
        return child

    def process(self):
        """One that stays in the group of its test, and a daemon."""
        one, two = (f"sleep {self.seconds}.{i}" for i in (1, 2))
        child = self.start("--commands", self.commands(f"{one} & setsid {two} & wait; : {self.word}"))
        running = wait_for(lambda: all(processes(sleep.replace(" ", "\0")) for sleep in (one, two)))
        self.assertTrue(running, "the command did not start")
        return child

    COMBINATIONS = (("guard",), ("second",), ("controller",), ("guard", "controller"), ("second", "controller"),
                    ("guard", "second", "controller"), ("controller", "nest"), ("guard", "controller", "nest"),
                    ("second", "controller", "nest"), ("group",))

    def check(self, start):
        for who in self.COMBINATIONS:
            for names in {who, who[::-1]}:
                with self.subTest(names):
                    child = start()
                    family = self.family(child)
                    for name in names:
                        if name == "group":
                            os.killpg(child.pid, signal.SIGKILL)
                        else:
                            kill_if_there(family[name])  # it may have ended because of the one before
                    child.wait(timeout=60)
                    gone = wait_for(lambda: not self.left(), 20)
                    self.assertTrue(gone, f"left running: {self.left()}")

    def test_native(self):
        self.check(self.native)

    def test_commands(self):
        self.check(self.process)


def name_of_or_none(pid):
    try:
        return name_of(pid)
    except OSError:
        return ""


def prepare(polygraph, folder):
    global POLYGRAPH, FOLDER, NESTED
    POLYGRAPH, FOLDER = polygraph, folder
    NESTED = os.path.join(folder, "nested")
    subprocess.run(["cc", "-g", "-O0", "-D_GNU_SOURCE", "-w", "-o", NESTED, os.path.join(HERE, "nested.c")], check=True)


if __name__ == "__main__":
    sys.exit(runner.main("nest", prepare))
