// A runner that goes through a table of names and functions.
#include "tests.h"

#include <stdio.h>
#include <string.h>

#define ENTRY(test) {#test, test}

static const struct entry {
	const char *name;
	void (*function)(void);
} table[] = {
	ENTRY(test_passes),
	ENTRY(test_addition),
	ENTRY(test_uses_helpers),
	ENTRY(test_assertion_fails),
	ENTRY(test_order_reader),
	ENTRY(test_order_writer),
	ENTRY(test_segfault),
	ENTRY(test_aborts),
	ENTRY(test_exits),
	ENTRY(test_hangs),
	ENTRY(test_comes_afterwards),
};

static int wanted(char **names, const char *name)
{
	if (!*names)
		return 1;
	for (char **it = names; *it; it++)
		if (strcmp(*it, name) == 0)
			return 1;
	return 0;
}

int main(int argc, char **argv)
{
	(void)argc;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (!wanted(argv + 1, table[i].name))
			continue;
		printf("%s...", table[i].name);
		fflush(stdout);
		table[i].function();
		printf(" ok\n");
		fflush(stdout);
	}
	puts("all tests passed");
	return 0;
}
