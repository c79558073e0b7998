/*
 * How choices are drawn and what a pick means, for all agents alike: see
 * wire/choices.h.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "wire/choices.h"

static inline uint64_t wire_scramble(uint64_t x)
{
	x += 0x9e3779b97f4a7c15;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

static inline uint64_t wire_mix(uint64_t a, uint64_t b)
{
	return wire_scramble(a ^ wire_scramble(b));
}

/* n!, or WIRE_MANY; 1 for fewer than two: then there is nothing to choose. */
static inline uint64_t wire_permutations(size_t n)
{
	uint64_t product = 1;
	if (n > WIRE_PERMUTED)
		return WIRE_MANY;
	for (uint64_t i = 2; i <= n; i++)
		product *= i;
	return product > WIRE_MANY ? WIRE_MANY : product;
}

/*
 * A permutation as a sequence of swaps: the i-th element changes places with one
 * of those not before it, (n - i) possibilities each. Pick 0 swaps nothing.
 */
static inline size_t wire_swap_with(uint64_t *pick, size_t i, size_t n)
{
	size_t left = n - i;
	if (n > WIRE_PERMUTED) {
		*pick = wire_scramble(*pick);
		return i + (size_t)(*pick % left);
	}
	size_t with = i + (size_t)(*pick % left);
	*pick /= left;
	return with;
}

/* The permutation that @pick stands for: @order[i] is what comes i-th. */
static inline void wire_permutation(uint64_t pick, size_t n, uint32_t *order)
{
	for (size_t i = 0; i < n; i++)
		order[i] = (uint32_t)i;
	for (size_t i = 0; pick && i + 1 < n; i++) {
		size_t with = wire_swap_with(&pick, i, n);
		uint32_t other = order[with];
		order[with] = order[i];
		order[i] = other;
	}
}

/* Level ONE: never 0. */
static inline uint64_t wire_draw_one(const struct wire_choices *block,
				     uint64_t model, uint64_t alternatives)
{
	return 1 + wire_mix(block->seed, model) % (alternatives - 1);
}

/* Is choice @n of that thread one that is to act? */
static inline bool wire_acts(const struct wire_choices *block, uint64_t model,
			     uint64_t thread, uint64_t phase, uint64_t n)
{
	if (!(block->on[model / 64] >> model % 64 & 1))
		return false;
	if (!block->only_ranges)
		return true;
	for (uint64_t i = 0; i < block->ranges_n && i < WIRE_CHOICE_RANGES;
	     i++) {
		const struct wire_choice_range *range = &block->ranges[i];
		if (range->thread == thread && range->phase == phase &&
		    n >= range->from && n < range->to)
			return true;
	}
	return false;
}
