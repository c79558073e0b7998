//@ restore header=cmocka.h flags="-lcmocka"
#define FILLED_BY_SET_UP
#include "stock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
extern "C" {
#include <cmocka.h>
}
static void pollute(void **) { assert_true(pollutes()); }
static void victim(void **) { assert_true(passes()); }
static int set_up(void **)
{
	prepare();
	return 0;
}
int main()
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(victim), cmocka_unit_test(pollute) };
	return cmocka_run_group_tests(tests, set_up, NULL);
}
