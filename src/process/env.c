#include "process/env.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/macro.h"
#include "base/str.h"
#include "base/vec.h"

struct err *env_changes_add(struct env_changes *changes,
			    enum env_operation operation, const char *name,
			    size_t name_n, const char *value)
{
	_cleanup_(freep) char *own_name = strndup(name, name_n);
	_cleanup_(freep) char *own_value = value ? strdup(value) : NULL;
	if (!own_name || (value && !own_value))
		return err_nomem();
	struct env_change change = {
		.operation = operation,
		.name = own_name,
		.value = own_value,
	};
	TRY(vec_push(changes, change));
	take_ptr(own_name);
	take_ptr(own_value);
	return NULL;
}

void env_changes_free(struct env_changes *changes)
{
	for (size_t i = 0; i < changes->n; i++) {
		free(changes->data[i].name);
		free(changes->data[i].value);
	}
	vec_free(changes);
}

/* Its entry in @env, "NAME=value"; NULL: not set. */
static char **env_find(const struct strv *env, const char *name)
{
	size_t n = strlen(name);
	for (size_t i = 0; i < env->n; i++) {
		char *entry = env->data[i];
		if (entry && !strncmp(entry, name, n) && entry[n] == '=')
			return &env->data[i];
	}
	return NULL;
}

static struct err *env_set(struct strv *env, const char *name,
			   const char *value)
{
	_cleanup_(freep) char *text = NULL;
	if (asprintf(&text, "%s=%s", name, value) < 0) {
		text = NULL;
		return err_nomem();
	}
	char **entry = env_find(env, name);
	if (!entry)
		return strv_take(env, take_ptr(text));
	free(*entry);
	*entry = take_ptr(text);
	return NULL;
}

static void env_unset(struct strv *env, const char *name)
{
	char **entry = env_find(env, name);
	if (!entry)
		return;
	free(*entry);
	for (; entry < env->data + env->n; entry++)
		*entry = entry[1]; /* up to the NULL at the end */
	env->n--;
}

static struct err *env_extend(struct strv *env, const struct env_change *change,
			      const char *between, bool front)
{
	char **entry = env_find(env, change->name);
	const char *old = entry ? *entry + strlen(change->name) + 1 : "";
	const char *value = change->value ? change->value : "";
	if (!*old)
		between = "";
	_cleanup_(str_freep) struct str text = STR_INIT;
	TRY(str_appendf(&text, "%s%s%s", front ? value : old, between,
			front ? old : value));
	return env_set(env, change->name, text.s);
}

static struct err *env_apply_change(struct strv *env,
				    const struct env_change *change)
{
	const char *ours;
	switch (change->operation) {
	case ENV_SET:
		return env_set(env, change->name,
			       change->value ? change->value : "");
	case ENV_UNSET:
		env_unset(env, change->name);
		return NULL;
	case ENV_RESET:
		ours = getenv(change->name);
		if (ours)
			return env_set(env, change->name, ours);
		env_unset(env, change->name);
		return NULL;
	case ENV_APPEND:
		return env_extend(env, change, "", false);
	case ENV_PREPEND:
		return env_extend(env, change, "", true);
	case ENV_PATH_APPEND:
		return env_extend(env, change, ":", false);
	case ENV_PATH_PREPEND:
		return env_extend(env, change, ":", true);
	case ENV_LIST_APPEND:
		return env_extend(env, change, ";", false);
	case ENV_LIST_PREPEND:
		return env_extend(env, change, ";", true);
	}
	BUG("environment operation %d", (int)change->operation);
}

struct err *env_apply(const struct env_changes *changes, struct strv *env)
{
	for (size_t i = 0; i < changes->n; i++)
		TRY(env_apply_change(env, &changes->data[i]));
	return NULL;
}

struct err *env_build(const struct env_changes *changes, struct strv *ret)
{
	_cleanup_(strv_freep) struct strv env = {};
	for (char **variable = environ; variable && *variable; variable++)
		TRY(strv_add(&env, *variable));
	TRY(env_apply(changes, &env));
	if (!env.data) {
		/* Even an empty environment ends in NULL. */
		TRY(vec_reserve(&env, 1));
		env.data[0] = NULL;
	}
	*ret = env;
	env = (struct strv){};
	return NULL;
}
