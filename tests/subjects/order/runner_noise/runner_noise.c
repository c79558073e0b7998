// A hand-written runner that is busy between its tests: it asks the clock, prints, counts, keeps the name of the running
// test and writes a log. No test looks at any of that, so every order is tried.
//
//@ subject framework=functions lang=c
//@ variant plain quick=gcc-O0,clang-O2
//@ variant nodebug debug=none builds=gcc-O0

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "../runner.h"

#define FUNCTION __attribute__((noinline, noclone))

static int level;
static int late;
static int times;

// The runner's own.
static int count;
static char current[32];
static time_t began;
static struct {
	const char *name;
	double seconds;
} results[8];

FUNCTION void test_late_is_zero(void) //@ victim test_late_is_zero polluters=test_comes_late
{
	assert(!late);
}

FUNCTION void test_raises_level(void)
{
	level = 3;
	TOUCH(&level);
}

FUNCTION void test_innocent(void)
{
}

FUNCTION void test_level_is_zero(void) //@ victim test_level_is_zero polluters=test_raises_level
{
	assert(level == 0);
}

FUNCTION void test_once(void) //@ non-idempotent test_once
{
	assert(!times++);
	TOUCH(&times);
}

FUNCTION void test_comes_late(void)
{
	late = 1;
	TOUCH(&late);
}

static const struct {
	const char *name;
	void (*function)(void);
} tests[] = {
	{ "late_is_zero", test_late_is_zero }, { "raises_level", test_raises_level },
	{ "innocent", test_innocent },	       { "level_is_zero", test_level_is_zero },
	{ "once", test_once },		       { "comes_late", test_comes_late },
};

static FUNCTION void note_begin(const char *name)
{
	began = time(NULL);
	snprintf(current, sizeof(current), "%s", name);
	printf("%d: %s\n", ++count, current);
}

static FUNCTION void note_end(const char *name)
{
	results[count - 1].name = name;
	results[count - 1].seconds = (double)clock() / CLOCKS_PER_SEC;
	FILE *log = fopen("runner.log", "a");
	if (log) {
		fprintf(log, "%s %ld\n", name, (long)(time(NULL) - began));
		fclose(log);
	}
}

int main(void)
{
	for (size_t i = 0; i < sizeof(tests) / sizeof(*tests); i++) {
		note_begin(tests[i].name);
		tests[i].function();
		note_end(tests[i].name);
	}
	printf("%d tests, last %s\n", count, results[count - 1].name);
	return 0;
}
