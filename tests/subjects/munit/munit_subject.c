// munit: nested suites, set-up and tear-down, parameters, tests that are marked TODO, and two calls of
// munit_suite_main(). Two copies that packages of Debian have.
//
//@ subject framework=munit lang=c packages="dpkg-dev"
//@ variant raft uses=munit-raft
//@ variant ngtcp2 uses=munit-ngtcp2

#include "munit.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEST(name) static MunitResult name(const MunitParameter params[], void *data)
#define UNUSED (void)params, (void)data

TEST(passes) //@ test /plain/passes pass
{
	UNUSED;
	munit_assert_int(2 + 2, ==, 4);
	return MUNIT_OK;
}

TEST(fails) //@ test /plain/fails fail
{
	UNUSED;
	munit_assert_string_equal("a", "b"); //@ fails /plain/fails
	return MUNIT_OK;
}

TEST(gives_up) //@ test /plain/gives_up fail
{
	UNUSED;
	munit_error("a message"); //@ fails /plain/gives_up
	return MUNIT_OK;
}

static void check_in_helper(int value)
{
	munit_assert_int(value, <, 10); //@ fails /plain/in_helper
}

TEST(in_helper) //@ test /plain/in_helper fail
{
	UNUSED;
	check_in_helper(3);
	check_in_helper(11);
	return MUNIT_OK;
}

TEST(returns_fail) //@ test /plain/returns_fail fail
{
	UNUSED;
	return MUNIT_FAIL;
}

TEST(returns_error) //@ test /plain/returns_error fail
{
	UNUSED;
	return MUNIT_ERROR;
}

TEST(skips) //@ test /plain/skips skip
{
	UNUSED;
	return MUNIT_SKIP;
}

// It fails as it should: munit counts that as success, and the contrary as a failure.
TEST(todo) //@ test /plain/todo pass
{
	UNUSED;
	munit_assert_int(1, ==, 2);
	return MUNIT_OK;
}

TEST(done) //@ test /plain/done fail
{
	UNUSED;
	return MUNIT_OK;
}

TEST(uses_tmpfile) //@ test /plain/uses_tmpfile pass
{
	UNUSED;
	FILE *file = tmpfile();
	munit_assert_not_null(file);
	fclose(file);
	return MUNIT_OK;
}

static int live, rounds;

static void *set_up(const MunitParameter params[], void *user_data)
{
	(void)params;
	live++;
	munit_assert_string_equal(user_data, "user data");
	return &live;
}

static void tear_down(void *fixture)
{
	munit_assert_ptr_equal(fixture, &live);
	live--;
}

TEST(fixture_one) //@ test /fixture/one pass
{
	(void)params;
	munit_assert_ptr_equal(data, &live);
	munit_assert_int(live, ==, 1);
	return MUNIT_OK;
}

TEST(fixture_two) //@ test /fixture/two pass
{
	UNUSED;
	munit_assert_int(live, ==, 1);
	return MUNIT_OK;
}

static void *set_up_fails(const MunitParameter params[], void *user_data)
{
	(void)params, (void)user_data;
	munit_assert_true(0); //@ fails /fixture/set_up_fails
	return NULL;
}

TEST(set_up_fails_test) //@ test /fixture/set_up_fails fail
{
	UNUSED;
	return MUNIT_OK;
}

static char *sizes[] = {"small", "large", NULL};
static char *modes[] = {"fast", "slow", NULL};
static MunitParameterEnum both[] = {{"size", sizes}, {"mode", modes}, {"none", NULL}, {NULL, NULL}};
static MunitParameterEnum empty[] = {{"none", NULL}, {NULL, NULL}};

//@ test "/params/both size=small, mode=fast" pass
//@ test "/params/both size=small, mode=slow" pass
//@ test "/params/both size=large, mode=fast" pass
//@ test "/params/both size=large, mode=slow" fail
TEST(params_both)
{
	(void)data;
	const char *size = munit_parameters_get(params, "size"), *mode = munit_parameters_get(params, "mode");
	munit_assert_not_null(size);
	munit_assert_not_null(mode);
	munit_assert_null(munit_parameters_get(params, "none"));
	if (strcmp(size, "large") == 0)
		munit_assert_string_equal(mode, "fast"); //@ fails "/params/both size=large, mode=slow"
	return MUNIT_OK;
}

TEST(params_empty) //@ test /params/empty pass
{
	(void)data;
	munit_assert_null(params);
	return MUNIT_OK;
}

TEST(random_numbers) //@ test /params/random pass
{
	UNUSED;
	int a = munit_rand_int_range(0, 1000), b = munit_rand_int_range(0, 1000);
	munit_assert_int(a, >=, 0);
	munit_assert_int(b, <=, 1000);
	return MUNIT_OK;
}

// Tests whose outcome tells the order they ran in.
static int written;

TEST(order_reader) //@ test /order/inner/reader pass after=/order/inner/writer:fail
{
	UNUSED;
	munit_assert_int(written, ==, 0); //@ fails /order/inner/reader
	return MUNIT_OK;
}

TEST(order_writer) //@ test /order/inner/writer pass
{
	UNUSED;
	written = 1;
	return MUNIT_OK;
}

// Tests that do not come back.
TEST(segfault) //@ test /gone/segfault crash
{
	UNUSED;
	volatile int *volatile null = NULL;
	*null = 1;
	return MUNIT_OK;
}

TEST(aborts) //@ test /gone/aborts crash
{
	UNUSED;
	abort();
}

TEST(exits) //@ test /gone/exits crash
{
	UNUSED;
	exit(0);
}

TEST(hangs) //@ test /gone/hangs timeout
{
	UNUSED;
	for (;;)
		pause();
	return MUNIT_OK;
}

static void *fail_in_thread(void *data)
{
	(void)data;
	munit_assert_int(1, ==, 2); //@ fails /gone/thread
	return NULL;
}

// munit can leave a test only in the thread that runs it: in any other it aborts.
TEST(thread_fails) //@ test /gone/thread fail ends
{
	UNUSED;
	pthread_t thread;
	pthread_create(&thread, NULL, fail_in_thread, NULL);
	pthread_join(thread, NULL);
	return MUNIT_OK;
}

TEST(comes_afterwards) //@ test /gone/comes_afterwards pass
{
	UNUSED;
	return MUNIT_OK;
}

TEST(second_rounds) //@ test /second/rounds pass
{
	UNUSED;
	rounds++;
	return MUNIT_OK;
}

TEST(second_single) //@ test /second/single pass
{
	UNUSED;
	return MUNIT_OK;
}

// It ran in all three rounds, or nothing did.
TEST(second_counted) //@ test /second/counted pass
{
	UNUSED;
	munit_assert_int(rounds % 3, ==, 0);
	return MUNIT_OK;
}

#define ENTRY(name, function) {name, function, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL}
#define END {NULL, NULL, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL}

static MunitTest plain[] = {
	ENTRY("/passes", passes),
	ENTRY("/fails", fails),
	ENTRY("/gives_up", gives_up),
	ENTRY("/in_helper", in_helper),
	ENTRY("/returns_fail", returns_fail),
	ENTRY("/returns_error", returns_error),
	ENTRY("/skips", skips),
	{"/todo", todo, NULL, NULL, MUNIT_TEST_OPTION_TODO, NULL},
	{"/done", done, NULL, NULL, MUNIT_TEST_OPTION_TODO, NULL},
	ENTRY("/uses_tmpfile", uses_tmpfile),
	END,
};

static MunitTest fixture[] = {
	{"/one", fixture_one, set_up, tear_down, MUNIT_TEST_OPTION_NONE, NULL},
	{"/two", fixture_two, set_up, tear_down, MUNIT_TEST_OPTION_NONE, NULL},
	{"/set_up_fails", set_up_fails_test, set_up_fails, NULL, MUNIT_TEST_OPTION_NONE, NULL},
	END,
};

static MunitTest parameters[] = {
	{"/both", params_both, NULL, NULL, MUNIT_TEST_OPTION_NONE, both},
	{"/empty", params_empty, NULL, NULL, MUNIT_TEST_OPTION_NONE, empty},
	ENTRY("/random", random_numbers),
	END,
};

static MunitTest order[] = {ENTRY("/reader", order_reader), ENTRY("/writer", order_writer), END};
static MunitSuite inner[] = {{"/inner", order, NULL, 1, MUNIT_SUITE_OPTION_NONE},
			     {NULL, NULL, NULL, 0, MUNIT_SUITE_OPTION_NONE}};

static MunitTest gone[] = {
	ENTRY("/segfault", segfault),
	ENTRY("/aborts", aborts),
	ENTRY("/exits", exits),
	ENTRY("/hangs", hangs),
	ENTRY("/thread", thread_fails),
	ENTRY("/comes_afterwards", comes_afterwards),
	END,
};

static MunitSuite suites[] = {
	{"/plain", plain, NULL, 1, MUNIT_SUITE_OPTION_NONE},
	{"/fixture", fixture, NULL, 1, MUNIT_SUITE_OPTION_NONE},
	{"/params", parameters, NULL, 1, MUNIT_SUITE_OPTION_NONE},
	{"/order", NULL, inner, 1, MUNIT_SUITE_OPTION_NONE},
	{"/gone", gone, NULL, 1, MUNIT_SUITE_OPTION_NONE},
	{NULL, NULL, NULL, 0, MUNIT_SUITE_OPTION_NONE},
};
static const MunitSuite first = {NULL, NULL, suites, 1, MUNIT_SUITE_OPTION_NONE};

static MunitTest second_tests[] = {
	ENTRY("/rounds", second_rounds),
	{"/single", second_single, NULL, NULL, MUNIT_TEST_OPTION_SINGLE_ITERATION, NULL},
	ENTRY("/counted", second_counted),
	END,
};
static const MunitSuite second = {"/second", second_tests, NULL, 3, MUNIT_SUITE_OPTION_NONE};

int main(int argc, char *argv[])
{
	int failed = munit_suite_main(&first, "user data", argc, argv);
	return munit_suite_main(&second, NULL, argc, argv) || failed;
}
