#include "program/references.h"

#include <stdlib.h>

#include "base/compare.h"
#include "base/map.h"
#include "tracee/memory.h"

#define FUNCTIONS_MAX 2000
#define FUNCTION_BYTES ((size_t)256 << 10)

struct references {
	const struct program *program;
	struct thread *thread;
	bool (*leave)(void *data, uint64_t at);
	void *data;
	VEC(uint64_t) functions; /* to be read, then read */
	struct map_u64 known;	 /* the same, and what was left out */
	VEC(uint64_t) addresses; /* ascending, in the end */
	struct err *err;
};

/* The function of the project that @at is in. */
static bool references_function(const struct references *references,
				uint64_t at, struct object_symbol *ret,
				uint64_t *ret_bias)
{
	const struct module *module =
		program_module(references->program, RADDR(at));
	if (!module || !module->object || module->system ||
	    !object_symbol_at(module->object, at - module->bias, ret) ||
	    !ret->function || !ret->size || ret->size > FUNCTION_BYTES)
		return false;
	*ret_bias = module->bias;
	return true;
}

static struct err *references_add_function(struct references *references,
					   uint64_t at)
{
	struct object_symbol symbol;
	uint64_t bias, known;
	if (!references_function(references, at, &symbol, &bias))
		return NULL;
	uint64_t start = symbol.value + bias;
	if (map_u64_get(&references->known, start, &known) ||
	    references->functions.n >= FUNCTIONS_MAX)
		return NULL;
	TRY(map_u64_put(&references->known, start, 1));
	return references->leave(references->data, start)
		       ? NULL
		       : vec_push(&references->functions, start);
}

static void references_visit(void *data, struct raddr to, bool writes _unused_)
{
	struct references *references = data;
	uint64_t behind;
	if (references->err || !to.v)
		return;
	references->err = vec_push(&references->addresses, to.v);
	if (!references->err)
		references->err = references_add_function(references, to.v);
	/* What belongs to another file is found through a table. */
	if (!references->err && to.v % sizeof(behind) == 0 &&
	    memory_read_some(references->thread->tracee, to, &behind,
			     sizeof(behind)) == sizeof(behind) &&
	    program_module(references->program, RADDR(behind))) {
		references->err = vec_push(&references->addresses, behind);
		if (!references->err)
			references->err =
				references_add_function(references, behind);
	}
}

static struct err *references_read(struct references *references,
				   uint64_t function)
{
	struct object_symbol symbol;
	uint64_t bias;
	if (!references_function(references, function, &symbol, &bias))
		return NULL;
	_cleanup_(freep) uint8_t *code = malloc(symbol.size);
	if (!code)
		return err_nomem();
	size_t n = memory_read_some(references->thread->tracee, RADDR(function),
				    code, symbol.size);
	arch_references(code, n, RADDR(function),
			regs_thread_pointer(&references->thread->regs),
			references_visit, references);
	return take_ptr(references->err);
}

struct err *references_find(const struct program *program,
			    struct thread *thread, const uint64_t *functions,
			    size_t n, bool (*leave)(void *data, uint64_t at),
			    void *data, struct references **ret)
{
	_cleanup_(references_destroyp) struct references *references =
		calloc(1, sizeof(*references));
	if (!references)
		return err_nomem();
	references->program = program;
	references->thread = thread;
	references->leave = leave;
	references->data = data;
	for (size_t i = 0; i < n; i++)
		TRY(references_add_function(references, functions[i]));
	for (size_t i = 0; i < references->functions.n; i++)
		TRY(references_read(references, references->functions.data[i]));
	if (references->addresses.n)
		qsort(references->addresses.data, references->addresses.n,
		      sizeof(uint64_t), compare_as_u64);
	*ret = take_ptr(references);
	return NULL;
}

void references_destroy(struct references *references)
{
	if (!references)
		return;
	vec_free(&references->functions);
	vec_free(&references->addresses);
	map_u64_free(&references->known);
	free(references);
}

bool references_has(const struct references *references, uint64_t address,
		    uint64_t n)
{
	size_t low = 0, high = references->addresses.n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (references->addresses.data[middle] < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < references->addresses.n &&
	       references->addresses.data[low] - address < n;
}
