#!/usr/bin/env python3
"""What could not be looked at is in the verdict of each detector: in the last lines of the report, and in JSON.

usage: test_limits.py --polygraph PATH [-v] [TEST…]

For each kind there is a twin that hides nothing: its verdict has no limit. The one command that runs a failing test
again is this one with its name, e.g. Limits.test_static.
"""
import json
import os
import shutil
import subprocess
import sys
import unittest

import runner

POLYGRAPH = None
FOLDER = None

SUITE = r"""
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/io_uring.h>
static char *text;
static int setup_ring(void)
{
	struct io_uring_params params;
	memset(&params, 0, sizeof(params));
	return (int)syscall(SYS_io_uring_setup, 1, &params);
}
static void *idle(void *data)
{
	for (;;)
		pause();
	return data;
}
static void *work(void *data)
{
	return data;
}
__attribute__((noinline)) int test_writes(void)
{
	free(text);
	text = strdup("second");
	return 0;
}
__attribute__((noinline)) int test_reads(void)
{
	return strlen(text) == 99;
}
__attribute__((noinline)) int test_special(void)
{
#ifdef RING
	close(setup_ring());
#endif
#ifdef CHILD
	return system(CHILD);
#endif
#ifdef JOINED
	pthread_t thread;
	return pthread_create(&thread, NULL, work, NULL) || pthread_join(thread, NULL);
#endif
	return 0;
}
int main(void)
{
	text = strdup("first");
#ifdef THREAD
	pthread_t thread;
	pthread_create(&thread, NULL, idle, NULL);
#endif
#ifdef EARLY_RING
	setup_ring();
#endif
	return test_writes() + test_reads() + test_special();
}
"""

# A 32-bit program, without a C library: opens a file with these flags, and ends.
FOREIGN = """
.globl _start
_start:	movl $5, %eax
	movl $name, %ebx
	movl $FLAGS, %ecx
	movl $0644, %edx
	int $0x80
	movl $1, %eax
	xorl %ebx, %ebx
	int $0x80
.data
name:	.asciz "foreign.txt"
"""

INLINED = r"""
#include <stdlib.h>
static volatile int number = 7;
static inline __attribute__((always_inline)) int test_part_of_another(void)
{
	return number != 7;
}
static INLINE int test_in_runner(void)
{
	return number != 7;
}
__attribute__((noinline)) int test_outside(void)
{
	return test_part_of_another();
}
int main(void)
{
	return test_outside() + test_in_runner();
}
"""

CMOCKA = r"""
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
static int hidden;
static void test_a(void **state)
{
	hidden = 3;
}
static void test_b(void **state)
{
	assert_true(hidden < 5);
}
int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_a), cmocka_unit_test(test_b) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
"""

CHECK = r"""
#include <check.h>
static int state;
START_TEST(test_sets) { state = 1; } END_TEST
START_TEST(test_wants_none) { ck_assert_int_eq(state, 0); } END_TEST
START_TEST(test_fails) { ck_assert_int_eq(state, 7); } END_TEST
int main(void)
{
	Suite *suite = suite_create("S");
	TCase *tcase = tcase_create("T");
	tcase_add_test(tcase, test_sets);
#ifndef TWIN
	tcase_add_test(tcase, test_wants_none);
#endif
	tcase_add_test(tcase, test_fails);
	suite_add_tcase(suite, tcase);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_SILENT);
	return srunner_ntests_failed(runner) != 0;
}
"""


def write(name, text):
    path = os.path.join(FOLDER, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def build(name, *flags, source=SUITE, debug="-g"):
    path = os.path.join(FOLDER, name)
    if not os.path.exists(path):
        subprocess.run(["cc", *debug.split(), "-w", "-o", path, write(name + ".c", source), *flags, "-pthread"],
                       check=True)
    return path


def foreign(name, flags):
    """A 32-bit program; None where there are no tools for it, or the kernel runs none."""
    path = os.path.join(FOLDER, name)
    made = (shutil.which("as") and shutil.which("ld") and
            subprocess.run(["as", "--32", "-o", path + ".o", write(name + ".s", FOREIGN.replace("FLAGS", flags))],
                           stderr=subprocess.DEVNULL, check=False).returncode == 0 and
            subprocess.run(["ld", "-m", "elf_i386", "-o", path, path + ".o"], stderr=subprocess.DEVNULL,
                           check=False).returncode == 0)
    try:
        return path if made and subprocess.run([path], cwd=FOLDER, check=False).returncode == 0 else None
    except OSError:
        return None


def rings_work():
    """Without io_uring, or in a container that forbids it, a ring is never set up."""
    code = "import ctypes; raise SystemExit(ctypes.CDLL(None).syscall(425, 1, ctypes.create_string_buffer(120)) < 0)"
    return subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


class Limits(unittest.TestCase):
    maxDiff = None

    def limits(self, command, *args, polygraph=None, status=(0, 1)):
        """Those of the JSON report; the text report has the same with --verbose, and else counts them."""
        said = {}
        for form, *words in (("json",), ("text", "-v")):
            run = subprocess.run([polygraph or POLYGRAPH, command, "--format", form, *words, *args], cwd=FOLDER,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, timeout=120)
            self.assertIn(run.returncode, status, run.stderr)
            said[form] = run.stdout
        limits = json.loads(said["json"])["limits"]
        shown = ["limit: " + limit for limit in limits]
        self.assertEqual([line for line in said["text"].splitlines() if line.startswith("limit: ")], shown)
        for limit in limits:
            self.assertNotIn("\n", limit)
            self.assertLess(len(limit), 250, "one sentence")
        return limits

    def says(self, expected, command, *args, **options):
        """Exactly these limits, each by what it has in it."""
        limits = self.limits(command, *args, **options)
        self.assertEqual(len(limits), len(expected), limits)
        for limit, words in zip(limits, expected):
            for word in [words] if isinstance(words, str) else words:
                self.assertIn(word, limit)

    def test_nothing(self):
        """The twin of all: what can be looked at has no limits."""
        program = build("plain")
        for command in ("run", "pollution", "order", "choices"):
            with self.subTest(command=command):
                self.says([], command, program)
        self.says([], "choices", "--commands", write("plain.txt", program + "\n"))

    def test_no_debug_information(self):
        program = build("nodebug", debug="-g0")
        self.says(["word by word"], "pollution", program)
        self.says(["word by word"], "order", program)
        self.says([], "choices", program)

    def test_static(self):
        program = build("static", "-static")
        self.says(["statically linked"], "pollution", program)
        self.says(["statically linked"], "order", program)
        limits = self.limits("choices", program, status=(3,))
        self.assertIn("choices: the tests made no call that could be varied, so this proves nothing", limits)
        self.says(["statically linked", "nothing can be chosen"], "check", "--budget", "60s", program)

    def test_static_without_debug_information(self):
        program = build("static-nodebug", "-static", debug="-g0")
        self.says(["statically linked", "its memory is not compared"], "pollution", program)

    def test_static_command(self):
        commands = write("commands.txt", build("plain") + "\n" + build("static", "-static") + "\n")
        self.says([["1 of 2 commands", "statically linked", "nothing is chosen"]], "choices", "--commands", commands)

    def test_inlined(self):
        """A function that has become part of the runner is no test; one that is part of a test is no loss."""
        program = build("inlined", "-O2", "-DINLINE=__attribute__((always_inline))", source=INLINED)
        lost = ["1 function matching 'test_*' was inlined into the runner"]
        for command in ("run", "pollution", "order", "choices"):
            with self.subTest(command=command):
                self.says([lost], command, program)
        self.says([], "run", build("not-inlined", "-O2", "-DINLINE=__attribute__((noinline))", source=INLINED))

    def test_stripped(self):
        if subprocess.run(["cc", "-w", "-o", os.path.join(FOLDER, "stripped"), write("stripped.c", CMOCKA), "-lcmocka"],
                          stderr=subprocess.DEVNULL, check=False).returncode:
            self.skipTest("no cmocka")
        program = os.path.join(FOLDER, "stripped")
        self.says(["word by word"], "pollution", program)
        subprocess.run(["strip", program], check=True)
        self.says([["'stripped' is stripped", "not seen"]], "pollution", program)
        self.says([["'stripped' is stripped", "not seen"]], "order", program)

    def test_threads(self):
        program = build("threads", "-DTHREAD")
        beside = "other threads run beside the tests"
        # Those that read what another leaves are run right after it.
        again = ["order: the program is started again", "timing"]
        self.says([beside, again], "pollution", program)
        self.says([beside], "pollution", "--no-prove", program)
        self.says([beside, again], "order", program)
        self.says([["choices: the program is started again", "timing"]], "choices", program)
        # One that is gone before the test ends is seen as a whole.
        joined = build("joined", "-DJOINED")
        self.says([], "pollution", joined)
        self.says([], "order", joined)

    def test_isolation(self):
        """Tests that fail only in a process that they share, which the framework does not let them do, are named."""
        flags = subprocess.run(["pkg-config", "--cflags", "--libs", "check"], stdout=subprocess.PIPE, text=True)
        if flags.returncode:
            self.skipTest("the framework Check is not installed")
        program = build("shared", *flags.stdout.split(), source=CHECK)
        twin = build("shared_twin", "-DTWIN", *flags.stdout.split(), source=CHECK)
        self.says(["Check runs each test in a process of its own; here they share one (as with CK_FORK=no), and "
                   "1 fails only because of that: S/T/test_wants_none; --alone runs each in its own"], "run", program,
                  status=(3,))
        self.says([], "run", twin, status=(3,))
        self.says([], "run", "--alone", program, status=(3,))

    def test_no_agent(self):
        """The program was installed without its libraries."""
        folder = os.path.join(FOLDER, "alone")
        os.makedirs(folder, exist_ok=True)
        alone = shutil.copy(POLYGRAPH, folder)
        program = build("plain")
        missing = ["our library is not in the program", "may be missed"]
        self.says([missing], "pollution", program, polygraph=alone)
        self.says([missing], "order", program, polygraph=alone)

    def test_sanitizer(self):
        program = build("asan", "-fsanitize=address")
        self.says([["our library is not in the program", "AddressSanitizer"]], "pollution", program)

    def test_io_uring(self):
        if not rings_work():
            self.skipTest("io_uring is not allowed here")
        ring = ["tests used io_uring", "neither reported nor restored"]
        self.says([ring], "pollution", build("ring", "-DRING"))
        self.says([ring], "order", build("ring", "-DRING"))
        self.says([ring], "pollution", "--commands", write("ring.txt", build("ring", "-DRING") + "\n"))
        # It does not matter where nothing is looked at, and walking sees what is changed through it.
        self.says([], "pollution", "--only", "memory", build("ring", "-DRING"))

    def test_io_uring_before_the_tests(self):
        if not rings_work():
            self.skipTest("io_uring is not allowed here")
        self.says(["tests used io_uring"], "pollution", build("early-ring", "-DEARLY_RING"))

    def test_32_bit_child(self):
        writes, reads = foreign("writes", "0x241"), foreign("reads", "0")
        if not writes or not reads:
            self.skipTest("32-bit programs cannot be made or run here")
        wrote = ["32-bit programs changed files", "neither reported nor restored"]
        self.says([wrote], "pollution", build("foreign", f'-DCHILD="{writes}"'))
        self.says([wrote], "order", build("foreign", f'-DCHILD="{writes}"'))
        self.says([wrote], "pollution", "--commands", write("foreign.txt", writes + "\n"))
        self.says([], "pollution", build("foreign-reads", f'-DCHILD="{reads}"'))


def prepare(polygraph, folder):
    global POLYGRAPH, FOLDER
    POLYGRAPH, FOLDER = polygraph, folder
    os.environ["XDG_CACHE_HOME"] = os.path.join(folder, "cache")
    return None if shutil.which("cc") else "no compiler"


if __name__ == "__main__":
    sys.exit(runner.main("limits", prepare))
