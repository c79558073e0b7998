#!/usr/bin/env python3
"""Files that tests change are as they were before every order and afterwards, without a sandbox: every kind of change that
tests/robust/keeps.c has.

usage: test_keeps.py --polygraph PATH [-v] [TEST…]

A test that needs the files is found to depend on the one that changes them, and is not called flaky. A test that does the same
to files of its own is not named. Afterwards the files are what they were: content, types, modes, owners, times, links and
extended attributes.
"""
import concurrent.futures
import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import unittest

import runner

POLYGRAPH = None
FOLDER = None
KEEPS = None
HERE = os.path.dirname(os.path.abspath(__file__))


def state(folder):
    """All that can be seen of what is below a folder, but for the tool's own results and times of reading."""
    found, inodes = {}, {}
    for path, folders, names in os.walk(folder):
        folders[:] = sorted(f for f in folders if f != ".polygraph")
        for name in [".", *folders, *sorted(names)]:
            full = os.path.join(path, name)
            if name == "." and path == folder:
                continue  # results are put there
            now = os.lstat(full)
            content = b""
            if stat.S_ISREG(now.st_mode):
                with open(full, "rb") as file:
                    content = file.read()
            elif stat.S_ISLNK(now.st_mode):
                content = os.readlink(full)
            try:
                attributes = {key: os.getxattr(full, key, follow_symlinks=False)
                              for key in os.listxattr(full, follow_symlinks=False)}
            except OSError:
                attributes = {}
            # Names of one file have one number, whatever it is by now.
            number = inodes.setdefault(now.st_ino, len(inodes)) if now.st_nlink > 1 else None
            found[os.path.relpath(full, folder)] = (now.st_mode, now.st_uid, now.st_gid, now.st_mtime_ns, content, number,
                                                    attributes)
    return found


class Case:
    def __init__(self, test, kind):
        self.test = test
        self.folder = os.path.join(FOLDER, f"{test.id().split('.')[-1]}-{kind}")
        self.kind = kind
        os.mkdir(self.folder)
        subprocess.run([KEEPS, "make", "data"], cwd=self.folder, check=True)
        self.before = state(self.folder)

    def commands(self):
        """A suite of processes; the list is none of its files."""
        path = self.folder + ".txt"
        with open(path, "w") as file:
            for test in ("needs", "twin", "does"):
                file.write(f"{KEEPS} {self.kind} {test}\n")
        return "--commands", path

    def run(self, *words, suite=None):
        """The report of a command, after which files are as they were."""
        suite = suite or ("--", KEEPS, self.kind)
        result = subprocess.run([POLYGRAPH, *words, "--sandbox", "never", "--format", "json", *suite], cwd=self.folder,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300)
        self.test.assertIn(result.returncode, (0, 1, 3), self.kind + result.stderr)
        after = state(self.folder)
        self.test.assertEqual(sorted(self.before), sorted(after), f"{self.kind}: other names")
        for name, was in self.before.items():
            self.test.assertEqual(was, after[name], f"{self.kind}: {name}")
        return json.loads(result.stdout)

    def end(self):
        shutil.rmtree(self.folder)


class Keeps(unittest.TestCase):
    def each(self, check):
        """Of all kinds, two at a time: most of the time one waits."""
        def one(kind):
            case = Case(self, kind)
            check(case)
            case.end()
        kinds = subprocess.run([KEEPS, "list"], check=True, stdout=subprocess.PIPE, text=True).stdout.split()
        self.assertGreater(len(kinds), 40)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            bad = []
            for kind, future in [(kind, pool.submit(one, kind)) for kind in kinds]:
                try:
                    future.result()
                except AssertionError as error:
                    bad.append(f"{kind}: {error}")
        self.assertFalse(bad, "\n".join(bad))

    def check_order(self, case):
        report = case.run("order", "--no-roots", "--no-cleaners", "--repeat", "2")
        found = {(f["kind"], f["test"]): f for f in report["findings"]}
        self.assertNotIn("flaky", [kind for kind, _ in found], report["findings"])
        self.assertEqual([limit for limit in report["limits"] if "restored" in limit], [])
        if case.kind == "then-dies":
            # What comes after a test that ends the process begins anew.
            self.assertNotIn(("order-dependent", "test_needs"), found)
            return
        self.assertIn(("order-dependent", "test_needs"), found)
        victim = found["order-dependent", "test_needs"]
        self.assertEqual(victim["class"], "victim")
        self.assertEqual(victim["polluters"], [["test_does"]])
        self.assertNotIn(("order-dependent", "test_twin"), found)

    def test_order(self):
        self.each(self.check_order)

    def check_others(self, case):
        report = case.run("pollution")
        self.assertNotIn("test_twin", [f["test"] for f in report["findings"]])
        report = case.run("choices", "--level", "one", "--runs", "1")
        self.assertEqual([f for f in report["findings"] if f["kind"] == "flaky"], [])
        if case.kind != "then-dies":
            self.assertEqual({test["outcome"] for test in report["tests"]}, {"pass"})

    def check_commands(self, case):
        """Files that the program has open before its first test are the test's own here."""
        report = case.run("order", "--no-roots", "--no-cleaners", "--repeat", "2", suite=case.commands())
        found = {(f["kind"], f["test"].split()[-1]): f for f in report["findings"]}
        self.assertNotIn("flaky", [kind for kind, _ in found], report["findings"])
        self.assertIn(("order-dependent", "needs"), found)
        self.assertEqual([[name.split()[-1] for name in names] for names in
                          found["order-dependent", "needs"]["polluters"]], [["does"]])
        # Each process opens the file first, so without its name all of them fail.
        self.assertEqual(("order-dependent", "twin") in found, case.kind in ("rename-open", "unlink-open"))
        report = case.run("choices", "--level", "one", "--runs", "1", suite=case.commands())
        self.assertEqual([f for f in report["findings"] if f["kind"] == "flaky"], [])

    def test_commands(self):
        self.each(self.check_commands)

    def test_pollution_and_choices(self):
        self.each(self.check_others)


class Limits(unittest.TestCase):
    """What is large is restored, and what is too much is named."""

    def run_on(self, command, folder, *commands):
        path = os.path.join(FOLDER, "commands.txt")
        with open(path, "w") as file:
            file.write("\n".join(commands) + "\n")
        result = subprocess.run([POLYGRAPH, *command.split(), "--sandbox", "never", "--format", "json", "--commands", path],
                                cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300)
        return json.loads(result.stdout)

    def assert_changes(self, report, test, effect="settles"):
        """It was seen to change files; with an effect, twice: they were there again."""
        self.assertEqual({(f["test"], f["effect"]) for f in report["findings"]}, {(test, effect)})
        self.assertEqual([limit for limit in report["limits"] if "restored" in limit], [])

    def folder(self, name, where=None):
        path = tempfile.mkdtemp(prefix=f"polygraph-keeps-{name}-", dir=where or FOLDER)
        self.addCleanup(shutil.rmtree, path)
        return path

    def test_large(self):
        """More than 256 MiB, of which most is a hole."""
        folder = self.folder("large")
        large = os.path.join(folder, "large")
        with open(large, "wb") as file:
            file.write(b"begin")
            file.truncate(300 << 20)
            file.seek(0, os.SEEK_END)
            file.write(b"end")
        self.assert_changes(self.run_on("pollution", folder, "test -e large", "rm -f large"), "rm -f large")
        self.assertEqual(os.path.getsize(large), (300 << 20) + 3)
        with open(large, "rb") as file:
            self.assertEqual(file.read(5), b"begin")
            file.seek(-3, os.SEEK_END)
            self.assertEqual(file.read(), b"end")
        self.assertLess(os.stat(large).st_blocks * 512, 10 << 20)

    def test_many(self):
        if not os.access("/dev/shm", os.W_OK):
            self.skipTest("there is no /dev/shm, and a disk takes too long")
        folder = self.folder("many", "/dev/shm")
        os.mkdir(os.path.join(folder, "many"))
        for i in range(25000):
            open(os.path.join(folder, "many", str(i)), "x").close()
        command = "mv many gone || exit 0"
        self.assert_changes(self.run_on("pollution --no-effect --no-readers", folder, "test -e many/24999", command), command,
                            "unknown")
        self.assertEqual(sorted(set(os.listdir(folder)) - {".polygraph"}), ["many"])
        self.assertEqual(len(os.listdir(os.path.join(folder, "many"))), 25000)

    def deep(self, depth):
        folder = self.folder("deep")
        at = os.open(folder, os.O_RDONLY)
        for name in ["deep", *("d" * depth)]:
            os.mkdir(name, dir_fd=at)
            inner = os.open(name, os.O_RDONLY, dir_fd=at)
            os.close(at)
            at = inner
        os.close(at)
        return folder, self.run_on("order --no-roots --no-cleaners --repeat 1 --budget 2m", folder, "test -e deep",
                                   "mv deep gone")

    def test_deep(self):
        folder, report = self.deep(300)
        self.assertIn(("order-dependent", "test -e deep"), [(f["kind"], f["test"]) for f in report["findings"]])
        self.assertEqual([limit for limit in report["limits"] if "restored" in limit], [])
        self.assertEqual(sorted(set(os.listdir(folder)) - {".polygraph"}), ["deep"])

    def test_too_deep(self):
        folder, report = self.deep(600)
        limits = [limit for limit in report["limits"] if "restored" in limit]
        self.assertTrue(limits and "deep" in limits[0] and "nested too deeply" in limits[0], report["limits"])
        self.assertNotIn("flaky", [f["kind"] for f in report["findings"]])
        # It was not kept: it is the only copy, and stays under its other name.
        self.assertEqual(sorted(set(os.listdir(folder)) - {".polygraph"}), ["gone"])


def prepare(polygraph, folder):
    global POLYGRAPH, FOLDER, KEEPS
    POLYGRAPH, FOLDER = polygraph, folder
    KEEPS = os.path.join(folder, "keeps")
    subprocess.run(["cc", "-g", "-O0", "-D_GNU_SOURCE", "-o", KEEPS, os.path.join(HERE, "keeps.c")], check=True)


if __name__ == "__main__":
    sys.exit(runner.main("keeps", prepare))
