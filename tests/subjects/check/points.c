//@ points static count=3 flags="-lcheck -lsubunit -lrt -lm -pthread"
#include <check.h>

#include "note.h"

static void setup(void) { note("setup"); }
static void teardown(void) { note("teardown"); }

START_TEST(with_one) { note("body"); }
END_TEST
START_TEST(with_fails)
{
	note("body");
	ck_assert_int_eq(1, 2);
}
END_TEST
START_TEST(plain_one) { note("body"); }
END_TEST

int main(void)
{
	Suite *suite = suite_create("S");
	TCase *with = tcase_create("With"), *plain = tcase_create("Plain");
	tcase_add_checked_fixture(with, setup, teardown);
	tcase_add_test(with, with_one);
	tcase_add_test(with, with_fails);
	tcase_add_test(plain, plain_one);
	suite_add_tcase(suite, with);
	suite_add_tcase(suite, plain);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
