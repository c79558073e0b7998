//@ restore header=check.h flags="-lcheck -lsubunit -lm -lrt -lpthread"
#define FILLED_BY_SET_UP
#include "stock.h"

#include <check.h>
START_TEST(pollute) { ck_assert(pollutes()); }
END_TEST
START_TEST(victim) { ck_assert(passes()); }
END_TEST
int main()
{
	Suite *suite = suite_create("small");
	TCase *tcase = tcase_create("core");
	tcase_add_unchecked_fixture(tcase, prepare, NULL);
	tcase_add_test(tcase, victim);
	tcase_add_test(tcase, pollute);
	suite_add_tcase(suite, tcase);
	SRunner *runner = srunner_create(suite);
	srunner_set_fork_status(runner, CK_NOFORK);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
