// GLib's test functions: fixtures, data, skipping, subprocesses. A failed g_assert ends the process ("ends").
//
//@ subject framework=glib lang=c header=glib.h packages="libglib2.0-dev"
//@ variant shared pkg=glib-2.0
//@ variant static pkg-cflags=glib-2.0 libs="-l:libglib-2.0.a -l:libpcre2-8.a -lm -pthread"

#include <glib.h>

#include <stdlib.h>
#include <unistd.h>

static void passes(void) //@ test /plain/passes pass
{
	g_assert_cmpint(2 + 2, ==, 4);
}

static void fails_fatally(void) //@ test /plain/fails-fatally fail ends
{
	g_assert_cmpstr("a", ==, "b"); //@ fails /plain/fails-fatally
}

static void fails_in_g_assert(void) //@ test /plain/fails-in-g-assert fail ends
{
	g_assert(getpid() < 0); //@ fails /plain/fails-in-g-assert
}

static void fails_and_goes_on(void) //@ test /plain/fails-and-goes-on fail
{
	g_test_fail();
	g_test_message("still here");
}

static void skips(void) //@ test /plain/skips skip
{
	g_test_skip("not today");
}

static void expects_message(void) //@ test /plain/expects-message pass
{
	g_test_expect_message(G_LOG_DOMAIN, G_LOG_LEVEL_WARNING, "*wanted*");
	g_warning("a wanted warning");
	g_test_assert_expected_messages();
}

//@ test /data/small/one pass
//@ test /data/small/seven fail ends
static void small(gconstpointer data)
{
	g_assert_cmpint(GPOINTER_TO_INT(data), <, 5); //@ fails /data/small/seven
}

struct fixture {
	int live;
};

static int fixtures_live;

static void fixture_setup(struct fixture *fixture, gconstpointer data)
{
	fixture->live = GPOINTER_TO_INT(data);
	fixtures_live++;
}

static void fixture_teardown(struct fixture *fixture, gconstpointer data)
{
	(void)fixture;
	(void)data;
	fixtures_live--;
}

//@ test /fixture/one pass
//@ test /fixture/two pass
static void with_fixture(struct fixture *fixture, gconstpointer data)
{
	g_assert_cmpint(fixture->live, ==, GPOINTER_TO_INT(data));
	g_assert_cmpint(fixtures_live, ==, 1);
}

static void traps(void) //@ test /trap/traps pass
{
	if (g_test_subprocess())
		abort();
	g_test_trap_subprocess(NULL, 0, 0);
	g_test_trap_assert_failed();
}

// Runs only in the subprocess that the test below starts; not a test of its own.
static void child(void)
{
	g_printerr("from the child\n");
	exit(0);
}

static void traps_other(void) //@ test /trap/traps-other pass
{
	g_test_trap_subprocess("/trap/traps-other/subprocess/child", 0, 0);
	g_test_trap_assert_passed();
	g_test_trap_assert_stderr("*from the child*");
}

// Tests whose outcome tells the order they ran in.
static int written;

static void reader(void) //@ test /order/reader pass after=/order/writer:fail
{
	if (written)
		g_test_fail();
}

static void writer(void) //@ test /order/writer pass
{
	written = 1;
}

// Tests that do not come back.
static void segfault(void) //@ test /no-return/segfault crash
{
	volatile int *volatile null = NULL;
	*null = 1;
}

static void aborts(void) //@ test /no-return/aborts crash
{
	abort();
}

static void exits(void) //@ test /no-return/exits crash
{
	exit(0);
}

static void hangs(void) //@ test /no-return/hangs timeout
{
	for (;;)
		pause();
}

static void comes_afterwards(void) //@ test /no-return/comes-afterwards pass
{
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/plain/passes", passes);
	g_test_add_func("/plain/fails-fatally", fails_fatally);
	g_test_add_func("/plain/fails-in-g-assert", fails_in_g_assert);
	g_test_add_func("/plain/fails-and-goes-on", fails_and_goes_on);
	g_test_add_func("/plain/skips", skips);
	g_test_add_func("/plain/expects-message", expects_message);
	g_test_add_data_func("/data/small/one", GINT_TO_POINTER(1), small);
	g_test_add_data_func("/data/small/seven", GINT_TO_POINTER(7), small);
	g_test_add("/fixture/one", struct fixture, GINT_TO_POINTER(1), fixture_setup, with_fixture, fixture_teardown);
	g_test_add("/fixture/two", struct fixture, GINT_TO_POINTER(2), fixture_setup, with_fixture, fixture_teardown);
	g_test_add_func("/trap/traps", traps);
	g_test_add_func("/trap/traps-other", traps_other);
	g_test_add_func("/trap/traps-other/subprocess/child", child);
	g_test_add_func("/order/reader", reader);
	g_test_add_func("/order/writer", writer);
	g_test_add_func("/no-return/segfault", segfault);
	g_test_add_func("/no-return/aborts", aborts);
	g_test_add_func("/no-return/exits", exits);
	g_test_add_func("/no-return/hangs", hangs);
	g_test_add_func("/no-return/comes-afterwards", comes_afterwards);
	return g_test_run();
}
