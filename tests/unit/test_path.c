#include "unit.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"

static void joined(const char *folder, const char *name, const char *out)
{
	_cleanup_(freep) char *path = NULL;
	assert_ok(path_join(folder, name, &path));
	assert_string_equal(path, out);
}

static void test_join(void **state)
{
	(void)state;
	joined("a", "b", "a/b");
	joined("a/", "b", "a/b");
	joined("/", "b", "/b");
	joined("a", "/b", "/b");
}

static void test_base(void **state)
{
	(void)state;
	assert_string_equal(path_base("/usr/bin/env"), "env");
	assert_string_equal(path_base("env"), "env");
	assert_string_equal(path_base("bin/"), "");
}

static void displayed(const char *folder, const char *path, const char *out)
{
	_cleanup_(freep) char *shown = NULL;
	assert_ok(path_display(folder, path, &shown));
	assert_string_equal(shown, out);
}

static void test_display(void **state)
{
	(void)state;
	int here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(here >= 0);
	assert_int_equal(chdir("/usr/lib"), 0);
	displayed(NULL, "a.c", "a.c");
	displayed(NULL, "./x/../a.c", "a.c");
	displayed(NULL, "/usr/lib/x/a.c", "x/a.c");
	displayed("x", "a.c", "x/a.c");
	displayed("/usr/lib/x", "../a.c", "a.c");
	/* Not below: absolute. */
	displayed(NULL, "../a.c", "/usr/a.c");
	displayed(NULL, "/usr/library/a.c", "/usr/library/a.c");
	displayed("/etc", "a.c", "/etc/a.c");
	displayed(NULL, "/../..", "/");
	displayed(NULL, "..", "/usr");
	assert_int_equal(chdir("/"), 0);
	displayed(NULL, "a.c", "/a.c");
	assert_int_equal(fchdir(here), 0);
	close(here);
}

static void displayed_short(const char *path, const char *out)
{
	_cleanup_(freep) char *shown = NULL;
	assert_ok(path_display_short(path, &shown));
	assert_string_equal(shown, out);
}

static void test_display_short(void **state)
{
	(void)state;
	int here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(here >= 0);
	assert_int_equal(chdir("/usr/share/doc"), 0);
	displayed_short("a.c", "a.c");
	displayed_short("/usr/share/a.c", "../a.c");
	displayed_short("/usr/share/documents/a.c", "../documents/a.c");
	/* Absolute where that is no longer. */
	displayed_short("/usr/a.c", "/usr/a.c");
	displayed_short("/etc/a.c", "/etc/a.c");
	assert_int_equal(chdir("/"), 0);
	displayed_short("a.c", "/a.c");
	assert_int_equal(fchdir(here), 0);
	close(here);
}

static void test_display_from(void **state)
{
	(void)state;
	int here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(here >= 0);
	assert_ok(path_show_from("/usr/share/doc"));
	assert_int_equal(chdir("/usr/share"), 0);
	displayed_short("a.c", "../a.c");
	displayed_short("doc/b.c", "b.c");
	displayed_short("/usr/share/doc/c.c", "c.c");
	displayed_short("/etc/a.c", "/etc/a.c");
	assert_int_equal(chdir("/"), 0);
	displayed_short("usr/share/doc/d/e.c", "d/e.c");
	assert_ok(path_show_from(NULL));
	displayed_short("a.c", "/a.c");
	assert_int_equal(fchdir(here), 0);
	close(here);
}

static void test_file_read(void **state)
{
	(void)state;
	char name[] = "/tmp/polygraph-unit-XXXXXX";
	int fd = mkstemp(name);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "a\0b\n", 4), 4);
	close(fd);

	_cleanup_(freep) char *text = NULL;
	size_t n = 0;
	assert_ok(file_read(name, 4, &text, &n));
	assert_int_equal(n, 4);
	assert_memory_equal(text, "a\0b\n", 5);

	char *untouched = NULL;
	assert_err(file_read(name, 3, &untouched, NULL), ERR_INTERNAL,
		   "larger than 3 bytes");
	assert_null(untouched);
	unlink(name);
	assert_err(file_read(name, 3, &untouched, NULL), ERR_INTERNAL,
		   "cannot open");
	assert_err(file_read("/", 3, &untouched, NULL), ERR_INTERNAL,
		   "cannot read");
	assert_null(untouched);
}

static void test_below(void **state)
{
	(void)state;
	assert_true(path_is_below("/a/b", "/a"));
	assert_false(path_is_below("/a", "/a"));
	assert_false(path_is_below("/ab", "/a"));
	assert_true(path_is_below("/a", "/"));
	assert_false(path_is_below("/", "/"));
}

static void test_common(void **state)
{
	(void)state;
	static const char *const cases[][3] = {
		{ "/a/b/c", "/a/b/d.c", "/a/b" },
		{ "/a/b", "/a/b/d.c", "/a/b" },
		{ "/a/b", "/a/b", "/a/b" },
		{ "/a/b", "/a/bc", "/a" },
		{ "/a/bc", "/a/b", "/a" },
		{ "/a", "/b", "/" },
		{ "/", "/b", "/" },
		{ "/", "/", "/" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char path[16];
		snprintf(path, sizeof(path), "%s", cases[i][0]);
		path_cut_to_common(path, cases[i][1]);
		assert_string_equal(path, cases[i][2]);
	}
}

static void test_compare(void **state)
{
	(void)state;
	/* What is in a folder comes before its neighbours. */
	assert_true(path_compare("/a/b", "/a-b") < 0);
	assert_true(path_compare("/a", "/a/b") < 0);
	assert_true(path_compare("/a/b", "/a/a") > 0);
	assert_int_equal(path_compare("/a", "/a"), 0);
}

static void test_coverage(void **state)
{
	(void)state;
	assert_true(path_is_coverage("/build/a.c.gcda"));
	assert_true(path_is_coverage("default.profraw"));
	assert_false(path_is_coverage("gcda"));
	assert_false(path_is_coverage("a.gcda.txt"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_join),
		cmocka_unit_test(test_base),
		cmocka_unit_test(test_display),
		cmocka_unit_test(test_display_short),
		cmocka_unit_test(test_file_read),
		cmocka_unit_test(test_below),
		cmocka_unit_test(test_common),
		cmocka_unit_test(test_compare),
		cmocka_unit_test(test_coverage),
		cmocka_unit_test(test_display_from),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
