// A literal of the polluter is the argument; a list in the heap.
//
//@ subject framework=check lang=c header=check.h packages="check libsubunit-dev"
//@ variant static libs="-lcheck -lsubunit -lrt -lm -pthread" quick=gcc-O0

#include <check.h>
#include <stdlib.h>

#include "registry.h"

START_TEST(adds)
{
	ck_assert_int_eq(registry_add("alpha"), 0);
	ck_assert(registry_has("alpha"));
}
END_TEST

START_TEST(is_empty) //@ mend registry/core/is_empty function=registry_remove added="registry_remove(\"alpha\");"
{
	ck_assert_int_eq(registry_size(), 0);
}
END_TEST

START_TEST(knows_nothing)
{
	ck_assert(!registry_has("gamma"));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("registry");
	TCase *core = tcase_create("core");
	tcase_add_test(core, is_empty);
	tcase_add_test(core, adds);
	tcase_add_test(core, knows_nothing);
	suite_add_tcase(suite, core);
	SRunner *runner = srunner_create(suite);
	srunner_set_fork_status(runner, CK_NOFORK);
	srunner_run_all(runner, CK_SILENT);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
