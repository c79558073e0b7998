#include "base/minimise.h"

#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/map.h"

struct minimising {
	minimise_ask *ask;
	void *data;
	size_t *places; /* the smallest list so far that has the property */
	size_t n;
	size_t *scratch;
	/*
	 * Lists without the property, by their hash; the others only get
	 * smaller.
	 */
	struct map_u64 asked;
};

static void minimising_freep(struct minimising *work)
{
	free(work->scratch);
	map_u64_free(&work->asked);
}

/*
 * FNV-1a by words, with the high bits brought down: 64 bits do not collide in
 * practice.
 */
static uint64_t hash_places(const size_t *places, size_t n)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325) ^ n;
	for (size_t i = 0; i < n; i++) {
		hash = (hash ^ places[i]) * UINT64_C(0x9e3779b97f4a7c15);
		hash ^= hash >> 29;
	}
	return hash;
}

static struct err *minimise_ask_caller(struct minimising *work,
				       const size_t *places, size_t n,
				       bool *ret)
{
	uint64_t hash = hash_places(places, n), known;
	*ret = false;
	if (map_u64_get(&work->asked, hash, &known))
		return NULL;
	TRY(work->ask(work->data, places, n, ret));
	return *ret ? NULL : map_u64_put(&work->asked, hash, 1);
}

/* The parts of the list: part @i of @parts of @n places. */
static size_t part_begin(size_t n, size_t parts, size_t i)
{
	return n / parts * i + MIN(i, n % parts);
}

/* One round: a part that has the property alone, or all parts but one. */
static struct err *minimise_reduce_list(struct minimising *work, size_t *parts,
					bool *ret_reduced)
{
	size_t *places = work->places, *scratch = work->scratch, n = work->n;
	*ret_reduced = true;
	for (size_t i = 0; i < *parts; i++) {
		size_t from = part_begin(n, *parts, i);
		size_t to = part_begin(n, *parts, i + 1);
		bool does;
		TRY(minimise_ask_caller(work, places + from, to - from, &does));
		if (!does)
			continue;
		memmove(places, places + from, (to - from) * sizeof(*places));
		work->n = to - from;
		*parts = 2;
		return NULL;
	}
	/*
	 * With two parts each is the complement of the other: both were asked
	 * about.
	 */
	for (size_t i = 0; *parts > 2 && i < *parts; i++) {
		size_t from = part_begin(n, *parts, i);
		size_t to = part_begin(n, *parts, i + 1);
		size_t rest = n - (to - from);
		memcpy(scratch, places, from * sizeof(*places));
		memcpy(scratch + from, places + to, (n - to) * sizeof(*places));
		bool does;
		TRY(minimise_ask_caller(work, scratch, rest, &does));
		if (!does)
			continue;
		memcpy(places, scratch, rest * sizeof(*places));
		work->n = rest;
		*parts = *parts - 1;
		return NULL;
	}
	*ret_reduced = false;
	return NULL;
}

static struct err *minimise_search_list(struct minimising *work)
{
	size_t parts = 2;
	while (work->n > 1) {
		bool reduced;
		parts = MIN(parts, work->n);
		TRY(minimise_reduce_list(work, &parts, &reduced));
		if (reduced)
			continue;
		if (parts >= work->n)
			break; /* each single place is needed */
		parts = MIN(parts * 2, work->n);
	}
	return NULL;
}

struct err *minimise_list(size_t n, minimise_ask *ask, void *data,
			  size_t *ret_places, size_t *ret_n)
{
	_cleanup_(minimising_freep) struct minimising work = {
		.ask = ask,
		.data = data,
		.places = ret_places,
		.n = n,
		.scratch = calloc(n + 1, sizeof(*work.scratch)),
	};
	for (size_t i = 0; i < n; i++)
		ret_places[i] = i;
	struct err *err =
		work.scratch ? minimise_search_list(&work) : err_nomem();
	*ret_n = work.n;
	return err;
}
