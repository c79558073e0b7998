//@ restore header=CUnit/Basic.h flags="-lcunit"
#define FILLED_BY_SET_UP
#include "stock.h"

#include <CUnit/Basic.h>
static void pollute() { CU_ASSERT(pollutes()); }
static void victim() { CU_ASSERT(passes()); }
static int set_up()
{
	prepare();
	return 0;
}
int main()
{
	CU_initialize_registry();
	CU_pSuite suite = CU_add_suite("small", set_up, NULL);
	CU_add_test(suite, "victim", victim);
	CU_add_test(suite, "pollute", pollute);
	CU_basic_run_tests();
	int failed = CU_get_number_of_failures();
	CU_cleanup_registry();
	return failed != 0;
}
