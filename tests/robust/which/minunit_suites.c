/* In the style of the MinUnit that has suites, set-up and tear-down, and counts. */
#include <stdio.h>

static int minunit_run, minunit_assert, minunit_fail, minunit_status;
static char minunit_last_message[1024];
static void (*minunit_setup)(void), (*minunit_teardown)(void);

#define MU_TEST(name) __attribute__((noinline)) static void name(void)
#define MU_TEST_SUITE(name) static void name(void)
#define MU_SUITE_CONFIGURE(setup, teardown) (minunit_setup = setup, minunit_teardown = teardown)
#define MU_RUN_SUITE(suite) do { suite(); minunit_setup = NULL; minunit_teardown = NULL; } while (0)
#define MU_RUN_TEST(test)                                    \
	do {                                                 \
		if (minunit_setup) (*minunit_setup)();       \
		minunit_status = 0;                          \
		test();                                      \
		minunit_run++;                               \
		if (minunit_status) {                        \
			minunit_fail++;                      \
			printf("F\n%s\n", minunit_last_message); \
		}                                            \
		if (minunit_teardown) (*minunit_teardown)(); \
	} while (0)
#define mu_check(test)                                       \
	do {                                                 \
		minunit_assert++;                            \
		if (!(test)) {                               \
			snprintf(minunit_last_message, sizeof(minunit_last_message), "%s failed:\n\t%s:%d: %s", \
				 __func__, __FILE__, __LINE__, #test); \
			minunit_status = 1;                  \
			return;                              \
		}                                            \
	} while (0)

static volatile int made, bar = 4;

static void test_setup(void) { made = 7; }
static void test_teardown(void) { made = 0; }

MU_TEST(test_made)
{
	mu_check(made == 7);
	made = 8;
}

MU_TEST(test_made_again)
{
	mu_check(made == 7);
}

MU_TEST(test_bar)
{
	mu_check(bar == 5); /* fails */
}

MU_TEST(test_last)
{
	mu_check(bar == 4);
}

MU_TEST_SUITE(test_suite)
{
	MU_SUITE_CONFIGURE(&test_setup, &test_teardown);
	MU_RUN_TEST(test_made);
	MU_RUN_TEST(test_made_again);
	MU_RUN_TEST(test_bar);
	MU_RUN_TEST(test_last);
}

int main(void)
{
	MU_RUN_SUITE(test_suite);
	printf("%d tests, %d assertions, %d failures\n", minunit_run, minunit_assert, minunit_fail);
	return minunit_fail;
}
