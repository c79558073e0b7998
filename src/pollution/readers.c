#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/compare.h"
#include "base/log.h"
#include "base/map.h"
#include "base/str.h"
#include "pollution/crew.h"

/* Runs of the whole suite, to see which tests read what; a few places each. */
#define READER_RUNS_MAX 64
/* These may always take this long. */
#define READER_PATIENCE (2 * NS_PER_S)
/* Readers that are tried alone for one leftover. */
#define LAZY_READERS_MAX ((size_t)3)
/* And at most this many runs of them in all. */
#define LAZY_RUNS_MAX 200

/* ---- which tests read it ---- */

struct err *leftover_add_reader(struct leftover *leftover, size_t test,
				bool fills)
{
	leftover->read_plainly |= !fills;
	for (size_t i = 0; i < leftover->readers.n; i++) {
		if (leftover->readers.data[i] == test)
			return NULL;
	}
	return vec_push(&leftover->readers, test);
}

static void pollution_note_read(void *data, size_t test, size_t place,
				bool fills)
{
	struct pollution_search *search = data;
	for (size_t i = 0; i < search->leftovers.n; i++) {
		struct leftover *leftover = &search->leftovers.data[i];
		if (search->places[i] == place + 1 && leftover->test != test)
			search_fail(search,
				    leftover_add_reader(leftover, test, fills));
	}
}

struct watched {
	struct suite_place place;
	size_t findings; /* that have it */
	bool accumulates;
	size_t group; /* number of the run that watches it */
};

/* No test is left that could read it, or the first run has shown them all. */
#define NO_GROUP ((size_t)-1)

/* What matters most first: runs are limited. */
static int by_weight(const void *a, const void *b)
{
	const struct watched *x = a, *y = b;
	bool memory = x->place.where == CHANGE_MEMORY;
	if (memory != (y->place.where == CHANGE_MEMORY))
		return memory ? -1 : 1;
	if (x->accumulates != y->accumulates)
		return x->accumulates ? -1 : 1;
	if (x->findings != y->findings)
		return x->findings > y->findings ? -1 : 1;
	return x->place.address < y->place.address ? -1 : 1;
}

bool leftover_place(const struct leftover *leftover, struct suite_place *ret)
{
	const struct change *change = &leftover->change;
	*ret = (struct suite_place){
		.where = change->where,
		.root = change->root,
		.from_test = (size_t)-1,
	};
	if (change->where != CHANGE_MEMORY)
		return true;
	if (!change->n)
		return false;
	const struct change_path *path = &change->paths[0];
	ret->address = path->address;
	ret->size = MIN(path->size, (uint64_t)8);
	if (path->heap)
		ret->from_test = leftover->test;
	return true;
}

/* Equal for the same place. */
static struct err *place_key(const struct suite_place *place, struct str *ret)
{
	ret->n = 0;
	if (place->where == CHANGE_MEMORY)
		return str_appendf(ret, "%llx",
				   (unsigned long long)place->address);
	return str_appendf(ret, "%d %s", place->where, place->root);
}

/* Places of findings, each once; those in memory first. */
struct leftover_places {
	VEC(struct watched) all;
	size_t memory; /* how many of them */
	struct map_text numbers;
	size_t groups;	  /* of those in memory */
	VEC(size_t) ends; /* of each: how much of the order is to be run */
};

static void places_freep(struct leftover_places *places)
{
	vec_free(&places->all);
	vec_free(&places->ends);
	map_text_free(&places->numbers);
}

static struct err *collect_places(const struct pollution_search *search,
				  struct leftover_places *ret)
{
	_cleanup_(str_freep) struct str key = STR_INIT;
	for (size_t i = 0; i < search->leftovers.n; i++) {
		const struct leftover *leftover = &search->leftovers.data[i];
		struct watched watched = {};
		uint64_t index;
		if (!leftover_place(leftover, &watched.place))
			continue;
		TRY(place_key(&watched.place, &key));
		if (!map_text_get(&ret->numbers, key.s, &index)) {
			index = ret->all.n;
			TRY(map_text_put(&ret->numbers, key.s, index));
			TRY(vec_push(&ret->all, watched));
			ret->memory += watched.place.where == CHANGE_MEMORY;
		}
		BUG_ON(!ret->all.data || index >= ret->all.n);
		ret->all.data[index].findings++;
		ret->all.data[index].accumulates |=
			leftover->effect == EFFECT_ACCUMULATES;
	}
	if (ret->all.n)
		qsort(ret->all.data, ret->all.n, sizeof(struct watched),
		      by_weight);
	for (size_t i = 0; i < ret->all.n; i++) {
		TRY(place_key(&ret->all.data[i].place, &key));
		TRY(map_text_put(&ret->numbers, key.s, i));
	}
	return NULL;
}

/*
 * A watchpoint of a run: taken by one place for the tests before entry @to, and
 * by another from entry @from on.
 */
struct reader_slot {
	size_t to, from;
};

/* For the entries from @from to @to, of which one is an end of the order. */
static bool slot_take(struct reader_slot *slot, size_t from, size_t to)
{
	if (from < slot->to || to > slot->from)
		return false;
	if (from)
		slot->from = from;
	else
		slot->to = to;
	return true;
}

struct reader_slots {
	VEC(struct reader_slot) all;
};

static void slots_freep(struct reader_slots *slots)
{
	vec_free(&slots->all);
}

/* The first slot that is free for that time; more are made of @n entries. */
static struct err *slots_take(struct reader_slots *slots, size_t n, size_t from,
			      size_t to, size_t *ret)
{
	const struct reader_slot empty = { .to = 0, .from = n };
	for (*ret = 0;; (*ret)++) {
		if (*ret == slots->all.n)
			TRY(vec_push(&slots->all, empty));
		BUG_ON(!slots->all.data);
		if (slot_take(&slots->all.data[*ret], from, to))
			return NULL;
	}
}

/* Which run watches which place, of that order. */
static struct err *places_group(struct leftover_places *places,
				const struct pollution_search *search,
				const size_t *order, size_t n)
{
	size_t at_once = suite_places_max(search->suite);
	_cleanup_(slots_freep) struct reader_slots slots = {};
	_cleanup_(freep) size_t *entry =
		calloc(suite_count(search->suite) + 1, sizeof(*entry));
	if (!entry)
		return err_nomem();
	for (size_t i = 0; i < n; i++)
		entry[order[i]] = i;
	for (size_t i = 0; at_once && i < places->memory; i++) {
		struct watched *watched = &places->all.data[i];
		struct suite_place *place = &watched->place;
		const struct early_place *early =
			early_find(&search->early, place);
		size_t from = 0, to = n, slot, none = 0;
		watched->group = NO_GROUP;
		if (place->from_test != (size_t)-1)
			from = MIN(entry[place->from_test] + 1, n);
		if (early) {
			place->up_to = early->test + 1;
			to = MIN(entry[early->test] + 1, n);
		}
		if (from >= to)
			continue;
		TRY(slots_take(&slots, n, from, to, &slot));
		watched->group = slot / at_once;
		while (places->ends.n <= watched->group)
			TRY(vec_push(&places->ends, none));
		places->ends.data[watched->group] =
			MAX(places->ends.data[watched->group], to);
	}
	places->groups = places->ends.n;
	return NULL;
}

size_t search_reader_runs(const struct pollution_search *search,
			  const size_t *order, size_t n)
{
	_cleanup_(places_freep) struct leftover_places places = {};
	struct err *err = collect_places(search, &places);
	if (!err)
		err = places_group(&places, search, order, n);
	err_ignore(err);
	return places.groups;
}

/* Which leftover is about which of a run's places, as @numbers says; 0: none. */
static struct err *leftovers_assign_places(struct pollution_search *search,
					   const struct leftover_places *places,
					   const size_t *numbers, size_t *of)
{
	_cleanup_(str_freep) struct str key = STR_INIT;
	for (size_t i = 0; i < search->leftovers.n; i++) {
		struct suite_place place;
		uint64_t index = 0;
		if (!leftover_place(&search->leftovers.data[i], &place))
			continue;
		TRY(place_key(&place, &key));
		if (map_text_get(&places->numbers, key.s, &index))
			of[i] = numbers[index];
	}
	return NULL;
}

/* Those that have a place were looked at. */
static void note_readers_known(struct pollution_search *search,
			       const size_t *of)
{
	for (size_t i = 0; i < search->leftovers.n; i++)
		search->leftovers.data[i].readers_known |= of[i] != 0;
}

/* What is known without another run. */
static struct err *tell_known_readers(struct pollution_search *search,
				      const struct leftover_places *places)
{
	_cleanup_(freep) size_t *known =
		calloc(places->all.n + 1, sizeof(*known));
	_cleanup_(freep) size_t *of =
		calloc(search->leftovers.n + 1, sizeof(*of));
	if (!known || !of)
		return err_nomem();
	for (size_t i = 0; i < places->memory; i++)
		known[i] = places->all.data[i].group == NO_GROUP;
	TRY(leftovers_assign_places(search, places, known, of));
	note_readers_known(search, of);
	return early_tell(search);
}

bool search_compares_values(const struct pollution_search *search)
{
	for (size_t i = 0; i < search->leftovers.n; i++) {
		if (search->leftovers.data[i].change.where != CHANGE_MEMORY)
			return false;
	}
	return search->met && search->options->readers &&
	       !search->options->eager && suite_places_max(search->suite);
}

/* Runs of the suite to find readers, a few places each. */
struct reader_runs {
	struct pollution_search *search;
	const size_t *order;
	size_t n;
	struct leftover_places places;
	bool halves; /* of the order, apart */
	uint64_t start;
	bool begun;
};

static void reader_runs_freep(struct reader_runs *runs)
{
	places_freep(&runs->places);
}

/* The values of that half of the order are compared, too, in this run. */
static bool readers_compare(const struct reader_runs *runs, size_t group,
			    enum search_half half)
{
	const struct pollution_search *search = runs->search;
	return !group && search_compares_values(search) &&
	       !(search->compared & half);
}

/* How much of the order is to be run for that group. */
static size_t group_end(const struct reader_runs *runs, size_t group,
			bool whole)
{
	const struct leftover_places *places = &runs->places;
	return whole || group >= places->ends.n ? runs->n
						: places->ends.data[group];
}

static struct err *run_half(const struct reader_runs *runs,
			    const struct suite_place *list, size_t n,
			    enum search_half half, size_t end,
			    const struct suite_observer *observer)
{
	const struct pollution_search *search = runs->search;
	if (half == HALF_REST)
		return end > search->middle
			       ? suite_run_rest(search->suite, runs->order,
						runs->n, list, n, observer)
			       : NULL;
	return suite_run_places(search->suite, runs->order,
				half == HALF_FIRST ? MIN(search->middle, end)
						   : end,
				list, n, observer);
}

/* Those in memory of that group, and the others with the first one. */
static struct err *watch_some(const struct reader_runs *runs, size_t group,
			      enum search_half half)
{
	struct pollution_search *search = runs->search;
	const struct leftover_places *places = &runs->places;
	/* Files and process state come with the first. */
	bool others = !group && places->all.n > places->memory;
	bool compares = readers_compare(runs, group, half);
	const struct suite_observer observer = {
		.finished = search_count_finished,
		.changed = compares ? search_values_changed : NULL,
		.read = pollution_note_read,
		.limit = search_limit,
		.data = search,
	};
	_cleanup_(freep) struct suite_place *list =
		calloc(places->all.n + 1, sizeof(*list));
	_cleanup_(freep) size_t *numbers =
		calloc(places->all.n + 1, sizeof(*numbers));
	_cleanup_(freep) size_t *of =
		calloc(search->leftovers.n + 1, sizeof(*of));
	if (!list || !of || !numbers)
		return err_nomem();
	size_t m = 0;
	for (size_t i = 0; i < places->all.n; i++) {
		const struct watched *watched = &places->all.data[i];
		if (i < places->memory ? watched->group != group : !others)
			continue;
		list[m] = watched->place;
		numbers[i] = ++m;
	}
	TRY(leftovers_assign_places(search, places, numbers, of));
	TRY(suite_watch(search->suite, compares ? &search->memory : NULL));
	search->compared |= compares ? half : 0;
	search->places = of;
	search->finished = 0;
	struct err *err =
		run_half(runs, list, m, half,
			 group_end(runs, group, others || compares), &observer);
	search->places = NULL;
	if (err)
		return err;
	note_readers_known(search, of);
	return take_ptr(search->err);
}

/* Without a budget it is to take no longer than all else. */
static bool readers_enough(void *data)
{
	const struct reader_runs *runs = data;
	const struct pollution_search *search = runs->search;
	uint64_t spent = clock_now() - runs->start;
	if (!runs->begun)
		return false;
	return search_is_late(search) ||
	       (!search->deadline && spent > READER_PATIENCE &&
		spent > 2 * search->first_ns);
}

static struct err *readers_run(void *data, size_t task)
{
	struct reader_runs *runs = data;
	runs->begun = true;
	if (!runs->halves)
		return watch_some(runs, task, HALF_BOTH);
	return watch_some(runs, task / 2, task % 2 ? HALF_REST : HALF_FIRST);
}

/*
 * Is it sooner done in halves? All second ones are run by one process. The times
 * are in halves of a run.
 */
static bool halves_are_sooner(const struct pollution_search *search,
			      size_t groups)
{
	size_t members = crew_size(search->crew);
	if (!search->middle || members < 2)
		return false;
	size_t whole = 2 * ((groups + members - 1) / members);
	return groups < whole;
}

static void search_tell_places(struct pollution_search *search, size_t all,
			       size_t done)
{
	char text[128];
	if (all && !suite_places_max(search->suite)) {
		search_limit(search, "pollution: the tests that read "
				     "changed state could not be determined");
	} else if (done < all) {
		snprintf(text, sizeof(text),
			 "pollution: readers looked for at %zu of %zu changed "
			 "places (more with --budget)",
			 done, all);
		search_limit(search, text);
	}
}

/* Of those in memory: in the first @groups, or known from the first run. */
static size_t places_done(const struct leftover_places *places, size_t groups)
{
	size_t done = 0;
	for (size_t i = 0; i < places->memory; i++) {
		size_t group = places->all.data[i].group;
		done += group == NO_GROUP || group < groups;
	}
	return done;
}

/* By their numbers: who found them, and when, is chance. */
static void sort_readers(struct pollution_search *search)
{
	for (size_t i = 0; i < search->leftovers.n; i++) {
		struct leftover *leftover = &search->leftovers.data[i];
		if (leftover->readers.n)
			qsort(leftover->readers.data, leftover->readers.n,
			      sizeof(*leftover->readers.data), compare_as_u64);
	}
}

struct err *search_readers(struct pollution_search *search, const size_t *order,
			   size_t n)
{
	_cleanup_(reader_runs_freep) struct reader_runs runs = {
		.search = search,
		.order = order,
		.n = n,
		.start = clock_now(),
	};
	const struct leftover_places *places = &runs.places;
	TRY(collect_places(search, &runs.places));
	TRY(places_group(&runs.places, search, order, n));
	TRY(tell_known_readers(search, places));
	bool watches = suite_places_max(search->suite);
	size_t groups = MIN(places->groups, (size_t)READER_RUNS_MAX);
	if (!groups && (places->all.n > places->memory ||
			(watches && search_compares_values(search))))
		groups = 1;
	runs.halves = halves_are_sooner(search, groups);
	log_debug(LOG_POLLUTION,
		  "readers: %zu runs for %zu places in memory, %zu of which "
		  "the first run watched%s",
		  groups, places->memory, search->early.places.n,
		  runs.halves ? "; in halves" : "");
	const struct crew_work work = {
		.stage = CREW_READERS,
		.n = runs.halves ? 2 * groups : groups,
		.pairs = runs.halves,
		.run = readers_run,
		.enough = readers_enough,
		.data = &runs,
	};
	size_t done = 0;
	TRY(crew_run(search->crew, &work, &done));
	done = runs.halves ? done / 2 : done;
	search_tell_places(search, places->memory,
			   watches ? places_done(places, done) : 0);
	sort_readers(search);
	return NULL;
}

/* ---- which tests would have made the same change ---- */

/* Did its test end differently the second time, so that nothing is known? */
static bool is_untold(const struct pollution_search *search,
		      const struct leftover *leftover)
{
	return leftover->effect == EFFECT_UNKNOWN &&
	       search->unsteady[leftover->test] & UNSTEADY_AGAIN;
}

/* What was made once, and is only counted up since, may be lazy, too. */
static bool may_be_lazy(const struct pollution_search *search,
			const struct leftover *leftover)
{
	return leftover->readers.n && !leftover_is_dead_pointer(leftover) &&
	       leftover->change.weight != WEIGHT_POSITION &&
	       (leftover->effect == EFFECT_SETTLES ||
		leftover_only_counts_again(leftover) ||
		is_untold(search, leftover));
}

/* Is this one of the readers that are tried for the leftover? */
static bool leftover_is_tried(const struct leftover *leftover, size_t test)
{
	for (size_t i = 0; i < MIN(leftover->readers.n, LAZY_READERS_MAX);
	     i++) {
		if (leftover->readers.data[i] == test)
			return true;
	}
	return false;
}

/*
 * Does it show how the object is made that the leftover's test made, too? It
 * does if it made another one, and did nothing to it when it was there.
 */
static bool is_maker(struct pollution_search *search,
		     const struct leftover *leftover, size_t test,
		     const struct change *other)
{
	return leftover->change.where == CHANGE_MEMORY && !leftover->varies &&
	       other->digest != leftover->change.digest &&
	       !search_leftover_at(search, test, &leftover->change);
}

/*
 * Does a reader alone make this change, too? The very same; or another object
 * where there was none; or another value where it differs from process to
 * process anyway (a thread's id).
 */
static bool is_same_change(const struct leftover *leftover,
			   const struct change *other)
{
	const struct change *change = &leftover->change;
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
	return leftover->varies || !strcmp(mine->before, "NULL") ||
	       !strcmp(mine->before, "null");
}

/* Is it something that was added, where nothing was? */
static bool is_addition(const struct change *change)
{
	if (change->where != CHANGE_MEMORY || !change->n)
		return false;
	return change_is_nothing(change->paths[0].before) ||
	       change->kinds == VALUE_GREW;
}

/* Does a reader alone add to it as well, though something else? */
static bool is_similar_change(const struct leftover *leftover,
			      const struct change *other)
{
	return is_addition(&leftover->change) && is_addition(other) &&
	       !strcmp(other->root, leftover->change.root);
}

static void lazy_changed(void *data, size_t entry, size_t test,
			 const struct change *changes, size_t n)
{
	struct pollution_search *search = data;
	(void)entry;
	for (size_t j = 0; j < n; j++)
		search_fail(search,
			    keyed_note(search->keyed, test, &changes[j]));
	for (size_t i = 0; i < search->leftovers.n; i++) {
		struct leftover *leftover = &search->leftovers.data[i];
		if (!may_be_lazy(search, leftover) ||
		    !leftover_is_tried(leftover, test))
			continue;
		for (size_t j = 0; j < n; j++) {
			leftover->fill +=
				is_similar_change(leftover, &changes[j]);
			if (!is_same_change(leftover, &changes[j]))
				continue;
			leftover->same++;
			if (is_maker(search, leftover, test, &changes[j]))
				leftover->maker = test + 1;
		}
	}
}

/* Runs of readers, each made once, and not too many. */
struct lazy_runs {
	struct map_u64 alone; /* test → outcome */
	struct map_u64 pairs; /* both tests → outcome of the second */
	struct map_u64 after; /* both tests → 1: the first ran often */
	size_t n;
};

static void lazy_runs_freep(struct lazy_runs *runs)
{
	map_u64_free(&runs->alone);
	map_u64_free(&runs->pairs);
	map_u64_free(&runs->after);
}

static bool lazy_enough(const struct pollution_search *search,
			const struct lazy_runs *runs)
{
	return runs->n >= LAZY_RUNS_MAX || search_is_late(search);
}

/* How the last test of a run ended; OUTCOME_NONE if there was no time for it. */
static struct err *lazy_run(struct pollution_search *search,
			    struct lazy_runs *runs, const size_t *tests,
			    size_t n, const struct suite_observer *observer,
			    enum outcome *ret)
{
	uint8_t *ended = &search->ended[tests[n - 1]];
	*ended = OUTCOME_NONE;
	runs->n++;
	TRY(search_run(search, tests, n, observer));
	*ret = *ended;
	return NULL;
}

/*
 * It ends alone otherwise than in the suite: does it right after the leftover's
 * test, too? Then this leftover is not why. False where there was no time to see.
 */
static struct err *ends_as_alone(struct pollution_search *search,
				 struct lazy_runs *runs,
				 const struct leftover *leftover, size_t reader,
				 bool *ret)
{
	const size_t pair[] = { leftover->test, reader };
	const struct suite_observer observer = {
		.finished = search_count_finished,
		.limit = search_limit,
		.data = search,
	};
	uint64_t alone, after;
	enum outcome ended;
	uint64_t key = leftover->test * suite_count(search->suite) + reader;
	*ret = false;
	if (leftover->effect != EFFECT_SETTLES ||
	    !map_u64_get(&runs->alone, reader, &alone) ||
	    alone == search->outcomes[reader])
		return NULL;
	if (!map_u64_get(&runs->pairs, key, &after)) {
		if (lazy_enough(search, runs))
			return NULL;
		TRY(lazy_run(search, runs, pair, 2, &observer, &ended));
		after = ended;
		TRY(map_u64_put(&runs->pairs, key, after));
	}
	*ret = after == alone && alone != OUTCOME_NONE;
	return NULL;
}

/* Do the readers that were tried end alike, whether it is there or not? */
static struct err *readers_end_alike(struct pollution_search *search,
				     struct lazy_runs *runs,
				     const struct leftover *leftover, bool *ret)
{
	*ret = true;
	for (size_t i = 0;
	     *ret && i < MIN(leftover->readers.n, LAZY_READERS_MAX); i++) {
		size_t reader = leftover->readers.data[i];
		if (search->unsteady[reader] & UNSTEADY_APART)
			TRY(ends_as_alone(search, runs, leftover, reader, ret));
	}
	return NULL;
}

/*
 * A reader that changes it, too, and ends differently right after itself, may do
 * so because of it: then it also does after the leftover's test. *@all is false
 * where this was not seen.
 */
static struct err *try_reader_after(struct pollution_search *search,
				    struct lazy_runs *runs,
				    const struct leftover *leftover,
				    size_t reader, bool *all)
{
	uint64_t known;
	uint64_t key = leftover->test * suite_count(search->suite) + reader;
	if (!(search->unsteady[reader] & UNSTEADY_AGAIN) ||
	    !search_leftover_at(search, reader, &leftover->change) ||
	    map_u64_get(&runs->after, key, &known))
		return NULL;
	if (lazy_enough(search, runs)) {
		*all = false;
		return NULL;
	}
	runs->n++;
	TRY(map_u64_put(&runs->after, key, 1));
	return search_run_after(search, leftover->test, reader);
}

/* Do the readers that were tried end alike with and without it? */
static struct err *judge_readers(struct pollution_search *search,
				 struct lazy_runs *runs,
				 struct leftover *leftover)
{
	size_t tried = MIN(leftover->readers.n, LAZY_READERS_MAX);
	bool all = true, alike = false;
	for (size_t i = 0; leftover->fill >= tried && i < tried; i++)
		TRY(try_reader_after(search, runs, leftover,
				     leftover->readers.data[i], &all));
	if (all)
		TRY(readers_end_alike(search, runs, leftover, &alike));
	leftover->alike = alike;
	leftover->judged = true;
	leftover->lazy = leftover->same >= tried &&
			 !is_untold(search, leftover) &&
			 (alike || leftover->effect == EFFECT_SETTLES);
	leftover->filled = leftover->fill >= tried && alike;
	log_debug(LOG_POLLUTION,
		  "test %zu, %s: of %zu readers alone %zu make the same and "
		  "%zu a similar change; they end %s",
		  leftover->test, leftover->change.root, tried, leftover->same,
		  leftover->fill, alike ? "alike" : "in other ways");
	return NULL;
}

struct err *leftover_roots(const struct pollution_search *search,
			   const char ***ret)
{
	const char **roots = calloc(search->leftovers.n + 1, sizeof(*roots));
	size_t n = 0;
	if (!roots)
		return err_nomem();
	for (size_t i = 0; i < search->leftovers.n; i++) {
		const struct change *change = &search->leftovers.data[i].change;
		if (change->where == CHANGE_MEMORY)
			roots[n++] = change->root;
	}
	*ret = roots;
	return NULL;
}

/* What all runs so far have shown of entries of caches. */
static struct err *judge_keyed(struct pollution_search *search)
{
	for (size_t i = 0; i < search->leftovers.n; i++) {
		const struct leftover *one = &search->leftovers.data[i];
		TRY(keyed_note(search->keyed, one->test, &one->change));
	}
	for (size_t i = 0; i < search->leftovers.n; i++) {
		struct leftover *one = &search->leftovers.data[i];
		one->keyed = !one->lazy && one->alike &&
			     one->effect == EFFECT_SETTLES &&
			     keyed_is_cache(search->keyed, &one->change);
	}
	return NULL;
}

static struct err *run_readers_alone(struct pollution_search *search)
{
	const struct suite_observer observer = {
		.finished = search_count_finished,
		.changed = lazy_changed,
		.limit = search_limit,
		.data = search,
	};
	_cleanup_(lazy_runs_freep) struct lazy_runs runs = {};
	for (size_t i = 0; i < search->leftovers.n; i++) {
		struct leftover *leftover = &search->leftovers.data[i];
		if (!may_be_lazy(search, leftover))
			continue;
		for (size_t j = 0;
		     j < MIN(leftover->readers.n, LAZY_READERS_MAX); j++) {
			uint64_t known;
			enum outcome ended;
			size_t test = leftover->readers.data[j];
			if (map_u64_get(&runs.alone, test, &known))
				continue;
			if (lazy_enough(search, &runs))
				return NULL;
			TRY(lazy_run(search, &runs, &test, 1, &observer,
				     &ended));
			TRY(map_u64_put(&runs.alone, test, ended));
		}
		TRY(judge_readers(search, &runs, leftover));
	}
	return NULL;
}

/*
 * Readers alone: if they make the same change, it is a cache, whichever test
 * fills it. Each is run once for all findings that it reads.
 */
struct err *search_lazy(struct pollution_search *search)
{
	_cleanup_(freep) const char **roots = NULL;
	struct suite_watch watch = search->options->watch;
	TRY(leftover_roots(search, &roots));
	watch.present = roots;
	TRY(keyed_create(&search->keyed));
	struct err *err = suite_watch(search->suite, &watch);
	if (!err)
		err = run_readers_alone(search);
	if (!err)
		err = judge_keyed(search);
	keyed_destroy(take_ptr(search->keyed));
	struct err *unwatch = suite_watch(search->suite, NULL);
	if (!err)
		return unwatch;
	err_ignore(unwatch);
	return err;
}
