// A tear-down that is inlined into the runner is known from the return of the body, if it returns ("inlined").
//@ points static count=3 uses=unity
//@ points inlined count=3 uses=unity flags="-DOWN_RUN_TEST" without=with_fails
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

/* As Unity's script writes it into a runner. */
#ifdef OWN_RUN_TEST
static void run_test(UnityTestFunction function, const char *name,
		     UNITY_LINE_TYPE line)
{
	Unity.CurrentTestName = name;
	Unity.CurrentTestLineNumber = line;
	Unity.NumberOfTests++;
	if (TEST_PROTECT()) {
		setUp();
		function();
	}
	if (TEST_PROTECT())
		tearDown();
	UnityConcludeTest();
}
#undef RUN_TEST
#define RUN_TEST(function) run_test(function, #function, __LINE__)
#endif

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(with_one);
	RUN_TEST(with_fails);
	RUN_TEST(with_two);
	return UNITY_END();
}
