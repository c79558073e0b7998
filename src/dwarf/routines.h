/*
 * What it takes to write calls of a program's functions as source code, and to
 * compile them: functions and variables with their types as a caller names them,
 * how a file was compiled, and what a compiled file needs from the program.
 */
#pragma once

#include "base/routine.h"
#include "dwarf/object.h"

/*
 * Functions that have code or are inline, public members of classes, and
 * variables of files and namespaces. Files that @leave says are left out.
 * @bias is added to addresses. Without debug information there are none.
 */
struct err *object_routines(struct object *object, uint64_t bias,
			    bool (*leave)(const char *file),
			    struct routines *ret) _must_check_;

/*
 * What is static in @file, or in a namespace without a name there, and would
 * have this symbol otherwise. *@ret: its address, 0 if it has none.
 */
bool routines_find_static(const struct routines *routines, const char *file,
			  const char *symbol, uint64_t *ret);

struct object_compiled {
	char *folder;	     /* in which the compiler was started */
	char *producer;	     /* what it called itself, often with options */
	struct strv folders; /* of the files it read */
};
/* How the unit made from @file was compiled. */
struct err *object_compiled(struct object *object, const char *file,
			    struct object_compiled *ret,
			    bool *ret_found) _must_check_;
void object_compiled_free(struct object_compiled *compiled);
static inline void object_compiled_freep(struct object_compiled *compiled)
{
	object_compiled_free(compiled);
}

/*
 * Names that the object file at @path needs, and those that it has or needs only
 * as long as nobody else has them (weak ones).
 */
struct err *object_needs(const char *path, struct strv *ret,
			 struct strv *ret_weak) _must_check_;
