/* A runner that dies, hangs or gives up half-way when its tests are skipped; with ENDS 0 it is content. */
#include <stdlib.h>
#include <unistd.h>

#define TEST __attribute__((noinline)) void

static int *volatile made;

TEST test_makes(void) { made = malloc(sizeof(*made)); *made = 1; }
TEST test_uses(void) { *made += 1; }
TEST test_last(void) { free(made); }

int main(void)
{
	test_makes();
	if (ENDS == 1)
		*made += 1;
	if (ENDS == 2 && !made)
		exit(7);
	while (ENDS == 3 && !made)
		pause();
	test_uses();
	test_last();
	return 0;
}
