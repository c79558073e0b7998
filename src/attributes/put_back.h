/*
 * Process state that is made again what it was, in a process that may be thrown
 * away: by the calls that the program itself would make.
 *
 * To add an attribute: a row in put_back.c. Descriptors that were closed, threads
 * and what lies in the system cannot be had back.
 */
#pragma once

#include "base/err.h"
#include "tracee/tracee.h"

struct attribute_kept;

/* Where a function of the program is; 0: it has none. */
typedef uint64_t attribute_symbol(void *data, const char *name);

/*
 * What @root (as of struct change) is in the process of @then, which may be used
 * up by it. *@ret is NULL where that cannot be put back.
 */
struct err *attribute_keep(const char *root, struct thread *then,
			   attribute_symbol *symbol, void *data,
			   struct attribute_kept **ret) _must_check_;
void attribute_kept_destroy(struct attribute_kept *kept); /* NULL is fine */
static inline void attribute_kept_destroyp(struct attribute_kept **kept)
{
	attribute_kept_destroy(*kept);
}
/* @thread belongs to a copy of that process, of some later moment. */
struct err *attribute_put_back(const struct attribute_kept *kept,
			       struct thread *thread) _must_check_;
