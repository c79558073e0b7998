/* Tests that abort where they fail: their verdict is known, whatever the exit status says. */
#include "verdict.h"

#undef NDEBUG
#include <assert.h>

FUNCTION void test_one(void)
{
	assert(level == 0);
}

FUNCTION void test_two(void)
{
	assert(level < 1);
}

int main(void)
{
	test_one();
	test_two();
	printf("done\n");
	return 0;
}
