// No single call does it: two variables, and a function for each.
//
//@ subject framework=glib lang=c header=glib.h packages="libglib2.0-dev"
//@ variant shared pkg=glib-2.0 quick=gcc-O0

#include <glib.h>

#include "queue.h"

static void pushes(void)
{
	int before = queue_length();
	queue_push(3);
	g_assert_cmpint(queue_length(), ==, before + 1);
}

static void is_empty(void) //@ mend /queue/is_empty added="queue_empty();" also="queue_forget_total();"
{
	g_assert_cmpint(queue_length(), ==, 0);
	g_assert_cmpint(queue_total(), ==, 0);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/queue/is_empty", is_empty);
	g_test_add_func("/queue/pushes", pushes);
	return g_test_run();
}
