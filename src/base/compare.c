#include "base/compare.h"

#include <stdint.h>
#include <string.h>

int compare_as_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

int compare_as_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}
