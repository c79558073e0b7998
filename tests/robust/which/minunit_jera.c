/* In the style of the first MinUnit: a test returns its message, or 0. */
#include <stdio.h>

#define mu_assert(message, test) do { if (!(test)) return message; } while (0)
#define mu_run_test(test) do { char *message = test(); tests_run++; if (message) return message; } while (0)
#define TEST __attribute__((noinline)) static char *

static int tests_run;
static volatile int foo = 7, bar = 4;

TEST test_foo(void)
{
	mu_assert("error, foo != 7", foo == 7);
	return 0;
}

TEST test_bar(void)
{
	mu_assert("error, bar != 5", bar == 5);
	return 0;
}

TEST test_both(void)
{
	mu_assert("error, foo < bar", foo > bar);
	return 0;
}

static char *all_tests(void)
{
	mu_run_test(test_foo);
	mu_run_test(test_bar);
	mu_run_test(test_both);
	return 0;
}

int main(void)
{
	char *result = all_tests();
	printf("%s\n", result ? result : "ALL TESTS PASSED");
	printf("Tests run: %d\n", tests_run);
	return result != 0;
}
