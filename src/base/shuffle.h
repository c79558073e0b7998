/* Random orders that are the same everywhere for the same seed. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* splitmix64 (Steele, Lea, Flood 2014). */
uint64_t shuffle_next(uint64_t *state);
void shuffle_order(size_t *order, size_t n, uint64_t seed);
