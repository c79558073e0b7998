// Heap blocks: how far they reach, strings, untyped blocks, blocks that move.
//
//@ subject framework=functions lang=c
//@ variant plain quick=gcc-O0,clang-O2
//@ variant asan cflags="-fsanitize=address" libs="-fsanitize=address" builds=gcc-O0,clang-O2 quick=clang-O2
//@ run compare --page-tracking compare
//@ run fork --page-tracking fork
//@ run soft-dirty --page-tracking soft-dirty skip="memory was not compared" quick=no
//@ variant static libs="-static" builds=gcc-O2,clang-O0 quick=gcc-O2

#define _GNU_SOURCE
#include "../runner.h"

#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static NOINLINE void *checked(void *memory)
{
	if (!memory)
		abort();
	return memory;
}

// The type says one int, the block says how many there are.

int *table;
size_t table_size;

TEST(test_table_element) //@ pollutes test_table_element table table[3] before=3 after=30
{
	table[3] = 30;
}

TEST(test_table_restored) //@ clean test_table_restored
{
	table[7] = 70;
	TOUCH(table);
	table[7] = 7;
}

TEST(test_table_moved) //@ clean test_table_moved
{
	int *moved = checked(malloc(8 * sizeof(*moved)));
	memcpy(moved, table, 8 * sizeof(*moved));
	free(table);
	table = moved;
}

TEST(test_table_grown_by_realloc) //@ pollutes test_table_grown_by_realloc table_size table_size before=8 after=2000
{
	table = checked(realloc(table, 2000 * sizeof(*table)));
	memset(table + 8, 0, 1992 * sizeof(*table));
	table_size = 2000;
}

TEST(test_table_reallocated_same_size) //@ clean test_table_reallocated_same_size
{
	table = checked(realloc(table, 4000 * sizeof(*table)));
	void *neighbour = checked(malloc(100));
	TOUCH(neighbour);
	table = checked(realloc(table, 2000 * sizeof(*table)));
	free(neighbour);
}

TEST(test_table_replaced_by_null) //@ pollutes test_table_replaced_by_null table ... after=NULL|0x0|0|nullptr
{
	free(table);
	table = NULL;
}

// What a block has beyond what was asked for is the allocator's.
char *slack;

TEST(test_allocator_slack) //@ clean test_allocator_slack
{
	for (size_t i = 20; i < malloc_usable_size(slack); i++)
		*(volatile char *)(slack + i) = 'x';
	TOUCH(slack);
}

// Structs: one, and arrays of them.

struct user {
	char *name;
	int age;
	struct user *friend_;
};

struct user *admin;
struct user *users;
struct user **by_name;

TEST(test_struct_on_heap) //@ pollutes test_struct_on_heap admin admin->age before=40 after=41
{
	admin->age++;
}

TEST(test_struct_replaced_by_equal_one) //@ clean test_struct_replaced_by_equal_one
{
	struct user *copy = checked(malloc(sizeof(*copy)));
	copy->name = checked(strdup(admin->name));
	copy->age = admin->age;
	copy->friend_ = admin->friend_;
	free(admin->name);
	free(admin);
	admin = copy;
}

TEST(test_string_of_struct) //@ pollutes test_string_of_struct users users[1].name|*users[1].name after="\"Eve\""
{
	free(users[1].name);
	users[1].name = checked(strdup("Eve"));
}

TEST(test_array_of_pointers) //@ pollutes test_array_of_pointers by_name ...
{
	struct user *first = by_name[0];
	by_name[0] = by_name[1];
	by_name[1] = first;
}

// Strings.

char *title;
const char *mode = "fast";
char *words[3];

TEST(test_string_changed) //@ pollutes test_string_changed title title|*title before="\"hello\"" after="\"hallo\""
{
	title[1] = 'a';
}

TEST(test_string_equal_copy) //@ clean test_string_equal_copy
{
	char *copy = checked(strdup(title));
	free(title);
	title = copy;
}

TEST(test_string_in_larger_block) //@ clean test_string_in_larger_block
{
	char *copy = checked(malloc(100));
	memset(copy, 'z', 100);
	strcpy(copy, title);
	free(title);
	title = copy;
}

TEST(test_literal_to_literal) //@ pollutes test_literal_to_literal mode mode|*mode before="\"fast\"" after="\"slow\""
{
	mode = "slow";
}

TEST(test_literal_to_equal_heap_copy) //@ clean test_literal_to_equal_heap_copy
{
	mode = checked(strdup("slow"));
}

TEST(test_array_of_strings) //@ pollutes test_array_of_strings words words[2]|*words[2] before="\"three\"" after="\"THREE\""
{
	free(words[2]);
	words[2] = checked(strdup("THREE"));
}

TEST(test_array_of_strings_rebuilt) //@ clean test_array_of_strings_rebuilt
{
	for (int i = 0; i < 3; i++) {
		char *copy = checked(strdup(words[i]));
		free(words[i]);
		words[i] = copy;
	}
}

TEST(test_asprintf) //@ pollutes test_asprintf title title|*title after="\"42 is it\""
{
	free(title);
	int value = 42;
	TOUCH(&value);
	if (asprintf(&title, "%d is it", value) < 0)
		abort();
}

// Untyped blocks.

void *opaque;
void *context;

struct hidden {
	long number;
	char *text;
	void *more;
};

TEST(test_void_block_changed) //@ pollutes test_void_block_changed opaque ...
{
	((long *)opaque)[2] = 99;
}

TEST(test_void_block_moved) //@ clean test_void_block_moved
{
	void *copy = checked(malloc(48));
	memcpy(copy, opaque, 48);
	free(opaque);
	opaque = copy;
}

// Words that look like pointers to blocks are followed.
TEST(test_void_block_with_pointers_rebuilt) //@ clean test_void_block_with_pointers_rebuilt
{
	struct hidden *old = context, *fresh = checked(calloc(1, sizeof(*fresh)));
	fresh->number = old->number;
	fresh->text = checked(strdup(old->text));
	fresh->more = checked(malloc(16));
	memcpy(fresh->more, old->more, 16);
	free(old->text);
	free(old->more);
	free(old);
	context = fresh;
}

TEST(test_void_block_deep_change) //@ pollutes test_void_block_deep_change context ...
{
	((struct hidden *)context)->text[0] = 'X';
}

// Arrays with more room than is in use: what is behind the length is nobody's.

struct stack {
	int *items;
	int count;
	int room;
} stack;

double *samples;
unsigned n_samples;

TEST(test_stack_pushed_and_popped) //@ clean test_stack_pushed_and_popped
{
	stack.items[stack.count++] = 77;
	TOUCH(&stack);
	stack.count--;
}

TEST(test_stack_element) //@ pollutes test_stack_element stack stack.items[1] before=1 after=11
{
	stack.items[1] = 11;
}

TEST(test_stack_pushed) //@ pollutes test_stack_pushed stack ... effect=accumulates
{
	stack.items[stack.count++] = 5;
}

TEST(test_stack_moved) //@ clean test_stack_moved
{
	int *copy = checked(malloc(32 * sizeof(*copy)));
	memset(copy, 0x5a, 32 * sizeof(*copy));
	memcpy(copy, stack.items, (size_t)stack.count * sizeof(*copy));
	free(stack.items);
	stack.items = copy;
	stack.room = 16;
}

TEST(test_samples_beyond) //@ clean test_samples_beyond
{
	samples[n_samples] = 1.5;
}

TEST(test_samples_within) //@ pollutes test_samples_within samples samples[1] before=1 after=2.5
{
	samples[1] = 2.5;
}

// The bytes of an address may be printable; a block that begins with one is no text.
void *records[16];

TEST(test_record_3) //@ pollutes test_record_3 records "((uint64_t *)records[3])[1]" before=0 after=7
{
	((long *)records[3])[1] = 7;
}

TEST(test_record_7) //@ pollutes test_record_7 records "((uint64_t *)records[7])[1]" before=0 after=7
{
	((long *)records[7])[1] = 7;
}

TEST(test_record_11) //@ pollutes test_record_11 records "((uint64_t *)records[11])[1]" before=0 after=7
{
	((long *)records[11])[1] = 7;
}

// Flexible arrays, headers in front of data.

struct packet {
	unsigned length;
	short values[];
};

struct packet *packet;

TEST(test_flexible_array) //@ pollutes test_flexible_array packet packet->values[4] before=4 after=44
{
	packet->values[4] = 44;
}

TEST(test_flexible_array_rebuilt) //@ clean test_flexible_array_rebuilt
{
	size_t size = sizeof(*packet) + 6 * sizeof(short);
	struct packet *copy = checked(malloc(size));
	memcpy(copy, packet, size);
	free(packet);
	packet = copy;
}

TEST(test_flexible_array_restored) //@ clean test_flexible_array_restored
{
	packet->values[5] = 0;
	TOUCH(packet);
	packet->values[5] = 5;
}

// A pointer that is not at the beginning of its block.
struct sized_text {
	size_t length;
	char text[8];
};
char *sized;

TEST(test_header_before_pointer) //@ pollutes test_header_before_pointer sized ...
{
	struct sized_text *whole = (struct sized_text *)(sized - offsetof(struct sized_text, text));
	whole->length = 3;
	sized[3] = 0;
}

// A matrix by pointers to rows, and one in one block.
double **rows;
double (*matrix)[4];

TEST(test_rows) //@ pollutes test_rows rows rows[1][2] before=0 after=1.5
{
	rows[1][2] = 1.5;
}

TEST(test_pointer_to_array) //@ pollutes test_pointer_to_array matrix matrix[2][3] before=0 after=2.5
{
	matrix[2][3] = 2.5;
}

// Large blocks, which have a mapping of their own.
int *big;
char *mapped;

TEST(test_big_block) //@ pollutes test_big_block big big[300000] before=0 after=1
{
	big[300000] = 1;
}

TEST(test_big_block_restored) //@ clean test_big_block_restored
{
	for (int i = 0; i < 1000000; i += 1000)
		big[i] ^= 5;
	TOUCH(big);
	for (int i = 0; i < 1000000; i += 1000)
		big[i] ^= 5;
}

TEST(test_big_block_moved) //@ clean test_big_block_moved
{
	int *copy = checked(malloc(4000000));
	memcpy(copy, big, 4000000);
	free(big);
	big = copy;
}

TEST(test_mapping_changed) //@ pollutes test_mapping_changed mapped mapped...|*mapped...
{
	mapped[0] = 'M';
}

TEST(test_mapping_of_its_own) //@ clean test_mapping_of_its_own
{
	char *own = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (own == MAP_FAILED)
		abort();
	memset(own, 1, 1 << 20);
	TOUCH(own);
	munmap(own, 1 << 20);
}

// Aligned allocation.
struct vector4 {
	float x, y, z, w;
} *aligned;

TEST(test_aligned_block) //@ pollutes test_aligned_block aligned aligned[3].z|aligned->z before=0 after=3
{
	aligned[3].z = 3;
}

TEST(test_aligned_block_rebuilt) //@ clean test_aligned_block_rebuilt
{
	void *copy;
	if (posix_memalign(&copy, 128, 4 * sizeof(struct vector4)))
		abort();
	memcpy(copy, aligned, 4 * sizeof(struct vector4));
	free(aligned);
	aligned = copy;
}

// Held but useless is still held; nobody's is nobody's.
void *garbage[64];

TEST(test_leak_still_reachable) //@ pollutes test_leak_still_reachable garbage garbage[0]... allocated=test_leak_still_reachable
{
	garbage[0] = checked(calloc(1, 33));
}

TEST(test_leak_unreachable) //@ clean test_leak_unreachable
{
	char *lost = checked(malloc(1000));
	memset(lost, 7, 1000);
	TOUCH(lost);
}

TEST(test_much_churn) //@ clean test_much_churn
{
	void *blocks[500];
	for (int i = 0; i < 500; i++)
		blocks[i] = checked(calloc(1, 16 + i * 7));
	TOUCH(blocks);
	for (int i = 0; i < 500; i++)
		free(blocks[i * 37 % 500]);
	malloc_trim(0);
}

static void make_records(void)
{
	for (size_t i = 0; i < 16; i++) {
		records[i] = checked(calloc(1, 16));
		*(char **)records[i] = checked(strdup("name"));
	}
}

int main(void)
{
	make_records();
	table = checked(malloc(8 * sizeof(*table)));
	for (int i = 0; i < 8; i++)
		table[i] = i;
	table_size = 8;
	slack = checked(calloc(1, 20));
	users = checked(calloc(3, sizeof(*users)));
	by_name = checked(calloc(3, sizeof(*by_name)));
	for (int i = 0; i < 3; i++) {
		users[i].name = checked(strdup(i == 0 ? "Ada" : i == 1 ? "Bob" : "Cy"));
		users[i].age = 20 + i;
		users[i].friend_ = &users[(i + 1) % 3];
		by_name[i] = &users[i];
	}
	admin = checked(calloc(1, sizeof(*admin)));
	admin->name = checked(strdup("root"));
	admin->age = 40;
	admin->friend_ = &users[0];
	title = checked(strdup("hello"));
	words[0] = checked(strdup("one"));
	words[1] = checked(strdup("two"));
	words[2] = checked(strdup("three"));
	opaque = checked(calloc(1, 48));
	struct hidden *hidden = checked(calloc(1, sizeof(*hidden)));
	hidden->text = checked(strdup("hidden text"));
	hidden->more = checked(calloc(1, 16));
	context = hidden;
	stack.items = checked(calloc(16, sizeof(*stack.items)));
	stack.room = 16;
	for (stack.count = 0; stack.count < 3; stack.count++)
		stack.items[stack.count] = stack.count;
	samples = checked(calloc(20, sizeof(*samples)));
	for (n_samples = 0; n_samples < 4; n_samples++)
		samples[n_samples] = n_samples;
	packet = checked(malloc(sizeof(*packet) + 6 * sizeof(short)));
	packet->length = 6;
	for (int i = 0; i < 6; i++)
		packet->values[i] = (short)i;
	struct sized_text *text = checked(calloc(1, sizeof(*text)));
	text->length = 5;
	strcpy(text->text, "sized");
	sized = text->text;
	rows = checked(calloc(3, sizeof(*rows)));
	for (int i = 0; i < 3; i++)
		rows[i] = checked(calloc(4, sizeof(**rows)));
	matrix = checked(calloc(3, sizeof(*matrix)));
	big = checked(calloc(1000000, sizeof(*big)));
	mapped = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (mapped == MAP_FAILED)
		abort();
	if (posix_memalign((void **)&aligned, 64, 4 * sizeof(struct vector4)))
		abort();
	memset(aligned, 0, 4 * sizeof(struct vector4));
	return runner_main();
}
