#include "framework/function_suites.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/str.h"
#include "framework/function_calls.h"
#include "framework/function_names.h"
#include "native/session.h"
#include "tracee/memory.h"

/* Functions and tables that are larger are not read. */
#define READ_MAX ((size_t)1 << 20)
#define OTHERS_MAX 64

struct graph_function {
	uint64_t address;
	uint64_t size;
	const char *name;
	bool named;	  /* by the user, and not by a pattern */
	size_t referrers; /* how many functions and tables refer to it */
	size_t callees;	  /* functions named as tests that only it refers to */
	size_t *to;	  /* indexes of all that it refers to, each once */
	size_t n_to;
	/* Other functions of the project that it calls, and how often. */
	struct {
		uint64_t address;
		size_t calls;
	} others[OTHERS_MAX];
	size_t n_others;
	bool crowded; /* there are more */
	bool suite;
};

struct test_graph {
	struct run *run;
	VEC(struct graph_function) functions;
	struct map_u64 by_address;
	struct map_u64 tables;	  /* that they refer to */
	uint64_t lowest, highest; /* of their addresses */
	struct err *err;
};

static void test_graph_free(struct test_graph *graph)
{
	for (size_t i = 0; i < graph->functions.n; i++)
		free(graph->functions.data[i].to);
	vec_free(&graph->functions);
	map_u64_free(&graph->by_address);
	map_u64_free(&graph->tables);
}

static struct err *suite_add_function(void *data, struct run *run,
				      const struct module *module,
				      const struct object_symbol *symbol)
{
	struct test_graph *graph = data;
	const struct graph_function function = {
		.address = symbol->value + module->bias,
		.size = symbol->size,
		.name = symbol->name,
		.named = function_names_is_given(run, symbol->name),
	};
	uint64_t known;
	if (map_u64_get(&graph->by_address, function.address, &known))
		return NULL;
	TRY(map_u64_put(&graph->by_address, function.address,
			graph->functions.n));
	if (!graph->functions.n || function.address < graph->lowest)
		graph->lowest = function.address;
	graph->highest = MAX(graph->highest, function.address);
	return vec_push(&graph->functions, function);
}

/* NULL: it cannot be read, or is too large. */
static uint8_t *suite_read_bytes(struct test_graph *graph, uint64_t address,
				 size_t n)
{
	uint8_t *bytes = n >= 4 && n <= READ_MAX ? malloc(n) : NULL;
	if (bytes &&
	    memory_read_some(graph->run->tracee, RADDR(address), bytes, n) == n)
		return bytes;
	free(bytes);
	return NULL;
}

/* Is that the entry of one of them? */
static bool suite_find(const struct test_graph *graph, uint64_t address,
		       size_t *ret)
{
	uint64_t index;
	if (address < graph->lowest || address > graph->highest ||
	    !map_u64_get(&graph->by_address, address, &index))
		return false;
	*ret = index;
	return true;
}

static struct err *suite_note_reference(struct test_graph *graph,
					struct graph_function *from, size_t to)
{
	for (size_t i = 0; i < from->n_to; i++) {
		if (from->to[i] == to)
			return NULL;
	}
	size_t *grown = realloc(from->to, (from->n_to + 1) * sizeof(*grown));
	if (!grown)
		return err_nomem();
	from->to = grown;
	from->to[from->n_to++] = to;
	graph->functions.data[to].referrers++;
	return NULL;
}

static void suite_note_other(struct graph_function *from, uint64_t address)
{
	for (size_t i = 0; i < from->n_others; i++) {
		if (from->others[i].address == address) {
			from->others[i].calls++;
			return;
		}
	}
	if (from->n_others == OTHERS_MAX) {
		from->crowded = true;
		return;
	}
	from->others[from->n_others].address = address;
	from->others[from->n_others++].calls = 1;
}

static bool suite_symbol_at(const struct test_graph *graph, uint64_t address,
			    bool *ret_system, uint64_t *ret_start,
			    struct object_symbol *ret)
{
	const struct module *module =
		program_module(graph->run->program, RADDR(address));
	if (!module || !module->object ||
	    !object_symbol_at(module->object, address - module->bias, ret))
		return false;
	*ret_system = module->system;
	*ret_start = ret->value + module->bias;
	return true;
}

/* A table of functions: what is in it is passed on. */
static struct err *suite_read_table(struct test_graph *graph,
				    struct graph_function *from,
				    uint64_t address, uint64_t size)
{
	_cleanup_(freep) uint8_t *bytes =
		suite_read_bytes(graph, address, size);
	for (size_t i = 0; bytes && i + 8 <= size; i += 8) {
		uint64_t word;
		size_t to;
		memcpy(&word, bytes + i, sizeof(word));
		if (suite_find(graph, word, &to))
			TRY(suite_note_reference(graph, from, to));
	}
	return NULL;
}

static bool suite_is_inside(const struct graph_function *function,
			    uint64_t address)
{
	return address >= function->address &&
	       address < function->address + function->size;
}

/* *@ret: it is the function itself, or another that is known. */
static struct err *suite_note_known(struct test_graph *graph,
				    struct graph_function *from,
				    uint64_t target, bool *ret)
{
	size_t to;
	bool inside = suite_is_inside(from, target);
	bool found = !inside && suite_find(graph, target, &to);
	*ret = inside || found;
	return found ? suite_note_reference(graph, from, to) : NULL;
}

static struct err *suite_note_call(struct test_graph *graph,
				   struct graph_function *from, uint64_t target)
{
	struct object_symbol symbol;
	uint64_t start;
	bool system;
	bool known;
	TRY(suite_note_known(graph, from, target, &known));
	if (!known &&
	    suite_symbol_at(graph, target, &system, &start, &symbol) &&
	    symbol.function && start == target && !system)
		suite_note_other(from, target);
	return NULL;
}

/* A function whose address is taken, or a table of them. */
static struct err *suite_note_address(struct test_graph *graph,
				      struct graph_function *from,
				      uint64_t target)
{
	struct object_symbol symbol;
	uint64_t start;
	bool system;
	bool known;
	TRY(suite_note_known(graph, from, target, &known));
	if (known ||
	    !suite_symbol_at(graph, target, &system, &start, &symbol) ||
	    !symbol.data || system)
		return NULL;
	if (from->name)
		TRY(map_u64_put(&graph->tables, start, 1));
	return suite_read_table(graph, from, start, symbol.size);
}

/*
 * Calls and jumps are e8, e9 and eb; addresses are taken by "lea", relative to
 * the instruction pointer, or as 4 bytes where a program has fixed addresses.
 * Bytes are looked at one by one: that others look like an instruction that
 * leads to the very entry of a function is unlikely enough.
 */
static struct err *suite_read_code(struct test_graph *graph,
				   struct graph_function *from)
{
	_cleanup_(freep) uint8_t *code =
		suite_read_bytes(graph, from->address, from->size);
	for (size_t i = 1; code && i < from->size; i++) {
		uint64_t here = from->address + i;
		int32_t relative;
		uint32_t absolute;
		size_t to;
		if (code[i - 1] == 0xeb)
			TRY(suite_note_call(
				graph, from,
				here + 1 + (uint64_t)(int64_t)(int8_t)code[i]));
		if (i + 4 > from->size)
			continue;
		memcpy(&relative, code + i, sizeof(relative));
		memcpy(&absolute, code + i, sizeof(absolute));
		uint64_t target = here + 4 + (uint64_t)(int64_t)relative;
		if (code[i - 1] == 0xe8 || code[i - 1] == 0xe9)
			TRY(suite_note_call(graph, from, target));
		else if (i >= 2 && code[i - 2] == 0x8d &&
			 (code[i - 1] & 0xc7) == 0x05)
			TRY(suite_note_address(graph, from, target));
		else if (suite_find(graph, absolute, &to) &&
			 !suite_is_inside(from, absolute))
			TRY(suite_note_reference(graph, from, to));
	}
	return NULL;
}

/* Everything else that refers to one of them: other functions, and tables. */
static struct err *suite_count_references(struct test_graph *graph,
					  uint64_t address,
					  const struct object_symbol *symbol)
{
	struct graph_function other = { .address = address,
					.size = symbol->size };
	struct err *err = NULL;
	size_t index;
	uint64_t known;
	if (symbol->function && !suite_find(graph, address, &index))
		err = suite_read_code(graph, &other);
	else if (symbol->data && !map_u64_get(&graph->tables, address, &known))
		err = suite_read_table(graph, &other, address, symbol->size);
	free(other.to);
	return err;
}

struct graph_visit {
	struct test_graph *graph;
	const struct module *module;
};

static bool suite_visit_symbol(void *data, const struct object_symbol *symbol)
{
	const struct graph_visit *visit = data;
	struct test_graph *graph = visit->graph;
	if (symbol->value && !symbol->ifunc)
		graph->err = suite_count_references(
			graph, symbol->value + visit->module->bias, symbol);
	return !graph->err;
}

static struct err *suite_read_rest(struct test_graph *graph)
{
	const struct program *program = graph->run->program;
	for (size_t i = 0; i < program->modules.n && !graph->err; i++) {
		struct graph_visit visit = { graph, &program->modules.data[i] };
		if (visit.module->object && !visit.module->system &&
		    visit.module->end)
			object_each_symbol(visit.module->object,
					   suite_visit_symbol, &visit);
	}
	return graph->err;
}

static bool suite_has_parameters(const struct test_graph *graph,
				 const struct graph_function *function)
{
	struct object_signature signature;
	return function_signature_of(graph->run, function->address,
				     &signature) &&
	       (signature.parameters || signature.variadic);
}

/* A word in a name of words, "test_suite_all". */
static bool suite_has_word(const char *name, const char *word)
{
	size_t n = strlen(word);
	for (const char *at = name; (at = strstr(at, word)); at++) {
		bool begins = at == name || at[-1] == '_';
		if (begins && (!at[n] || at[n] == '_' || at[n] == 's'))
			return true;
	}
	return false;
}

/* The first of the two conditions. */
static bool suite_calls_tests(struct test_graph *graph,
			      struct graph_function *function)
{
	for (size_t i = 0; i < function->n_to; i++) {
		const struct graph_function *to =
			&graph->functions.data[function->to[i]];
		if (to == function)
			continue;
		if (to->referrers > 1 || suite_has_parameters(graph, to))
			return false;
		function->callees++;
	}
	bool called = suite_has_word(function->name, "suite") ||
		      suite_has_word(function->name, "all");
	return function->callees >= (called ? 1 : 2);
}

static bool suite_others_call(const struct test_graph *graph,
			      const struct graph_function *function,
			      uint64_t address)
{
	for (size_t i = 0; i < graph->functions.n; i++) {
		const struct graph_function *other = &graph->functions.data[i];
		if (other == function || !other->suite)
			continue;
		for (size_t j = 0; j < other->n_others; j++) {
			if (other->others[j].address == address)
				return true;
		}
	}
	return false;
}

/* The second, for those that meet the first. */
static bool suite_does_nothing_else(const struct test_graph *graph,
				    const struct graph_function *function)
{
	for (size_t i = 0; i < function->n_others; i++) {
		if (function->others[i].calls < MAX(function->callees, 2u) &&
		    !suite_others_call(graph, function,
				       function->others[i].address))
			return false;
	}
	return !function->crowded;
}

static struct err *suite_judge_functions(struct test_graph *graph)
{
	bool candidates = false;
	for (size_t i = 0; i < graph->functions.n; i++) {
		TRY(suite_read_code(graph, &graph->functions.data[i]));
		candidates |= graph->functions.data[i].n_to > 0;
	}
	if (!candidates)
		return NULL;
	TRY(suite_read_rest(graph));
	for (size_t i = 0; i < graph->functions.n; i++) {
		struct graph_function *function = &graph->functions.data[i];
		function->suite = suite_calls_tests(graph, function);
	}
	bool again;
	do {
		again = false;
		for (size_t i = 0; i < graph->functions.n; i++) {
			struct graph_function *function =
				&graph->functions.data[i];
			if (!function->suite ||
			    suite_does_nothing_else(graph, function))
				continue;
			function->suite = false;
			again = true;
		}
	} while (again);
	for (size_t i = 0; i < graph->functions.n; i++) {
		const struct graph_function *function =
			&graph->functions.data[i];
		if (!function->suite || function->named)
			continue;
		log_debug(LOG_FRAMEWORK,
			  "%s calls %zu other tests: a suite, not a test",
			  function->name, function->callees);
		TRY(map_u64_put(&graph->run->session->suites, function->address,
				1));
	}
	return NULL;
}

struct err *function_suites_find(struct run *run)
{
	struct test_graph graph = { .run = run };
	size_t n;
	if (run->session->suites_of == run->program->modules.n)
		return NULL;
	run->session->suites_of = run->program->modules.n;
	map_u64_free(&run->session->suites);
	struct err *err =
		function_names_each(run, suite_add_function, &graph, &n);
	if (!err)
		err = suite_judge_functions(&graph);
	test_graph_free(&graph);
	return err;
}
