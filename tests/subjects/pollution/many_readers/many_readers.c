// Readers of more places than there are watchpoints: tests before and after those that leave them changed, variables and
// blocks of the heap, read first or written first.
//
//@ subject framework=functions lang=c
//@ variant plain quick=gcc-O0,gcc-O2
//@ run default --budget 60s
//@ run alone --budget 60s --jobs 1

#include "../runner.h"

#include <stdlib.h>
#include <string.h>

int a, b, c, d, e, f, g, h, unread = 1;

#define USE(value) __asm__ volatile("" : : "r"(value))

struct box {
	long id;
	char *text;
} *box, *other_box;

static struct box *make(long id)
{
	struct box *made = calloc(1, sizeof(*made));
	if (!made)
		abort();
	made->id = id;
	return made;
}

// Before anything is left: of the twins, one looks first and the other one writes first.

TEST(test_01_reads_early) //@ clean test_01_reads_early
{
	USE(a + c + e + g);
}

TEST(test_02_writes_early) //@ clean test_02_writes_early
{
	a = b = c = d = e = f = g = h = 0;
	TOUCH(&a);
	USE(a + h);
}

TEST(test_03_makes_boxes) //@ pollutes test_03_makes_boxes box ... //@ pollutes test_03_makes_boxes other_box ...
{
	box = make(1);
	other_box = make(2);
}

// One after the other, so that the first of them take the watchpoints that there are.

#define LEAVES(name, variable)                                                                                         \
	TEST(name)                                                                                                     \
	{                                                                                                              \
		variable = 7;                                                                                          \
		TOUCH(&variable);                                                                                      \
	}

//@ pollutes test_04_leaves_a a a readers=test_01_reads_early,test_20_reads_late not-readers=test_02_writes_early,test_21_reads_other
LEAVES(test_04_leaves_a, a)
//@ pollutes test_05_leaves_b b b readers=test_21_reads_other not-readers=test_01_reads_early,test_02_writes_early
LEAVES(test_05_leaves_b, b)
//@ pollutes test_06_leaves_c c c readers=test_01_reads_early,test_20_reads_late not-readers=test_02_writes_early,test_21_reads_other
LEAVES(test_06_leaves_c, c)
//@ pollutes test_07_leaves_d d d readers=test_21_reads_other not-readers=test_01_reads_early,test_02_writes_early
LEAVES(test_07_leaves_d, d)
//@ pollutes test_08_leaves_e e e readers=test_01_reads_early,test_20_reads_late not-readers=test_02_writes_early,test_21_reads_other
LEAVES(test_08_leaves_e, e)
//@ pollutes test_09_leaves_f f f readers=test_21_reads_other not-readers=test_01_reads_early,test_02_writes_early
LEAVES(test_09_leaves_f, f)
//@ pollutes test_10_leaves_g g g readers=test_01_reads_early,test_20_reads_late not-readers=test_02_writes_early,test_21_reads_other
LEAVES(test_10_leaves_g, g)
//@ pollutes test_11_leaves_h h h readers=test_21_reads_other not-readers=test_01_reads_early,test_02_writes_early
LEAVES(test_11_leaves_h, h)
//@ pollutes test_12_leaves_unread unread unread severity=low not-readers=test_01_reads_early,test_20_reads_late,test_21_reads_other
LEAVES(test_12_leaves_unread, unread)

// In blocks.

TEST(test_13_leaves_box) //@ pollutes test_13_leaves_box box box->id readers=test_20_reads_late not-readers=test_21_reads_other
{
	box->id = 13;
}

//@ pollutes test_14_leaves_other other_box other_box->id readers=test_21_reads_other not-readers=test_20_reads_late
TEST(test_14_leaves_other)
{
	other_box->id = 14;
}

TEST(test_20_reads_late) //@ clean test_20_reads_late
{
	USE(a + c + e + g + (int)box->id);
}

TEST(test_21_reads_other) //@ clean test_21_reads_other
{
	USE(b + d + f + h + (int)other_box->id);
}

RUNNER_MAIN()
