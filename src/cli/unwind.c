#include "cli/unwind.h"

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

struct err *unwind_choice(void *data, const struct wire_choices *block,
			  const struct wire_choice *record,
			  struct assumption_call *ret)
{
	struct unwinder *unwinder = data;
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
