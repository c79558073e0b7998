// What is initialised when it is first needed, without and with --eager, which initialises statics before the first test.
//
//@ subject framework=functions lang=c++
//@ variant plain libs="-ldl" plugins=late.cc sources=eager.cc quick=gcc-O2,clang-O0
//@ run eager --eager

#include "../runner.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

struct Log {
	std::vector<std::string> lines;
	int written = 0;
	Log()
	{
		lines.push_back("the first line, written when it is made");
	}
};

NOINLINE Log &the_log()
{
	static Log log;
	return log;
}

NOINLINE int &ordinary()
{
	static int value = 3; // needs no guard: a constant
	return value;
}

TEST(test_makes_log) //@ clean test_makes_log //@ first test_makes_log the_log::log in=default
{
	TOUCH(&the_log());
}

NOINLINE Log &second_log()
{
	static Log log;
	return log;
}

TEST(test_makes_and_changes) //@ pollutes test_makes_and_changes second_log::log ...written before=0|... effect=accumulates
{
	second_log().written++;
}

TEST(test_changes_log) //@ pollutes test_changes_log the_log::log ...written effect=accumulates
{
	the_log().written++;
}

TEST(test_changes_constant) //@ pollutes test_changes_constant ordinary::value ... effect=accumulates
{
	ordinary() += 2;
}

// Once it is settled, a second run changes nothing.
char *lazy;

TEST(test_lazy) //@ pollutes test_lazy lazy ... effect=settles
{
	if (!lazy)
		lazy = strdup("made by hand");
	TOUCH(lazy);
}

// Only functions that give access are called beforehand: this one would end the program, and that one count.
NOINLINE Log &never_comes_back()
{
	static Log log;
	abort();
	return log;
}

static int calls;

NOINLINE int next_number()
{
	static Log log;
	calls++;
	return log.written;
}

TEST(test_numbers) //@ pollutes test_numbers calls calls before=0 after=1 effect=accumulates //@ first test_numbers next_number::log
{
	TOUCH((void *)(size_t)never_comes_back);
	volatile int number = next_number();
	(void)number;
}

static int (*late_call)();

static void load()
{
	char path[4096];
	Dl_info info;
	if (!dladdr((void *)(size_t)test_lazy, &info))
		abort();
	snprintf(path, sizeof(path), "%s", info.dli_fname);
	char *slash = strrchr(path, '/');
	snprintf(slash ? slash + 1 : path, 32, "liblate.so");
	void *handle = dlopen(path, RTLD_NOW);
	if (!handle)
		abort();
	late_call = (int (*)())(size_t)dlsym(handle, "late_call");
}

// Loads a library and changes it at once.
TEST(test_library) //@ pollutes test_library late_call ... effect=settles //@ first test_library late_state
{
	if (!late_call)
		load();
	late_call();
}

TEST(test_leaves_alone) //@ clean test_leaves_alone
{
	volatile int value = ordinary() + the_log().written;
	(void)value;
}

RUNNER_MAIN()
