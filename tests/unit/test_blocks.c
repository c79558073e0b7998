#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/vec.h"
#include "image/asan.h"
#include "image/blocks.h"
#include "wire/heap.h"

/* Memory of a process that is none: pages by address, made when written. */
struct memory {
	struct map_u64 pages;
	size_t asked;
};

static uint8_t *get(struct memory *memory, uint64_t address)
{
	uint64_t there = 0;
	map_u64_get(&memory->pages, address / IMAGE_PAGE + 1, &there);
	return (uint8_t *)(uintptr_t)there;
}

static const uint8_t *page(void *data, uint64_t address)
{
	struct memory *memory = data;
	assert_int_equal(address % IMAGE_PAGE, 0);
	memory->asked++;
	return get(memory, address);
}

static void put(struct memory *memory, uint64_t address, const void *bytes,
		size_t n)
{
	for (size_t i = 0; i < n; i++, address++) {
		uint8_t *to = get(memory, address);
		if (!to) {
			to = calloc(1, IMAGE_PAGE);
			assert_ok(map_u64_put(&memory->pages,
					      address / IMAGE_PAGE + 1,
					      (uint64_t)(uintptr_t)to));
		}
		to[address % IMAGE_PAGE] = ((const uint8_t *)bytes)[i];
	}
}

static void put_word(struct memory *memory, uint64_t address, uint64_t word)
{
	put(memory, address, &word, sizeof(word));
}

static void memory_freep(struct memory *memory)
{
	for (size_t i = 0; i < memory->pages.map.cap; i++) {
		if (memory->pages.map.slots[i].hash)
			free((void *)(uintptr_t)memory->pages.map.slots[i]
				     .value);
	}
	map_u64_free(&memory->pages);
}

/* The agent's tables, as it would write them. */
#define HEAP 0x10000ff0ULL /* over a page's end */
#define DIRECTORY 0x700000000000ULL
#define LEAVES 0x710000000000ULL
#define STACKS 0x720000000000ULL
#define FIRST_LEAF 0x730000000000ULL

static struct wire_heap heap_init(void)
{
	return (struct wire_heap){
		.magic = WIRE_HEAP_MAGIC,
		.version = WIRE_HEAP_VERSION,
		.active = 1,
		.directory = DIRECTORY,
		.leaves = LEAVES,
		.stacks = STACKS,
		.stacks_n = WIRE_STACK_MAX,
	};
}

static uint64_t leaf_of(struct memory *memory, struct wire_heap *heap,
			uint64_t address)
{
	uint64_t index = address >> WIRE_LEAF_SHIFT, at, number;
	struct wire_slot slot = {};
	for (number = index % WIRE_SLOTS;; number = (number + 1) % WIRE_SLOTS) {
		at = DIRECTORY + number * sizeof(slot);
		const uint8_t *there = get(memory, at);
		slot = (struct wire_slot){};
		if (there)
			memcpy(&slot, there + at % IMAGE_PAGE, sizeof(slot));
		if (slot.index == index + 1)
			return slot.leaf;
		if (!slot.index)
			break;
	}
	uint64_t leaf = FIRST_LEAF + heap->leaves_n * WIRE_LEAF_BYTES;
	slot = (struct wire_slot){ index + 1, leaf };
	put(memory, at, &slot, sizeof(slot));
	uint32_t listed = (uint32_t)number + 1;
	put(memory, LEAVES + heap->leaves_n++ * 4ULL, &listed, sizeof(listed));
	put(memory, HEAP, heap, sizeof(*heap));
	return leaf;
}

static void put_block(struct memory *memory, struct wire_heap *heap,
		      uint64_t start, uint64_t size, uint32_t stack)
{
	uint64_t leaf = leaf_of(memory, heap, start);
	uint64_t offset = start & ((1ULL << WIRE_LEAF_SHIFT) - 1);
	put_word(memory, leaf + offset / WIRE_GRANULE * 8,
		 WIRE_ENTRY(size, stack));
	if (size > WIRE_LARGE) {
		uint16_t cell =
			(uint16_t)(offset % WIRE_LARGE / WIRE_GRANULE + 1);
		put(memory,
		    leaf + offsetof(struct wire_leaf, cells) +
			    offset / WIRE_LARGE * 2,
		    &cell, sizeof(cell));
	}
}

DEFINE_VEC(list, struct image_block)

static const struct image_block *expected(const struct list *list,
					  uint64_t address)
{
	const struct image_block *best = NULL;
	for (size_t i = 0; i < list->n; i++) {
		const struct image_block *block = &list->data[i];
		if (address - block->start <= block->size &&
		    (!best || block->start > best->start))
			best = block;
	}
	return best;
}

static void check(struct blocks *blocks, const struct list *list,
		  uint64_t address)
{
	const struct image_block *wanted = expected(list, address);
	struct image_block found = {};
	bool is = blocks_find(blocks, address, &found);
	if (is != !!wanted || (is && (found.start != wanted->start ||
				      found.size != wanted->size ||
				      found.stack != wanted->stack)))
		fail_msg("%lx: in %lx of %lx, expected %lx of %lx", address,
			 found.start, found.size, wanted ? wanted->start : 0,
			 wanted ? wanted->size : 0);
}

/* Blocks of all sizes over several leaves, against a list of the same. */
static void test_like_a_list(void **state)
{
	(void)state;
	_cleanup_(memory_freep) struct memory memory = {};
	_cleanup_(list_freep) struct list list = {};
	_cleanup_(blocks_destroyp) struct blocks *blocks = NULL;
	struct wire_heap heap = heap_init();
	unsigned seed = 7;
	uint64_t begin = 0x555500000000ULL - 300 * 1024, at = begin;
	while (list.n < 1500) {
		unsigned kind = (unsigned)rand_r(&seed) % 100;
		uint64_t size =
			(uint64_t)rand_r(&seed) % (kind < 70   ? 300
						   : kind < 90 ? 9000
						   : kind < 97 ? 200000
							       : 2000000);
		if (kind == 50)
			size = WIRE_LARGE + (uint64_t)rand_r(&seed) % 3 - 1;
		struct image_block block = { at, size, (uint32_t)list.n, true };
		put_block(&memory, &heap, at, size, (uint32_t)list.n);
		assert_ok(vec_push(&list, block));
		/* Sometimes right behind, sometimes far away. */
		uint64_t gap = rand_r(&seed) % 10
				       ? 16
				       : (uint64_t)rand_r(&seed) % 600000;
		at = (at + size + gap + 16) & ~15ULL;
	}
	/* One that is larger than several leaves, and nothing around it. */
	struct image_block huge = { at + (50 << 20), 100 << 20, 3, true };
	put_block(&memory, &heap, huge.start, huge.size, huge.stack);
	assert_ok(vec_push(&list, huge));

	assert_ok(blocks_create(page, &memory, HEAP, &blocks));
	assert_null(blocks_missing(blocks));
	for (size_t i = 0; i < list.n; i++) {
		const struct image_block *block = &list.data[i];
		const uint64_t places[] = {
			block->start - 1,
			block->start,
			block->start + 1,
			block->start + block->size / 2,
			block->start + block->size - 1,
			block->start + block->size,
			block->start + block->size + 1,
			block->start + block->size + 20,
		};
		for (size_t k = 0; k < ARRAY_SIZE(places); k++)
			check(blocks, &list, places[k]);
	}
	for (size_t i = 0; i < 20000; i++) {
		uint64_t wide = ((uint64_t)rand_r(&seed) << 20) ^
				(uint64_t)rand_r(&seed);
		check(blocks, &list,
		      begin + wide % (huge.start + huge.size + (1 << 20) -
				      begin));
	}
}

/* What was read belongs to one moment; within it pages are asked for once. */
static void test_moments(void **state)
{
	(void)state;
	_cleanup_(memory_freep) struct memory memory = {};
	_cleanup_(blocks_destroyp) struct blocks *blocks = NULL;
	struct wire_heap heap = heap_init();
	struct image_block block;
	uint64_t small = 0x400010, large = 0x7f0000000010;
	put_block(&memory, &heap, small, 100, 1);
	put_block(&memory, &heap, large, 1 << 20, 2);
	assert_ok(blocks_create(page, &memory, HEAP, &blocks));
	assert_true(blocks_find(blocks, small + 50, &block));
	assert_true(blocks_find(blocks, large + (1 << 19), &block));
	assert_int_equal(block.start, large);
	memory.asked = 0;
	for (int i = 0; i < 100; i++) {
		assert_true(blocks_find(blocks, small + i, &block));
		assert_true(blocks_find(blocks, large + (1 << 19), &block));
	}
	assert_int_equal(memory.asked, 0);

	put_block(&memory, &heap, small, 200, 1);
	put_word(&memory,
		 leaf_of(&memory, &heap, large) +
			 (large & 0xffffff) / WIRE_GRANULE * 8,
		 0);
	blocks_reset(blocks);
	assert_true(blocks_find(blocks, small + 150, &block));
	assert_int_equal(block.size, 200);
	assert_false(blocks_find(blocks, large, &block));
	assert_false(blocks_find(blocks, large + (1 << 19), &block));
}

/* Leaves that want the same slot lie behind one another. */
static void test_collisions(void **state)
{
	(void)state;
	_cleanup_(memory_freep) struct memory memory = {};
	_cleanup_(blocks_destroyp) struct blocks *blocks = NULL;
	struct wire_heap heap = heap_init();
	struct image_block block;
	const uint64_t apart = (uint64_t)WIRE_SLOTS << WIRE_LEAF_SHIFT;
	for (uint64_t i = 0; i < 60; i++)
		put_block(&memory, &heap, 0xfffffff0 + i * apart,
			  i % 2 ? 100 : 1 << 20, 0);
	assert_ok(blocks_create(page, &memory, HEAP, &blocks));
	for (uint64_t i = 0; i < 60; i++) {
		uint64_t start = 0xfffffff0 + i * apart;
		uint64_t size = i % 2 ? 100 : 1 << 20;
		assert_true(blocks_find(blocks, start + 1, &block));
		assert_int_equal(block.start, start);
		assert_true(blocks_find(blocks, start + size, &block));
		assert_int_equal(block.start, start);
		assert_false(blocks_find(blocks, start + size + 1, &block));
	}
	assert_false(blocks_find(blocks, 0xfffffff0 + 61 * apart, &block));
}

static void test_stacks_and_regions(void **state)
{
	(void)state;
	_cleanup_(memory_freep) struct memory memory = {};
	_cleanup_(blocks_destroyp) struct blocks *blocks = NULL;
	struct wire_heap heap = heap_init();
	heap.regions_n = 3;
	heap.regions[0] = (struct wire_region){ 0x1000, 0x2000 };
	heap.regions[1] = (struct wire_region){ 0x8000, 0 };
	heap.regions[2] = (struct wire_region){ 0x9000, ~0ULL };
	heap.lost = 4;
	put(&memory, HEAP, &heap, sizeof(heap));
	struct wire_stack stack = { { 11, 22, 33 } };
	put(&memory, STACKS + 5 * sizeof(stack), &stack, sizeof(stack));
	assert_ok(blocks_create(page, &memory, HEAP, &blocks));
	uint64_t frames[8] = {};
	assert_int_equal(blocks_stack(blocks, 5, frames, 8), 3);
	assert_int_equal(frames[0], 11);
	assert_int_equal(frames[2], 33);
	assert_int_equal(blocks_stack(blocks, 5, frames, 2), 2);
	assert_int_equal(blocks_stack(blocks, 0, frames, 8), 0);
	assert_int_equal(blocks_stack(blocks, WIRE_STACK_MAX, frames, 8), 0);
	assert_int_equal(blocks_stack(blocks, 200000, frames, 8), 0);
	struct blocks_region regions[WIRE_REGIONS];
	assert_int_equal(blocks_regions(blocks, regions, WIRE_REGIONS), 1);
	assert_int_equal(regions[0].start, 0x1000);
	assert_int_equal(regions[0].end, 0x3000);
	assert_int_equal(blocks_lost(blocks), 4);
}

static void check_missing(const struct wire_heap *heap, const char *text)
{
	_cleanup_(memory_freep) struct memory memory = {};
	_cleanup_(blocks_destroyp) struct blocks *blocks = NULL;
	struct image_block block;
	if (heap)
		put(&memory, HEAP, heap, sizeof(*heap));
	assert_ok(blocks_create(page, &memory, HEAP, &blocks));
	const char *why = blocks_missing(blocks);
	if (!text) {
		assert_null(why);
		return;
	}
	assert_non_null(why);
	if (!strstr(why, text))
		fail_msg("'%s' does not contain '%s'", why, text);
	assert_false(blocks_find(blocks, 0x400010, &block));
	assert_int_equal(blocks_stack(blocks, 5, &(uint64_t){ 0 }, 1), 0);
}

static void test_missing(void **state)
{
	(void)state;
	struct wire_heap heap = heap_init();
	check_missing(&heap, NULL);
	check_missing(NULL, "cannot be read");
	heap.version++;
	check_missing(&heap, "version");
	heap = heap_init();
	heap.directory = ~0ULL;
	check_missing(&heap, "no sense");
	heap = heap_init();
	heap.stacks_n = ~0ULL;
	check_missing(&heap, "no sense");
	heap = heap_init();
	heap.active = 0;
	check_missing(&heap, "not started");
	heap.reason = WIRE_NO_MEMORY;
	check_missing(&heap, "no memory");
	heap.reason = WIRE_OWN_MALLOC;
	check_missing(&heap, "itself");
	memset(heap.allocator, 'x', sizeof(heap.allocator));
	check_missing(&heap, "xxx");
}

/* Entries that cannot be: sizes over the end, leaves that are none. */
static void test_nonsense(void **state)
{
	(void)state;
	_cleanup_(memory_freep) struct memory memory = {};
	_cleanup_(blocks_destroyp) struct blocks *blocks = NULL;
	struct wire_heap heap = heap_init();
	struct image_block block;
	uint64_t last = (1ULL << WIRE_ADDRESS_BITS) - 32;
	put_block(&memory, &heap, last, 16, 0);
	put_block(&memory, &heap, last - 32, WIRE_SIZE_MAX, 0);
	put(&memory, DIRECTORY + 77 * 16, &(struct wire_slot){ 78, 0x12345 },
	    16);
	put(&memory, DIRECTORY + 78 * 16,
	    &(struct wire_slot){ 79, ~0ULL & ~4095ULL }, 16);
	heap.leaves_n = ~0U;
	put(&memory, HEAP, &heap, sizeof(heap));
	for (uint32_t i = 2; i < 1500; i++)
		put(&memory, LEAVES + i * 4ULL, &(uint32_t){ i * 999999999 },
		    4);
	assert_ok(blocks_create(page, &memory, HEAP, &blocks));
	assert_true(blocks_find(blocks, last + 16, &block));
	assert_false(blocks_find(blocks, last + 17, &block));
	assert_false(blocks_find(blocks, last - 1, &block));
	assert_false(blocks_find(blocks, last + 32, &block));
	assert_false(blocks_find(blocks, ~0ULL, &block));
	assert_false(blocks_find(blocks, 0, &block));
	assert_false(blocks_find(blocks, 77ULL << WIRE_LEAF_SHIFT, &block));
	assert_false(blocks_find(blocks, 78ULL << WIRE_LEAF_SHIFT, &block));
}

/* glibc's chunks, with everything that can be in front of them or wrong. */
#define CHUNKS 0x1000000ULL

static struct blocks *glibc_blocks(struct memory *memory, uint64_t end)
{
	struct blocks *blocks = NULL;
	struct blocks_glibc where = { CHUNKS, end, 0 };
	assert_ok(blocks_create_glibc(page, memory, &where, &blocks));
	return blocks;
}

static void test_glibc_chunks(void **state)
{
	(void)state;
	_cleanup_(memory_freep) struct memory memory = {};
	uint64_t at = CHUNKS + 0x540, end = CHUNKS + 0x21000;
	struct image_block block;
	/* Something that is no chunk in front. */
	for (uint64_t i = 0; i < 0x540; i += 8)
		put_word(&memory, CHUNKS + i, 0x4141414141414141);
	/* Used, free, used, top. */
	put_word(&memory, at + 8, 0x51);
	put_word(&memory, at + 0x50 + 8, 0x441);
	put_word(&memory, at + 0x490 + 8, 0x30);
	put_word(&memory, at + 0x4c0 + 8, (end - at - 0x4c0) | 1);
	_cleanup_(blocks_destroyp) struct blocks *blocks =
		glibc_blocks(&memory, end);
	assert_true(blocks_find(blocks, at + 16, &block));
	assert_int_equal(block.start, at + 16);
	assert_int_equal(block.size, 0x48);
	assert_false(block.exact);
	assert_true(blocks_find(blocks, at + 16 + 0x48, &block));
	assert_false(blocks_find(blocks, at + 0x60, &block));
	assert_true(blocks_find(blocks, at + 0x4a0, &block));
	assert_int_equal(block.size, 0x28);
	assert_false(blocks_find(blocks, at + 0x4d0, &block));
	assert_false(blocks_find(blocks, end, &block));

	/* A size that is wrong: nothing is known rather than something false. */
	put_word(&memory, at + 0x490 + 8, 0x33);
	blocks_reset(blocks);
	assert_false(blocks_find(blocks, at + 16, &block));
	put_word(&memory, at + 0x490 + 8, ~0ULL);
	blocks_reset(blocks);
	assert_false(blocks_find(blocks, at + 16, &block));
	blocks_reset_glibc(blocks, &(struct blocks_glibc){});
	assert_non_null(blocks_missing(blocks));
	assert_false(blocks_find(blocks, at + 16, &block));
}

/* A chain of freed blocks that never ends, and one that leaves the heap. */
static void test_glibc_lists(void **state)
{
	(void)state;
	_cleanup_(memory_freep) struct memory memory = {};
	uint64_t end = CHUNKS + 0x21000, at = CHUNKS, user;
	struct image_block block;
	put_word(&memory, at + 8, 0x291);
	user = at + 0x290 + 16;
	for (int i = 0; i < 4; i++)
		put_word(&memory, user + i * 0x20 - 8, 0x21);
	put_word(&memory, user + 4 * 0x20 - 8,
		 (end - (user + 4 * 0x20 - 16)) | 1);
	/* The cache's first list: 0 → 1 → 0, its second: 2 → nowhere. */
	put_word(&memory, at + 16 + 128, user);
	put_word(&memory, user, (user + 0x20) ^ (user >> 12));
	put_word(&memory, user + 8, 0xfeedface);
	put_word(&memory, user + 0x20, user ^ ((user + 0x20) >> 12));
	put_word(&memory, user + 0x28, 0xfeedface);
	put_word(&memory, at + 16 + 136, user + 0x40);
	put_word(&memory, user + 0x40, 0x1234567);
	put_word(&memory, user + 0x48, 0xfeedface);
	_cleanup_(blocks_destroyp) struct blocks *blocks =
		glibc_blocks(&memory, end);
	assert_false(blocks_find(blocks, at + 16, &block)); /* the cache */
	assert_false(blocks_find(blocks, user, &block));
	assert_false(blocks_find(blocks, user + 0x20, &block));
	assert_false(blocks_find(blocks, user + 0x40, &block));
	assert_true(blocks_find(blocks, user + 0x60, &block));
	/* In another thread's cache: the key gives it away. */
	put_word(&memory, user + 0x68, 0xfeedface);
	blocks_reset(blocks);
	assert_false(blocks_find(blocks, user + 0x60, &block));
}

static void test_glibc_mapped(void **state)
{
	(void)state;
	_cleanup_(memory_freep) struct memory memory = {};
	uint64_t at = 0x7f0000000000ULL;
	struct image_block block;
	for (uint64_t i = 0; i < 40; i++)
		put_word(&memory, at + i * IMAGE_PAGE, 5);
	put_word(&memory, at, 0);
	put_word(&memory, at + 8, (34 * IMAGE_PAGE) | 2);
	_cleanup_(blocks_destroyp) struct blocks *blocks =
		glibc_blocks(&memory, CHUNKS + 0x21000);
	const uint64_t inside[] = {
		16, 17, 4096, 20 * 4096 + 5, 34 * 4096 - 1, 34 * 4096
	};
	for (size_t i = 0; i < ARRAY_SIZE(inside); i++) {
		assert_true(blocks_find(blocks, at + inside[i], &block));
		assert_int_equal(block.start, at + 16);
		assert_int_equal(block.size, 34 * IMAGE_PAGE - 16);
	}
	assert_false(blocks_find(blocks, at + 15, &block));
	assert_false(blocks_find(blocks, at + 34 * IMAGE_PAGE + 1, &block));
	assert_false(blocks_find(blocks, at + 39 * IMAGE_PAGE, &block));
}

/* A block of @size bytes: its granules get @byte, the last what is in use. */
static void put_asan(struct memory *memory, uint64_t at, uint64_t size,
		     uint8_t byte)
{
	const uint8_t redzone = ASAN_REDZONE, last = size % 8;
	put(memory, ASAN_SHADOW(at - 16), &redzone, 1);
	put(memory, ASAN_SHADOW(at - 8), &redzone, 1);
	for (uint64_t i = 0; i < size / 8; i++)
		put(memory, ASAN_SHADOW(at + i * 8), &byte, 1);
	if (last)
		put(memory, ASAN_SHADOW(at + size / 8 * 8),
		    byte ? &byte : &last, 1);
	put(memory, ASAN_SHADOW(at + (size + 7) / 8 * 8), &redzone, 1);
}

static void assert_asan(struct blocks *blocks, uint64_t address, uint64_t start,
			uint64_t size, bool exact)
{
	struct image_block block;
	assert_true(blocks_find(blocks, address, &block));
	assert_int_equal(block.start, start);
	assert_int_equal(block.size, size);
	assert_int_equal(block.exact, exact);
}

static void test_asan(void **state)
{
	(void)state;
	_cleanup_(memory_freep) struct memory memory = {};
	_cleanup_(blocks_destroyp) struct blocks *blocks = NULL;
	/* The last one goes over a page of the shadow. */
	const uint64_t whole = 0x602000000010, odd = 0x602000000070,
		       freed = 0x6020000000f0, vector = 0x602000000150,
		       large = 0x621000007f00;
	const uint8_t unused = ASAN_CONTAINER;
	struct image_block block;
	put_asan(&memory, whole, 32, 0);
	put_asan(&memory, odd, 21, 0);
	put_asan(&memory, freed, 24, ASAN_FREED);
	put_asan(&memory, vector, 40, 0);
	put(&memory, ASAN_SHADOW(vector + 32), &unused, 1);
	put_asan(&memory, large, 100001, 0);
	assert_ok(blocks_create_asan(page, &memory, &blocks));
	assert_null(blocks_missing(blocks));
	assert_asan(blocks, whole, whole, 32, true);
	assert_asan(blocks, whole + 31, whole, 32, true);
	assert_asan(blocks, whole + 32, whole, 32, true); /* its end */
	assert_asan(blocks, odd + 21, odd, 21, true);
	assert_asan(blocks, vector + 39, vector, 40, false);
	assert_asan(blocks, large + 70000, large, 100001, true);
	assert_asan(blocks, large + 100001, large, 100001, true);
	const uint64_t none[] = {
		0,	    7,		whole - 1,	whole + 33,
		odd + 22,   freed,	freed + 23,	large + 100002,
		UINT64_MAX, 1ULL << 47, 0x603000000010, 0x7f0000000000,
	};
	for (size_t i = 0; i < ARRAY_SIZE(none); i++)
		assert_false(blocks_find(blocks, none[i], &block));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_like_a_list),
		cmocka_unit_test(test_moments),
		cmocka_unit_test(test_collisions),
		cmocka_unit_test(test_stacks_and_regions),
		cmocka_unit_test(test_missing),
		cmocka_unit_test(test_nonsense),
		cmocka_unit_test(test_glibc_chunks),
		cmocka_unit_test(test_glibc_lists),
		cmocka_unit_test(test_glibc_mapped),
		cmocka_unit_test(test_asan),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
