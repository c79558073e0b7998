#include "subject_unwind.h"

#include <alloca.h>

static INLINE void sort_inlined(void)
{
	AT(0), qsort(items, 8, sizeof(items[0]), compare_items);
	kept++;
}

NOINLINE void sort_things(int how)
{
	AT(1), sort_inlined();
	kept += how;
}

/* A frame of unknown size: found through the frame pointer alone. */
NOINLINE void sort_alloca(int n)
{
	char *room = (char *)alloca((size_t)n);
	memset(room, n, (size_t)n);
	AT(2), sort_things(n);
	kept += room[n / 2];
}

static void *in_thread(void *data)
{
	AT(3), sort_alloca(*(int *)data);
	kept++;
	return NULL;
}

NOINLINE void recurse(int n)
{
	if (!n)
		sort_things(1);
	else
		recurse(n - 1);
	kept += n;
}

int main(int argc, char **argv)
{
	const char *direct[] = { "sort_inlined", "sort_things", "sort_alloca",
				 "main" };
	AT(3), sort_alloca(100 * argc);
	kept++;
	expect(direct, 4);

	const char *threaded[] = { "sort_inlined", "sort_things", "sort_alloca",
				   "in_thread" };
	pthread_t thread;
	pthread_create(&thread, NULL, in_thread, &argc);
	pthread_join(thread, NULL);
	expect(threaded, 4);

	/* More frames than are told; what lies above them is not reached. */
	recurse(200);
	const char *deep[] = { "sort_inlined", "sort_things" };
	expect(deep, 2);
	return argv[0] ? 0 : 1;
}
