// GLib: sources that another thread attaches, and a loop that ends too soon.
//
//@ subject framework=glib lang=c header=glib.h
//@ variant plain pkg=glib-2.0 quick=gcc-O0

#include <glib.h>

static gint arrived;
static GMainLoop *loop;

static gboolean arrive(gpointer ends_loop)
{
	g_atomic_int_inc(&arrived);
	if (ends_loop)
		g_main_loop_quit(loop);
	return G_SOURCE_REMOVE;
}

static gpointer attach(gpointer ends_loop)
{
	g_idle_add(arrive, ends_loop);
	return NULL;
}

static gboolean give_up(gpointer data)
{
	(void)data;
	g_main_loop_quit(loop);
	return G_SOURCE_REMOVE;
}

static void loop_for_a_while(void)
{
	arrived = 0;
	loop = g_main_loop_new(NULL, FALSE);
	GThread *thread = g_thread_new("worker", attach, NULL);
	g_timeout_add(30, give_up, NULL);
	g_main_loop_run(loop);
	g_assert_cmpint(arrived, ==, 1); //@ late /loop/for-a-while
	g_thread_join(thread);
	g_main_loop_unref(loop);
}

static void loop_until_it_comes(void)
{
	arrived = 0;
	loop = g_main_loop_new(NULL, FALSE);
	GThread *thread = g_thread_new("worker", attach, GINT_TO_POINTER(1));
	g_main_loop_run(loop);
	g_assert_cmpint(arrived, ==, 1);
	g_thread_join(thread);
	g_main_loop_unref(loop);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/loop/for-a-while", loop_for_a_while);
	g_test_add_func("/loop/until-it-comes", loop_until_it_comes);
	return g_test_run();
}
