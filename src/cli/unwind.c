#include "cli/unwind.h"

#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "dwarf/unwind.h"

static const enum wire_register registers[UNWIND_REGISTERS] = {
	[UNWIND_RIP] = WIRE_RIP, [UNWIND_RSP] = WIRE_RSP,
	[UNWIND_RBP] = WIRE_RBP, [UNWIND_RBX] = WIRE_RBX,
	[UNWIND_R12] = WIRE_R12, [UNWIND_R13] = WIRE_R13,
	[UNWIND_R14] = WIRE_R14, [UNWIND_R15] = WIRE_R15,
};

/*
 * The block is memory of the tested program, which may still run: what is relied
 * on is copied first.
 */
struct copy {
	struct unwind_module modules[WIRE_CHOICE_MODULES];
	char paths[WIRE_CHOICE_MODULES][WIRE_CHOICE_PATH];
	unsigned char stack[WIRE_CHOICE_STACK];
};

/* The next of the texts in @at, up to @end; NULL: no more, or no memory. */
static char *unwind_take_text(const unsigned char **at,
			      const unsigned char *end)
{
	size_t left = (size_t)(end - *at);
	size_t n = strnlen((const char *)*at, left);
	if (n == left)
		return NULL;
	char *text = strndup((const char *)*at, n);
	*at += n + 1;
	return text;
}

/* Frames that the agent of a Java VM named itself. */
static struct err *unwind_take_frames(const struct wire_choice *record,
				      struct assumption_call *ret)
{
	size_t n = MIN(record->stack_n, (uint64_t)WIRE_CHOICE_STACK);
	_cleanup_(freep) unsigned char *copy = malloc(n + 1);
	if (!copy)
		return err_nomem();
	memcpy(copy, record->stack, n);
	const unsigned char *at = copy, *end = copy + n;
	while (at < end) {
		struct call_frame frame = {};
		_cleanup_(freep) char *line = NULL;
		frame.function = unwind_take_text(&at, end);
		frame.file = unwind_take_text(&at, end);
		line = unwind_take_text(&at, end);
		struct err *err = NULL;
		if (line) {
			frame.line = (unsigned)strtoul(line, NULL, 10);
			if (!*frame.file)
				free(take_ptr(frame.file));
			err = vec_push(&ret->stack, frame);
		}
		if (!line || err) {
			free(frame.function);
			free(frame.file);
			return err;
		}
	}
	return NULL;
}

struct err *unwind_choice(void *data, const struct wire_choices *block,
			  const struct wire_choice *record,
			  struct assumption_call *ret)
{
	struct unwinder *unwinder = data;
	if (record->frames)
		return unwind_take_frames(record, ret);
	_cleanup_(freep) struct copy *copy = malloc(sizeof(*copy));
	if (!copy)
		return err_nomem();
	struct unwind_thread thread = {
		.modules = copy->modules,
		.n_modules =
			MIN(block->modules_n, (uint64_t)WIRE_CHOICE_MODULES),
		.stack = copy->stack,
		.stack_n = MIN(record->stack_n, (uint64_t)WIRE_CHOICE_STACK),
	};
	for (size_t i = 0; i < UNWIND_REGISTERS; i++)
		thread.registers[i] = record->registers[registers[i]];
	thread.stack_address = thread.registers[UNWIND_RSP];
	memcpy(copy->stack, record->stack, thread.stack_n);
	for (size_t i = 0; i < thread.n_modules; i++) {
		memcpy(copy->paths[i], block->modules[i].path,
		       WIRE_CHOICE_PATH);
		copy->paths[i][WIRE_CHOICE_PATH - 1] = '\0';
		copy->modules[i] = (struct unwind_module){
			.path = copy->paths[i],
			.bias = block->modules[i].bias,
		};
	}

	_cleanup_(unwind_frames_freep) struct unwind_frames frames = {};
	TRY(unwinder_callers(unwinder, &thread, &frames));
	for (size_t i = 0; i < frames.n; i++) {
		struct unwind_frame *from = &frames.data[i];
		struct call_frame frame = { from->function, from->file,
					    from->line };
		TRY(vec_push(&ret->stack, frame));
		from->function = from->file = NULL;
	}
	return NULL;
}
