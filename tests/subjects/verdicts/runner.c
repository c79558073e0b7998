// The runner. With arguments it runs only the tests named there and says what became of each, for those who compare.
#include "verdicts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int tests_run;

// How much the tests have complained so far.
#if defined(STYLE_COUNT) || defined(STYLE_NUMBER) || defined(STYLE_PRINTED) || defined(STYLE_RETURN) || \
	defined(STYLE_LOCAL_THREAD)
static long complaints(void)
{
	return failures;
}
static void reset(void)
{
}
#elif defined(STYLE_STRUCT)
static long complaints(void)
{
	return stats->failed;
}
static void reset(void)
{
}
#elif defined(STYLE_FLAG)
static long complaints(void)
{
	return !all_is_well;
}
static void reset(void)
{
}
#elif defined(STYLE_TAP)
extern int bad_points;
static long complaints(void)
{
	return bad_points;
}
static void reset(void)
{
}
#elif defined(STYLE_LIST)
struct problem {
	struct problem *next;
	const char *text;
	int line;
};
extern struct problem *problems;
static long complaints(void)
{
	long n = 0;
	for (const struct problem *it = problems; it; it = it->next)
		n++;
	return n;
}
static void reset(void)
{
}
#elif defined(STYLE_OUTCOME)
enum outcome { FAIL = 0, OK = 1, SKIP = 2 };
extern enum outcome cur_test_outcome;
static int bad;
static long complaints(void)
{
	return bad + (cur_test_outcome == FAIL);
}
static void reset(void)
{
	bad += tests_run && cur_test_outcome == FAIL;
	cur_test_outcome = OK;
}
#elif defined(STYLE_LIBRARY)
int count_errors(void);
static long complaints(void)
{
	return count_errors();
}
static void reset(void)
{
}
#endif

#define TEST(name) RESULT name(void);
#define TESTS                  \
	TEST(test_passes)      \
	TEST(test_fails)       \
	TEST(test_level_is_zero) \
	TEST(test_checks_a_lot) \
	TEST(test_fails_twice) \
	TEST(test_sets_level)  \
	TEST(test_fails_late)  \
	TEST(test_passes_at_last)
TESTS
#undef TEST
#define TEST(name) { #name, name },
static const struct {
	const char *name;
	RESULT (*function)(void);
} tests[] = { TESTS };

static int is_wanted(char **names, const char *name)
{
	if (!*names)
		return 1;
	while (*names && strcmp(*names, name) != 0)
		names++;
	return *names != NULL;
}

static FUNCTION void run_test(size_t i, int tell)
{
	reset();
	long before = complaints();
	tests[i].function();
	tests_run++;
#ifdef STYLE_FLAG
	// Only in a plain run: the flag is never reset otherwise.
	if (tell) {
		printf("%s... %s\n", tests[i].name, all_is_well ? "ok" : "failed");
		all_is_well = true;
	}
#else
	if (tell)
		printf("%s... %s\n", tests[i].name, complaints() == before ? "ok" : "failed");
#endif
	(void)before;
}

int main(int argc, char **argv)
{
#ifdef STYLE_STRUCT
	stats = calloc(1, sizeof(*stats));
#endif
#ifdef STYLE_OUTCOME
	cur_test_outcome = OK;
#endif
#ifdef STYLE_TAP
	printf("1..308\n");
	fflush(stdout);
#endif
	for (size_t i = 0; i < sizeof(tests) / sizeof(*tests); i++) {
		if (is_wanted(argv + 1, tests[i].name))
			run_test(i, argc > 1);
	}
#if defined(STYLE_PRINTED)
	printf("Tests run: %d, checks: %d (%d good)\nTests failed: %ld\n", tests_run, checks, passes, complaints());
	return 0;
#elif defined(STYLE_TAP)
	return 0;
#elif defined(STYLE_NUMBER) || defined(STYLE_LIST)
	return (int)complaints();
#else
	return complaints() != 0;
#endif
}
