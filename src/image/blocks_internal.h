/* What all kinds of blocks are made of. */
#pragma once

#include "base/vec.h"
#include "image/blocks.h"
#include "wire/heap.h"

DEFINE_VEC(block_list, struct image_block)

/* A page of the shadow, which covers SHADOW_SPAN bytes of memory. */
#define SHADOW_ENTRIES (IMAGE_PAGE / 8)
#define SHADOW_SHIFT 13
#define SHADOW_SPAN (1ULL << SHADOW_SHIFT)

struct shadow_page {
	uint64_t moment;
	uint64_t key;		 /* address >> SHADOW_SHIFT */
	const uint64_t *entries; /* NULL: no block begins there */
	unsigned n;		 /* entries up to the last that is not 0 */
};

struct shadow_leaf {
	uint64_t moment;
	uint64_t index;
	uint64_t address; /* 0: none */
};

struct mapped_chunk {
	uint64_t moment;
	uint64_t page;
	uint64_t chunk; /* 0: none */
	uint64_t size;
};

struct arena_list {
	uint64_t moment;
	uint64_t start;
	struct block_list list;
};

#define SHADOW_PAGES 8192 /* 64 MiB of heap */
#define SHADOW_LEAVES 64
#define MAPPED_PAGES 256
#define ARENAS 16

enum blocks_kind {
	BLOCKS_AGENT,
	BLOCKS_GLIBC,
	BLOCKS_ASAN,
};

struct blocks {
	enum blocks_kind kind;
	blocks_page *page;
	void *data;
	uint64_t moment;    /* what is remembered holds if it has the same */
	uint64_t sorted_at; /* the moment to which the list belongs */
	struct block_list sorted; /* the large ones, or glibc's */

	/* The agent's. */
	uint64_t heap_address;
	uint64_t heap_at;
	struct wire_heap heap; /* without the regions */
	bool known;
	char missing[160];

	/* glibc's. */
	struct blocks_glibc where;

	union {
		struct {
			struct shadow_leaf leaves[SHADOW_LEAVES];
			struct shadow_page pages[SHADOW_PAGES];
		};
		struct {
			struct mapped_chunk mapped[MAPPED_PAGES];
			struct arena_list arenas[ARENAS];
		};
	};
};

/* @n bytes at @address, over page boundaries; false where some are missing. */
bool blocks_read(const struct blocks *blocks, uint64_t address, void *out,
		 size_t n);
/* The last of @list that does not begin after @address. */
const struct image_block *blocks_last_before(const struct block_list *list,
					     uint64_t address);

/* blocks_asan.c */
bool blocks_find_asan(struct blocks *blocks, uint64_t address,
		      struct image_block *ret);
/* blocks_glibc.c */
bool blocks_find_glibc(struct blocks *blocks, uint64_t address,
		       struct image_block *ret);
