/* Models of order: directories, sorting, names, readiness. */
#include "agent/choose_internal.h"

#include <stdlib.h>

/*
 * Elements that compare as equal come out in another order where they went in
 * in another one: the array is shuffled, and then sorted as ever. glibc's sort is
 * stable as long as it has memory, so pick 0 keeps their order.
 */
_export_ void qsort(void *base, size_t n, size_t size,
		    int (*compare)(const void *, const void *))
{
	CHOOSE_NEXT(qsort, )
	if (n > 1 && n <= CHOOSE_ELEMENTS && size &&
	    choose_wanted(WIRE_MODEL_qsort, CHOOSE_CALLER())) {
		uint64_t equal = choose_hash(base, n * size);
		struct choose_keys keys = {
			.equal = equal,
			.object = choose_mix(equal, choose_object(base)),
		};
		uint64_t pick =
			choose(WIRE_MODEL_qsort, choose_permutations(n), keys);
		choose_argument("%zu elements of %zu bytes", n, size);
		choose_did("elements that compare as equal came out in another "
			   "order");
		choose_permute(pick, base, n, size);
	}
	next(base, n, size, compare);
}
