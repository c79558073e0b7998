/*
 * Objects that are made when they are first needed, by hand (if (!object)
 * object = new …): what of them is the making, and what did the test leave?
 *
 * A test that uses such an object and leaves it alone when it is there, shows by
 * what it leaves when run alone how the object is made. If that is not what the
 * leftover's test leaves, it runs before that test: the object is then there,
 * and what still changes was left by the test.
 */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "pollution/pollution_internal.h"

/* Two short runs and one of the suite for each. */
#define MADE_MAX 16

/* The leftover that is examined, and what was seen of it. */
struct made {
	struct pollution_search *search;
	struct leftover *leftover;
	struct change change; /* made by its test when the object is there */
	bool changes;
};

static void made_on_change(void *data, size_t entry, size_t test,
			   const struct change *changes, size_t n)
{
	struct made *made = data;
	const struct change *known = &made->leftover->change;
	if (entry != 1 || test != made->leftover->test)
		return;
	for (size_t i = 0; i < n && !made->changes; i++) {
		if (changes[i].where != known->where || changes[i].first ||
		    !changes[i].n || strcmp(changes[i].root, known->root) != 0)
			continue;
		struct err *err = change_copy(&changes[i], &made->change);
		made->changes = !err;
		search_fail(made->search, err);
	}
}

static void made_on_read(void *data, size_t test, size_t place, bool fills)
{
	struct made *made = data;
	struct leftover *leftover = made->leftover;
	(void)place;
	if (test != leftover->test)
		search_fail(made->search,
			    leftover_add_reader(leftover, test, fills));
}

static void made_on_finish(void *data, const struct suite_result *result)
{
	(void)data;
	(void)result;
}

static void made_on_limit(void *data, const char *text)
{
	struct made *made = data;
	search_limit(made->search, text);
}

/* The maker, the test, all others, and the maker once more. */
static struct err *made_find_readers(struct made *made, size_t maker,
				     const size_t *order, size_t n)
{
	struct pollution_search *search = made->search;
	struct leftover *leftover = made->leftover;
	const struct change_path *path = &leftover->change.paths[0];
	const struct suite_observer observer = {
		.finished = made_on_finish,
		.read = made_on_read,
		.limit = made_on_limit,
		.data = made,
	};
	const struct suite_place place = {
		.where = CHANGE_MEMORY,
		.root = leftover->change.root,
		.address = path->address,
		.size = MIN(path->size, (uint64_t)8),
		.from_test = leftover->test,
	};
	leftover->readers.n = 0;
	leftover->readers_known = leftover->read_plainly = false;
	if (!suite_places_max(search->suite) || search_is_late(search))
		return NULL;
	_cleanup_(freep) size_t *all = calloc(n + 3, sizeof(*all));
	if (!all)
		return err_nomem();
	size_t m = 0;
	all[m++] = maker;
	all[m++] = leftover->test;
	for (size_t i = 0; i < n; i++) {
		if (order[i] != maker && order[i] != leftover->test)
			all[m++] = order[i];
	}
	all[m++] = maker;
	TRY(suite_watch(search->suite, NULL));
	TRY(suite_run_places(search->suite, all, m, &place, 1, &observer));
	leftover->readers_known = true;
	return take_ptr(search->err);
}

static struct err *made_judge(struct pollution_search *search,
			      struct leftover *leftover, const size_t *order,
			      size_t n)
{
	struct made made = { .search = search, .leftover = leftover };
	const struct suite_observer observer = {
		.finished = made_on_finish,
		.changed = made_on_change,
		.limit = made_on_limit,
		.data = &made,
	};
	size_t maker = leftover->maker - 1;
	const size_t pair[] = { maker, leftover->test };
	TRY(suite_watch(search->suite, &search->options->watch));
	TRY(search_run(search, pair, 2, &observer));
	if (!made.changes)
		return NULL;
	log_debug(LOG_POLLUTION,
		  "%s is made when it is first needed, and then changed",
		  leftover->change.root);
	change_free(&leftover->change);
	leftover->change = made.change;
	leftover->lazy = leftover->filled = false;
	return made_find_readers(&made, maker, order, n);
}

struct err *search_made(struct pollution_search *search, const size_t *order,
			size_t n)
{
	size_t tried = 0;
	for (size_t i = 0; i < search->leftovers.n; i++) {
		struct leftover *leftover = &search->leftovers.data[i];
		if (!leftover->maker || !leftover->lazy)
			continue;
		if (tried++ == MADE_MAX || search_is_late(search))
			break;
		TRY(made_judge(search, leftover, order, n));
	}
	return NULL;
}
