// What tests tell their runner is not state that they share: the counter of failures, the list of them with its end, the
// counter of checks that is printed. A variable that tests use as well is.

#include <stdio.h>
#include <stdlib.h>

#define FUNCTION __attribute__((noinline))
#define KEEP() __asm__ volatile("" ::: "memory")

static int checks, tests_run;

#ifdef STYLE_LIST
struct problem {
	const char *text;
	struct problem *next;
};
static struct problem *problems, **last_problem = &problems;

static FUNCTION void check_failed(const char *text)
{
	struct problem *problem = calloc(1, sizeof(*problem));
	problem->text = text;
	*last_problem = problem;
	last_problem = &problem->next;
}
static int count_problems(void)
{
	int n = 0;
	for (const struct problem *it = problems; it; it = it->next)
		n++;
	return n;
}
#define FAILED count_problems()
#else
static int failures;
#define check_failed(text) ((void)failures++)
#define FAILED failures
#endif
#define CHECK(condition) (checks++, (condition) ? (void)0 : check_failed(#condition))

static volatile int level;

FUNCTION void test_passes(void)
{
	CHECK(level == 0);
	KEEP();
}

FUNCTION void test_fails(void)
{
	CHECK(level == 1);
	KEEP();
}

FUNCTION void test_raises_level(void)
{
	level = 3;
	CHECK(level == 3);
	KEEP();
}

FUNCTION void test_fails_again(void)
{
	CHECK(level == 1);
	KEEP();
}

int main(void)
{
	test_passes();
	tests_run++;
	test_fails();
	tests_run++;
	test_raises_level();
	tests_run++;
	test_fails_again();
	tests_run++;
	printf("%d tests, %d checks\nTests failed: %d\n", tests_run, checks, FAILED);
	return 0;
}
