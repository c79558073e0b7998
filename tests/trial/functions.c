/* The operations as tests of a hand-written runner. */
#include "operations.h"

#define DECLARE(name, group, who)                                                                                      \
	void test_##name(void);                                                                                        \
	__attribute__((noinline)) void test_##name(void)                                                               \
	{                                                                                                              \
		note(#name);                                                                                           \
		do_##name();                                                                                           \
	}
OPERATIONS(DECLARE)

void test_files_are_there(void);
__attribute__((noinline)) void test_files_are_there(void)
{
	if (!files_are_there())
		abort();
}

#define ENTRY(name, group, who) { #name, #group, #who, test_##name },

static const struct {
	const char *name, *group, *who;
	void (*run)(void);
} tests[] = { { "files_are_there", "content", "anyone", test_files_are_there }, OPERATIONS(ENTRY) };

/* Without the tool, names as arguments select operations; `--list` prints them. */
int main(int argc, char **argv)
{
	size_t count = sizeof(tests) / sizeof(tests[0]);
	if (argc == 2 && !strcmp(argv[1], "--list")) {
		for (size_t i = 1; i < count; i++)
			printf("%s %s %s\n", tests[i].name, tests[i].group, tests[i].who);
		return 0;
	}
	start_trial();
	for (size_t i = 0; i < count; i++) {
		int wanted = argc == 1;
		for (int j = 1; j < argc; j++)
			wanted |= !strcmp(argv[j], tests[i].name);
		if (wanted)
			tests[i].run();
	}
	return 0;
}
