// An enumerator is the argument: of several that let the test pass, the value that was there before.
//
//@ subject framework=cunit lang=c header=CUnit/Basic.h packages="libcunit1-dev"
//@ variant shared libs="-lcunit" quick=gcc-O0

#include <CUnit/Basic.h>

#include "mode.h"

static void goes_fast(void)
{
	mode_set(MODE_FAST);
	CU_ASSERT_EQUAL(mode_get(), MODE_FAST);
}

static void is_not_fast(void) //@ mend mode/is_not_fast function=mode_set added="mode_set(MODE_SAFE);"
{
	CU_ASSERT_NOT_EQUAL(mode_get(), MODE_FAST);
}

int main(void)
{
	CU_initialize_registry();
	CU_pSuite suite = CU_add_suite("mode", NULL, NULL);
	CU_add_test(suite, "is_not_fast", is_not_fast);
	CU_add_test(suite, "goes_fast", goes_fast);
	CU_basic_run_tests();
	unsigned failed = CU_get_number_of_failures();
	CU_cleanup_registry();
	return failed ? 1 : 0;
}
