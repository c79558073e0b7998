#!/usr/bin/env python3
"""Where the tool stops between set-up, body and tear-down of tests, in every framework that has them.

usage: test_points.py --polygraph PATH [-v] [TEST…]

The programs in points/ say what they do in the file in which the tool says where it stops; whoever writes has the
other one waiting, so the lines are in their true sequence.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import runner

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "harness"))
import build  # noqa: E402 (it lies in another folder)

POLYGRAPH = None
FOLDER = None
BUILDS = [("gcc", "-O0"), ("gcc", "-O2"), ("clang", "-O2")]
FOLDED = [("gcc", "-O2 -ffunction-sections -fuse-ld=gold -Wl,--icf=all")]


def glib_flags():
    return subprocess.run(["pkg-config", "--cflags", "--libs", "glib-2.0"], capture_output=True, text=True,
                          check=True).stdout.split()


class Components:
    """What the harness fetches is kept next to the tool."""

    def __init__(self):
        self.folder = pathlib.Path(POLYGRAPH).parent / "subjects"


def unity_flags():
    try:
        source = build.fetch_unity(Components())
    except (build.Unavailable, build.BuildError) as reason:
        raise unittest.SkipTest(f"Unity cannot be fetched: {reason}") from reason
    return [f"-I{source}", str(pathlib.Path(source) / "unity.c")]


def points_of(name):
    """What is expected of a test, by its name."""
    setup = not re.search(r"(?i)plain|teardown_only", name)
    teardown = not re.search(r"(?i)plain|setup_only", name)
    return (["point before-setup"] + ["note setup"] * setup + ["point after-setup", "note body",
            "point before-teardown"] + ["note teardown"] * teardown + ["point after-teardown"])


class Points(unittest.TestCase):
    maxDiff = None

    def compile(self, name, compiler, flags, more):
        source = next((HERE / "points").glob(name + ".c*"))
        cc, cxx = build.COMPILERS[compiler]
        if not shutil.which(cc):
            self.skipTest(f"there is no {cc}")
        path = os.path.join(FOLDER, name)
        command = [cxx if source.suffix == ".cc" else cc, "-g", *flags.split(), "-w", f"-I{HERE}/points", "-o", path,
                   str(source), *more]
        subprocess.run(command, check=True)
        return path

    def trace(self, program, *options):
        """Tests, in their sequence, each with what happened in it; None: outside of them."""
        with tempfile.NamedTemporaryFile(dir=FOLDER) as file:
            environment = {**os.environ, "POINTS_FILE": file.name, "POLYGRAPH_LOG": "suite",
                           "POLYGRAPH_FAULT_POINTS": "1"}
            with open(file.name, "ab") as log:
                done = subprocess.run([POLYGRAPH, "run", *options, program], env=environment, stderr=log,
                                      stdout=subprocess.PIPE, timeout=120, check=False)
            text = file.read().decode()
        self.assertEqual(done.returncode, 3, done.stdout.decode() + text)
        tests, current = [], None
        for line in text.splitlines():
            point = re.search(r"(point [a-z-]+) (.*)", line)
            if point and point[1] == "point before-setup":
                current = (point[2], [])
                tests.append(current)
            if point:
                self.assertIsNotNone(current, text)
                self.assertEqual(point[2], current[0], text)
                current[1].append(point[1])
                if point[1] == "point after-teardown":
                    current = None
            elif line.startswith("note "):
                self.assertIsNotNone(current, "outside of a test:\n" + text)
                current[1].append(line)
        return tests

    def check(self, name, count, more, builds=BUILDS, without=None):
        for compiler, flags in builds:
            program = self.compile(name, compiler, flags, more)
            for order in ([], ["--reverse"]):
                with self.subTest(compiler=compiler, flags=flags, order=order):
                    tests = self.trace(program, *order)
                    self.assertEqual(len(tests), count)
                    for test, seen in tests:
                        if test == without:
                            continue
                        self.assertEqual(seen, points_of(test), test)

    def test_gtest(self):
        self.check("gtest", 6, ["-std=c++17", "-lgtest_main", "-lgtest", "-pthread"], BUILDS + FOLDED)

    def test_boost(self):
        self.check("boost", 7, ["-std=c++17", "-l:libboost_unit_test_framework.a"])

    def test_boost_shared(self):
        self.check("boost", 7, ["-std=c++17", "-DBOOST_TEST_DYN_LINK", "-lboost_unit_test_framework"], BUILDS[1:2])

    def test_check(self):
        self.check("check", 3, ["-lcheck", "-lsubunit", "-lrt", "-lm", "-pthread"])

    def test_cmocka(self):
        self.check("cmocka", 5, ["-lcmocka"])

    def test_unity(self):
        self.check("unity", 3, unity_flags())

    def test_unity_inlined(self):
        """A tear-down that is inlined into the runner is told from the body's return, if it returns."""
        self.check("unity", 3, [*unity_flags(), "-DOWN_RUN_TEST"], without="with_fails")

    def test_cunit(self):
        self.check("cunit", 5, ["-l:libcunit.a"])

    def test_cunit_shared(self):
        self.check("cunit", 5, ["-lcunit"])

    def test_glib(self):
        self.check("glib", 4, glib_flags())

    def test_cpputest(self):
        self.check("cpputest", 3, ["-std=c++17", "-lCppUTest", "-pthread"], BUILDS + FOLDED)


def prepare(polygraph, folder):
    global POLYGRAPH, FOLDER
    POLYGRAPH, FOLDER = polygraph, folder


if __name__ == "__main__":
    sys.exit(runner.main("points", prepare))
