#include "process/process_suite.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/str.h"
#include "files/inputs.h"
#include "keep/save.h"
#include "process/process_choices.h"
#include "process/process_run.h"
#include "process/process_tree.h"
#include "process/process_watch.h"

static struct err *process_suite_run(struct suite *suite, const size_t *order,
				     size_t n, unsigned flags,
				     const struct suite_observer *observer)
{
	/* SUITE_ALONE: each is alone already. */
	struct process_suite *self = (struct process_suite *)suite;
	struct process_watching watching = { .watch = self->watch };
	return process_run_restored(self, order, n, flags, observer,
				    self->watch ? &watching : NULL);
}

static struct err *process_suite_watch(struct suite *suite,
				       const struct suite_watch *watch)
{
	struct process_suite *self = (struct process_suite *)suite;
	self->watch = watch;
	return NULL;
}

static struct err *
process_suite_run_places(struct suite *suite, const size_t *order, size_t n,
			 const struct suite_place *places, size_t n_places,
			 const struct suite_observer *observer)
{
	struct process_watching watching = {
		.places = places,
		.n_places = n_places,
	};
	return process_run_restored((struct process_suite *)suite, order, n, 0,
				    observer, &watching);
}

static void process_suite_close(struct suite *suite)
{
	process_suite_destroy((struct process_suite *)suite);
}

static const char *process_suite_touched_file(const struct suite *suite,
					      size_t i)
{
	const struct process_suite *self = (const struct process_suite *)suite;
	return self->saver ? saver_path(self->saver, i) : NULL;
}

static const char *process_suite_unrestored(const struct suite *suite, size_t i)
{
	const struct process_suite *self = (const struct process_suite *)suite;
	return self->saver ? saver_lost(self->saver, i) : NULL;
}

static const struct suite_ops ops = {
	.touched_file = process_suite_touched_file,
	.unrestored = process_suite_unrestored,
	.run = process_suite_run,
	.watched = SUITE_FILES | SUITE_PROCESS,
	.watch = process_suite_watch,
	.run_places = process_suite_run_places,
	.run_tree = process_run_tree,
	.keep_files = process_keep_files,
	.put_back = process_put_back,
	.try_roots = process_try_roots,
	.choose = process_choose,
	.close = process_suite_close,
};

struct err *process_suite_create(const struct suite_options *options,
				 const char *framework,
				 const struct process_kind *kind,
				 struct process_suite **ret)
{
	struct process_suite *suite = calloc(1, sizeof(*suite));
	if (!suite)
		return err_nomem();
	suite->suite.ops = &ops;
	suite->suite.framework = framework;
	suite->suite.options = *options;
	suite->kind = kind;
	struct err *err =
		options->restores ? saver_create(&suite->saver) : NULL;
	if (err) {
		free(suite);
		return err;
	}
	if (suite->saver && options->inputs)
		saver_tell(suite->saver, inputs_sink, options->inputs);
	*ret = suite;
	return NULL;
}

void process_suite_destroy(struct process_suite *suite)
{
	if (!suite)
		return;
	free(suite->library);
	if (suite->saver)
		err_ignore(saver_put_back(suite->saver));
	saver_destroy(suite->saver);
	for (size_t i = 0; i < suite->tests.n; i++)
		process_test_free(&suite->tests.data[i], suite->kind);
	vec_free(&suite->tests);
	map_text_free(&suite->locks);
	suite_free_tests(&suite->suite);
	free(suite);
}

void process_test_free(struct process_test *test,
		       const struct process_kind *kind)
{
	strv_free(&test->argv);
	free(test->why);
	free(test->folder);
	env_changes_free(&test->environment);
	strv_free(&test->files);
	vec_free(&test->locks);
	vec_free(&test->after);
	if (kind->free_rules)
		kind->free_rules(test->rules);
	*test = (struct process_test){};
}

struct err *process_suite_add(struct process_suite *suite, const char *name,
			      const char *file, unsigned line, bool disabled,
			      struct process_test *test)
{
	TRY(vec_reserve(&suite->tests, suite->tests.n + 1));
	TRY(suite_add_test(&suite->suite, name, file, line, disabled));
	suite->tests.data[suite->tests.n++] = *test;
	*test = (struct process_test){};
	return NULL;
}

struct err *process_suite_lock(struct process_suite *suite, const char *name,
			       uint32_t *ret)
{
	uint64_t number = suite->locks.map.n;
	if (!map_text_get(&suite->locks, name, &number))
		TRY(map_text_put(&suite->locks, name, number));
	*ret = (uint32_t)number;
	return NULL;
}

/* ---- for judges ---- */

struct err *process_message(struct suite_result *result, const char *fmt, ...)
{
	va_list args;
	char *message = NULL;
	va_start(args, fmt);
	int n = vasprintf(&message, fmt, args);
	va_end(args);
	if (n < 0)
		return err_nomem();
	free(result->message);
	result->message = message;
	return NULL;
}

struct err *process_signal_name(int number, struct str *ret)
{
	const char *name = sigabbrev_np(number);
	const char *text = sigdescr_np(number);
	if (!name)
		return str_appendf(ret, "signal %d", number);
	return str_appendf(ret, "SIG%s (%s)", name, text ? text : "?");
}

/*
 * What a shell says with 128 and more is that its command died of a signal;
 * only those that mean a crash are taken so, programs use such numbers too.
 */
static bool is_crash(int number)
{
	switch (number) {
	case SIGILL:
	case SIGTRAP:
	case SIGABRT:
	case SIGBUS:
	case SIGFPE:
	case SIGSEGV:
	case SIGSYS:
		return true;
	default:
		return false;
	}
}

struct err *process_judge_status(int status, struct suite_result *result)
{
	result->outcome = status == 0	 ? OUTCOME_PASS
			  : status == 77 ? OUTCOME_SKIP
					 : OUTCOME_FAIL;
	if (status == 0)
		return NULL;
	if (status == 77)
		return process_message(result, "exit status 77: skipped");
	if (status == 99)
		return process_message(result, "exit status 99: hard error");
	if (status > 128 && is_crash(status - 128)) {
		_cleanup_(str_freep) struct str name = STR_INIT;
		TRY(process_signal_name(status - 128, &name));
		result->outcome = OUTCOME_CRASH;
		return process_message(result, "exit status %d: killed by %s",
				       status, name.s);
	}
	return process_message(result, "exit status %d", status);
}
