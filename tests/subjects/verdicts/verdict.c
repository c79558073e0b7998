// What the runner and the tests share, in a file of its own.
#include "verdicts.h"

#include <stdio.h>
#include <stdlib.h>

int checks, passes;

#if defined(STYLE_COUNT) || defined(STYLE_NUMBER) || defined(STYLE_PRINTED) || defined(STYLE_RETURN)
int failures;
#elif defined(STYLE_LOCAL_THREAD)
_Thread_local int failures;
#elif defined(STYLE_STRUCT)
struct stats *stats;
#elif defined(STYLE_FLAG)
bool all_is_well = true;
#elif defined(STYLE_TAP)
int points, bad_points;

FUNCTION void ok(int condition, const char *name)
{
	bad_points += !condition;
	printf("%s %d - %s\n", condition ? "ok" : "not ok", ++points, name);
}
#elif defined(STYLE_LIST)
struct problem {
	struct problem *next;
	const char *text;
	int line;
};
struct problem *problems;
static struct problem **last_problem = &problems;

FUNCTION void check_failed(const char *text, int line)
{
	struct problem *problem = calloc(1, sizeof(*problem));
	problem->text = text;
	problem->line = line;
	*last_problem = problem;
	last_problem = &problem->next;
}
#elif defined(STYLE_OUTCOME)
enum outcome { FAIL = 0, OK = 1, SKIP = 2 };
enum outcome cur_test_outcome;

FUNCTION void check_failed(const char *text, int line)
{
	fprintf(stderr, "FAIL line %d: %s\n", line, text);
	cur_test_outcome = FAIL;
}
#elif defined(STYLE_LIBRARY)
static int errors_seen;

FUNCTION void check_failed(const char *text, int line)
{
	fprintf(stderr, "line %d: %s\n", line, text);
	errors_seen++;
}

int count_errors(void)
{
	return errors_seen;
}
#endif
