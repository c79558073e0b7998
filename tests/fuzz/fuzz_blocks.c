/*
 * Any bytes as the memory in which heap blocks are looked for: the agent's
 * table, glibc's chunks and AddressSanitizer's shadow. The input is pages, each with its place in front;
 * addresses are taken from the input, too.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "image/blocks.h"
#include "wire/heap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

#define PAGES 24
#define QUESTIONS 64
/* Where pages may lie: at the beginnings of these, so that they are found. */
static const uint64_t places[] = {
	0x1000,		0x10000000,	0x20000000,	0x20001000,
	0x555500000000, 0x555500001000, 0x700000000000, 0x700000055000,
	0x710000000000, 0x720000000000, 0x730000000000, 0x730000800000,
	0x730000801000, 0x730001001000, 0x7ffffffff000, 0xfffffffffffff000,
	0xc047fff8000,	0xc047fff9000,
};
/* The memory whose shadow the last two are. */
#define SHADOWED 0x602000000000
#define PLACES (sizeof(places) / sizeof(places[0]))

struct memory {
	uint64_t addresses[PAGES];
	_Alignas(8) uint8_t pages[PAGES][IMAGE_PAGE];
	size_t n;
	size_t asked;
};

static struct memory memory;

static const uint8_t *page(void *data, uint64_t address)
{
	(void)data;
	memory.asked++;
	if (address % IMAGE_PAGE)
		__builtin_trap();
	for (size_t i = 0; i < memory.n; i++) {
		if (memory.addresses[i] == address)
			return memory.pages[i];
	}
	return NULL;
}

/* A page is what there is of it, and 0 behind. */
static void fill(const uint8_t *data, size_t n)
{
	memory.n = 0;
	memory.asked = 0;
	while (n >= 4 && memory.n < PAGES) {
		size_t size = (data[2] | data[3] << 8) % IMAGE_PAGE;
		if (size > n - 4)
			size = n - 4;
		uint8_t *to = memory.pages[memory.n];
		memory.addresses[memory.n++] = places[data[0] % PLACES];
		size_t offset = data[1] * 16;
		if (size > IMAGE_PAGE - offset)
			size = IMAGE_PAGE - offset;
		memset(to, 0, IMAGE_PAGE);
		memcpy(to + offset, data + 4, size);
		data += 4 + size;
		n -= 4 + size;
	}
}

static void ask(struct blocks *blocks, uint64_t address)
{
	struct image_block block;
	uint64_t frames[WIRE_STACK_FRAMES];
	if (!blocks_find(blocks, address, &block))
		return;
	if (address < block.start || address - block.start > block.size ||
	    block.start + block.size < block.start)
		__builtin_trap();
	/* Its beginning is in it, too. */
	struct image_block again;
	if (!blocks_find(blocks, block.start, &again) ||
	    again.start != block.start || again.size != block.size)
		__builtin_trap();
	if (blocks_stack(blocks, block.stack, frames, WIRE_STACK_FRAMES) >
	    WIRE_STACK_FRAMES)
		__builtin_trap();
}

static void ask_all(struct blocks *blocks)
{
	struct blocks_region regions[WIRE_REGIONS];
	blocks_missing(blocks);
	blocks_lost(blocks);
	blocks_regions(blocks, regions, WIRE_REGIONS);
	for (int round = 0; round < 2; round++) {
		for (size_t i = 0; i < PLACES; i++) {
			ask(blocks, places[i]);
			ask(blocks, places[i] + 16);
			ask(blocks, places[i] + 3000);
			ask(blocks, places[i] + 100000);
			ask(blocks, places[i] + 10000000);
		}
		for (uint64_t i = 0; i < QUESTIONS; i++)
			ask(blocks, SHADOWED + i * 1021);
		for (size_t i = 0; i < memory.n; i++) {
			for (size_t k = 0; k < QUESTIONS; k++) {
				uint64_t address;
				memcpy(&address, memory.pages[i] + k * 8, 8);
				ask(blocks, address);
			}
		}
		blocks_reset(blocks);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct blocks *blocks = NULL;
	fill(data, n);
	struct err *err = blocks_create(page, NULL, 0x10000000, &blocks);
	if (err)
		__builtin_trap();
	ask_all(blocks);
	blocks_destroy(blocks);
	const struct blocks_glibc where = { 0x20000000, 0x20002000, 0x1000 };
	err = blocks_create_glibc(page, NULL, &where, &blocks);
	if (err)
		__builtin_trap();
	ask_all(blocks);
	blocks_destroy(blocks);
	err = blocks_create_asan(page, NULL, &blocks);
	if (err)
		__builtin_trap();
	ask_all(blocks);
	blocks_destroy(blocks);
	return 0;
}
