/* One run of a test under chosen choices, and what was seen of it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "choices/choices_internal.h"

/* Bytes of a line that is shown. */
#define LAST_LINE 300

struct watcher {
	struct choices_search *search;
	struct choices_trial *trial;
	size_t last; /* entry that counts */
	bool told;
	struct err *err;
};

void choices_trial_free(struct choices_trial *trial)
{
	free(trial->message);
	free(trial->file);
	vec_free(&trial->threads);
	for (size_t i = 0; i < trial->calls.n; i++)
		assumption_call_free(&trial->calls.data[i]);
	vec_free(&trial->calls);
	*trial = (struct choices_trial){};
}

struct suite_choices choices_to_suite(const struct choices_set *set)
{
	return (struct suite_choices){
		.level = set->level,
		.seed = set->seed,
		.models = set->models,
		.on = set->on,
		.off_by_test = set->off_by_test,
		.startup = set->startup,
		.only_ranges = set->only_ranges,
		.ranges = set->ranges,
		.n_ranges = set->n_ranges,
		.detail = set->detail,
		.trace = set->forced,
		.forced = set->forced,
		.n_forced = set->n_forced,
	};
}

/* Text of the tested process, which may lack its end. */
static char *trial_copy_text(const char *text, size_t size)
{
	return strndup(text, strnlen(text, size));
}

/* What a record says, in memory of its own, with its call stack. */
static struct err *choices_call_take(const struct choices_options *options,
				     const struct wire_choices *block,
				     const struct wire_choice *record,
				     struct assumption_call *ret)
{
	struct assumption_call call = {
		.model = record->model,
		.thread = record->thread,
		.n = record->n,
		.phase = record->phase,
		.pick = record->pick,
		.alternatives = record->alternatives,
		.argument = trial_copy_text(record->argument,
					    sizeof(record->argument)),
		.did = trial_copy_text(record->did, sizeof(record->did)),
	};
	struct err *err = call.argument && call.did
				  ? choices_name_call(options, &call)
				  : err_nomem();
	if (!err && options->unwind)
		err = options->unwind(options->unwind_data, block, record,
				      &call);
	if (err)
		assumption_call_free(&call);
	else
		*ret = call;
	return err;
}

static struct err *take_call(struct watcher *watcher,
			     const struct wire_choices *block,
			     const struct wire_choice *record)
{
	struct assumption_call call;
	TRY(choices_call_take(watcher->search->options, block, record, &call));
	struct err *err = vec_push(&watcher->trial->calls, call);
	if (err)
		assumption_call_free(&call);
	return err;
}

/* The same numbers are on in the tests before it: the most of all of them. */
static struct err *take_thread(struct choices_trial *trial,
			       const struct wire_choice_thread *thread)
{
	for (size_t i = 0; i < trial->threads.n; i++) {
		struct wire_choice_thread *known = &trial->threads.data[i];
		if (known->key != thread->key || known->phase != thread->phase)
			continue;
		known->n = MAX(known->n, thread->n);
		return NULL;
	}
	return vec_push(&trial->threads, *thread);
}

static struct err *take_block(struct watcher *watcher,
			      const struct wire_choices *block)
{
	struct choices_trial *trial = watcher->trial;
	uint64_t threads = MIN(block->threads_n, (uint64_t)WIRE_CHOICE_THREADS);
	uint64_t records = MIN(block->records_n, (uint64_t)WIRE_CHOICE_RECORDS);
	for (uint64_t i = 0; i < WIRE_MODELS_ALL; i++)
		trial->acted[i] |= block->acted[i];
	for (uint64_t i = 0; i < threads; i++)
		TRY(take_thread(trial, &block->threads[i]));
	if (!block->detail || !records)
		return NULL;
	/* Those of the test itself, if it has any. */
	for (size_t i = 0; i < trial->calls.n; i++)
		assumption_call_free(&trial->calls.data[i]);
	trial->calls.n = 0;
	for (uint64_t i = 0; i < records; i++)
		TRY(take_call(watcher, block, &block->records[i]));
	trial->more_calls = block->records_n > WIRE_CHOICE_RECORDS;
	return NULL;
}

static void trial_on_chosen(void *data, size_t entry _unused_,
			    size_t test _unused_,
			    const struct wire_choices *block)
{
	struct watcher *watcher = data;
	if (!watcher->err)
		watcher->err = take_block(watcher, block);
}

/* What a process says last tells more than its exit status. */
static char *trial_describe_result(const struct suite_result *result)
{
	const char *text = result->output;
	size_t end = result->output_n, start;
	char *described;
	if (!result->message || strchr(result->message, '\n') || result->file ||
	    !text)
		return result->message ? strdup(result->message) : NULL;
	while (end && (unsigned char)text[end - 1] <= ' ')
		end--;
	for (start = end; start && text[start - 1] != '\n';)
		start--;
	size_t n = MIN(end - start, (size_t)LAST_LINE);
	if (!n || memchr(text + start, '\0', n))
		return strdup(result->message);
	return asprintf(&described, "%s: %.*s", result->message, (int)n,
			text + start) < 0
		       ? NULL
		       : described;
}

static void trial_on_finished(void *data, const struct suite_result *result)
{
	struct watcher *watcher = data;
	struct choices_trial *trial = watcher->trial;
	if (result->entry != watcher->last || watcher->told)
		return;
	watcher->told = true;
	trial->outcome = suite_result_judged(result);
	trial->ns = result->ns;
	trial->line = result->line;
	trial->message = trial_describe_result(result);
	trial->file = result->file ? strdup(result->file) : NULL;
}

static void trial_on_limit(void *data _unused_, const char *text _unused_)
{
}

/* Where the program does not come to its first test under these choices. */
static struct err *did_not_start(struct err *err, struct choices_trial *trial)
{
	trial->outcome = OUTCOME_CRASH;
	free(trial->message);
	trial->message = strdup(err_message(err));
	err_destroy(err);
	return NULL;
}

/* The last of @order is the test that counts. */
static struct err *try_order(struct choices_search *search,
			     const struct choices_set *set, const size_t *order,
			     size_t n, bool alone, struct choices_trial *ret)
{
	struct choices_trial trial = {};
	struct watcher watcher = {
		.search = search,
		.trial = &trial,
		.last = n - 1,
	};
	const struct suite_observer observer = {
		.finished = trial_on_finished,
		.chosen = trial_on_chosen,
		.limit = trial_on_limit,
		.data = &watcher,
	};
	struct suite_choices choices = {};
	if (set)
		choices = choices_to_suite(set);
	TRY(suite_choose(search->suite, set ? &choices : NULL));
	struct err *err =
		suite_run(search->suite, order, n,
			  SUITE_SERIAL | (alone ? SUITE_ALONE : 0), &observer);
	if (err && set && set->startup && err_kind(err) == ERR_SUITE)
		err = did_not_start(err, &trial);
	if (!err)
		err = take_ptr(watcher.err);
	err_destroy(watcher.err);
	if (err) {
		choices_trial_free(&trial);
		return err;
	}
	*ret = trial;
	return NULL;
}

struct err *choices_try(struct choices_search *search,
			const struct choices_set *set, size_t test, bool alone,
			struct choices_trial *ret)
{
	size_t n = 1;
	if (alone)
		return try_order(search, set, &test, 1, true, ret);
	while (n <= search->n && search->tests[n - 1] != test)
		n++;
	BUG_ON(n > search->n);
	return try_order(search, set, search->tests, n, false, ret);
}

struct err *choices_run_again(struct suite *suite, const size_t *order,
			      size_t n, const struct choices_again *again,
			      struct suite_result *ret)
{
	const struct choices_options options = {};
	struct choices_search search = { .suite = suite, .options = &options };
	_cleanup_(choices_trial_free) struct choices_trial trial = {};
	struct choices_set set = {};
	if (again) {
		set = (struct choices_set){
			.level = again->level,
			.seed = again->seed,
			.only_ranges = again->n_ranges,
			.ranges = again->ranges,
			.n_ranges = again->n_ranges,
			.startup = again->startup,
			.forced = again->forced,
			.n_forced = again->n_forced,
		};
		memcpy(set.models, again->models, sizeof(set.models));
		memcpy(set.on, again->on, sizeof(set.on));
	}
	TRY(try_order(&search, again ? &set : NULL, order, n, n == 1, &trial));
	*ret = (struct suite_result){
		.test = order[n - 1],
		.outcome = trial.outcome,
		.ns = trial.ns,
		.message = take_ptr(trial.message),
		.file = take_ptr(trial.file),
		.line = trial.line,
	};
	return suite_choose(suite, NULL);
}
