/*
 * utest.h, by data: utest_main(), which compilers inline, walks a table of test
 * functions. At the entry of main() the table is complete, and all functions in it
 * become one of ours. Where that is called first, the framework is about to start
 * its first test. From there on the table is ours: an entry is added whenever a
 * test is wanted, and in the call of our function the test's own one runs.
 *
 * The framework gives each test a place for its verdict. The place and message of a
 * failure are only printed, so they come from the output.
 *
 * Seen with the versions of 2019, 2024 and 2025; see docs/frameworks.md.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "framework/adapter.h"
#include "native/calls.h"
#include "native/framework.h"
#include "tracee/memory.h"
#include "tracee/remote.h"

#define TESTS_MAX 10000000
#define ENTRY_MAX 256
#define CALL_LIMIT_NS (5 * UINT64_C(1000000000))

/* What a test leaves in its verdict; older versions have two. */
enum { UTEST_PASSED, UTEST_FAILURE, UTEST_SKIPPED };

struct utest_entry { /* the beginning of struct utest_test_state_s */
	uint64_t function, index, name;
};
/* Its size: in 2025 file and line were added. */
static const uint64_t utest_sizes[] = { sizeof(struct utest_entry), 40 };

struct utest_table { /* the beginning of struct utest_state_s */
	uint64_t tests, n;
};

struct utest {
	uint64_t size;	    /* of an entry */
	struct raddr state; /* utest_state */
	struct raddr stub;  /* the function of ours */
	uint64_t saved;	    /* the table as it was */
	uint64_t table;	    /* the one of ours */
	size_t slot, room;  /* its entry that is called, and its size */
	uint64_t verdict;   /* where the running test leaves it */
	struct calls call;
};

static uint64_t utest_entry_address(const struct utest *utest, uint64_t table,
				    uint64_t slot)
{
	return table + slot * utest->size;
}

/* A test's handle is its entry in the table as it was. */
static struct err *utest_read_entry(struct run *run, uint64_t at,
				    struct utest_entry *ret)
{
	return memory_read(run->tracee, RADDR(at), ret, sizeof(*ret));
}

/* The thread is at the entry of our function, for the entry of that number. */
static struct err *utest_discover(struct run *run, struct thread *thread)
{
	const struct utest *utest = run->state;
	uint64_t at =
		utest_entry_address(utest, utest->saved, thread_arg(thread, 1));
	struct utest_entry entry;
	_cleanup_(freep) char *name = NULL;
	const char *file = NULL;
	unsigned line = 0;
	TRY(utest_read_entry(run, at, &entry));
	TRY(run_text(run, RADDR(entry.name), &name));
	program_function_place(run->program, RADDR(entry.function), &file,
			       &line);
	TRY(run_add_test(run, name, file, line, false, at, 0));
	return calls_skip_void(run, thread);
}

/* "file:LINE: Failure", with lines that begin with spaces after it. */
static struct err *utest_note_failure(struct run *run)
{
	static const char *const word = ": Failure\n";
	_cleanup_(freep) char *output = NULL;
	TRY(run_output(run, &output));
	char *end = strstr(output, word);
	if (!end)
		return run_fail(run, NULL, 0, NULL);
	*end = '\0';
	char *file = strrchr(output, '\n');
	file = file ? file + 1 : output;
	char *colon = strrchr(file, ':'), *message = end + strlen(word);
	uint64_t line = 0;
	if (colon && str_to_u64(colon + 1, 10, &line))
		*colon = '\0';
	size_t n = 0;
	while (isspace((unsigned char)message[n]) && message[n] != '\n') {
		n += strcspn(message + n, "\n");
		n += message[n] == '\n';
	}
	message[n ? n - 1 : 0] = '\0';
	return run_fail(run, line ? file : NULL, (unsigned)line,
			*message ? message : NULL);
}

static struct err *utest_note_skip(struct run *run)
{
	static const char *const word = "   Skipped : '";
	_cleanup_(freep) char *output = NULL;
	TRY(run_output(run, &output));
	char *message = strstr(output, word);
	char *end = message ? strstr(message, "'\n") : NULL;
	if (end)
		*end = '\0';
	return run_skip(run, NULL, 0, end ? message + strlen(word) : NULL);
}

static struct err *utest_write_table(struct run *run, uint64_t n)
{
	const struct utest *utest = run->state;
	const struct utest_table table = { utest->table, n };
	return memory_write(run->tracee, utest->state, &table, sizeof(table));
}

/* After the entry that is called comes one more, with that name. */
static struct err *utest_add_entry(struct run *run, uint64_t name)
{
	const struct utest *utest = run->state;
	const struct utest_entry entry = {
		.function = utest->stub.v,
		.index = utest->slot + 1,
		.name = name,
	};
	uint64_t at = utest_entry_address(utest, utest->table, utest->slot + 1);
	if (utest->slot + 1 >= utest->room)
		return err_create(ERR_INTERNAL, "no room for tests");
	TRY(memory_write(run->tracee, RADDR(at), &entry, sizeof(entry)));
	return utest_write_table(run, utest->slot + 2);
}

/* No entry comes any more: no length at all, so that no name is freed. */
static struct err *utest_end_table(struct run *run)
{
	return utest_write_table(run, 0);
}

static struct err *utest_on_return(struct run *run, struct thread *thread,
				   uint64_t arg)
{
	(void)arg;
	struct utest *utest = run->state;
	uint32_t verdict;
	struct utest_entry entry;
	if (!calls_returned(&utest->call, thread))
		return NULL;
	utest->call.inside = false;
	TRY(run_u32(run, RADDR(utest->verdict), &verdict));
	if (verdict == UTEST_SKIPPED)
		TRY(utest_note_skip(run));
	else if (verdict != UTEST_PASSED)
		TRY(utest_note_failure(run));
	TRY(run_end(run, OUTCOME_NONE));
	size_t test = run_wanted(run);
	if (test == RUN_NONE)
		return utest_end_table(run);
	TRY(utest_read_entry(run, run_handle(run, test), &entry));
	return utest_add_entry(run, entry.name);
}

/* The thread is at the entry of our function: the wanted test runs instead. */
static struct err *utest_run_wanted(struct run *run, struct thread *thread)
{
	struct utest *utest = run->state;
	struct utest_entry entry;
	/* It was left by an exception, which the framework caught. */
	if (run->in_test) {
		TRY(run_fail(run, NULL, 0, "an exception left the test"));
		TRY(run_end(run, OUTCOME_NONE));
	}
	size_t test = run_wanted(run);
	if (test == RUN_NONE) {
		TRY(utest_end_table(run));
		return calls_skip_void(run, thread);
	}
	utest->slot = thread_arg(thread, 1);
	utest->verdict = thread_arg(thread, 0);
	TRY(utest_read_entry(run, run_handle(run, test), &entry));
	/* For an exception; after a return it gets its name, or is not there. */
	TRY(utest_add_entry(run, entry.name));
	TRY(calls_enter(run, thread, &utest->call, utest_on_return, 0));
	calls_instead(thread, RADDR(entry.function));
	regs_set_arg(&thread->regs, 1, entry.index);
	thread_dirty(thread);
	return run_begin(run);
}

/* In place of a test's function: (verdict, number of the entry). */
static struct err *utest_on_call(struct run *run, struct thread *thread,
				 uint64_t arg)
{
	(void)arg;
	if (run->discovering && run->ready_thread)
		return utest_discover(run, thread);
	if (run->order)
		return utest_run_wanted(run, thread);
	run_ready(run, thread);
	return NULL;
}

/* Are there @n entries of that size, each with a function of the program? */
static bool utest_fits_size(struct run *run, const struct utest_table *table,
			    uint64_t size)
{
	for (uint64_t i = 0; i < table->n; i++) {
		uint64_t function = 0;
		err_ignore(run_u64(run, RADDR(table->tests + i * size),
				   &function));
		if (!program_module(run->program, RADDR(function)))
			return false;
	}
	return true;
}

static uint64_t utest_find_size(struct run *run,
				const struct utest_table *table)
{
	uint64_t known = program_type_size(run->program, "utest_test_state_s",
					   utest_sizes[0]);
	if (known >= sizeof(struct utest_entry) && known <= ENTRY_MAX &&
	    utest_fits_size(run, table, known))
		return known;
	for (size_t i = 0; i < ARRAY_SIZE(utest_sizes); i++) {
		if (utest_fits_size(run, table, utest_sizes[i]))
			return utest_sizes[i];
	}
	return 0;
}

/* At the entry of main(): what constructors registered is all there is. */
static struct err *utest_on_main(struct run *run, struct thread *thread,
				 uint64_t arg)
{
	(void)arg;
	struct utest *utest = run->state;
	struct utest_table table;
	struct raddr saved;
	if (run->order || utest->saved)
		return NULL;
	TRY(memory_read(run->tracee, utest->state, &table, sizeof(table)));
	if (!table.n)
		return NULL;
	utest->size = table.n > TESTS_MAX ? 0 : utest_find_size(run, &table);
	if (!utest->size)
		return adapter_unknown_version(run, "not a table of tests");
	size_t size = table.n * utest->size;
	_cleanup_(freep) uint8_t *entries = malloc(size);
	if (!entries)
		return err_nomem();
	TRY(memory_read(run->tracee, RADDR(table.tests), entries, size));
	TRY(calls_stubs(thread, 1, &utest->stub));
	TRY(run_break(run, utest->stub, utest_on_call, 0));
	TRY(remote_map(thread, size, &saved));
	TRY(memory_write(run->tracee, saved, entries, size));
	utest->saved = saved.v;
	for (uint64_t i = 0; i < table.n; i++) {
		const uint64_t changed[] = { utest->stub.v, i };
		memcpy(entries + i * utest->size, changed, sizeof(changed));
	}
	return memory_write(run->tracee, RADDR(table.tests), entries, size);
}

static struct err *utest_attach(struct run *run)
{
	struct utest *utest = run->state;
	if (!program_symbol(run->program, "utest_state", &utest->state))
		return adapter_function_missing(run, "utest_state",
						"do not strip the program");
	return run_break_symbol(run, "main", utest_on_main, 0, NULL);
}

static struct err *utest_start(struct run *run, struct thread *thread)
{
	struct utest *utest = run->state;
	struct raddr allocate;
	uint64_t slot = thread_arg(thread, 1);
	/* The framework frees it in the end. */
	if (!program_symbol(run->program, "malloc", &allocate))
		return adapter_function_missing(run, "malloc",
						"do not strip the program");
	utest->room = slot + run->n + run_unknown(run) + 2;
	uint64_t size = utest->room * utest->size;
	TRY(remote_call(thread, allocate, &size, 1, CALL_LIMIT_NS,
			&utest->table));
	if (!utest->table)
		return err_create(ERR_SUITE,
				  "the program has no memory for its tests");
	_cleanup_(freep) uint8_t *entries = calloc(1, size);
	if (!entries)
		return err_nomem();
	TRY(memory_read(run->tracee, RADDR(utest->saved), entries,
			(slot + 1) * utest->size));
	TRY(memory_write(run->tracee, RADDR(utest->table), entries, size));
	return utest_run_wanted(run, thread);
}

/* Functions of tests stay, since their addresses are taken. */
static bool utest_recognise(const struct program *program)
{
	struct raddr at;
	const char *name;
	return program_symbol(program, "utest_state", &at) &&
	       program_function_starting(program, "utest_", &at, &name);
}

const struct framework framework_utest = {
	.name = "utest",
	.state_size = sizeof(struct utest),
	.recognise = utest_recognise,
	.own = {
		.title = "utest.h",
		.functions = FRAMEWORK_LIST("utest_main$", "utest_ns$",
			"utest_fopen$", "utest_fabs", "utest_isnan",
			"utest_realloc$", "utest_strncmp$", "utest_strncpy$",
			"utest_should_filter_test$", "utest_type_"),
		.symbols = FRAMEWORK_LIST("utest_main", "utest_ns",
			"utest_should_filter_test", "utest_strncmp"),
		.variables = FRAMEWORK_LIST("utest_state$"),
	},
	.attach = utest_attach,
	.discover = utest_discover,
	.start = utest_start,
	.branches = true,
	.no_points = "utest.h calls set-up and tear-down from the test's own "
		     "function",
};
