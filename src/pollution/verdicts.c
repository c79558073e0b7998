/*
 * What only counts: numbers of requests, of allocations, of objects, the state of
 * a random generator. Most suites have such, most tests read them in order to
 * count on, and nobody minds. But a test may expect a count: then it ends
 * differently if the count is another one.
 *
 * Tests that count themselves were seen twice in a row by now, with another count
 * each time. The others that read it run once more: before anything was counted
 * if they come later in the suite, and after that if they come earlier.
 *
 * A test that ends differently right after itself may do so for any reason. If it
 * does not count, the count was the same both times, and was not the reason. If
 * it does, it is run alone and after another test that counts: there the count
 * differs and what else the test itself left does not.
 */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/str.h"
#include "pollution/pollution_internal.h"

/* Tests that run alone and after others that count, for one root each. */
#define TRIALS_MAX 16
/* At least so many other tests use what is shared. */
#define SHARED_READERS 3
/* So often another test counts before them. */
#define TRIAL_COUNTS 4

/* When a reader runs again. */
enum count_turn {
	TURN_BEFORE = 1 << 0,
	TURN_AFTER = 1 << 1,
	TURN_COUNTS = 1 << 2
};

struct count_readers {
	struct pollution_search *search;
	size_t *place;	       /* by test: in the order */
	uint8_t *turns;	       /* by test */
	bool *counter;	       /* by test: of the root that is examined */
	struct map_text tried; /* trial_key(): these had their trial */
	size_t trials;
};

static void count_readers_free(struct count_readers *readers)
{
	free(readers->place);
	free(readers->turns);
	free(readers->counter);
	map_text_free(&readers->tried);
}

static bool is_same_root(const struct leftover *one,
			 const struct leftover *other)
{
	return one->change.where == other->change.where &&
	       !strcmp(one->change.root, other->change.root);
}

/* Which tests count there, and the first of them. */
static size_t find_counters(struct count_readers *readers,
			    const struct leftover *of)
{
	const struct pollution_search *search = readers->search;
	size_t first = of->test;
	memset(readers->counter, 0, suite_count(search->suite));
	for (size_t i = 0; i < search->leftovers.n; i++) {
		const struct leftover *one = &search->leftovers.data[i];
		if (!is_same_root(one, of))
			continue;
		readers->counter[one->test] = true;
		if (readers->place[one->test] < readers->place[first])
			first = one->test;
	}
	return first;
}

static void ask_readers(struct count_readers *readers,
			const struct leftover *leftover, size_t first)
{
	for (size_t i = 0; i < leftover->readers.n; i++) {
		size_t reader = leftover->readers.data[i];
		if (readers->counter[reader])
			continue;
		bool later = readers->place[reader] > readers->place[first];
		readers->turns[reader] |= later ? TURN_BEFORE : TURN_AFTER;
		readers->turns[first] |= TURN_COUNTS;
	}
}

static struct err *ask_all(struct count_readers *readers)
{
	struct pollution_search *search = readers->search;
	_cleanup_(map_text_freep) struct map_text seen = MAP_INIT;
	for (size_t i = 0; i < search->leftovers.n; i++) {
		const struct leftover *one = &search->leftovers.data[i];
		uint64_t known;
		if (!leftover_counts(one) ||
		    map_text_get(&seen, one->change.root, &known))
			continue;
		TRY(map_text_put(&seen, one->change.root, 1));
		size_t first = find_counters(readers, one);
		for (size_t j = i; j < search->leftovers.n; j++) {
			const struct leftover *other =
				&search->leftovers.data[j];
			if (is_same_root(one, other) &&
			    leftover_may_count(other))
				ask_readers(readers, other, first);
		}
	}
	return NULL;
}

static struct err *run_turns(struct count_readers *readers, const size_t *order,
			     size_t n)
{
	static const enum count_turn turns[] = { TURN_BEFORE, TURN_COUNTS,
						 TURN_AFTER };
	struct pollution_search *search = readers->search;
	const struct suite_observer observer = {
		.finished = search_count_finished,
		.limit = search_limit,
		.data = search,
	};
	size_t *tests = calloc(ARRAY_SIZE(turns) * n + 1, sizeof(*tests));
	size_t m = 0;
	if (!tests)
		return err_nomem();
	for (size_t i = 0; i < ARRAY_SIZE(turns); i++) {
		for (size_t j = 0; j < n; j++) {
			if (readers->turns[order[j]] & turns[i])
				tests[m++] = order[j];
		}
	}
	struct err *err = NULL;
	if (m) {
		log_debug(LOG_POLLUTION,
			  "%zu tests run again to see whether their outcome "
			  "follows a count",
			  m);
		err = suite_watch(search->suite, NULL);
		if (!err)
			err = search_run(search, tests, m, &observer);
	}
	free(tests);
	return err;
}

/* ---- tests that count and end differently right after themselves ---- */

static struct err *trial_key(const struct leftover *leftover, size_t test,
			     struct str *ret)
{
	return str_appendf(ret, "%d %s\n%zu", leftover->change.where,
			   leftover->change.root, test);
}

/* The quickest other test that counts there and always ends alike. */
static const struct leftover *
find_other_counter(const struct pollution_search *search,
		   const struct leftover *of)
{
	const struct leftover *best = NULL;
	for (size_t i = 0; i < search->leftovers.n; i++) {
		const struct leftover *one = &search->leftovers.data[i];
		if (one->test == of->test || !is_same_root(one, of) ||
		    !leftover_counts(one) || search->unsteady[one->test])
			continue;
		if (!best || search->took[one->test] < search->took[best->test])
			best = one;
	}
	return best;
}

struct err *search_run_after(struct pollution_search *search, size_t other,
			     size_t test)
{
	size_t tests[TRIAL_COUNTS + 1];
	/* What goes another way the second time runs once. */
	size_t n = search->unsteady[other] ? 1 : TRIAL_COUNTS;
	const struct suite_observer observer = {
		.finished = search_count_finished,
		.limit = search_limit,
		.data = search,
	};
	for (size_t i = 0; i < n; i++)
		tests[i] = other;
	tests[n] = test;
	log_debug(LOG_POLLUTION, "test %zu runs after test %zu", test, other);
	return search_run(search, tests, n + 1, &observer);
}

static struct err *run_count_trial(struct count_readers *readers,
				   const struct leftover *leftover,
				   size_t other)
{
	struct pollution_search *search = readers->search;
	_cleanup_(str_freep) struct str key = STR_INIT;
	const struct suite_observer observer = {
		.finished = search_count_finished,
		.limit = search_limit,
		.data = search,
	};
	TRY(suite_watch(search->suite, NULL));
	TRY(search_run(search, &leftover->test, 1, &observer));
	TRY(search_run_after(search, other, leftover->test));
	TRY(trial_key(leftover, leftover->test, &key));
	return map_text_put(&readers->tried, key.s, 1);
}

static struct err *run_trials(struct count_readers *readers)
{
	struct pollution_search *search = readers->search;
	for (size_t i = 0; i < search->leftovers.n; i++) {
		const struct leftover *one = &search->leftovers.data[i];
		uint8_t unsteady = search->unsteady[one->test];
		if (!leftover_may_count(one) || !(unsteady & UNSTEADY_AGAIN) ||
		    unsteady & UNSTEADY_APART)
			continue;
		const struct leftover *other = find_other_counter(search, one);
		if (!other)
			continue;
		if (readers->trials++ == TRIALS_MAX || search_is_late(search))
			break;
		TRY(run_count_trial(readers, one, other->test));
	}
	return NULL;
}

/* ---- what it means ---- */

/* May the test's verdict follow what is counted there? */
static struct err *may_follow(const struct count_readers *readers,
			      const struct leftover *leftover, size_t test,
			      bool *ret)
{
	struct pollution_search *search = readers->search;
	_cleanup_(str_freep) struct str key = STR_INIT;
	uint64_t tried;
	uint8_t unsteady = search->unsteady[test];
	*ret = unsteady & UNSTEADY_APART;
	if (*ret || !(unsteady & UNSTEADY_AGAIN) ||
	    !search_leftover_at(search, test, &leftover->change))
		return NULL;
	TRY(trial_key(leftover, test, &key));
	*ret = !map_text_get(&readers->tried, key.s, &tried);
	return NULL;
}

/* Does no test that reads it, or counts it, end differently? */
static struct err *does_nobody_follow(const struct count_readers *readers,
				      const struct leftover *leftover,
				      bool *ret)
{
	bool follows = !leftover->readers_known;
	if (!follows)
		TRY(may_follow(readers, leftover, leftover->test, &follows));
	for (size_t i = 0; !follows && i < leftover->readers.n; i++)
		TRY(may_follow(readers, leftover, leftover->readers.data[i],
			       &follows));
	*ret = !follows;
	return NULL;
}

static bool is_same_place(const struct leftover *one,
			  const struct leftover *other)
{
	return is_same_root(one, other) &&
	       !strcmp(one->change.paths[0].path, other->change.paths[0].path);
}

/* Is it a number that is less than before? Generators' go up and down. */
static bool is_less(const struct change *change)
{
	const struct change_path *path = &change->paths[0];
	char *before_end, *after_end;
	long long before = strtoll(path->before, &before_end, 10);
	long long after = strtoll(path->after, &after_end, 10);
	return !(change->kinds & VALUE_MIXED) && before_end != path->before &&
	       !*before_end && after_end != path->after && !*after_end &&
	       after < before;
}

/*
 * Does some test count there, and does none leave less than there was? Flags that
 * are set one by one grow, too, until a test sets others.
 */
static bool is_place_of_count(const struct pollution_search *search,
			      const struct leftover *leftover)
{
	bool any = false;
	for (size_t i = 0; i < search->leftovers.n; i++) {
		const struct leftover *one = &search->leftovers.data[i];
		if (!is_same_place(one, leftover))
			continue;
		if (is_less(&one->change))
			return false;
		any |= leftover_counts(one);
	}
	return any;
}

/*
 * What a test leaves whose second run tells nothing, since it went another way or
 * had nothing to count, is harmless where others were seen to count.
 */
static struct err *judge_count(const struct count_readers *readers,
			       struct leftover *leftover)
{
	if (!leftover_may_count(leftover) ||
	    !is_place_of_count(readers->search, leftover))
		return NULL;
	TRY(does_nobody_follow(readers, leftover, &leftover->harmless));
	leftover->followed = leftover->readers_known && !leftover->harmless;
	return NULL;
}

/*
 * A server, a pool, a sequence: each test that uses it changes it, once more in its
 * second run, and ended there as in its first. So none of them minds. Two tests
 * that add to the same list and never look at it together are no sign of that.
 */
static bool is_used_by_all(struct pollution_search *search,
			   const struct leftover *leftover)
{
	if (leftover->effect != EFFECT_ACCUMULATES ||
	    leftover->change.where != CHANGE_MEMORY ||
	    !leftover->readers_known || leftover->readers.n < SHARED_READERS ||
	    search->unsteady[leftover->test])
		return false;
	for (size_t i = 0; i < leftover->readers.n; i++) {
		size_t reader = leftover->readers.data[i];
		const struct leftover *its =
			search_leftover_at(search, reader, &leftover->change);
		if (!its || its->effect != EFFECT_ACCUMULATES ||
		    search->unsteady[reader])
			return false;
	}
	return true;
}

struct err *search_verdicts(struct pollution_search *search,
			    const size_t *order, size_t n)
{
	size_t count = suite_count(search->suite);
	_cleanup_(count_readers_free) struct count_readers readers = {
		.search = search,
		.place = calloc(count + 1, sizeof(size_t)),
		.turns = calloc(count + 1, 1),
		.counter = calloc(count + 1, sizeof(bool)),
	};
	if (!readers.place || !readers.turns || !readers.counter)
		return err_nomem();
	for (size_t i = 0; i < n; i++)
		readers.place[order[i]] = i;
	TRY(ask_all(&readers));
	TRY(run_turns(&readers, order, n));
	TRY(run_trials(&readers));
	for (size_t i = 0; i < search->leftovers.n; i++) {
		struct leftover *leftover = &search->leftovers.data[i];
		TRY(judge_count(&readers, leftover));
		leftover->used_by_all = is_used_by_all(search, leftover);
	}
	return NULL;
}
