/* With open handles the program ends with 1: state of the tests, which they restore, and no verdict. */
#include "verdict.h"

static int handles, failures;

FUNCTION void test_open(void)
{
	handles++;
	failures += handles != 1;
	KEEP();
}

FUNCTION void test_use(void)
{
	failures += handles != 1;
	KEEP();
}

FUNCTION void test_close(void)
{
	handles--;
	failures += handles != 0;
	KEEP();
}

int main(void)
{
	test_open();
	test_use();
	test_close();
	return failures || handles;
}
