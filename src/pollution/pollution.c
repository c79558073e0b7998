#include "pollution/pollution_internal.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/str.h"
#include "pollution/crew.h"

/* This many letters in a name that differ each time are not a word. */
#define RANDOM_LENGTH 6

void pollution_free(struct pollution *pollution)
{
	findings_free(&pollution->findings);
	for (size_t i = 0; i < pollution->firsts.n; i++)
		free(pollution->firsts.data[i].root);
	vec_free(&pollution->firsts);
	left_out_free(pollution);
	vec_free(&pollution->cleaners);
	vec_free(&pollution->changers);
	free(pollution->outcomes);
}

void search_fail(struct pollution_search *search, struct err *err)
{
	if (!err)
		return;
	if (search->err)
		err_ignore(err);
	else
		search->err = err;
}

void search_limit(void *data, const char *text)
{
	struct pollution_search *search = data;
	if (search->outer->limit)
		search->outer->limit(search->outer->data, text);
}

bool search_is_late(const struct pollution_search *search)
{
	return search->deadline && clock_now() >= search->deadline;
}

struct err *search_run(struct pollution_search *search, const size_t *order,
		       size_t n, const struct suite_observer *observer)
{
	search->finished = 0;
	TRY(suite_run(search->suite, order, n, 0, observer));
	return take_ptr(search->err);
}

/* ---- which tests leave what ---- */

static void find_started(void *data, size_t test)
{
	struct pollution_search *search = data;
	if (search->outer->started)
		search->outer->started(search->outer->data, test);
}

static void find_finished(void *data, const struct suite_result *result)
{
	struct pollution_search *search = data;
	search->outcomes[result->test] = (uint8_t)suite_result_judged(result);
	search->took[result->test] = result->ns;
	search->finished++;
	if (search->outer->finished)
		search->outer->finished(search->outer->data, result);
}

static struct err *add_leftover(struct pollution_search *search, size_t test,
				const struct change *change)
{
	struct pollution *pollution = search->pollution;
	if (change->first) {
		struct first_use first = { test, strdup(change->root) };
		if (!first.root)
			return err_nomem();
		struct err *err = vec_push(&pollution->firsts, first);
		if (err)
			free(first.root);
		return err;
	}
	struct leftover leftover = { .test = test };
	if (!change->n) /* there is no place to show */
		return NULL;
	TRY(change_copy(change, &leftover.change));
	struct err *err = vec_push(&search->leftovers, leftover);
	if (err)
		change_free(&leftover.change);
	else
		early_watch(search, &leftover);
	return err;
}

static bool pollution_is_known(const struct pollution_search *search,
			       size_t test, const struct change *change)
{
	for (size_t i = search->leftovers.n; i-- > 0;) {
		const struct leftover *leftover = &search->leftovers.data[i];
		if (leftover->test != test)
			return false; /* those of one test stand together */
		if (leftover->change.where == change->where &&
		    !strcmp(leftover->change.root, change->root))
			return true;
	}
	return false;
}

/* Variables are filtered where they are watched; the rest is filtered here. */
static bool pollution_is_wanted(const struct pollution_search *search,
				const struct change *change)
{
	if (change->where == CHANGE_MEMORY)
		return true;
	const char *why = NULL;
	if (regexes_match(&search->exclude, change->root))
		why = "it is excluded";
	else if (search->include.n &&
		 !regexes_match(&search->include, change->root))
		why = "it is not included";
	if (why)
		log_debug(LOG_POLLUTION, "change of %s does not count: %s",
			  change->root, why);
	return !why;
}

static bool is_cleaning(struct pollution_search *search, size_t test,
			const struct change *change)
{
	bool cleaning = false;
	struct err *err =
		originals_restored(search->originals, change, &cleaning);
	if (cleaning)
		log_debug(LOG_POLLUTION,
			  "change of %s does not count: it is back to what it "
			  "was before the first test",
			  change->root);
	if (!err && cleaning && change->where == CHANGE_MEMORY)
		err = vec_push(&search->pollution->cleaners, test);
	search_fail(search, err);
	return cleaning;
}

static void find_changed(void *data, size_t entry, size_t test,
			 const struct change *changes, size_t n)
{
	struct pollution_search *search = data;
	(void)entry;
	for (size_t i = 0; i < n; i++) {
		if (pollution_is_wanted(search, &changes[i]) &&
		    !is_cleaning(search, test, &changes[i]) &&
		    !pollution_is_known(search, test, &changes[i]))
			search_fail(search,
				    add_leftover(search, test, &changes[i]));
	}
}

static struct err *find_changes(struct pollution_search *search,
				const size_t *order, size_t n)
{
	const struct suite_observer observer = {
		.started = find_started,
		.finished = find_finished,
		.changed = find_changed,
		.left_out = search_left_out,
		.omitted = search->options->omitted ? search_omitted : NULL,
		.read = early_note_read,
		.limit = search_limit,
		.data = search,
	};
	TRY(suite_watch(search->suite, &search->options->watch));
	/* Others could run the first half meanwhile. */
	if (search->options->readers && suite_jobs(search->suite) > 1)
		TRY(suite_keep_middle(search->suite, true));
	if (!search->options->readers)
		return search_run(search, order, n, &observer);
	search->finished = 0;
	TRY(suite_run_adding(search->suite, order, n, &observer));
	return take_ptr(search->err);
}

/* ---- what a second run does ---- */

void search_note_verdict(struct pollution_search *search,
			 const struct suite_result *result,
			 enum search_unsteady how)
{
	static const char *const where[] = {
		[UNSTEADY_AGAIN] = "right after itself",
		[UNSTEADY_SAME] = "in the same order",
		[UNSTEADY_APART] = "after other tests than before",
	};
	uint8_t *unsteady = &search->unsteady[result->test];
	enum outcome outcome = suite_result_judged(result);
	search->ended[result->test] = (uint8_t)outcome;
	if (outcome == search->outcomes[result->test])
		return;
	if (!(*unsteady & how))
		log_debug(LOG_POLLUTION, "test %zu ends differently %s: %s",
			  result->test, where[how], outcome_name(outcome));
	*unsteady |= (uint8_t)how;
}

void search_count_finished(void *data, const struct suite_result *result)
{
	struct pollution_search *search = data;
	search_note_verdict(search, result, search->how);
	search->finished++;
}

struct leftover *search_leftover_at(struct pollution_search *search,
				    size_t test, const struct change *change)
{
	for (size_t i = 0; i < search->leftovers.n; i++) {
		struct leftover *leftover = &search->leftovers.data[i];
		if (leftover->test == test &&
		    leftover->change.where == change->where &&
		    !strcmp(leftover->change.root, change->root))
			return leftover;
	}
	return NULL;
}

/* Up to the last '/' of a file, to the '[' of an attribute. */
static size_t change_family_length(const struct change *change)
{
	const char *end =
		strrchr(change->root, change->where == CHANGE_FILE ? '/' : '[');
	return end ? (size_t)(end - change->root) + 1 : 0;
}

static bool is_new(const struct change *change)
{
	return change->n && !strcmp(change->paths[0].before, "absent");
}

/* Letters and digits that look generated, by their number or their kind. */
static bool is_made_up(const char *text, size_t n)
{
	bool digit = false;
	for (size_t i = 0; i < n; i++) {
		if (!isalnum((unsigned char)text[i]))
			return false;
		digit |= isdigit((unsigned char)text[i]) != 0;
	}
	return digit || n >= RANDOM_LENGTH;
}

/*
 * "log.1700000001" and "log.1700000002": equal except for one generated part.
 */
static bool is_alike(const char *a, const char *b)
{
	size_t head = 0, tail = 0, n = strlen(a), m = strlen(b);
	while (a[head] && a[head] == b[head])
		head++;
	/* A number is taken whole, with the digits that are equal. */
	while (head && isdigit((unsigned char)a[head - 1]))
		head--;
	while (tail < n - head && tail < m - head &&
	       a[n - 1 - tail] == b[m - 1 - tail] &&
	       !isdigit((unsigned char)a[n - 1 - tail]))
		tail++;
	return is_made_up(a + head, n - head - tail) &&
	       is_made_up(b + head, m - head - tail);
}

/*
 * What came into being under one name in one run and under another in the next:
 * a descriptor that is never closed, a file named after the time.
 */
static bool is_relative(const struct leftover *leftover, size_t test,
			const struct change *change)
{
	const struct change *mine = &leftover->change;
	size_t n = change_family_length(change);
	if (leftover->test != test || mine->where != change->where ||
	    !is_new(mine) || !is_new(change) ||
	    n != change_family_length(mine) ||
	    strncmp(mine->root, change->root, n) != 0)
		return false;
	if (change->where == CHANGE_FILE)
		return is_alike(mine->root + n, change->root + n);
	return n && !strcmp(mine->paths[0].after, change->paths[0].after);
}

static void note_relatives(struct pollution_search *search, size_t test,
			   const struct change *change)
{
	if (change->where == CHANGE_MEMORY)
		return;
	for (size_t i = 0; i < search->leftovers.n; i++) {
		struct leftover *leftover = &search->leftovers.data[i];
		if (!is_relative(leftover, test, change))
			continue;
		leftover->effect = EFFECT_ACCUMULATES;
		if (change->where == CHANGE_FILE)
			leftover->change.weight = WEIGHT_LOW;
	}
}

static void effect_changed(void *data, size_t entry, size_t test,
			   const struct change *changes, size_t n)
{
	struct pollution_search *search = data;
	for (size_t i = 0; i < n; i++) {
		struct leftover *leftover =
			search_leftover_at(search, test, &changes[i]);
		if (!leftover && entry % 2 && !changes[i].first)
			note_relatives(search, test, &changes[i]);
		if (!leftover || changes[i].first)
			continue;
		if (entry % 2) {
			leftover->effect = EFFECT_ACCUMULATES;
			leftover->again |= changes[i].kinds;
			leftover->came_back =
				leftover->once == changes[i].digest;
			leftover->again_places = changes[i].n + changes[i].more;
		} else { /* the first of the two: as before, or not */
			leftover->once = changes[i].digest;
			leftover->varies |=
				changes[i].digest != leftover->change.digest;
		}
	}
}

static void effect_finished(void *data, const struct suite_result *result)
{
	struct pollution_search *search = data;
	bool second = result->entry % 2;
	search_note_verdict(search, result,
			    second ? UNSTEADY_AGAIN : UNSTEADY_APART);
	bool whole = result->outcome == OUTCOME_PASS ||
		     result->outcome == OUTCOME_FAIL ||
		     result->outcome == OUTCOME_SKIP;
	/* Where it does not go the same way, it tells nothing. */
	if (!second || !whole ||
	    result->outcome != search->outcomes[result->test])
		return;
	for (size_t i = 0; i < search->leftovers.n; i++) {
		struct leftover *leftover = &search->leftovers.data[i];
		if (leftover->test == result->test &&
		    leftover->effect == EFFECT_UNKNOWN)
			leftover->effect = EFFECT_SETTLES;
	}
}

/* Each polluter of that part of them twice in a row, all in one process. */
static struct err *run_twice(void *data, size_t part)
{
	struct pollution_search *search = data;
	const struct suite_observer observer = {
		.finished = effect_finished,
		.changed = effect_changed,
		.left_out = search_left_out,
		.limit = search_limit,
		.data = search,
	};
	VEC(size_t) order = VEC_INIT;
	struct err *err = NULL;
	for (size_t i = 0; !err && i < search->leftovers.n; i++) {
		size_t test = search->leftovers.data[i].test;
		if (order.n && order.data[order.n - 1] == test)
			continue;
		err = vec_push(&order, test);
		if (!err)
			err = vec_push(&order, test);
	}
	size_t polluters = order.n / 2, parts = crew_effect_parts(search->crew);
	size_t from = polluters * part / parts;
	size_t to = polluters * (part + 1) / parts;
	if (!err && from < to)
		err = search_run(search, order.data + 2 * from, 2 * (to - from),
				 &observer);
	vec_free(&order);
	return err;
}

struct err *search_effects(struct pollution_search *search)
{
	const struct crew_work work = {
		.stage = CREW_EFFECTS,
		.n = crew_effect_parts(search->crew),
		.run = run_twice,
		.data = search,
	};
	size_t taken;
	return crew_run(search->crew, &work, &taken);
}

uint64_t search_effects_ns(const struct pollution_search *search)
{
	uint64_t ns = 0;
	size_t last = (size_t)-1;
	for (size_t i = 0; i < search->leftovers.n; i++) {
		size_t test = search->leftovers.data[i].test;
		ns += test == last ? 0 : 2 * search->took[test];
		last = test;
	}
	return ns;
}

/* ---- what it means ---- */

/* Did any of them have another value after other tests? Else it is constant. */
static bool may_differ(const struct pollution_search *search)
{
	bool any = !search->options->effect;
	for (size_t i = 0; i < search->leftovers.n; i++) {
		const struct leftover *leftover = &search->leftovers.data[i];
		any |= leftover->varies || leftover->effect == EFFECT_UNKNOWN;
	}
	return any;
}

/* What was done since *@start, and how long it took. */
static void log_stage(const char *what, uint64_t *start)
{
	char took[16];
	uint64_t now = clock_now();
	duration_format(now - *start, took);
	log_debug(LOG_POLLUTION, "%s: %s", what, took);
	*start = now;
}

static struct err *find_meaning(struct pollution_search *search,
				const size_t *order, size_t n)
{
	const struct pollution_options *options = search->options;
	if (!search->leftovers.n)
		return NULL;
	bool left = false;
	uint64_t start = clock_now();
	search->how = UNSTEADY_SAME;
	search->middle = suite_middle(search->suite, order, n);
	if (search_is_late(search))
		left = true;
	else
		TRY(crew_create(search, order, n, &search->crew));
	if (options->effect && !left)
		TRY(search_effects(search));
	log_stage("effects", &start);
	if (may_differ(search) && !(left = left || search_is_late(search))) {
		TRY(search_values_begin(search));
		if (!search_compares_values(search))
			TRY(search_values_end(search, order, n));
	}
	if (options->readers && !(left = left || search_is_late(search))) {
		crew_share(search->crew);
		TRY(search_readers(search, order, n));
	}
	if (search->met && !(left = left || search_is_late(search)))
		TRY(search_values_end(search, order, n));
	log_stage("values and readers", &start);
	search->how = UNSTEADY_APART;
	if (options->effect && options->readers &&
	    !(left = left || search_is_late(search)))
		TRY(search_first_users(search));
	if (options->effect && options->readers &&
	    !(left = left || search_is_late(search)))
		TRY(search_lazy(search));
	if (options->effect && options->readers &&
	    !(left = left || search_is_late(search)))
		TRY(search_made(search, order, n));
	if (options->effect && options->readers &&
	    !(left = left || search_is_late(search)))
		TRY(search_verdicts(search, order, n));
	log_stage("caches and counts", &start);
	if (options->readers && options->traces && !left &&
	    !search_is_late(search))
		TRY(search_traces(search, order, n));
	log_stage("stacks", &start);
	if (left)
		search_limit(search, "pollution: the budget ended before "
				     "every change was classified");
	return NULL;
}

/* What could not be made a finding is freed. */
static struct err *pollution_make_findings(struct pollution_search *search)
{
	struct err *err = NULL;
	for (size_t i = 0; i < search->leftovers.n; i++) {
		struct leftover *leftover = &search->leftovers.data[i];
		struct finding finding = {};
		if (!err)
			err = pollution_finding_make(search->options->run,
						     leftover, &finding);
		if (!err) {
			err = vec_push(&search->pollution->findings, finding);
			if (err)
				finding_free(&finding);
		} else {
			leftover_free(leftover);
		}
	}
	vec_free(&search->leftovers);
	return err;
}

struct err *pollution_find(struct suite *suite, const size_t *order, size_t n,
			   const struct pollution_options *options,
			   const struct suite_observer *observer,
			   struct pollution *ret)
{
	struct pollution_search search = {
		.suite = suite,
		.options = options,
		.outer = observer,
		.pollution = ret,
		.memory = options->watch,
		.deadline = options->deadline,
	};
	search.memory.what = SUITE_MEMORY;
	_cleanup_(freep) uint64_t *took =
		calloc(suite_count(suite) + 1, sizeof(*took));
	search.took = took;
	search.outcomes = calloc(suite_count(suite) + 1, 1);
	search.unsteady = calloc(suite_count(suite) + 1, 1);
	search.ended = calloc(suite_count(suite) + 1, 1);
	if (!search.outcomes || !search.unsteady || !search.ended || !took) {
		free(search.outcomes);
		free(search.unsteady);
		free(search.ended);
		return err_nomem();
	}
	uint64_t start = clock_now();
	struct err *err = originals_create(&search.originals);
	if (!err)
		err = regexes_add(&search.include, "--include-roots",
				  options->watch.include_roots);
	if (!err)
		err = regexes_add(&search.exclude, "--exclude-roots",
				  options->watch.exclude_roots);
	suite_initialise(suite, options->eager);
	if (!err)
		err = find_changes(&search, order, n);
	if (!err)
		err = omitted_judge(&search, n);
	search.first_ns = clock_now() - start;
	if (options->deadline_after)
		search.deadline =
			options->deadline_after(options->data, search.first_ns);
	if (!err) {
		err = find_meaning(&search, order, n);
		if (err && err_kind(err) == ERR_INTERRUPTED)
			search_limit(&search, "pollution: the run ended before "
					      "every change was classified");
	}
	crew_destroy(search.crew);
	err_ignore(take_ptr(search.err));
	free(ret->outcomes);
	ret->outcomes = search.outcomes;
	ret->ns = search.first_ns;
	free(search.met);
	map_text_free(&search.left_out);
	omitted_free(&search.omitted);
	early_free(&search.early);
	left_out_sort(ret);
	free(search.unsteady);
	free(search.ended);
	originals_destroy(search.originals);
	regexes_free(&search.include);
	regexes_free(&search.exclude);
	suite_initialise(suite, false);
	struct err *unwatch = suite_watch(suite, NULL);
	if (!unwatch)
		unwatch = suite_keep_middle(suite, false);
	if (err)
		err_ignore(unwatch);
	struct err *made = pollution_make_findings(&search);
	if (!err)
		err = unwatch;
	if (err)
		err_ignore(made);
	return err ? err : made;
}
