// Unity, with a main() that does something between its tests: those before it and those after it run in places of their
// own, in any order there.
//
//@ subject framework=unity lang=c pairs=no
//@ variant plain uses=unity quick=gcc-O0,clang-O2
//@ says "the runner changes 'connected' between its tests: 6 of 20 pairs were not tried"

#include <unity.h>

static int connected; // main() does it
static int level;
static int late;

void setUp(void)
{
}

void tearDown(void)
{
}

static void test_late_is_zero(void)
{
	TEST_ASSERT_EQUAL(0, late);
}

static void test_is_off(void)
{
	TEST_ASSERT_EQUAL(0, connected);
}

static void test_is_on(void)
{
	TEST_ASSERT_EQUAL(1, connected);
	level = 1;
}

static void test_level_is_zero(void) //@ victim test_level_is_zero polluters=test_is_on
{
	TEST_ASSERT_EQUAL(0, level);
}

static void test_comes_late(void)
{
	late = 1;
}

static __attribute__((noinline)) void connect(void)
{
	connected = 1;
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(test_late_is_zero);
	RUN_TEST(test_is_off);
	connect();
	RUN_TEST(test_is_on);
	RUN_TEST(test_level_is_zero);
	RUN_TEST(test_comes_late);
	return UNITY_END();
}
