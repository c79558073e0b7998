/*
 * Readers that the first run shows by the way: as soon as a test has left a place
 * changed, that place is watched for the rest of the run, as long as there are
 * watchpoints. What is left for later runs are the tests before that, and a block
 * of the heap was not there before.
 */
#include "pollution/pollution_internal.h"

const struct early_place *early_find(const struct early_readers *early,
				     const struct suite_place *place)
{
	for (size_t i = 0; i < early->places.n; i++) {
		if (place->where == CHANGE_MEMORY &&
		    early->places.data[i].address == place->address)
			return &early->places.data[i];
	}
	return NULL;
}

void early_watch(struct pollution_search *search,
		 const struct leftover *leftover)
{
	struct suite_place place;
	if (!search->options->readers || !leftover_place(leftover, &place) ||
	    place.where != CHANGE_MEMORY || early_find(&search->early, &place))
		return;
	const struct early_place early = { place.address, leftover->test };
	if (suite_add_place(search->suite, &place, leftover->test))
		search_fail(search, vec_push(&search->early.places, early));
}

void early_note_read(void *data, size_t test, size_t place, bool fills)
{
	struct pollution_search *search = data;
	const struct early_read read = { test, place };
	(void)fills;
	search_fail(search, vec_push(&search->early.reads, read));
}

struct err *early_tell(struct pollution_search *search)
{
	const struct early_readers *early = &search->early;
	for (size_t i = 0; i < search->leftovers.n; i++) {
		struct leftover *leftover = &search->leftovers.data[i];
		struct suite_place place;
		const struct early_place *known =
			leftover_place(leftover, &place)
				? early_find(early, &place)
				: NULL;
		if (!known)
			continue;
		for (size_t j = 0; j < early->reads.n; j++) {
			const struct early_read *read = &early->reads.data[j];
			if (&early->places.data[read->place] == known &&
			    read->test != leftover->test)
				TRY(leftover_add_reader(leftover, read->test,
							false));
		}
	}
	return NULL;
}

void early_free(struct early_readers *early)
{
	vec_free(&early->places);
	vec_free(&early->reads);
}
