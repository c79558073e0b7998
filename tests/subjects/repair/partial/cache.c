#include "cache.h"

static struct {
	int value;
	int writes; // of all time
} cache;

int cache_read(void)
{
	return cache.value;
}

void cache_write(int value)
{
	cache.value = value;
	cache.writes++;
}

void cache_clear(void)
{
	cache.value = 0;
}
