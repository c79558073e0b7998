/* Where a test broke or hangs: the innermost line of the project's own code. */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "dwarf/frames.h"
#include "native/framework.h"
#include "native/session.h"
#include "program/callers.h"

struct search {
	const struct program *program;
	const struct framework *framework;
	char *file;
	unsigned line;
	char *function;
};

bool place_is_system(const char *file)
{
	return str_starts(file, "/usr/include/") ||
	       str_starts(file, "/usr/src/") || str_starts(file, "/usr/lib/");
}

static bool visit(void *data, const struct frame *frame)
{
	struct search *search = data;
	const struct module *module =
		program_module(search->program, RADDR(frame->pc));
	const char *file;
	unsigned line;
	if (!module || module->system ||
	    (frame->function &&
	     framework_owns(search->framework, frame->function)) ||
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

struct err *place_find(struct run *run, pid_t tid, char **ret_file,
		       unsigned *ret_line, char **ret_function)
{
	struct search search = {
		.program = run->program,
		.framework = run->framework,
	};
	TRY(frames_walk(tracee_pid(run->tracee), tid, visit, &search));
	*ret_file = search.file;
	*ret_line = search.line;
	*ret_function = search.function;
	return NULL;
}
