/*
 * Where random() and drand48() keep what they will say next. Both are read
 * before they could have been used, and restored.
 */
#include "recorder/state_internal.h"

#include <stdlib.h>

#define LARGEST 256 /* of random()'s tables, in bytes */

/*
 * Bytes of a table by its type, glibc/stdlib/random_r.c: the first word is the
 * type, and where in the table the generator is.
 */
static const uint64_t sizes[] = { 8, 32, 64, 128, LARGEST };
#define TYPES (sizeof(sizes) / sizeof(sizes[0]))

static void random_note_table(const char *table)
{
	int32_t first = *(const int32_t *)table;
	agent_state.random_size = sizes[(uint32_t)first % TYPES];
	__atomic_store_n(&agent_state.random, (uint64_t)(uintptr_t)table,
			 __ATOMIC_RELEASE);
}

static void find_random(void)
{
	__typeof__(&initstate) begin = next_find(NEXT_initstate);
	__typeof__(&setstate) restore = next_find(NEXT_setstate);
	int32_t other[2];
	if (!begin || !restore)
		return;
	char *table = begin(1, (char *)other, sizeof(other));
	if (!table)
		return;
	restore(table);
	random_note_table(table);
}

/* struct drand48_data of <stdlib.h>; what seed48() returns is its old_x. */
struct numbers48 {
	unsigned short x[3], old_x[3], c, init;
	unsigned long long a;
};

static void find_drand48(void)
{
	__typeof__(&seed48) seed = next_find(NEXT_seed48);
	unsigned short zero[3] = {};
	unsigned short *old = seed ? seed(zero) : NULL;
	if (!old)
		return;
	struct numbers48 *numbers =
		(struct numbers48 *)((char *)old -
				     offsetof(struct numbers48, old_x));
	/* What it was before its first use; else only the numbers are known. */
	if (!(old[0] | old[1] | old[2])) {
		*numbers = (struct numbers48){};
	} else {
		for (unsigned i = 0; i < 3; i++)
			numbers->x[i] = old[i];
	}
	agent_state.drand48 = (uint64_t)(uintptr_t)numbers;
	/*
	 * The rest is what it was before, or constant except after lcong48().
	 */
	agent_state.drand48_size = sizeof(numbers->x);
}

void random_begin(void)
{
	find_random();
	find_drand48();
}

_export_ char *initstate(unsigned seed, char *table, size_t size)
{
	NEXT(initstate, NULL)
	char *old = next(seed, table, size);
	if (old) {
		random_note_table(table);
		state_changed();
	}
	return old;
}

_export_ char *setstate(char *table)
{
	NEXT(setstate, NULL)
	char *old = next(table);
	if (old) {
		random_note_table(table);
		state_changed();
	}
	return old;
}

/* Those that restart a sequence. */
#define SEEDING(name, type, what)                                              \
	_export_ void name(type seed)                                          \
	{                                                                      \
		__typeof__(&(name)) next = next_find(NEXT_##name);             \
		state_write(what, NULL);                                       \
		if (likely(next))                                              \
			next(seed);                                            \
	}

SEEDING(srand, unsigned, WIRE_RANDOM)
SEEDING(srandom, unsigned, WIRE_RANDOM)
SEEDING(srand48, long, WIRE_DRAND48)

#define ASKING(type, name, what)                                               \
	_export_ type name(void)                                               \
	{                                                                      \
		NEXT(name, 0)                                                  \
		state_ask(what, NULL);                                         \
		return next();                                                 \
	}

ASKING(int, rand, WIRE_RANDOM)
ASKING(long, random, WIRE_RANDOM)
ASKING(double, drand48, WIRE_DRAND48)
ASKING(long, lrand48, WIRE_DRAND48)
ASKING(long, mrand48, WIRE_DRAND48)
