// Tests that get what the runner's set-up makes for each of them: a block, or a variable of the runner's own frame. In the
// place of another test they get what was made there.
//
//@ subject framework=functions lang=c
//@ variant block quick=gcc-O0,clang-O2
//@ variant frame cflags=-DFRAME quick=gcc-O0,gcc-O2

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../runner.h"

#define FUNCTION __attribute__((noinline, noclone))

struct context {
	char *text;
	int used;
	int number;
};

static int level, late;

FUNCTION void test_late_is_zero(struct context *context) //@ victim test_late_is_zero polluters=test_comes_late
{
	assert(!context->used++ && !late);
}

FUNCTION void test_uses_it(struct context *context)
{
	assert(!context->used++);
	strcpy(context->text, "used");
	TOUCH(context->text);
}

FUNCTION void test_raises_level(struct context *context)
{
	assert(!context->used++ && !strcmp(context->text, "fresh"));
	level = 1;
	TOUCH(&level);
}

FUNCTION void test_level_is_zero(struct context *context) //@ victim test_level_is_zero polluters=test_raises_level
{
	assert(!context->used++ && !strcmp(context->text, "fresh"));
	assert(!level);
}

FUNCTION void test_comes_late(struct context *context)
{
	assert(!context->used++ && context->number == 4);
	late = 1;
	TOUCH(&late);
}

static FUNCTION void set_up(struct context *context)
{
	context->text = strdup("fresh");
	context->used = 0;
	context->number = 4;
	TOUCH(context);
}

static FUNCTION void tear_down(struct context *context)
{
	free(context->text);
	memset(context, 0xff, sizeof(*context));
	TOUCH(context);
}

static void (*volatile tests[])(struct context *) = {
	test_late_is_zero, test_uses_it, test_raises_level, test_level_is_zero, test_comes_late,
};

int main(void)
{
	void *kept[8] = { NULL };
	for (size_t i = 0; i < sizeof(tests) / sizeof(*tests); i++) {
#ifdef FRAME
		struct context frame, *context = &frame;
#else
		kept[i] = malloc(24 + 40 * i); // blocks lie elsewhere each time
		struct context *context = malloc(sizeof(*context));
#endif
		set_up(context);
		tests[i](context);
		tear_down(context);
#ifndef FRAME
		if (i % 2)
			free(context);
#endif
	}
	for (size_t i = 0; i < 8; i++)
		free(kept[i]);
	puts("done");
	return 0;
}
