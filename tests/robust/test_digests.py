#!/usr/bin/env python3
"""What tests are made of: a digest changes exactly where a test's code, or what it reaches, changed.

Usage: test_digests.py --polygraph PROGRAM
"""

import json
import subprocess
import sys
import unittest
from pathlib import Path

import runner

POLYGRAPH, FOLDER = None, None
FILES = {
    "shop.h": r"""#pragma once
#define LIMIT 10
int plus(int a, int b);
int twice(int a);
int price(int i);
int level();
int started();
const char *color(int i);
int apply(int op, int a);
int weekday(int day);
int &mine();
int from_library();
struct Shape { virtual ~Shape() {} virtual int area() = 0; };
Shape *make_square(int n);
Shape *make_line(int n);
inline int thrice(int a) { return 3 * a; }
template <class T> T largest(T a, T b) { return a < b ? b : a; }
int caught(int n);
""",
    "shop.cc": r"""#include "shop.h"
#include <stdexcept>
int plus(int a, int b) { return a + b; }
int twice(int a) { return plus(a, a); }
static const int prices[] = {10, 20, 30, 40, 50, 60, 70};
int price(int i) { return prices[i % 7]; }
int current = 3;
int level() { return current; }
static int compute() { return 5; }
int begun = compute() + LIMIT;
int started() { return begun; }
static const char *const colors[] = {"red", "green", "blue"};
const char *color(int i) { return colors[i % 3]; }
static int add_one(int a) { return a + 1; }
static int sub_one(int a) { return a - 1; }
static int (*const operations[])(int) = {add_one, sub_one};
int apply(int op, int a) { return operations[op & 1](a); }
int weekday(int day)
{
	switch (day) {
	case 0: return plus(1, 7);
	case 1: return twice(6);
	case 2: return 31;
	case 3: return plus(9, 9) * 3;
	case 4: return 77;
	case 5: return twice(3) + 5;
	case 6: return plus(day, 4);
	default: return -1;
	}
}
thread_local int own = 4;
int &mine() { return own; }
struct Square : Shape { int n; Square(int n) : n(n) {} int area() override { return n * n; } };
struct Line : Shape { int n; Line(int n) : n(n) {} int area() override { return 0; } };
Shape *make_square(int n) { return new Square(n); }
Shape *make_line(int n) { return new Line(n); }
int caught(int n)
{
	try {
		if (n > 3)
			throw std::runtime_error("large");
	} catch (const std::runtime_error &) {
		return 1;
	}
	return 0;
}
int unused(int a) { return a * 12; }
""",
    "library.cc": 'static int inner() { return 6; }\nint from_library() { return inner(); }\n',
    "tests.cc": r"""#include <csetjmp>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
extern "C" {
#include <cmocka.h>
}
#include "shop.h"
static int helper(int a) { return a + 40; }
static void Plus(void **) { assert_int_equal(plus(1, 2), 3); }
static void Twice(void **) { assert_int_equal(twice(4), 8); }
static void Limit(void **) { assert_true(from_library() < LIMIT); }
static void Price(void **) { assert_true(price(2) > 1); }
static void Level(void **) { assert_true(level() > 0); }
static void Started(void **) { assert_true(started() > 0); }
static void Color(void **) { assert_non_null(color(1)); }
static void Apply(void **) { assert_true(apply(0, 4) > 0); }
static void Weekday(void **) { assert_true(weekday(2) > 0); }
static void Mine(void **) { assert_true(mine() > 0); }
static void Square(void **) { Shape *shape = make_square(3); assert_true(shape->area() >= 0); delete shape; }
static void Line(void **) { Shape *shape = make_line(3); assert_true(shape->area() >= 0); delete shape; }
static void Thrice(void **) { assert_true(thrice(plus(1, 1)) > 1); }
static void Largest(void **) { assert_int_equal(largest(plus(1, 1), 2), 2); }
static void Caught(void **) { assert_true(caught(4) < 2); }
static void Library(void **) { assert_true(from_library() > 0); }
static void Helper(void **) { assert_true(helper(plus(1, 1)) > 0); }
static void Text(void **) { assert_string_not_equal("first", color(0)); }
static void Nothing(void **) { assert_true(true); }
static int options() { volatile int chosen = 1; return chosen; }
int main()
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(Plus),
		cmocka_unit_test(Twice),
		cmocka_unit_test(Limit),
		cmocka_unit_test(Price),
		cmocka_unit_test(Level),
		cmocka_unit_test(Started),
		cmocka_unit_test(Color),
		cmocka_unit_test(Apply),
		cmocka_unit_test(Weekday),
		cmocka_unit_test(Mine),
		cmocka_unit_test(Square),
		cmocka_unit_test(Line),
		cmocka_unit_test(Thrice),
		cmocka_unit_test(Largest),
		cmocka_unit_test(Caught),
		cmocka_unit_test(Library),
		cmocka_unit_test(Helper),
		cmocka_unit_test(Text),
		cmocka_unit_test(Nothing),
	};
	return options() ? cmocka_run_group_tests_name("shop", tests, NULL, NULL) : 1;
}
""",
}
FIXTURES = r"""#include <gtest/gtest.h>
struct Stock : testing::Test { int v = 0; void SetUp() override { v = 7; } };
struct Store : testing::Test { int v = 0; void SetUp() override { v = 9; } };
static std::string begun("forty");
TEST_F(Stock, Value) { EXPECT_GT(v, 0); }
TEST_F(Stock, Again) {
	EXPECT_GT(v, -1);
}
TEST_F(Store, Other) { EXPECT_GT(v, 1); }
TEST(Shop, Begun) { EXPECT_NE(begun, "three"); }
TEST(Shop, Nothing) { EXPECT_TRUE(true); }








// Sizes of objects are no lines here.
static void throws() { throw std::logic_error("no"); }
TEST(Shop, Throws) { EXPECT_THROW(throws(), std::logic_error); }
TEST(Shop, Catches) { EXPECT_ANY_THROW(throws()); }
"""
USES_PLUS = {"Plus", "Twice", "Weekday", "Thrice", "Largest", "Helper"}
COLORS = {"Color", "Text"}
ALL = None
# What is replaced in which file, and the tests whose digest must change: no other may.
CHANGES = {
    "a function body": ("shop.cc", "return a + b", "return a + b + 1", USES_PLUS),
    "an inline function of a header": ("shop.h", "3 * a", "a * 5", {"Thrice"}),
    "a macro": ("shop.h", "LIMIT 10", "LIMIT 11", {"Limit", "Started"}),
    "a constant table": ("shop.cc", "30, 40", "30, 41", {"Price"}),
    "an initial value": ("shop.cc", "current = 3", "current = 4", {"Level"}),
    "a value that is computed before main()": ("shop.cc", "compute() { return 5", "compute() { return 6", {"Started"}),
    "a virtual function": ("shop.cc", "return n * n", "return n * n + 1", {"Square"}),
    "a function behind a pointer": ("shop.cc", "return a - 1", "return a - 2", {"Apply"}),
    "a table of function pointers": ("shop.cc", "{add_one, sub_one}", "{sub_one, add_one}", {"Apply"}),
    "a template": ("shop.h", "a < b ? b : a", "a > b ? a : b + 0 * a + 1", {"Largest"}),
    "a removed function": ("shop.cc", "int unused(int a) { return a * 12; }\n", "", set()),
    "a removed function that was called": ("shop.cc", "return plus(a, a)", "return a * 4", {"Twice", "Weekday"}),
    "a removed override": ("shop.cc", "int area() override { return 0; }", "int area() override { return 3; }", {"Line"}),
    "a text in a table": ("shop.cc", '"green"', '"grown"', COLORS),
    "a text in a test": ("tests.cc", '"first"', '"other"', {"Text"}),
    "a branch of a switch": ("shop.cc", "return 31", "return 32", {"Weekday"}),
    "a thread-local variable": ("shop.cc", "own = 4", "own = 5", {"Mine"}),
    "a catch clause": ("shop.cc", "catch (const std::runtime_error &)", "catch (const std::logic_error &)", {"Caught"}),
    "a function of a library": ("library.cc", "return 6", "return 9", {"Library", "Limit"}),
    "a helper in the tests' file": ("tests.cc", "a + 40", "a + 41", {"Helper"}),
    "a test": ("tests.cc", "plus(1, 2), 3", "plus(2, 2), 4", {"Plus"}),
    "main()": ("tests.cc", "chosen = 1", "chosen = 2", ALL),
    "lines": ("tests.cc", "static int helper", "\n\n// Nothing\n\nstatic int helper", set()),
    "lines of a header": ("shop.h", "#define LIMIT", "\n\n// Nothing\n#define LIMIT", set()),
    "more code": ("shop.cc", "int plus(", 'static const char words[] = "more";\nint more(int a) { return words[a % 4] + a; }\nint plus(',
                  set()),
    "more data": ("shop.cc", "int current = 3", "int earlier[] = {1, 2, 3};\nlong large[100];\nint current = 3", set()),
}


# The same of GoogleTest's, where fixtures are classes and code before main() makes tests known.
OF_FIXTURES = {
    "a fixture": ("v = 7", "v = 8", {"Value", "Again"}),
    "a test, with more lines": ("EXPECT_GT(v, -1);", "\n\n\tEXPECT_GT(v, -2);", {"Again"}),
    "a text of other length": ('"three"', '"threes"', {"Begun"}),
    "what is caught": ("EXPECT_THROW(throws(), std::logic_error)", "EXPECT_THROW(throws(), std::exception)", {"Throws"}),
    # Code before main() sets variables and makes tests known in one function: tests that use such a variable count, too.
    "one more test": ("TEST_F(Stock, Value)", 'TEST(Shop, More) { EXPECT_STRNE("more", "less"); }\nTEST_F(Stock, Value)', {"Begun"}),
}


class Digests(unittest.TestCase):
    def build(self, folder, words):
        cc = ["c++", "-g", *words]
        subprocess.run([*cc, "-shared", "-fPIC", "-o", "liblibrary.so", "library.cc"], cwd=folder, check=True)
        subprocess.run([*cc, "-o", "tests", "tests.cc", "shop.cc", "./liblibrary.so", "-lcmocka", "-Wl,-rpath,$ORIGIN"],
                       cwd=folder, check=True)

    def digests(self, folder):
        done = subprocess.run([POLYGRAPH, "list", "--digests", "--format", "json", "./tests"], cwd=folder, stdout=subprocess.PIPE,
                              text=True, check=True)
        return {test["name"].replace("/", ".").split(".")[1]: test.get("digest") for test in json.loads(done.stdout)["tests"]}

    def check_changes(self, name, changes, *words):
        folder = FOLDER / name
        folder.mkdir()
        for file, text in FILES.items():
            (folder / file).write_text(text)
        self.build(folder, words)
        before = self.digests(folder)
        self.assertNotIn(None, before.values())
        for what in changes:
            file, old, new, changed = CHANGES[what]
            with self.subTest(what):
                self.assertIn(old, FILES[file])
                (folder / file).write_text(FILES[file].replace(old, new))
                self.build(folder, words)
                after = self.digests(folder)
                (folder / file).write_text(FILES[file])
                differ = {test for test in before if before[test] != after[test]}
                self.assertEqual(sorted(differ), sorted(before if changed is ALL else changed))

    def test_unoptimised(self):
        self.check_changes("O0", ("a function body", "a virtual function", "a function behind a pointer", "a branch of a switch",
                                  "a value that is computed before main()", "more code"), "-O0")

    def test_optimised(self):
        """A compiler may carry a change to callers in the same file, and not to others."""
        self.check_changes("O2", CHANGES, "-O2")

    def test_at_a_fixed_place(self):
        self.check_changes("fixed", ("a constant table", "a virtual function", "a function behind a pointer"),
                           "-O1", "-no-pie", "-fno-pie")

    def test_fixtures_that_are_classes(self):
        folder = FOLDER / "fixtures"
        folder.mkdir()
        made = []
        for old, new, changed in (("", "", None), *OF_FIXTURES.values()):
            self.assertIn(old, FIXTURES)
            (folder / "tests.cc").write_text(FIXTURES.replace(old, new) if old else FIXTURES)
            subprocess.run(["c++", "-g", "-O1", "-o", "tests", "tests.cc", "-lgtest", "-lgtest_main", "-pthread"], cwd=folder,
                           check=True)
            made.append(self.digests(folder))
            self.assertNotIn(None, made[-1].values())
            if changed is not None:
                self.assertEqual(changed, {test for test in made[0] if made[0][test] != made[-1][test]})

    def test_functions_in_two_parts(self):
        """A compiler puts what is seldom executed elsewhere."""
        folder = FOLDER / "parts"
        folder.mkdir()
        (folder / "tests.c").write_text("""#include <stdarg.h>
            #include <stddef.h>
            #include <stdint.h>
            #include <stdio.h>
            #include <stdlib.h>
            #include <setjmp.h>
            #include <cmocka.h>
            int volatile state;
            static void one(void **unused)
            {
                int before = state;
                if (before > 100)
                    abort();
                printf("%d", before * 2);
                if (before > 50)
                    abort();
                state = 1;
            }
            static void two(void **unused) { state = 2; }
            int main(void)
            {
                const struct CMUnitTest tests[] = { cmocka_unit_test(one), cmocka_unit_test(two) };
                return cmocka_run_group_tests_name("g", tests, NULL, NULL);
            }
            """)
        subprocess.run(["gcc", "-g", "-O2", "-o", "tests", "tests.c", "-lcmocka"], cwd=folder, check=True)
        symbols = subprocess.run(["nm", "tests"], cwd=folder, stdout=subprocess.PIPE, text=True, check=True).stdout
        self.assertIn(" one.cold", symbols)
        digests = self.digests(folder)
        self.assertEqual(sorted(digests), ["one", "two"])
        self.assertTrue(all(digests.values()), digests)

    def test_without_debug_information_nothing_is_known(self):
        folder = FOLDER / "stripped"
        folder.mkdir()
        for file, text in FILES.items():
            (folder / file).write_text(text)
        self.build(folder, ["-O0"])
        subprocess.run(["strip", "-g", "tests"], cwd=folder, check=True)
        self.assertEqual(set(self.digests(folder).values()), {None})


def prepare(polygraph, folder):
    global POLYGRAPH, FOLDER
    POLYGRAPH, FOLDER = polygraph, Path(folder)


if __name__ == "__main__":
    sys.exit(runner.main("digests", prepare))
