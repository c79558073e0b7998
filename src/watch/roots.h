/*
 * Which variables of a program tests share: its roots.
 *
 * Those of the executable and of the project's own libraries, unless they
 * belong to a test framework in it, to the system's headers or to the compiler's
 * own machinery. What is left out is noted with the reason.
 */
#pragma once

#include "base/map.h"
#include "base/regexes.h"
#include "dwarf/index.h"
#include "program/own.h"
#include "program/program.h"
#include "state/state.h"
#include "suite/suite.h"

struct root_place {
	const char *file; /* of its declaration; NULL: unknown */
	unsigned line;
};

/* What is known of one ELF file, kept over restarts. */
struct roots_file {
	const struct object *object;
	struct index_variables *index;
};

/* A variable that is not among the roots. */
struct root_left_out {
	uint64_t address; /* 0: unknown; they ascend */
	uint64_t size;
	uint64_t reach; /* up to where it and those before it extend */
	const char *name;
	const struct framework_own *owner; /* NULL: none */
	const char *why; /* as suite_observer.left_out(); NULL: the owner */
};

struct roots {
	struct own_present present; /* frameworks in the program */
	struct type_pool *pool;
	VEC(struct roots_file) files;
	struct regexes include;
	struct regexes exclude;
	const char *cache;
	bool everything; /* also what belongs to frameworks and the system */
	/* As loaded now. */
	VEC(struct state_root) all;
	VEC(struct root_place) places; /* one a root */
	VEC(struct root_left_out) left_out;
	VEC(struct state_vtable) vtables;
	struct map_text untyped_names; /* of the executable */
	size_t untyped;		       /* files without debug information */
	const struct module *stripped; /* a file without symbols; or NULL */
	bool dynamic;		       /* the C library is another file */
};

struct err *roots_init(struct roots *roots, struct type_pool *pool,
		       const struct suite_watch *options) _must_check_;
void roots_free(struct roots *roots);
/* Finds them again; @thread is the main thread, for its thread-locals. */
struct err *roots_load(struct roots *roots, const struct program *program,
		       struct thread *thread) _must_check_;
/*
 * Adds the types that are never looked into: the C library's and those of
 * frameworks that are in the program.
 */
DEFINE_VEC(container_user_list, struct container_user)
struct err *roots_skip_types(const struct program *program,
			     struct container_user_list *list) _must_check_;
