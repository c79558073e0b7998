// A main() that calls its tests one by one, with one fixture around the first four and another one around the rest: tests
// stay among those that have theirs, in any order there.
//
//@ subject framework=functions lang=c pairs=no
//@ variant plain quick=gcc-O0,clang-O2
//@ says "between its tests: 16 of 56 pairs were not tried, as it would be different for their tests"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "../runner.h"

#define FUNCTION __attribute__((noinline, noclone))

static char *text;    // of the first fixture
static int connected; // of the second one
static int level, late;

static FUNCTION void open_text(void)
{
	text = strdup("text");
	TOUCH(text);
}

static FUNCTION void close_text(void)
{
	free(text);
	text = NULL;
	TOUCH(&text);
}

// Needs the first fixture; so do those that follow.
FUNCTION void test_text_is_fresh(void)
{
	assert(text && !strcmp(text, "text") && !connected);
}

FUNCTION void test_early_is_low(void) //@ victim test_early_is_low polluters=test_early_raises
{
	assert(text && !level);
}

FUNCTION void test_writes_text(void)
{
	assert(text && !strcmp(text, "text"));
	text[0] = 'n';
	TOUCH(text);
}

FUNCTION void test_early_raises(void)
{
	assert(text);
	level = 2;
	TOUCH(&level);
}

// Needs the second one.
FUNCTION void test_is_connected(void)
{
	assert(connected == 1 && !text);
}

FUNCTION void test_late_is_clear(void) //@ victim test_late_is_clear polluters=test_late_disturbs
{
	assert(connected && !late);
}

FUNCTION void test_disconnects(void)
{
	assert(connected == 1);
	connected = 2;
	TOUCH(&connected);
}

FUNCTION void test_late_disturbs(void)
{
	assert(connected == 1);
	late = 1;
	TOUCH(&late);
}

#define WITH_TEXT(test)       \
	do {                  \
		open_text();  \
		test();       \
		close_text(); \
	} while (0)
#define CONNECTED(test)        \
	do {                   \
		connected = 1; \
		test();        \
	} while (0)

int main(void)
{
	WITH_TEXT(test_text_is_fresh);
	WITH_TEXT(test_early_is_low);
	WITH_TEXT(test_writes_text);
	WITH_TEXT(test_early_raises);
	CONNECTED(test_is_connected);
	CONNECTED(test_late_is_clear);
	CONNECTED(test_disconnects);
	CONNECTED(test_late_disturbs);
	return 0;
}
