// cmocka: tests that disturb another one only together, and only one after the other.
//
//@ subject framework=cmocka lang=c header=cmocka.h
//@ variant plain libs="-lcmocka" quick=gcc-O0,clang-O2
//@ run all-pairs --all-pairs --any-order quick=no

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static int stage, armed;       // two together
static int depth;	       // three together
static int opened, locked;     // two together, in natural order only backwards
static int unrelated;

static void innocent(void **state)
{
	(void)state;
	assert_int_equal(2 + 2, 4);
}

static void unlocked(void **state) //@ victim g/unlocked polluters=g/opens,g/locks polluted=locked
//@ order pass g/locks g/opens g/unlocked
//@ cleaned g/unlocked after=g/opens,g/locks by=none
{
	(void)state;
	assert_int_equal(locked, 0);
}

static void locks(void **state)
{
	(void)state;
	if (opened)
		locked = 1;
}

static void opens(void **state)
{
	(void)state;
	opened = 1;
}

static void stages(void **state)
{
	(void)state;
	stage = 1;
}

static void counts(void **state)
{
	(void)state;
	unrelated++;
}

static void arms(void **state)
{
	(void)state;
	if (stage)
		armed = 1;
}

static void dives(void **state)
{
	(void)state;
	if (depth == 0)
		depth = 1;
}

static void dives_deeper(void **state)
{
	(void)state;
	if (depth == 1)
		depth = 2;
}

static void dives_deepest(void **state)
{
	(void)state;
	if (depth == 2)
		depth = 3;
}

static void unarmed(void **state) //@ victim g/unarmed polluters=g/stages,g/arms polluted=armed
//@ order pass g/arms g/stages g/unarmed
//@ cleaned g/unarmed after=g/stages,g/arms by=g/disarms
{
	(void)state;
	assert_int_equal(armed, 0);
}

static void not_so_deep(void **state) //@ victim g/not_so_deep polluters=g/dives,g/dives_deeper,g/dives_deepest polluted=depth
//@ order pass g/dives_deeper g/dives g/dives_deepest g/not_so_deep
//@ order pass g/dives g/dives_deepest g/dives_deeper g/not_so_deep
{
	(void)state;
	assert_true(depth < 3);
}

static void disarms(void **state)
{
	(void)state;
	armed = 0;
}

int main(void)
{
	const struct CMUnitTest g[] = {
		cmocka_unit_test(innocent), cmocka_unit_test(unlocked),	    cmocka_unit_test(locks),
		cmocka_unit_test(opens),    cmocka_unit_test(stages),	    cmocka_unit_test(counts),
		cmocka_unit_test(arms),	    cmocka_unit_test(dives),	    cmocka_unit_test(dives_deeper),
		cmocka_unit_test(unarmed),  cmocka_unit_test(dives_deepest), cmocka_unit_test(not_so_deep),
		cmocka_unit_test(disarms),
	};
	return cmocka_run_group_tests(g, NULL, NULL);
}
