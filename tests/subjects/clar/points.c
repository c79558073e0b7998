//@ points 2020 count=5 uses=points-2020
//@ points 2024 count=5 uses=points-2024
#include "clar.h"

#include "note.h"

void test_plain__one(void) { note("body"); }

void test_before__initialize(void) { note("setup"); }
void test_before__setup_only_one(void) { note("body"); }

void test_after__cleanup(void) { note("teardown"); }
void test_after__teardown_only_one(void) { note("body"); }

void test_with__initialize(void) { note("setup"); }
void test_with__cleanup(void) { note("teardown"); }
void test_with__fails(void)
{
	note("body");
	cl_fail("it fails");
}
void test_with__one(void) { note("body"); }

int main(int argc, char **argv)
{
	return clar_test(argc, argv);
}
