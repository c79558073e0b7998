#include "native/early.h"

#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/str.h"
#include "native/session.h"
#include "program/callers.h"
#include "program/place.h"
#include "tracee/checkpoint.h"
#include "tracee/memory.h"
#include "tracee/remote.h"

#define EARLY_LIMIT_NS (2 * NS_PER_S)
#define EARLY_MAX 4096
/* How symbols of guards of local statics begin: _ZGVZ <function> E <name>. */
static const char guard_prefix[] = "_ZGVZ";

struct early_access {
	struct raddr function;
	struct raddr guard;
};

struct early_list {
	const struct program *program;
	const struct module *module;
	VEC(struct early_access) all;
	struct err *err;
};

static bool early_is_own(const struct program *program, const char *symbol)
{
	for (size_t i = 0; program->owns && program->owns[i]; i++) {
		if (callers_is_framework(program->owns[i], symbol))
			return false;
	}
	return true;
}

/* Is it the project's, takes nothing, and returns where something is? */
static bool early_gives_access(const struct early_list *list,
			       const struct object_symbol *function)
{
	struct object *object = list->module->object;
	struct object_signature signature;
	const char *file;
	unsigned line;
	return early_is_own(list->program, function->name) &&
	       object_function_signature(object, function->value, &signature) &&
	       !signature.parameters && !signature.variadic &&
	       signature.returns_pointer &&
	       object_function_place(object, function->value, &file, &line) &&
	       !place_is_system(file);
}

/* The function that @guard is in: its name ends at one of the letters E. */
static bool early_find_function(const struct early_list *list,
				const char *guard, struct object_symbol *ret)
{
	const char *encoding = guard + strlen(guard_prefix);
	_cleanup_(str_freep) struct str name = STR_INIT;
	for (size_t n = strlen(encoding); n > 0; n--) {
		if (encoding[n - 1] != 'E')
			continue;
		name.n = 0;
		struct err *err =
			str_appendf(&name, "_Z%.*s", (int)(n - 1), encoding);
		if (err) {
			err_ignore(err);
			return false;
		}
		if (object_symbol(list->module->object, name.s, ret))
			return true;
	}
	return false;
}

static bool early_visit(void *data, const struct object_symbol *symbol)
{
	struct early_list *list = data;
	struct object_symbol function;
	if (strncmp(symbol->name, guard_prefix, strlen(guard_prefix)) != 0 ||
	    !early_find_function(list, symbol->name, &function) ||
	    !early_gives_access(list, &function))
		return true;
	uint64_t bias = list->module->bias;
	const struct early_access access = {
		.function = RADDR(function.value + bias),
		.guard = RADDR(symbol->value + bias),
	};
	list->err = vec_push(&list->all, access);
	return !list->err && list->all.n < EARLY_MAX;
}

static bool early_is_needed(struct run *run, const struct early_access *access)
{
	uint8_t guard = 1;
	uint64_t known;
	return memory_read_some(run->tracee, access->guard, &guard, 1) == 1 &&
	       !(guard & 1) &&
	       !map_u64_get(&run->session->early.refused, access->function.v,
			    &known);
}

static struct err *early_call(struct thread *thread, struct raddr function)
{
	uint64_t result;
	return remote_call(thread, function, NULL, 0, EARLY_LIMIT_NS, &result);
}

static struct err *early_call_function(struct run *run, struct raddr function)
{
	char name[128] = "?";
	_cleanup_(tracee_destroyp) struct tracee *copy = NULL;
	TRY(checkpoint_fork(run->ready_thread, &copy));
	struct err *err = early_call(tracee_thread(copy, 0), function);
	program_name_at(run->program, function, name, sizeof(name));
	log_debug(LOG_NATIVE, "%s is %s before the first test", name,
		  err ? "not called" : "called");
	if (!err)
		return early_call(run->ready_thread, function);
	err_ignore(err);
	return map_u64_put(&run->session->early.refused, function.v, 1);
}

static struct err *early_call_all(struct run *run,
				  const struct early_list *list)
{
	for (size_t i = 0; i < list->all.n; i++) {
		const struct early_access *access = &list->all.data[i];
		if (early_is_needed(run, access))
			TRY(early_call_function(run, access->function));
	}
	return NULL;
}

struct err *early_initialise(struct run *run)
{
	struct early_list list = { .program = run->program };
	const char *obstacle = checkpoint_obstacle(run->tracee);
	if (obstacle) {
		suite_limit(run->session->observer,
			    "pollution: nothing was initialised before the "
			    "first test: %s",
			    obstacle);
		return NULL;
	}
	for (size_t i = 0; !list.err && i < run->program->modules.n; i++) {
		list.module = &run->program->modules.data[i];
		if (!list.module->system && list.module->object &&
		    list.module->end)
			object_each_symbol(list.module->object, early_visit,
					   &list);
	}
	struct err *err = list.err ? list.err : early_call_all(run, &list);
	vec_free(&list.all);
	return err;
}
