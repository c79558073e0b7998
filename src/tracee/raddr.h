/*
 * An address in the tested process: its own type, so that dereferencing it
 * does not compile.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct raddr {
	uint64_t v;
};

#define RADDR(value) ((struct raddr){ (uint64_t)(value) })

static inline struct raddr raddr_add(struct raddr a, int64_t n)
{
	return RADDR(a.v + (uint64_t)n);
}

static inline bool raddr_eq(struct raddr a, struct raddr b)
{
	return a.v == b.v;
}
