/*
 * Address ranges and what they belong to, found by binary search.
 *
 * Ranges may overlap and nest, as symbols and units of real and of damaged
 * files do: the one that begins nearest below the address wins, among those
 * that begin together the one with the lowest rank, then the lowest id. First
 * filled, then sealed once, then queried.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct span {
	uint64_t lo, hi; /* hi is the first address after it */
	uint64_t top;	 /* greatest hi up to here in sorted order */
	uint32_t rank;
	uint32_t id;
};

struct spans {
	struct span *data;
	size_t n;
	size_t cap;
};

/* Empty ranges are taken as one byte, wrapped ones are cut. */
struct err *spans_add(struct spans *spans, uint64_t lo, uint64_t size,
		      uint32_t rank, uint32_t id) _must_check_;
void spans_seal(struct spans *spans);
bool spans_find(const struct spans *spans, uint64_t address, uint32_t *ret_id);
void spans_free(struct spans *spans);
