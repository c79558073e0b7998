/*
 * --commands FILE: one shell command per line, each a test. Blank lines and lines
 * that begin with '#' are skipped. Exit statuses are those of automake's test
 * scripts: 0 pass, 77 skip, the rest fail. One that ends with 0 fails, too, if it
 * prints TAP with a plan and a point that is not ok.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/path.h"
#include "base/tap.h"
#include "process/kinds.h"
#include "process/process_run.h"
#include "process/process_suite.h"

#define FILE_MAX ((size_t)64 << 20)
/* MAX_ARG_STRLEN of the kernel's binfmts.h: no shell is started with more. */
#define COMMAND_MAX ((size_t)128 << 10)

static struct err *
commands_judge_test(const struct process_suite *suite _unused_,
		    const struct process_test *test _unused_,
		    const struct process_end *end, struct suite_result *result)
{
	/* What sh itself says of commands it cannot start (POSIX 2.8.2). */
	if (end->status == 126 || end->status == 127) {
		result->outcome = OUTCOME_FAIL;
		return process_message(
			result, "exit status %d: %s", end->status,
			end->status == 127 ? "command not found"
					   : "command cannot be executed");
	}
	TRY(process_judge_status(end->status, result));
	if (result->outcome != OUTCOME_PASS || !end->output)
		return NULL;
	/* Many programs that print TAP leave with 0 whatever it says. */
	struct tap tap = {};
	const char *why = NULL;
	tap_feed(&tap, end->output, end->output_n);
	tap_finish(&tap);
	if (!tap.has_plan || (!tap.failed && !tap.bailed))
		return NULL;
	result->outcome = tap_outcome(&tap, &why);
	return why ? process_message(result, "%s", why) : NULL;
}

static const struct process_kind kind = { .judge = commands_judge_test };

static struct err *commands_add_test(struct process_suite *suite,
				     const char *file, unsigned line,
				     const char *command)
{
	struct process_test test = {};
	struct err *err = strv_add(&test.argv, "/bin/sh");
	if (!err)
		err = strv_add(&test.argv, "-c");
	if (!err)
		err = strv_add(&test.argv, command);
	if (!err)
		err = process_suite_add(suite, command, file, line, false,
					&test);
	process_test_free(&test, &kind);
	return err;
}

static struct err *commands_suite_open(const struct suite_options *options,
				       struct suite **ret)
{
	const char *file = options->source;
	_cleanup_(freep) char *text = NULL;
	size_t n = 0;
	struct err *err = file_read(file, FILE_MAX, &text, &n);
	if (err)
		return err_hint(err_with_kind(err, ERR_USAGE),
				"--commands takes a file with one shell "
				"command per line");
	if (memchr(text, '\0', n))
		return err_hint(
			err_create(ERR_USAGE, "'%s' is not a text file", file),
			"--commands takes a file with one shell "
			"command per line; to run the tests of a program "
			"leave the option out");

	_cleanup_(process_suite_destroyp) struct process_suite *suite = NULL;
	TRY(process_suite_create(options, "commands", &kind, &suite));
	char *at = text;
	if (!strncmp(at, "\xef\xbb\xbf", 3))
		at += 3; /* byte order mark */
	for (unsigned line = 1; at; line++) {
		char *end = strchr(at, '\n');
		if (end)
			*end = '\0';
		char *begin = at + strspn(at, " \t\r\v\f");
		size_t length = strlen(begin);
		while (length && isspace((unsigned char)begin[length - 1]))
			begin[--length] = '\0';
		bool command = *begin && *begin != '#';
		if (command && length >= COMMAND_MAX)
			return err_create(ERR_USAGE,
					  "%s:%u: a command of %zu bytes "
					  "cannot be executed; %zu is the "
					  "limit of the system",
					  file, line, length, COMMAND_MAX - 1);
		if (command)
			TRY(commands_add_test(suite, file, line, begin));
		at = end ? end + 1 : NULL;
	}
	if (!suite->tests.n)
		return err_hint(
			err_create(ERR_SUITE, "'%s' has no commands", file),
			"write one shell command per line; lines that "
			"begin with # are comments");
	*ret = &take_ptr(suite)->suite;
	return NULL;
}

const struct suite_kind commands_suite_kind = {
	.open = commands_suite_open,
	.signal = process_run_signal,
};
