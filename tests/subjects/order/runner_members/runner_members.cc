// Tests that are member functions, of several objects: each gets its own object, wherever it runs.
//
//@ subject framework=functions lang=c++
//@ variant plain quick=gcc-O0,clang-O2

#include <cassert>
#include <cstdio>
#include <string>

#include "../runner.h"

#define FUNCTION __attribute__((noinline, noclone))

static int level, late;

class Account {
	std::string owner;
	int balance;

public:
	Account(const char *owner, int balance) : owner(owner), balance(balance)
	{
	}
	FUNCTION void test_late_is_zero() //@ victim Account::test_late_is_zero polluters=Account::test_comes_late
	{
		assert(owner == "first" && !late);
	}
	FUNCTION void test_balance(int expected)
	{
		assert(balance == expected);
		TOUCH(this);
	}
	FUNCTION void test_raises_level()
	{
		assert(owner == "second");
		level = 2;
		TOUCH(&level);
	}
	FUNCTION void test_level_is_zero() //@ victim Account::test_level_is_zero polluters=Account::test_raises_level
	{
		assert(owner == "first" && !level);
	}
	FUNCTION void test_comes_late()
	{
		assert(owner == "second");
		late = 1;
	}
};

static Account first("first", 10);

int main()
{
	Account second("second", 20);
	first.test_late_is_zero();
	first.test_balance(10);
	second.test_balance(20);
	first.test_level_is_zero();
	second.test_raises_level();
	second.test_comes_late();
	std::puts("done");
	return 0;
}
