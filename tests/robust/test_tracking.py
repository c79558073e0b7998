#!/usr/bin/env python3
"""Written memory is found in several ways, of which each kernel has some: all of them find the same.

usage: test_tracking.py --polygraph PATH [-v] [TEST…]

POLYGRAPH_TEST_TRACKING names the way that has to be chosen here; tests/kernel sets it.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import unittest

import runner

METHODS = ("scan", "soft-dirty", "fork", "compare")
POLYGRAPH = None
FOLDER = None

SUITE = r"""
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define MIB ((size_t)1 << 20)
#define STACK (MIB / 4)

struct part {
	int count;
	int spare;
};

int counter;
struct part parts[5000];
struct part *block;
/* In a block of 32 MiB that no allocator knows. */
struct part *near, *far, *by_thread, *after_thread, *thrown, *same;
static char *large;

static void *write_large(void *argument)
{
	by_thread->count = *(int *)argument;
	return NULL;
}

void test_variable(void) { counter++; }
void test_table(void) { parts[4321].spare = 7; }
void test_heap(void) { block->count = 8; }
void test_large(void) { near->spare = far->spare = 9; }

/* Its stack lies right below the large block: to the kernel they are one mapping. */
void test_thread(void)
{
	char *stack = large - STACK;
	pthread_attr_t attr;
	pthread_t thread;
	int value = 10;
	mprotect(stack, STACK, PROT_READ | PROT_WRITE);
	if (pthread_attr_init(&attr) || pthread_attr_setstack(&attr, stack, STACK) ||
	    pthread_create(&thread, &attr, write_large, &value) || pthread_join(thread, NULL))
		abort();
	pthread_attr_destroy(&attr);
}

void test_large_again(void) { after_thread->count = 11; }
void test_thrown_away(void) { madvise(thrown, 4096, MADV_DONTNEED); }

void test_put_back(void)
{
	counter++;
	same->count++;
	same->count--;
	counter--;
}

void test_reads(void)
{
	if (same->count != 0x01010101)
		abort();
}

int main(void)
{
	large = mmap(NULL, 33 * MIB, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	large += MIB;
	munmap(large - MIB, MIB - STACK - 4096);
	mprotect(large, 32 * MIB, PROT_READ | PROT_WRITE);
	memset(large, 1, 32 * MIB);
	near = (void *)(large + MIB + 24);
	far = (void *)(large + 31 * MIB);
	by_thread = (void *)(large + 16 * MIB);
	after_thread = (void *)(large + 2 * MIB);
	thrown = (void *)(large + 24 * MIB);
	same = (void *)(large + 25 * MIB);
	block = calloc(1000, sizeof(*block));
	test_variable();
	test_table();
	test_heap();
	test_large();
	test_thread();
	test_large_again();
	test_thrown_away();
	test_put_back();
	test_reads();
	return 0;
}
"""

# The roots that each test leaves changed.
LEFT = {
    "test_variable": {"counter"},
    "test_table": {"parts"},
    "test_heap": {"block"},
    "test_large": {"near", "far"},
    "test_thread": {"by_thread"},
    "test_large_again": {"after_thread"},
    "test_thrown_away": {"thrown"},
}


def pollution(*options):
    done = subprocess.run([POLYGRAPH, "pollution", "--format", "json", *options, "./suite"], cwd=FOLDER,
                          env={**os.environ, "POLYGRAPH_LOG": "image"}, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=600)
    return json.loads(done.stdout), done.stderr


class Tracking(unittest.TestCase):
    maxDiff = None

    def check_findings(self, report):
        found = {}
        for finding in report["findings"]:
            if finding["where"] == "memory":
                found.setdefault(finding["test"], set()).add(finding["root"])
        self.assertEqual(found, LEFT)

    def test_every_way_finds_the_same(self):
        for method in METHODS:
            with self.subTest(method):
                report, said = pollution("--page-tracking", method)
                if "memory was not compared" in json.dumps(report["limits"]):
                    print(f"skipped {method}: this kernel does not have it")
                    continue
                self.check_findings(report)

    def test_the_best_one_is_chosen(self):
        report, said = pollution()
        chosen = re.findall(r"written pages are found by: ([\w-]+)", said)
        self.assertTrue(chosen, said)
        wanted = os.environ.get("POLYGRAPH_TEST_TRACKING")
        if wanted:
            self.assertEqual(set(chosen), {wanted})
        self.check_findings(report)


def prepare(polygraph, folder):
    global POLYGRAPH, FOLDER
    POLYGRAPH, FOLDER = polygraph, folder
    compiler = shutil.which("cc")
    if not compiler:
        return "no C compiler here"
    with open(os.path.join(folder, "suite.c"), "w", encoding="ascii") as out:
        out.write(SUITE)
    subprocess.run([compiler, "-g", "-O0", "-pthread", "-o", os.path.join(folder, "suite"), os.path.join(folder, "suite.c")],
                   check=True)
    return None


if __name__ == "__main__":
    sys.exit(runner.main("tracking", prepare))
