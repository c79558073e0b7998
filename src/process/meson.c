/*
 * --meson DIR: the tests of a Meson build folder, from the list Meson leaves in
 * it for tools (meson-info/intro-tests.json, Meson 0.50; what `meson introspect
 * --tests` prints). Judged as `meson test` does: exit statuses of automake, or
 * the Test Anything Protocol.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/macro.h"
#include "base/path.h"
#include "process/json_read.h"
#include "process/kinds.h"
#include "process/process_run.h"
#include "process/process_suite.h"
#include "suite/declare.h"

#define LIST_MAX ((size_t)512 << 20)
#define SOURCE_MAX ((size_t)16 << 20)
#define TOOL_TIMEOUT (120 * NS_PER_S)

struct meson_rules {
	bool should_fail;
};

static struct err *meson_judge_status(const struct process_end *end,
				      struct suite_result *result)
{
	if (!end->tap)
		return process_judge_status(end->status, result);
	const char *why = NULL;
	result->outcome = tap_outcome(end->tap, &why);
	if (end->status && result->outcome != OUTCOME_FAIL) {
		/* Points that are all ok do not outweigh it. */
		result->outcome = OUTCOME_FAIL;
		return process_message(result, "exit status %d", end->status);
	}
	return result->outcome == OUTCOME_PASS || !why
		       ? NULL
		       : process_message(result, "%s", why);
}

static struct err *meson_judge_test(const struct process_suite *suite _unused_,
				    const struct process_test *test,
				    const struct process_end *end,
				    struct suite_result *result)
{
	const struct meson_rules *rules = test->rules;
	TRY(meson_judge_status(end, result));
	if (!rules->should_fail)
		return NULL;
	if (result->outcome == OUTCOME_FAIL && end->status != 99) {
		result->outcome = OUTCOME_PASS;
		free(take_ptr(result->message));
	} else if (result->outcome == OUTCOME_PASS) {
		result->outcome = OUTCOME_FAIL;
		return process_message(result, "succeeded, but is declared to "
					       "fail (should_fail)");
	}
	return NULL;
}

static const struct process_kind kind = {
	.judge = meson_judge_test,
	.free_rules = free,
};

/* ---- should_fail ---- */

/*
 * Meson's list for tools does not say which tests are expected to fail, only
 * its own pickled one does. Where a build file has the word at all, Meson's own
 * Python is asked; nobody is surprised by a Python that did not run.
 */
static const char ask_meson[] =
	"import sys, pickle, os\n"
	"sys.path.insert(0, os.path.dirname(os.path.realpath(sys.argv[1])))\n"
	"for test in pickle.load(open(sys.argv[2], 'rb')):\n"
	"    print(int(bool(test.should_fail)))\n";

static bool meson_mentions_should_fail(const char *folder)
{
	_cleanup_(freep) char *path = NULL, *text = NULL;
	_cleanup_(json_freep) json_t *files = NULL;
	size_t n;
	struct err *err = path_join(
		folder, "meson-info/intro-buildsystem_files.json", &path);
	if (!err)
		err = file_read(path, SOURCE_MAX, &text, &n);
	if (err) {
		err_ignore(err);
		return true; /* not known: ask */
	}
	files = json_loadb(text, n, 0, NULL);
	for (size_t i = 0; i < json_array_size(files); i++) {
		const char *name = json_string_value(json_array_get(files, i));
		_cleanup_(freep) char *source = NULL;
		if (!name)
			continue;
		err = file_read(name, SOURCE_MAX, &source, &n);
		if (err) {
			err_ignore(err);
			continue;
		}
		if (strstr(source, "should_fail"))
			return true;
	}
	return !files;
}

/* Full path of a program; NULL: not there. */
static char *meson_find_program(const char *name)
{
	const char *path = getenv("PATH");
	for (const char *at = path ? path : ""; *at;) {
		size_t n = strcspn(at, ":");
		char *full = NULL;
		if (asprintf(&full, "%.*s/%s", (int)n, at, name) < 0)
			return NULL;
		if (n && !access(full, X_OK))
			return full;
		free(full);
		at += n + (at[n] == ':');
	}
	return NULL;
}

/* The interpreter in the first line of meson, which has its modules. */
static void meson_read_interpreter(const char *meson, char *out, size_t n)
{
	snprintf(out, n, "python3");
	FILE *file = fopen(meson, "re");
	char line[256];
	if (file && fgets(line, sizeof(line), file) &&
	    !strncmp(line, "#!", 2)) {
		char *begin = line + 2 + strspn(line + 2, " \t");
		begin[strcspn(begin, " \t\r\n")] = '\0';
		if (strstr(begin, "python"))
			snprintf(out, n, "%s", begin);
	}
	if (file)
		fclose(file);
}

/* One character a test in Meson's order: '0' or '1'; NULL: not known. */
static struct err *meson_read_should_fail(const char *folder, size_t tests,
					  char **ret)
{
	*ret = NULL;
	if (!tests || !meson_mentions_should_fail(folder))
		return NULL;
	_cleanup_(freep) char *pickle = NULL;
	_cleanup_(freep) char *meson = meson_find_program("meson");
	TRY(path_join(folder, "meson-private/meson_test_setup.dat", &pickle));
	char python[256], dash_c[] = "-c", script[sizeof(ask_meson)];
	memcpy(script, ask_meson, sizeof(script));
	meson_read_interpreter(meson ? meson : "", python, sizeof(python));
	char none[] = "";
	char *const argv[] = { python, dash_c, script, meson ? meson : none,
			       pickle, NULL };
	struct process_spec spec = { .argv = argv };
	_cleanup_(process_output_free) struct process_output output = {};
	TRY(process_output(&spec, SOURCE_MAX, TOOL_TIMEOUT, &output));
	/* "0\n" for each. */
	if (output.why || output.status || output.out_n != 2 * tests) {
		log_warn("'%s': which tests are declared with should_fail "
			 "cannot be read; they are taken as ordinary ones",
			 folder);
		return NULL;
	}
	for (size_t i = 0; i < tests; i++)
		output.out[i] = output.out[2 * i];
	output.out[tests] = '\0';
	*ret = take_ptr(output.out);
	return NULL;
}

/* ---- tests ---- */

struct meson_test {
	const json_t *json;
	json_int_t priority;
	size_t index;
};

/* `meson test` starts those of higher priority first. */
static int meson_compare_priority(const void *left, const void *right)
{
	const struct meson_test *a = left, *b = right;
	if (a->priority != b->priority)
		return a->priority > b->priority ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

static struct err *meson_read_environment(struct process_test *test,
					  const json_t *json)
{
	/* What `meson test` adds so that sanitizers' reports are failures. */
	static const char *const sanitizers[][2] = {
		{ "ASAN_OPTIONS", "halt_on_error=1:abort_on_error=1:"
				  "print_summary=1" },
		{ "UBSAN_OPTIONS", "halt_on_error=1:abort_on_error=1:"
				   "print_summary=1:print_stacktrace=1" },
	};
	const char *name;
	json_t *value;
	json_object_foreach((json_t *)json, name, value)
	{
		const char *text = json_string_value(value);
		if (text)
			TRY(env_changes_add(&test->environment, ENV_SET, name,
					    strlen(name), text));
	}
	for (size_t i = 0; i < ARRAY_SIZE(sanitizers); i++) {
		name = sanitizers[i][0];
		if (!getenv(name) && !json_object_get(json, name))
			TRY(env_changes_add(&test->environment, ENV_SET, name,
					    strlen(name), sanitizers[i][1]));
	}
	return NULL;
}

static struct err *meson_fill_test(struct process_test *test,
				   const json_t *json, const char *folder,
				   bool should_fail)
{
	struct meson_rules *rules = calloc(1, sizeof(*rules));
	if (!rules)
		return err_nomem();
	rules->should_fail = should_fail;
	test->rules = rules;
	TRY(json_texts(json_object_get(json, "cmd"), &test->argv));
	const char *workdir =
		json_string_value(json_object_get(json, "workdir"));
	test->folder = strdup(workdir ? workdir : folder);
	if (!test->folder)
		return err_nomem();
	const json_t *timeout = json_object_get(json, "timeout");
	if (json_is_number(timeout)) {
		double seconds = json_number_value(timeout);
		test->timeout_ns = seconds > 0 && seconds < 1e9
					   ? (uint64_t)(seconds * 1e9)
					   : PROCESS_NO_LIMIT;
	}
	test->serial = json_is_false(json_object_get(json, "is_parallel"));
	const char *protocol =
		json_string_value(json_object_get(json, "protocol"));
	test->tap = protocol && !strcmp(protocol, "tap");
	return meson_read_environment(test, json_object_get(json, "env"));
}

static struct err *meson_add_test(struct process_suite *suite,
				  const json_t *json, const char *folder,
				  bool should_fail)
{
	const char *name = json_string_value(json_object_get(json, "name"));
	if (!name)
		return err_create(ERR_SUITE, "Meson lists a test without name");
	struct process_test test = {};
	struct err *err = meson_fill_test(&test, json, folder, should_fail);
	if (!err)
		err = process_suite_add(suite, name, NULL, 0, false, &test);
	process_test_free(&test, &kind);
	return err;
}

static struct err *meson_read_list(struct process_suite *suite,
				   const json_t *tests, const char *folder,
				   const char *should_fail)
{
	size_t n = json_array_size(tests);
	_cleanup_(freep) struct meson_test *listed =
		calloc(n + 1, sizeof(*listed));
	if (!listed)
		return err_nomem();
	for (size_t i = 0; i < n; i++) {
		const json_t *json = json_array_get(tests, i);
		listed[i] = (struct meson_test){
			.json = json,
			.priority = json_integer_value(
				json_object_get(json, "priority")),
			.index = i,
		};
	}
	qsort(listed, n, sizeof(*listed), meson_compare_priority);
	for (size_t i = 0; i < n; i++) {
		TRY(meson_add_test(
			suite, listed[i].json, folder,
			should_fail && should_fail[listed[i].index] == '1'));
		declare_priority(&suite->suite, i, listed[i].priority);
	}
	return NULL;
}

/* ---- opening ---- */

static struct err *meson_check_folder(const char *folder)
{
	struct stat st;
	if (stat(folder, &st) < 0)
		return err_hint(
			err_with_kind(err_errno(errno, "--meson '%s'", folder),
				      ERR_USAGE),
			"give the build folder, the one that meson setup made");
	_cleanup_(freep) char *own = NULL;
	TRY(path_join(folder, "meson-private", &own));
	if (!S_ISDIR(st.st_mode) || stat(own, &st) < 0)
		return err_hint(
			err_create(ERR_USAGE,
				   "'%s' is not a build folder of Meson",
				   folder),
			"make it first: meson setup BUILD");
	return NULL;
}

/* From the file, or from a Meson that has not left one. */
static struct err *meson_read_text(const char *folder, char **ret,
				   size_t *ret_n)
{
	_cleanup_(freep) char *path = NULL;
	TRY(path_join(folder, "meson-info/intro-tests.json", &path));
	if (!access(path, R_OK)) {
		struct err *err = file_read(path, LIST_MAX, ret, ret_n);
		return err ? err_with_kind(err, ERR_SUITE) : NULL;
	}
	_cleanup_(freep) char *place = strdup(folder);
	if (!place)
		return err_nomem();
	char program[] = "meson", introspect[] = "introspect",
	     tests[] = "--tests";
	char *const argv[] = { program, introspect, tests, place, NULL };
	struct process_spec spec = { .argv = argv };
	_cleanup_(process_output_free) struct process_output output = {};
	TRY(process_output(&spec, LIST_MAX, TOOL_TIMEOUT, &output));
	if (output.why)
		return err_hint(err_create(ERR_SUITE, "%s", output.why),
				"install Meson, or make the build folder with "
				"Meson 0.50 or newer");
	if (output.status)
		return err_hint(
			err_create(ERR_SUITE,
				   "Meson cannot list the tests of '%s'",
				   folder),
			"see: meson introspect --tests %s", folder);
	*ret = take_ptr(output.out);
	*ret_n = output.out_n;
	return NULL;
}

struct err *meson_suite_parse(const struct suite_options *options,
			      const char *folder, const char *text, size_t n,
			      bool ask, struct suite **ret)
{
	json_error_t error;
	_cleanup_(json_freep) json_t *tests = json_loadb(text, n, 0, &error);
	if (!json_is_array(tests))
		return err_hint(err_create(ERR_SUITE,
					   "Meson's list of tests in '%s' "
					   "cannot be read: %s",
					   options->source,
					   tests ? "not a list" : error.text),
				"make the build folder again: meson setup "
				"--reconfigure %s",
				options->source);
	_cleanup_(freep) char *should_fail = NULL;
	if (ask)
		TRY(meson_read_should_fail(folder, json_array_size(tests),
					   &should_fail));
	_cleanup_(process_suite_destroyp) struct process_suite *suite = NULL;
	TRY(process_suite_create(options, "meson", &kind, &suite));
	TRY(meson_read_list(suite, tests, folder, should_fail));
	if (!suite->tests.n)
		return err_hint(err_create(ERR_SUITE, "'%s' has no tests",
					   options->source),
				"add some with test() in meson.build");
	*ret = &take_ptr(suite)->suite;
	return NULL;
}

static struct err *meson_suite_open(const struct suite_options *options,
				    struct suite **ret)
{
	TRY(meson_check_folder(options->source));
	/* Tests run in the build folder, wherever we are. */
	_cleanup_(freep) char *folder = realpath(options->source, NULL);
	if (!folder)
		return err_errno(errno, "--meson '%s'", options->source);
	_cleanup_(freep) char *text = NULL;
	size_t n = 0;
	TRY(meson_read_text(folder, &text, &n));
	return meson_suite_parse(options, folder, text, n, true, ret);
}

const struct suite_kind meson_suite_kind = {
	.open = meson_suite_open,
	.signal = process_run_signal,
	.list_file = "meson-info/intro-tests.json",
};
