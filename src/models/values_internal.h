/*
 * Values of which only a property is promised: what the files of this family
 * share.
 *
 * Steady values: what a program may ask for again and compare (the text of an
 * error number, an inode number) is decided once for a thread and a test, and
 * follows from the seed alone: it is the same in all threads and tests of a run,
 * at every level. Only the first time is a choice.
 */
#pragma once

#include "models/choose_internal.h"

#pragma GCC visibility push(hidden)

/* Threads by small numbers; of many, several have the same. */
#define VALUE_THREADS 64
unsigned value_thread(void);

uint64_t value_steady(enum wire_model model, uint64_t alternatives,
		      uint64_t key);

/* What a call left undefined: a few bytes of @room. */
void value_indeterminate(void *room, size_t size);
#define VALUE_SPOILT 16

/*
 * values_text.c: what an error number is called for this program, and a
 * signal; @text is what the library says. @room has VALUE_TEXT bytes.
 */
#define VALUE_TEXT 128
const char *value_choose_text(enum wire_model model, int number,
			      const char *text, char *room);
const char *value_error_text(int number, uintptr_t caller, char *room);

/*
 * values_files.c: the number that an inode has for this program, in every
 * interface that shows it. Only after choose_wanted(WIRE_MODEL_stat_inode, …).
 */
uint64_t value_inode(uint64_t device, uint64_t inode);

#pragma GCC visibility pop

/* Keys are costly: are they needed? At the others they are not used. */
static inline bool value_keyed(void)
{
	uint64_t level = choose_block->level;
	return level == WIRE_EQ || level == WIRE_ID;
}

static inline struct choose_keys value_keys(uint64_t key)
{
	return (struct choose_keys){ .equal = key, .object = key };
}

/* Where another function of the library is needed: NULL where there is none. */
#define VALUE_FIND(name)                                                       \
	static __typeof__(&(name)) found_##name;                               \
	__typeof__(&(name)) name##_next =                                      \
		__atomic_load_n(&found_##name, __ATOMIC_RELAXED);              \
	if (unlikely(!name##_next)) {                                          \
		name##_next = (__typeof__(&(name)))lookup_next(#name);         \
		__atomic_store_n(&found_##name, name##_next,                   \
				 __ATOMIC_RELAXED);                            \
	}
