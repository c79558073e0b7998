/*
 * One of several shares of a whole build, for one of several machines:
 * --shard I/N.
 *
 * Every machine divides the same list by itself, so division depends on nothing
 * but the list and the weights: heaviest first, each to the share that is
 * lightest so far (the first of equals).
 *
 * Invariant: each part is in exactly one share, whatever the weights are.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct shard {
	uint64_t index; /* from 1 */
	uint64_t of;	/* 0: not divided */
};

#define SHARDS_MAX 100000

/* "2/5" */
struct err *shard_parse(const char *text, struct shard *ret) _must_check_;

/* @ret: the share, from 1 to @shards, of each of @n parts. */
struct err *shard_divide(const double *weights, size_t n, uint64_t shards,
			 uint64_t *ret) _must_check_;
