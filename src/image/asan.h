/*
 * AddressSanitizer on x86-64: eight bytes of memory (a granule) have one in its
 * shadow, which says how many of them may be used, or why none
 * (asan_mapping.h, asan_internal.h, asan_allocator.h).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define ASAN_GRANULE 8
#define ASAN_SHADOW(address) (((address) >> 3) + UINT64_C(0x7fff8000))

enum asan_byte {
	ASAN_REDZONE = 0xfa,	   /* in front of a block, and behind it */
	ASAN_RIGHT_REDZONE = 0xfb, /* behind it, until LLVM 5 and GCC 7 */
	ASAN_FREED = 0xfd,
	ASAN_CONTAINER = 0xfc, /* in a block: capacity that is not used */
	ASAN_USER = 0xf7,      /* in a block: the program said so */
	ASAN_COOKIE = 0xac,    /* in a block: the length of a C++ array */
};

/* Larger blocks have a mapping of their own. */
#define ASAN_BLOCK_MAX (UINT64_C(256) << 10)

/* Where blocks up to that size are; in other places since LLVM 17. */
static inline bool asan_is_heap(uint64_t address)
{
	const uint64_t size = UINT64_C(1) << 42;
	return address - UINT64_C(0x600000000000) < size ||
	       address - UINT64_C(0x500000000000) < size;
}
