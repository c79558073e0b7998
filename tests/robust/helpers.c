/*
 * Helpers that are named as tests: what turns a value into a text is none. The
 * twins: a test that returns its message, and one that gets the address of something.
 */
#include <stdio.h>

#define FUNCTION __attribute__((noinline))

struct place {
	int number;
};

FUNCTION const char *test_status_string(int status)
{
	__asm__ volatile("" : "+r"(status));
	return status == 0 ? "pass" : status == 1 ? "fail" : "?";
}

FUNCTION const char *test_returns_message(void)
{
	return test_status_string(0)[0] == 'p' ? NULL : "another text";
}

FUNCTION const char *test_at_place(struct place *place)
{
	return place->number == 3 ? NULL : "another number";
}

FUNCTION void test_prints(void)
{
	printf("%s\n", test_status_string(0));
}

int main(void)
{
	struct place place = { 3 };
	const char *first = test_returns_message(), *second = test_at_place(&place);
	test_prints();
	printf("%s\n", test_status_string(first || second));
	return first || second;
}
