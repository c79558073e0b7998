/*
 * Hash maps from text or numbers to pointer-sized values.
 *
 * Open addressing, grows at 3/4, keeps no order. A text key is copied. Values
 * are plain words: what they point to stays with its owner.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct map_slot {
	uint64_t hash; /* 0: empty */
	union {
		char *text;
		uint64_t number;
	} key;
	uint64_t value;
};

struct map {
	struct map_slot *slots;
	size_t n;
	size_t cap;
};

struct map_text {
	struct map map;
};
struct map_u64 {
	struct map map;
};

#define MAP_INIT                                                               \
	{                                                                      \
	}

/* Put replaces; get leaves @ret alone and returns false where it is not. */
struct err *map_text_put(struct map_text *map, const char *key,
			 uint64_t value) _must_check_;
bool map_text_get(const struct map_text *map, const char *key, uint64_t *ret);
void map_text_free(struct map_text *map);
static inline void map_text_freep(struct map_text *map)
{
	map_text_free(map);
}

struct err *map_u64_put(struct map_u64 *map, uint64_t key,
			uint64_t value) _must_check_;
bool map_u64_get(const struct map_u64 *map, uint64_t key, uint64_t *ret);
bool map_u64_remove(struct map_u64 *map, uint64_t key);
void map_u64_free(struct map_u64 *map);
static inline void map_u64_freep(struct map_u64 *map)
{
	map_u64_free(map);
}
