// cmocka: what the fixtures of a test and of the group do to files and process state.
//
//@ subject framework=cmocka lang=c header=cmocka.h where=file
//@ variant plain libs="-lcmocka" quick=clang-O2

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "../files.h"

static int group_set_up(void **state)
{
	(void)state;
	mkdir("group", 0755);
	write_file("group/data.txt", "data");
	return 0;
}

static int group_tear_down(void **state)
{
	(void)state;
	unlink("group/data.txt");
	return rmdir("group");
}

static int set_up(void **state)
{
	(void)state;
	umask(077);
	mkdir("scratch", 0700);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	unlink("scratch/a.txt");
	umask(022);
	return rmdir("scratch");
}

static void test_scratch(void **state) //@ clean files/test_scratch //@ clean files/test_scratch#2
{
	(void)state;
	write_file("scratch/a.txt", "a");
}

static void test_reads_group(void **state) //@ clean files/test_reads_group
{
	(void)state;
	char text[8];
	assert_string_equal(read_file("group/data.txt", text, sizeof(text)), "data");
}

static void test_leaves(void **state) //@ pollutes files/test_leaves left.txt left.txt before=absent
{
	(void)state;
	write_file("left.txt", "left");
}

static void test_umask(void **state) //@ pollutes files/test_umask umask umask where=process before=...022 after=...027 severity=high
{
	(void)state;
	umask(027);
}

int main(void)
{
	umask(022);
	const struct CMUnitTest files[] = {
		cmocka_unit_test_setup_teardown(test_scratch, set_up, tear_down),
		cmocka_unit_test(test_reads_group),
		cmocka_unit_test(test_leaves),
		cmocka_unit_test_setup_teardown(test_scratch, set_up, tear_down),
		cmocka_unit_test(test_umask),
	};
	return cmocka_run_group_tests(files, group_set_up, group_tear_down);
}
