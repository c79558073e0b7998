// cmocka: set-up and tear-down of tests and of the group.
//
//@ subject framework=cmocka lang=c header=cmocka.h
//@ variant plain libs="-lcmocka" quick=gcc-O0,clang-O2
//@ run inside --capture after-setup..before-teardown
//@ run consecutive --capture after-setup..after-setup

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct session {
	int user;
	char *token;
};

struct session *session;
int log_level;
int sessions_made;

static int group_set_up(void **state)
{
	(void)state;
	log_level = 3;
	return 0;
}

static int group_tear_down(void **state)
{
	(void)state;
	log_level = 0;
	return 0;
}

static int set_up(void **state)
{
	session = calloc(1, sizeof(*session));
	session->token = strdup("token");
	*state = session;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	free(session->token);
	free(session);
	session = NULL;
	return 0;
}

// What the set-up makes and the tear-down takes away again.
static void test_uses_session(void **state) //@ clean pollution/test_uses_session
{
	struct session *mine = *state;
	assert_int_equal(mine->user, 0);
}

static void test_changes_session(void **state) //@ clean pollution/test_changes_session in=default //@ pollutes pollution/test_changes_session session session->user in=inside before=0 after=5
//@ pollutes pollution/test_changes_session session session in=consecutive after=NULL
{
	struct session *mine = *state;
	mine->user = 5;
}

static void test_leaves_level(void **state) //@ pollutes pollution/test_leaves_level log_level log_level before=3 after=4
{
	(void)state;
	log_level = 4;
}

static void test_without_fixture(void **state) //@ pollutes pollution/test_without_fixture sessions_made sessions_made effect=accumulates
{
	(void)state;
	sessions_made++;
}

static void test_asserts(void **state) //@ clean pollution/test_asserts
{
	(void)state;
	for (int i = 0; i < 50; i++)
		assert_true(i < 50);
	assert_string_equal("a", "a");
	assert_in_range(5, 1, 10);
}

static void test_allocates(void **state) //@ clean pollution/test_allocates in=default,inside //@ pollutes pollution/test_allocates session session in=consecutive before=NULL
{
	(void)state;
	char *memory = test_malloc(100);
	memset(memory, 1, 100);
	test_free(memory);
}

static int half_set_up(void **state)
{
	(void)state;
	session = calloc(1, sizeof(*session));
	return 0;
}

// Nobody tears it down.
static void test_not_torn_down(void **state) //@ pollutes pollution/test_not_torn_down session ... in=default effect=settles|accumulates allocated=half_set_up //@ clean pollution/test_not_torn_down in=inside,consecutive
{
	(void)state;
	assert_non_null(session);
}

int main(void)
{
	const struct CMUnitTest pollution[] = {
		cmocka_unit_test_setup_teardown(test_uses_session, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_changes_session, set_up, tear_down),
		cmocka_unit_test(test_leaves_level),
		cmocka_unit_test(test_without_fixture),
		cmocka_unit_test(test_asserts),
		cmocka_unit_test(test_allocates),
		cmocka_unit_test_setup(test_not_torn_down, half_set_up),
	};
	return cmocka_run_group_tests(pollution, group_set_up, group_tear_down);
}
