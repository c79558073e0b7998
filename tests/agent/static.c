/*
 * Blocks of every size, every third freed again, for a look at the allocator's
 * own headers: no agent here. What is freed waits in every kind of list.
 */
#include "program.h"

#include <pthread.h>
#include <string.h>

enum { BLOCKS = 500, FAST = 30 };

static void *blocks[BLOCKS];
static size_t sizes[BLOCKS];

static pthread_barrier_t barrier;
/* In an arena of the other thread's own. */
static void *others[BLOCKS];

static void free_some(size_t first)
{
	for (size_t i = first; i < BLOCKS; i += 6)
		free(blocks[i]);
}

/* Goes on living: its cache would go to the fast bins when it ends. */
static void *other(void *argument)
{
	(void)argument;
	for (size_t i = 0; i < BLOCKS; i++)
		others[i] = malloc(i * 7);
	for (size_t i = 0; i < BLOCKS; i += 50)
		free(others[i]);
	free_some(3);
	pthread_barrier_wait(&barrier);
	for (;;)
		pause();
	return NULL;
}

int main(void)
{
	for (size_t i = 0; i < BLOCKS; i++) {
		sizes[i] = i < 300 ? i % 40 * 8 : i * i / 4;
		blocks[i] = malloc(sizes[i]);
		memset(blocks[i], 0x41, sizes[i]);
	}
	void *mapped = malloc(300 * 1000);
	/* Half of them into this thread's cache, half into another's. */
	pthread_t thread;
	MUST(!pthread_barrier_init(&barrier, NULL, 2));
	MUST(!pthread_create(&thread, NULL, other, NULL));
	free_some(0);
	pthread_barrier_wait(&barrier);
	for (size_t i = 0; i < BLOCKS; i++) {
		if (i % 3)
			live(blocks[i], sizes[i]);
		else
			tell(RECORD_FREED, blocks[i], sizes[i]);
	}
	for (size_t i = 0; i < BLOCKS; i++) {
		if (i % 50)
			live(others[i], i * 7);
		else
			tell(RECORD_FREED, others[i], i * 7);
	}
	live(mapped, 300 * 1000);
	/* More of one size than the cache takes. */
	for (size_t i = 0; i < FAST; i++)
		blocks[i] = malloc(100);
	for (size_t i = 0; i < FAST; i++)
		free(blocks[i]);
	for (size_t i = 0; i < FAST; i++)
		tell(RECORD_FAST, blocks[i], 100);
	show();
	return 0;
}
