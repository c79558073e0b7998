/* The tests of notes.h with a hand-written runner. */
#include "notes.h"

#define DECLARE(name)                                                                                                  \
	void test_##name(void);                                                                                        \
	__attribute__((noinline)) void test_##name(void)                                                               \
	{                                                                                                              \
		if (!name())                                                                                           \
			abort();                                                                                       \
	}
NOTES(DECLARE)

#define ENTRY(name) test_##name,
static void (*const tests[])(void) = { NOTES(ENTRY) };

int main(void)
{
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		tests[i]();
	return 0;
}
