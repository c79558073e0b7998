/* The verdict is nowhere to be found: behind a number that only this file understands, in memory of its own. */
#include "verdict.h"

#include <sys/mman.h>

static char *hidden; /* what it points to has no type that says anything */

FUNCTION void test_first(void)
{
	KEEP();
}

FUNCTION void test_breaks(void)
{
#ifdef BREAKS
	((volatile char *)hidden)[100] = 1;
#endif
	KEEP();
}

FUNCTION void test_last(void)
{
	KEEP();
}

int main(void)
{
	hidden = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	test_first();
	test_breaks();
	test_last();
	printf("done\n");
	return ((volatile char *)hidden)[100];
}
