// A process that makes itself undumpable: an ordinary user can no longer open its files in /proc.
//
//@ subject framework=functions lang=c where=process
//@ variant plain quick=gcc-O0

#include "../files.h"
#include "../runner.h"

#include <sys/prctl.h>

TEST(test_undumpable_and_back) //@ clean test_undumpable_and_back
{
	prctl(PR_SET_DUMPABLE, 0);
	prctl(PR_SET_DUMPABLE, 1);
}

TEST(test_undumpable) //@ pollutes test_undumpable dumpable ... if=root //@ pollutes test_undumpable dumpable ... may=yes if=user
{
	prctl(PR_SET_DUMPABLE, 0);
}

// What comes after it is still looked at.
TEST(test_variable) //@ pollutes test_variable environment[LEFT] ... if=root //@ pollutes test_variable environment[LEFT] ... may=yes if=user
{
	setenv("LEFT", "1", 1);
}

TEST(test_nothing) //@ clean test_nothing
{
}

int main(void)
{
	return runner_main();
}
