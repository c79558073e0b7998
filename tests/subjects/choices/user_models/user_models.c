// Functions of the program's own that leave something open, as polygraph.toml and --model say.
//
//@ subject framework=functions lang=c
//@ variant plain quick=gcc-O0,clang-O2
//@ run options --config none.toml --model "function=find_numbers; kind=permute; array=return; length=*arg1; element-size=4" partial=yes status=1
//@ run every --systematic --api list_names quick=no
//@ space test_names_in_order nodes=1 leaves=6 failing=5 probability=5/6 exhausted=yes in=every

#include "../runner.h"

#include <stdlib.h>
#include <string.h>

// "permute", up to a null pointer.
NOINLINE const char **list_names(void)
{
	static const char *names[4];
	names[0] = "a";
	names[1] = "b";
	names[2] = "c";
	names[3] = NULL;
	TOUCH(names);
	return names;
}

// "permute", with the length in what an argument points to.
NOINLINE int *find_numbers(size_t *n)
{
	static int numbers[5];
	for (int i = 0; i < 5; i++)
		numbers[i] = i;
	*n = 5;
	TOUCH(numbers);
	return numbers;
}

// "permute", of an argument; the result says how many.
NOINLINE int collect(int *into, int most)
{
	int n = most < 3 ? most : 3;
	for (int i = 0; i < n; i++)
		into[i] = 10 + i;
	TOUCH(into);
	return n;
}

// "random": anything from 1 to 6.
NOINLINE int roll(void)
{
	int pips = 3;
	TOUCH(&pips);
	return pips;
}

// "short": how much of it was taken.
NOINLINE int take(int n)
{
	TOUCH(&n);
	return n;
}

TEST(test_names_in_order)
{
	const char **names = list_names(); //@ assumption test_names_in_order api=list_names in=default,every level=one|full
	assert(!strcmp(names[0], "a") && !strcmp(names[1], "b"));
}

TEST(test_names_as_a_set)
{
	const char **names = list_names();
	int seen = 0;
	for (; *names; names++)
		seen |= 1 << (**names - 'a');
	assert(seen == 7);
}

TEST(test_numbers_in_order)
{
	size_t n;
	int *numbers = find_numbers(&n); //@ assumption test_numbers_in_order api=find_numbers in=default,options
	assert(n == 5 && numbers[0] == 0 && numbers[4] == 4);
}

TEST(test_numbers_summed)
{
	size_t n;
	int *numbers = find_numbers(&n), sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += numbers[i];
	assert(n == 5 && sum == 10);
}

TEST(test_collected_in_order)
{
	int numbers[4];
	int n = collect(numbers, 4); //@ assumption test_collected_in_order api=collect in=default
	assert(n == 3 && numbers[0] == 10 && numbers[1] == 11);
}

TEST(test_collected)
{
	int numbers[4];
	int n = collect(numbers, 4);
	assert(n == 3 && numbers[0] + numbers[1] + numbers[2] == 33);
}

TEST(test_rolls_three)
{
	int pips = roll(); //@ assumption test_rolls_three api=roll in=default
	assert(pips == 3);
}

TEST(test_rolls_a_die)
{
	int pips = roll();
	assert(pips >= 1 && pips <= 6);
}

TEST(test_takes_all)
{
	int n = take(100); //@ assumption test_takes_all api=take level=one|eq|id|full in=default
	assert(n == 100);
}

TEST(test_takes_some)
{
	int left = 100;
	while (left) {
		int n = take(left);
		assert(n >= 1 && n <= left);
		left -= n;
	}
}

RUNNER_MAIN()
