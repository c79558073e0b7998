#include "unit.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void test_layers_add_what_they_know(void **state)
{
	(void)state;
	_cleanup_(err_destroyp) struct err *err =
		err_create(ERR_SUITE, "no test called '%s'", "a b");
	err = err_prefix(err, "line %d", 3);
	err = err_prefix(err, "'%s'", "order.txt");
	assert_string_equal(err_message(err),
			    "'order.txt': line 3: no test called 'a b'");
	assert_int_equal(err_kind(err), ERR_SUITE);
	assert_int_equal(err_number(err), 0);
	assert_null(err_hint_text(err));
}

static void test_first_hint_stays(void **state)
{
	(void)state;
	_cleanup_(err_destroyp) struct err *err =
		err_hint(err_create(ERR_USAGE, "no"), "use %s", "--commands");
	err = err_hint(err, "something else");
	assert_string_equal(err_hint_text(err), "use --commands");
}

/* What is quoted may be as long as a file; the end says what is wrong. */
static void test_long_messages_are_bounded(void **state)
{
	(void)state;
	size_t n = 1 << 20;
	_cleanup_(freep) char *long_text = malloc(n + 1);
	assert_non_null(long_text);
	for (size_t i = 0; i < n; i += 2)
		memcpy(long_text + i, "\xc3\xbc", 2);
	long_text[n] = '\0';
	for (int shift = 0; shift < 2; shift++) {
		_cleanup_(err_destroyp) struct err *err =
			err_create(ERR_USAGE, "%s'%s' is no test",
				   shift ? "x" : "", long_text);
		err = err_hint(err, "not '%s'", long_text);
		err = err_prefix(err, "in '%s'", long_text);
		const char *message = err_message(err);
		assert_in_range(strlen(message), 3000, 4500);
		assert_in_range(strlen(err_hint_text(err)), 1500, 2100);
		assert_non_null(strstr(message, "[...]"));
		const char *end = strrchr(message, '\'');
		assert_non_null(end);
		assert_string_equal(end, "' is no test");
		/* No character is cut in two. */
		for (const char *c = message; *c; c++) {
			if (*c == '\xc3')
				assert_int_equal(*++c, '\xbc');
			else
				assert_false(*c & 0x80);
		}
	}
	/* One that is not long stays whole. */
	long_text[1800] = '\0';
	_cleanup_(err_destroyp) struct err *err =
		err_create(ERR_USAGE, "%s", long_text);
	assert_string_equal(err_message(err), long_text);
}

static void test_limits_are_named(void **state)
{
	(void)state;
	_cleanup_(err_destroyp) struct err *files = err_errno(EMFILE, "a");
	_cleanup_(err_destroyp) struct err *size = err_errno(EFBIG, "a");
	_cleanup_(err_destroyp) struct err *other = err_errno(EACCES, "a");
	assert_non_null(strstr(err_message(files), "ulimit -n"));
	assert_non_null(strstr(err_message(size), "ulimit -f"));
	assert_null(strstr(err_message(other), "ulimit"));
}

static void test_errno(void **state)
{
	(void)state;
	_cleanup_(err_destroyp) struct err *err =
		err_errno(ENOENT, "cannot open '%s'", "x");
	/* What the system calls it is the system's business. */
	assert_int_equal(strncmp(err_message(err), "cannot open 'x': ", 17), 0);
	assert_true(strlen(err_message(err)) > 17);
	assert_int_equal(err_number(err), ENOENT);
	assert_int_equal(err_kind(err), ERR_INTERNAL);
	err = err_with_kind(err, ERR_USAGE);
	assert_int_equal(err_kind(err), ERR_USAGE);
}

static void test_out_of_memory_is_one_object(void **state)
{
	(void)state;
	struct err *err = err_errno(ENOMEM, "mmap");
	assert_ptr_equal(err, err_nomem());
	assert_ptr_equal(err_prefix(err, "while"), err);
	assert_ptr_equal(err_hint(err, "buy some"), err);
	assert_ptr_equal(err_with_kind(err, ERR_USAGE), err);
	assert_int_equal(err_kind(err), ERR_INTERNAL);
	assert_string_equal(err_message(err), "out of memory");
	assert_null(err_hint_text(err));
	err_destroy(err);
	err_destroy(err);
}

static void test_success_passes_through(void **state)
{
	(void)state;
	assert_null(err_prefix(NULL, "x"));
	assert_null(err_hint(NULL, "x"));
	assert_null(err_with_kind(NULL, ERR_USAGE));
	err_destroy(NULL);
	err_ignore(NULL);
	err_ignore(err_create(ERR_USAGE, "nobody cares"));
}

static struct err *fail_or_not(bool fail_it)
{
	TRY(fail_it ? err_create(ERR_USAGE, "told to") : NULL);
	return NULL;
}

static void test_try(void **state)
{
	(void)state;
	assert_ok(fail_or_not(false));
	assert_err(fail_or_not(true), ERR_USAGE, "told to");
}

static void test_bug_aborts_and_says_where(void **state)
{
	(void)state;
	int out[2];
	assert_int_equal(pipe(out), 0);
	pid_t pid = fork();
	if (!pid) {
		/* cmocka catches signals in this process, too. */
		signal(SIGABRT, SIG_DFL);
		dup2(out[1], STDERR_FILENO);
		BUG_ON(out[0] >= 0);
		_exit(0);
	}
	close(out[1]);
	char text[512] = "";
	size_t n = 0;
	ssize_t got;
	while ((got = read(out[0], text + n, sizeof(text) - 1 - n)) > 0)
		n += (size_t)got;
	close(out[0]);
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGABRT);
	assert_non_null(strstr(text, "test_err.c:"));
	assert_non_null(strstr(text, "out[0] >= 0"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_layers_add_what_they_know),
		cmocka_unit_test(test_first_hint_stays),
		cmocka_unit_test(test_long_messages_are_bounded),
		cmocka_unit_test(test_limits_are_named),
		cmocka_unit_test(test_errno),
		cmocka_unit_test(test_out_of_memory_is_one_object),
		cmocka_unit_test(test_success_passes_through),
		cmocka_unit_test(test_try),
		cmocka_unit_test(test_bug_aborts_and_says_where),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
