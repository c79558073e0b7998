#include "base/compare.h"
#include "base/log.h"
#include "image/blocks_internal.h"

#include <stdio.h>
#include <string.h>

/* More than any machine has: each is larger than WIRE_LARGE. */
#define LARGE_MOST (1U << 20)

static struct blocks *blocks_allocate(blocks_page *page, void *data)
{
	struct blocks *blocks = calloc(1, sizeof(*blocks));
	if (!blocks)
		return NULL;
	blocks->page = page;
	blocks->data = data;
	blocks->moment = 1; /* of nothing that calloc() made */
	return blocks;
}

struct err *blocks_create(blocks_page *page, void *data, uint64_t heap,
			  struct blocks **ret)
{
	struct blocks *blocks = blocks_allocate(page, data);
	if (!blocks)
		return err_nomem();
	blocks->heap_address = heap;
	*ret = blocks;
	return NULL;
}

struct err *blocks_create_glibc(blocks_page *page, void *data,
				const struct blocks_glibc *where,
				struct blocks **ret)
{
	struct blocks *blocks = blocks_allocate(page, data);
	if (!blocks)
		return err_nomem();
	blocks->kind = BLOCKS_GLIBC;
	blocks->where = *where;
	*ret = blocks;
	return NULL;
}

void blocks_destroy(struct blocks *blocks)
{
	if (!blocks)
		return;
	vec_free(&blocks->sorted);
	for (size_t i = 0; blocks->kind == BLOCKS_GLIBC && i < ARENAS; i++)
		vec_free(&blocks->arenas[i].list);
	free(blocks);
}

void blocks_reset(struct blocks *blocks)
{
	blocks->moment++;
}

void blocks_reset_glibc(struct blocks *blocks, const struct blocks_glibc *where)
{
	blocks->where = *where;
	blocks_reset(blocks);
}

bool blocks_read(const struct blocks *blocks, uint64_t address, void *out,
		 size_t n)
{
	uint8_t *to = out;
	if (address + n < address)
		return false;
	while (n) {
		size_t offset = address % IMAGE_PAGE;
		size_t part = MIN(n, IMAGE_PAGE - offset);
		const uint8_t *page =
			blocks->page(blocks->data, address - offset);
		if (!page)
			return false;
		memcpy(to, page + offset, part);
		to += part;
		address += part;
		n -= part;
	}
	return true;
}

const struct image_block *blocks_last_before(const struct block_list *list,
					     uint64_t address)
{
	size_t low = 0, high = list->n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (list->data[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &list->data[low - 1] : NULL;
}

static bool is_table(uint64_t address, uint64_t size)
{
	return address && address % 8 == 0 &&
	       address < 1ULL << WIRE_ADDRESS_BITS &&
	       size <= (1ULL << WIRE_ADDRESS_BITS) - address;
}

/* The description of the agent's tables, as of this moment. */
static bool load_heap(struct blocks *blocks)
{
	if (blocks->heap_at == blocks->moment)
		return blocks->known;
	struct wire_heap *heap = &blocks->heap;
	blocks->heap_at = blocks->moment;
	blocks->known = false;
	const char *why = NULL;
	if (!blocks_read(blocks, blocks->heap_address, heap,
			 offsetof(struct wire_heap, regions)))
		why = "the agent's description of the heap cannot be read";
	else if (heap->magic != WIRE_HEAP_MAGIC ||
		 heap->version != WIRE_HEAP_VERSION)
		why = "the agent is from another version";
	else if (!heap->active && heap->reason == WIRE_NO_MEMORY)
		why = "there was no memory for the table of heap blocks";
	else if (!heap->active && heap->reason == WIRE_NOT_STARTED)
		why = "the agent has not started";
	else if (heap->active &&
		 (!is_table(heap->directory,
			    WIRE_SLOTS * sizeof(struct wire_slot)) ||
		  !is_table(heap->leaves, WIRE_SLOTS * 4) ||
		  heap->stacks_n > WIRE_STACK_MAX ||
		  !is_table(heap->stacks,
			    heap->stacks_n * sizeof(struct wire_stack))))
		why = "the agent's description of the heap makes no sense";
	heap->allocator[WIRE_NAME - 1] = '\0';
	if (why)
		snprintf(blocks->missing, sizeof(blocks->missing), "%s", why);
	else if (!heap->active && heap->allocator[0])
		snprintf(blocks->missing, sizeof(blocks->missing),
			 "the program brings its own allocator, %s",
			 heap->allocator);
	else if (!heap->active)
		snprintf(blocks->missing, sizeof(blocks->missing),
			 "the program defines malloc() itself");
	else
		blocks->known = true;
	if (!blocks->known)
		log_debug(LOG_AGENT, "heap blocks are not known: %s",
			  blocks->missing);
	return blocks->known;
}

const char *blocks_missing(struct blocks *blocks)
{
	if (blocks->kind == BLOCKS_ASAN)
		return NULL;
	if (blocks->kind == BLOCKS_GLIBC)
		return blocks->where.heap_start < blocks->where.heap_end
			       ? NULL
			       : "the program has no heap yet";
	return load_heap(blocks) ? NULL : blocks->missing;
}

uint64_t blocks_lost(struct blocks *blocks)
{
	return blocks->kind == BLOCKS_AGENT && load_heap(blocks)
		       ? blocks->heap.lost
		       : 0;
}

/* 0 where there is none, or none that can be. */
static uint64_t leaf_in(const struct wire_slot *slot)
{
	return slot->leaf % IMAGE_PAGE == 0 &&
			       is_table(slot->leaf, WIRE_LEAF_BYTES)
		       ? slot->leaf
		       : 0;
}

static uint64_t leaf_at(struct blocks *blocks, uint64_t index)
{
	struct shadow_leaf *leaf = &blocks->leaves[index % SHADOW_LEAVES];
	if (leaf->moment == blocks->moment && leaf->index == index)
		return leaf->address;
	*leaf = (struct shadow_leaf){ blocks->moment, index, 0 };
	for (uint64_t i = 0; i < WIRE_PROBES; i++) {
		struct wire_slot slot;
		if (!blocks_read(blocks,
				 blocks->heap.directory + (index + i) %
								  WIRE_SLOTS *
								  sizeof(slot),
				 &slot, sizeof(slot)) ||
		    !slot.index)
			break;
		if (slot.index == index + 1) {
			leaf->address = leaf_in(&slot);
			break;
		}
	}
	return leaf->address;
}

/* How many entries there are up to the last that is not 0. */
static unsigned count_used_entries(const uint64_t *entries, unsigned n)
{
	while (n >= 8 && !(entries[n - 1] | entries[n - 2] | entries[n - 3] |
			   entries[n - 4] | entries[n - 5] | entries[n - 6] |
			   entries[n - 7] | entries[n - 8]))
		n -= 8;
	while (n && !entries[n - 1])
		n--;
	return n;
}

static const struct shadow_page *shadow_at(struct blocks *blocks, uint64_t key)
{
	struct shadow_page *page = &blocks->pages[key % SHADOW_PAGES];
	if (page->moment == blocks->moment && page->key == key)
		return page;
	uint64_t address = key << SHADOW_SHIFT;
	uint64_t leaf = leaf_at(blocks, address >> WIRE_LEAF_SHIFT);
	const uint64_t *entries = NULL;
	if (leaf) {
		uint64_t offset = address & ((1ULL << WIRE_LEAF_SHIFT) - 1);
		entries = (const uint64_t *)(const void *)blocks->page(
			blocks->data, leaf + offset / WIRE_GRANULE * 8);
	}
	*page = (struct shadow_page){
		.moment = blocks->moment,
		.key = key,
		.entries = entries,
		.n = entries ? count_used_entries(entries, SHADOW_ENTRIES) : 0,
	};
	return page;
}

static bool as_block(uint64_t start, uint64_t entry, struct image_block *ret)
{
	uint64_t size = WIRE_SIZE(entry);
	if (size > (1ULL << WIRE_ADDRESS_BITS) - start)
		return false;
	*ret = (struct image_block){
		.start = start,
		.size = size,
		.stack = WIRE_STACK(entry),
		.exact = true,
	};
	return true;
}

static void read_cells(struct blocks *blocks, const struct wire_slot *slot,
		       struct block_list *list)
{
	uint64_t leaf = leaf_in(slot), index = slot->index - 1;
	uint16_t cells[WIRE_LEAF_CELLS];
	if (!leaf || index >= 1ULL << (WIRE_ADDRESS_BITS - WIRE_LEAF_SHIFT) ||
	    !blocks_read(blocks, leaf + offsetof(struct wire_leaf, cells),
			 cells, sizeof(cells)))
		return;
	for (size_t i = 0; i < WIRE_LEAF_CELLS; i++) {
		if (!cells[i] || cells[i] > WIRE_LARGE / WIRE_GRANULE)
			continue;
		uint64_t offset =
			i * WIRE_LARGE + (cells[i] - 1ULL) * WIRE_GRANULE;
		uint64_t entry;
		struct image_block block;
		if (!blocks_read(blocks, leaf + offset / WIRE_GRANULE * 8,
				 &entry, sizeof(entry)) ||
		    !entry || WIRE_SIZE(entry) <= WIRE_LARGE ||
		    !as_block((index << WIRE_LEAF_SHIFT) + offset, entry,
			      &block))
			continue;
		/* Without memory for it, the block is not known. */
		if (list->n < LARGE_MOST)
			err_ignore(vec_push(list, block));
	}
}

static const struct block_list *large_blocks(struct blocks *blocks)
{
	struct block_list *list = &blocks->sorted;
	if (blocks->sorted_at == blocks->moment)
		return list;
	blocks->sorted_at = blocks->moment;
	list->n = 0;
	uint32_t n = MIN(blocks->heap.leaves_n, WIRE_SLOTS);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t number;
		struct wire_slot slot;
		if (!blocks_read(blocks, blocks->heap.leaves + i * 4ULL,
				 &number, sizeof(number)))
			break;
		if (number && number <= WIRE_SLOTS &&
		    blocks_read(blocks,
				blocks->heap.directory +
					(number - 1ULL) * sizeof(slot),
				&slot, sizeof(slot)))
			read_cells(blocks, &slot, list);
	}
	if (list->n)
		qsort(list->data, list->n, sizeof(*list->data), compare_as_u64);
	return list;
}

static bool block_contains(const struct image_block *block, uint64_t address)
{
	return address - block->start <= block->size;
}

/* In one page of the shadow; @n: entries of it that may be the one. */
static uint64_t last_in(const struct shadow_page *page, unsigned n,
			uint64_t *ret_start)
{
	if (!page->n)
		return 0;
	n = count_used_entries(page->entries, MIN(n, page->n));
	if (!n)
		return 0;
	*ret_start = (page->key << SHADOW_SHIFT) + (n - 1ULL) * WIRE_GRANULE;
	return page->entries[n - 1];
}

/* The entry of the nearest block that begins before the page @key; 0: none. */
static uint64_t blocks_find_entry_before(struct blocks *blocks, uint64_t key,
					 uint64_t lowest, uint64_t *ret_start)
{
	const unsigned shift = WIRE_LEAF_SHIFT - SHADOW_SHIFT;
	while (key > lowest) {
		key--;
		const struct shadow_page *page = shadow_at(blocks, key);
		uint64_t entry = last_in(page, SHADOW_ENTRIES, ret_start);
		if (entry)
			return entry;
		/* Without a leaf, on to the last page of the one before. */
		if (!page->entries && !leaf_at(blocks, key >> shift))
			key = key >> shift << shift;
	}
	return 0;
}

/*
 * Blocks do not overlap: the nearest that begins at or before @address is the
 * only one it can be in. It is within WIRE_LARGE, or it is a large one; these
 * are checked before going back, since most of that way would be in them.
 */
static bool find_agents(struct blocks *blocks, uint64_t address,
			struct image_block *ret)
{
	if (address >> WIRE_ADDRESS_BITS || !load_heap(blocks))
		return false;
	uint64_t key = address >> SHADOW_SHIFT, start = 0;
	unsigned n = address / WIRE_GRANULE % SHADOW_ENTRIES + 1;
	uint64_t entry = last_in(shadow_at(blocks, key), n, &start);
	if (!entry) {
		const struct image_block *large =
			blocks_last_before(large_blocks(blocks), address);
		if (large && address - large->start < large->size) {
			*ret = *large;
			return true;
		}
		uint64_t lowest =
			address < WIRE_LARGE ? 0 : address - WIRE_LARGE;
		entry = blocks_find_entry_before(
			blocks, key, lowest >> SHADOW_SHIFT, &start);
		if (!entry && large && block_contains(large, address)) {
			*ret = *large; /* its end */
			return true;
		}
	}
	struct image_block block;
	if (!entry || !as_block(start, entry, &block) ||
	    !block_contains(&block, address))
		return false;
	*ret = block;
	return true;
}

bool blocks_find(struct blocks *blocks, uint64_t address,
		 struct image_block *ret)
{
	switch (blocks->kind) {
	case BLOCKS_GLIBC:
		return blocks_find_glibc(blocks, address, ret);
	case BLOCKS_ASAN:
		return blocks_find_asan(blocks, address, ret);
	case BLOCKS_AGENT:
		break;
	}
	return find_agents(blocks, address, ret);
}

size_t blocks_stack(struct blocks *blocks, uint32_t stack, uint64_t *out,
		    size_t max)
{
	struct wire_stack frames;
	if (blocks->kind != BLOCKS_AGENT || !stack || !load_heap(blocks) ||
	    stack >= blocks->heap.stacks_n ||
	    !blocks_read(blocks, blocks->heap.stacks + stack * sizeof(frames),
			 &frames, sizeof(frames)))
		return 0;
	size_t n = 0;
	while (n < max && n < WIRE_STACK_FRAMES && frames.frames[n]) {
		out[n] = frames.frames[n];
		n++;
	}
	return n;
}

size_t blocks_regions(struct blocks *blocks, struct blocks_region *out,
		      size_t max)
{
	struct wire_region regions[WIRE_REGIONS];
	if (blocks->kind != BLOCKS_AGENT || !load_heap(blocks) ||
	    !blocks_read(blocks,
			 blocks->heap_address +
				 offsetof(struct wire_heap, regions),
			 regions, sizeof(regions)))
		return 0;
	size_t n = 0;
	for (size_t i = 0;
	     i < MIN(blocks->heap.regions_n, (uint64_t)WIRE_REGIONS); i++) {
		const struct wire_region *region = &regions[i];
		if (n < max && region->size &&
		    is_table(region->address, region->size))
			out[n++] = (struct blocks_region){
				region->address,
				region->address + region->size,
			};
	}
	return n;
}
