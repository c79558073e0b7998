/*
 * Which data some functions of the project refer to, they and those that they
 * call: a superset of the variables that they can read or write without a
 * pointer. Found in their code, without running it.
 *
 * What it does not see: functions that are called through pointers which no code
 * here takes, and what is reached through other data.
 */
#pragma once

#include "program/program.h"

struct references;

/*
 * From @functions, @n addresses in them. Functions that @leave says are left
 * out, with what they call. @thread has the memory and the thread-locals.
 */
struct err *references_find(const struct program *program,
			    struct thread *thread, const uint64_t *functions,
			    size_t n, bool (*leave)(void *data, uint64_t at),
			    void *data, struct references **ret) _must_check_;
void references_destroy(struct references *references); /* NULL is fine */
static inline void references_destroyp(struct references **references)
{
	references_destroy(*references);
}
/* Does any of that code refer to one of these @n bytes? */
bool references_has(const struct references *references, uint64_t address,
		    uint64_t n);
