#include "choices/choices.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "choices/choices_internal.h"
#include "finding/flaky.h"
#include "suite/agent_library.h"

/* Failing tests that are named one by one where nothing else is known. */
#define UNEXPLAINED_MAX 20
/* How long tests that fail without choices are repeated, all of them. */
#define FAILING_NS (10 * NS_PER_S)

bool choices_late(const struct choices_search *search)
{
	return search->options->deadline &&
	       clock_now() >= search->options->deadline;
}

struct err *choices_limit(struct choices_search *search, const char *format,
			  ...)
{
	_cleanup_(freep) char *text = NULL;
	va_list list;
	va_start(list, format);
	int n = vasprintf(&text, format, list);
	va_end(list);
	if (n < 0) {
		text = NULL;
		return err_nomem();
	}
	if (search->observer->limit)
		search->observer->limit(search->observer->data, text);
	return NULL;
}

struct err *choices_unexplained(struct choices_search *search,
				const struct choices_set *set, size_t test)
{
	if (search->result->reach.undebugged++ >= UNEXPLAINED_MAX)
		return NULL;
	return choices_limit(search,
			     "choices: '%s' fails at level %s with seed %llu, "
			     "and there was no time to find out why",
			     suite_test(search->suite, test)->name,
			     choices_level_name(set->level),
			     (unsigned long long)set->seed);
}

/* ---- runs of the whole suite ---- */

struct round {
	struct choices_search *search;
	bool first;  /* reported to the observer */
	bool limits; /* these are, too */
	bool baseline;
	bool *failed; /* by number in the suite */
	bool start_counted;
	const struct choices_set *set; /* NULL: without choices */
};

static void round_on_started(void *data, size_t test)
{
	const struct round *round = data;
	const struct suite_observer *outer = round->search->observer;
	if (round->first && outer->started)
		outer->started(outer->data, test);
}

static void round_on_finished(void *data, const struct suite_result *result)
{
	struct round *round = data;
	struct choices_search *search = round->search;
	const struct suite_observer *outer = search->observer;
	struct choices_test *test = &search->of[result->test];
	bool good = outcome_is_good(suite_result_judged(result));
	if (round->first && outer->finished)
		outer->finished(outer->data, result);
	round->failed[result->test] = !good;
	if (!good && round->set)
		log_debug(LOG_CHOICES,
			  "level %s, seed %llu: '%s' ends with %s: %s",
			  choices_level_name(round->set->level),
			  (unsigned long long)round->set->seed,
			  suite_test(search->suite, result->test)->name,
			  outcome_name(result->outcome),
			  result->message ? result->message : "");
	if (!round->baseline)
		return;
	if (!test->runs)
		test->baseline = suite_result_judged(result);
	test->runs++;
	test->failures += !good;
}

/* On the channel of the models, which cannot log themselves. */
static void choices_log_models(const struct choices_options *options,
			       const struct wire_choices *block)
{
	for (uint64_t i = 0; i < WIRE_MODELS_ALL; i++) {
		const struct choices_model *model =
			choices_find_model(options, i);
		if (!model || !(block->made[i] | block->left_alone[i]))
			continue;
		log_debug(LOG_MODELS,
			  "%s: %llu choices, %llu of them varied; %llu calls "
			  "from outside the program's own code left alone%s",
			  model->api, (unsigned long long)block->made[i],
			  (unsigned long long)block->acted[i],
			  (unsigned long long)block->left_alone[i],
			  choices_has_model(block->on, i)
				  ? ""
				  : "; the model is switched off");
	}
}

static void round_on_chosen(void *data, size_t entry _unused_, size_t test,
			    const struct wire_choices *block)
{
	struct round *round = data;
	struct choices_reach *reach = &round->search->result->reach;
	if (log_enabled(LOG_MODELS)) {
		log_debug(LOG_MODELS, "%s, seed %llu, level %s:",
			  suite_test(round->search->suite, test)->name,
			  (unsigned long long)block->seed,
			  choices_level_name((unsigned)block->level));
		choices_log_models(round->search->options, block);
	}
	/* The start of the process is in the block of each of its tests. */
	if (round->start_counted) {
		reach->made -= MIN(reach->made, block->start_made);
		reach->acted -= MIN(reach->acted, block->start_acted);
	}
	round->start_counted = true;
	for (uint64_t i = 0; i < WIRE_MODELS_ALL; i++) {
		reach->made += block->made[i];
		reach->acted += block->acted[i];
		if (block->made[i])
			choices_set_bit(round->search->met, i);
	}
}

static void round_on_limit(void *data, const char *text)
{
	const struct round *round = data;
	const struct suite_observer *outer = round->search->observer;
	if ((round->first || round->limits) && outer->limit)
		outer->limit(outer->data, text);
}

static struct err *run_round(struct choices_search *search,
			     const struct choices_set *set, struct round *round)
{
	const struct suite_observer observer = {
		.started = round_on_started,
		.finished = round_on_finished,
		.chosen = round_on_chosen,
		.limit = round_on_limit,
		.data = round,
	};
	struct suite_choices choices = {};
	if (set) {
		choices = choices_to_suite(set);
		choices.off_by_test = search->off;
	}
	round->start_counted = false;
	round->set = set;
	memset(round->failed, 0,
	       suite_count(search->suite) * sizeof(*round->failed));
	TRY(suite_choose(search->suite, set ? &choices : NULL));
	return suite_run(search->suite, search->tests, search->n, 0, &observer);
}

static bool is_known_flaky(const struct choices_search *search, size_t test)
{
	const struct findings *arrivals = search->options->arrivals;
	for (size_t i = 0; arrivals && i < arrivals->n; i++) {
		if (arrivals->data[i].test == test)
			return true;
	}
	const struct findings *known = search->options->known;
	for (size_t i = 0; known && i < known->n; i++) {
		if (known->data[i].test == test && flaky_of(&known->data[i]))
			return true;
	}
	return false;
}

/* Which tests pass, each time? */
static struct err *run_baselines(struct choices_search *search)
{
	for (size_t i = 0; i < search->options->baselines; i++) {
		struct round round = {
			.search = search,
			.first = !i,
			.baseline = true,
			.failed = search->failed,
		};
		if (i && choices_late(search)) {
			search->result->reach.why = "budget";
			break;
		}
		TRY(run_round(search, NULL, &round));
		search->result->reach.baselines++;
	}
	for (size_t i = 0; i < search->n; i++) {
		struct choices_test *test = &search->of[search->tests[i]];
		if (is_known_flaky(search, search->tests[i]))
			test->left = true;
		else if (test->failures && test->failures < test->runs)
			TRY(choices_try_flaky(search, NULL, search->tests[i]));
		test->left |= test->failures == test->runs;
		if (test->left)
			log_debug(LOG_CHOICES,
				  "%s is left out: without choices it failed "
				  "%zu of %zu runs",
				  suite_test(search->suite, search->tests[i])
					  ->name,
				  (size_t)test->failures, (size_t)test->runs);
	}
	return NULL;
}

static bool fails_each_time(const struct choices_search *search, size_t test)
{
	const struct choices_test *of = &search->of[test];
	return of->failures && of->failures == of->runs &&
	       !is_known_flaky(search, test);
}

/*
 * Do tests that failed each time fail alone, too? It comes last, and ends soon:
 * each is run by itself, again and again, which may take longer than all that
 * choices are tried for.
 */
static struct err *try_all_failing(struct choices_search *search)
{
	uint64_t until = clock_now() + FAILING_NS;
	size_t all = 0, left = 0;
	for (size_t i = 0; i < search->n; i++) {
		if (!fails_each_time(search, search->tests[i]))
			continue;
		all++;
		if (choices_late(search) || clock_now() >= until)
			left++;
		else
			TRY(choices_try_failing(search, search->tests[i]));
	}
	if (!left || choices_late(search))
		return NULL;
	return choices_limit(search,
			     "choices: %zu of %zu tests that fail each time "
			     "were not repeated alone, as it takes too long",
			     left, all);
}

/* ---- seeds and levels ---- */

/* The models in use at a level. */
void choices_models_at(const struct choices_search *search, unsigned level,
		       uint64_t ret[WIRE_MODEL_WORDS])
{
	memset(ret, 0, WIRE_MODEL_WORDS * sizeof(*ret));
	for (uint64_t i = 0; i < WIRE_MODELS_ALL; i++) {
		const struct choices_model *model =
			choices_find_model(search->options, i);
		if (model && model->level <= level &&
		    choices_bit(search->options->models, i))
			choices_set_bit(ret, i);
	}
}

/* The program did not come to its first test: all tests fail then. */
static struct err *debug_start(struct choices_search *search,
			       const struct choices_set *set, struct err *err)
{
	size_t first = 0;
	while (first < search->n && search->of[search->tests[first]].left)
		first++;
	if (err_kind(err) != ERR_SUITE || first == search->n)
		return err;
	log_debug(LOG_CHOICES, "level %s, seed %llu: %s",
		  choices_level_name(set->level), (unsigned long long)set->seed,
		  err_message(err));
	err_destroy(err);
	return choices_debug(search, set, search->tests[first]);
}

static struct err *explain_round(struct choices_search *search,
				 const struct choices_set *set,
				 const bool *failed)
{
	for (size_t i = 0; i < search->n; i++) {
		size_t test = search->tests[i];
		if (!failed[test] || search->of[test].left)
			continue;
		if (choices_late(search)) {
			search->result->reach.why = "budget";
			TRY(choices_unexplained(search, set, test));
			continue;
		}
		TRY(choices_debug(search, set, test));
	}
	return NULL;
}

/* For the report: before what failed is explained, which runs it again. */
static struct err *note_outcome(struct choices_search *search,
				const struct choices_set *set)
{
	struct choices_run run = { .level = set->level, .seed = set->seed };
	struct err *err = NULL;
	for (size_t i = 0; !err && i < search->n; i++) {
		size_t test = search->tests[i];
		if (search->failed[test] && !search->of[test].left)
			err = vec_push(&run.failed, test);
	}
	if (!err)
		err = vec_push(&search->result->reach.outcomes, run);
	if (err)
		vec_free(&run.failed);
	return err;
}

static struct err *run_level(struct choices_search *search, unsigned level)
{
	struct round round = { .search = search, .failed = search->failed };
	for (size_t i = 0; i < search->options->runs; i++) {
		struct choices_set set = {
			.level = (enum wire_level)level,
			.seed = search->options->seed + i,
			.startup = true,
		};
		if (choices_late(search)) {
			log_debug(LOG_CHOICES,
				  "level %s ends after %zu of %zu seeds: the "
				  "budget is used up",
				  choices_level_name(level), i,
				  search->options->runs);
			search->result->reach.why = "budget";
			return NULL;
		}
		choices_models_at(search, level, set.models);
		memcpy(set.on, set.models, sizeof(set.on));
		round.limits = !search->result->reach.runs;
		struct err *err = run_round(search, &set, &round);
		search->result->reach.runs++;
		if (err) {
			TRY(debug_start(search, &set, err));
			continue;
		}
		TRY(note_outcome(search, &set));
		TRY(explain_round(search, &set, search->failed));
	}
	return NULL;
}

static struct err *search_all(struct choices_search *search)
{
	const struct choices_options *options = search->options;
	TRY(run_baselines(search));
	if (options->systematic) {
		for (size_t i = 0; i < search->n; i++) {
			if (choices_late(search)) {
				search->result->reach.why = "budget";
				break;
			}
			if (!search->of[search->tests[i]].left)
				TRY(choices_explore(search, search->tests[i]));
		}
		return try_all_failing(search);
	}
	for (unsigned level = 0; level < WIRE_LEVELS; level++) {
		if (!options->level_given || level == options->level)
			TRY(run_level(search, level));
	}
	return try_all_failing(search);
}

/* Without localedef(1), when this program was built, there is none of ours. */
static struct err *choices_check_locale(struct choices_search *search)
{
	_cleanup_(freep) char *library = NULL;
	_cleanup_(freep) char *locale = NULL;
	if (!choices_bit(search->options->models, WIRE_MODEL_locale))
		return NULL;
	err_ignore(agent_library_find(AGENT_LIBRARY_CHOICES, &library));
	err_ignore(agent_library_find(AGENT_LIBRARY_LOCALE, &locale));
	if (!library || locale)
		return NULL;
	return choices_limit(search,
			     "LC_ALL: no locale of our own was made, so only "
			     "those are tried that are installed");
}

struct err *choices_find(struct suite *suite, const size_t *tests, size_t n,
			 const struct choices_options *options,
			 const struct suite_observer *observer,
			 struct choices_result *ret)
{
	size_t all = suite_count(suite);
	_cleanup_(freep) struct choices_test *of = calloc(all, sizeof(*of));
	_cleanup_(freep) bool *failed = calloc(all, sizeof(*failed));
	_cleanup_(freep) uint64_t *off =
		calloc(all, WIRE_MODEL_WORDS * sizeof(*off));
	if (!of || !failed || !off)
		return err_nomem();
	struct choices_search search = {
		.suite = suite,
		.tests = tests,
		.n = n,
		.options = options,
		.observer = observer,
		.result = ret,
		.of = of,
		.off = off,
		.failed = failed,
	};
	uint64_t before = suite_executions(suite);
	struct err *err = n ? choices_check_locale(&search) : NULL;
	if (!err && n)
		err = search_all(&search);
	struct err *undone = suite_choose(suite, NULL);
	ret->reach.executions += suite_executions(suite) - before;
	struct err *named = choices_end_reach(&search);
	if (!err)
		err = undone;
	else
		err_ignore(undone);
	if (!err)
		return named;
	err_ignore(named);
	return err;
}

void choices_result_free(struct choices_result *result)
{
	findings_free(&result->findings);
	choices_reach_free(&result->reach);
	*result = (struct choices_result){};
}
