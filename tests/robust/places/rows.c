/* Rows of data in the runner's own frame, as each call finds them: a test runs where its row is. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTION __attribute__((noinline))

FUNCTION void test_length(void **params)
{
	assert((int)strlen(params[0]) == *(int *)params[1]);
}

FUNCTION void test_number(void **params)
{
	assert(atoi(params[0]) == *(int *)params[1]);
}

static const struct {
	void (*function)(void **params);
	const char *text;
	int number;
} rows[] = {
	{ test_length, "seven", 5 },
	{ test_number, "12", 12 },
	{ test_length, "a", 1 },
	{ test_number, "-3", -3 },
};

int main(void)
{
	for (int i = 0; i < 4; i++) {
		char text[32];
		int number = rows[i].number;
		void *params[] = { text, &number };
		snprintf(text, sizeof(text), "%s", rows[i].text);
		rows[i].function(params);
	}
	return 0;
}
