#include "watch/call_stack.h"

#include <stdlib.h>
#include <string.h>

#include "dwarf/object.h"
#include "program/place.h"
#include "program/program.h"

static void call_frame_clear(struct call_frame *frame)
{
	free(frame->function);
	free(frame->file);
	*frame = (struct call_frame){};
}

void call_stack_clear(struct call_stack *stack)
{
	for (size_t i = 0; i < stack->n; i++)
		call_frame_clear(&stack->frames[i]);
	stack->n = 0;
}

bool call_stack_add(struct call_stack *stack, const struct program *program,
		    uint64_t code)
{
	const struct module *module = program_module(program, RADDR(code));
	struct call_frame frame = {};
	struct object_symbol symbol;
	const char *file;
	if (!module || !module->object)
		return true;
	if (object_symbol_at(module->object, code - module->bias, &symbol))
		frame.function = object_function_name(symbol.name);
	/* Of system libraries, their functions' names say enough. */
	if (!module->system &&
	    program_line(program, RADDR(code), &file, &frame.line))
		frame.file = strdup(file);
	if (!frame.function && !frame.file)
		return true;
	bool outermost = frame.function && !strcmp(frame.function, "main");
	stack->frames[stack->n++] = frame;
	return !outermost && stack->n < CALL_STACK_DEPTH;
}

static bool is_of_project(const struct call_frame *frame)
{
	return frame->file && !place_is_system(frame->file);
}

void call_stack_finish(struct call_stack *stack)
{
	size_t own = 0, n = 0;
	for (size_t i = 0; i < stack->n; i++)
		own += is_of_project(&stack->frames[i]);
	for (size_t i = 0; i < stack->n; i++) {
		struct call_frame *frame = &stack->frames[i];
		if ((own && !is_of_project(frame)) || n == CALL_STACK_FRAMES)
			call_frame_clear(frame);
		else
			stack->frames[n++] = *frame;
	}
	stack->n = n;
}
