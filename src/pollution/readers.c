#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/map.h"
#include "base/str.h"
#include "pollution/pollution_internal.h"

/* Runs of the whole suite, to see which tests read what; a few places each. */
#define READER_RUNS_MAX 64
/* These may always take this long. */
#define READER_PATIENCE (2 * NS_PER_S)
/* Readers that are tried alone for one leftover. */
#define LAZY_READERS_MAX ((size_t)3)
/* And at most this many runs of them in all. */
#define LAZY_RUNS_MAX 200

/* ---- which tests read it ---- */

static void pollution_note_read(void *data, size_t test, size_t place)
{
	struct pollution_search *search = data;
	for (size_t i = 0; i < search->leftovers.n; i++) {
		struct leftover *leftover = &search->leftovers.data[i];
		if (search->places[i] != place + 1 || leftover->test == test)
			continue;
		bool known = false;
		for (size_t j = 0; j < leftover->readers.n; j++)
			known |= leftover->readers.data[j] == test;
		if (!known)
			search_fail(search, vec_push(&leftover->readers, test));
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
	bool memory = x->place.where == CHANGE_MEMORY;
	if (memory != (y->place.where == CHANGE_MEMORY))
		return memory ? -1 : 1;
	if (x->accumulates != y->accumulates)
		return x->accumulates ? -1 : 1;
	if (x->findings != y->findings)
		return x->findings > y->findings ? -1 : 1;
	return x->place.address < y->place.address ? -1 : 1;
}

/* What can be watched of it; false: nothing. */
static bool leftover_place(const struct leftover *leftover,
			   struct suite_place *ret)
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
};

static void places_freep(struct leftover_places *places)
{
	vec_free(&places->all);
	map_text_free(&places->numbers);
}

static struct err *collect_places(struct pollution_search *search,
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

/* Which leftover is about which of the places @from to @to; 0: none. */
static struct err *leftovers_assign_places(struct pollution_search *search,
					   const struct leftover_places *places,
					   size_t from, size_t to, bool others,
					   size_t *of)
{
	_cleanup_(str_freep) struct str key = STR_INIT;
	for (size_t i = 0; i < search->leftovers.n; i++) {
		struct leftover *leftover = &search->leftovers.data[i];
		struct suite_place place;
		uint64_t index = 0;
		if (!leftover_place(leftover, &place))
			continue;
		TRY(place_key(&place, &key));
		bool known = map_text_get(&places->numbers, key.s, &index);
		if (known && index >= from && index < to)
			of[i] = index - from + 1;
		else if (known && others && index >= places->memory)
			of[i] = index - places->memory + to - from + 1;
		leftover->readers_known |= of[i] != 0;
	}
	return NULL;
}

/* Those in memory from @from to @to, and the others where wanted. */
static struct err *watch_some(struct pollution_search *search,
			      const size_t *order, size_t n,
			      const struct leftover_places *places, size_t from,
			      size_t to, bool others)
{
	const struct suite_observer observer = {
		.finished = search_count_finished,
		.read = pollution_note_read,
		.limit = search_limit,
		.data = search,
	};
	size_t m = to - from + (others ? places->all.n - places->memory : 0);
	_cleanup_(freep) struct suite_place *list =
		calloc(m + 1, sizeof(*list));
	_cleanup_(freep) size_t *of =
		calloc(search->leftovers.n + 1, sizeof(*of));
	if (!list || !of)
		return err_nomem();
	for (size_t i = 0; i < m; i++) {
		size_t at = i < to - from ? from + i
					  : places->memory + i - (to - from);
		list[i] = places->all.data[at].place;
	}
	TRY(leftovers_assign_places(search, places, from, to, others, of));
	search->places = of;
	search->finished = 0;
	struct err *err =
		suite_run_places(search->suite, order, n, list, m, &observer);
	search->places = NULL;
	return err ? err : take_ptr(search->err);
}

/* Without a budget it is to take no longer than all else. */
static bool is_enough(const struct pollution_search *search, uint64_t start)
{
	uint64_t spent = clock_now() - start;
	return !search->options->deadline && spent > READER_PATIENCE &&
	       spent > 2 * search->first_ns;
}

struct err *search_readers(struct pollution_search *search, const size_t *order,
			   size_t n)
{
	_cleanup_(places_freep) struct leftover_places places = {};
	size_t at_once = suite_places_max(search->suite);
	TRY(collect_places(search, &places));
	if (!places.all.n)
		return NULL;
	TRY(suite_watch(search->suite, NULL));
	size_t done = 0;
	uint64_t start = clock_now();
	bool others = places.all.n > places.memory;
	for (size_t i = 0; i < READER_RUNS_MAX; i++) {
		size_t m = MIN(places.memory - done, at_once);
		if (!m && !others)
			break;
		if (i && (is_enough(search, start) || search_is_late(search)))
			break;
		TRY(watch_some(search, order, n, &places, done, done + m,
			       others));
		done += m;
		others = false;
	}
	if (places.memory && !at_once) {
		search_limit(search, "pollution: the tests that read "
				     "changed state could not be determined");
	} else if (done < places.memory) {
		char text[128];
		snprintf(text, sizeof(text),
			 "pollution: readers looked for at %zu of %zu changed "
			 "places (more with --budget)",
			 done, places.memory);
		search_limit(search, text);
	}
	return NULL;
}

/* ---- which tests would have made the same change ---- */

static bool may_be_lazy(const struct leftover *leftover)
{
	return leftover->effect == EFFECT_SETTLES && leftover->readers.n;
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
	return leftover->varies || !strcmp(mine->before, "NULL");
}

static void lazy_changed(void *data, size_t entry, size_t test,
			 const struct change *changes, size_t n)
{
	struct pollution_search *search = data;
	(void)entry;
	for (size_t i = 0; i < search->leftovers.n; i++) {
		struct leftover *leftover = &search->leftovers.data[i];
		if (!may_be_lazy(leftover) ||
		    !leftover_is_tried(leftover, test))
			continue;
		for (size_t j = 0; j < n; j++)
			leftover->same += is_same_change(leftover, &changes[j]);
	}
}

/*
 * Readers alone: if they make the same change, it is a cache, whichever test
 * fills it. Each is run once for all findings that it reads.
 */
struct err *search_lazy(struct pollution_search *search)
{
	const struct suite_observer observer = {
		.finished = search_count_finished,
		.changed = lazy_changed,
		.limit = search_limit,
		.data = search,
	};
	_cleanup_(map_u64_freep) struct map_u64 done = MAP_INIT;
	size_t runs = 0;
	TRY(suite_watch(search->suite, &search->options->watch));
	for (size_t i = 0; i < search->leftovers.n; i++) {
		struct leftover *leftover = &search->leftovers.data[i];
		if (!may_be_lazy(leftover))
			continue;
		for (size_t j = 0;
		     j < MIN(leftover->readers.n, LAZY_READERS_MAX); j++) {
			uint64_t known;
			size_t test = leftover->readers.data[j];
			if (map_u64_get(&done, test, &known))
				continue;
			if (runs >= LAZY_RUNS_MAX || search_is_late(search))
				return NULL;
			runs++;
			TRY(map_u64_put(&done, test, 1));
			TRY(search_run(search, &test, 1, &observer));
		}
		leftover->lazy = leftover->same >=
				 MIN(leftover->readers.n, LAZY_READERS_MAX);
	}
	return NULL;
}
