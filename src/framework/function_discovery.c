#include "framework/function_discovery.h"

#include <stdlib.h>
#include <string.h>

#include "framework/function_calls.h"
#include "framework/function_names.h"
#include "native/session.h"
#include "tracee/breakpoint.h"
#include "tracee/memory.h"
#include "tracee/remote.h"

#define NOTE_SIZE (2 * sizeof(uint64_t))
/* In place of an address: the runner forks. */
#define FORK_MARK UINT64_C(1)
#define NOTES_SIZE (FUNCTION_NAMES_MAX * NOTE_SIZE + 2 * NOTE_SIZE)

/* One more call of the runner: one more test. */
static struct err *function_discovery_add_call(struct run *run,
					       uint64_t address,
					       uint64_t argument)
{
	const struct module *module =
		program_module(run->program, RADDR(address));
	struct object_symbol symbol;
	const char *file = NULL;
	unsigned line = 0;
	if (!module || !module->object ||
	    !object_symbol_at(module->object, address - module->bias, &symbol))
		return err_create(ERR_INTERNAL, "a test function is gone");
	uint64_t occurrence = 0;
	map_u64_get(&run->session->seen, address, &occurrence);
	if (run_tests(run) >= FUNCTION_NAMES_MAX ||
	    occurrence >= FUNCTION_OCCURRENCES_MAX)
		return NULL;
	TRY(map_u64_put(&run->session->seen, address, occurrence + 1));
	program_function_place(run->program, RADDR(address), &file, &line);
	char plain[FUNCTION_NAME_MAX];
	bool whole = function_names_plain(symbol.name, plain);
	_cleanup_(freep) char *name =
		object_function_name(whole ? plain : symbol.name);
	if (!name)
		return err_nomem();
	return run_add_test(run, name, file, line, false,
			    address | occurrence << FUNCTION_OCCURRENCE_SHIFT,
			    argument);
}

/*
 * Calls are noted by code of ours in the copy, without a stop, in memory that
 * the origin shares (arch_note()). Functions too short for a call instruction
 * have their breakpoint; they are noted there by us, so that the sequence is
 * kept.
 */
struct function_notes {
	uint64_t next, end;
};

static struct err *
function_discovery_note_call(struct run *run,
			     const struct function_discovery *discovery,
			     uint64_t address, uint64_t argument)
{
	struct function_notes notes;
	TRY(memory_read(run->tracee, discovery->notes, &notes, sizeof(notes)));
	if (notes.next >= notes.end)
		return NULL;
	const uint64_t entry[2] = { address + ARCH_CALL_SIZE, argument };
	TRY(memory_write(run->tracee, RADDR(notes.next), entry, sizeof(entry)));
	return memory_write_u64(run->tracee, discovery->notes,
				notes.next + sizeof(entry));
}

struct err *function_discovery_note(struct run *run,
				    const struct thread *thread,
				    const struct function_discovery *discovery,
				    uint64_t address)
{
	uint64_t argument = thread_arg(thread, 0);
	return discovery->notes.v
		       ? function_discovery_note_call(run, discovery, address,
						      argument)
		       : function_discovery_add_call(run, address, argument);
}

struct err *function_discovery_add(struct run *run, struct thread *thread,
				   const struct function_discovery *discovery,
				   uint64_t address)
{
	TRY(function_discovery_note(run, thread, discovery, address));
	return function_skip_call(run, thread, address);
}

struct err *function_discovery_begin(struct run *run, struct thread *thread,
				     struct function_discovery *discovery)
{
	struct raddr at;
	TRY(remote_map_shared(thread, NOTES_SIZE, &at));
	const struct function_notes notes = { at.v + sizeof(notes),
					      at.v + NOTES_SIZE - NOTE_SIZE };
	TRY(memory_write(run->tracee, at, &notes, sizeof(notes)));
	discovery->notes = at;
	return NULL;
}

struct err *
function_discovery_mark_fork(struct run *run,
			     const struct function_discovery *discovery)
{
	return discovery->notes.v
		       ? function_discovery_note_call(
				 run, discovery, FORK_MARK - ARCH_CALL_SIZE, 0)
		       : NULL;
}

/* Where tests are forked for, each follows its own fork. */
static struct err *function_discovery_check_forks(const uint64_t *entries,
						  size_t n)
{
	bool forks = n && entries[0] == FORK_MARK;
	for (size_t i = 0; forks && i < n; i++) {
		bool mark = entries[2 * i] == FORK_MARK;
		if (mark == (i % 2 == 0) && (!mark || i + 1 < n))
			continue;
		return err_hint(
			err_create(ERR_SUITE,
				   "the program does not fork once for each of "
				   "its tests, one after another"),
			"make it run its tests in its own process, or run "
			"them as processes with --commands");
	}
	return NULL;
}

struct err *function_discovery_end(struct run *run, struct thread *thread,
				   struct function_discovery *discovery)
{
	struct raddr base = discovery->notes;
	struct function_notes notes;
	TRY(memory_read(run->tracee, base, &notes, sizeof(notes)));
	uint64_t at = base.v + sizeof(notes);
	if (notes.next < at || notes.next > base.v + NOTES_SIZE)
		return err_create(ERR_SUITE, "the program overwrote the list "
					     "of its tests");
	size_t n = (notes.next - at) / NOTE_SIZE;
	_cleanup_(freep) uint64_t *entries = malloc(n * NOTE_SIZE + 1);
	if (!entries)
		return err_nomem();
	if (n)
		TRY(memory_read(run->tracee, RADDR(at), entries,
				n * NOTE_SIZE));
	discovery->notes = RADDR(0);
	TRY(remote_unmap(thread, base, NOTES_SIZE));
	TRY(function_discovery_check_forks(entries, n));
	for (size_t i = 0; i < n; i++) {
		if (entries[2 * i] != FORK_MARK)
			TRY(function_discovery_add_call(
				run, entries[2 * i] - ARCH_CALL_SIZE,
				entries[2 * i + 1]));
	}
	return NULL;
}

struct function_overlays {
	struct raddr notes;
	const struct module *module; /* whose code this is; NULL: none yet */
	/* By the number of registers; for this result. */
	struct raddr notes_of[3];
	struct arch_result results[3];
	bool forks;
};

/* In each file of the project, code that notes, in reach of its functions. */
static struct err *
function_discovery_write_code(struct run *run, const struct module *module,
			      const struct arch_result *result,
			      struct function_overlays *overlays)
{
	struct thread *thread = run->ready_thread;
	uint8_t code[ARCH_NOTE_SIZE];
	arch_note(overlays->notes, result, code);
	TRY(breakpoint_code(thread, RADDR(module->start), code, sizeof(code),
			    &overlays->notes_of[result->registers]));
	overlays->results[result->registers] = *result;
	return NULL;
}

static struct err *
function_discovery_overlay(void *data, struct run *run,
			   const struct module *module,
			   const struct object_symbol *symbol)
{
	struct function_overlays *overlays = data;
	uint8_t code[ARCH_CALL_SIZE];
	if (symbol->size < sizeof(code))
		return NULL;
	struct raddr at = RADDR(symbol->value + module->bias);
	/* Where it is called matters: function_call_is_final(). */
	if (!overlays->forks &&
	    !breakpoint_code_returns(run->tracee, at, symbol->size))
		return NULL;
	if (overlays->module != module)
		memset(overlays->notes_of, 0, sizeof(overlays->notes_of));
	overlays->module = module;
	struct arch_result result;
	function_result(run, at.v, &result);
	struct raddr note = overlays->notes_of[result.registers];
	if (!note.v) {
		TRY(function_discovery_write_code(run, module, &result,
						  overlays));
		note = overlays->notes_of[result.registers];
	}
	/* Structs differ: it keeps its breakpoint. */
	if (memcmp(&result, &overlays->results[result.registers],
		   sizeof(result)) != 0)
		return NULL;
	return arch_call(at, note, code)
		       ? breakpoint_overlay(run->tracee, at, code, sizeof(code))
		       : NULL;
}

struct err *function_discovery_start(struct run *run, struct thread *thread,
				     const struct function_discovery *discovery,
				     bool forks)
{
	struct function_overlays overlays = { .notes = discovery->notes,
					      .forks = forks };
	size_t n;
	uint64_t word, at = regs_pc(&thread->regs).v;
	if (!discovery->notes.v && forks)
		return err_create(ERR_SUITE,
				  "tests for which the program forks cannot be "
				  "found where it cannot be copied");
	if (!discovery->notes.v)
		return function_discovery_add(run, thread, discovery, at);
	TRY(function_names_each(run, function_discovery_overlay, &overlays,
				&n));
	if (forks) {
		breakpoint_overlay_children(run->tracee, true);
		return function_discovery_mark_fork(run, discovery);
	}
	/* It continues with the overlay, if there is one where it is. */
	if (breakpoint_at(run->tracee, RADDR(at), &word) &&
	    !breakpoint_overlaid(run->tracee, RADDR(at)))
		return function_discovery_add(run, thread, discovery, at);
	return NULL;
}
