// A runner that calls the tests one after another.
#include "tests.h"

#include <stdio.h>
#include <string.h>

static char **wanted_names;

static int wanted(const char *name)
{
	if (!*wanted_names)
		return 1;
	for (char **it = wanted_names; *it; it++)
		if (strcmp(*it, name) == 0)
			return 1;
	return 0;
}

#define RUN(test)                            \
	do {                                 \
		if (!wanted(#test))          \
			break;               \
		printf("%s...", #test);      \
		fflush(stdout);              \
		test();                      \
		printf(" ok\n");             \
		fflush(stdout);              \
	} while (0)

int main(int argc, char **argv)
{
	(void)argc;
	wanted_names = argv + 1;
	RUN(test_passes);
	RUN(test_addition);
	RUN(test_uses_helpers);
	RUN(test_assertion_fails);
	RUN(test_order_reader);
	RUN(test_order_writer);
	RUN(test_segfault);
	RUN(test_aborts);
	RUN(test_exits);
	RUN(test_hangs);
	RUN(test_comes_afterwards);
	puts("all tests passed");
	return 0;
}
