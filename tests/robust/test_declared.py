#!/usr/bin/env python3
"""What suites declare of the order of their tests: groups, dependencies, fixtures, priorities; in every framework.

usage: test_declared.py --polygraph PATH [-v] [TEST…]

declared.c, built next to the tool, shows it. The subjects of all frameworks are looked at, where groups follow from
the names of tests, and the programs in declared/ for what the subjects do not have.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest

import runner

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "harness"))
import build  # noqa: E402 (it lies in another folder)
import frameworks  # noqa: E402
import parts  # noqa: E402
import subject as subject_module  # noqa: E402

POLYGRAPH = None
FOLDER = None


class Declared:
    """What declared.c shows: of each test by name the groups it is in, and relations as sets of names."""

    def __init__(self, *words, prefix=()):
        program = pathlib.Path(POLYGRAPH).parent / "tests/robust/polygraph_declared"
        done = subprocess.run([*prefix, program, *words], capture_output=True, text=True, timeout=120, cwd=FOLDER)
        if done.returncode:
            raise AssertionError(f"{words}: {done.stderr}")
        self.text = done.stdout
        head, *lines = done.stdout.splitlines()
        self.framework, self.bound, self.natural = head.split()
        rows = [line.split(" ", 5) for line in lines]
        self.names = [row[5] for row in rows]

        def named(column):
            return {row[5]: {self.names[int(i)] for i in row[column].split(",")} for row in rows if row[column] != "-"}

        self.groups = {row[5]: row[0].split("/")[1:] for row in rows}
        self.priorities = {row[5]: int(row[1]) for row in rows}
        self.after, self.needs, self.cleanups = named(2), named(3), named(4)


class Frameworks(unittest.TestCase):
    maxDiff = None

    def check_groups(self, declared, groups_of, runners=lambda name: 0):
        """The same name, the same group; another one, another group; at every depth."""
        by_name, by_group = {}, {}
        for name, groups in declared.groups.items():
            expected = groups_of(name) if groups_of else []
            self.assertEqual(len(groups), len(expected), f"{name} lies in {groups}, not in {expected}")
            for depth in range(1, len(groups) + 1):
                words = (runners(name), *expected[:depth])
                self.assertEqual(by_name.setdefault(words, groups[:depth]), groups[:depth], name)
                self.assertEqual(by_group.setdefault(tuple(groups[:depth]), words), words, name)

    def check_subject(self, framework):
        known = frameworks.load(framework)
        subjects = subject_module.find_subjects(HERE.parent / "subjects", [framework])
        builder = build.Builder(pathlib.Path(POLYGRAPH).parent)
        built = [exe for exe in builder.build(subjects, [("gcc", "O0")]) if not exe.skip]
        if not built:
            self.skipTest(f"{framework} is not installed")
        for exe in built:
            with self.subTest(exe.label):
                self.assertIsNone(exe.error)
                declared = Declared(exe.path)
                self.assertEqual(declared.framework, framework)
                self.assertEqual(declared.natural, "natural")
                self.assertEqual(declared.bound, "bound" if known.groups or known.FIXED else "free")
                self.check_groups(declared, known.groups)
                for what in ("after", "needs", "cleanups"):
                    expected = {test: others for kind, test, others in known.RELATIONS
                                if kind == what or (kind == "needs" and what == "after")}
                    self.assertEqual(getattr(declared, what), expected)

    def compile(self, source, compiler, *flags):
        program = pathlib.Path(FOLDER) / parts.digest(source, *flags)
        if program.exists():
            return program
        done = subprocess.run([compiler, "-g", "-O0", HERE / source, "-o", program, *flags],
                              capture_output=True, text=True)
        if done.returncode and re.search(r"cannot find|No such file", done.stderr):
            self.skipTest(f"{source} cannot be built here")
        self.assertEqual(done.returncode, 0, done.stderr)
        return program

    def check_boost(self, program):
        declared = Declared(program)
        self.check_groups(declared, frameworks.load("boost").groups)
        suite = {"early/deep/x", "early/deep/z"}  # without the disabled one
        needs = {"late/a": suite, "late/b": suite | {"late/c"}, "late/c": suite,
                 "early/deep/z": {"early/first", "free_one"}}
        self.assertEqual(declared.needs, needs)
        self.assertEqual(declared.after, needs)
        self.assertEqual((declared.bound, declared.natural), ("bound", "natural"))

    def boost_static(self):
        return self.compile("declared/boost.cc", "g++", "-l:libboost_unit_test_framework.a")

    def test_boost_static(self):
        self.check_boost(self.boost_static())

    def test_boost_shared(self):
        self.check_boost(self.compile("declared/boost.cc", "g++", "-DBOOST_TEST_DYN_LINK", "-lboost_unit_test_framework"))

    def test_boost_without_debug_information(self):
        program = pathlib.Path(FOLDER) / "boost-stripped"
        subprocess.run(["objcopy", "--strip-debug", self.boost_static(), program], check=True)
        self.check_boost(program)

    def test_boost_filter(self):
        """The framework enables what a chosen test depends on."""
        declared = Declared(self.boost_static(), "--run_test=early/deep/z")
        self.assertNotIn("late/a", declared.names)
        self.assertEqual(declared.needs, {"early/deep/z": {"early/first", "free_one"}})

    def check_again(self, source, *flags):
        """Where the program is started again and lies elsewhere, nothing is declared twice."""
        restrict = self.compile("restrict.c", "gcc")
        program = self.compile(source, "g++", HERE / "declared/thread.cc", *flags, "-pthread")
        self.assertEqual(Declared("--again", program, prefix=[restrict]).text, Declared(program).text)

    def test_gtest_again(self):
        self.check_again("declared/gtest.cc", "-lgtest_main", "-lgtest")

    def test_boost_again(self):
        self.check_again("declared/boost.cc", "-l:libboost_unit_test_framework.a")

    def test_gtest_death_tests(self):
        declared = Declared(self.compile("declared/gtest.cc", "g++", "-lgtest_main", "-lgtest", "-pthread"))
        self.check_groups(declared, frameworks.load("gtest").groups)
        self.assertEqual({name for name, priority in declared.priorities.items() if priority},
                         {"PlainDeathTest.One", "TypedDeathTest/0.One", "TypedDeathTest/1.One"})
        self.assertEqual((declared.bound, declared.natural), ("bound", "natural"))

    def test_cpputest_levels(self):
        declared = Declared(self.compile("declared/cpputest.cc", "g++", "-lCppUTestExt", "-lCppUTest", "-pthread"))
        level = {name: declared.priorities["Levels." + name] for name in ("free_one", "first", "second", "second_too", "third")}
        self.assertTrue(level["free_one"] > level["first"] > level["second"] == level["second_too"] > level["third"], level)
        self.assertFalse(declared.after or declared.needs or any(declared.groups.values()))
        self.assertEqual((declared.bound, declared.natural), ("bound", "natural"))

    def test_check_runners(self):
        declared = Declared(self.compile("declared/check.c", "gcc", "-lcheck", "-lsubunit", "-lrt", "-lm", "-pthread"))
        self.check_groups(declared, frameworks.load("check").groups, runners=lambda name: name.startswith("C/"))
        first = {declared.priorities[name] for name in declared.names if not name.startswith("C/")}
        second = {declared.priorities[name] for name in declared.names if name.startswith("C/")}
        self.assertEqual((len(first), len(second)), (1, 1))
        self.assertGreater(first.pop(), second.pop())
        self.assertEqual((declared.bound, declared.natural), ("bound", "natural"))


def add_subject(framework):
    setattr(Frameworks, f"test_{framework}_subject", lambda self: self.check_subject(framework))


for name in frameworks.names():
    add_subject(name)


class Processes(unittest.TestCase):
    def ctest(self, text):
        folder = tempfile.mkdtemp(dir=FOLDER)
        pathlib.Path(folder, "CTestTestfile.cmake").write_text(textwrap.dedent(text))
        if not shutil.which("ctest"):
            self.skipTest("ctest is not installed")
        return Declared("--ctest", folder)

    def test_ctest(self):
        declared = self.ctest("""\
            foreach(name user depends other start start2 stop off off_start off_user)
              add_test(${name} "/bin/true")
            endforeach()
            set_tests_properties(user PROPERTIES FIXTURES_REQUIRED data)
            set_tests_properties(start start2 PROPERTIES FIXTURES_SETUP data)
            set_tests_properties(stop PROPERTIES FIXTURES_CLEANUP data)
            set_tests_properties(depends PROPERTIES DEPENDS "other;missing")
            set_tests_properties(other PROPERTIES RUN_SERIAL TRUE RESOURCE_LOCK user)
            set_tests_properties(off_start PROPERTIES FIXTURES_SETUP off DISABLED TRUE)
            set_tests_properties(off PROPERTIES FIXTURES_CLEANUP off DISABLED TRUE)
            set_tests_properties(off_user PROPERTIES FIXTURES_REQUIRED off RUN_SERIAL TRUE)
            """)
        self.assertEqual(declared.needs, {"user": {"start", "start2"}})
        self.assertEqual(declared.cleanups, {"user": {"stop"}})
        self.assertEqual(declared.after, {
            "user": {"start", "start2"}, "stop": {"start", "start2", "user"}, "depends": {"other"},
            "off_user": {"off_start"}, "off": {"off_start", "off_user"}})
        self.assertEqual((declared.bound, declared.natural), ("bound", "natural"))
        self.assertFalse(any(declared.groups.values()))

    def test_ctest_fixtures_of_fixtures(self):
        declared = self.ctest("""\
            foreach(name user inner inner_stop outer outer_stop)
              add_test(${name} "/bin/true")
            endforeach()
            set_tests_properties(outer PROPERTIES FIXTURES_SETUP outer)
            set_tests_properties(outer_stop PROPERTIES FIXTURES_CLEANUP outer)
            set_tests_properties(inner PROPERTIES FIXTURES_SETUP inner FIXTURES_REQUIRED outer)
            set_tests_properties(inner_stop PROPERTIES FIXTURES_CLEANUP inner FIXTURES_REQUIRED outer)
            set_tests_properties(user PROPERTIES FIXTURES_REQUIRED inner)
            """)
        self.assertEqual(declared.needs, {"inner": {"outer"}, "inner_stop": {"outer"}, "user": {"inner"}})
        self.assertEqual(declared.cleanups, {"inner": {"outer_stop"}, "inner_stop": {"outer_stop"},
                                             "user": {"inner_stop"}})
        self.assertEqual(declared.natural, "natural")

    def test_ctest_free(self):
        declared = self.ctest('add_test(a "/bin/true")\nadd_test(b "/bin/true")\n')
        self.assertEqual((declared.bound, declared.natural), ("free", "natural"))

    def meson(self, tests):
        folder = pathlib.Path(tempfile.mkdtemp(dir=FOLDER))
        (folder / "meson.build").write_text("project('x')\nt = find_program('true')\n" + tests)
        if not shutil.which("meson"):
            self.skipTest("Meson is not installed")
        subprocess.run(["meson", "setup", "b"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        return Declared("--meson", folder / "b")

    def test_meson(self):
        declared = self.meson("test('a', t)\ntest('b', t, priority: -5, is_parallel: false)\n"
                              "test('c', t, priority: 7)\ntest('d', t)\n")
        self.assertEqual(declared.priorities, {"c": 7, "a": 0, "d": 0, "b": -5})
        self.assertEqual((declared.bound, declared.natural), ("bound", "natural"))
        self.assertFalse(declared.after or declared.needs or any(declared.groups.values()))

    def test_meson_free(self):
        declared = self.meson("test('a', t, priority: 3)\ntest('b', t, priority: 3, is_parallel: false)\n")
        self.assertEqual((declared.bound, declared.natural), ("free", "natural"))


def prepare(polygraph, folder):
    global POLYGRAPH, FOLDER
    POLYGRAPH, FOLDER = polygraph, folder


if __name__ == "__main__":
    sys.exit(runner.main("declared", prepare))
