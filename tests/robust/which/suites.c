/*
 * Functions that call tests are suites. The twins are tests that use helpers
 * that are named as tests, too.
 */
#include <stdio.h>
#include <stdlib.h>

#define TEST __attribute__((noinline)) void
#define OWN __attribute__((noinline))

static volatile int number = 1, opened;

OWN static void expect(int good)
{
	if (!good)
		abort();
}

TEST test_a(void) { expect(number == 1); }
TEST test_b(void) { expect(number > 0); }
TEST test_c(void) { expect(number < 2); }
TEST test_d(void) { expect(number != 2); }
TEST test_e(void) { expect(number != 3); }
TEST test_f(void) { expect(number != 4); }
TEST test_g(void) { expect(number != 5); }
TEST test_h(void) { expect(number != 6); }

OWN static void heading(const char *text) { printf("%s\n", text); }
OWN static void open_it(void) { opened = 1; }
OWN static void close_it(void) { opened = 0; }
OWN static void run_one(const char *name, void (*test)(void))
{
	printf("%s\n", name);
	test();
}

/* Calls. */
TEST test_suite_calls(void)
{
	heading("calls");
	test_a();
	test_b();
}

/* With a set-up around each. */
TEST test_fixtures(void)
{
	heading("fixtures");
	open_it();
	test_c();
	close_it();
	open_it();
	test_d();
	close_it();
}

/* Passed on. */
TEST test_passed(void)
{
	run_one("e", test_e);
	run_one("f", test_f);
}

/* One of a table, and one alone. */
static void (*const table[])(void) = { test_g, NULL };
TEST test_suite_table(void)
{
	for (size_t i = 0; table[i]; i++)
		table[i]();
}
TEST test_all_h(void) { test_h(); }

/* A suite of suites. */
TEST test_everything(void)
{
	test_suite_calls();
	test_fixtures();
}

/* ---- the twins: tests ---- */

/* Helpers have parameters. */
OWN int test_twice(int value) { return value * 2; }
OWN void test_expect(int value) { expect(value == 4); }
TEST test_uses_helpers(void) { test_expect(test_twice(2)); }

/* Helpers of a test that does something itself. */
OWN void test_begin_server(void) { opened = 12; }
OWN void test_end_server(void) { opened = 10; }
OWN int ask(int question) { return question + opened; }
TEST test_server(void)
{
	test_begin_server();
	expect(ask(1) == 13);
	test_end_server();
}

/* Helpers that tests share. */
OWN void test_fill(void) { opened = 7; }
OWN void test_drain(void) { opened = 20; }
TEST test_shares_one(void)
{
	test_fill();
	test_drain();
}
TEST test_shares_two(void)
{
	test_drain();
	test_fill();
	test_drain();
}

/* Another test's work as part of its own. */
TEST test_first(void) { expect(number != 7); }
TEST test_second(void) { test_first(); }

int main(void)
{
	test_everything();
	test_passed();
	test_suite_table();
	test_all_h();
	test_uses_helpers();
	test_server();
	test_shares_one();
	test_shares_two();
	test_first();
	test_second();
	return 0;
}
