// Tests that put back what earlier ones left: what they do depends on the others, and they are no polluters.
//
//@ subject framework=functions lang=c
//@ variant plain quick=gcc-O0,gcc-O2

#include "../runner.h"

#include <stdlib.h>
#include <string.h>

int level = 1;

TEST(test_sets_level) //@ pollutes test_sets_level level level before=1 after=3
{
	level = 3;
	TOUCH(&level);
}

TEST(test_resets_level) //@ clean test_resets_level
{
	level = 1;
	TOUCH(&level);
}

// The twins: to another value; and to one that was there meanwhile, but not at first.

TEST(test_sets_level_again) //@ pollutes test_sets_level_again level level before=1 after=2
{
	level = 2;
	TOUCH(&level);
}

TEST(test_sets_level_to_three) //@ pollutes test_sets_level_to_three level level before=2 after=3
{
	level = 3;
	TOUCH(&level);
}

// On the heap: a list that is emptied again.

struct entry {
	int id;
	struct entry *next;
} *entries;

static NOINLINE void add(int id)
{
	struct entry *entry = calloc(1, sizeof(*entry));
	if (!entry)
		abort();
	entry->id = id;
	entry->next = entries;
	entries = entry;
}

TEST(test_adds_entries) //@ pollutes test_adds_entries entries ... effect=accumulates
{
	add(1);
	add(2);
}

TEST(test_removes_entries) //@ clean test_removes_entries
{
	while (entries) {
		struct entry *next = entries->next;
		free(entries);
		entries = next;
	}
}

// The twin: some are left.

TEST(test_adds_more_entries) //@ pollutes test_adds_more_entries entries ... effect=accumulates
{
	add(3);
	add(4);
}

TEST(test_removes_one_entry) //@ pollutes test_removes_one_entry entries ...
{
	struct entry *next = entries->next;
	free(entries);
	entries = next;
}

// Many places at once.

int board[100];

TEST(test_fills_board) //@ pollutes test_fills_board board board[0] before=0 after=1
{
	for (int i = 0; i < 100; i++)
		board[i] = i + 1;
	TOUCH(board);
}

TEST(test_clears_board) //@ clean test_clears_board
{
	memset(board, 0, sizeof(board));
	TOUCH(board);
}

// The twin: all but one, which is not among the first.

TEST(test_fills_board_again) //@ pollutes test_fills_board_again board board[0] before=0 after=1
{
	for (int i = 0; i < 100; i++)
		board[i] = i + 1;
	TOUCH(board);
}

TEST(test_clears_most_of_board) //@ pollutes test_clears_most_of_board board board[0] before=1 after=0
{
	memset(board, 0, sizeof(board));
	board[70] = 5;
	TOUCH(board);
}

// What others left stays, and this test's part is back.

struct {
	int colour, width;
} style;

TEST(test_sets_style) //@ pollutes test_sets_style style style.colour before=0 after=4
{
	style.colour = 4;
	style.width = 7;
	TOUCH(&style);
}

TEST(test_resets_colour) //@ clean test_resets_colour
{
	style.colour = 0;
	TOUCH(&style);
}

RUNNER_MAIN()
