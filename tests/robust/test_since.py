#!/usr/bin/env python3
"""--since: ten changes to a project of four test executables, a shared library and a common object.

Usage: test_since.py --polygraph PROGRAM

What a change reaches is known from the build itself: executables whose machine code or data, or those of their library,
differ afterwards. All of these must be checked (complete); which others may be is stated for each change.
"""

import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import runner

POLYGRAPH = None
TEST = r"""
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "limits.h"
%(declare)s
static void first(void **state) { (void)state; assert_true(%(call)s + LIMIT > 0); }
static void second(void **state) { (void)state; assert_true(%(call)s + twice(1) > 1); }
int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(first), cmocka_unit_test(second) };
	return cmocka_run_group_tests_name("group", tests, NULL, NULL);
}
"""
FILES = {
    "limits.h": "#pragma once\n#define LIMIT 3\nstatic inline int twice(int x) { return 2 * x; }\n",
    "core.c": "int core(void)\n{\n\treturn 1;\n}\n",
    "extra.c": "int extra(void)\n{\n\treturn 2;\n}\n",
    "common.c": '#include "limits.h"\nint common(void)\n{\n\treturn LIMIT;\n}\n',
    "table.inc": "1, 2, 3\n",
    "table.c": '#include "limits.h"\nconst int table[] = {\n#include "table.inc"\n};\nint lookup(void) { return table[0]; }\n',
    "a_test.c": TEST % {"declare": "int core(void);", "call": "core()"},
    "b_test.c": TEST % {"declare": "int common(void);", "call": "common()"},
    "c_test.c": TEST % {"declare": "int common(void); int core(void);", "call": "common() + core()"},
    "d_test.c": TEST % {"declare": "int lookup(void);", "call": "lookup()"},
    "README.md": "A project.\n",
    "build.sh": "# How it is built.\n",
}
PARTS = {"a": ["libcore.so"], "b": ["common.c"], "c": ["common.c", "libcore.so"], "d": ["table.c"]}
ALL = {"a", "b", "c", "d"}
# What is replaced in which file, and the executables that may be checked.
CHANGES = {
    "a function of a test": ("a_test.c", "+ LIMIT > 0", "+ LIMIT > 1", {"a"}),
    "a function in a library": ("core.c", "return 1", "return 4", {"a", "c"}),
    "a function of that library that no test calls": ("extra.c", "return 2", "return 5", set()),
    "an object of two executables": ("common.c", "return LIMIT", "return LIMIT + 1", {"b", "c"}),
    "a function is added": ("common.c", "int common", "int more(void) { return 9; }\nint common", {"b", "c"}),
    "a macro in a header": ("limits.h", "LIMIT 3", "LIMIT 4", ALL),
    "a function in a header": ("limits.h", "2 * x", "x + x + 1", ALL),
    "data that is included": ("table.inc", "1, 2", "7, 2", ALL),
    "a data object": ("table.c", "table[0]", "table[1]", {"d"}),
    "a document": ("README.md", "A project", "The project", set()),
    "a comment": ("core.c", "return 1;", "return 1; /* one */", {"a", "c"}),
    "how it is built": ("build.sh", "How", "Why", ALL),
}


class Since(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="polygraph-since-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        for name, text in FILES.items():
            (self.folder / name).write_text(text)
        (self.folder / ".gitignore").write_text("*_test\n*.so\n.polygraph/\n")
        self.git("init", "-q", "-b", "main")
        self.git("add", "-A")
        self.git("commit", "-qm", "first")
        self.build()

    def git(self, *words):
        subprocess.run(["git", "-c", "user.email=a@b", "-c", "user.name=a", *words], cwd=self.folder, check=True)

    def cc(self, *words):
        subprocess.run(["cc", "-g", "-O1", "-Wl,--build-id=none", *words], cwd=self.folder, check=True)

    def build(self):
        """{executable: a hash of what it and its library are made of, without debug information}"""
        self.cc("-shared", "-fPIC", "-o", "libcore.so", "core.c", "extra.c")
        made = {}
        for name, parts in PARTS.items():
            self.cc("-o", f"{name}_test", f"{name}_test.c", *parts, "-lcmocka", "-Wl,-rpath,$ORIGIN")
            made[name] = hashlib.sha256(b"".join(self.content(part) for part in [f"{name}_test", *parts] if "." not in part
                                                 or part.endswith(".so"))).hexdigest()
        return made

    def content(self, name):
        stripped = self.folder / ".git" / "stripped"
        subprocess.run(["strip", "-s", "-o", stripped, self.folder / name], check=True)
        return stripped.read_bytes()

    def run_it(self, *words):
        return subprocess.run([POLYGRAPH, *words], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def checked(self, revision="HEAD"):
        done = self.run_it("check", "--since", revision, "--no-choices", "--no-readers", "--no-cleaners", "--format", "json",
                           "--program", "./*_test")
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(done.stdout)
        return {suite["name"].removesuffix("_test") for suite in report["suites"]}, report["limits"]

    def test_ten_changes_and_two_more(self):
        before = self.build()
        for what, (name, old, new, allowed) in CHANGES.items():
            with self.subTest(what):
                path = self.folder / name
                self.assertIn(old, FILES[name])
                path.write_text(FILES[name].replace(old, new))
                after = self.build()
                reached = {part for part in before if before[part] != after[part]}
                checked, limits = self.checked()
                if "no test calls" not in what:
                    self.assertLessEqual(reached, checked)
                self.assertEqual(checked, allowed)
                if len(checked) < 4:
                    self.assertIn(f"since HEAD: {8 - 2 * len(checked)} of 8 tests and {4 - len(checked)} of 4 suites not reached "
                                  "by the changes", limits)
                path.write_text(FILES[name])
        self.build()

    def reached_tests(self, *words):
        done = self.run_it("check", "--since", "HEAD", "--no-choices", "--no-readers", "--no-cleaners", "--format", "json", *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return {(test["suite"].split("/")[-1], test["name"].split("/")[-1]) for test in json.loads(done.stdout)["tests"]}

    def test_tests_of_one_executable(self):
        """A change inside of a test reaches it alone; one in a function, the tests that call it; else, all of the unit."""
        text = TEST % {"declare": "int core(void);\nint common(void);", "call": "core()"}
        text = text.replace("{ (void)state; assert_true(core() + twice(1) > 1); }",
                            "{\n\t(void)state;\n\tassert_true(common() + 1 > 1);\n}")
        (self.folder / "e_test.c").write_text(text)
        self.git("add", "e_test.c")
        self.git("commit", "-qm", "more")

        def changed(name, old, new):
            before = (self.folder / name).read_text()
            self.assertIn(old, before)
            (self.folder / name).write_text(before.replace(old, new))
            self.build()
            self.cc("-o", "e_test", "e_test.c", "common.c", "libcore.so", "-lcmocka", "-Wl,-rpath,$ORIGIN")
            found = {test for suite, test in self.reached_tests("--program", "./e_test")}
            (self.folder / name).write_text(before)
            return found
        self.assertEqual(changed("e_test.c", "common() + 1 > 1", "common() + 2 > 1"), {"second"})
        self.assertEqual(changed("common.c", "return LIMIT", "return LIMIT + 2"), {"second"})
        self.assertEqual(changed("core.c", "return 1", "return 8"), {"first"})
        self.assertEqual(changed("e_test.c", "int common(void);", "int common(void);\nstatic const int more = 3;"),
                         {"first", "second"})

    def test_headers_by_the_record_of_the_build(self):
        """With --ctest, the compiler's own *.d files say which units a header reaches."""
        build = self.folder / "build"
        build.mkdir()
        (self.folder / ".gitignore").write_text("build/\n*_test\n*.so\n.polygraph/\n")
        (self.folder / "core.h").write_text("#define CORE 1\n")
        (self.folder / "core.c").write_text('#include "core.h"\nint core(void)\n{\n\treturn CORE;\n}\n')
        self.git("add", "-A")
        self.git("commit", "-qm", "with a header")
        (self.folder / "core.h").write_text("#define CORE 2\n")
        for unit in ("core", "common", "a_test", "b_test"):
            self.cc("-MD", "-c", "-o", f"build/{unit}.o", f"{self.folder}/{unit}.c")
        for name, unit in (("a", "core"), ("b", "common")):
            self.cc("-o", f"build/{name}_test", f"build/{name}_test.o", f"build/{unit}.o", "-lcmocka")
        (build / "CTestTestfile.cmake").write_text("".join(f'add_test({name} "{build}/{name}_test")\n' for name in "ab"))
        self.assertEqual(self.reached_tests("--ctest", "build"), {("a_test", "first"), ("a_test", "second")})
        for file in build.glob("*.d"):
            file.unlink()
        self.assertEqual(len(self.reached_tests("--ctest", "build")), 4)

    def test_nothing_that_the_repository_names_is_run(self):
        """Monitors, hooks, filters, converters, what fetches: none runs, and lines are those of the file itself."""
        text = TEST % {"declare": "int core(void);", "call": "core()"}
        text = text.replace("{ (void)state; assert_true(core() + twice(1) > 1); }",
                            "{\n\t(void)state;\n\tassert_true(core() + 1 > 1);\n}")
        (self.folder / "a_test.c").write_text(text)
        (self.folder / ".gitattributes").write_text("*.c diff=shifts filter=notes\n*.h diff=replaced\n")
        self.git("commit", "-qam", "more")
        ran = self.folder / ".git" / "ran"
        program = self.folder / ".git" / "program"
        program.write_text(f"#!/bin/sh\necho \"$0 $*\" >>'{ran}'\n[ -f \"$1\" ] || exec cat\nyes '' | head -40\ncat \"$1\"\n")
        program.chmod(0o755)
        hooks = self.folder / ".git" / "hooks"
        hooks.mkdir(exist_ok=True)
        shutil.copy(program, hooks / "post-index-change")
        for key in ("core.fsmonitor", "diff.shifts.textconv", "diff.replaced.command", "diff.external", "filter.notes.clean",
                    "filter.notes.smudge"):
            self.git("config", key, str(program))
        self.git("config", "filter.notes.required", "true")
        (self.folder / "a_test.c").write_text(text.replace("core() + 1 > 1", "core() + 2 > 1"))
        (self.folder / "limits.h").touch()
        self.build()
        self.git("diff", "HEAD", "--stat")  # That all of it works.
        self.assertIn("program", ran.read_text())
        ran.unlink()
        self.assertEqual(self.reached_tests("--program", "./a_test"), {("a_test", "second")})
        done = self.run_it("check", "--since", "HEAD", "--dry-run", "--program", "./*_test")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertFalse(ran.exists(), ran.exists() and ran.read_text())

    def test_committed_changes(self):
        (self.folder / "a_test.c").write_text(FILES["a_test.c"].replace("> 0", "> 1"))
        self.git("commit", "-qam", "second")
        self.build()
        self.assertEqual(self.checked()[0], set())
        self.assertEqual(self.checked("HEAD~1")[0], {"a"})

    def test_a_source_that_is_not_added_yet(self):
        (self.folder / "more.c").write_text("int common(void) { return 1; }\n")
        self.cc("-o", "b_test", "b_test.c", "more.c", "-lcmocka")
        self.assertEqual(self.checked()[0], {"b"})

    def test_without_debug_information_it_is_reached(self):
        (self.folder / "core.c").write_text(FILES["core.c"].replace("1", "4"))
        self.build()
        subprocess.run(["strip", "-g", "b_test"], cwd=self.folder, check=True)
        self.assertEqual(self.checked()[0], {"a", "b", "c"})

    def test_wrong_revisions(self):
        for revision, message in (("nothing", "git"), ("--all", "is not a revision"), ("", "is not a revision")):
            done = self.run_it("check", "--since", revision, "--program", "./a_test")
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(message, done.stderr)
        done = self.run_it("check", "--since", "HEAD", "./a_test")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--since is for whole builds", done.stderr)


def prepare(polygraph, _):
    global POLYGRAPH
    POLYGRAPH = polygraph


if __name__ == "__main__":
    sys.exit(runner.main("since", prepare))
