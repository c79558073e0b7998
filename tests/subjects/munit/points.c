//@ points always count=5 uses=munit-raft flags="-DMUNIT_ALWAYS_TEAR_DOWN"
//@ points plain count=5 uses=munit-ngtcp2 without=/with_fails
#include "munit.h"

#include "note.h"

static void *set_up(const MunitParameter params[], void *data)
{
	note("setup");
	return NULL;
}
static void tear_down(void *fixture) { note("teardown"); }

static MunitResult body(const MunitParameter params[], void *data)
{
	note("body");
	return MUNIT_OK;
}
static MunitResult fails(const MunitParameter params[], void *data)
{
	note("body");
	munit_assert_true(0);
	return MUNIT_OK;
}

static MunitTest tests[] = {
	{ "/with_one", body, set_up, tear_down, 0, NULL },
	{ "/with_fails", fails, set_up, tear_down, 0, NULL },
	{ "/setup_only_one", body, set_up, NULL, 0, NULL },
	{ "/plain_one", body, NULL, NULL, 0, NULL },
	{ "/teardown_only_one", body, NULL, tear_down, 0, NULL },
	{ NULL, NULL, NULL, NULL, 0, NULL },
};
static const MunitSuite suite = { "", tests, NULL, 1, 0 };

int main(int argc, char **argv)
{
	return munit_suite_main(&suite, NULL, argc, argv);
}
