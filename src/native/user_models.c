#include "native/user_models.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/str.h"
#include "native/agent_call.h"
#include "native/chooser.h"
#include "native/session.h"
#include "tracee/breakpoint.h"
#include "tracee/memory.h"
#include "wire/choices.h"

#define ELEMENTS_MAX ((uint64_t)1 << 16)
#define SIZE_LIMIT ((uint64_t)4096)
/* Calls that are under way at once; the oldest are forgotten. */
#define PENDING_MAX 1024
#define FUNCTIONS_MAX 16
#define ARGUMENTS 6

struct pending {
	size_t model;
	pid_t tid; /* 0: the first thread, as in every copy */
	uint64_t sp, return_to;
	uint64_t arguments[ARGUMENTS];
};

struct user_models {
	const struct suite_user_model *models;
	size_t n;
	bool found[WIRE_USER_MODELS];
	bool told;
	struct pending pending[PENDING_MAX];
	size_t n_pending;
};

struct err *user_models_create(const struct suite_user_model *models, size_t n,
			       struct user_models **ret)
{
	BUG_ON(n > WIRE_USER_MODELS);
	struct user_models *made = calloc(1, sizeof(*made));
	if (!made)
		return err_nomem();
	made->models = models;
	made->n = n;
	*ret = made;
	return NULL;
}

void user_models_destroy(struct user_models *models)
{
	free(models);
}

/* ---- values ---- */

static bool user_models_evaluate(const struct thread *thread,
				 const struct suite_value *value,
				 const struct pending *call, uint64_t *ret)
{
	uint64_t word;
	switch (value->kind) {
	case SUITE_VALUE_RESULT:
		word = regs_result(&thread->regs);
		break;
	case SUITE_VALUE_ARGUMENT:
		if (value->argument >= ARGUMENTS)
			return false;
		word = call->arguments[value->argument];
		break;
	case SUITE_VALUE_NUMBER:
		*ret = value->number;
		return true;
	default:
		return false;
	}
	*ret = word;
	return !value->pointed ||
	       memory_read_some(thread->tracee, RADDR(word), ret,
				sizeof(*ret)) == sizeof(*ret);
}

/* Elements up to the first that is all zeroes. */
static uint64_t count_to_zero(struct tracee *tracee, uint64_t base,
			      uint64_t size)
{
	static const unsigned char zero[SIZE_LIMIT];
	unsigned char element[SIZE_LIMIT];
	for (uint64_t n = 0; n < ELEMENTS_MAX; n++) {
		if (memory_read_some(tracee, RADDR(base + n * size), element,
				     size) != size)
			break;
		if (!memcmp(element, zero, size))
			return n;
	}
	return 0;
}

/*
 * Lengths are ints or size_ts, and only the user knows which: what does not fit
 * into an int is none that we would follow, so its lower half tells.
 */
static bool find_array(const struct thread *thread,
		       const struct suite_user_model *model,
		       const struct pending *call, uint64_t *ret_base,
		       uint64_t *ret_n)
{
	uint64_t n, size = model->element_size;
	if (!user_models_evaluate(thread, &model->array, call, ret_base) ||
	    !*ret_base || !size || size > SIZE_LIMIT)
		return false;
	if (model->length.kind == SUITE_VALUE_NULL)
		n = count_to_zero(thread->tracee, *ret_base, size);
	else if (!user_models_evaluate(thread, &model->length, call, &n))
		return false;
	n = (uint32_t)n;
	if (n < 2 || n > ELEMENTS_MAX)
		return false;
	/* The agent reads and writes all of it: is it there? */
	char last;
	uint64_t end;
	if (__builtin_add_overflow(*ret_base, n * size, &end))
		return false;
	for (uint64_t at = *ret_base; at < end; at += 4096) {
		if (memory_read_some(thread->tracee, RADDR(at), &last, 1) != 1)
			return false;
	}
	*ret_n = n;
	return memory_read_some(thread->tracee, RADDR(end - 1), &last, 1) == 1;
}

/* ---- the choice ---- */

static struct err *user_models_choose(struct run *run, struct thread *thread,
				      const struct pending *call)
{
	const struct user_models *models = run->session->user_models;
	const struct suite_user_model *model = &models->models[call->model];
	struct wire_choices *block = chooser_block(run->session->chooser);
	uint64_t result = regs_result(&thread->regs), base = 0, n = 0;
	uint64_t value = model->wide ? result : (uint64_t)(int32_t)result;
	uint64_t agent = block->permute_address;
	if (!block->active || !agent)
		return NULL;
	switch (model->kind) {
	case WIRE_PERMUTE:
		if (!find_array(thread, model, call, &base, &n))
			return NULL;
		break;
	case WIRE_SHORT: /* of a count: fewer, but not fewer than allowed */
		if ((int64_t)value <= model->min)
			return NULL;
		base = (uint64_t)model->min;
		n = value - base + 1;
		break;
	default:
		base = (uint64_t)model->min;
		n = (uint64_t)model->max - base + 1;
	}
	const uint64_t arguments[AGENT_CALL_ARGUMENTS] = {
		WIRE_MODEL_USER + call->model,
		(uint64_t)model->kind,
		base,
		n,
		model->element_size,
		value,
	};
	const struct agent_call agent_call = {
		.kind = call->model,
		.value = value,
	};
	return agent_call_begin(run, thread, agent, arguments, &agent_call);
}

/* Back from the agent: everything as it was, except the result. */
static bool user_models_resume_thread(struct run *run, struct thread *thread)
{
	const struct user_models *models = run->session->user_models;
	struct agent_call call;
	if (!agent_call_end(run, thread, false, &call))
		return false;
	if (call.kind < models->n &&
	    models->models[call.kind].kind != WIRE_PERMUTE &&
	    call.result != call.value)
		regs_set_result(&thread->regs, call.result);
	return true;
}

/* ---- entry and return ---- */

static void user_models_forget_call(struct user_models *models, size_t i)
{
	memmove(&models->pending[i], &models->pending[i + 1],
		(models->n_pending - i - 1) * sizeof(models->pending[0]));
	models->n_pending--;
}

/* Calls of this thread that the stack has grown back over are over. */
static void forget_left(struct user_models *models, pid_t tid, uint64_t sp)
{
	for (size_t i = models->n_pending; i--;) {
		if (models->pending[i].tid == tid &&
		    models->pending[i].sp <= sp)
			user_models_forget_call(models, i);
	}
}

static struct err *on_return(struct run *run, struct thread *thread,
			     uint64_t arg _unused_)
{
	struct user_models *models = run->session->user_models;
	pid_t tid = agent_call_thread(thread);
	uint64_t sp = regs_sp(&thread->regs).v, pc = regs_pc(&thread->regs).v;
	if (user_models_resume_thread(run, thread))
		return NULL;
	for (size_t i = models->n_pending; i--;) {
		struct pending call = models->pending[i];
		if (call.tid != tid || call.sp + 8 != sp ||
		    call.return_to != pc)
			continue;
		user_models_forget_call(models, i);
		struct err *err = user_models_choose(run, thread, &call);
		if (err) /* the test continues as usual */
			err_ignore(err);
		break;
	}
	return NULL;
}

static struct err *on_entry(struct run *run, struct thread *thread,
			    uint64_t arg)
{
	struct user_models *models = run->session->user_models;
	struct pending call = {
		.model = arg,
		.tid = agent_call_thread(thread),
		.sp = regs_sp(&thread->regs).v,
	};
	uint64_t word;
	if (!chooser_block(run->session->chooser)->active ||
	    memory_read_some(run->tracee, RADDR(call.sp), &call.return_to,
			     sizeof(call.return_to)) != sizeof(call.return_to))
		return NULL;
	struct raddr back = RADDR(call.return_to);
	/* A framework's own breakpoint stays. */
	if (breakpoint_at(run->tracee, back, &word) &&
	    run->session->hooks.data[word].call != on_return)
		return NULL;
	struct err *err = run_break(run, back, on_return, 0);
	if (err) {
		err_ignore(err);
		return NULL;
	}
	for (unsigned i = 0; i < ARGUMENTS; i++)
		call.arguments[i] = thread_arg(thread, i);
	forget_left(models, call.tid, call.sp);
	if (models->n_pending == PENDING_MAX)
		user_models_forget_call(models, 0);
	models->pending[models->n_pending++] = call;
	return NULL;
}

/* ---- finding functions ---- */

struct user_models_search {
	struct run *run;
	const struct module *module;
	size_t model;
	const char *name;
	const char *last; /* part of its name: what mangling leaves as it is */
	size_t last_n;
	size_t found;
	struct err *err;
};

static struct err *break_at(struct user_models_search *search, uint64_t value)
{
	struct raddr at = RADDR(value + search->module->bias);
	struct run *run = search->run;
	uint64_t word;
	if (breakpoint_at(run->tracee, at, &word) &&
	    run->session->hooks.data[word].call != on_entry)
		return NULL;
	search->found++;
	return run_break(run, at, on_entry, search->model);
}

static bool visit_mangled(void *data, const struct object_symbol *symbol)
{
	struct user_models_search *search = data;
	if (!symbol->function || symbol->ifunc ||
	    !str_starts(symbol->name, "_Z") || strchr(symbol->name, '.') ||
	    !memmem(symbol->name, strlen(symbol->name), search->last,
		    search->last_n))
		return true;
	_cleanup_(freep) char *full = object_plain_name(symbol->name);
	_cleanup_(freep) char *name = object_function_name(symbol->name);
	if ((full && !strcmp(full, search->name)) ||
	    (name && !strcmp(name, search->name)))
		search->err = break_at(search, symbol->value);
	return !search->err && search->found < FUNCTIONS_MAX;
}

/* "app::list<int>::names(int)": "list", "names" … the last that is a word. */
static void last_word(struct user_models_search *search)
{
	size_t n = strcspn(search->name, "(<");
	size_t from = n;
	while (from && search->name[from - 1] != ':')
		from--;
	search->last = search->name + from;
	search->last_n = n - from;
}

static struct err *find_function(struct run *run, size_t model, bool *ret)
{
	struct user_models_search search = {
		.run = run,
		.model = model,
		.name = run->session->user_models->models[model].function,
	};
	last_word(&search);
	for (size_t i = 0; i < run->program->modules.n; i++) {
		struct object_symbol symbol;
		search.module = &run->program->modules.data[i];
		if (!search.module->end || !search.module->object)
			continue;
		if (object_symbol(search.module->object, search.name,
				  &symbol)) {
			if (symbol.function && !symbol.ifunc)
				TRY(break_at(&search, symbol.value));
		} else if (!search.module->system) {
			object_each_symbol(search.module->object, visit_mangled,
					   &search);
			TRY(search.err);
		}
	}
	*ret = search.found;
	return NULL;
}

struct err *user_models_attach(struct run *run)
{
	struct user_models *models = run->session->user_models;
	for (size_t i = 0; models && i < models->n; i++) {
		bool found;
		TRY(find_function(run, i, &found));
		models->found[i] |= found;
	}
	return NULL;
}

void user_models_tell(struct session *session)
{
	struct user_models *models = session->user_models;
	const struct suite_observer *observer = session->observer;
	if (!models || models->told || !observer || !observer->limit)
		return;
	models->told = true;
	for (size_t i = 0; i < models->n; i++) {
		if (!models->found[i])
			suite_limit(observer,
				    "the program has no function '%s' of its "
				    "own (it may have been inlined): nothing "
				    "is chosen there",
				    models->models[i].function);
	}
}
