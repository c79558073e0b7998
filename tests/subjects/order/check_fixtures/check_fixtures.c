// Check: test cases with unchecked fixtures, which run once for all of their tests; in one process (CK_FORK=no), where
// tests share what they leave.
//
//@ subject framework=check lang=c header=check.h
//@ variant plain libs="-lcheck -lsubunit -lrt -lm -pthread" quick=gcc-O0,clang-O2
//@ variant forks cflags="-DFORKS" libs="-lcheck -lsubunit -lrt -lm -pthread" builds=gcc-O2
//@ run any-order --any-order quick=no

#include <check.h>
#include <stdlib.h>
#include <string.h>

struct buffer {
	int used;
	char data[32];
};

static struct buffer *buffer; // made by the unchecked fixture
static int open_files;	      // balanced by the checked one
static int verbose;
static int prepared;

static void make_buffer(void)
{
	buffer = calloc(1, sizeof(*buffer));
}

static void drop_buffer(void)
{
	free(buffer);
	buffer = NULL;
}

static void open_file(void)
{
	open_files++;
}

static void close_file(void)
{
	open_files--;
}

START_TEST(starts_empty) //@ victim order/buffer/starts_empty polluters=order/buffer/fills
//@ cleaned order/buffer/starts_empty after=order/buffer/fills by=order/buffer/empties in=default
{
	ck_assert_int_eq(buffer->used, 0);
}
END_TEST

START_TEST(fills)
{
	strcpy(buffer->data, "data");
	buffer->used = 4;
}
END_TEST

START_TEST(reads) //@ brittle order/buffer/reads setters=order/buffer/fills
{
	ck_assert_int_eq(buffer->used, 4);
}
END_TEST

START_TEST(empties)
{
	buffer->used = 0;
}
END_TEST

START_TEST(no_buffer)
{
	ck_assert_ptr_null(buffer);
}
END_TEST

START_TEST(one_file)
{
	ck_assert_int_eq(open_files, 1);
}
END_TEST

START_TEST(still_one_file)
{
	ck_assert_int_eq(open_files, 1);
}
END_TEST

START_TEST(is_quiet) //@ victim order/plain/is_quiet polluters=order/plain/talks|last/last/talks_more polluted=verbose
{
	ck_assert_int_eq(verbose, 0);
}
END_TEST

START_TEST(talks)
{
	verbose = 1;
}
END_TEST

START_TEST(talks_more)
{
	verbose = 2;
}
END_TEST

START_TEST(prepares)
{
	prepared = 1;
}
END_TEST

START_TEST(is_prepared) //@ brittle last/last/is_prepared setters=last/last/prepares polluted=prepared
{
	ck_assert_int_eq(prepared, 1);
}
END_TEST

int main(void)
{
	Suite *order = suite_create("order"), *last = suite_create("last");
	TCase *plain = tcase_create("plain");
	tcase_add_test(plain, is_quiet);
	tcase_add_test(plain, no_buffer);
	tcase_add_test(plain, talks);
	suite_add_tcase(order, plain);
	TCase *with_buffer = tcase_create("buffer");
	tcase_add_unchecked_fixture(with_buffer, make_buffer, drop_buffer);
	tcase_add_test(with_buffer, starts_empty);
	tcase_add_test(with_buffer, fills);
	tcase_add_test(with_buffer, reads);
	tcase_add_test(with_buffer, empties);
	suite_add_tcase(order, with_buffer);
	TCase *files = tcase_create("files");
	tcase_add_checked_fixture(files, open_file, close_file);
	tcase_add_test(files, one_file);
	tcase_add_test(files, still_one_file);
	suite_add_tcase(order, files);
	TCase *end = tcase_create("last");
	tcase_add_test(end, talks_more);
	tcase_add_test(end, prepares);
	tcase_add_test(end, is_prepared);
	suite_add_tcase(last, end);
	SRunner *runner = srunner_create(order);
	srunner_add_suite(runner, last);
#ifndef FORKS
	srunner_set_fork_status(runner, CK_NOFORK);
#endif
	srunner_run_all(runner, CK_SILENT);
	srunner_free(runner);
	return 0;
}
