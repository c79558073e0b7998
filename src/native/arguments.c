#include "native/arguments.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "tracee/breakpoint.h"
#include "tracee/memory.h"
#include "tracee/vector.h"

#define ARGUMENTS ((unsigned)OBJECT_POINTEES)
/* Bytes of stack where the parameters are not known. */
#define STACK_UNKNOWN 128U
#define STACK_MAX 8192U
/* What an argument points to, where its type is not known. */
#define POINTED_UNKNOWN 64U
#define POINTED_MAX 4096U
/* No memory below it: numbers. */
#define ADDRESS_MIN 0x10000
#define ADDRESS_MAX ((uint64_t)1 << 47)
/* How far up the stack frames may lie, and how many addresses are followed. */
#define FRAMES_MAX ((uint64_t)16 << 20)
#define DEPTH 2

/* What one call passes. */
struct call_arguments {
	bool kept;
	unsigned own; /* bits: it is the place's own, made for this call */
	uint64_t words[ARGUMENTS];
	unsigned pointed[ARGUMENTS]; /* bytes of what it may point to */
	uint64_t rax;		     /* how many vector registers are used */
	uint64_t sp;		     /* its alignment */
	uint8_t vector[VECTOR_ARGUMENTS];
	unsigned result_size; /* returned in memory, at the first word */
	uint8_t *stack;	      /* above the return address */
	size_t n_stack;
	uint64_t digests[ARGUMENTS]; /* of what it points to */
};

struct arguments {
	struct call_arguments *calls; /* by test */
	size_t n;
	size_t first; /* the first that was kept; RUN_NONE: none */
};

/* ---- memory that arguments point to ---- */

/* May it be an address in memory of no file: a block, a stack? */
static bool arguments_is_address(const struct run *run, uint64_t word)
{
	uint8_t byte;
	return word >= ADDRESS_MIN && word < ADDRESS_MAX &&
	       !program_module(run->program, RADDR(word)) &&
	       memory_read_some(run->tracee, RADDR(word), &byte, 1) == 1;
}

static uint64_t arguments_add_word(uint64_t digest, uint64_t word)
{
	return (digest ^ word) * UINT64_C(0x9e3779b97f4a7c15) + (digest >> 29);
}

/* In the frame of the runner, or of what called it. */
static bool arguments_in_frame(const struct call_arguments *call, uint64_t word)
{
	return word >= call->sp && word - call->sp < FRAMES_MAX;
}

/*
 * Blocks lie elsewhere each time: their addresses are all alike. What lies in
 * frames is looked at, to some depth.
 */
static uint64_t arguments_digest_memory(const struct run *run,
					const struct call_arguments *call,
					const uint8_t *bytes, size_t n,
					unsigned depth)
{
	uint64_t digest = 1;
	for (size_t i = 0; i < n; i += 8) {
		uint64_t word = 0;
		memcpy(&word, bytes + i, MIN(n - i, sizeof(word)));
		if (arguments_is_address(run, word)) {
			uint8_t next[POINTED_UNKNOWN];
			size_t read = 0;
			if (arguments_in_frame(call, word) && depth)
				read = memory_read_some(run->tracee,
							RADDR(word), next,
							sizeof(next));
			word = read ? arguments_digest_memory(run, call, next,
							      read, depth - 1)
				    : ADDRESS_MAX;
		}
		digest = arguments_add_word(digest, word);
	}
	return digest ? digest : 1;
}

/* Was that there before the first test? Where it cannot be known, it was not. */
static bool arguments_was_there(const struct run *run, uint64_t address,
				const uint8_t *bytes, size_t n)
{
	const struct run *origin = run->session->origin;
	uint8_t before[POINTED_MAX];
	return origin && origin != run &&
	       memory_read_some(origin->tracee, RADDR(address), before, n) ==
		       n &&
	       !memcmp(before, bytes, n);
}

static void arguments_examine_word(const struct run *run,
				   struct call_arguments *call, unsigned i)
{
	uint8_t bytes[POINTED_MAX];
	uint64_t word = call->words[i];
	if (!call->pointed[i] || !arguments_is_address(run, word))
		return;
	size_t n = memory_read_some(run->tracee, RADDR(word), bytes,
				    call->pointed[i]);
	call->digests[i] = arguments_digest_memory(run, call, bytes, n, DEPTH);
	if (!arguments_was_there(run, word, bytes, n))
		call->own |= 1U << i;
}

/*
 * At the second call: what the first one was given was there when all began. It
 * was made for it if it is something else by now.
 */
static void arguments_examine_again(const struct run *run,
				    struct call_arguments *call)
{
	uint8_t bytes[POINTED_MAX];
	for (unsigned i = 0; i < ARGUMENTS; i++) {
		if (!call->digests[i])
			continue;
		size_t n = memory_read_some(run->tracee, RADDR(call->words[i]),
					    bytes, call->pointed[i]);
		if (arguments_digest_memory(run, call, bytes, n, DEPTH) !=
		    call->digests[i])
			call->own |= 1U << i;
	}
}

/* ---- keeping ---- */

static bool arguments_signature(const struct session *session, uint64_t address,
				struct object_signature *ret)
{
	const struct module *module =
		program_module(session->program, RADDR(address));
	return module && module->object &&
	       object_function_signature(module->object, address - module->bias,
					 ret);
}

static struct err *arguments_create(struct session *session)
{
	if (session->arguments)
		return NULL;
	size_t n = session->suite.tests.n;
	session->arguments = calloc(1, sizeof(*session->arguments));
	if (!session->arguments)
		return err_nomem();
	session->arguments->n = n;
	session->arguments->first = RUN_NONE;
	session->arguments->calls =
		calloc(n, sizeof(*session->arguments->calls));
	return session->arguments->calls ? NULL : err_nomem();
}

void arguments_destroy(struct session *session)
{
	struct arguments *arguments = take_ptr(session->arguments);
	if (!arguments)
		return;
	for (size_t i = 0; arguments->calls && i < arguments->n; i++)
		free(arguments->calls[i].stack);
	free(arguments->calls);
	free(arguments);
}

static struct err *
arguments_keep_stack(const struct run *run,
		     const struct object_signature *signature,
		     struct call_arguments *call)
{
	/* An exception does not find its way past a lowered stack. */
	static const char *const throwers[] = { "__cxa_throw",
						"_Unwind_RaiseException" };
	size_t n = STACK_UNKNOWN;
	if (!signature &&
	    program_uses_any(run->program, throwers, ARRAY_SIZE(throwers)))
		return NULL;
	if (signature && !signature->variadic) {
		n = MIN(signature->parameters_size, STACK_MAX);
		/* Words alone go into registers, the first six of a kind. */
		if (n <= signature->parameters * 8 &&
		    signature->parameters <= ARGUMENTS)
			return NULL;
	}
	call->stack = malloc(n);
	if (!call->stack)
		return err_nomem();
	call->n_stack = memory_read_some(run->tracee, RADDR(call->sp + 8),
					 call->stack, n);
	return NULL;
}

/* Without debug information: those that the code reads, as bits. */
static unsigned arguments_used(const struct run *run, struct raddr function)
{
	const struct module *module = program_module(run->program, function);
	struct object_symbol symbol;
	if (!module || !module->object ||
	    !object_symbol_at(module->object, function.v - module->bias,
			      &symbol))
		return -1U;
	return breakpoint_code_arguments(run->tracee, function, symbol.size);
}

struct err *arguments_keep(struct run *run, const struct thread *thread,
			   size_t test, struct raddr function)
{
	struct session *session = run->session;
	struct object_signature signature;
	bool known = arguments_signature(session, function.v, &signature);
	bool none = known && !signature.parameters && !signature.variadic &&
		    signature.result_size <= 16;
	unsigned used = known ? -1U : arguments_used(run, function);
	if (none)
		return NULL;
	TRY(arguments_create(session));
	struct arguments *arguments = session->arguments;
	struct call_arguments *call = &arguments->calls[test];
	if (call->kept)
		return NULL;
	uint8_t vector[VECTOR_ALL];
	TRY(vector_read(thread, vector));
	memcpy(call->vector, vector, sizeof(call->vector));
	call->rax = regs_result(&thread->regs);
	call->sp = regs_sp(&thread->regs).v;
	for (unsigned i = 0; i < ARGUMENTS; i++) {
		call->words[i] = thread_arg(thread, i);
		bool sure = known && !signature.variadic;
		unsigned n = sure ? signature.pointees[i] : OBJECT_POINTEE_ANY;
		call->pointed[i] = n == OBJECT_POINTEE_ANY
					   ? POINTED_UNKNOWN
					   : MIN(n, POINTED_MAX);
		if (!(used & 1U << i))
			call->pointed[i] = 0;
		arguments_examine_word(run, call, i);
	}
	if (known && !signature.returns_void && !signature.returns_integer &&
	    !signature.returns_pointer && signature.result_size > 16)
		call->result_size = MIN(signature.result_size, STACK_MAX);
	TRY(arguments_keep_stack(run, known ? &signature : NULL, call));
	call->kept = true;
	if (arguments->first == RUN_NONE)
		arguments->first = test;
	else
		arguments_examine_again(run,
					&arguments->calls[arguments->first]);
	log_debug(LOG_NATIVE, "arguments of %s: %zu bytes of stack%s",
		  run_name(run, test), call->n_stack,
		  call->own ? ", some made for the call" : "");
	return NULL;
}

bool arguments_taken(struct session *session)
{
	for (size_t i = 0; i < session->suite.tests.n; i++) {
		struct object_signature signature;
		uint64_t function =
			session->handles.data[i].handle & (ADDRESS_MAX - 1);
		if (!arguments_signature(session, function, &signature) ||
		    signature.parameters || signature.variadic)
			return true;
	}
	return false;
}

struct err *arguments_take_over(struct session *to, const struct session *from)
{
	const struct arguments *known = from->arguments;
	if (!known || known->n != to->suite.tests.n)
		return NULL;
	arguments_destroy(to);
	TRY(arguments_create(to));
	for (size_t i = 0; i < known->n; i++) {
		struct call_arguments *call = &to->arguments->calls[i];
		*call = known->calls[i];
		call->stack = NULL;
		if (!call->n_stack)
			continue;
		call->stack = malloc(call->n_stack);
		if (!call->stack)
			return err_nomem();
		memcpy(call->stack, known->calls[i].stack, call->n_stack);
	}
	return NULL;
}

uint64_t arguments_digest(const struct session *session, size_t test)
{
	const struct arguments *arguments = session->arguments;
	if (!arguments)
		return 0;
	const struct call_arguments *call = &arguments->calls[test];
	uint64_t digest = call->own;
	for (unsigned i = 0; call->own && i < ARGUMENTS; i++) {
		if (call->own & 1U << i)
			digest = arguments_add_word(digest, call->digests[i]);
	}
	return digest;
}

/* ---- passing ---- */

/* Below all that is there, and aligned as it was. */
static struct err *arguments_lower_stack(struct run *run, struct thread *thread,
					 const struct call_arguments *call,
					 uint64_t *ret_lowered)
{
	uint64_t return_to, sp = regs_sp(&thread->regs).v;
	uint64_t result = (sp - call->result_size) & ~(uint64_t)63;
	uint64_t low = (result - call->n_stack - 8) & ~(uint64_t)63;
	low = low - 64 + (call->sp & 63);
	TRY(memory_read_u64(run->tracee, RADDR(sp), &return_to));
	TRY(memory_write_u64(run->tracee, RADDR(low), return_to));
	TRY(memory_write(run->tracee, RADDR(low + 8), call->stack,
			 call->n_stack));
	regs_set_sp(&thread->regs, RADDR(low));
	if (call->result_size)
		regs_set_arg(&thread->regs, 0, result);
	*ret_lowered = sp - low;
	return NULL;
}

struct err *arguments_pass(struct run *run, struct thread *thread, size_t test,
			   uint64_t *ret_lowered)
{
	const struct arguments *arguments = run->session->arguments;
	*ret_lowered = 0;
	if (!arguments || !arguments->calls[test].kept) {
		regs_set_arg(&thread->regs, 0, run_group(run, test));
		thread_dirty(thread);
		return NULL;
	}
	const struct call_arguments *call = &arguments->calls[test];
	TRY(vector_write(thread, call->vector, sizeof(call->vector)));
	regs_set_result(&thread->regs, call->rax);
	for (unsigned i = 0; i < ARGUMENTS; i++) {
		if (!(call->own & 1U << i))
			regs_set_arg(&thread->regs, i, call->words[i]);
	}
	thread_dirty(thread);
	return call->n_stack || call->result_size
		       ? arguments_lower_stack(run, thread, call, ret_lowered)
		       : NULL;
}
