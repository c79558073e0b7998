// cmocka: tests that depend on what others did to the state of their group, which only the framework points to.
//
//@ subject framework=cmocka lang=c header=cmocka.h
//@ variant plain libs="-lcmocka" quick=gcc-O0,gcc-O2

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct server {
	int level;
	int port;
	char *name;
};

static int start(void **state)
{
	struct server *server = calloc(1, sizeof(*server));
	server->name = strdup("main");
	*state = server;
	return 0;
}

static int stop(void **state)
{
	struct server *server = *state;
	free(server->name);
	free(server);
	return 0;
}

static void test_is_calm(void **state) //@ victim group/test_is_calm polluters=group/test_excites polluted=*state
{
	const struct server *server = *state;
	assert_int_equal(server->level, 0);
}

static void test_excites(void **state)
{
	struct server *server = *state;
	server->level = 7;
}

static void test_opens(void **state)
{
	struct server *server = *state;
	server->port = 80;
}

static void test_needs_port(void **state) //@ brittle group/test_needs_port setters=group/test_opens polluted=*state
{
	const struct server *server = *state;
	assert_int_equal(server->port, 80);
}

static void test_is_named(void **state) //@ victim group/test_is_named polluters=group/test_renames polluted=*state
{
	const struct server *server = *state;
	assert_string_equal(server->name, "main");
}

static void test_renames(void **state)
{
	struct server *server = *state;
	free(server->name);
	server->name = strdup("other");
}

// It puts back what it changes.
static void test_borrows(void **state)
{
	struct server *server = *state;
	int level = server->level;
	server->level = 9;
	assert_int_equal(server->level, 9);
	server->level = level;
}

int main(void)
{
	const struct CMUnitTest group[] = {
		cmocka_unit_test(test_is_calm),
		cmocka_unit_test(test_excites),
		cmocka_unit_test(test_opens),
		cmocka_unit_test(test_needs_port),
		cmocka_unit_test(test_is_named),
		cmocka_unit_test(test_renames),
		cmocka_unit_test(test_borrows),
	};
	return cmocka_run_group_tests(group, start, stop);
}
