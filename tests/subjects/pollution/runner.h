/*
 * The hand-written runner of these subjects: TEST(test_name) { … } defines and lists a test, and RUNNER_MAIN() calls them
 * in the order of their lines. It keeps nothing in memory that a test could leave changed.
 */
#pragma once

#include <assert.h>
#include <stddef.h>

#ifdef __cplusplus
#define RUNNER_LINKAGE extern "C"
#else
#define RUNNER_LINKAGE extern
#endif

struct runner_entry {
	long line;
	void (*run)(void);
};

/* Tests stay functions of their own, whatever the optimiser thinks of it. */
#define TEST(name)                                                                                                     \
	RUNNER_LINKAGE __attribute__((noinline, noclone)) void name(void);                                             \
	__attribute__((section("runner_tests"), used)) static const struct runner_entry entry_##name = { __LINE__,     \
													 name };       \
	void name(void)

#ifdef __clang__
#define noclone /* gcc's word */
#endif

#define NOINLINE __attribute__((noinline))

/* The optimiser takes it that whatever is reachable from here is read and written. */
#define TOUCH(pointer) __asm__ volatile("" : : "r"(pointer) : "memory")

RUNNER_LINKAGE const struct runner_entry __start_runner_tests[];
RUNNER_LINKAGE const struct runner_entry __stop_runner_tests[];

static inline int runner_main(void)
{
	long last = 0;
	for (;;) {
		const struct runner_entry *next = NULL;
		for (const struct runner_entry *e = __start_runner_tests; e != __stop_runner_tests; e++) {
			if (e->line > last && (!next || e->line < next->line))
				next = e;
		}
		if (!next)
			return 0;
		last = next->line;
		next->run();
	}
}

#define RUNNER_MAIN()                                                                                                  \
	int main(void)                                                                                                 \
	{                                                                                                              \
		return runner_main();                                                                                  \
	}
