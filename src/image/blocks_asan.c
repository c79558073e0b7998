/* Blocks of AddressSanitizer's allocator, from its shadow. */
#include <string.h>

#include "image/asan.h"
#include "image/blocks_internal.h"

/*
 * How far from an address its block may begin or end. What is large begins a
 * mapping, and pointers to the middle of it are rare.
 */
#define BACK_MAX ASAN_BLOCK_MAX
#define FORTH_MAX (UINT64_C(1) << 30)
#define ASAN_WORD ((uint64_t)ASAN_GRANULE * 8) /* of memory, for 8 bytes */

struct err *blocks_create_asan(blocks_page *page, void *data,
			       struct blocks **ret)
{
	TRY(blocks_create(page, data, 0, ret));
	(*ret)->kind = BLOCKS_ASAN;
	return NULL;
}

/* The page of the shadow that was asked for last. */
struct asan_shadow {
	const struct blocks *blocks;
	uint64_t address; /* 0: none yet */
	const uint8_t *page;
};

/* Of the granule of @address; ASAN_REDZONE where there is no shadow. */
static uint8_t asan_byte_of(struct asan_shadow *shadow, uint64_t address)
{
	uint64_t at = ASAN_SHADOW(address), offset = at % IMAGE_PAGE;
	if (shadow->address != at - offset) {
		shadow->address = at - offset;
		shadow->page =
			shadow->blocks->page(shadow->blocks->data, at - offset);
	}
	return shadow->page ? shadow->page[offset] : ASAN_REDZONE;
}

static bool asan_is_inside(uint8_t byte)
{
	return byte < ASAN_GRANULE || byte == ASAN_CONTAINER ||
	       byte == ASAN_USER || byte == ASAN_COOKIE;
}

/* Are all granules full whose shadow is the aligned word of @address? */
static bool asan_is_full(struct asan_shadow *shadow, uint64_t address)
{
	static const uint8_t full[8];
	asan_byte_of(shadow, address);
	uint64_t offset = ASAN_SHADOW(address) % IMAGE_PAGE & ~UINT64_C(7);
	return shadow->page &&
	       !memcmp(shadow->page + offset, full, sizeof(full));
}

/* The first granule of the block that has this one; false: it is none. */
static bool asan_find_start(struct asan_shadow *shadow, uint64_t granule,
			    uint64_t *ret)
{
	uint64_t lowest = granule > BACK_MAX ? granule - BACK_MAX : ASAN_WORD;
	uint8_t byte = 0;
	while (granule > lowest) {
		if (ASAN_SHADOW(granule) % 8 == 0 &&
		    asan_is_full(shadow, granule - ASAN_GRANULE)) {
			granule -= ASAN_WORD;
			continue;
		}
		byte = asan_byte_of(shadow, granule - ASAN_GRANULE);
		if (!asan_is_inside(byte))
			break;
		/* A granule that is not full is the last one of its block. */
		if (byte && byte < ASAN_GRANULE)
			return false;
		granule -= ASAN_GRANULE;
	}
	*ret = granule;
	return byte == ASAN_REDZONE;
}

/* Where the block ends that begins there. */
static uint64_t asan_find_end(struct asan_shadow *shadow, uint64_t start,
			      bool *ret_exact)
{
	uint64_t at = start;
	uint8_t byte = 0;
	*ret_exact = true;
	while (at - start < FORTH_MAX) {
		if (ASAN_SHADOW(at) % 8 == 0 && asan_is_full(shadow, at)) {
			at += ASAN_WORD;
			*ret_exact = true;
			continue;
		}
		byte = asan_byte_of(shadow, at);
		if (!asan_is_inside(byte))
			break;
		*ret_exact = byte < ASAN_GRANULE;
		if (byte && *ret_exact)
			return at + byte;
		at += ASAN_GRANULE;
	}
	return at;
}

bool blocks_find_asan(struct blocks *blocks, uint64_t address,
		      struct image_block *ret)
{
	uint64_t granule = address & ~(uint64_t)(ASAN_GRANULE - 1), start;
	struct asan_shadow shadow = { .blocks = blocks };
	struct image_block block = {};
	if (address < ASAN_GRANULE || address >> WIRE_ADDRESS_BITS)
		return false;
	/* Or the address is the end of the block before it. */
	if (!asan_is_inside(asan_byte_of(&shadow, granule)) &&
	    (granule != address ||
	     !asan_is_inside(asan_byte_of(&shadow, granule -= ASAN_GRANULE))))
		return false;
	if (!asan_find_start(&shadow, granule, &start))
		return false;
	block.start = start;
	block.size = asan_find_end(&shadow, start, &block.exact) - start;
	if (address - start > block.size)
		return false;
	*ret = block;
	return true;
}
