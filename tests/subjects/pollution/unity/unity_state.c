// Unity: what is the framework's own is left out, and said; variables of the project are not, whatever their names and the
// folder that they are in.
//
//@ subject framework=unity lang=c packages="dpkg-dev"
//@ variant static uses=unity builds=gcc-O0,clang-O2 quick=gcc-O0
//@ variant shared uses=unity-shared builds=gcc-O0,gcc-O2 quick=no
//@ says "of Unity"

#include "unity.h"

int UnityAssets;
static int Unity_level;
int global_counter;

void setUp(void)
{
}

void tearDown(void)
{
}

static void test_assets(void) //@ pollutes test_assets UnityAssets UnityAssets before=0 after=1
{
	UnityAssets++;
}

static void test_level(void) //@ pollutes test_level Unity_level Unity_level
{
	Unity_level++;
	__asm__ volatile("" : : "r"(&Unity_level) : "memory");
}

static void test_global(void) //@ pollutes test_global global_counter global_counter
{
	global_counter++;
}

static void test_asserts(void) //@ clean test_asserts
{
	TEST_ASSERT_EQUAL_INT(4, 2 + 2);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(test_assets);
	RUN_TEST(test_level);
	RUN_TEST(test_global);
	RUN_TEST(test_asserts);
	return UNITY_END();
}
