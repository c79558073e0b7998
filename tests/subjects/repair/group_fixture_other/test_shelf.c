// As group_fixture, but the set-up makes another shelf from the second time on: that is not what was there.
//
//@ subject framework=cunit lang=c header=CUnit/Basic.h packages="libcunit1-dev"
//@ variant plain cflags="-fno-inline" libs="-lcunit" quick=gcc-O0

#include <CUnit/Basic.h>

#include "shelf.h"

static struct shelf *shelf;

static void test_has_places(void) //@ unproven shelf/test_has_places added="init_shelf_tests();" says="; not proven: "
{
	CU_ASSERT_PTR_NOT_NULL_FATAL(shelf);
	CU_ASSERT(shelf->places > 1);
}

static void test_takes_down(void)
{
	shelf_free(shelf);
	shelf = NULL;
}

static int init_shelf_tests(void)
{
	shelf = shelf_new(4);
	return 0;
}

static int clean_shelf_tests(void)
{
	shelf_free(shelf);
	shelf = NULL;
	return 0;
}

int main(void)
{
	CU_initialize_registry();
	CU_pSuite suite = CU_add_suite("shelf", init_shelf_tests, clean_shelf_tests);
	CU_add_test(suite, "test_has_places", test_has_places);
	CU_add_test(suite, "test_takes_down", test_takes_down);
	CU_basic_run_tests();
	return CU_get_number_of_failures() != 0;
}
