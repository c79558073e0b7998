/* What the models of unordered containers share (hash_site.c, hash_std.c). */
#pragma once

#include "agent/hash.h"
#include "models/choose_internal.h"

/* Do arrays of buckets go back to operator delete where @caller's code has them? */
enum hash_arrays {
	HASH_SITE_NEW,	 /* not known */
	HASH_SITE_RIGHT, /* yes */
	HASH_SITE_OTHER, /* no, or in doubt */
};

/* What is known of the container that code works on. */
struct hash_site {
	enum hash_arrays arrays;
	/* The function's name says the rest: */
	bool named;
	bool cached; /* nodes keep the hash of their key */
	bool set;    /* values are keys */
	bool unique; /* of equal keys there is one */
};

/* Registers that a called function keeps, the return address, the caller's stack. */
#define HASH_CALLER 6
#define HASH_WINDOW 96 /* words */
struct hash_frame {
	uintptr_t saved[HASH_WINDOW]; /* as far as the stack goes */
};

#pragma GCC visibility push(hidden)
struct hash_site hash_site(uintptr_t caller);
void hash_site_set(uintptr_t caller, enum hash_arrays arrays);
/* "an unordered_map", as far as it is known. */
const char *hash_site_name(uintptr_t caller);
/* Bytes of the block of the heap that begins there; 0: there is none. */
size_t hash_block_size(const void *block);
/* Is it one of that size? */
bool hash_is_block(const void *block, size_t size);
size_t hash_frame_words(const struct hash_frame *frame);
#pragma GCC visibility pop
