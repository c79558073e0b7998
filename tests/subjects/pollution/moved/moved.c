// What leads to an object changes while the object stays: whoever shares it, moves its holder or lets it grow.
//
//@ subject framework=functions lang=c
//@ variant plain quick=gcc-O0,clang-O2
//@ variant dwarf4 cflags="-gdwarf-4" builds=gcc-O2,clang-O0

#include "../runner.h"

#include <stdlib.h>
#include <string.h>

static NOINLINE void *checked(void *memory)
{
	if (!memory)
		abort();
	return memory;
}

// Two roots share an object; what is below it has one edge only.

struct inner {
	int value;
	struct inner *next;
};

struct outer {
	struct inner *in;
	int number;
};

struct outer *first, *second;

TEST(test_left_by_one) //@ pollutes test_left_by_one first first after=NULL
//@ pollutes test_left_by_one second second->in->value before=0 after=7
{
	first = NULL;
	second->in->value = 7;
}

TEST(test_below_what_was_left) //@ pollutes test_below_what_was_left second second->in->next->value before=0 after=1
{
	second->in->next->value++;
}

TEST(test_comes_back) //@ pollutes test_comes_back first ...
{
	first = second;
}

TEST(test_left_by_the_other) //@ pollutes test_left_by_the_other second second after=NULL
{
	second = NULL;
}

TEST(test_below_after_that) //@ pollutes test_below_after_that first first->in->next->value before=1 after=2
{
	first->in->next->value++;
}

TEST(test_below_restored) //@ clean test_below_restored
{
	int value = first->in->next->value;
	first->in->next->value = -1;
	TOUCH(first);
	first->in->next->value = value;
}

// A holder is moved, with what it leads to.

struct slot {
	char name[8];
	struct inner *in;
};

struct slot *slots;

static NOINLINE void move_slots(void)
{
	struct slot *fresh = checked(malloc(4 * sizeof(*slots)));
	memcpy(fresh, slots, 4 * sizeof(*slots));
	free(slots);
	slots = fresh;
}

TEST(test_holder_moved) //@ clean test_holder_moved
{
	move_slots();
}

TEST(test_holder_moved_and_changed) //@ pollutes test_holder_moved_and_changed slots slots[2].in->value before=2 after=20
{
	move_slots();
	slots[2].in->value = 20;
}

TEST(test_changed_deeply_after_move) //@ pollutes test_changed_deeply_after_move slots slots[3].in->next->value before=0 after=5
{
	slots[3].in->next->value = 5;
}

TEST(test_holder_moved_and_changed_deeply) //@ pollutes test_holder_moved_and_changed_deeply slots slots[1].in->next->value before=0 after=6
{
	move_slots();
	slots[1].in->next->value = 6;
}

// Blocks that grow where they are.

int *table;
int *small;

TEST(test_grown_in_place) //@ clean test_grown_in_place
{
	table = checked(realloc(table, 1000 * sizeof(*table)));
	memset(table + 8, 0, 992 * sizeof(*table));
}

TEST(test_beyond_the_old_end) //@ pollutes test_beyond_the_old_end table table[500] before=0 after=1
{
	table[500]++;
}

TEST(test_grown_by_one) //@ clean test_grown_by_one
{
	small = checked(realloc(small, 6 * sizeof(*small)));
	small[5] = 9;
}

TEST(test_beyond_by_one) //@ pollutes test_beyond_by_one small small[5] before=9 after=10
{
	small[5]++;
}

// A long list, copied node by node: each copy lies where the node before it was.

struct link {
	int value;
	struct link *next;
};

struct link *chain;

static NOINLINE void copy_chain(void)
{
	struct link *copy = NULL, **end = &copy;
	while (chain) {
		struct link *old = chain, *fresh = checked(malloc(sizeof(*fresh)));
		*fresh = *old;
		chain = old->next;
		free(old);
		*end = fresh;
		end = &fresh->next;
	}
	*end = NULL;
	chain = copy;
}

static NOINLINE void turn_chain(void)
{
	struct link *turned = NULL;
	while (chain) {
		struct link *link = chain;
		chain = link->next;
		link->next = turned;
		turned = link;
	}
	chain = turned;
}

TEST(test_chain_copied) //@ clean test_chain_copied
{
	copy_chain();
}

TEST(test_chain_turned_twice) //@ clean test_chain_turned_twice
{
	turn_chain();
	TOUCH(chain);
	turn_chain();
}

TEST(test_chain_turned) //@ pollutes test_chain_turned chain ...
{
	turn_chain();
}

TEST(test_chain_after_turn) //@ pollutes test_chain_after_turn chain chain->next->next->value
{
	chain->next->next->value = -5;
}

// One block after another at the same place, of the same size, as something else.

struct number {
	long value, unused;
};

struct fraction {
	double value;
	int unit, digits;
};

struct number *number;
struct fraction *fraction;

static NOINLINE struct number *make_number(long value)
{
	struct number *fresh = checked(calloc(1, sizeof(*fresh)));
	fresh->value = value;
	return fresh;
}

static NOINLINE struct fraction *make_fraction(int digits)
{
	struct fraction *fresh = checked(calloc(1, sizeof(*fresh)));
	fresh->digits = digits;
	return fresh;
}

TEST(test_places_exchanged) //@ clean test_places_exchanged
{
	free(fraction);
	free(number);
	fraction = make_fraction(2);
	number = make_number(1);
}

TEST(test_after_exchange) //@ pollutes test_after_exchange fraction fraction->digits before=2 after=3
{
	fraction->digits++;
}

// Nearly empty.

struct entry {
	void *what;
	long number;
};

struct entry *sparse;

TEST(test_sparse) //@ pollutes test_sparse sparse sparse[15000000].number before=0 after=3
{
	sparse[15000000].number = 3;
}

int main(void)
{
	first = second = checked(calloc(1, sizeof(*first)));
	first->in = checked(calloc(1, sizeof(*first->in)));
	first->in->next = checked(calloc(1, sizeof(*first->in)));
	slots = checked(calloc(4, sizeof(*slots)));
	for (int i = 0; i < 4; i++) {
		slots[i].in = checked(calloc(1, sizeof(*slots[i].in)));
		slots[i].in->value = i;
		slots[i].in->next = checked(calloc(1, sizeof(*slots[i].in)));
	}
	for (int i = 0; i < 300; i++) {
		struct link *link = checked(malloc(sizeof(*link)));
		*link = (struct link){ i, chain };
		chain = link;
	}
	number = make_number(1);
	fraction = make_fraction(2);
	sparse = checked(calloc(1 << 24, sizeof(*sparse)));
	small = checked(calloc(5, sizeof(*small)));
	table = checked(calloc(8, sizeof(*table)));
	return runner_main();
}
