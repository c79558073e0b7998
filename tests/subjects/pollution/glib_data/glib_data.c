// GLib: data that the framework hands to several tests, and that nothing else points to.
//
//@ subject framework=glib lang=c header=glib.h
//@ variant plain pkg=glib-2.0 quick=gcc-O0,gcc-O2

#include <glib.h>

typedef struct {
	int level;
	char *name;
} Server;

typedef struct {
	Server *mine;
} Fixture;

static void server_sets(gconstpointer data) //@ pollutes /server/sets data data->level before=0 after=2
{
	Server *server = (Server *)data;
	server->level = 2;
}

static void server_reads(gconstpointer data) //@ clean /server/reads
{
	const Server *server = data;
	g_assert_cmpint(server->level, >=, 0);
}

static void server_puts_back(gconstpointer data) //@ clean /server/puts-back
{
	Server *server = (Server *)data;
	int level = server->level;
	server->level = 77;
	g_assert_cmpint(server->level, ==, 77);
	server->level = level;
}

static void fixture_set_up(Fixture *fixture, gconstpointer data)
{
	(void)data;
	fixture->mine = g_new0(Server, 1);
}

static void fixture_tear_down(Fixture *fixture, gconstpointer data)
{
	(void)data;
	g_free(fixture->mine);
}

// The fixture is the test's own, the data is not.
static void fixture_renames(Fixture *fixture, gconstpointer user_data) //@ pollutes /fixture/renames user_data user_data->name before=NULL after="\"new\""
{
	Server *server = (Server *)user_data;
	fixture->mine->level = 5;
	server->name = g_strdup("new");
}

static void fixture_own(Fixture *fixture, gconstpointer user_data) //@ clean /fixture/own
{
	const Server *server = user_data;
	g_assert_cmpint(server->level, >=, 0);
	fixture->mine->level = 5;
}

// Nobody else gets it.
static void single_sets(gconstpointer data) //@ clean /single/sets
{
	Server *server = (Server *)data;
	server->level = 9;
}

static void number(gconstpointer data) //@ clean /number/one //@ clean /number/two
{
	g_assert_cmpint(GPOINTER_TO_INT(data), ==, 4096);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	Server *shared = g_new0(Server, 1);
	Server *other = g_new0(Server, 1);
	Server *single = g_new0(Server, 1);
	g_test_add_data_func("/server/sets", shared, server_sets);
	g_test_add_data_func("/server/reads", shared, server_reads);
	g_test_add_data_func("/server/puts-back", shared, server_puts_back);
	g_test_add("/fixture/renames", Fixture, other, fixture_set_up, fixture_renames, fixture_tear_down);
	g_test_add("/fixture/own", Fixture, other, fixture_set_up, fixture_own, fixture_tear_down);
	g_test_add_data_func("/single/sets", single, single_sets);
	g_test_add_data_func("/number/one", GINT_TO_POINTER(4096), number);
	g_test_add_data_func("/number/two", GINT_TO_POINTER(4096), number);
	return g_test_run();
}
