#!/usr/bin/env python3
"""Trees of orders in test executables: what tests/tree/tree_driver.c tells of small suites made for it.

usage: test_trees.py --polygraph PATH [-v] [TEST…]

That orders of a tree go as they do one by one is checked with all subjects (tests/harness/test_subjects.py, tree).
"""
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import runner
from fresh import wait_for
from test_robust import processes

DRIVER = None
FOLDER = None

# Hand-written: 0 to 9.
SUITE = """
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#define TEST __attribute__((noinline)) int
static int fd, state;
TEST test_adds(void) { return state++ < 0; }
TEST test_wants_one(void) { return state != 1; }
TEST test_wants_none(void) { return state != 0; }
TEST test_crashes(void) { abort(); }
TEST test_hangs(void) { for (;;) usleep(1000); }
TEST test_leaves(void) { _exit(0); }
TEST test_reads(void) { char c = 0; return read(fd, &c, 1) != 1 || c != 'a'; }
TEST test_reads_on(void) { char c = 0; return read(fd, &c, 1) != 1 || c != 'b'; }
TEST test_appends(void) { FILE *f = fopen("kept", "a"); return !f || fputc('x', f) == EOF || fclose(f); }
TEST test_wants_one_byte(void) { FILE *f = fopen("kept", "r"); return !f || fgetc(f) != 'x' || fgetc(f) != EOF; }
static void *wait_long(void *p) { pause(); return p; }
TEST test_starts_thread(void) { pthread_t t; state = 1; return pthread_create(&t, NULL, wait_long, NULL); }
TEST test_sets_alarm(void) { state = 1; alarm(1000); return 0; }
int main(void)
{
	fd = open("letters", O_RDONLY);
	return test_adds() + test_wants_one() + test_wants_none() + test_crashes() + test_hangs() + test_leaves() +
	       test_reads() + test_reads_on() + test_appends() + test_wants_one_byte() + test_starts_thread() +
	       test_sets_alarm();
}
"""
NAMES = ["adds", "wants_one", "wants_none", "crashes", "hangs", "leaves", "reads", "reads_on", "appends",
         "wants_one_byte", "starts_thread", "sets_alarm"]

# A runner that counts failures.
COUNTS = """
#define TEST __attribute__((noinline)) void
static int failures, state;
TEST test_sets(void) { state = 1; }
TEST test_wants_none(void) { failures += state; }
TEST test_fails(void) { failures++; }
TEST test_passes(void) { __asm__ volatile("nop"); }
TEST test_passes_too(void) { __asm__ volatile("nop\\n nop"); }
int main(void) { test_sets(); test_wants_none(); test_fails(); test_passes(); test_passes_too(); return failures; }
"""

# By calls, many tests.
MANY = """
#define TEST __attribute__((noinline)) void
static int count;
%s
int main(void) { %s return count < 0; }
""" % ("\n".join(f"TEST test_{i}(void) {{ count += {i}; }}" for i in range(50)),
       " ".join(f"test_{i}();" for i in range(50)))

# Between the calls that are wanted there are many that are not. What becomes of them shows in the exit status: they
# return 1, some are too short to be left out without a stop, some call each other, and a child that the runner makes
# meanwhile has them as they are written.
FLOWS = """
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#define TEST __attribute__((noinline)) int
static int count, wrong, calls;
TEST test_adds(void) { return ++count; }
TEST test_calls(void) { int before = count; test_adds(); return count == before + 1; }
TEST test_again(void) { return ++calls == 1; }
TEST test_wants_two(void) { return count == 2; }
__asm__(".globl test_short\\n.type test_short,@function\\ntest_short: ret\\n.size test_short,1\\n");
int test_short(void);
%s
static int (*const tests[])(void) = { %s };
static void *in_thread(void *p) { return (void *)(long)!test_wants_two(); }
int main(void)
{
	void *answer;
	pthread_t thread;
	int status = 0;
	wrong += !test_adds();
	test_short();
	for (int i = 0; i < 40; i++)
		wrong += !tests[i]();
	wrong += !test_again();
	pid_t child = fork();
	if (!child) {
		count = 0;
		test_calls();
		_exit(count != 1 || test_31() != 32);
	}
	waitpid(child, &status, 0);
	wrong += status != 0;
	for (int i = 0; i < 40; i++)
		wrong += !tests[i]();
	wrong += !test_again();
	wrong += !test_calls();
	pthread_create(&thread, NULL, in_thread, NULL);
	pthread_join(thread, &answer);
	wrong += answer != NULL;
	for (int i = 0; i < 40; i++)
		wrong += !tests[i]();
	test_short();
	return wrong;
}
""" % ("\n".join(f"TEST test_{i}(void) {{ return {i} + 1; }}" for i in range(40)),
       ", ".join(f"test_{i}" for i in range(40)))
# Calls in sequence: each is a test.
FLOWS_NAMES = ["adds", "short", *map(str, range(40)), "again", *(f"{i} 2" for i in range(40)), "again 2", "calls",
               "wants_two", *(f"{i} 3" for i in range(40)), "short 2"]


def compile_suite(name, text):
    source = os.path.join(FOLDER, name + ".c")
    with open(source, "w", encoding="utf-8") as file:
        file.write(text)
    program = os.path.join(FOLDER, name)
    subprocess.run(["gcc", "-g", "-O0", "-pthread", source, "-o", program], check=True)
    return program


class Trees(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.suite = compile_suite("suite", SUITE)
        cls.counts = compile_suite("counts", COUNTS)
        cls.many = compile_suite("many", MANY)
        cls.flows = compile_suite("flows", FLOWS)

    def setUp(self):
        self.cwd = tempfile.mkdtemp(dir=FOLDER)
        with open(os.path.join(self.cwd, "letters"), "w", encoding="utf-8") as file:
            file.write("abc")

    def run_tree(self, program, nodes, *options, names=None, again=1):
        """nodes: (parent or None, test), a test by name or number. Outcomes by node, and tests begun."""
        if names:
            nodes = [(parent, names.index(test)) for parent, test in nodes]
        tree = " ".join(f"{'-' if parent is None else parent}:{test}" for parent, test in nodes)
        done = subprocess.run([DRIVER, *options, "--again", str(again), "--tree", tree, program], cwd=self.cwd,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, timeout=100)
        self.assertEqual(done.returncode, 0, done.stdout[-2000:])
        lines = [line.split() for line in done.stdout.splitlines()]
        self.assertEqual(lines[-1][0], "executions")
        self.assertEqual(len(lines), len(nodes) * again + 1)
        outcomes = [None] * len(nodes)
        for node, outcome in lines[:-1]:
            outcomes[int(node)] = outcome
        return outcomes, int(lines[-1][1])

    def test_parts(self):
        """Each node runs once, and copies do not see what the others did."""
        nodes = [(None, "adds"), (0, "wants_one"), (1, "wants_one"), (0, "sets_alarm"), (0, "wants_one_byte"),
                 (0, "wants_one"), (5, "reads"), (5, "appends"), (7, "wants_one_byte")]
        outcomes, begun = self.run_tree(self.suite, nodes, names=NAMES)
        self.assertEqual(outcomes, ["pass", "pass", "pass", "pass", "fail", "pass", "pass", "pass", "pass"])
        # What the runner does between its tests is found out once.
        _, twice = self.run_tree(self.suite, nodes, names=NAMES, again=2)
        # In the program's own sequence and otherwise: the first one in both.
        self.assertLessEqual(twice - begun, len(nodes) + 2)

    def test_each_once(self):
        nodes = [(None, 1), (0, 2), (0, 3)] + [(2, i) for i in range(4, 50)] + [(20, 49), (20, 48)]
        outcomes, begun = self.run_tree(self.many, nodes)
        self.assertEqual(set(outcomes), {"pass"})
        self.assertEqual(begun, len(nodes))

    def test_left_out(self):
        """Calls that are not wanted, many at a time: those that are go as if they had been left out one by one."""
        first, last = "39", "39 3"
        cases = [
            (["adds", "calls", "wants_two"], ["pass", "pass", "pass"]),
            (["calls", "wants_two"], ["pass", "fail"]),
            (["again"], ["pass"]),
            (["again 2"], ["pass"]),
            (["again", "again 2"], ["pass", "fail"]),
            (["again", "17 2", "again 2", last], ["pass", "pass", "fail", "pass"]),
            (["adds", first, "39 2", "calls", "wants_two", last], ["pass"] * 6),
            # The other way round, in places of other calls.
            (["39 2", "calls", first, "adds", "wants_two"], ["pass"] * 5),
            ([last, "20 3"], ["pass", "pass"]),
        ]
        for mixed in range(2):
            nodes, expected = [], []
            for order, outcomes in cases:
                parent = None
                for test in order:
                    nodes.append((parent, test))
                    parent = len(nodes) - 1
                if mixed:  # orders part at its last test
                    nodes += [(parent, "20 3"), (parent, "short 2")]
                expected += outcomes + ["pass", "pass"] * mixed
            with self.subTest(mixed=mixed):
                self.assertEqual(self.run_tree(self.flows, nodes, names=FLOWS_NAMES)[0], expected)

    def test_process_gone(self):
        nodes = [(None, "adds"), (0, "crashes"), (1, "wants_one"), (1, "adds"), (3, "adds"), (0, "leaves"),
                 (5, "reads"), (0, "wants_one"), (None, "wants_none")]
        outcomes, _ = self.run_tree(self.suite, nodes, names=NAMES)
        self.assertEqual(outcomes, ["pass", "crash", "none", "none", "none", "crash", "none", "pass", "pass"])

    def test_hangs_once(self):
        """A test that hangs costs its time once, whatever is below it."""
        nodes = [(None, "adds"), (0, "hangs"), (0, "wants_one")] + [(1, "reads")] * 200
        start = time.monotonic()
        outcomes, _ = self.run_tree(self.suite, nodes, "--timeout-ms", "700", names=NAMES)
        self.assertLess(time.monotonic() - start, 0.7 * 100)
        self.assertEqual(outcomes, ["pass", "timeout", "pass"] + ["none"] * 200)

    def test_offsets(self):
        """What one copy reads of an open file the others can still read."""
        nodes = [(None, "reads"), (0, "reads_on"), (0, "reads_on"), (0, "reads_on"), (None, "reads"),
                 (None, "reads_on")]
        outcomes, _ = self.run_tree(self.suite, nodes, names=NAMES)
        self.assertEqual(outcomes, ["pass"] * 5 + ["fail"])

    def test_kept_files(self):
        nodes = [(None, "appends"), (0, "wants_one_byte"), (0, "appends"), (2, "wants_one_byte"), (0, "wants_one_byte"),
                 (None, "wants_one_byte"), (None, "appends"), (6, "wants_one_byte")]
        outcomes, _ = self.run_tree(self.suite, nodes, "--keep", "kept", "--jobs", "2", names=NAMES, again=2)
        self.assertEqual(outcomes, ["pass", "pass", "pass", "fail", "pass", "fail", "pass", "pass"])
        self.assertFalse(os.path.exists(os.path.join(self.cwd, "kept")))

    def test_no_checkpoint(self):
        """Behind threads and timers a process is not copied: each order from its beginning, each node told once."""
        for first in ("starts_thread", "sets_alarm"):
            nodes = [(None, first), (0, "wants_one"), (0, "adds"), (2, "wants_one"), (0, "wants_one")]
            outcomes, begun = self.run_tree(self.suite, nodes, names=NAMES)
            self.assertEqual(outcomes, ["pass", "pass", "pass", "fail", "pass"], first)
            self.assertGreater(begun, len(nodes))

    def test_exit_status(self):
        """The program's status is that of the test that failed, not of those after it."""
        nodes = [(None, 0), (0, 1), (0, 3), (None, 2), (3, 3), (3, 4), (None, 1), (None, 3)]
        outcomes, _ = self.run_tree(self.counts, nodes)
        self.assertEqual(outcomes, ["pass", "fail", "pass", "fail", "pass", "pass", "pass", "pass"])
        outcomes, _ = self.run_tree(self.counts, [(None, 2)])
        self.assertEqual(outcomes, ["fail"])

    def test_large(self):
        nodes = [(None, 0)] + [(i // 3 if i % 7 else i - 1, i % 50) for i in range(1, 4000)]
        outcomes, _ = self.run_tree(self.many, nodes, "--jobs", "2")
        self.assertEqual(set(outcomes), {"pass"})

    def test_side_by_side(self):
        nodes = [(None, "adds")] + [(0, NAMES[i % 3]) for i in range(60)] + [(None, "crashes")] + [(61, "adds")] * 60
        alone, _ = self.run_tree(self.suite, nodes, names=NAMES)
        together, begun = self.run_tree(self.suite, nodes, "--jobs", "3", names=NAMES, again=3)
        self.assertEqual(alone, together)
        self.assertGreaterEqual(begun, 3 * 62)

    def test_hangs_side_by_side(self):
        nodes = [(None, "hangs")] + [(0, "adds")] * 200
        start = time.monotonic()
        outcomes, _ = self.run_tree(self.suite, nodes, "--jobs", "2", "--timeout-ms", "700", names=NAMES)
        self.assertLess(time.monotonic() - start, 0.7 * 100)
        self.assertEqual(outcomes, ["timeout"] + ["none"] * 200)

    def test_worker_killed(self):
        """One that is gone is an error, not a hang; nothing is left running."""
        tree = " ".join("-:%d" % NAMES.index("hangs") for _ in range(40))
        before = processes(self.suite)
        with subprocess.Popen([DRIVER, "--jobs", "2", "--timeout-ms", "5000", "--tree", tree, self.suite],
                              cwd=self.cwd, stdout=subprocess.PIPE, text=True) as driver:
            children = f"/proc/{driver.pid}/task/{driver.pid}/children"
            seen, workers = set(), set()
            # A fork that is about to become another program does not stay what it is.
            while not workers and driver.poll() is None:
                time.sleep(0.05)
                now = set()
                with open(children, encoding="utf-8") as file:
                    pids = file.read().split()
                for pid in pids:
                    try:
                        with open(f"/proc/{pid}/comm", encoding="utf-8") as file:
                            is_nest = file.read() == "pg-nest\n"
                        if not is_nest and os.path.basename(os.readlink(f"/proc/{pid}/exe")) == os.path.basename(DRIVER):
                            now.add(int(pid))
                    except FileNotFoundError:
                        pass  # gone already
                workers, seen = seen & now, now
            os.kill(min(workers), signal.SIGKILL)
            said, _ = driver.communicate(timeout=60)
        self.assertEqual(driver.returncode, 1)
        self.assertIn("worker", said)
        self.assertTrue(wait_for(lambda: processes(self.suite) == before))


def prepare(polygraph, folder):
    global DRIVER, FOLDER
    DRIVER, FOLDER = os.path.join(os.path.dirname(polygraph), "tests/tree/tree_driver"), folder
    return None if os.access(DRIVER, os.X_OK) else f"no {DRIVER}: it is built with the program"


if __name__ == "__main__":
    sys.exit(runner.main("trees", prepare))
