// Who looks at process state that another test left.
//
//@ subject framework=functions lang=c where=process
//@ variant plain libs=-lm quick=gcc-O2

#define _GNU_SOURCE
#include "../files.h"
#include "../runner.h"

#include <locale.h>
#include <time.h>

//@ pollutes test_sets environment[SUBJECT_MODE] environment[SUBJECT_MODE] severity=high readers=test_gets not-readers=test_gets_other,test_overwrites,test_nothing
TEST(test_sets)
{
	setenv("SUBJECT_MODE", "fast", 1);
}

//@ pollutes test_unsets environment[SUBJECT_HOME] environment[SUBJECT_HOME] after=unset severity=high readers=test_gets_secure not-readers=test_gets
TEST(test_unsets)
{
	unsetenv("SUBJECT_HOME");
}

//@ pollutes test_sets_unread environment[SUBJECT_UNREAD] ... not-readers=test_gets,test_gets_other,test_nothing severity=low|medium
TEST(test_sets_unread)
{
	setenv("SUBJECT_UNREAD", "1", 1);
}

//@ pollutes test_seeds random ... readers=test_draws not-readers=test_nothing,test_seeds_again
TEST(test_seeds)
{
	srand(7);
}

//@ pollutes test_seeds48 drand48 ... readers=test_draws48 not-readers=test_nothing,test_draws
TEST(test_seeds48)
{
	srand48(7);
}

TEST(test_gets) //@ clean test_gets
{
	(void)!getenv("SUBJECT_MODE");
}

TEST(test_gets_secure) //@ clean test_gets_secure
{
	(void)!secure_getenv("SUBJECT_HOME");
}

TEST(test_gets_other) //@ clean test_gets_other
{
	(void)!getenv("SUBJECT_OTHER");
	(void)!getenv("SUBJECT_MOD");
}

TEST(test_overwrites) //@ clean test_overwrites
{
	setenv("SUBJECT_MODE", "fast", 1);
	(void)!getenv("SUBJECT_MODE");
}

// Drawing changes the state, too.
TEST(test_draws) //@ pollutes test_draws random ... effect=accumulates
{
	volatile int number = rand();
	(void)number;
}

TEST(test_draws48) //@ pollutes test_draws48 drand48 ... effect=accumulates
{
	volatile double number = drand48();
	(void)number;
}

TEST(test_seeds_again) //@ pollutes test_seeds_again random ... effect=settles
{
	srand(8);
	volatile int number = rand();
	(void)number;
}

TEST(test_nothing) //@ clean test_nothing
{
}

int main(void)
{
	setenv("SUBJECT_HOME", "/", 1);
	return runner_main();
}
