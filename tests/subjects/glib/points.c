//@ points shared count=4 pkg=glib-2.0
#include <glib.h>

#include "note.h"

static void setup(int *fixture, gconstpointer data)
{
	(void)fixture;
	(void)data;
	note("setup");
}
static void teardown(int *fixture, gconstpointer data)
{
	(void)fixture;
	(void)data;
	note("teardown");
}
static void with_one(int *fixture, gconstpointer data)
{
	(void)fixture;
	(void)data;
	note("body");
}
static void with_fails(int *fixture, gconstpointer data)
{
	with_one(fixture, data);
	g_test_fail();
}
static void plain_one(void) { note("body"); }

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add("/with_one", int, NULL, setup, with_one, teardown);
	g_test_add("/with_fails", int, NULL, setup, with_fails, teardown);
	g_test_add("/setup_only_one", int, NULL, setup, with_one, NULL);
	g_test_add_func("/plain_one", plain_one);
	return g_test_run();
}
