// cmocka: what is the framework's own is left out, and said; variables of the project are not, whatever their names.
//
//@ subject framework=cmocka lang=c header=cmocka.h
//@ variant plain libs="-lcmocka" builds=gcc-O0,clang-O2 quick=gcc-O0
//@ variant built uses=cmocka-new builds=gcc-O0,gcc-O2 quick=no
//@ says "of cmocka" on=built-*

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

int global_counter;
int cm_state;

static void test_global(void **state) //@ pollutes tests/test_global global_counter global_counter before=0 after=1
{
	(void)state;
	global_counter++;
}

static void test_prefix(void **state) //@ pollutes tests/test_prefix cm_state cm_state
{
	(void)state;
	cm_state++;
}

static int read_mock(void)
{
	return (int)mock();
}

static void test_mocks(void **state) //@ clean tests/test_mocks
{
	(void)state;
	will_return(read_mock, 7);
	assert_int_equal(read_mock(), 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_global),
		cmocka_unit_test(test_prefix),
		cmocka_unit_test(test_mocks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
