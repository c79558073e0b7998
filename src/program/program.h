/*
 * A loaded program: the ELF files that a tracee has mapped, and what their
 * symbols and debug information say about addresses in it.
 *
 * Files are opened once and kept over restarts of the program (the cache is
 * the session's); where they lie is looked up again in each process.
 */
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "base/vec.h"
#include "dwarf/object.h"
#include "tracee/tracee.h"

struct module {
	char *path;
	struct object *object; /* NULL: could not be read */
	uint64_t bias;
	uint64_t start, end;
	bool system; /* belongs to the system, not to the project */
};

/* A part of the program's memory, in this process and all its copies. */
struct program_span {
	uint64_t start, end;
};

struct framework_own;

struct program {
	VEC(struct module) modules; /* the executable first */
	/*
	 * What a hand-written runner keeps about its tests: verdicts and
	 * statistics (native/verdict.h).
	 */
	VEC(struct program_span) runner_spans;
	/*
	 * What in it belongs to test frameworks: of all that are known, ends
	 * with NULL; of the one that drives it, NULL: not known yet.
	 */
	const struct framework_own *const *owns;
	const struct framework_own *own;
};

struct err *program_create(const struct framework_own *const *owns,
			   struct program **ret) _must_check_;
void program_destroy(struct program *program); /* NULL is fine */
static inline void program_destroyp(struct program **program)
{
	program_destroy(*program);
}

/* Looks up what is mapped now; files seen before stay open. */
struct err *program_load(struct program *program,
			 struct tracee *tracee) _must_check_;

/* A symbol's address; the executable first, then libraries as loaded. */
bool program_symbol(const struct program *program, const char *name,
		    struct raddr *ret);
/* As program_symbol(), with the file that has it. */
bool program_symbol_in(const struct program *program, const char *name,
		       struct raddr *ret, const struct module **ret_module);
/*
 * A function whose symbol begins so, for what differs from version to version
 * in its parameters; parts that the compiler split off do not count.
 */
bool program_function_starting(const struct program *program,
			       const char *prefix, struct raddr *ret,
			       const char **ret_name);
/* Does the project's own code define or call this? Any of these? */
bool program_uses(const struct program *program, const char *name);
bool program_uses_any(const struct program *program, const char *const *names,
		      size_t n);

/* Is all of this what the runner keeps about its tests, not their own state? */
bool program_is_runners(const struct program *program, uint64_t address,
			uint64_t size);

/* Where the agent has its struct wire_heap; 0: there is none. */
uint64_t program_agent_heap(const struct program *program);

const struct module *program_module(const struct program *program,
				    struct raddr address);
/* A variable or function as C++ writes it, "name+8" for one inside. */
bool program_name_at(const struct program *program, struct raddr address,
		     char *out, size_t n);
/* Where a function was declared, a line of code; false: not known. */
bool program_function_place(const struct program *program, struct raddr address,
			    const char **ret_file, unsigned *ret_line);
bool program_line(const struct program *program, struct raddr address,
		  const char **ret_file, unsigned *ret_line);
/* Member offsets in any file that knows the type; @fallback otherwise. */
uint64_t program_member(const struct program *program, const char *type,
			const char *member, uint64_t fallback);
uint64_t program_type_size(const struct program *program, const char *type,
			   uint64_t fallback);

/*
 * The address that the loader calls when libraries come and go; 0: none.
 * *@ret_state is where it says which of the two (r_debug.r_state).
 */
struct raddr program_loader_hook(const struct program *program,
				 struct tracee *tracee,
				 struct raddr *ret_state);
/* The program's entry point in this process. */
struct err *program_entry(struct tracee *tracee,
			  struct raddr *ret) _must_check_;
