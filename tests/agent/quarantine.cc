/*
 * With the agent preloaded: blocks from before quarantine (wire/heap.h) stay as
 * they are whatever is done to them, later ones are ordinary.
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <malloc.h>

extern "C" {
#include "wire/heap.h"
extern struct wire_heap polygraph_agent_heap __attribute__((weak));
}

#define CHECK(condition)                                                       \
	do {                                                                   \
		if (!(condition)) {                                            \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__,     \
				#condition);                                   \
			exit(1);                                               \
		}                                                              \
	} while (0)

/* Not to be seen through: what is freed is looked at. */
template <class T> static T *hide(T *pointer)
{
	asm volatile("" : "+r"(pointer));
	return pointer;
}

static const char text[] = "what was in it before quarantine began, all of it";

static char *make(size_t size)
{
	char *block = (char *)malloc(size);
	CHECK(block && size >= sizeof(text));
	memcpy(block, text, sizeof(text));
	return hide(block);
}

static bool is_there(const char *block)
{
	return !memcmp(hide(block), text, sizeof(text));
}

int main()
{
	CHECK(&polygraph_agent_heap && polygraph_agent_heap.active);
	char *freed = make(100), *grown = make(100), *shrunk = make(1000);
	char *removed = make(64), *large = make(1 << 20), *deleted = hide(new char[80]);
	char *through_zero = make(100);
	memcpy(deleted, text, sizeof(text));
	char *kept[] = { freed, grown, shrunk, removed, large, deleted, through_zero };

	polygraph_agent_heap.fresh = WIRE_FRESH;
	free(hide(freed));
	free(hide(large));
	delete[] hide(deleted);
	char *more = (char *)realloc(hide(grown), 200);
	CHECK(more && hide(more) != grown && is_there(more));
	char *less = (char *)realloc(hide(shrunk), 60);
	CHECK(less && hide(less) != shrunk && is_there(less));
	CHECK(!realloc(hide(through_zero), 0));
	CHECK(malloc_usable_size(hide(removed)) >= 64);
	free(hide(removed));
	free(hide(removed)); /* nothing happens, so twice nothing */
	for (char *block : kept)
		CHECK(is_there(block));

	/* Nobody gets them again. */
	for (int i = 0; i < 10000; i++) {
		char *other = (char *)malloc((size_t)i % 1200);
		memset(other, 0xff, (size_t)i % 1200);
		for (char *block : kept)
			CHECK(hide(other) != block);
		if (i % 3)
			free(other);
	}
	for (char *block : kept)
		CHECK(is_there(block));

	/* Blocks of quarantine itself are given back: the heap does not grow. */
	char *first = hide((char *)malloc(40));
	free(first);
	char *second = hide((char *)malloc(40));
	CHECK(first == second);
	second = (char *)realloc(second, 41);
	free(second);
	struct mallinfo2 before = mallinfo2();
	for (int i = 0; i < 100000; i++)
		free(hide(malloc(5000)));
	CHECK(mallinfo2().uordblks == before.uordblks);

	polygraph_agent_heap.fresh = 0;
	free(hide(less));
	free(hide(more));
	return 0;
}
