#include "cli/collect.h"

#include <string.h>

#include "base/clock.h"
#include "cli/interrupt.h"
#include "cli/sandboxing.h"

struct err *collect_init(struct collect *collect, const struct roster *roster,
			 bool everything)
{
	*collect = (struct collect){
		.roster = roster,
		.everything = everything,
		.seen = calloc(roster->n, sizeof(bool)),
		.threads = calloc(roster->n, sizeof(enum collect_threads)),
	};
	return collect->seen && collect->threads ? NULL : err_nomem();
}

static void free_test(struct report_test *test)
{
	free((char *)test->message);
	free((char *)test->failure_file);
	free((char *)test->output);
}

void collect_free(struct collect *collect)
{
	for (size_t i = 0; i < collect->tests.n; i++)
		free_test(&collect->tests.data[i]);
	for (size_t i = 0; i < collect->limits.n; i++)
		free(collect->limits.data[i]);
	vec_free(&collect->tests);
	vec_free(&collect->limits);
	free(collect->seen);
	free(collect->threads);
	err_destroy(collect->err);
	*collect = (struct collect){};
}

static struct report_test collect_make_record(const struct collect *collect,
					      size_t number)
{
	const struct roster_test *test = &collect->roster->tests[number];
	return (struct report_test){
		.name = test->name,
		.file = test->file,
		.line = test->line,
		.disabled = test->disabled,
	};
}

static struct err *collect_add_test(struct collect *collect, size_t number,
				    struct report_test *test)
{
	TRY(vec_push(&collect->tests, *test));
	collect->distinct += !collect->seen[number];
	collect->seen[number] = true;
	return NULL;
}

static bool copy_text(const char *text, const char **ret)
{
	if (!text)
		return true;
	*ret = strdup(text);
	return *ret;
}

static struct err *add_result(struct collect *collect,
			      const struct suite_result *result)
{
	struct report_test test = collect_make_record(collect, result->test);
	test.outcome = result->outcome;
	test.ns = result->ns;
	enum collect_threads *threads = &collect->threads[result->test];
	if (result->threads_began)
		*threads = COLLECT_THREADS_BEGAN;
	else if (!*threads && (result->threads || result->waited))
		*threads = COLLECT_THREADS;
	bool pass = result->outcome == OUTCOME_PASS;
	bool copied = true;
	if (!pass) {
		test.failure_line = result->line;
		copied = copy_text(result->message, &test.message) &&
			 copy_text(result->file, &test.failure_file);
	}
	if (copied && result->output_n && (!pass || collect->everything)) {
		char *output = malloc(result->output_n);
		if (output)
			memcpy(output, result->output, result->output_n);
		copied = output;
		test.output = output;
		test.output_n = result->output_n;
		test.output_dropped = result->output_dropped;
	}
	struct err *err =
		copied ? collect_add_test(collect, result->test, &test)
		       : err_nomem();
	if (err)
		free_test(&test);
	return err;
}

static void give_up(struct collect *collect, struct err *err)
{
	if (!err)
		return;
	if (collect->err)
		err_ignore(err);
	else
		collect->err = err;
	suite_interrupt();
}

static void on_started(void *data, size_t test)
{
	struct collect *collect = data;
	progress_started(collect->progress, roster_name(collect->roster, test));
}

static void on_finished(void *data, const struct suite_result *result)
{
	struct collect *collect = data;
	collect->finished++;
	progress_finished(collect->progress,
			  roster_name(collect->roster, result->test),
			  result->outcome);
	give_up(collect, add_result(collect, result));
	if (result->outcome != OUTCOME_PASS)
		give_up(collect, sandboxing_check());
	if (collect->deadline && !collect->budget_spent &&
	    clock_now() >= collect->deadline) {
		collect->budget_spent = true;
		suite_interrupt();
	}
}

static void on_limit(void *data, const char *text)
{
	struct collect *collect = data;
	give_up(collect, collect_limit(collect, text));
}

struct suite_observer collect_observer(struct collect *collect)
{
	return (struct suite_observer){
		.started = on_started,
		.finished = on_finished,
		.limit = on_limit,
		.data = collect,
	};
}

struct err *collect_end(struct collect *collect, struct err *err)
{
	collect->progress = NULL;
	collect->budget_spent |= interrupt_late();
	if (sandboxing_begins_again()) {
		err_destroy(err);
		return take_ptr(collect->err);
	}
	/* What fails once the suite was asked to end fails because of that. */
	if (!err || (err_kind(err) != ERR_INTERRUPTED && !interrupt_late() &&
		     !interrupt_happened()))
		return err;
	if (collect->err) {
		err_destroy(err);
		return take_ptr(collect->err);
	}
	if (collect->budget_spent && !interrupt_happened()) {
		err_destroy(err);
		return NULL;
	}
	return err;
}

struct err *collect_disabled(struct collect *collect, size_t number)
{
	struct report_test test = collect_make_record(collect, number);
	test.outcome = OUTCOME_SKIP;
	return collect_add_test(collect, number, &test);
}

struct err *collect_limit(struct collect *collect, const char *text)
{
	for (size_t i = 0; i < collect->limits.n; i++) {
		if (!strcmp(collect->limits.data[i], text))
			return NULL;
	}
	_cleanup_(freep) char *copy = strdup(text);
	if (!copy)
		return err_nomem();
	TRY(vec_push(&collect->limits, copy));
	copy = NULL;
	return NULL;
}
