/* Stops at the first failure; tests without result tell it in a variable. Everything needs the set-up. */
#include <stdio.h>
#include <stdlib.h>

#define FUNCTION __attribute__((noinline))

static int *made;
static int failures;

static FUNCTION void set_up(void)
{
	made = calloc(1, sizeof(*made));
}

static FUNCTION void tear_down(void)
{
	free(made);
	made = NULL;
}

#define CHECK(condition)                                                       \
	do {                                                                   \
		if (!(condition))                                              \
			failures++;                                            \
	} while (0)

FUNCTION void test_first(void)
{
	CHECK(made && !(*made)++);
}

FUNCTION void test_second(void)
{
	CHECK(made && !(*made)++);
}

FUNCTION void test_fails(void)
{
	CHECK(made && *made);
}

FUNCTION void test_last(void)
{
	CHECK(made && !(*made)++);
}

int main(void)
{
	void (*const tests[])(void) = { test_first, test_second, test_last,
					test_fails };
	for (int i = 0; i < 4; i++) {
		set_up();
		tests[i]();
		tear_down();
		if (failures) {
			printf("failed\n");
			return 1;
		}
	}
	printf("all passed\n");
	return 0;
}
