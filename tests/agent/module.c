/* A library that allocates: loaded while the program runs, or before it. */
#include <stdlib.h>

void *allocate(size_t size);
void release(void *block);

void *allocate(size_t size)
{
	return malloc(size);
}

void release(void *block)
{
	free(block);
}
