/* Which code of a program's file is its framework's (program/callers.h). */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#undef run_tests /* cmocka has one, too */

#include "framework/frameworks.h"
#include "native/framework.h"
#include "program/callers.h"

#define RANGES 4096

static const struct framework_own *own_by_name(const char *name)
{
	for (size_t i = 0; frameworks[i]; i++) {
		if (!strcmp(frameworks[i]->name, name))
			return &frameworks[i]->own;
	}
	fail_msg("no framework %s", name);
	return NULL;
}

static struct program *program;

static int set_up(void **state _unused_)
{
	const char *path = getenv("POLYGRAPH_SUBJECT_CALLERS");
	if (!path)
		return 0;
	assert_ok(program_create(NULL, &program));
	struct module module = { .path = strdup(path), .end = 1 };
	assert_ok(object_open(path, &module.object));
	assert_ok(vec_push(&program->modules, module));
	return 0;
}

static int tear_down(void **state _unused_)
{
	program_destroy(program);
	return 0;
}

static void owned(const char *framework, const char *symbol)
{
	if (!callers_is_framework(own_by_name(framework), symbol)) {
		print_error("%s is %s's\n", symbol, framework);
		fail();
	}
}

static void not_owned(const char *framework, const char *symbol)
{
	if (callers_is_framework(own_by_name(framework), symbol)) {
		print_error("%s is not %s's\n", symbol, framework);
		fail();
	}
}

static void by_name(void **state _unused_)
{
	owned("gtest", "_ZN7testing8TestInfo3RunEv");
	owned("gtest", "_ZNK7testing8TestInfo4nameEv");
	owned("gtest", "_ZThn16_N7testing8internal4Mock3addEv");
	owned("gtest", "_ZTv0_n24_N7testing8internal4Mock3addEv");
	owned("gtest", "_ZZN7testing8internal3runEvENKUlvE_clEv");
	owned("gtest", "_ZNSt6vectorIPN7testing8TestInfoESaIS2_EE9push_backEv");
	owned("gtest", "_ZNSt6vectorISt10unique_ptrIN7testing4TestEE");
	owned("gtest", "_ZSt8_DestroyIPN7testing14TestPartResultEEvT_S3_");
	not_owned("gtest", "_ZN7testing15Suite_Name_Test8TestBodyEv");
	not_owned("gtest", "_ZN7testing12_GLOBAL__N_18A_B_Test8TestBodyEv");
	not_owned("gtest", "_ZZN7testing8A_B_Test8TestBodyEvENKUlvE_clEv");
	not_owned("gtest", "_ZN8testing23runEv");
	not_owned("gtest", "_ZN3app7testing3runEv");
	not_owned("gtest", "_ZN3app3runEN7testing4TestE");
	not_owned("gtest", "_ZNSt6vectorIiSaIN7testing4TestEEE");
	not_owned("gtest", "main");
	not_owned("gtest", "_Z");
	not_owned("gtest", "_ZN");
	not_owned("gtest", "_ZN99999999999999999999999testing");
	not_owned("gtest", "_ZNSt6vectorIPN");
	not_owned("gtest", "");
	owned("catch2", "_ZN5Catch7Session3runEv");
	owned("doctest", "_ZN7doctest7Context3runEv");
	owned("boost", "_ZN5boost9unit_test9framework3runEmb");
	owned("boost", "_ZN5boost17execution_monitor7executeERKv");
	not_owned("boost", "_ZN5boost9unit_tes");
	not_owned("boost", "_ZN5boost10filesystem4pathC1Ev");
	owned("cpputest", "_ZN10UtestShell10runOneTestEP10TestPlugin");
	not_owned("cpputest", "_ZN21TEST_group_works_Test8testBodyEv");
	owned("check", "srunner_run_all");
	owned("check", "suite_create");
	not_owned("check", "suite_create_mine");
	not_owned("check", "check_something");
	owned("cmocka", "_assert_true");
	not_owned("cmocka", "_skip_this");
	owned("cunit", "CU_add_suite");
	owned("unity", "UnityPrint");
	not_owned("functions", "test_something");
}

static bool covered(const struct wire_callers *callers, size_t n,
		    const char *symbol)
{
	struct object_symbol found;
	if (!object_symbol(program->modules.data[0].object, symbol, &found)) {
		print_error("no symbol %s\n", symbol);
		fail();
	}
	for (size_t i = 0; i < n; i++) {
		if (found.value >= callers[i].low &&
		    found.value < callers[i].high)
			return true;
	}
	return false;
}

static size_t find(const char *framework, struct wire_callers *callers)
{
	size_t n = 0;
	if (!program)
		skip();
	assert_ok(callers_find(program, own_by_name(framework), callers, RANGES,
			       &n));
	assert_true(n > 0);
	for (size_t i = 0; i < n; i++) {
		assert_true(callers[i].low < callers[i].high);
		assert_true(!i || callers[i - 1].high <= callers[i].low);
	}
	return n;
}

static void ranges(void **state _unused_)
{
	struct wire_callers callers[RANGES];
	size_t n = find("gtest", callers);
	assert_true(covered(callers, n,
			    "_ZN7testing8internal11CmpHelperEQIiEEbRKT_S4_"));
	assert_true(covered(callers, n, "_ZN7testing8TestInfo3runEv"));
	assert_true(
		covered(callers, n, "_ZN7testing8internal13lambda_insideEi"));
	assert_true(covered(callers, n, "_start"));
	assert_false(covered(callers, n, "main"));
	assert_false(
		covered(callers, n, "_ZN7testing15Suite_Name_Test8TestBodyEv"));
	assert_false(
		covered(callers, n, "_ZN3app18Fixture_Works_Test8TestBodyEv"));
	assert_false(covered(callers, n, "_ZN3app6helperEi"));
	assert_false(
		covered(callers, n, "_ZN13testing_tools17not_the_frameworkEi"));
	assert_false(covered(callers, n, "UnityBegin"));
	size_t few = 0;
	assert_ok(
		callers_find(program, own_by_name("gtest"), callers, 1, &few));
	assert_int_equal(few, 1);
}

static void locals_of_c(void **state _unused_)
{
	struct wire_callers callers[RANGES];
	size_t n = find("unity", callers);
	assert_true(covered(callers, n, "UnityBegin"));
	assert_true(covered(callers, n, "print_number"));
	assert_true(covered(callers, n, "UnityEnd"));
	assert_false(covered(callers, n, "test_something"));
	assert_false(covered(callers, n, "helper_of_tests"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_name),
		cmocka_unit_test(ranges),
		cmocka_unit_test(locals_of_c),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
