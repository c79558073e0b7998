//@ points libevent count=4 uses=tinytest-libevent
//@ points tor count=4 uses=tinytest-tor
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tinytest.h"
#include "tinytest_macros.h"

#include "note.h"

void tinytest_prefork(void);
void tinytest_postfork(void);
void tinytest_prefork(void) {}
void tinytest_postfork(void) {}

static void *set_up(const struct testcase_t *test)
{
	note("setup");
	return (void *)test;
}
static int clean_up(const struct testcase_t *test, void *object)
{
	note("teardown");
	return object == test;
}
static const struct testcase_setup_t fixture = { set_up, clean_up };

static void one(void *object)
{
	(void)object;
	note("body");
}
static void fails(void *object)
{
	(void)object;
	note("body");
	tt_abort();
end:;
}
static struct testcase_t cases[] = {
	{ "with_one", one, 0, &fixture, NULL },	  { "with_fails", fails, 0, &fixture, NULL },
	{ "plain_one", one, TT_FORK, NULL, NULL }, { "with_two", one, TT_FORK, &fixture, NULL },
	END_OF_TESTCASES,
};
static struct testgroup_t groups[] = { { "points/", cases }, END_OF_GROUPS };

int main(int argc, const char **argv)
{
	return tinytest_main(argc, argv, groups);
}
