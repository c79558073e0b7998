//@ points old count=4 uses=greatest-1.3
//@ points new count=4 uses=greatest-1.5
#include "greatest.h"

#include "note.h"

static void set_up(void *data)
{
	(void)data;
	note("setup");
}
static void tear_down(void *data)
{
	(void)data;
	note("teardown");
}
TEST with_one(void)
{
	note("body");
	PASS();
}
TEST with_fails(void)
{
	note("body");
	FAIL();
}
TEST setup_only_one(void)
{
	note("body");
	PASS();
}
TEST plain_one(void)
{
	note("body");
	PASS();
}
SUITE(points)
{
	RUN_TEST(plain_one);
	SET_SETUP(set_up, NULL);
	RUN_TEST(setup_only_one);
	SET_TEARDOWN(tear_down, NULL);
	RUN_TEST(with_one);
	RUN_TEST(with_fails);
}
GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(points);
	GREATEST_MAIN_END();
}
