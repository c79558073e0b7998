#include "program/place.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "dwarf/frames.h"
#include "program/callers.h"

struct place_search {
	const struct program *program;
	char *file;
	unsigned line;
	char *function;
};

bool place_is_system(const char *file)
{
	return str_starts(file, "/usr/include/") ||
	       str_starts(file, "/usr/lib/");
}

static bool place_visit_frame(void *data, const struct frame *frame)
{
	struct place_search *search = data;
	const struct module *module =
		program_module(search->program, RADDR(frame->pc));
	const char *file;
	unsigned line;
	if (!module || module->system ||
	    (frame->function &&
	     callers_is_framework(search->program->own, frame->function)) ||
	    !program_line(search->program, RADDR(frame->code), &file, &line) ||
	    place_is_system(file))
		return true;
	search->file = strdup(file);
	search->line = line;
	/* C names are for people as they are, mangled ones are not. */
	if (frame->function && !str_starts(frame->function, "_Z"))
		search->function = strdup(frame->function);
	return false;
}

struct err *place_find(const struct program *program,
		       const struct tracee *tracee, pid_t tid, char **ret_file,
		       unsigned *ret_line, char **ret_function)
{
	struct place_search search = { .program = program };
	TRY(frames_walk(tracee_pid(tracee), tid, place_visit_frame, &search));
	*ret_file = search.file;
	*ret_line = search.line;
	*ret_function = search.function;
	return NULL;
}
