//@ points static count=5 flags="-l:libcunit.a"
//@ points shared count=5 flags="-lcunit"
#include <CUnit/Basic.h>

#include "note.h"

static void setup(void) { note("setup"); }
static void teardown(void) { note("teardown"); }
static void with_one(void) { note("body"); }
static void with_fails(void)
{
	note("body");
	CU_FAIL_FATAL("no");
}
static void with_two(void) { note("body"); }
static void plain_one(void) { note("body"); }

int main(void)
{
	CU_initialize_registry();
	CU_pSuite with = CU_add_suite_with_setup_and_teardown(
		"with", NULL, NULL, setup, teardown);
	CU_add_test(with, "with_one", with_one);
	CU_add_test(with, "with_fails", with_fails);
	CU_add_test(with, "with_two", with_two);
	CU_pSuite plain = CU_add_suite("plain", NULL, NULL);
	CU_add_test(plain, "plain_one", plain_one);
	CU_pSuite again = CU_add_suite_with_setup_and_teardown(
		"again", NULL, NULL, setup, teardown);
	CU_add_test(again, "with_three", with_two);
	CU_basic_run_tests();
	unsigned failed = CU_get_number_of_failures();
	CU_cleanup_registry();
	return failed != 0;
}
