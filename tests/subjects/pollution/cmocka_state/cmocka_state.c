// cmocka: objects that only the framework points to, which tests get as their state.
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
	int users;
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

static void test_sets_level(void **state) //@ pollutes group/test_sets_level *state *state->level before=0 after=3
{
	struct server *server = *state;
	server->level = 3;
}

static void test_reads_level(void **state) //@ clean group/test_reads_level
{
	const struct server *server = *state;
	assert_true(server->level >= 0);
}

static void test_puts_back(void **state) //@ clean group/test_puts_back
{
	struct server *server = *state;
	server->users++;
	assert_int_equal(server->users, 1);
	server->users--;
}

static void test_renames(void **state) //@ pollutes group/test_renames *state *state->name before="\"main\"" after="\"other\""
{
	struct server *server = *state;
	free(server->name);
	server->name = strdup("other");
}

static int own_start(void **state)
{
	*state = calloc(1, sizeof(struct server));
	return 0;
}

static int own_stop(void **state)
{
	free(*state);
	return 0;
}

// It has one of its own, which its set-up makes and its tear-down frees.
static void test_own(void **state) //@ clean group/test_own
{
	struct server *server = *state;
	server->level = 9;
	server->users = 2;
}

struct account {
	long balance;
	int locked;
};

static void test_pays(void **state) //@ pollutes accounts/test_pays *state *state->balance before=100 after=90
{
	struct account *account = *state;
	account->balance -= 10;
}

static void test_counts(void **state) //@ clean accounts/test_counts
{
	const struct account *account = *state;
	assert_true(account->balance <= 100);
}

// Nobody else gets this one.
static void test_alone(void **state) //@ clean accounts/test_alone
{
	struct account *account = *state;
	account->locked = 1;
}

int main(void)
{
	struct account *shared = calloc(1, sizeof(*shared));
	struct account *single = calloc(1, sizeof(*single));
	shared->balance = 100;
	const struct CMUnitTest group[] = {
		cmocka_unit_test(test_sets_level),
		cmocka_unit_test(test_reads_level),
		cmocka_unit_test(test_puts_back),
		cmocka_unit_test(test_renames),
		cmocka_unit_test_setup_teardown(test_own, own_start, own_stop),
	};
	const struct CMUnitTest accounts[] = {
		cmocka_unit_test_prestate(test_pays, shared),
		cmocka_unit_test_prestate(test_counts, shared),
		cmocka_unit_test_prestate(test_alone, single),
	};
	int failed = cmocka_run_group_tests(group, start, stop);
	failed += cmocka_run_group_tests(accounts, NULL, NULL);
	free(shared);
	free(single);
	return failed;
}
