// What a change means: whether a second run changes more, who reads it, and how bad that makes it.
//
//@ subject framework=functions lang=c
//@ variant plain quick=gcc-O0,clang-O2
//@ variant asan cflags="-fsanitize=address" libs="-fsanitize=address" builds=gcc-O0,clang-O2
//@ variant static libs="-static" builds=gcc-O2 quick=gcc-O2

#include "../runner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static NOINLINE void *checked(void *memory)
{
	if (!memory)
		abort();
	return memory;
}

// A counter that another test reads, whose verdict does not follow it. (Others: ../counts.)

int requests;

TEST(test_counts_request) //@ pollutes test_counts_request requests requests effect=accumulates severity=low readers=test_reads_requests not-readers=test_reads_nothing
{
	requests++;
}

TEST(test_reads_requests) //@ clean test_reads_requests
{
	volatile int seen = requests;
	assert(seen >= 0);
}

TEST(test_reads_nothing) //@ clean test_reads_nothing
{
}

// Counts, and nobody reads it.
unsigned long long events;

TEST(test_counts_events) //@ pollutes test_counts_events events events effect=accumulates severity=low
{
	events += 5;
}

// A cache that settles, and that nobody else reads.

struct cache {
	int filled;
	double values[8];
} *cache;

static NOINLINE double cached(int index)
{
	if (!cache) {
		cache = checked(calloc(1, sizeof(*cache)));
		for (int i = 0; i < 8; i++)
			cache->values[i] = i * 0.5;
		cache->filled = 1;
	}
	return cache->values[index];
}

TEST(test_fills_cache) //@ pollutes test_fills_cache cache ... effect=settles severity=low allocated=cached
{
	assert(cached(2) == 1.0);
}

// The same with a reader, which would have made it itself.

char *greeting;

static NOINLINE const char *get_greeting(void)
{
	if (!greeting)
		greeting = checked(strdup("hello"));
	return greeting;
}

TEST(test_makes_greeting) //@ pollutes test_makes_greeting greeting ... effect=settles severity=low readers=test_uses_greeting allocated=get_greeting
{
	assert(*get_greeting() == 'h');
}

TEST(test_uses_greeting) //@ clean test_uses_greeting
{
	volatile char second = get_greeting()[1];
	assert(second == 'e');
}

// Settles at once, and is read.
int level = 1;

TEST(test_sets_level) //@ pollutes test_sets_level level level before=1 after=3 effect=settles severity=high readers=test_checks_level
{
	level = 3;
}

TEST(test_checks_level) //@ clean test_checks_level
{
	volatile int now = level;
	assert(now > 0);
}

// Read only by tests that come before it: nobody is harmed in this order, but in another one.
int early_value;

TEST(test_reads_early) //@ clean test_reads_early
{
	volatile int now = early_value;
	(void)now;
}

TEST(test_writes_late) //@ pollutes test_writes_late early_value early_value readers=test_reads_early severity=high
{
	early_value = 12;
}

// Written by another test without being read: not a reader.
int overwritten;

TEST(test_writes_first) //@ pollutes test_writes_first overwritten overwritten not-readers=test_overwrites effect=settles severity=low|medium
{
	overwritten = 1;
}

TEST(test_overwrites) //@ pollutes test_overwrites overwritten overwritten before=1 after=2 effect=settles
{
	overwritten = 2;
}

// A list on the heap that grows by each run, and who goes through it.

struct entry {
	int id;
	struct entry *next;
};

struct registry {
	struct entry *head;
} registry;

static NOINLINE void register_entry(int id)
{
	struct entry **end = &registry.head;
	while (*end)
		end = &(*end)->next;
	*end = checked(calloc(1, sizeof(**end)));
	(*end)->id = id;
}

static NOINLINE int sum_of_ids(void)
{
	int sum = 0;
	for (struct entry *entry = registry.head; entry; entry = entry->next)
		sum += entry->id;
	return sum;
}

TEST(test_registers) //@ pollutes test_registers registry registry.head... effect=accumulates severity=high readers=test_sums allocated=register_entry
{
	register_entry(7);
}

TEST(test_sums) //@ clean test_sums
{
	volatile int sum = sum_of_ids();
	(void)sum;
}

// A flag flips at each run: a second one puts it back, and a third changes it again.
int toggle;

TEST(test_toggles) //@ pollutes test_toggles toggle toggle effect=accumulates
{
	toggle = !toggle;
}

// Bounded: it goes on for a while and then stops. A second run changes it again.
int retries;

TEST(test_retries) //@ pollutes test_retries retries retries effect=accumulates
{
	if (retries < 3)
		retries++;
}

// Several roots in one test, with different fates.
int total;
int mode;

TEST(test_two_roots) //@ pollutes test_two_roots total total effect=accumulates //@ pollutes test_two_roots mode mode effect=settles
{
	total += 2;
	mode = 4;
}

// Many places under one root: the first few, and a count of the rest.
int board[100];

TEST(test_many_paths) //@ pollutes test_many_paths board board[0] before=0 after=1
{
	for (int i = 0; i < 100; i++)
		board[i]++;
}

// A counter that a test needs to be zero and puts back to zero: it cleans up after others.
TEST(test_cleans_up_after_others) //@ clean test_cleans_up_after_others
{
	requests = 0;
}

// Readers of one member are not readers of its neighbour.
struct options {
	int verbose;
	int colour;
} options;

TEST(test_sets_verbose) //@ pollutes test_sets_verbose options options.verbose readers=test_reads_verbose not-readers=test_reads_colour
{
	options.verbose = 1;
}

TEST(test_reads_verbose) //@ clean test_reads_verbose
{
	volatile int seen = options.verbose;
	(void)seen;
}

TEST(test_reads_colour) //@ clean test_reads_colour
{
	volatile int seen = options.colour;
	(void)seen;
}

RUNNER_MAIN()
