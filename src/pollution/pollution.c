#include "pollution/pollution.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/map.h"

/* Runs of the whole suite, to see who reads what; a few places each. */
#define READER_RUNS_MAX 64
/* These may always take so long. */
#define READER_PATIENCE (2 * NS_PER_S)
/* Readers that are tried alone for one finding. */
#define LAZY_READERS_MAX ((size_t)3)
/* And so many runs of them in all. */
#define LAZY_RUNS_MAX 200
/* A path of so many pointers is short. */
#define SHORT_PATH 2

const char *pollution_effect_name(enum pollution_effect effect)
{
	static const char *const names[] = { "unknown", "settles",
					     "accumulates" };
	return names[effect];
}

const char *pollution_severity_name(enum pollution_severity severity)
{
	static const char *const names[] = { "low", "medium", "high" };
	return names[severity];
}

void pollution_free(struct pollution *pollution)
{
	for (size_t i = 0; i < pollution->findings.n; i++) {
		change_free(&pollution->findings.data[i].change);
		vec_free(&pollution->findings.data[i].readers);
	}
	for (size_t i = 0; i < pollution->firsts.n; i++)
		free(pollution->firsts.data[i].root);
	vec_free(&pollution->findings);
	vec_free(&pollution->firsts);
}

struct search {
	struct suite *suite;
	const struct pollution_options *options;
	const struct suite_observer *outer;
	struct pollution *pollution;
	size_t finished;    /* entries of the order of this run */
	size_t first_round; /* entries that only initialise */
	uint64_t first_ns;  /* that the first run took */
	uint8_t *outcomes;  /* by test: in the first run */
	struct err *err;
	/* While places are watched. */
	const size_t *places; /* finding → place + 1, of this run */
};

static void fail(struct search *search, struct err *err)
{
	if (!err)
		return;
	if (search->err)
		err_ignore(err);
	else
		search->err = err;
}

static void on_limit(void *data, const char *text)
{
	struct search *search = data;
	if (search->outer->limit)
		search->outer->limit(search->outer->data, text);
}

static bool is_late(const struct search *search)
{
	return search->options->deadline &&
	       clock_now() >= search->options->deadline;
}

static struct err *run(struct search *search, const size_t *order, size_t n,
		       const struct suite_observer *observer)
{
	search->finished = 0;
	TRY(suite_run(search->suite, order, n, 0, observer));
	return take_ptr(search->err);
}

/* ---- which tests leave what ---- */

static void find_started(void *data, size_t test)
{
	struct search *search = data;
	if (search->finished >= search->first_round && search->outer->started)
		search->outer->started(search->outer->data, test);
}

static void find_finished(void *data, const struct suite_result *result)
{
	struct search *search = data;
	search->outcomes[result->test] = (uint8_t)result->outcome;
	if (search->finished++ >= search->first_round &&
	    search->outer->finished)
		search->outer->finished(search->outer->data, result);
}

static struct err *add_finding(struct search *search, size_t test,
			       const struct change *change)
{
	struct pollution *pollution = search->pollution;
	if (change->first) {
		struct pollution_first first = { test, strdup(change->root) };
		if (!first.root)
			return err_nomem();
		struct err *err = vec_push(&pollution->firsts, first);
		if (err)
			free(first.root);
		return err;
	}
	struct pollution_finding finding = { .test = test };
	TRY(change_copy(change, &finding.change));
	struct err *err = vec_push(&pollution->findings, finding);
	if (err)
		change_free(&finding.change);
	return err;
}

static bool is_known(const struct search *search, size_t test,
		     const struct change *change)
{
	for (size_t i = search->pollution->findings.n; i-- > 0;) {
		const struct pollution_finding *finding =
			&search->pollution->findings.data[i];
		if (finding->test != test)
			return false; /* those of one test stand together */
		if (finding->change.where == change->where &&
		    !strcmp(finding->change.root, change->root))
			return true;
	}
	return false;
}

static void find_changed(void *data, size_t entry, size_t test,
			 const struct change *changes, size_t n)
{
	struct search *search = data;
	if (entry < search->first_round)
		return;
	for (size_t i = 0; i < n; i++) {
		if (!is_known(search, test, &changes[i]))
			fail(search, add_finding(search, test, &changes[i]));
	}
}

static struct err *find_changes(struct search *search, const size_t *order,
				size_t n)
{
	const struct suite_observer observer = {
		.started = find_started,
		.finished = find_finished,
		.changed = find_changed,
		.limit = on_limit,
		.data = search,
	};
	TRY(suite_watch(search->suite, &search->options->watch));
	if (!search->options->eager)
		return run(search, order, n, &observer);
	size_t *twice = calloc(2 * n, sizeof(*twice));
	if (!twice)
		return err_nomem();
	memcpy(twice, order, n * sizeof(*twice));
	memcpy(twice + n, order, n * sizeof(*twice));
	search->first_round = n;
	struct err *err = run(search, twice, 2 * n, &observer);
	search->first_round = 0;
	free(twice);
	return err;
}

/* ---- what a second run does ---- */

static void count_finished(void *data, const struct suite_result *result)
{
	struct search *search = data;
	(void)result;
	search->finished++;
}

static struct pollution_finding *finding_of(struct search *search, size_t test,
					    const struct change *change)
{
	for (size_t i = 0; i < search->pollution->findings.n; i++) {
		struct pollution_finding *finding =
			&search->pollution->findings.data[i];
		if (finding->test == test &&
		    finding->change.where == change->where &&
		    !strcmp(finding->change.root, change->root))
			return finding;
	}
	return NULL;
}

static void effect_changed(void *data, size_t entry, size_t test,
			   const struct change *changes, size_t n)
{
	struct search *search = data;
	for (size_t i = 0; i < n; i++) {
		struct pollution_finding *finding =
			finding_of(search, test, &changes[i]);
		if (!finding || changes[i].first)
			continue;
		if (entry % 2)
			finding->effect = EFFECT_ACCUMULATES;
		else /* the first of the two: as before, or not */
			finding->varies |=
				changes[i].digest != finding->change.digest;
	}
}

static void effect_finished(void *data, const struct suite_result *result)
{
	struct search *search = data;
	bool second = search->finished++ % 2;
	bool whole = result->outcome == OUTCOME_PASS ||
		     result->outcome == OUTCOME_FAIL ||
		     result->outcome == OUTCOME_SKIP;
	/* Where it does not go the same way, it tells nothing. */
	if (!second || !whole ||
	    result->outcome != search->outcomes[result->test])
		return;
	for (size_t i = 0; i < search->pollution->findings.n; i++) {
		struct pollution_finding *finding =
			&search->pollution->findings.data[i];
		if (finding->test == result->test &&
		    finding->effect == EFFECT_UNKNOWN)
			finding->effect = EFFECT_SETTLES;
	}
}

/* Each polluter twice in a row, all in one process. */
static struct err *find_effects(struct search *search)
{
	const struct suite_observer observer = {
		.finished = effect_finished,
		.changed = effect_changed,
		.limit = on_limit,
		.data = search,
	};
	VEC(size_t) order = VEC_INIT;
	struct err *err = NULL;
	for (size_t i = 0; !err && i < search->pollution->findings.n; i++) {
		size_t test = search->pollution->findings.data[i].test;
		if (order.n && order.data[order.n - 1] == test)
			continue;
		err = vec_push(&order, test);
		if (!err)
			err = vec_push(&order, test);
	}
	if (!err && order.n)
		err = run(search, order.data, order.n, &observer);
	vec_free(&order);
	return err;
}

/* ---- who reads it ---- */

static void read_place(void *data, size_t test, size_t place)
{
	struct search *search = data;
	for (size_t i = 0; i < search->pollution->findings.n; i++) {
		struct pollution_finding *finding =
			&search->pollution->findings.data[i];
		if (search->places[i] != place + 1 || finding->test == test)
			continue;
		bool known = false;
		for (size_t j = 0; j < finding->readers.n; j++)
			known |= finding->readers.data[j] == test;
		if (!known)
			fail(search, vec_push(&finding->readers, test));
	}
}

struct watched {
	struct suite_place place;
	size_t findings; /* that have it */
	bool accumulates;
};

/* What matters most first: runs are limited. */
static int by_weight(const void *a, const void *b)
{
	const struct watched *x = a, *y = b;
	if (x->accumulates != y->accumulates)
		return x->accumulates ? -1 : 1;
	if (x->findings != y->findings)
		return x->findings > y->findings ? -1 : 1;
	return x->place.address < y->place.address ? -1 : 1;
}

DEFINE_VEC(watched_places, struct watched)

static struct err *collect_places(struct search *search,
				  struct watched_places *ret)
{
	_cleanup_(map_u64_freep) struct map_u64 known = MAP_INIT;
	for (size_t i = 0; i < search->pollution->findings.n; i++) {
		const struct pollution_finding *finding =
			&search->pollution->findings.data[i];
		if (finding->change.where != CHANGE_MEMORY ||
		    !finding->change.n)
			continue;
		const struct change_path *path = &finding->change.paths[0];
		uint64_t index, key = path->address;
		if (!map_u64_get(&known, key, &index)) {
			struct watched place = {
				.place = {
					.where = CHANGE_MEMORY,
					.address = path->address,
					.size = MIN(path->size, (uint64_t)8),
					.from_test = path->heap ? finding->test
								: (size_t)-1,
				},
			};
			index = ret->n;
			TRY(map_u64_put(&known, key, index));
			TRY(vec_push(ret, place));
		}
		BUG_ON(!ret->data || index >= ret->n);
		ret->data[index].findings++;
		ret->data[index].accumulates |=
			finding->effect == EFFECT_ACCUMULATES;
	}
	if (ret->n)
		qsort(ret->data, ret->n, sizeof(struct watched), by_weight);
	return NULL;
}

static struct err *watch_some(struct search *search, const size_t *order,
			      size_t n, const struct watched *places, size_t m)
{
	const struct suite_observer observer = {
		.finished = count_finished,
		.read = read_place,
		.limit = on_limit,
		.data = search,
	};
	struct suite_place list[16];
	struct pollution *pollution = search->pollution;
	size_t *of = calloc(pollution->findings.n + 1, sizeof(*of));
	if (!of)
		return err_nomem();
	for (size_t i = 0; i < m; i++)
		list[i] = places[i].place;
	for (size_t i = 0; i < pollution->findings.n; i++) {
		struct pollution_finding *finding =
			&pollution->findings.data[i];
		if (finding->change.where != CHANGE_MEMORY ||
		    !finding->change.n)
			continue;
		uint64_t at = finding->change.paths[0].address;
		for (size_t j = 0; j < m; j++) {
			if (list[j].address == at)
				of[i] = j + 1;
		}
		finding->readers_known |= of[i] != 0;
	}
	search->places = of;
	search->finished = 0;
	struct err *err =
		suite_run_places(search->suite, order, n, list, m, &observer);
	search->places = NULL;
	free(of);
	return err ? err : take_ptr(search->err);
}

static struct err *find_readers(struct search *search, const size_t *order,
				size_t n)
{
	_cleanup_(watched_places_freep) struct watched_places places = {};
	size_t at_once = MIN(suite_places_max(search->suite), (size_t)16);
	TRY(collect_places(search, &places));
	if (!places.n)
		return NULL;
	if (!at_once) {
		on_limit(search, "pollution: who reads what was changed could "
				 "not be found out");
		return NULL;
	}
	TRY(suite_watch(search->suite, NULL));
	size_t done = 0;
	uint64_t start = clock_now();
	for (size_t i = 0; i < READER_RUNS_MAX && done < places.n; i++) {
		uint64_t spent = clock_now() - start;
		/* Without a budget it is to take no longer than all else. */
		bool enough = !search->options->deadline && i &&
			      spent > READER_PATIENCE &&
			      spent > 2 * search->first_ns;
		if (enough || is_late(search))
			break;
		size_t m = MIN(places.n - done, at_once);
		TRY(watch_some(search, order, n, places.data + done, m));
		done += m;
	}
	if (done < places.n) {
		char text[128];
		snprintf(text, sizeof(text),
			 "pollution: readers looked for at %zu of %zu changed "
			 "places (more with --budget)",
			 done, places.n);
		on_limit(search, text);
	}
	return NULL;
}

/* ---- who would have made the same change ---- */

static bool may_be_lazy(const struct pollution_finding *finding)
{
	return finding->effect == EFFECT_SETTLES && finding->readers.n;
}

/* Is this one of the readers that are tried for the finding? */
static bool is_tried(const struct pollution_finding *finding, size_t test)
{
	for (size_t i = 0; i < MIN(finding->readers.n, LAZY_READERS_MAX); i++) {
		if (finding->readers.data[i] == test)
			return true;
	}
	return false;
}

/*
 * Does a reader alone make this change, too? The very same; or another object
 * where there was none; or another value where it differs from process to
 * process anyway (a thread's id).
 */
static bool is_same_change(const struct pollution_finding *finding,
			   const struct change *other)
{
	const struct change *change = &finding->change;
	if (other->where != change->where ||
	    strcmp(other->root, change->root) != 0)
		return false;
	if (other->digest == change->digest)
		return true;
	if (!other->n || !change->n)
		return false;
	const struct change_path *mine = &change->paths[0];
	const struct change_path *its = &other->paths[0];
	if (strcmp(mine->path, its->path) != 0 ||
	    strcmp(mine->before, its->before) != 0)
		return false;
	return finding->varies || !strcmp(mine->before, "NULL");
}

static void lazy_changed(void *data, size_t entry, size_t test,
			 const struct change *changes, size_t n)
{
	struct search *search = data;
	(void)entry;
	for (size_t i = 0; i < search->pollution->findings.n; i++) {
		struct pollution_finding *finding =
			&search->pollution->findings.data[i];
		if (!may_be_lazy(finding) || !is_tried(finding, test))
			continue;
		for (size_t j = 0; j < n; j++)
			finding->same += is_same_change(finding, &changes[j]);
	}
}

/*
 * Readers alone: where they make the same change, it is a cache, whoever fills
 * it. Each is run once for all findings that it reads.
 */
static struct err *find_lazy(struct search *search)
{
	const struct suite_observer observer = {
		.finished = count_finished,
		.changed = lazy_changed,
		.limit = on_limit,
		.data = search,
	};
	_cleanup_(map_u64_freep) struct map_u64 done = MAP_INIT;
	size_t runs = 0;
	TRY(suite_watch(search->suite, &search->options->watch));
	for (size_t i = 0; i < search->pollution->findings.n; i++) {
		struct pollution_finding *finding =
			&search->pollution->findings.data[i];
		if (!may_be_lazy(finding))
			continue;
		for (size_t j = 0;
		     j < MIN(finding->readers.n, LAZY_READERS_MAX); j++) {
			uint64_t known;
			size_t test = finding->readers.data[j];
			if (map_u64_get(&done, test, &known))
				continue;
			if (runs >= LAZY_RUNS_MAX || is_late(search))
				return NULL;
			runs++;
			TRY(map_u64_put(&done, test, 1));
			TRY(run(search, &test, 1, &observer));
		}
		finding->lazy = finding->same >=
				MIN(finding->readers.n, LAZY_READERS_MAX);
	}
	return NULL;
}

/* ---- what it is worth ---- */

static enum pollution_severity judge(const struct pollution_finding *finding)
{
	if (finding->lazy)
		return SEVERITY_LOW;
	if (finding->readers.n)
		return SEVERITY_HIGH;
	unsigned depth = finding->change.n ? finding->change.paths[0].depth : 0;
	if (finding->effect == EFFECT_ACCUMULATES)
		return depth <= SHORT_PATH ? SEVERITY_HIGH : SEVERITY_MEDIUM;
	if (finding->effect == EFFECT_SETTLES && finding->readers_known)
		return SEVERITY_LOW;
	return SEVERITY_MEDIUM;
}

static struct err *find_meaning(struct search *search, const size_t *order,
				size_t n)
{
	const struct pollution_options *options = search->options;
	if (!search->pollution->findings.n)
		return NULL;
	bool left = false;
	if (options->effect && !(left = is_late(search)))
		TRY(find_effects(search));
	if (options->readers && !(left = left || is_late(search)))
		TRY(find_readers(search, order, n));
	if (options->effect && options->readers &&
	    !(left = left || is_late(search)))
		TRY(find_lazy(search));
	if (left)
		on_limit(search, "pollution: what the changes mean was not "
				 "found out for all (budget)");
	return NULL;
}

struct err *pollution_find(struct suite *suite, const size_t *order, size_t n,
			   const struct pollution_options *options,
			   const struct suite_observer *observer,
			   struct pollution *ret)
{
	struct search search = {
		.suite = suite,
		.options = options,
		.outer = observer,
		.pollution = ret,
	};
	search.outcomes = calloc(suite_count(suite) + 1, 1);
	if (!search.outcomes)
		return err_nomem();
	uint64_t start = clock_now();
	struct err *err = find_changes(&search, order, n);
	search.first_ns = clock_now() - start;
	if (!err)
		err = find_meaning(&search, order, n);
	err_ignore(take_ptr(search.err));
	free(search.outcomes);
	struct err *unwatch = suite_watch(suite, NULL);
	if (err)
		err_ignore(unwatch);
	for (size_t i = 0; i < ret->findings.n; i++)
		ret->findings.data[i].severity = judge(&ret->findings.data[i]);
	return err ? err : unwatch;
}
