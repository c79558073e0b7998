// A test cleans up with two of its many statements, which stand apart, with values that nobody would guess.
//
//@ subject framework=cunit lang=c header=CUnit/Basic.h packages="libcunit1-dev"
//@ variant shared libs="-lcunit" quick=gcc-O0

#include <CUnit/Basic.h>

#include "safe.h"

static void is_open(void) //@ mend safe/is_open added="safe_prepare(first);" also="safe_turn(1500, by);" lacks="safe_weight"
{
	CU_ASSERT(safe_is_open());
}

static void closes(void)
{
	safe_close(500);
	CU_ASSERT(!safe_is_open());
}

static void opens(void)
{
	int first = 1400 + 101, by = 70 + 7;
	CU_ASSERT(safe_weight(1) == 2);
	CU_ASSERT(safe_weight(2) == 4);
	CU_ASSERT(safe_weight(3) == 6);
	safe_prepare(first);
	CU_ASSERT(safe_weight(4) == 8);
	CU_ASSERT(safe_weight(5) == 10);
	CU_ASSERT(safe_weight(6) == 12);
	CU_ASSERT(safe_weight(7) == 14);
	CU_ASSERT(safe_weight(8) == 16);
	CU_ASSERT(safe_weight(9) == 18);
	CU_ASSERT(safe_weight(10) == 20);
	CU_ASSERT(safe_weight(11) == 22);
	CU_ASSERT(safe_weight(12) == 24);
	safe_turn(1500, by);
	CU_ASSERT(safe_is_open());
}

int main(void)
{
	CU_initialize_registry();
	CU_pSuite suite = CU_add_suite("safe", NULL, NULL);
	CU_add_test(suite, "is_open", is_open);
	CU_add_test(suite, "closes", closes);
	CU_add_test(suite, "opens", opens);
	CU_basic_set_mode(CU_BRM_SILENT);
	CU_basic_run_tests();
	int failed = (int)CU_get_number_of_failures();
	CU_cleanup_registry();
	return failed ? 1 : 0;
}
