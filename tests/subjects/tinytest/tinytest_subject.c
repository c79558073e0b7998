// tinytest: fixtures, tests in a process of their own, retries, skipping, tests that are off.
//
//@ subject framework=tinytest lang=c
//@ variant libevent uses=tinytest-libevent
//@ variant tor uses=tinytest-tor

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tinytest.h"
#include "tinytest_macros.h"

// tor's version calls these.
void tinytest_prefork(void);
void tinytest_postfork(void);

void tinytest_prefork(void)
{
}

void tinytest_postfork(void)
{
}

static void passes(void *unused) //@ test plain/passes pass
{
	tt_int_op(2 + 2, ==, 4);
	tt_ptr_op(unused, ==, NULL);
end:;
}

static void fails(void *unused) //@ test plain/fails fail
{
	(void)unused;
	tt_want(1 == 2); //@ fails plain/fails
	tt_str_op("one", ==, "two");
end:;
}

static void aborts_itself(void *unused) //@ test plain/aborts_itself fail
{
	(void)unused;
	tt_abort_msg("with: a message"); //@ fails plain/aborts_itself
end:;
}

static void skips(void *unused) //@ test plain/skips skip
{
	(void)unused;
	tt_skip();
end:;
}

static void never(void *unused) //@ test plain/off skip //@ test plain/left_out skip
{
	(void)unused;
	tt_abort();
end:;
}

static struct testcase_t plain_cases[] = {
	{ "passes", passes, 0, NULL, NULL },
	{ "fails", fails, 0, NULL, NULL },
	{ "aborts_itself", aborts_itself, 0, NULL, NULL },
	{ "skips", skips, 0, NULL, NULL },
	{ "off", never, TT_OFF_BY_DEFAULT, NULL, NULL },
	{ "left_out", never, TT_SKIP, NULL, NULL },
	END_OF_TESTCASES,
};

static int live;

static void *set_up(const struct testcase_t *test)
{
	live++;
	return test->setup_data;
}

static int clean_up(const struct testcase_t *test, void *object)
{
	(void)test;
	(void)object;
	live--;
	return 1;
}

static int fail_to_clean_up(const struct testcase_t *test, void *object)
{
	(void)test;
	(void)object;
	return 0;
}

static void *fail_to_set_up(const struct testcase_t *test)
{
	(void)test;
	return NULL;
}

static void *skip_in_set_up(const struct testcase_t *test)
{
	(void)test;
	return (void *)TT_SKIP;
}

static const struct testcase_setup_t fixture = { set_up, clean_up };
static const struct testcase_setup_t bad_end = { set_up, fail_to_clean_up };
static const struct testcase_setup_t bad_start = { fail_to_set_up, clean_up };
static const struct testcase_setup_t no_start = { skip_in_set_up, clean_up };

static void with_fixture(void *data) //@ test fixture/one pass //@ test fixture/two pass
{
	tt_int_op(live, ==, 1);
	tt_str_op((char *)data, ==, "data");
end:;
}

static void fails_with_fixture(void *data) //@ test fixture/fails fail
{
	(void)data;
	tt_int_op(live, ==, 2); //@ fails fixture/fails
end:;
}

static void does_nothing(void *data) //@ test fixture/bad_end fail //@ test fixture/bad_start fail //@ test fixture/no_start skip
{
	(void)data;
	live = 0;
}

static char text[] = "data";

static struct testcase_t fixture_cases[] = {
	{ "one", with_fixture, 0, &fixture, text },
	{ "fails", fails_with_fixture, 0, &fixture, text },
	{ "two", with_fixture, TT_FORK, &fixture, text },
	{ "bad_start", does_nothing, 0, &bad_start, text },
	{ "no_start", does_nothing, 0, &no_start, text },
	{ "bad_end", does_nothing, 0, &bad_end, text },
	END_OF_TESTCASES,
};

// Tests whose outcome tells the order they ran in. In processes of their own they would not.
static int written;

static void reader(void *unused) //@ test order/reader pass after=order/writer:fail
{
	(void)unused;
	tt_assert(!written); //@ fails order/reader
end:;
}

static void writer(void *unused) //@ test order/writer pass
{
	(void)unused;
	written = 1;
}

#ifndef TT_RETRIABLE
#define TT_RETRIABLE TT_FIRST_USER_FLAG
#endif

static void fails_each_time(void *unused) //@ test order/fails_each_time fail
{
	(void)unused;
	tt_assert(live == 5); //@ fails order/fails_each_time
end:;
}

static struct testcase_t order_cases[] = {
	{ "reader", reader, TT_FORK, NULL, NULL },
	{ "writer", writer, TT_FORK, NULL, NULL },
	{ "fails_each_time", fails_each_time, TT_RETRIABLE, NULL, NULL },
	END_OF_TESTCASES,
};

// Tests that do not come back.
static void by_signal(void *unused) //@ test ends/by_signal crash
{
	(void)unused;
	raise(SIGSEGV);
}

static void by_exit(void *unused) //@ test ends/by_exit crash
{
	(void)unused;
	exit(0);
}

static void by_hanging(void *unused) //@ test ends/by_hanging timeout
{
	(void)unused;
	for (;;)
		pause();
}

static void afterwards(void *unused) //@ test ends/afterwards pass
{
	(void)unused;
}

static struct testcase_t ending_cases[] = {
	{ "by_signal", by_signal, 0, NULL, NULL },
	{ "by_exit", by_exit, 0, NULL, NULL },
	{ "by_hanging", by_hanging, 0, NULL, NULL },
	{ "afterwards", afterwards, 0, NULL, NULL },
	END_OF_TESTCASES,
};

static struct testgroup_t groups[] = {
	{ "plain/", plain_cases },
	{ "fixture/", fixture_cases },
	{ "order/", order_cases },
	{ "ends/", ending_cases },
	END_OF_GROUPS,
};

int main(int argc, const char **argv)
{
	return tinytest_main(argc, argv, groups);
}
