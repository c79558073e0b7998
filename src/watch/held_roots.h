/*
 * Roots for objects that only a test framework points to (program/held.h).
 *
 * Such a root is a pointer that the process does not have: its bytes are ours, at
 * an address where nothing can be mapped. So it can be named as the test sees it
 * ("*state", "this"), and what happens to the object is found as with any other
 * pointer, also that it was freed.
 *
 * The object's type is that of its vtable, or what the functions that get it make
 * of it: the types that their pointers have, as far as the size of the object
 * allows them.
 */
#pragma once

#include "image/image.h"
#include "program/held.h"
#include "watch/areas.h"
#include "watch/roots.h"

/* Below what the system maps for anybody (vm.mmap_min_addr). */
#define HELD_START UINT64_C(0x1000)
#define HELD_END UINT64_C(0x10000)

/* An object on a stack, where nothing else is looked at. */
struct held_span {
	uint64_t start, end;
};

struct held_roots {
	const struct held_list *list; /* of the process; NULL: none */
	uint64_t version;	      /* of the list, when it was examined */
	/* The pointers; zero after the last. */
	uint64_t cells[(HELD_END - HELD_START) / 8];
	size_t n;
	VEC(struct held_span) spans;
	/* Types that were found already. */
	struct map_u64 functions;    /* address of the file → first pointer */
	struct index_pointers known; /* of all those, by function */
	struct map_u64 pointers;     /* type → the pointer to it */
};

void held_roots_free(struct held_roots *held);
/* Are there others than those that were examined? */
static inline bool held_roots_stale(const struct held_roots *held)
{
	return held->list && held->version != held->list->version;
}
/* Is it an address of the pointers? */
static inline bool held_roots_contain(uint64_t address)
{
	return address >= HELD_START && address < HELD_END;
}
/* The page of the pointers that has @address, which is one of theirs. */
static inline const uint8_t *held_roots_page(const struct held_roots *held,
					     uint64_t address)
{
	address -= address % IMAGE_PAGE;
	return (const uint8_t *)held->cells + (address - HELD_START);
}
bool held_roots_cover(const struct held_roots *held, uint64_t address);

struct held_source {
	const struct program *program;
	struct image *image;
	struct areas *areas; /* as they are now */
	struct tracee *tracee;
};
/* Adds them to @roots, which were loaded just now. */
struct err *held_roots_add(struct held_roots *held,
			   const struct held_source *source,
			   struct roots *roots) _must_check_;
