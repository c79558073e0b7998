// Pointers that lie: to what was freed, to nowhere, into stacks that are gone, with bits of their own. Nothing here may
// crash the tool, keep it busy for ever, or make it report a test that changes nothing.
//
//@ subject framework=functions lang=c
//@ variant plain quick=gcc-O0,clang-O2
//@ variant asan cflags="-fsanitize=address" libs="-fsanitize=address" builds=gcc-O0,clang-O2
//@ variant static libs="-static" builds=gcc-O2 quick=gcc-O2

#define _GNU_SOURCE
#include "../runner.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static NOINLINE void *checked(void *memory)
{
	if (!memory)
		abort();
	return memory;
}

struct node {
	long value;
	struct node *next;
	char *name;
};

struct node *dangling;		// freed before the first test
struct node *nowhere;		// not mapped
struct node *misaligned;	// odd
struct node *all_ones;		// as MAP_FAILED
struct node *into_code;		// a function
struct node *into_stack;	// of a function that returned
struct node *to_main;		// of a function that is still there
struct node *behind_mapping;	// the last bytes of a mapping, where a struct does not fit
struct node *no_access;		// PROT_NONE
struct node *kernel;		// a non-canonical address
char *endless;			// a page full of letters with nothing behind
struct node **wild_table;	// pointers of all these kinds
int unrelated;

static NOINLINE void scribble(void)
{
	volatile char stack[2000];
	for (unsigned i = 0; i < sizeof(stack); i++)
		stack[i] = (char)(i * 7);
}

static NOINLINE void churn(void)
{
	void *blocks[50];
	for (int i = 0; i < 50; i++) {
		blocks[i] = checked(malloc(sizeof(struct node)));
		memset(blocks[i], i, sizeof(struct node));
	}
	TOUCH(blocks);
	for (int i = 0; i < 50; i++)
		free(blocks[i]);
}

TEST(test_nothing_with_wild_pointers) //@ clean test_nothing_with_wild_pointers
{
}

// What was freed is nobody's, whatever is written there now.
TEST(test_freed_memory_is_written) //@ clean test_freed_memory_is_written
{
	churn();
}

TEST(test_stack_is_written) //@ clean test_stack_is_written
{
	scribble();
}

TEST(test_something_else_changes) //@ pollutes test_something_else_changes unrelated unrelated before=0 after=1
{
	churn();
	scribble();
	unrelated++;
}

TEST(test_wild_pointers_exchanged) //@ pollutes test_wild_pointers_exchanged nowhere ...
{
	nowhere = (struct node *)0x123456000;
}

TEST(test_wild_pointer_put_back) //@ clean test_wild_pointer_put_back
{
	struct node *saved = nowhere;
	nowhere = (struct node *)(uintptr_t)0xdeadbeefdeadbeef;
	TOUCH(&nowhere);
	nowhere = saved;
}

TEST(test_null_becomes_wild) //@ pollutes test_null_becomes_wild wild_table wild_table[8] before=NULL|0x0|0|nullptr
{
	wild_table[8] = (struct node *)0x10;
}

struct node *will_dangle;

TEST(test_pointer_begins_to_dangle) //@ pollutes test_pointer_begins_to_dangle will_dangle ...
{
	free(will_dangle);
}

TEST(test_pointer_goes_on_dangling) //@ clean test_pointer_goes_on_dangling
{
	churn();
}

// Uninitialised members, as malloc leaves them: garbage that looks like pointers. The values stay, so nothing changed.
struct node *half_made;

TEST(test_uninitialised_members) //@ clean test_uninitialised_members
{
	churn();
	half_made->value = 1;
}

// Pointers with bits of their own.
uintptr_t tagged;
struct node *tagged_pointer;

TEST(test_tagged_pointer_rests) //@ clean test_tagged_pointer_rests
{
	churn();
}

TEST(test_tag_changes) //@ pollutes test_tag_changes tagged_pointer ...
{
	tagged_pointer = (struct node *)((uintptr_t)tagged_pointer ^ 2);
}

TEST(test_number_changes) //@ pollutes test_number_changes tagged tagged
{
	tagged ^= 1;
}

// A list whose links are the exclusive or of two addresses: only numbers.
struct xor_node {
	long value;
	uintptr_t both;
};

struct xor_node *xor_list;

TEST(test_xor_list_rests) //@ clean test_xor_list_rests
{
	churn();
}

TEST(test_xor_list_first) //@ pollutes test_xor_list_first xor_list xor_list->value before=0 after=10
{
	xor_list->value = 10;
}

// Lengths and pairs of pointers that make no sense.
struct span {
	char *begin, *end;
	size_t length;
} span = { (char *)0x7000, (char *)0x6000, SIZE_MAX };

TEST(test_senseless_span_rests) //@ clean test_senseless_span_rests
{
	TOUCH(&span);
}

TEST(test_senseless_span_changes) //@ pollutes test_senseless_span_changes span span.length
{
	span.length--;
}

// A flexible array whose length says more than there is.
struct counted {
	uint64_t count;
	struct node *nodes[];
} *counted;

TEST(test_wrong_count_rests) //@ clean test_wrong_count_rests
{
	churn();
}

TEST(test_wrong_count_changes) //@ pollutes test_wrong_count_changes counted counted->count
{
	counted->count /= 2;
}

// A union whose members disagree on what is a pointer.
union either {
	struct node *node;
	double number;
	uint64_t bits;
} either;

TEST(test_union_number_changes) //@ pollutes test_union_number_changes either either...
{
	either.number = 3.25;
}

TEST(test_union_rests) //@ clean test_union_rests
{
	churn();
}

// Strings without an end.
TEST(test_endless_string_rests) //@ clean test_endless_string_rests
{
	TOUCH(endless);
}

TEST(test_endless_string_changes) //@ pollutes test_endless_string_changes endless ...
{
	endless[3] = '!';
}

// A pointer that points to itself, one that points to its own middle, a list that ends in the program's own code.
void *self = &self;
void *middle = (char *)&middle + 3;

TEST(test_self_pointers_rest) //@ clean test_self_pointers_rest
{
	TOUCH(&self);
	TOUCH(&middle);
}

TEST(test_self_pointer_changes) //@ pollutes test_self_pointer_changes self ...
{
	self = &middle;
}

static NOINLINE struct node *address_of_local(void)
{
	struct node local = { 1, NULL, NULL };
	uintptr_t address = (uintptr_t)&local;
	TOUCH(&address);
	return (struct node *)address;
}

int main(void)
{
	struct node mine = { 5, NULL, NULL };
	long page = 4096;

	nowhere = (struct node *)0x100000000;
	misaligned = (struct node *)((uintptr_t)&mine + 1);
	all_ones = (struct node *)-1;
	into_code = (struct node *)(uintptr_t)churn;
	into_stack = address_of_local();
	to_main = &mine;
	kernel = (struct node *)0xffff888012345678;

	char *two = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (two == MAP_FAILED || munmap(two + page, page))
		abort();
	behind_mapping = (struct node *)(two + page - 8);
	memset(two, 'e', page);
	endless = two;
	no_access = mmap(NULL, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	half_made = checked(malloc(sizeof(*half_made)));
	memset(half_made, 0x41, sizeof(*half_made));
	half_made->value = 1;
	dangling = checked(malloc(sizeof(*dangling)));
	uintptr_t gone = (uintptr_t)dangling;
	free(dangling);
	TOUCH(&gone);
	dangling = (struct node *)gone;

	wild_table = checked(calloc(9, sizeof(*wild_table)));
	struct node *kinds[] = { dangling, nowhere, misaligned, all_ones, into_code, into_stack, no_access, kernel };
	memcpy(wild_table, kinds, sizeof(kinds));

	will_dangle = checked(calloc(1, sizeof(*will_dangle)));
	tagged_pointer = checked(calloc(1, sizeof(*tagged_pointer)));
	tagged = (uintptr_t)tagged_pointer | 1;
	tagged_pointer = (struct node *)((uintptr_t)tagged_pointer | 1);

	struct xor_node *before = NULL, *node = NULL;
	for (int i = 9; i >= 0; i--) {
		struct xor_node *fresh = checked(calloc(1, sizeof(*fresh)));
		fresh->value = i;
		if (node)
			node->both ^= (uintptr_t)fresh;
		fresh->both = (uintptr_t)node;
		before = node;
		node = fresh;
	}
	TOUCH(before);
	xor_list = node;

	counted = checked(calloc(1, sizeof(*counted) + 2 * sizeof(struct node *)));
	counted->count = UINT64_MAX / 8;
	counted->nodes[0] = nowhere;
	either.node = half_made;
	return runner_main();
}
