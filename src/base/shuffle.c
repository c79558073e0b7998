#include "base/shuffle.h"

uint64_t shuffle_next(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* Fisher-Yates; numbers that would favour some orders are drawn again. */
void shuffle_order(size_t *order, size_t n, uint64_t seed)
{
	for (size_t i = n; i > 1; i--) {
		uint64_t limit = UINT64_MAX - UINT64_MAX % i;
		uint64_t random;
		do
			random = shuffle_next(&seed);
		while (random >= limit);
		size_t j = random % i;
		size_t other = order[j];
		order[j] = order[i - 1];
		order[i - 1] = other;
	}
}
