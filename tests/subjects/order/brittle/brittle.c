// Unity: tests that pass only after others: after one, after one of several, after a chain in which each needs the one
// before; in natural order, and against it.
//
//@ subject framework=unity lang=c
//@ variant plain uses=unity quick=gcc-O0,clang-O2
//@ run any-order --any-order quick=no

#include <unity.h>

#include <stdlib.h>
#include <string.h>

static int logged_in;	  // one setter
static int base, ready;	  // a chain
static char *user;	  // several setters
static int late;	  // a setter that comes later
static int steps;	  // a chain whose tests pass on their own
static int unrelated;

void setUp(void)
{
}

void tearDown(void)
{
}

static void test_innocent(void)
{
	TEST_ASSERT_EQUAL(4, 2 + 2);
}

static void test_late_is_set(void) //@ brittle test_late_is_set setters=test_sets_late polluted=late
{
	TEST_ASSERT_EQUAL(1, late);
}

static void test_logs_in(void)
{
	logged_in = 1;
	unrelated++;
}

static void test_sees_inbox(void) //@ brittle test_sees_inbox setters=test_logs_in polluted=logged_in
{
	TEST_ASSERT_EQUAL(1, logged_in);
}

static void test_lays_base(void)
{
	base = 1;
}

// Itself brittle.
static void test_builds_on_base(void) //@ brittle test_builds_on_base setters=test_lays_base polluted=base
{
	TEST_ASSERT_EQUAL(1, base);
	ready = 1;
}

static void test_first_step(void)
{
	steps |= 1;
}

static void test_uses_building(void) //@ brittle test_uses_building setters=test_lays_base,test_builds_on_base polluted=ready
{
	TEST_ASSERT_EQUAL(1, ready);
}

static void test_makes_user(void)
{
	user = strdup("somebody");
}

static void test_makes_guest(void)
{
	user = strdup("guest");
	unrelated++;
}

static void test_second_step(void)
{
	if (steps == 1)
		steps = 2;
}

static void test_user_is_there(void) //@ brittle test_user_is_there setters=test_makes_user|test_makes_guest polluted=user
{
	TEST_ASSERT_NOT_NULL(user);
}

static void test_third_step(void)
{
	if (steps == 2)
		steps = 4;
}

static void test_all_steps(void) //@ brittle test_all_steps setters=test_first_step,test_second_step,test_third_step polluted=steps
{
	TEST_ASSERT_EQUAL(4, steps);
}

static void test_sets_late(void)
{
	late = 1;
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(test_innocent);
	RUN_TEST(test_late_is_set);
	RUN_TEST(test_logs_in);
	RUN_TEST(test_sees_inbox);
	RUN_TEST(test_lays_base);
	RUN_TEST(test_builds_on_base);
	RUN_TEST(test_first_step);
	RUN_TEST(test_uses_building);
	RUN_TEST(test_makes_user);
	RUN_TEST(test_makes_guest);
	RUN_TEST(test_second_step);
	RUN_TEST(test_user_is_there);
	RUN_TEST(test_third_step);
	RUN_TEST(test_all_steps);
	RUN_TEST(test_sets_late);
	return UNITY_END();
}
