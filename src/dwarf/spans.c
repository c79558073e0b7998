#include "dwarf/spans.h"

#include <stdlib.h>

#include "base/vec.h"

/*
 * How far back a lookup goes below the nearest start. Real files nest a few
 * levels; a damaged one must not make each lookup walk the whole table.
 */
#define BACK_MAX 4096

struct err *spans_add(struct spans *spans, uint64_t lo, uint64_t size,
		      uint32_t rank, uint32_t id)
{
	uint64_t hi;
	if (__builtin_add_overflow(lo, size ? size : 1, &hi))
		hi = UINT64_MAX;
	struct span span = { .lo = lo, .hi = hi, .rank = rank, .id = id };
	return vec_push(spans, span);
}

/* Among equal starts the preferred one comes last, where a search ends. */
static int span_order(const void *left, const void *right)
{
	const struct span *a = left, *b = right;
	if (a->lo != b->lo)
		return a->lo < b->lo ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank > b->rank ? -1 : 1;
	return a->id > b->id ? -1 : a->id < b->id;
}

void spans_seal(struct spans *spans)
{
	if (!spans->n)
		return;
	qsort(spans->data, spans->n, sizeof(*spans->data), span_order);
	uint64_t top = 0;
	for (size_t i = 0; i < spans->n; i++) {
		top = MAX(top, spans->data[i].hi);
		spans->data[i].top = top;
	}
}

bool spans_find(const struct spans *spans, uint64_t address, uint32_t *ret_id)
{
	size_t low = 0, high = spans->n; /* first span that begins after it */
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (spans->data[middle].lo <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t i = low, back = 0; i > 0 && back < BACK_MAX; i--, back++) {
		const struct span *span = &spans->data[i - 1];
		if (span->top <= address)
			return false;
		if (address < span->hi) {
			*ret_id = span->id;
			return true;
		}
	}
	return false;
}

void spans_free(struct spans *spans)
{
	vec_free(spans);
}
