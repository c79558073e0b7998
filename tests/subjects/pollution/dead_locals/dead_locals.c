// Pointers to local variables of calls that have returned, and their twins: what is still there, and what was put back.
//
//@ subject framework=functions lang=c
//@ variant plain quick=gcc-O0,clang-O2
//@ variant static libs="-static" builds=gcc-O2 quick=no

#include "../runner.h"

#include <string.h>

struct context {
	int level;
	struct context *outer;
};

struct context *current;
struct context *kept;
struct context *owned;
struct context *frame; /* of main() */
struct context *fixture;
const char *name;
void *anything;
void **slot;
struct {
	int n;
	struct context *list;
} registry;
struct context *table[3];

TEST(test_leaves_local) //@ pollutes test_leaves_local current current before=NULL after="(dead local variable)" severity=high effect=settles readers=test_reads
{
	struct context own = { .level = 1 };
	current = &own;
	TOUCH(&own);
}

TEST(test_reads) //@ clean test_reads
{
	TOUCH(current);
}

// Another one than before.
TEST(test_leaves_another) //@ pollutes test_leaves_another current current after="(dead local variable)..." severity=high
{
	struct context own[8] = { { .level = 1 } };
	current = &own[5];
	TOUCH(&own);
}

TEST(test_leaves_text) //@ pollutes test_leaves_text name name before=NULL after="(dead local variable)" severity=high
{
	char own[20];
	strcpy(own, "mine");
	name = own;
	TOUCH(own);
}

TEST(test_leaves_untyped) //@ pollutes test_leaves_untyped anything anything after="(dead local variable)" severity=high
{
	int own = 3;
	anything = &own;
	TOUCH(&own);
}

TEST(test_leaves_place_of_pointer) //@ pollutes test_leaves_place_of_pointer slot slot after="(dead local variable)" severity=high
{
	void *own = NULL;
	slot = &own;
	TOUCH(&own);
}

TEST(test_leaves_in_struct) //@ pollutes test_leaves_in_struct registry registry.list after="(dead local variable)" severity=high
{
	struct context own = { .level = 1 };
	registry.list = &own;
	TOUCH(&own);
}

// Not of the test itself, but of a function that it calls.
static NOINLINE void enter(struct context *own)
{
	TOUCH(own);
	table[1] = own;
}

TEST(test_leaves_deeper) //@ pollutes test_leaves_deeper table table[1] after="(dead local variable)" severity=high
{
	struct context own = { .level = 1 };
	enter(&own);
	TOUCH(&own);
}

TEST(test_puts_back) //@ clean test_puts_back
{
	struct context own = { .outer = kept };
	kept = &own;
	TOUCH(&own);
	kept = own.outer;
	TOUCH(&own);
}

TEST(test_leaves_static) //@ pollutes test_leaves_static owned owned before=NULL after=&test_leaves_static::own severity=low
{
	static struct context own;
	owned = &own;
}

// A local variable of main(), which is still there.
TEST(test_leaves_living) //@ pollutes test_leaves_living fixture fixture before=NULL after="an address" severity=low
{
	fixture = &frame[1];
}

int main(void)
{
	struct context own[9] = { { .level = 7 } };
	frame = own;
	TOUCH(own);
	int result = runner_main();
	TOUCH(own);
	return result;
}
