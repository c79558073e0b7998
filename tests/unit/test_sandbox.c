/* What is read of the mounts; tests/robust/test_sandbox.py tests the rest. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "sandbox/sandbox_internal.h"

static struct sandbox_mounts parse_mounts(const char *text)
{
	struct sandbox_mounts mounts = {};
	char *copy = strdup(text);
	assert_non_null(copy);
	assert_null(sandbox_mounts_parse(copy, &mounts));
	free(copy);
	return mounts;
}

static void test_fields(void **state)
{
	struct sandbox_mounts mounts = parse_mounts(
		"23 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n"
		"24 23 0:22 / /proc rw,nosuid - proc proc rw\n"
		"25 23 0:31 / /usr ro,relatime master:3 - xfs /dev/vdb ro\n"
		"26 23 0:32 / /data rw,errors=ro - ext4 /dev/vdc rw\n");
	assert_int_equal(mounts.n, 4);
	assert_string_equal(mounts.data[0].path, "/");
	assert_true(mounts.data[0].has_files && !mounts.data[0].read_only);
	assert_string_equal(mounts.data[1].path, "/proc");
	assert_false(mounts.data[1].has_files);
	assert_true(mounts.data[2].has_files && mounts.data[2].read_only);
	assert_false(mounts.data[3].read_only);
	sandbox_mounts_free(&mounts);
	(void)state;
}

static void test_names(void **state)
{
	struct sandbox_mounts mounts = parse_mounts(
		"30 1 0:1 / /a\\040b\\011c\\134d rw - tmpfs none rw\n"
		"31 1 0:2 / /e\\9 rw - tmpfs none rw\n");
	assert_int_equal(mounts.n, 2);
	assert_string_equal(mounts.data[0].path, "/a b\tc\\d");
	assert_string_equal(mounts.data[1].path, "/e\\9");
	sandbox_mounts_free(&mounts);
	(void)state;
}

static void test_later_ones_hide(void **state)
{
	struct sandbox_mounts mounts =
		parse_mounts("40 1 0:1 / / rw - rootfs none rw\n"
			     "41 40 0:2 / / rw - ext4 /dev/vda rw\n"
			     "42 41 0:3 / /mnt rw - proc proc rw\n"
			     "43 42 0:4 / /mnt ro - tmpfs none rw\n");
	assert_int_equal(mounts.n, 2);
	assert_string_equal(mounts.data[0].path, "/");
	assert_string_equal(mounts.data[1].path, "/mnt");
	assert_true(mounts.data[1].has_files && mounts.data[1].read_only);
	sandbox_mounts_free(&mounts);
	(void)state;
}

static void test_garbage(void **state)
{
	struct sandbox_mounts mounts =
		parse_mounts("\n"
			     " - \n"
			     "1 2 3\n"
			     "1 2 3 4 5 6 - \n"
			     "1 2 3 / relative rw - ext4 d rw\n"
			     "1 2 3 / /good rw - ext4\n"
			     "1 2 3 / /bad rw ext4 none rw\n");
	assert_int_equal(mounts.n, 1);
	assert_string_equal(mounts.data[0].path, "/good");
	sandbox_mounts_free(&mounts);
	(void)state;
}

static void test_where_a_path_lies(void **state)
{
	struct sandbox_mounts mounts =
		parse_mounts("42 41 0:3 / /mnt/a rw - ext4 none rw\n"
			     "41 40 0:2 / / rw - ext4 /dev/vda rw\n"
			     "43 42 0:4 / /mnt/a/b ro - tmpfs none rw\n");
	assert_string_equal(sandbox_mounts_find(&mounts, "/mnt/a/bc")->path,
			    "/mnt/a");
	assert_string_equal(sandbox_mounts_find(&mounts, "/mnt/a/b/c")->path,
			    "/mnt/a/b");
	assert_string_equal(sandbox_mounts_find(&mounts, "/mnt")->path, "/");
	assert_true(sandbox_mounts_has(&mounts, "/mnt/a/b"));
	assert_false(sandbox_mounts_has(&mounts, "/mnt"));
	assert_true(sandbox_mounts_below(&mounts, "/mnt"));
	assert_true(sandbox_mounts_below(&mounts, "/"));
	assert_false(sandbox_mounts_below(&mounts, "/mnt/a/b"));
	assert_false(sandbox_mounts_below(&mounts, "/mn"));
	sandbox_mounts_free(&mounts);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_later_ones_hide),
		cmocka_unit_test(test_garbage),
		cmocka_unit_test(test_where_a_path_lies),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
