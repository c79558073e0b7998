// What a test is the first to use: what it leaves in it counts, what making it alone leaves does not.
//
//@ subject framework=functions lang=c++
//@ variant plain libs="-lpthread" quick=gcc-O0,gcc-O2
//@ variant static flags="-static" libs="-lpthread" quick=no

#include "../runner.h"

#include <pthread.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

struct Settings {
	int level = 1;
	std::string mode = "usual";
	std::vector<int> history;
	Settings()
	{
		history.push_back(1);
	}
};

#define STATIC(name, variable)                                                                                                    \
	NOINLINE Settings &name()                                                                                       \
	{                                                                                                               \
		static Settings variable;                                                                               \
		return variable;                                                                                        \
	}

// ---- C++ statics, whose guard is released ----

STATIC(only_made, settings)

TEST(test_makes) //@ clean test_makes //@ first test_makes only_made::settings
{
	TOUCH(&only_made());
}

STATIC(made_and_set, settings)

TEST(test_makes_and_sets) //@ pollutes test_makes_and_sets made_and_set::settings made_and_set::settings.level before=1 after=7 effect=settles severity=high readers=test_reads_set
{
	made_and_set().level = 7;
}

TEST(test_reads_set) //@ clean test_reads_set
{
	volatile int level = made_and_set().level;
	(void)level;
}

// Nobody reads it: as for any other variable.
STATIC(set_for_nobody, settings)

TEST(test_sets_for_nobody) //@ pollutes test_sets_for_nobody set_for_nobody::settings ...mode before=...usual... after=...other... effect=settles severity=low
{
	set_for_nobody().mode = "other";
}

STATIC(made_and_grown, settings)

TEST(test_makes_and_grows) //@ pollutes test_makes_and_grows made_and_grown::settings ...history... effect=accumulates
{
	made_and_grown().history.push_back(2);
}

STATIC(made_and_restored, settings)

TEST(test_makes_and_restores) //@ clean test_makes_and_restores //@ first test_makes_and_restores made_and_restored::settings
{
	Settings &settings = made_and_restored();
	settings.level = 9;
	settings.history.push_back(3);
	TOUCH(&settings);
	settings.level = 1;
	settings.history.pop_back();
}

// One that needs another.
struct Outer {
	Settings *inner;
	int uses = 0;
};

STATIC(inner, settings)

NOINLINE Outer &outer()
{
	static Outer *made = new Outer{ &inner() };
	return *made;
}

TEST(test_makes_two) //@ clean test_makes_two //@ first test_makes_two inner::settings //@ first test_makes_two outer::made
{
	TOUCH(&outer());
}

STATIC(second_inner, settings)

NOINLINE Outer &second_outer()
{
	static std::unique_ptr<Outer> made(new Outer{ &second_inner() });
	return *made;
}

TEST(test_makes_two_and_uses) //@ pollutes test_makes_two_and_uses second_outer::made ...uses before=0 after=1 effect=accumulates //@ first test_makes_two_and_uses second_inner::settings
{
	second_outer().uses++;
}

// The constructor left 0 in it before the test began, and the test puts that back.
NOINLINE int &number(int initial)
{
	static int value = initial;
	return value;
}

TEST(test_makes_and_clears) //@ pollutes test_makes_and_clears number::value number::value before=5 after=0 effect=settles
{
	volatile int five = 5;
	number(five) = 0;
}

// Another thread makes it.
STATIC(made_elsewhere, settings)

TEST(test_thread_makes) //@ clean test_thread_makes //@ first test_thread_makes made_elsewhere::settings
{
	std::thread([] { TOUCH(&made_elsewhere()); }).join();
}

STATIC(set_elsewhere, settings)

TEST(test_thread_sets) //@ pollutes test_thread_sets set_elsewhere::settings ...level before=1 after=4 effect=settles
{
	std::thread([] { set_elsewhere().level = 4; }).join();
}

// ---- made once ----

static std::once_flag made_once;
static Settings *once;

NOINLINE Settings &get_once()
{
	std::call_once(made_once, [] { once = new Settings; });
	return *once;
}

TEST(test_once) //@ clean test_once //@ first test_once once
{
	TOUCH(&get_once());
}

static std::once_flag set_made_once;
static Settings *set_once;

NOINLINE Settings &get_set_once()
{
	std::call_once(set_made_once, [] { set_once = new Settings; });
	return *set_once;
}

TEST(test_once_sets) //@ pollutes test_once_sets set_once set_once->level before=1 after=3 effect=settles severity=high readers=test_once_reads
{
	get_set_once().level = 3;
}

TEST(test_once_reads) //@ clean test_once_reads
{
	volatile int level = get_set_once().level;
	(void)level;
}

static pthread_once_t plain_control = PTHREAD_ONCE_INIT;
static int plain_table[4];

static void plain_fill()
{
	for (int i = 0; i < 4; i++)
		plain_table[i] = i * i + 1;
}

TEST(test_plain_once) //@ clean test_plain_once //@ first test_plain_once plain_table
{
	pthread_once(&plain_control, plain_fill);
	TOUCH(plain_table);
}

static pthread_once_t counted_control = PTHREAD_ONCE_INIT;
static struct {
	int calls;
	int limit;
} counted;

static void counted_fill()
{
	counted.limit = 10;
}

TEST(test_plain_once_counts) //@ pollutes test_plain_once_counts counted counted.calls before=0 after=1 effect=accumulates
{
	pthread_once(&counted_control, counted_fill);
	counted.calls++;
	TOUCH(&counted);
}

// Written before it is made: all of that is the test's.
static pthread_once_t late_control = PTHREAD_ONCE_INIT;
static struct {
	int calls;
	int limit;
} late;

static void late_fill()
{
	late.limit = 10;
}

TEST(test_writes_before_once) //@ pollutes test_writes_before_once late late.calls before=0 after=1
{
	late.calls++;
	TOUCH(&late);
	pthread_once(&late_control, late_fill);
	TOUCH(&late);
}

RUNNER_MAIN()
