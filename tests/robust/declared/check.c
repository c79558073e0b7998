/* Two runners, the first with two suites, of which one has two test cases. */
#include <check.h>
#include <stdlib.h>

START_TEST(test_one)
{
}
END_TEST

START_TEST(test_two)
{
}
END_TEST

static Suite *add(const char *name, const char *first, const char *second)
{
	Suite *suite = suite_create(name);
	for (int i = 0; i < 2; i++) {
		const char *case_name = i ? second : first;
		if (!case_name)
			continue;
		TCase *tcase = tcase_create(case_name);
		tcase_add_test(tcase, test_one);
		tcase_add_test(tcase, test_two);
		suite_add_tcase(suite, tcase);
	}
	return suite;
}

int main(void)
{
	SRunner *first = srunner_create(add("A", "x", "y"));
	srunner_add_suite(first, add("B", "x", NULL));
	srunner_run_all(first, CK_SILENT);
	srunner_free(first);
	SRunner *second = srunner_create(add("C", "x", NULL));
	srunner_run_all(second, CK_SILENT);
	srunner_free(second);
	return EXIT_SUCCESS;
}
