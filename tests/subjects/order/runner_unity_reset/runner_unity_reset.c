// Unity, with a main() that resets a variable before each test, and prints: every order is tried, and no test depends on
// what the reset takes away.
//
//@ subject framework=unity lang=c
//@ variant plain uses=unity quick=gcc-O0,clang-O2

#include <stdio.h>
#include <unity.h>

static volatile int state; // main() resets it
static int other;

void setUp(void)
{
}

void tearDown(void)
{
}

static void test_state_is_clear(void)
{
	TEST_ASSERT_EQUAL(0, state);
}

static void test_other_is_clear(void) //@ victim test_other_is_clear polluters=test_sets_both
{
	TEST_ASSERT_EQUAL(0, other);
}

static void test_sets_state(void)
{
	TEST_ASSERT_EQUAL(0, state);
	state = 1;
}

static void test_sets_both(void)
{
	TEST_ASSERT_EQUAL(0, state);
	state = other = 1;
}

#define RUN(test)               \
	do {                    \
		state = 0;      \
		puts(#test);    \
		RUN_TEST(test); \
	} while (0)

int main(void)
{
	UNITY_BEGIN();
	RUN(test_state_is_clear);
	RUN(test_other_is_clear);
	RUN(test_sets_state);
	RUN(test_sets_both);
	return UNITY_END();
}
