//@ restore pkg=glib-2.0
#include "stock.h"

#include <glib.h>
static void pollute() { g_assert_true(pollutes()); }
static void victim() { g_assert_true(passes()); }
int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/small/victim", victim);
	g_test_add_func("/small/pollute", pollute);
	return g_test_run();
}
