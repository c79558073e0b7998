// A runner whose run_one(name, function) has the set-up and the tear-down, notes the name for messages, and reports. A
// table says which tests there are. In every order they run inside it.
//
//@ subject framework=functions lang=c
//@ variant plain quick=gcc-O0,clang-O2
//@ variant table cflags=-DTABLE quick=gcc-O2

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../runner.h"

#define FUNCTION __attribute__((noinline, noclone))

static const char *current; // only messages of failures need it
static int failures, done;
static char *folder; // the set-up's
static int level, late;

#define CHECK(condition)                                                       \
	do {                                                                   \
		if (!(condition)) {                                            \
			printf("%s: %s is false\n", current, #condition);      \
			failures++;                                            \
			return;                                                \
		}                                                              \
	} while (0)

FUNCTION void test_late_is_zero(void) //@ victim test_late_is_zero polluters=test_comes_late
{
	CHECK(folder && !late);
}

FUNCTION void test_writes(void)
{
	CHECK(folder && !strcmp(folder, "empty"));
	strcpy(folder, "full");
	TOUCH(folder);
}

FUNCTION void test_raises_level(void)
{
	CHECK(folder && !strcmp(folder, "empty"));
	level = 1;
	TOUCH(&level);
}

FUNCTION void test_level_is_zero(void) //@ victim test_level_is_zero polluters=test_raises_level
{
	CHECK(folder && !strcmp(folder, "empty") && !level);
}

FUNCTION void test_comes_late(void)
{
	CHECK(folder && !strcmp(folder, "empty"));
	late = 1;
	TOUCH(&late);
}

static FUNCTION void run_one(const char *name, void (*test)(void))
{
	int before = failures;
	current = name;
	folder = strdup("empty");
	TOUCH(&folder);
	test();
	free(folder);
	folder = NULL;
	TOUCH(&folder);
	done++;
	printf("%s: %s\n", name, failures > before ? "failed" : "passed");
}

#ifdef TABLE
static const struct {
	const char *name;
	void (*test)(void);
} table[] = {
	{ "late is zero", test_late_is_zero },	 { "level is zero", test_level_is_zero },
	{ "writes", test_writes },		 { "raises level", test_raises_level },
	{ "comes late", test_comes_late },
};

static void run_all(void)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		run_one(table[i].name, table[i].test);
}
#else
static void run_all(void)
{
	run_one("late is zero", test_late_is_zero);
	run_one("level is zero", test_level_is_zero);
	run_one("writes", test_writes);
	run_one("raises level", test_raises_level);
	run_one("comes late", test_comes_late);
}
#endif

int main(void)
{
	run_all();
	printf("%d tests, %d failed\n", done, failures);
	return failures != 0;
}
