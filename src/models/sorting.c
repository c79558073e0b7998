/* Models of sorting and searching. */
#include "models/order_internal.h"

#include <stdlib.h>

struct plain {
	int (*compare)(const void *, const void *);
};

static int sorting_compare_plain(const void *a, const void *b, void *argument)
{
	return ((const struct plain *)argument)->compare(a, b);
}

static bool sorting_fits_buffer(size_t n, size_t size)
{
	return n > 1 && n <= CHOOSE_ELEMENTS && size &&
	       size <= SIZE_MAX / CHOOSE_ELEMENTS;
}

/*
 * The array is sorted as usual; only then elements that compare as equal change
 * places, so that an array without such ones leaves no choice.
 */
_export_ void qsort(void *base, size_t n, size_t size,
		    int (*compare)(const void *, const void *))
{
	CHOOSE_NEXT(qsort, )
	next(base, n, size, compare);
	if (!sorting_fits_buffer(n, size) ||
	    !choose_wanted(WIRE_MODEL_qsort, CHOOSE_CALLER()))
		return;
	struct plain plain = { compare };
	order_ties(WIRE_MODEL_qsort, base, n, size, sorting_compare_plain,
		   &plain);
}

_export_ void qsort_r(void *base, size_t n, size_t size, order_compare *compare,
		      void *argument)
{
	CHOOSE_NEXT(qsort_r, )
	next(base, n, size, compare, argument);
	if (!sorting_fits_buffer(n, size) ||
	    !choose_wanted(WIRE_MODEL_qsort_r, CHOOSE_CALLER()))
		return;
	order_ties(WIRE_MODEL_qsort_r, base, n, size, compare, argument);
}

/*
 * Any of those that match: they are next to each other around the one found.
 * The header defines bsearch() itself, inline.
 */
_export_ void *
search_sorted(const void *key, const void *base, size_t n, size_t size,
	      int (*compare)(const void *, const void *)) __asm__("bsearch");

void *search_sorted(const void *key, const void *base, size_t n, size_t size,
		    int (*compare)(const void *, const void *))
{
	CHOOSE_NEXT(bsearch, NULL)
	unsigned char *found = next(key, base, n, size, compare);
	if (!found || !sorting_fits_buffer(n, size) ||
	    !choose_wanted(WIRE_MODEL_bsearch, CHOOSE_CALLER()))
		return found;
	const unsigned char *first = base;
	size_t at = (size_t)(found - first) / size, low = at, high = at + 1;
	while (low && !compare(key, first + (low - 1) * size))
		low--;
	while (high < n && !compare(key, first + high * size))
		high++;
	if (high - low < 2)
		return found;
	struct choose_keys keys = order_array_keys(base, n * size);
	keys.equal = choose_mix(keys.equal, low);
	keys.object = choose_mix(keys.object, low);
	uint64_t pick = choose_pick(WIRE_MODEL_bsearch, high - low, keys);
	size_t chosen = low + (at - low + pick) % (high - low);
	choose_argument("%zu elements of %zu bytes, %zu of which match", n,
			size, high - low);
	choose_did("found number %zu instead of %zu", chosen, at);
	return found + (chosen - at) * size;
}
