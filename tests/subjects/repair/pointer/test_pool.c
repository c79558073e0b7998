// The function takes a pointer, which a getter gives.
//
//@ subject framework=cmocka lang=c header=cmocka.h packages="libcmocka-dev"
//@ variant shared libs="-lcmocka" quick=clang-O2

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "pool.h"

static void takes(void **state)
{
	(void)state;
	assert_true(pool_take(pool_default()) > 0);
}

static void starts_unused(void **state) //@ mend pool/starts_unused function=pool_drain added="pool_drain(pool_default());"
{
	(void)state;
	assert_int_equal(pool_used(pool_default()), 0);
}

int main(void)
{
	const struct CMUnitTest pool[] = {
		cmocka_unit_test(starts_unused),
		cmocka_unit_test(takes),
	};
	return cmocka_run_group_tests_name("pool", pool, NULL, NULL);
}
