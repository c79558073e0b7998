#include "base/map.h"

#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

static uint64_t map_hash_text(const char *key)
{
	uint64_t hash = XXH3_64bits(key, strlen(key));
	return hash ? hash : 1;
}

static uint64_t map_hash_u64(uint64_t key)
{
	uint64_t hash = XXH3_64bits(&key, sizeof(key));
	return hash ? hash : 1;
}

/* The slot that holds the key or the empty one where it belongs. */
static struct map_slot *map_find_text(const struct map *map, uint64_t hash,
				      const char *key)
{
	size_t mask = map->cap - 1;
	for (size_t i = hash & mask;; i = (i + 1) & mask) {
		struct map_slot *slot = &map->slots[i];
		if (!slot->hash ||
		    (slot->hash == hash && !strcmp(slot->key.text, key)))
			return slot;
	}
}

static struct map_slot *map_find_u64(const struct map *map, uint64_t hash,
				     uint64_t key)
{
	size_t mask = map->cap - 1;
	for (size_t i = hash & mask;; i = (i + 1) & mask) {
		struct map_slot *slot = &map->slots[i];
		if (!slot->hash ||
		    (slot->hash == hash && slot->key.number == key))
			return slot;
	}
}

static struct err *map_make_room(struct map *map)
{
	if (map->cap && (map->n + 1) * 4 <= map->cap * 3)
		return NULL;
	size_t cap = map->cap ? map->cap * 2 : 16;
	struct map_slot *slots = calloc(cap, sizeof(*slots));
	if (!slots)
		return err_nomem();
	for (size_t i = 0; i < map->cap; i++) {
		if (!map->slots[i].hash)
			continue;
		size_t j = map->slots[i].hash & (cap - 1);
		while (slots[j].hash)
			j = (j + 1) & (cap - 1);
		slots[j] = map->slots[i];
	}
	free(map->slots);
	map->slots = slots;
	map->cap = cap;
	return NULL;
}

struct err *map_text_put(struct map_text *map, const char *key, uint64_t value)
{
	TRY(map_make_room(&map->map));
	uint64_t hash = map_hash_text(key);
	struct map_slot *slot = map_find_text(&map->map, hash, key);
	if (!slot->hash) {
		char *copy = strdup(key);
		if (!copy)
			return err_nomem();
		slot->key.text = copy;
		slot->hash = hash;
		map->map.n++;
	}
	slot->value = value;
	return NULL;
}

bool map_text_get(const struct map_text *map, const char *key, uint64_t *ret)
{
	if (!map->map.cap)
		return false;
	const struct map_slot *slot =
		map_find_text(&map->map, map_hash_text(key), key);
	if (!slot->hash)
		return false;
	*ret = slot->value;
	return true;
}

void map_text_free(struct map_text *map)
{
	for (size_t i = 0; i < map->map.cap; i++) {
		if (map->map.slots[i].hash)
			free(map->map.slots[i].key.text);
	}
	free(map->map.slots);
	map->map = (struct map){};
}

struct err *map_u64_put(struct map_u64 *map, uint64_t key, uint64_t value)
{
	TRY(map_make_room(&map->map));
	uint64_t hash = map_hash_u64(key);
	struct map_slot *slot = map_find_u64(&map->map, hash, key);
	if (!slot->hash) {
		slot->key.number = key;
		slot->hash = hash;
		map->map.n++;
	}
	slot->value = value;
	return NULL;
}

bool map_u64_get(const struct map_u64 *map, uint64_t key, uint64_t *ret)
{
	if (!map->map.cap)
		return false;
	const struct map_slot *slot =
		map_find_u64(&map->map, map_hash_u64(key), key);
	if (!slot->hash)
		return false;
	*ret = slot->value;
	return true;
}

/* Closes the gap by moving later members of the run back (no tombstones). */
bool map_u64_remove(struct map_u64 *map, uint64_t key)
{
	if (!map->map.cap)
		return false;
	struct map_slot *slots = map->map.slots;
	struct map_slot *slot = map_find_u64(&map->map, map_hash_u64(key), key);
	if (!slot->hash)
		return false;

	size_t mask = map->map.cap - 1;
	size_t gap = (size_t)(slot - slots);
	for (size_t i = (gap + 1) & mask; slots[i].hash; i = (i + 1) & mask) {
		size_t home = slots[i].hash & mask;
		if (((i - home) & mask) >= ((i - gap) & mask)) {
			slots[gap] = slots[i];
			gap = i;
		}
	}
	slots[gap] = (struct map_slot){};
	map->map.n--;
	return true;
}

void map_u64_free(struct map_u64 *map)
{
	free(map->map.slots);
	map->map = (struct map){};
}
