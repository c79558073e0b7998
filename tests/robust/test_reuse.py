#!/usr/bin/env python3
"""A second check of a suite that has not changed runs nothing, in whatever format, and says the same.

The suite has 42 tests and takes 2.5 seconds. The first check ends within its default time of 60 seconds, the second
takes at most a tenth of it.

usage: test_reuse.py --polygraph PATH [-v] [TEST…]
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time
import unittest
import xml.etree.ElementTree as ElementTree

import runner

POLYGRAPH = None
FOLDER = None
SUITE = r"""
#include <assert.h>
#include <unistd.h>
int level;
static void work(void) { usleep(PAUSE); }
#define TEST(n) void test_##n(void) { work(); }
#define TEN(n) TEST(n##0) TEST(n##1) TEST(n##2) TEST(n##3) TEST(n##4) TEST(n##5) TEST(n##6) TEST(n##7) TEST(n##8) TEST(n##9)
TEN(1) TEN(2) TEN(3) TEN(4)
void test_is_zero(void) { work(); assert(level == 0); }
void test_raises(void) { work(); level = 1; }
#define CALL(n) test_##n();
#define CALLS(n) CALL(n##0) CALL(n##1) CALL(n##2) CALL(n##3) CALL(n##4) CALL(n##5) CALL(n##6) CALL(n##7) CALL(n##8) CALL(n##9)
int main(void)
{
	test_is_zero();
	CALLS(1) CALLS(2) CALLS(3) CALLS(4)
	test_raises();
	return 0;
}
"""
FORMATS = ("json", "html", "sarif", "junit")


def compile_suite(path, pause):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.with_suffix(".c").write_text(SUITE)
    subprocess.run(["cc", "-g", "-O0", f"-DPAUSE={pause}", "-o", path, path.with_suffix(".c")], check=True)


class Reuse(unittest.TestCase):
    maxDiff = None

    def folder(self, name):
        folder = pathlib.Path(FOLDER) / name
        folder.mkdir()
        return folder

    def check(self, folder, *words, status=1, timeout=200):
        """What it says, and how long it took."""
        start = time.monotonic()
        done = subprocess.run([POLYGRAPH, "check", *map(str, words)], cwd=folder, text=True, timeout=timeout, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, status, f"{words}\n{done.stdout}{done.stderr}")
        return done.stdout, time.monotonic() - start

    def test_42_tests(self):
        """The default time, and a second run in a tenth of it."""
        folder = self.folder("many")
        compile_suite(folder / "suite", 60000)
        first, took = self.check(folder, "./suite")
        self.assertLess(took, 75, "60 seconds, and what a busy machine adds")
        self.assertIn("test_is_zero crashes after test_raises", first)
        again, took_again = self.check(folder, "./suite")
        self.assertLessEqual(took_again, took / 10)
        said = "nothing has changed since the last check; --fresh looks again\n"
        self.assertIn(said, again)
        self.assertEqual(again.replace(said, ""), first)
        print(f"{took:.1f} s, and again {took_again:.2f} s")

    def test_formats(self):
        """Each says the same as the first time; one that has more in it than what is kept is not made of it."""
        folder = self.folder("formats")
        compile_suite(folder / "suite", 0)
        words = [word for name in FORMATS for word in ("--format", name, "--output", f"first.{name}")]
        verdict, _ = self.check(folder, *words, "./suite")
        first = json.loads((folder / "first.json").read_text())
        self.assertNotIn("reused", first["run"])
        for name in FORMATS:
            with self.subTest(name):
                self.assertEqual(self.check(folder, "--format", name, "--output", f"again.{name}", "./suite")[0], verdict)
                was, now = ((folder / f"{which}.{name}").read_text() for which in ("first", "again"))
                if name == "json":
                    first["run"]["reused"] = True
                    was, now = first, json.loads(now)
                elif name == "html":
                    was = was.replace('"exit_status": 1}', '"exit_status": 1, "reused": true}')
                self.assertEqual(was, now)
        # Of what is known, today's baseline decides.
        identity = next(finding["id"] for finding in first["findings"] if finding["kind"] == "order-dependent")
        known = [finding["id"] for finding in first["findings"]]
        (folder / "known.txt").write_text("".join(line + "\n" for line in known))
        text, _ = self.check(folder, "--baseline", "known.txt", "--format", "json", "./suite", status=0)
        report = json.loads(text)
        self.assertTrue(report["run"]["reused"])
        self.assertTrue(all(finding["known"] for finding in report["findings"]))
        self.assertEqual(report["run"]["exit_status"], 0)
        # The same with one that is not known.
        (folder / "known.txt").write_text("".join(line + "\n" for line in known if line != identity))
        text, _ = self.check(folder, "--baseline", "known.txt", "--format", "junit", "./suite", status=1)
        self.assertEqual(len(ElementTree.fromstring(text).findall(".//failure")), 1)
        # What it names can be reproduced.
        done = subprocess.run([POLYGRAPH, "replay", identity], cwd=folder, text=True, capture_output=True, check=False)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)

    def reused(self, folder, *words):
        return json.loads(self.check(folder, "--format", "json", *words)[0])["run"].get("reused", False)

    def test_what_matters(self):
        """Other tests, another order, another environment, another build: everything is run."""
        folder = self.folder("matters")
        compile_suite(folder / "suite", 0)
        self.assertFalse(self.reused(folder, "./suite"))
        self.assertTrue(self.reused(folder, "./suite"))
        self.assertFalse(self.reused(folder, "--fresh", "./suite"))
        self.assertFalse(self.reused(folder, "--tests", "test_[ir]*", "./suite"))
        self.assertTrue(self.reused(folder, "--tests", "test_[ir]*", "./suite"))
        (folder / "order").write_text("test_is_zero\ntest_11\ntest_raises\n")
        self.assertFalse(self.reused(folder, "--order", "order", "./suite"))
        self.assertTrue(self.reused(folder, "--order", "order", "./suite"))
        (folder / "order").write_text("test_is_zero\ntest_12\ntest_raises\n")
        self.assertFalse(self.reused(folder, "--order", "order", "./suite"), "the file says something else now")
        os.environ["REUSE_TEST"] = "1"
        self.assertFalse(self.reused(folder, "./suite"))
        self.assertTrue(self.reused(folder, "./suite"))
        compile_suite(folder / "suite", 1)
        self.assertFalse(self.reused(folder, "./suite"))

    READER = r"""
        #include <assert.h>
        #include <dirent.h>
        #include <dlfcn.h>
        #include <stdio.h>
        #include <sys/stat.h>
        static int sum;
        void test_opens(void) { FILE *file = fopen("link/opened", "r"); if (file) { sum += fgetc(file); fclose(file); } }
        void test_lists(void) {
            DIR *folder = opendir("listed");
            while (folder && readdir(folder))
                sum++;
            if (folder)
                closedir(folder);
        }
        void test_looks(void) { struct stat status; if (!stat("looked", &status)) sum += status.st_mtime % 7; }
        void test_loads(void) {
            void *library = dlopen("./loaded.so", RTLD_NOW);
            int (*number)(void) = library ? (int (*)(void))dlsym(library, "number") : NULL;
            assert(number && number() > 0);
            dlclose(library);
        }
        void test_runs(void) { assert(!system("./script >/dev/null")); }
        int main(void) { test_opens(); test_lists(); test_looks(); test_loads(); test_runs(); return 0; }
        """

    def compile_library(self, folder, number):
        (folder / "loaded.c").write_text(f"int number(void) {{ return {number}; }}\n")
        subprocess.run(["cc", "-shared", "-fPIC", "-o", "loaded.so", "loaded.c"], cwd=folder, check=True)

    def put_script(self, folder, text):
        (folder / "script").write_text(f"#!/bin/sh\ncat used || {text}\n")
        (folder / "script").chmod(0o755)

    def reader(self, name):
        """A folder with a suite that reads files in all ways."""
        folder = self.folder(name)
        (folder / "suite.c").write_text("#include <stdlib.h>\n" + self.READER)
        subprocess.run(["cc", "-g", "-o", "suite", "suite.c"], cwd=folder, check=True)
        for made in ("here", "there", "listed"):
            (folder / made).mkdir()
        (folder / "here" / "opened").write_text("a")
        (folder / "there" / "opened").write_text("a")
        (folder / "there" / "more").write_text("")
        (folder / "link").symlink_to("here")
        (folder / "looked").write_text("")
        self.compile_library(folder, 1)
        self.put_script(folder, "true")
        return folder

    def ways_to_change(self, folder):
        """What an edit does, and whether it matters."""
        def point(target):
            (folder / "link").unlink()
            (folder / "link").symlink_to(target)
        return {
            "content": (lambda: (folder / "here" / "opened").write_text("b"), True),
            "the same content": (lambda: (folder / "here" / "opened").write_text("b"), False),
            "a file that nobody asks for": (lambda: (folder / "unused").write_text("b"), False),
            "a link that leads elsewhere": (lambda: point("there"), True),
            "what it led to": (lambda: (folder / "here" / "opened").write_text("c"), False),
            "a name in a folder": (lambda: (folder / "listed" / "new").write_text(""), True),
            "another time": (lambda: os.utime(folder / "looked", (1, 1)), True),
            "a library that is loaded": (lambda: self.compile_library(folder, 2), True),
            "a script": (lambda: self.put_script(folder, ":"), True),
            "what was looked for in vain": (lambda: (folder / "used").write_text(""), True),
            "a file that went away": ((folder / "looked").unlink, True),
            "nothing": (lambda: None, False),
        }

    def check_reader(self, folder, *words):
        def reused():
            report = folder / "report.json"
            subprocess.run([POLYGRAPH, "check", "--no-schedules", "--format", "json", "--output", report, *words], cwd=folder,
                           stdout=subprocess.DEVNULL, timeout=200, check=False)
            return json.loads(report.read_text())["run"].get("reused", False)
        self.assertFalse(reused())
        self.assertTrue(reused())
        for name, (change, matters) in self.ways_to_change(folder).items():
            with self.subTest(name):
                change()
                self.assertEqual(not reused(), matters)

    def test_what_tests_read(self):
        """Of all that tests read nothing may differ; what they do not read is no matter."""
        self.check_reader(self.reader("reader"), "./suite")

    def test_what_tests_read_without_a_sandbox(self):
        self.check_reader(self.reader("reader-plain"), "--sandbox", "never", "./suite")

    def test_what_commands_read(self):
        folder = self.reader("reader-commands")
        (folder / "tests.txt").write_text("./suite\ncat link/opened\n")
        self.check_reader(folder, "--commands", "tests.txt")

    def test_what_is_read_in_another_order(self):
        """In the suite's own order nobody asks for the file that decides."""
        folder = self.folder("reader-orders")
        (folder / "suite.c").write_text("""#include <assert.h>
            #include <stdio.h>
            static const char *name = "usual";
            void test_reads(void) {
                FILE *file = fopen(name, "r");
                assert(!file || fgetc(file) == 'a');
                if (file)
                    fclose(file);
            }
            void test_names(void) { name = "other"; }
            int main(void) { test_reads(); test_names(); return 0; }
            """)
        subprocess.run(["cc", "-g", "-o", "suite", "suite.c"], cwd=folder, check=True)
        (folder / "other").write_text("a")
        quiet, _ = self.check(folder, "--fail-on=high", "--format", "json", "./suite", status=0)
        self.assertNotIn("order-dependent", quiet)
        (folder / "other").write_text("b")
        loud, _ = self.check(folder, "--fail-on=high", "--format", "json", "./suite")
        self.assertIn("order-dependent", loud)
        self.assertTrue(self.reused(folder, "--fail-on=high", "./suite"))
        (folder / "other").write_text("a")
        self.assertEqual({finding["id"] for finding in json.loads(quiet)["findings"]},
                         {finding["id"] for finding in json.loads(self.check(folder, "--fail-on=high", "--format", "json", "./suite",
                                                                             status=0)[0])["findings"]})

    def test_surroundings(self):
        """The same suite under another limit, or with another mask."""
        folder = self.folder("surroundings")
        compile_suite(folder / "suite", 0)
        self.assertFalse(self.reused(folder, "./suite"))
        self.assertTrue(self.reused(folder, "./suite"))
        before = os.umask(0o027)
        try:
            self.assertFalse(self.reused(folder, "./suite"))
        finally:
            os.umask(before)

    def check_build(self, folder, option):
        """Executables that are opened, and processes."""
        runs = []
        for number in range(3):
            words = [option, "build", "--framework", "functions", "--budget", "100s", "--format", "json", "--output",
                     f"{number}.json", "--format", "text", *(["--format", "html", "--output", "page.html"] if number else [])]
            _, took = self.check(folder, *words)
            runs.append(took)
        report = json.loads((folder / "0.json").read_text())
        self.assertEqual({finding["test"] for finding in report["findings"]}, {"test_is_zero", "test_raises"})
        self.assertEqual(len(report["suites"]), 2, "one that is opened, and processes")
        for number in (1, 2):
            again = json.loads((folder / f"{number}.json").read_text())
            self.assertTrue(all(suite["run"].get("reused") for suite in again["suites"]))
            self.assertEqual(again["findings"], report["findings"])
            self.assertLess(runs[number], runs[0])
        self.assertIn("test_is_zero", (folder / "page.html").read_text())

    def test_ctest(self):
        if not shutil.which("ctest"):
            self.skipTest("ctest is not installed (Debian: cmake)")
        folder = self.folder("ctest")
        compile_suite(folder / "build" / "suite", 1000)
        (folder / "build" / "CTestTestfile.cmake").write_text(
            f'add_test(suite "{folder}/build/suite")\n'
            f'add_test(plain "{shutil.which("sh")}" "-c" "sleep 0.1")\n')
        self.check_build(folder, "--ctest")

    def test_meson(self):
        if not shutil.which("meson"):
            self.skipTest("meson is not installed")
        folder = self.folder("meson")
        (folder / "suite.c").write_text(SUITE)
        (folder / "meson.build").write_text(
            "project('reuse', 'c')\n"
            "test('suite', executable('suite', 'suite.c', c_args: ['-DPAUSE=1000', '-g', '-O0']))\n"
            "test('plain', find_program('sh'), args: ['-c', 'sleep 0.1'])\n")
        subprocess.run(["meson", "setup", "build"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        subprocess.run(["ninja", "-C", "build"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        self.check_build(folder, "--meson")


def prepare(polygraph, folder):
    global POLYGRAPH, FOLDER
    POLYGRAPH, FOLDER = polygraph, folder
    return None


if __name__ == "__main__":
    sys.exit(runner.main("reuse", prepare))
