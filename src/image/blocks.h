/*
 * The heap's live blocks at one moment, read from a process's memory.
 *
 * They come from the agent's table (wire/heap.h). Where there is no agent, they
 * come from the shadow of AddressSanitizer, or from the headers of glibc's
 * allocator, and stacks are not known. With glibc sizes are what the allocator
 * gave, and blocks that were freed a moment ago into a list that cannot be found
 * count as live.
 *
 * Memory comes through a function, page by page, so nothing here knows of
 * processes. What it says is hostile: any bytes give some answer, in bounded
 * time.
 *
 * Invariant: pages stay as they are, and where they are, until blocks_reset().
 */
#pragma once

#include <stdint.h>

#include "base/err.h"
#include "image/image.h"

struct blocks;

/* The page of IMAGE_PAGE bytes at @address, NULL where there is none. */
typedef const uint8_t *blocks_page(void *data, uint64_t address);

/* @heap: address of the agent's struct wire_heap. */
struct err *blocks_create(blocks_page *page, void *data, uint64_t heap,
			  struct blocks **ret) _must_check_;

/* Where glibc's allocator keeps its blocks; addresses that are 0 are unknown. */
struct blocks_glibc {
	uint64_t heap_start; /* of the mapping "[heap]" */
	uint64_t heap_end;
	uint64_t main_arena; /* of the variable: its fast bins are read */
};
struct err *blocks_create_glibc(blocks_page *page, void *data,
				const struct blocks_glibc *where,
				struct blocks **ret) _must_check_;

/* The shadow is in what @page gives (image/asan.h). */
struct err *blocks_create_asan(blocks_page *page, void *data,
			       struct blocks **ret) _must_check_;

void blocks_destroy(struct blocks *blocks); /* NULL is fine */
static inline void blocks_destroyp(struct blocks **blocks)
{
	blocks_destroy(*blocks);
}

/* A new moment: nothing that was read before holds. */
void blocks_reset(struct blocks *blocks);
/* The same for glibc's, the heap having grown or shrunk. */
void blocks_reset_glibc(struct blocks *blocks,
			const struct blocks_glibc *where);

/*
 * The live block that contains @address, its end included; a block that begins
 * there takes precedence.
 */
bool blocks_find(struct blocks *blocks, uint64_t address,
		 struct image_block *ret);
/* Return addresses of an allocation, innermost first; how many. */
size_t blocks_stack(struct blocks *blocks, uint32_t stack, uint64_t *out,
		    size_t max);
/*
 * Is anything known of blocks? Why not, as the end of a sentence for the user,
 * else NULL. Lives until the next reset.
 */
const char *blocks_missing(struct blocks *blocks);
/* How many blocks the agent could not note. */
uint64_t blocks_lost(struct blocks *blocks);

/* Memory of the agent's own, its variables too: not the program's. */
struct blocks_region {
	uint64_t start;
	uint64_t end;
};
size_t blocks_regions(struct blocks *blocks, struct blocks_region *out,
		      size_t max);
