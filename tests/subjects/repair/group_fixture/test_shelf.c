// What puts the state back is what the suite calls around all of its tests. The number that it draws then is another one
// each time, and no test changed that. A brittle test begins with a new fixture, so that nothing is done twice.
//
//@ subject framework=cunit lang=c header=CUnit/Basic.h packages="libcunit1-dev"
//@ variant plain cflags="-fno-inline" libs="-lcunit" quick=gcc-O0

#include <CUnit/Basic.h>

#include "shelf.h"

static struct shelf *shelf;

static void test_has_places(void) //@ mend shelf/test_has_places added="clean_shelf_tests();" also="init_shelf_tests();"
{
	CU_ASSERT_PTR_NOT_NULL_FATAL(shelf);
	CU_ASSERT(shelf->places == 4);
}

static void test_puts(void)
{
	int n;

	CU_ASSERT_PTR_NOT_NULL_FATAL(shelf);
	n = shelf_put(shelf, 7);
	CU_ASSERT(n > 0);
}

static void test_counts_one(void) //@ mend shelf/test_counts_one added="shelf_put(shelf, 7);" also="init_shelf_tests();" lacks="int n"
{
	CU_ASSERT_PTR_NOT_NULL_FATAL(shelf);
	CU_ASSERT(shelf_count(shelf, 7) == 1);
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
	CU_add_test(suite, "test_puts", test_puts);
	CU_add_test(suite, "test_counts_one", test_counts_one);
	CU_add_test(suite, "test_takes_down", test_takes_down);
	CU_basic_run_tests();
	return CU_get_number_of_failures() != 0;
}
