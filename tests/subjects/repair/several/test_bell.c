// One polluter and several victims: it is the polluter that cleans up.
//
//@ subject framework=cmocka lang=c header=cmocka.h packages="libcmocka-dev"
//@ variant shared libs="-lcmocka" quick=gcc-O0

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bell.h"

static void rings(void **state)
{
	(void)state;
	bell_ring();
	assert_true(bell_count() > 0);
}

static void is_silent(void **state) //@ mend bell/is_silent added="bell_reset();" says="at the end of bell/rings"
{
	(void)state;
	assert_int_equal(bell_count(), 0);
}

static void counts_from_zero(void **state) //@ mend bell/counts_from_zero added="bell_reset();" says="at the end of bell/rings"
{
	(void)state;
	assert_true(bell_count() < 1);
}

int main(void)
{
	const struct CMUnitTest bell[] = {
		cmocka_unit_test(is_silent),
		cmocka_unit_test(counts_from_zero),
		cmocka_unit_test(rings),
	};
	return cmocka_run_group_tests(bell, NULL, NULL);
}
