// A hand-written runner that prints how many checks there were: that is not compared, and tried where nothing else makes the
// difference.
//
//@ subject framework=functions lang=c
//@ variant plain builds=gcc-O0,clang-O2 quick=gcc-O0

#include <stdio.h>
#include <stdlib.h>

static int checks;
static int theme;

#define NOINLINE __attribute__((noinline))
#define CHECK(condition) (checks++, (condition) ? (void)0 : abort())

NOINLINE void test_checks(void)
{
	CHECK(1 + 1 == 2);
	CHECK(2 + 2 == 4);
}

//@ victim test_is_first polluters=test_checks|test_theme polluted=checks
NOINLINE void test_is_first(void)
{
	if (checks > 0)
		abort();
}

NOINLINE void test_sets_theme(void)
{
	theme = 1;
	__asm__ volatile("" : : "r"(&theme) : "memory");
}

//@ victim test_theme polluters=test_sets_theme polluted=theme
NOINLINE void test_theme(void)
{
	CHECK(theme == 0);
}

int main(void)
{
	test_is_first();
	test_checks();
	test_theme();
	test_sets_theme();
	printf("%d checks\n", checks);
	return 0;
}
