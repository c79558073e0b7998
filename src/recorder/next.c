/* Where calls of interposed functions go on. */
#include "recorder/next_internal.h"

void *next_table[NEXT_N];

static const char *const names[] = {
#define X(name) #name,
	NEXT_FUNCTIONS(X)
#undef X
};

void *next_lookup(enum next_function function)
{
	void *found = lookup_next(names[function]);
	__atomic_store_n(&next_table[function], found, __ATOMIC_RELAXED);
	return found;
}

void next_begin(void)
{
	for (unsigned i = 0; i < NEXT_N; i++)
		next_lookup((enum next_function)i);
}
