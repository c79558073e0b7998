// Void tests that count failures, list them, or clear a flag: `order` sees their failures, names who is to blame, and nobody
// else: neither a test that failed before nor what the runner counts makes another test pass or fail.
//
//@ subject framework=functions lang=c
//@ variant count cflags=-DSTYLE_COUNT quick=gcc-O0,clang-O2
//@ variant list cflags=-DSTYLE_LIST builds=gcc-O0,gcc-O2,clang-O2 quick=gcc-O2
//@ variant flag cflags=-DSTYLE_FLAG builds=gcc-O0,clang-O0,clang-O2 quick=gcc-O0
//@ variant hidden cflags=-DSTYLE_HIDDEN builds=gcc-O0,clang-O2 quick=clang-O2

#include <stdio.h>
#include <stdlib.h>

#define FUNCTION __attribute__((noinline))
#define KEEP() __asm__ volatile("" ::: "memory")

static int checks;

#if defined(STYLE_LIST)
struct problem {
	const char *text;
	struct problem *next;
};
static struct problem *problems;

static FUNCTION void check_failed(const char *text)
{
	struct problem *problem = calloc(1, sizeof(*problem));
	problem->text = text;
	problem->next = problems;
	problems = problem;
}
#define CHECK(condition) (checks++, (condition) ? (void)0 : check_failed(#condition))
#define FAILED (problems != NULL)
#elif defined(STYLE_FLAG)
static int all_is_well = 1;
#define CHECK(condition) (checks++, (condition) ? (void)0 : (void)(all_is_well = 0))
#define FAILED (!all_is_well)
#elif defined(STYLE_HIDDEN)
// In a block without a type: only the exit status tells.
static char *hidden;
#define CHECK(condition) (checks++, (condition) ? (void)0 : (void)(((volatile char *)hidden)[77] = 1))
#define FAILED (((volatile char *)hidden)[77])
#else
static int failures;
#define CHECK(condition) (checks++, (condition) ? (void)0 : (void)failures++)
#define FAILED (failures != 0)
#endif

static volatile int level, ready;

FUNCTION void test_level_is_zero(void) //@ victim test_level_is_zero polluters=test_raises_level
{
	CHECK(level == 0);
	KEEP();
}

FUNCTION void test_gets_ready(void)
{
	ready = 1;
	CHECK(ready == 1);
	KEEP();
}

FUNCTION void test_is_ready(void) //@ brittle test_is_ready setters=test_gets_ready
{
	CHECK(ready == 1);
	KEEP();
}

FUNCTION void test_innocent(void)
{
	CHECK(ready >= 0);
	KEEP();
}

FUNCTION void test_raises_level(void)
{
	level = 3;
	CHECK(level == 3);
	KEEP();
}

int main(void)
{
#ifdef STYLE_HIDDEN
	hidden = calloc(1, 4096);
#endif
	test_level_is_zero();
	test_gets_ready();
	test_is_ready();
	test_innocent();
	test_raises_level();
	printf("%d checks\n", checks);
	return FAILED;
}
