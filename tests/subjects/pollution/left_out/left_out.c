// A hand-written runner, and no framework: names that frameworks use are the project's own. What the runner counts is left
// out, and said.
//
//@ subject framework=functions lang=c
//@ variant plain quick=gcc-O0,clang-O2
//@ says "2 variables that the runner counts or judges by: checks_made, tests_run"

#include "../runner.h"

#include <stdio.h>

int global_counter;
int cm_state;
int UnityAssets;
int munit_level;
int __reserved;
struct TestResult {
	int n;
} last_result;
static int tests_run, checks_made;

#define CHECK(condition) (checks_made++, assert(condition))

TEST(test_global) //@ pollutes test_global global_counter global_counter before=0 after=1
{
	global_counter++;
}

TEST(test_prefix) //@ pollutes test_prefix cm_state cm_state
{
	cm_state++;
}

TEST(test_unity) //@ pollutes test_unity UnityAssets UnityAssets
{
	UnityAssets++;
}

TEST(test_munit) //@ pollutes test_munit munit_level munit_level
{
	munit_level++;
}

TEST(test_reserved) //@ pollutes test_reserved __reserved __reserved
{
	__reserved++;
}

TEST(test_type) //@ pollutes test_type last_result last_result.n
{
	last_result.n++;
}

TEST(test_counts) //@ clean test_counts
{
	tests_run++;
	CHECK(tests_run > 0);
}

int main(void)
{
	int status = runner_main();
	printf("%d tests, %d checks\n", tests_run, checks_made);
	return status;
}
