#!/usr/bin/env python3
"""`replay --gdb` stops at the assertion that fails, with each framework and for each kind of finding that makes a test fail.

What has no process that a debugger could take over is told in a sentence.

Frameworks of which every test program compiles the whole (Catch2, doctest, Boost.Test) are for --full.

usage: test_gdb.py --polygraph PATH [--full] [-v] [TEST…]
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

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "harness"))
import build  # noqa: E402 (it lies in another folder)
import frameworks  # noqa: E402
import parts  # noqa: E402

POLYGRAPH = None
FOLDER = None
FULL = False
LONG = ("catch2", "doctest", "boost")
# Framework: suffix, what it is linked with, the source. The line with HERE is where the debugger must stop.
GTEST = """#include <gtest/gtest.h>
int level;
TEST(Level, IsZero) {
    EXPECT_EQ(level, 0); // HERE
}
TEST(Level, Rises) { level = 1; }
"""
CATCH = """#include <%s>
int level;
TEST_CASE("is zero") {
    REQUIRE(level == 0); // HERE
}
TEST_CASE("rises") { level = 1; }
"""
SUITES = {
    "gtest": ("cc", ["-lgtest", "-lgtest_main", "-pthread"], GTEST),
    "catch2": ("cc", [], "#define CATCH_CONFIG_MAIN\n" + CATCH % "catch2/catch.hpp"),
    "doctest": ("cc", [], "#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN\n" + CATCH % "doctest/doctest.h"),
    "boost": ("cc", [], """#define BOOST_TEST_MODULE level
#include <boost/test/included/unit_test.hpp>
int level;
BOOST_AUTO_TEST_CASE(is_zero) {
    BOOST_CHECK(level == 0); // HERE
}
BOOST_AUTO_TEST_CASE(rises) { level = 1; }
"""),
    "cpputest": ("cc", ["-lCppUTest"], """#include <CppUTest/CommandLineTestRunner.h>
#include <CppUTest/TestHarness.h>
int level;
TEST_GROUP(Level) {};
TEST(Level, Rises) { level = 1; }
TEST(Level, IsZero) {
    LONGS_EQUAL(0, level); // HERE
}
int main(int argc, char **argv) { return CommandLineTestRunner::RunAllTests(argc, argv); }
"""),
    "check": ("c", ["-lcheck", "-lsubunit", "-lm", "-lrt", "-pthread"], """#include <check.h>
int level;
START_TEST(is_zero) {
    ck_assert_int_eq(level, 0); // HERE
}
END_TEST
START_TEST(rises) { level = 1; }
END_TEST
int main(void)
{
    Suite *suite = suite_create("level");
    TCase *tests = tcase_create("all");
    tcase_add_test(tests, is_zero);
    tcase_add_test(tests, rises);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_NORMAL);
    return srunner_ntests_failed(runner) != 0;
}
"""),
    "cmocka": ("c", ["-lcmocka"], """#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
int level;
static void is_zero(void **state) {
    (void)state;
    assert_int_equal(level, 0); // HERE
}
static void rises(void **state) { (void)state; level = 1; }
int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(is_zero), cmocka_unit_test(rises) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
"""),
    "cunit": ("c", ["-lcunit"], """#include <CUnit/Basic.h>
int level;
static void is_zero(void) {
    CU_ASSERT_EQUAL(level, 0); // HERE
}
static void rises(void) { level = 1; }
int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("level", NULL, NULL);
    CU_add_test(suite, "is_zero", is_zero);
    CU_add_test(suite, "rises", rises);
    CU_basic_run_tests();
    return CU_get_number_of_failures() != 0;
}
"""),
    "glib": ("c", ["pkg-config:glib-2.0"], """#include <glib.h>
int level;
static void is_zero(void) {
    g_assert_cmpint(level, ==, 0); // HERE
}
static void rises(void) { level = 1; }
int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/level/is_zero", is_zero);
    g_test_add_func("/level/rises", rises);
    return g_test_run();
}
"""),
    "criterion": ("c", ["-lcriterion"], """#include <criterion/criterion.h>
int level;
Test(level, a_is_zero) {
    cr_assert_eq(level, 0); // HERE
}
Test(level, b_rises) { level = 1; }
"""),
    "unity": ("c", ["uses:unity"], """#include "unity.h"
int level;
void setUp(void) {}
void tearDown(void) {}
static void test_is_zero(void) {
    TEST_ASSERT_EQUAL_INT(0, level); // HERE
}
static void test_rises(void) { level = 1; }
int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_is_zero);
    RUN_TEST(test_rises);
    return UNITY_END();
}
"""),
    "munit": ("c", ["uses:munit-raft"], """#include "munit.h"
int level;
static MunitResult is_zero(const MunitParameter params[], void *data) {
    munit_assert_int(level, ==, 0); // HERE
    return MUNIT_OK;
}
static MunitResult rises(const MunitParameter params[], void *data) { level = 1; return MUNIT_OK; }
static MunitTest tests[] = {
    { "/is_zero", is_zero, NULL, NULL, 0, NULL }, { "/rises", rises, NULL, NULL, 0, NULL }, { NULL },
};
static const MunitSuite suite = { "", tests, NULL, 1, 0 };
int main(int argc, char **argv) { return munit_suite_main(&suite, NULL, argc, argv); }
"""),
    "utest": ("c", ["uses:utest-suitesparse"], """#include "utest.h"
int level;
UTEST_MAIN()
UTEST(level, is_zero) {
    ASSERT_EQ(level, 0); // HERE
}
UTEST(level, rises) { level = 1; }
"""),
    "greatest": ("c", ["uses:greatest-1.3"], """#include "greatest.h"
int level;
TEST is_zero(void) {
    ASSERT_EQ(0, level); // HERE
    PASS();
}
TEST rises(void) { level = 1; PASS(); }
GREATEST_MAIN_DEFS();
int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    RUN_TEST(is_zero);
    RUN_TEST(rises);
    GREATEST_MAIN_END();
}
"""),
    "acutest": ("c", ["uses:acutest-nng"], """#include "acutest.h"
int level;
static void is_zero(void) {
    TEST_CHECK(level == 0); // HERE
}
static void rises(void) { level = 1; }
TEST_LIST = { { "is_zero", is_zero }, { "rises", rises }, { NULL, NULL } };
"""),
    "tinytest": ("c", ["uses:tinytest-libevent"], """#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tinytest.h"
#include "tinytest_macros.h"
int level;
static void is_zero(void *data) {
    tt_int_op(level, ==, 0); // HERE
end:;
}
static void rises(void *data) { level = 1; }
static struct testcase_t cases[] = { { "is_zero", is_zero, 0, NULL, NULL }, { "rises", rises, 0, NULL, NULL }, END_OF_TESTCASES };
static struct testgroup_t groups[] = { { "level/", cases }, END_OF_GROUPS };
int main(int argc, const char **argv) { return tinytest_main(argc, argv, groups); }
"""),
    "clar": ("c", ["uses:clar"], """#include "clar.h"
int level;
void test_level__a_is_zero(void) {
    cl_assert_equal_i(level, 0); // HERE
}
void test_level__b_rises(void) { level = 1; }
int main(int argc, char **argv) { return clar_test(argc, argv); }
"""),
    "qtest": ("cc", ["uses:qt5", "moc"], """#include <QtTest/QtTest>
int level;
class Level : public QObject {
    Q_OBJECT
private slots:
    void isZero() {
        QCOMPARE(level, 0); // HERE
    }
    void rises() { level = 1; }
};
QTEST_APPLESS_MAIN(Level)
#include "suite.moc"
"""),
    "functions": ("c", [], """#include <assert.h>
int level;
void test_is_zero(void) {
    assert(level == 0); // HERE
}
void test_rises(void) { level = 1; }
int main(void) { test_is_zero(); test_rises(); return 0; }
"""),
    "verdicts": ("c", [], """#include <stdio.h>
int level, failed;
#define CHECK(what) do { if (!(what)) { printf("%s:%d: %s\\n", __FILE__, __LINE__, #what); failed++; } } while (0)
void test_is_zero(void) {
    CHECK(level == 0); // HERE
}
void test_rises(void) { level = 1; }
int main(void) { test_is_zero(); test_rises(); return failed != 0; }
"""),
}
# A runner that keeps count, whose verdicts are learned in runs of their own.
COUNTS = """#include <stdio.h>
int level, failures, checks;
#define CHECK(what) do { checks++; if (!(what)) { failures++; fprintf(stderr, "%s:%d: %s\\n", __FILE__, __LINE__, #what); } } while (0)
static void test_is_zero(void) {
    CHECK(level == 0); // HERE
}
static void test_rises(void) { level = 1; }
struct test { const char *name; void (*run)(void); };
static const struct test tests[] = { { "is_zero", test_is_zero }, { "rises", test_rises } };
int main(void)
{
    for (unsigned i = 0; i < sizeof(tests) / sizeof(*tests); i++) {
        int before = failures;
        tests[i].run();
        printf("%s: %s\\n", tests[i].name, failures == before ? "ok" : "FAILED");
    }
    printf("%d checks\\n", checks);
    return failures != 0;
}
"""
# The whole test in one line, with the constructor of its class; and the method that is its body.
ONE_LINE = {
    "gtest": ("""#include <gtest/gtest.h>
int level;
TEST(Level, IsZero) { EXPECT_EQ(level, 0); } // HERE
TEST(Level, Rises) { level = 1; }
""", "Level_IsZero_Test::TestBody"),
    "cpputest": ("""#include <CppUTest/CommandLineTestRunner.h>
#include <CppUTest/TestHarness.h>
int level;
TEST_GROUP(Level) {};
TEST(Level, Rises) { level = 1; }
TEST(Level, IsZero) { LONGS_EQUAL(0, level); } // HERE
int main(int argc, char **argv) { return CommandLineTestRunner::RunAllTests(argc, argv); }
""", "TEST_Level_IsZero_Test::testBody"),
    "boost": ("""#define BOOST_TEST_MODULE level
#include <boost/test/included/unit_test.hpp>
int level;
BOOST_AUTO_TEST_CASE(is_zero) { BOOST_CHECK(level == 0); } // HERE
BOOST_AUTO_TEST_CASE(rises) { level = 1; }
""", "is_zero::test_method"),
}
# A choice, a schedule and a flaky test.
OTHERS = {
    "choices": ("#include <gtest/gtest.h>\n#include <stdlib.h>\n"
                "struct pair { int key, value; };\n"
                "static int compare(const void *a, const void *b) { return ((const pair *)a)->key - ((const pair *)b)->key; }\n"
                "TEST(Sort, IsStable) {\n"
                "    pair all[] = {{2, 0}, {1, 1}, {1, 2}, {1, 3}};\n"
                "    qsort(all, 4, sizeof(all[0]), compare);\n"
                "    EXPECT_EQ(all[0].value, 1); // HERE\n"
                "}\n"),
    "schedules": ("#include <gtest/gtest.h>\n#include <atomic>\n#include <chrono>\n#include <thread>\n"
                  "TEST(Work, IsDone) {\n"
                  "    std::atomic<bool> done{false};\n"
                  "    std::thread worker([&] { done = true; });\n"
                  "    std::this_thread::sleep_for(std::chrono::milliseconds(20));\n"
                  "    EXPECT_TRUE(done); // HERE\n"
                  "    worker.join();\n"
                  "}\n"),
    "order": ("#include <gtest/gtest.h>\n#include <fcntl.h>\n#include <unistd.h>\n"
              "TEST(Chance, IsKind) {\n"
              "    unsigned char byte = 0;\n"
              "    int fd = open(\"/dev/urandom\", O_RDONLY);\n"
              "    ASSERT_EQ(read(fd, &byte, 1), 1);\n"
              "    close(fd);\n"
              "    EXPECT_LT(byte, 128); // HERE\n"
              "}\n"
              "TEST(Other, IsFine) {}\n"),
}


def line_of_here(source):
    lines = [number for number, line in enumerate(source.splitlines(), 1) if "// HERE" in line]
    assert len(lines) == 1
    return lines[0]


class Debugger(unittest.TestCase):
    maxDiff = None

    def component(self, name, uses):
        """Flags for a framework whose source the subjects fetch."""
        try:
            builder = build.Builder(pathlib.Path(POLYGRAPH).resolve().parent)
            if uses == "clar":  # whose script reads the program
                found = frameworks.load("clar").clar_2020(builder, pathlib.Path(FOLDER) / name / "suite.c")
            else:
                found = builder.component(name, uses)
        except parts.Unavailable as reason:
            self.skipTest(str(reason))
        return ["-w", *found.get("cflags", []), *map(str, found.get("sources", [])), *found.get("libs", [])]

    def build(self, name, suffix, libraries, source):
        folder = pathlib.Path(FOLDER) / name
        folder.mkdir()
        (folder / f"suite.{suffix}").write_text(source)
        flags = []
        for library in libraries:
            if library.startswith("uses:"):
                flags += self.component(name, library.split(":")[1])
            elif library == "moc":
                subprocess.run(["/usr/lib/qt5/bin/moc", "suite.cc", "-o", "suite.moc"], cwd=folder, check=True)
            elif library.startswith("pkg-config:"):
                found = subprocess.run(["pkg-config", "--cflags", "--libs", library.split(":")[1]], capture_output=True, text=True, check=False)
                if found.returncode:
                    self.skipTest(f"{library.split(':')[1]} is not installed")
                flags += found.stdout.split()
            else:
                flags.append(library)
        compiler = "g++" if suffix == "cc" else "gcc"
        done = subprocess.run([compiler, "-g", "-O0", "-o", "suite", f"suite.{suffix}", *flags], cwd=folder, capture_output=True, text=True,
                              check=False)
        if done.returncode and re.search(r"No such file or directory|cannot find -l", done.stderr):
            self.skipTest(f"{name} is not installed")
        self.assertEqual(done.returncode, 0, done.stderr)
        return folder

    def polygraph(self, folder, *words, **options):
        return subprocess.run([POLYGRAPH, *words], cwd=folder, text=True, timeout=300, check=False, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, **options)

    def find(self, folder, command, kind, *words):
        done = self.polygraph(folder, command, "--format", "json", *words, "./suite")
        found = [finding for finding in json.loads(done.stdout)["findings"] if finding["kind"] == kind]
        self.assertEqual(len(found), 1, done.stdout + done.stderr)
        return found[0]["id"]

    def check_stop(self, folder, identity, source, debugger="gdb"):
        if not shutil.which(debugger):
            self.skipTest(f"{debugger} is not installed")
        options = {"input": "frame\nkill\n" if debugger == "gdb" else "frame info\nprocess kill\nquit\n"}
        if debugger == "lldb":
            # A folder that has all but gdb.
            tools = folder / "tools"
            tools.mkdir()
            (tools / "lldb").symlink_to(shutil.which("lldb"))
            options["env"] = {**os.environ, "PATH": str(tools)}
        done = self.polygraph(folder, "replay", identity, "--gdb", **options)
        line = line_of_here(source)
        stopped = rf"suite\.cc?:{line}\b"
        self.assertRegex(done.stdout, stopped, done.stdout + done.stderr)
        if debugger == "gdb":
            self.assertEqual(done.stdout.count("Attaching to process"), 1, done.stdout)
        return done.stdout

    def check_framework(self, name):
        if name in LONG and not FULL:
            self.skipTest("compiling it takes long; with --full")
        suffix, libraries, source = SUITES[name]
        folder = self.build(name, suffix, libraries, source)
        words = [] if name in ("functions", "verdicts") else ["--framework", name]
        identity = self.find(folder, "order", "order-dependent", *words)
        if name != "criterion":
            self.check_stop(folder, identity, source)
            return
        done = self.polygraph(folder, "replay", identity, "--gdb")
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertIn("tests of Criterion need their runner while they run", done.stderr)

    def check_kind(self, command, kind, *words):
        source = OTHERS[command]
        folder = self.build(command, "cc", ["-lgtest", "-lgtest_main", "-pthread"], source)
        self.check_stop(folder, self.find(folder, command, kind, *words), source)

    def test_runner_that_counts(self):
        folder = self.build("counts", "c", [], COUNTS)
        self.check_stop(folder, self.find(folder, "order", "order-dependent"), COUNTS)

    def check_one_line(self, name):
        if name in LONG and not FULL:
            self.skipTest("compiling it takes long; with --full")
        suffix, libraries, _ = SUITES[name]
        source, body = ONE_LINE[name]
        folder = self.build(f"{name}_in_a_line", suffix, libraries, source)
        said = self.check_stop(folder, self.find(folder, "order", "order-dependent", "--framework", name), source)
        # What `frame` says, after the prompt.
        self.assertRegex(said, rf"\(gdb\) #0 .*\b{body}\b")

    def test_choices(self):
        self.check_kind("choices", "assumption")

    def test_schedules(self):
        self.check_kind("schedules", "schedule")

    def test_flaky(self):
        self.check_kind("order", "flaky")

    def test_lldb(self):
        if not shutil.which("lldb"):
            self.skipTest("lldb is not installed")
        for name in ("functions", "gtest"):
            with self.subTest(name):
                suffix, libraries, source = SUITES[name]
                folder = self.build(f"{name}_with_lldb", suffix, libraries, source)
                self.check_stop(folder, self.find(folder, "order", "order-dependent"), source, "lldb")

    def test_processes(self):
        """Each test is a process of its own: there is none of all of them."""
        folder = pathlib.Path(FOLDER) / "commands"
        folder.mkdir()
        (folder / "list").write_text("sh -c 'test ! -e left'\nsh -c 'echo 1 >left'\n")
        done = self.polygraph(folder, "order", "--format", "json", "--commands", "list")
        found = [finding for finding in json.loads(done.stdout)["findings"] if finding["kind"] == "order-dependent"]
        self.assertEqual(len(found), 1, done.stdout)
        done = self.polygraph(folder, "replay", found[0]["id"], "--gdb")
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertIn("--gdb", done.stderr)


for framework in ONE_LINE:
    setattr(Debugger, f"test_one_line_{framework}", lambda self, name=framework: self.check_one_line(name))
for framework in SUITES:
    setattr(Debugger, f"test_with_{framework}", lambda self, name=framework: self.check_framework(name))


def prepare(polygraph, folder):
    global POLYGRAPH, FOLDER
    POLYGRAPH, FOLDER = polygraph, folder
    return None if shutil.which("gdb") else "gdb is not installed"


if __name__ == "__main__":
    FULL = "--full" in sys.argv
    sys.argv = [word for word in sys.argv if word != "--full"]
    sys.exit(runner.main("gdb", prepare))
