#include "order/minimise.h"

#include <stdlib.h>
#include <string.h>

#include "base/macro.h"

/* The parts of the list: part @i of @parts of @n places. */
static size_t part_begin(size_t n, size_t parts, size_t i)
{
	return n / parts * i + MIN(i, n % parts);
}

/* One round: a part that does it alone, or all but one part. */
static struct err *reduce(size_t *places, size_t *n, size_t *parts,
			  size_t *scratch, minimise_ask *ask, void *data,
			  bool *ret_reduced)
{
	*ret_reduced = false;
	for (size_t i = 0; i < *parts; i++) {
		size_t from = part_begin(*n, *parts, i);
		size_t to = part_begin(*n, *parts, i + 1);
		bool does;
		TRY(ask(data, places + from, to - from, &does));
		if (!does)
			continue;
		memmove(places, places + from, (to - from) * sizeof(*places));
		*n = to - from;
		*parts = MIN((size_t)2, *n);
		*ret_reduced = true;
		return NULL;
	}
	/* Of two parts each is the other's rest: they were asked. */
	for (size_t i = 0; *parts > 2 && i < *parts; i++) {
		size_t from = part_begin(*n, *parts, i);
		size_t to = part_begin(*n, *parts, i + 1);
		size_t rest = *n - (to - from);
		memcpy(scratch, places, from * sizeof(*places));
		memcpy(scratch + from, places + to,
		       (*n - to) * sizeof(*places));
		bool does;
		TRY(ask(data, scratch, rest, &does));
		if (!does)
			continue;
		memcpy(places, scratch, rest * sizeof(*places));
		*n = rest;
		*parts = MAX(*parts - 1, (size_t)2);
		*ret_reduced = true;
		return NULL;
	}
	return NULL;
}

struct err *minimise(size_t n, minimise_ask *ask, void *data,
		     size_t *ret_places, size_t *ret_n)
{
	for (size_t i = 0; i < n; i++)
		ret_places[i] = i;
	*ret_n = n;
	_cleanup_(freep) size_t *scratch = calloc(n + 1, sizeof(*scratch));
	if (!scratch)
		return err_nomem();
	size_t parts = 2;
	while (*ret_n > 1) {
		bool reduced;
		parts = MIN(parts, *ret_n);
		TRY(reduce(ret_places, ret_n, &parts, scratch, ask, data,
			   &reduced));
		if (reduced)
			continue;
		if (parts >= *ret_n)
			break; /* each single place is needed */
		parts = MIN(parts * 2, *ret_n);
	}
	return NULL;
}
