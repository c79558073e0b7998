/*
 * Which variables of a program tests share: its roots.
 *
 * Those of the executable and of the project's own libraries, unless they
 * belong to the test framework, to the C++ library's headers or to the
 * compiler's own machinery.
 */
#pragma once

#include "base/map.h"
#include "base/regexes.h"
#include "dwarf/index.h"
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

struct roots {
	const struct framework_own *const *owns; /* as program.owns */
	struct type_pool *pool;
	VEC(struct roots_file) files;
	struct regexes include;
	struct regexes exclude;
	const char *cache;
	/* As loaded now. */
	VEC(struct state_root) all;
	VEC(struct root_place) places; /* one a root */
	VEC(struct state_vtable) vtables;
	struct map_text untyped_names; /* of the executable */
	size_t untyped;		       /* files without debug information */
	const struct module *stripped; /* a file without symbols; or NULL */
	bool dynamic;		       /* the C library is another file */
};

struct err *roots_init(struct roots *roots, struct type_pool *pool,
		       const struct framework_own *const *owns,
		       const struct suite_watch *options) _must_check_;
void roots_free(struct roots *roots);
/* Finds them again; @thread is the main thread, for its thread-locals. */
struct err *roots_load(struct roots *roots, const struct program *program,
		       struct thread *thread) _must_check_;
/* Adds the types that are never looked into: frameworks' and the C library's. */
DEFINE_VEC(container_user_list, struct container_user)
struct err *roots_skip_types(const struct framework_own *const *owns,
			     struct container_user_list *list) _must_check_;
