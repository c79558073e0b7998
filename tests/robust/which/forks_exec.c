/*
 * A runner that executes itself again for each of its tests, with the test's name.
 * With HELPER it does that once, for something else, and runs its tests itself.
 */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define TEST __attribute__((noinline)) int

static volatile int number;
TEST test_one(void) { return number++; }
TEST test_two(void) { return --number < -1; }

static const struct {
	const char *name;
	int (*run)(void);
} tests[] = { { "one", test_one }, { "two", test_two } };

static int execute(const char *name)
{
	int status;
	fflush(stdout);
	if (fork() == 0) {
		execl("/proc/self/exe", "runner", name, (char *)NULL);
		_exit(127);
	}
	wait(&status);
	return status != 0;
}

int main(int argc, char **argv)
{
	int failed = 0;
	if (argc > 1 && !strcmp(argv[1], "helper"))
		return 0;
	for (size_t i = 0; argc > 1 && i < 2; i++) {
		if (!strcmp(argv[1], tests[i].name))
			return tests[i].run();
	}
#ifdef HELPER
	failed += execute("helper");
	for (size_t i = 0; i < 2; i++)
		failed += tests[i].run();
#else
	for (size_t i = 0; i < 2; i++)
		failed += execute(tests[i].name);
#endif
	return failed != 0;
}
