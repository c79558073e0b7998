//@ restore
#include "stock.h"

/* The exit status tells. */
static int failures;
extern "C" __attribute__((noinline)) void test_victim(void) { failures += !passes(); }
extern "C" __attribute__((noinline)) void test_pollute(void) { failures += !pollutes(); }
int main()
{
	test_victim();
	test_pollute();
	return failures;
}
