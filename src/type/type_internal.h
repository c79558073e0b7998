/* What the implementation of type/type.h shares; for type/ only. */
#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "type/type.h"

/* Types are in pieces that never move: pointers to them stay valid. */
#define TYPES_PIECE 1024

struct text_slot {
	uint64_t hash; /* 0: empty */
	const char *text;
};

struct type_pool {
	VEC(struct type *) pieces; /* of TYPES_PIECE each */
	size_t n_types;
	VEC(char *) memory;	 /* memory that was given out */
	size_t memory_used;	 /* of the last one */
	size_t memory_size;	 /* of the last one */
	struct text_slot *texts; /* open addressing; grows at 1/2 */
	size_t texts_n, texts_cap;
	struct map_u64 by_name; /* address of the name's text to its type */
	struct map_u64 arrays;	/* hash of element and count to the array */
};

static inline struct type *type_at(const struct type_pool *pool, type_id id)
{
	return &pool->pieces.data[id / TYPES_PIECE][id % TYPES_PIECE];
}
