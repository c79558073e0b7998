// A hand-written runner with a set-up and a tear-down that it calls around each test function. In every order each test
// runs in the place of one of the runner's own calls, so that they surround it: what depends on the set-up alone is no
// finding.
//
//@ subject framework=functions lang=c
//@ variant plain quick=gcc-O0,clang-O2
//@ variant address cflags="-fsanitize=address" libs="-fsanitize=address" builds=gcc-O0,clang-O2
//@ variant nodebug debug=none builds=gcc-O0
//@ run default twice=yes
//@ run all-pairs --all-pairs quick=no
//@ run random --strategy random --runs 10 --seed 5 partial=yes quick=no

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../runner.h"

static char *buffer; // what the set-up makes and the tear-down takes away
static int level;    // what only tests change
static int ready;    // likewise
static int late;     // likewise

#define FUNCTION __attribute__((noinline, noclone))

static FUNCTION void set_up(void)
{
	buffer = calloc(1, 16);
	TOUCH(buffer);
}

static FUNCTION void tear_down(void)
{
	free(buffer);
	buffer = NULL;
	TOUCH(&buffer);
}

// Before the one that disturbs it: only against the sequence.
FUNCTION void test_late_is_zero(void) //@ victim test_late_is_zero polluters=test_comes_late
{
	assert(buffer && !late);
}

// Each of these needs a buffer of its own: without a set-up between them they would fail, and twice, too.
FUNCTION void test_fills_buffer(void)
{
	assert(buffer && !*buffer);
	strcpy(buffer, "filled");
	TOUCH(buffer);
}

FUNCTION void test_fills_it_too(void)
{
	assert(buffer && !*buffer);
	strcpy(buffer, "other");
	TOUCH(buffer);
}

FUNCTION void test_raises_level(void)
{
	assert(buffer && !*buffer);
	level = 3;
	ready = 1;
	TOUCH(&level);
}

FUNCTION void test_innocent(void)
{
	assert(buffer && !*buffer);
}

FUNCTION void test_is_ready(void) //@ brittle test_is_ready setters=test_raises_level
{
	assert(buffer && ready);
}

FUNCTION void test_level_is_zero(void) //@ victim test_level_is_zero polluters=test_raises_level
{
	assert(buffer && !*buffer);
	assert(level == 0);
}

FUNCTION void test_comes_late(void)
{
	assert(buffer);
	late = 1;
	TOUCH(&late);
}

static void (*const tests[])(void) = {
	test_late_is_zero, test_fills_buffer, test_fills_it_too,  test_raises_level,
	test_innocent,	   test_is_ready,     test_level_is_zero, test_comes_late,
};

int main(void)
{
	for (size_t i = 0; i < sizeof(tests) / sizeof(*tests); i++) {
		set_up();
		tests[i]();
		tear_down();
		printf("%zu\n", i);
	}
	return 0;
}
