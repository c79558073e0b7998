/* A runner that counts checks against its plan: without its tests it ends with 1. */
#include "verdict.h"

static int planned = 3, checks, failures;

#define CHECK(condition) (checks++, (condition) ? (void)0 : (void)failures++)

FUNCTION void test_passes(void)
{
	CHECK(level == 0);
	KEEP();
}

FUNCTION void test_fails(void)
{
#ifdef BREAKS
	CHECK(level != 0);
#else
	CHECK(level == 0);
#endif
	KEEP();
}

FUNCTION void test_passes_again(void)
{
	CHECK(level == 0);
	KEEP();
}

int main(void)
{
	test_passes();
	test_fails();
	test_passes_again();
	return failures || checks != planned;
}
