#include "unity.h"

#include "note.h"

void setUp(void) { note("setup"); }
void tearDown(void) { note("teardown"); }

static void with_one(void) { note("body"); }
static void with_fails(void)
{
	note("body");
	TEST_FAIL();
}
static void with_two(void) { note("body"); }

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(with_one);
	RUN_TEST(with_fails);
	RUN_TEST(with_two);
	return UNITY_END();
}
