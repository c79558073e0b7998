/* What tests read, and whether it is still as it was. */
#include "files/inputs.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/macro.h"
#include "unit.h"

#define OWN "/nowhere/.polygraph"

static char folder[64];
static int before; /* the working directory */

static int enter_folder(void **state _unused_)
{
	before = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	snprintf(folder, sizeof(folder), "/tmp/inputs-XXXXXX");
	return before >= 0 && mkdtemp(folder) && !chdir(folder) ? 0 : -1;
}

static int leave_folder(void **state _unused_)
{
	char command[128];
	snprintf(command, sizeof(command), "rm -r '%s'", folder);
	int failed = fchdir(before) || system(command);
	close(before);
	memset(folder, 0, sizeof(folder));
	before = 0;
	return failed;
}

static void write_text(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void tell(struct inputs *inputs, enum follow_kind kind, long number,
		 const char *name)
{
	char given[PATH_MAX];
	snprintf(given, sizeof(given), "%s/%s", folder, name);
	const struct follow_event event = { .kind = kind,
					    .number = number,
					    .given = given,
					    .path = "/is/not/asked" };
	inputs_sink(inputs, &event);
}

/* All that happened before is older than this. */
#define LATER INT64_MAX

static void pack(struct inputs *inputs, struct str *ret)
{
	str_free(ret);
	*ret = (struct str)STR_INIT;
	assert_ok(inputs_pack(inputs, LATER, ret));
}

static bool hold(const struct str *text)
{
	return inputs_hold(OWN, text->s, text->n);
}

static void test_states(void **state _unused_)
{
	_cleanup_(inputs_destroyp) struct inputs *inputs = NULL;
	_cleanup_(str_freep) struct str text = STR_INIT;
	write_text("read", "a");
	write_text("other", "a");
	write_text("looked", "a");
	assert_int_equal(mkdir("listed", 0700), 0);
	assert_int_equal(symlink("read", "link"), 0);
	assert_ok(inputs_create(OWN, &inputs));
	inputs_begin(inputs);
	tell(inputs, FOLLOW_READ, SYS_openat, "link");
	tell(inputs, FOLLOW_LOOK, SYS_access, "missing");
	tell(inputs, FOLLOW_LOOK, SYS_newfstatat, "looked");
	tell(inputs, FOLLOW_LIST, SYS_getdents64, "listed");
	pack(inputs, &text);
	assert_true(hold(&text));

	write_text("read", "b");
	assert_false(hold(&text));
	write_text("read", "a");
	assert_true(hold(&text));

	/* The same content, but another file. */
	assert_int_equal(unlink("link"), 0);
	assert_int_equal(symlink("other", "link"), 0);
	assert_false(hold(&text));
	pack(inputs, &text);

	write_text("missing", "");
	assert_false(hold(&text));
	assert_int_equal(unlink("missing"), 0);
	assert_true(hold(&text));

	write_text("listed/new", "");
	assert_false(hold(&text));
	assert_int_equal(unlink("listed/new"), 0);
	assert_true(hold(&text));

	const struct timespec times[2] = { { 1, 0 }, { 1, 0 } };
	assert_int_equal(utimensat(AT_FDCWD, "other", times, 0), 0);
	assert_true(hold(&text));
	assert_int_equal(utimensat(AT_FDCWD, "looked", times, 0), 0);
	assert_false(hold(&text));
}

static void test_not_known(void **state _unused_)
{
	_cleanup_(inputs_destroyp) struct inputs *inputs = NULL;
	_cleanup_(str_freep) struct str text = STR_INIT;
	const struct follow_event nameless = { .kind = FOLLOW_READ };
	write_text("young", "a");
	assert_ok(inputs_create(OWN, &inputs));
	pack(inputs, &text);
	assert_int_equal(text.n, 0);
	assert_false(hold(&text));
	inputs_begin(inputs);
	pack(inputs, &text);
	assert_true(hold(&text));

	/* It changed after the tests began; unless they did that themselves. */
	tell(inputs, FOLLOW_READ, SYS_openat, "young");
	str_free(&text);
	text = (struct str)STR_INIT;
	assert_ok(inputs_pack(inputs, 0, &text));
	assert_int_equal(text.n, 0);
	tell(inputs, FOLLOW_OPEN, SYS_openat, "young");
	assert_ok(inputs_pack(inputs, 0, &text));
	assert_true(hold(&text));

	inputs_sink(inputs, &nameless);
	pack(inputs, &text);
	assert_int_equal(text.n, 0);
}

static void test_what_does_not_count(void **state _unused_)
{
	static const char *const names[] = { "/proc/self/maps", "/dev/null",
					     "/sys/kernel", OWN,
					     OWN "/results.db" };
	_cleanup_(inputs_destroyp) struct inputs *inputs = NULL;
	_cleanup_(str_freep) struct str text = STR_INIT;
	_cleanup_(str_freep) struct str none = STR_INIT;
	assert_ok(inputs_create(OWN, &inputs));
	inputs_begin(inputs);
	pack(inputs, &none);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const struct follow_event event = { .kind = FOLLOW_READ,
						    .path = names[i] };
		inputs_sink(inputs, &event);
	}
	pack(inputs, &text);
	assert_int_equal(text.n, none.n);
}

/* Texts that were cut off, or are something else. */
static void test_hostile(void **state _unused_)
{
	_cleanup_(inputs_destroyp) struct inputs *inputs = NULL;
	_cleanup_(inputs_destroyp) struct inputs *again = NULL;
	_cleanup_(str_freep) struct str text = STR_INIT;
	_cleanup_(str_freep) struct str copy = STR_INIT;
	assert_ok(inputs_create(OWN, &inputs));
	inputs_begin(inputs);
	tell(inputs, FOLLOW_READ, SYS_openat, "one");
	tell(inputs, FOLLOW_READ, SYS_openat, "two");
	pack(inputs, &text);
	for (size_t n = 1; n < text.n; n++) {
		/* Cut between two names it is whole, and says less. */
		char *part = malloc(n);
		assert_non_null(part);
		memcpy(part, text.s, n);
		inputs_hold(OWN, part, n);
		if (part[n - 1])
			assert_false(inputs_hold(OWN, part, n));
		free(part);
	}
	assert_false(inputs_hold(OWN, NULL, 0));
	assert_false(inputs_hold(OWN, "something else", 14));

	assert_ok(inputs_create(OWN, &again));
	inputs_begin(again);
	assert_ok(inputs_add(again, text.s, text.n));
	assert_ok(inputs_add(again, "something else", 14));
	pack(again, &copy);
	assert_int_equal(copy.n, text.n);
	assert_memory_equal(copy.s, text.s, text.n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_states, enter_folder,
						leave_folder),
		cmocka_unit_test_setup_teardown(test_not_known, enter_folder,
						leave_folder),
		cmocka_unit_test(test_what_does_not_count),
		cmocka_unit_test_setup_teardown(test_hostile, enter_folder,
						leave_folder),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
