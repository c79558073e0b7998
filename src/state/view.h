/*
 * A moment's memory: bytes by address, and which heap block an address is in.
 * The walk sees two of them, before and after, and nothing else of a process.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VIEW_PAGE 4096

struct view_block {
	uint64_t start;
	uint64_t size;	/* as requested, or (not exact) as given */
	uint32_t stack; /* the allocation's; 0: not known */
	bool exact;
};

struct view {
	/*
	 * The page at @address (a multiple of VIEW_PAGE), NULL where there is
	 * none. Valid until the moment passes.
	 */
	const uint8_t *(*page)(void *data, uint64_t address);
	/*
	 * The live block that contains @address, its end included (a pointer
	 * one past the end; a block that begins there takes precedence). False:
	 * none, or blocks are not known.
	 */
	bool (*block)(void *data, uint64_t address, struct view_block *ret);
	void *data;
};

/* False if some of it is not mapped. */
bool view_read(const struct view *view, uint64_t address, void *out, size_t n);
