/*
 * Values that differ from run to run: addresses, numbers of processes, names
 * that mkstemp(3) made up, times, random numbers. Which parts of a value these
 * are is not guessed: the suite runs once more in the same order, and what
 * differs is masked (base/masked.h). So the same defect is reported in the same
 * words every time.
 */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/masked.h"
#include "pollution/pollution_internal.h"

static struct err *mask_path(struct change_path *path,
			     const struct change_path *other)
{
	TRY(masked_replace(&path->before, other->before));
	return masked_replace(&path->after, other->after);
}

/* A file that was not put back in between is another change. */
static bool has_same_start(const struct change *one, const struct change *other)
{
	return one->where != CHANGE_FILE ||
	       (one->n && other->n &&
		!strcmp(one->paths[0].before, other->paths[0].before));
}

static struct err *mask_values(struct change *change,
			       const struct change *other)
{
	if (!has_same_start(change, other))
		return NULL;
	for (size_t i = 0; i < change->n && i < other->n; i++) {
		if (!strcmp(change->paths[i].path, other->paths[i].path))
			TRY(mask_path(&change->paths[i], &other->paths[i]));
	}
	return NULL;
}

void search_values_changed(void *data, size_t entry, size_t test,
			   const struct change *changes, size_t n)
{
	struct pollution_search *search = data;
	(void)entry;
	for (size_t i = 0; i < n; i++) {
		struct leftover *leftover =
			search_leftover_at(search, test, &changes[i]);
		if (!leftover || changes[i].first)
			continue;
		search->met[leftover - search->leftovers.data] = true;
		search_fail(search,
			    mask_values(&leftover->change, &changes[i]));
	}
}

/* Of what changes by chance, a run may leave it as it was. */
static bool values_are_missing(const struct pollution_search *search)
{
	for (size_t i = 0; i < search->leftovers.n; i++) {
		if (!search->met[i] && search->leftovers.data[i].varies)
			return true;
	}
	return false;
}

#define VALUES_RUNS 3

struct err *search_values_begin(struct pollution_search *search)
{
	free(search->met);
	search->met = calloc(search->leftovers.n + 1, sizeof(*search->met));
	search->compared = 0;
	return search->met ? NULL : err_nomem();
}

struct err *search_values_end(struct pollution_search *search,
			      const size_t *order, size_t n)
{
	const struct suite_observer observer = {
		.finished = search_count_finished,
		.changed = search_values_changed,
		.limit = search_limit,
		.data = search,
	};
	struct err *err = NULL;
	bool compared = search->compared == HALF_BOTH;
	for (int run = compared; run < VALUES_RUNS && !err; run++) {
		if (run && !values_are_missing(search))
			break;
		log_debug(LOG_POLLUTION,
			  "the suite runs again to see which values differ");
		err = suite_watch(search->suite, &search->options->watch);
		if (!err)
			err = search_run(search, order, n, &observer);
	}
	free(take_ptr(search->met));
	return err;
}
