/*
 * Blocks out of the headers of glibc's allocator, for programs without the
 * agent. From malloc/malloc.c, glibc 2.26 to 2.41, 64 bits:
 *
 * A chunk begins 16 bytes before the block. At +8 is its size, a multiple of
 * 16, with flags: 1 the chunk before is in use, 2 it has a mapping of its own,
 * 4 it is not in the main arena. Chunks follow each other; the last is the top,
 * which is unused. A chunk is free when the next one says so, but not when it
 * waits in a list for the next request of its size:
 *
 *  - the thread cache (tcache). The first chunk of the heap is the main
 *    thread's: counters, then the heads of 64 lists. Next pointers are stored
 *    xor (their own address >> 12) since 2.32. The second word of a block in
 *    any thread's cache is a key, the same for all of them since 2.34.
 *  - the fast bins in the arena, linked the same way.
 *
 * Other arenas than the main one are in heaps of up to 64 MiB, at multiples of
 * that: a description (arena, heap before, size, size that can be written), in
 * an arena's first heap the arena itself, and chunks.
 */
#include "base/log.h"
#include "image/blocks_internal.h"

#include <string.h>

#define HEADER 16
#define SMALLEST 32
#define PREVIOUS_IN_USE 1ULL
#define MAPPED 2ULL
#define OTHER_ARENA 4ULL
#define FLAGS 7ULL

/* Programs linked statically keep thread-local storage at the heap's start. */
#define FIRST_WITHIN (64 * 1024)
/* How many times each chunk may be visited on a heap that is not one. */
#define LOOKS 4
/* How far from a mapped chunk's beginning it is still found, in pages. */
#define MAPPED_BACK 256

#define TCACHE_LISTS 64
#define FAST_BINS 10
#define HEAP_MOST (64ULL << 20)
/* A heap's description is not longer; the arena comes right after it. */
#define HEAP_HEAD 256
/* In struct malloc_state: after mutex, flags and have_fastchunks. */
#define FAST_BINS_AT 16

static bool read_word(const struct blocks *blocks, uint64_t address,
		      uint64_t *ret)
{
	const uint8_t *page;
	if (address % 8 ||
	    !(page = blocks->page(blocks->data,
				  address & ~(IMAGE_PAGE - 1ULL))))
		return false;
	memcpy(ret, page + address % IMAGE_PAGE, sizeof(*ret));
	return true;
}

/* Where to search for chunks. */
struct chunk_area {
	uint64_t start;
	uint64_t end;
	uint64_t within; /* the first one begins so near to the start */
	uint64_t arena;	 /* 0: not known */
	bool main;
};

/*
 * Collects the chunks in use from @first on, in the order of their addresses.
 * True if they lead to the end of the heap, or to where it continues elsewhere
 * (the allocator leaves two chunks of 16 bytes there).
 */
static bool chunks_walk_area(struct blocks *blocks,
			     const struct chunk_area *place, uint64_t first,
			     uint64_t *left, struct block_list *list)
{
	const uint64_t wrong = place->main ? MAPPED | OTHER_ARENA : MAPPED;
	uint64_t end = place->end;
	uint64_t chunk = first, word;
	list->n = 0;
	if (!read_word(blocks, chunk + 8, &word) || !(word & PREVIOUS_IN_USE) ||
	    word & wrong)
		return false;
	for (uint64_t i = 0; *left; i++, --*left) {
		uint64_t size = word & ~FLAGS;
		if (size > end - chunk || size % 16)
			return false;
		if (size == end - chunk)
			return true; /* the top */
		if (size == HEADER)
			return i > 0;
		if (size < SMALLEST || word & wrong)
			return false;
		if (!read_word(blocks, chunk + size + 8, &word))
			return false;
		struct image_block block = {
			.start = chunk + HEADER,
			.size = size - 8,
		};
		if (word & PREVIOUS_IN_USE) {
			struct err *err = vec_push(list, block);
			if (err) {
				err_ignore(err);
				return false;
			}
		}
		chunk += size;
	}
	return false;
}

static struct image_block *find_start(struct block_list *list, uint64_t start)
{
	const struct image_block *block = blocks_last_before(list, start);
	return block && block->start == start ? &list->data[block - list->data]
					      : NULL;
}

/* Sizes are odd multiples of 8: the lowest bit can say "in a list of freed". */
#define WAITING 1ULL

/*
 * Follows a list of freed chunks whose first block is at @at and marks them.
 * A wrong pointer ends it, so does a block that is marked already.
 */
static void chunks_follow_free_list(struct blocks *blocks,
				    struct block_list *list, uint64_t at,
				    uint64_t *ret_key)
{
	for (size_t i = 0; i <= list->n && at; i++) {
		struct image_block *block = find_start(list, at);
		uint64_t next;
		if (!block || block->size & WAITING ||
		    !read_word(blocks, at, &next))
			return;
		if (ret_key)
			read_word(blocks, at + 8, ret_key);
		block->size |= WAITING;
		uint64_t shown = next ^ (at >> 12);
		at = !shown || find_start(list, shown) ? shown : next;
	}
}

static void mark_tcache(struct blocks *blocks, struct block_list *list)
{
	if (!list->n)
		return;
	struct image_block *cache = &list->data[0];
	/* Counters of two bytes since 2.30, of one before. */
	uint64_t counters = cache->size == 0x288   ? 2
			    : cache->size == 0x248 ? 1
						   : 0;
	if (!counters)
		return;
	uint64_t key = 0;
	for (unsigned i = 0; i < TCACHE_LISTS; i++) {
		uint64_t head;
		if (read_word(blocks,
			      cache->start + TCACHE_LISTS * counters + i * 8ULL,
			      &head))
			chunks_follow_free_list(blocks, list, head, &key);
	}
	cache->size |= WAITING; /* it is the allocator's own */
	if (!key)
		return;
	for (size_t i = 0; i < list->n; i++) {
		struct image_block *block = &list->data[i];
		uint64_t word;
		if (!(block->size & WAITING) &&
		    read_word(blocks, block->start + 8, &word) && word == key)
			block->size |= WAITING;
	}
}

static void mark_fast_bins(struct blocks *blocks, uint64_t arena,
			   struct block_list *list)
{
	for (unsigned i = 0; arena && i < FAST_BINS; i++) {
		uint64_t chunk;
		if (!read_word(blocks, arena + FAST_BINS_AT + i * 8ULL, &chunk))
			continue;
		/* Unlike the cache's, their pointers are to the chunk. */
		for (size_t k = 0; k <= list->n && chunk; k++) {
			uint64_t at = chunk + HEADER, next;
			struct image_block *block = find_start(list, at);
			if (!block || block->size & WAITING ||
			    !read_word(blocks, at, &next))
				break;
			block->size |= WAITING;
			uint64_t shown = next ^ (at >> 12);
			chunk = !shown || find_start(list, shown + HEADER)
					? shown
					: next;
		}
	}
}

static void drop_waiting(struct block_list *list)
{
	size_t n = 0;
	for (size_t i = 0; i < list->n; i++) {
		if (!(list->data[i].size & WAITING))
			list->data[n++] = list->data[i];
	}
	list->n = n;
}

/* From the first place from which chunks lead to the end of the heap. */
static void chunks_collect_area(struct blocks *blocks,
				const struct chunk_area *place,
				struct block_list *list)
{
	uint64_t start = (place->start + 15) & ~15ULL, end = place->end;
	list->n = 0;
	if (end >> WIRE_ADDRESS_BITS || start >= end)
		return;
	uint64_t left = (end - start) / SMALLEST * LOOKS + FIRST_WITHIN;
	for (uint64_t at = start;
	     at + HEADER < end && at - start < place->within; at += 16) {
		if (!chunks_walk_area(blocks, place, at, &left, list))
			continue;
		mark_tcache(blocks, list);
		mark_fast_bins(blocks, place->arena, list);
		drop_waiting(list);
		return;
	}
	log_debug(LOG_IMAGE,
		  "heap at 0x%llx to 0x%llx: its blocks are not known, because "
		  "the allocator's headers do not lead to its end",
		  (unsigned long long)start, (unsigned long long)end);
	list->n = 0;
}

static const struct block_list *heap_blocks(struct blocks *blocks)
{
	struct block_list *list = &blocks->sorted;
	const struct chunk_area place = {
		.start = blocks->where.heap_start,
		.end = blocks->where.heap_end,
		.within = FIRST_WITHIN,
		.arena = blocks->where.main_arena,
		.main = true,
	};
	if (blocks->sorted_at != blocks->moment)
		chunks_collect_area(blocks, &place, list);
	blocks->sorted_at = blocks->moment;
	return list;
}

/* Another arena's heap of which @address may be a part. */
static bool arena_heap(const struct blocks *blocks, uint64_t address,
		       struct chunk_area *ret)
{
	uint64_t base = address & ~(HEAP_MOST - 1), head[4];
	if (!base || !blocks_read(blocks, base, head, sizeof(head)))
		return false;
	uint64_t arena = head[0], before = head[1], size = head[2];
	uint64_t offset = arena & (HEAP_MOST - 1);
	if (arena >> WIRE_ADDRESS_BITS || arena % 16 || offset < sizeof(head) ||
	    offset > HEAP_HEAD || before % HEAP_MOST || size % IMAGE_PAGE ||
	    size == 0 || size > head[3] || head[3] > HEAP_MOST ||
	    address - base >= size)
		return false;
	*ret = (struct chunk_area){
		.start = base + sizeof(head),
		.end = base + size,
		.within = IMAGE_PAGE,
		.arena = arena,
	};
	return true;
}

static const struct block_list *arena_blocks(struct blocks *blocks,
					     const struct chunk_area *place)
{
	struct arena_list *arena =
		&blocks->arenas[place->start / HEAP_MOST % ARENAS];
	if (arena->moment != blocks->moment || arena->start != place->start)
		chunks_collect_area(blocks, place, &arena->list);
	arena->moment = blocks->moment;
	arena->start = place->start;
	return &arena->list;
}

static bool mapped_header(const struct blocks *blocks, uint64_t page,
			  uint64_t *ret)
{
	const uint8_t *bytes = blocks->page(blocks->data, page);
	uint64_t words[2];
	if (!bytes)
		return false;
	memcpy(words, bytes, sizeof(words));
	*ret = words[1] & ~FLAGS;
	return words[0] == 0 && (words[1] & FLAGS) == MAPPED && *ret &&
	       *ret % IMAGE_PAGE == 0 &&
	       *ret < (1ULL << WIRE_ADDRESS_BITS) - page;
}

/*
 * A chunk with a mapping of its own begins at a page. Where it begins is found
 * by going back, as far as memory is there; how far does not depend on what
 * was asked before, or the two sides of a comparison would differ.
 */
static bool find_mapped(struct blocks *blocks, uint64_t address,
			struct image_block *ret)
{
	uint64_t page = address & ~(IMAGE_PAGE - 1ULL);
	struct mapped_chunk *known =
		&blocks->mapped[page / IMAGE_PAGE % MAPPED_PAGES];
	if (known->moment != blocks->moment || known->page != page) {
		*known = (struct mapped_chunk){ blocks->moment, page, 0, 0 };
		uint64_t at = page;
		for (unsigned i = 0; i < MAPPED_BACK; i++, at -= IMAGE_PAGE) {
			uint64_t size;
			if (mapped_header(blocks, at, &size)) {
				if (page - at < size) {
					known->chunk = at;
					known->size = size;
				}
				break;
			}
			if (!at || !blocks->page(blocks->data, at))
				break;
		}
	}
	if (!known->chunk || address < known->chunk + HEADER)
		return false;
	*ret = (struct image_block){
		.start = known->chunk + HEADER,
		.size = known->size - HEADER,
	};
	return true;
}

bool blocks_find_glibc(struct blocks *blocks, uint64_t address,
		       struct image_block *ret)
{
	if (address >> WIRE_ADDRESS_BITS)
		return false;
	const struct block_list *list;
	struct chunk_area place;
	if (address >= blocks->where.heap_start &&
	    address < blocks->where.heap_end)
		list = heap_blocks(blocks);
	else if (arena_heap(blocks, address, &place))
		list = arena_blocks(blocks, &place);
	else
		return find_mapped(blocks, address, ret) ||
		       /* The end is where the next page begins. */
		       (address && address % IMAGE_PAGE == 0 &&
			find_mapped(blocks, address - 1, ret));
	const struct image_block *block = blocks_last_before(list, address);
	if (!block || address - block->start > block->size)
		return false;
	*ret = *block;
	return true;
}
