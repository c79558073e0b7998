/* Copies of pages: where they are kept, and pages read on demand. */
#include <string.h>
#include <sys/mman.h>

#include "image/image_internal.h"
#include "tracee/memory.h"

#define SLAB_PAGES 64
#define TRIM_PAGES 16384
#define CHUNK_PAGES 16
#define CHUNK_SIZE ((uint64_t)CHUNK_PAGES * IMAGE_PAGE)

const uint8_t zero_page[IMAGE_PAGE];

struct err *pool_get(struct page_pool *pool, uint8_t **ret)
{
	if (!pool->unused.n) {
		TRY(vec_reserve(&pool->slabs, pool->slabs.n + 1));
		TRY(vec_reserve(&pool->unused,
				(pool->slabs.n + 1) * SLAB_PAGES));
		uint8_t *slab =
			aligned_alloc(IMAGE_PAGE, SLAB_PAGES * IMAGE_PAGE);
		if (!slab)
			return err_nomem();
		pool->slabs.data[pool->slabs.n++] = slab;
		/* Neighbours are given out one after the other. */
		for (size_t i = SLAB_PAGES; i-- > 0;)
			pool->unused.data[pool->unused.n++] =
				slab + i * IMAGE_PAGE;
	}
	*ret = pool->unused.data[--pool->unused.n];
	pool->trimmed = MIN(pool->trimmed, pool->unused.n);
	return NULL;
}

void pool_put(struct page_pool *pool, uint8_t *page)
{
	/* There is room: it was reserved with the slabs. */
	if (page && page != zero_page)
		pool->unused.data[pool->unused.n++] = page;
}

/*
 * The next to be given out are at the end: the others have been unused for
 * long.
 */
void pool_trim(struct page_pool *pool)
{
	if (pool->unused.n - pool->trimmed < TRIM_PAGES)
		return;
	size_t end = pool->unused.n - TRIM_PAGES / 2;
	for (; pool->trimmed < end; pool->trimmed++)
		madvise(pool->unused.data[pool->trimmed], IMAGE_PAGE,
			MADV_DONTNEED);
}

uint64_t pool_bytes(const struct page_pool *pool)
{
	return ((uint64_t)pool->slabs.n * SLAB_PAGES - pool->trimmed) *
	       IMAGE_PAGE;
}

void pool_free(struct page_pool *pool)
{
	for (size_t i = 0; i < pool->slabs.n; i++)
		free(pool->slabs.data[i]);
	vec_free(&pool->slabs);
	vec_free(&pool->unused);
}

struct chunk {
	uint32_t tried; /* bit a page */
	uint32_t valid;
	uint8_t data[];
};

static uint32_t page_line_bits(size_t from, size_t to)
{
	return (uint32_t)(((UINT64_C(1) << to) - 1) &
			  ~((UINT64_C(1) << from) - 1));
}

/* All pages of the chunk that are in @piece, in one go if possible. */
static void chunk_fill(struct chunk *chunk, struct tracee *tracee,
		       const struct piece *piece, uint64_t start)
{
	uint64_t from = MAX(piece->start, start);
	uint64_t to = MIN(piece->end, start + CHUNK_SIZE);
	size_t first = (from - start) / IMAGE_PAGE;
	size_t last = (to - start) / IMAGE_PAGE;
	chunk->tried |= page_line_bits(first, last);
	while (first < last) {
		size_t got = memory_read_some(tracee,
					      RADDR(start + first * IMAGE_PAGE),
					      chunk->data + first * IMAGE_PAGE,
					      (last - first) * IMAGE_PAGE);
		size_t pages = got / IMAGE_PAGE;
		chunk->valid |= page_line_bits(first, first + pages);
		first += pages + 1;
	}
}

const uint8_t *cache_page(struct cache *cache, struct tracee *tracee,
			  const struct piece *piece, uint64_t address)
{
	uint64_t start = address & ~(CHUNK_SIZE - 1);
	size_t index = (address - start) / IMAGE_PAGE;
	uint64_t found;
	struct chunk *chunk;
	if (map_u64_get(&cache->chunks, start, &found)) {
		chunk = (struct chunk *)(uintptr_t)found;
	} else {
		chunk = malloc(sizeof(*chunk) + CHUNK_SIZE);
		if (!chunk)
			return NULL;
		chunk->tried = chunk->valid = 0;
		struct err *err =
			map_u64_put(&cache->chunks, start, (uintptr_t)chunk);
		if (err) {
			err_ignore(err);
			free(chunk);
			return NULL;
		}
		cache->bytes += sizeof(*chunk) + CHUNK_SIZE;
	}
	if (!(chunk->tried & (UINT32_C(1) << index)))
		chunk_fill(chunk, tracee, piece, start);
	if (!(chunk->valid & (UINT32_C(1) << index)))
		return NULL;
	return chunk->data + index * IMAGE_PAGE;
}

void cache_empty(struct cache *cache)
{
	if (!cache->bytes)
		return;
	for (size_t i = 0; i < cache->chunks.map.cap; i++) {
		const struct map_slot *slot = &cache->chunks.map.slots[i];
		if (slot->hash)
			free((struct chunk *)(uintptr_t)slot->value);
	}
	map_u64_free(&cache->chunks);
	cache->bytes = 0;
}
