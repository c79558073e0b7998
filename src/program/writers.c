#include "program/writers.h"

#include <stdlib.h>

#include "base/map.h"
#include "tracee/memory.h"

#define FUNCTIONS_MAX 30000
#define FUNCTION_BYTES ((size_t)256 << 10)
/* How far up callers are followed. */
#define CALLERS_UP 5
/* In distance: to write there, to take its address, to read it, to call. */
#define STEP_TAKES 1
#define STEP_READS 2
#define STEP_CALLS 2

struct writer_call {
	uint64_t caller, callee;
};

struct writers {
	const struct program *program;
	struct thread *thread;
	const struct program_span *places;
	size_t n;
	struct map_u64 distances; /* by the function's address */
	VEC(struct writer_call) calls;
	uint64_t function; /* that is being read */
	size_t functions;
	struct err *err;
};

void writers_destroy(struct writers *writers)
{
	if (!writers)
		return;
	map_u64_free(&writers->distances);
	vec_free(&writers->calls);
	free(writers);
}

unsigned writers_distance(const struct writers *writers, uint64_t address)
{
	uint64_t distance;
	return map_u64_get(&writers->distances, address, &distance)
		       ? (unsigned)distance
		       : WRITERS_FAR;
}

static struct err *writers_note(struct writers *writers, uint64_t function,
				unsigned distance)
{
	return distance < writers_distance(writers, function)
		       ? map_u64_put(&writers->distances, function, distance)
		       : NULL;
}

static bool writers_is_place(const struct writers *writers, uint64_t at)
{
	for (size_t i = 0; i < writers->n; i++) {
		if (at >= writers->places[i].start &&
		    at < writers->places[i].end)
			return true;
	}
	return false;
}

static bool writers_is_function(const struct writers *writers, uint64_t at)
{
	struct object_symbol symbol;
	const struct module *module =
		program_module(writers->program, RADDR(at));
	return module && module->object && !module->system &&
	       object_symbol_at(module->object, at - module->bias, &symbol) &&
	       symbol.function && symbol.value + module->bias == at;
}

static void writers_visit(void *data, struct raddr to, bool writes)
{
	struct writers *writers = data;
	uint64_t behind;
	if (writers->err || !to.v)
		return;
	if (writers_is_place(writers, to.v)) {
		writers->err = writers_note(writers, writers->function,
					    writes ? 0 : STEP_READS);
		return;
	}
	/* Through the table of a shared library or a call of another file. */
	if (to.v % sizeof(behind) == 0 &&
	    memory_read_some(writers->thread->tracee, to, &behind,
			     sizeof(behind)) == sizeof(behind)) {
		if (writers_is_place(writers, behind))
			writers->err = writers_note(writers, writers->function,
						    STEP_TAKES);
		else if (!writers->err && writers_is_function(writers, behind))
			to.v = behind;
	}
	if (!writers->err && to.v != writers->function &&
	    writers_is_function(writers, to.v))
		writers->err = vec_push(
			&writers->calls,
			(struct writer_call){ writers->function, to.v });
}

static struct err *writers_read(struct writers *writers, uint64_t address,
				uint64_t size)
{
	_cleanup_(freep) uint8_t *code = malloc(size);
	if (!code)
		return err_nomem();
	size_t n = memory_read_some(writers->thread->tracee, RADDR(address),
				    code, size);
	writers->function = address;
	arch_references(code, n, RADDR(address),
			regs_thread_pointer(&writers->thread->regs),
			writers_visit, writers);
	return take_ptr(writers->err);
}

struct writers_module {
	struct writers *writers;
	const struct module *module;
	struct err *err;
};

static bool writers_visit_symbol(void *data, const struct object_symbol *symbol)
{
	struct writers_module *at = data;
	struct writers *writers = at->writers;
	if (!symbol->function || !symbol->size || symbol->size > FUNCTION_BYTES)
		return true;
	if (++writers->functions > FUNCTIONS_MAX)
		return false;
	at->err = writers_read(writers, symbol->value + at->module->bias,
			       symbol->size);
	return !at->err;
}

static struct err *writers_go_up(struct writers *writers)
{
	for (int up = 0; up < CALLERS_UP; up++) {
		for (size_t i = 0; i < writers->calls.n; i++) {
			const struct writer_call *call =
				&writers->calls.data[i];
			unsigned far = writers_distance(writers, call->callee);
			if (far != WRITERS_FAR)
				TRY(writers_note(writers, call->caller,
						 far + STEP_CALLS));
		}
	}
	return NULL;
}

struct err *writers_find(const struct program *program, struct thread *thread,
			 const struct program_span *places, size_t n,
			 struct writers **ret)
{
	struct writers *writers = calloc(1, sizeof(*writers));
	struct err *err = NULL;
	if (!writers)
		return err_nomem();
	*writers = (struct writers){
		.program = program,
		.thread = thread,
		.places = places,
		.n = n,
	};
	for (size_t i = 0; !err && i < program->modules.n; i++) {
		struct writers_module at = {
			.writers = writers,
			.module = &program->modules.data[i],
		};
		if (at.module->system || !at.module->object || !at.module->end)
			continue;
		object_each_symbol(at.module->object, writers_visit_symbol,
				   &at);
		err = at.err;
	}
	if (!err)
		err = writers_go_up(writers);
	if (err)
		writers_destroy(writers);
	else
		*ret = writers;
	return err;
}
