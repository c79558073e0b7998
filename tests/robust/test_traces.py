#!/usr/bin/env python3
"""Where what a test leaves was written, and where its readers read it: call stacks in JSON and with --verbose.

usage: test_traces.py --polygraph PATH [-v] [TEST…]
"""
import json
import pathlib
import subprocess
import sys
import unittest

import runner

POLYGRAPH = None
FOLDER = None
# The comments name the lines.
SUITE = r"""
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#define OWN __attribute__((noinline)) static
int level, threaded, restored;
struct node { int value; } *node;
OWN void raise_level(int to) { level = to; __asm__ volatile(""); } /* writes level */
OWN int look_at(const int *place) { __asm__ volatile(""); return *place; } /* reads */
OWN void *work(void *data) { threaded = 1; return data; } /* writes threaded */
__attribute__((noinline)) void test_sets_level(void)
{
	raise_level(1);
	raise_level(7); /* calls raise_level */
	__asm__ volatile("");
}
void test_starts_thread(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, work, NULL);
	pthread_join(thread, NULL);
}
__attribute__((noinline)) void test_makes_node(void)
{
	node = malloc(sizeof(*node)); /* writes node */
	node->value = 4;
}
void test_restores(void) { restored = 1; restored = 0; }
__attribute__((noinline)) void test_reads_level(void)
{
	assert(look_at(&level) < 100); /* reads level */
}
__attribute__((noinline)) void test_reads_node(void)
{
	/* The first instruction of a test may be executed elsewhere, and has no stack. */
	if (look_at(&restored))
		return;
	if (node) /* reads node */
		assert(node->value < 100);
}
void test_reads_restored(void) { assert(look_at(&restored) == 0); }
int main(void)
{
	test_sets_level();
	test_starts_thread();
	test_makes_node();
	test_restores();
	test_reads_level();
	test_reads_node();
	test_reads_restored();
	return 0;
}
"""


def line_of(comment):
    lines = [number for number, line in enumerate(SUITE.splitlines(), 1) if f"/* {comment} */" in line]
    assert len(lines) == 1, comment
    return lines[0]


class Traces(unittest.TestCase):
    maxDiff = None

    def found(self, level, *words):
        folder = pathlib.Path(FOLDER) / f"at{level}{len(words)}"
        folder.mkdir()
        (folder / "suite.c").write_text(SUITE)
        subprocess.run(["cc", "-g", level, "-o", "suite", "suite.c", "-pthread"], cwd=folder, check=True)
        done = subprocess.run([POLYGRAPH, "pollution", *words, "./suite"], cwd=folder, text=True, timeout=60, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertIn(done.returncode, (0, 1), done.stdout + done.stderr)
        return done.stdout

    def frames(self, stack):
        for frame in stack:
            self.assertEqual(frame["file"], "suite.c")
        return [(frame["function"], frame["line"]) for frame in stack]

    def check_stacks(self, level):
        report = json.loads(self.found(level, "--format", "json"))
        found = {finding["root"]: finding for finding in report["findings"]}
        self.assertEqual(set(found), {"level", "threaded", "node"}, "what is restored is no finding")
        # The last of two calls wrote what is left.
        written = self.frames(found["level"]["written"])
        self.assertEqual(written[:2], [("raise_level", line_of("writes level")), ("test_sets_level", line_of("calls raise_level"))])
        self.assertNotIn("main", [function for function, _ in written[:-1]])
        (read,) = found["level"]["reads"]
        self.assertEqual(read["test"], "test_reads_level")
        self.assertEqual(self.frames(read["stack"])[:2], [("look_at", line_of("reads")), ("test_reads_level", line_of("reads level"))])
        self.assertEqual(self.frames(found["threaded"]["written"])[0], ("work", line_of("writes threaded")))
        self.assertEqual(found["threaded"]["reads"], [])
        self.assertEqual(self.frames(found["node"]["written"])[0], ("test_makes_node", line_of("writes node")))
        self.assertEqual(self.frames(found["node"]["reads"][0]["stack"])[0], ("test_reads_node", line_of("reads node")))

    def test_plain(self):
        self.check_stacks("-O0")

    def test_optimised(self):
        self.check_stacks("-O2")

    def test_text(self):
        text = self.found("-O0", "--verbose")
        self.assertIn(f"        written in raise_level at suite.c:{line_of('writes level')}\n"
                      f"                   test_sets_level at suite.c:{line_of('calls raise_level')}\n", text)
        self.assertIn(f"        read by test_reads_level in look_at at suite.c:{line_of('reads')}\n", text)


def prepare(polygraph, folder):
    global POLYGRAPH, FOLDER
    POLYGRAPH, FOLDER = polygraph, folder
    return None


if __name__ == "__main__":
    sys.exit(runner.main("traces", prepare))
