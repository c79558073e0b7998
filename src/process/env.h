/* Changes to an environment, made one after the other. */
#pragma once

#include <stddef.h>

#include "base/err.h"
#include "base/strv.h"

enum env_operation {
	ENV_SET,
	ENV_UNSET,
	ENV_RESET, /* to what it is in our environment */
	ENV_APPEND,
	ENV_PREPEND,
	ENV_PATH_APPEND, /* with ':' between */
	ENV_PATH_PREPEND,
	ENV_LIST_APPEND, /* with ';' between */
	ENV_LIST_PREPEND,
};

struct env_change {
	enum env_operation operation;
	char *name;
	char *value;
};

struct env_changes {
	struct env_change *data;
	size_t n;
	size_t cap;
};

/* Takes copies; @value may be NULL. */
struct err *env_changes_add(struct env_changes *changes,
			    enum env_operation operation, const char *name,
			    size_t name_n, const char *value) _must_check_;
void env_changes_free(struct env_changes *changes);
static inline void env_changes_freep(struct env_changes *changes)
{
	env_changes_free(changes);
}
/* Our environment with @changes made to it, in their order. */
struct err *env_build(const struct env_changes *changes,
		      struct strv *ret) _must_check_;
/* An environment, "NAME=value" each, with @changes made to it. */
struct err *env_apply(const struct env_changes *changes,
		      struct strv *env) _must_check_;
