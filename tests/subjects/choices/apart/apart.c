// What is no finding beside what is one: a test that fails at random, and calls that are none of the program's, of Check
// itself and of the C library.
//
//@ subject framework=check lang=c header=check.h prefix=apart/all/
//@ variant plain cflags="-fno-builtin" libs="-lcheck -lsubunit -lrt -lm -pthread" quick=gcc-O0
//@ run default --baselines 6
//@ random at_random
//@ unmet readdir scandir qsort_r

#include <check.h>
#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// glob() without GLOB_NOSORT reads a directory and sorts: calls of the C library.
START_TEST(calls_of_libc)
{
	glob_t found;
	ck_assert_int_eq(glob("/proc/self/s*", 0, NULL, &found), 0);
	for (size_t i = 1; i < found.gl_pathc; i++)
		ck_assert_int_lt(strcmp(found.gl_pathv[i - 1], found.gl_pathv[i]), 0);
	globfree(&found);
}
END_TEST

// Names of tests are compared by Check, and texts by its assertions.
START_TEST(calls_of_check)
{
	ck_assert_str_eq("text", "text");
	ck_assert_str_lt("a", "b");
	ck_assert_mem_eq("text", "text", 4);
}
END_TEST

START_TEST(at_random)
{
	unsigned char byte = 0;
	int fd = open("/dev/urandom", O_RDONLY);
	ck_assert_int_eq(read(fd, &byte, 1), 1);
	close(fd);
	ck_assert_int_lt(byte, 140);
}
END_TEST

// Only the sign counts.
START_TEST(compares_with_one)
{
	const char *volatile a = "abd", *volatile b = "abc";
	int order = strcmp(a, b); //@ assumption compares_with_one api=strcmp
	ck_assert_int_eq(order, 1);
}
END_TEST

START_TEST(compares_sign)
{
	const char *volatile a = "abd", *volatile b = "abc";
	ck_assert_int_gt(strcmp(a, b), 0);
	ck_assert_int_lt(strcmp(b, a), 0);
}
END_TEST

START_TEST(in_order)
{
	int numbers[] = { 3, 1, 2 };
	for (int i = 0; i < 3; i++)
		ck_assert_int_gt(numbers[i], 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("apart");
	TCase *one = tcase_create("all");
	tcase_add_test(one, calls_of_libc);
	tcase_add_test(one, calls_of_check);
	tcase_add_test(one, at_random);
	tcase_add_test(one, compares_with_one);
	tcase_add_test(one, compares_sign);
	tcase_add_test(one, in_order);
	suite_add_tcase(suite, one);
	SRunner *runner = srunner_create(suite);
	srunner_set_fork_status(runner, CK_NOFORK);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
