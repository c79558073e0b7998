/* A runner that forks for each of its tests, some of which print where they failed. */
#undef NDEBUG
#include <assert.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define TEST __attribute__((noinline)) int

static volatile int number;

TEST test_asserts(void)
{
	printf("other.c:3: this is not where it fails\n");
	fflush(stdout);
	assert(number == 7);
	return 0;
}
TEST test_prints(void)
{
	printf("at 12:30 in a:5, error in %s:%d: number is not 8\n", __FILE__, __LINE__); /* PRINTED */
	fflush(stdout);
	return number != 8;
}
TEST test_says_nothing(void)
{
	printf("nothing of a place: 10:20, file:3, x.c:\n");
	fflush(stdout);
	return number == 0;
}
/* The twin: a place alone is no failure. */
TEST test_passes(void)
{
	printf("%s:%d: all is well\n", __FILE__, __LINE__);
	fflush(stdout);
	return number;
}

static int (*const tests[])(void) = { test_asserts, test_prints, test_says_nothing, test_passes };

int main(void)
{
	int failed = 0, status;
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		fflush(stdout);
		pid_t child = fork();
		if (child == 0)
			_exit(tests[i]());
		waitpid(child, &status, 0);
		failed += status != 0;
	}
	return failed != 0;
}
