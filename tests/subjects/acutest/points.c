// There is no point before the tear-down of a test that TEST_ASSERT() leaves.
//@ points old count=2 uses=acutest-nng without=with_fails
//@ points new count=2 uses=acutest-neomutt without=with_fails
static void set_up(void);
static void tear_down(void);
#define TEST_INIT set_up()
#define TEST_FINI tear_down()
#include "acutest.h"

#include "note.h"

static void set_up(void) { note("setup"); }
static void tear_down(void) { note("teardown"); }

static void with_one(void) { note("body"); }
static void with_fails(void)
{
	note("body");
	TEST_ASSERT(0);
}

TEST_LIST = { { "with_one", with_one }, { "with_fails", with_fails }, { NULL, NULL } };
