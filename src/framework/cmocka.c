/*
 * cmocka, by data: _cmocka_run_group_tests() takes an array of tests. It gets one
 * of ours, with the wanted tests of the group in the wanted order. The first
 * function of each test (its set-up, or the test itself) and the group's tear-down
 * are replaced by functions of ours that only stop. There a test begins and the
 * previous one ends, and the last one ends before the group's tear-down. Then the
 * real function runs. There is one stop per test, and the chosen output format does
 * not matter.
 *
 * The framework's record of a test says how it ended; the function's argument
 * points into that record.
 *
 * In a tree of orders, where it is not known yet what follows, the array has room
 * for everything that may follow. An entry of ours comes first: it asks for the
 * rest and fills it in.
 *
 * A program with several groups runs them in its own order. A group that is wanted
 * later than the program runs it waits for its turn. One that is wanted again, or
 * was left out before, runs from a copy of its array in place of the current one.
 *
 * Seen with 1.1.5; see docs/frameworks.md.
 */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/str.h"
#include "framework/adapter.h"
#include "framework/stand_in.h"
#include "native/calls.h"
#include "native/framework.h"
#include "tracee/memory.h"
#include "tracee/remote.h"

#define TESTS_MAX 10000000
#define GROUPS_MAX 100000

/* enum CMUnitTestStatus */
enum {
	STATUS_PASSED = 1,
	STATUS_FAILED = 2,
	STATUS_ERROR = 3,
	STATUS_SKIPPED = 4
};
enum {
	STUB_BEGIN,
	STUB_GROUP_END,
	STUB_BODY,
	STUB_TEARDOWN,
	STUB_NEXT,
	STUB_NOTHING, /* has no breakpoint */
	STUBS,
};
/* Room for at most this many; else orders run from their beginning. */
#define ROOM_MAX 1000

struct cmocka_unit_test { /* struct CMUnitTest */
	uint64_t name, test, setup, teardown, state;
};

struct cmocka_layout { /* struct CMUnitTestState */
	uint64_t state, message, status;
};

/* A group that the program ran or would have run; kept in its memory. */
struct cmocka_group {
	uint64_t previous; /* the one before; 0: none */
	uint64_t base, n;  /* which tests of the suite it has */
	uint64_t name, setup, teardown;
	uint64_t tests; /* array of unit_test, those that are listed */
};

struct cmocka {
	struct cmocka_layout at;
	struct calls call;
	struct raddr function; /* _cmocka_run_group_tests */
	struct raddr stubs;
	uint64_t memory;	      /* for arrays of wanted tests */
	uint64_t filter, skip_filter; /* texts in the program; 0: none */
	uint64_t base;		      /* tests of groups that came before */
	uint64_t groups;    /* the last struct cmocka_group that was kept */
	bool backward;	    /* the order is not the program's */
	uint64_t teardown;  /* of the group that runs */
	size_t first, end;  /* its part of the order */
	uint64_t originals; /* functions that ours stand for */
	uint64_t room;	    /* entries of the array left over */
	size_t room_n;
	uint64_t group_base, group_n; /* tests of the group that runs */
	uint64_t group_tests;	      /* its array, as kept */
	uint64_t record; /* struct CMUnitTestState of the running test */
	uint64_t file;	 /* first _fail() or _skip() since the last end */
	uint32_t line;
};

static struct err *cmocka_read_filter(struct run *run, uint64_t at, char **ret)
{
	return at ? run_text(run, RADDR(at), ret) : NULL;
}

static bool cmocka_is_listed(const struct cmocka_unit_test *test,
			     const char *name, const char *filter,
			     const char *skip_filter)
{
	return (test->test || test->setup || test->teardown) &&
	       (!filter || str_glob(filter, name)) &&
	       (!skip_filter || !str_glob(skip_filter, name));
}

/*
 * The tests that the group would run at whose call the thread is; *@ret is never
 * NULL. With @names their names, which the caller frees.
 */
static struct err *cmocka_read_group(struct run *run, struct thread *thread,
				     struct cmocka_unit_test **ret,
				     char ***names, size_t *ret_n)
{
	const struct cmocka *cmocka = run->state;
	uint64_t n = thread_arg(thread, 2);
	if (n > TESTS_MAX)
		return adapter_unknown_version(run,
					       "a group with too many tests");
	_cleanup_(freep) struct cmocka_unit_test *tests =
		calloc(n + 1, sizeof(*tests));
	_cleanup_(freep) char *filter = NULL, *skip_filter = NULL;
	if (!tests)
		return err_nomem();
	if (n)
		TRY(memory_read(run->tracee, RADDR(thread_arg(thread, 1)),
				tests, n * sizeof(*tests)));
	TRY(cmocka_read_filter(run, cmocka->filter, &filter));
	TRY(cmocka_read_filter(run, cmocka->skip_filter, &skip_filter));
	if (names) {
		*names = calloc(n + 1, sizeof(**names));
		if (!*names)
			return err_nomem();
	}
	size_t kept = 0;
	for (size_t i = 0; i < n; i++) {
		_cleanup_(freep) char *name = NULL;
		if (!tests[i].name)
			continue;
		if (names || filter || skip_filter)
			TRY(run_text(run, RADDR(tests[i].name), &name));
		if (!cmocka_is_listed(&tests[i], name, filter, skip_filter))
			continue;
		if (names)
			(*names)[kept] = take_ptr(name);
		tests[kept++] = tests[i];
	}
	*ret = take_ptr(tests);
	*ret_n = kept;
	return NULL;
}

static void cmocka_free_names(char ***names)
{
	for (size_t i = 0; *names && (*names)[i]; i++)
		free((*names)[i]);
	free(*names);
}

static struct err *cmocka_add_test(struct run *run, const char *group,
				   const char *name,
				   const struct cmocka_unit_test *test,
				   uint64_t group_id)
{
	const char *file = NULL;
	unsigned line = 0;
	_cleanup_(freep) char *full = NULL;
	uint64_t function = test->test ? test->test : test->setup;
	program_function_place(run->program, RADDR(function), &file, &line);
	TRY(str_format(&full, "%s/%s", group, name));
	return run_add_test(run, full, file, line, false, run_tests(run),
			    group_id);
}

/* The thread is at the entry of _cmocka_run_group_tests(). */
static struct err *cmocka_discover_group(struct run *run, struct thread *thread)
{
	_cleanup_(freep) struct cmocka_unit_test *tests = NULL;
	_cleanup_(cmocka_free_names) char **names = NULL;
	_cleanup_(freep) char *group = NULL;
	size_t n, id = run_tests(run);
	TRY(run_text(run, RADDR(thread_arg(thread, 0)), &group));
	TRY(cmocka_read_group(run, thread, &tests, &names, &n));
	if (n)
		TRY(run_declare_group(run, id, 0));
	for (size_t i = 0; i < n; i++)
		TRY(cmocka_add_test(run, group, names[i], &tests[i], id));
	return calls_skip(run, thread, 0);
}

/* Remembers the group for a later place in the order. */
static struct err *cmocka_keep_group(struct run *run, struct thread *thread,
				     const struct cmocka_unit_test *tests,
				     struct cmocka_group *group)
{
	struct cmocka *cmocka = run->state;
	size_t size = group->n * sizeof(*tests);
	struct raddr at;
	TRY(remote_map(thread, sizeof(*group) + size, &at));
	group->previous = cmocka->groups;
	group->tests = at.v + sizeof(*group);
	TRY(memory_write(run->tracee, at, group, sizeof(*group)));
	if (size)
		TRY(memory_write(run->tracee, RADDR(group->tests), tests,
				 size));
	cmocka->groups = at.v;
	return NULL;
}

/* The group of a test among those that were kept. */
static struct err *cmocka_find_group(struct run *run, size_t test,
				     struct cmocka_group *ret)
{
	const struct cmocka *cmocka = run->state;
	uint64_t at = cmocka->groups;
	for (size_t i = 0; at && i < GROUPS_MAX; i++) {
		TRY(memory_read(run->tracee, RADDR(at), ret, sizeof(*ret)));
		if (test >= ret->base && test - ret->base < ret->n)
			return NULL;
		at = ret->previous;
	}
	*ret = (struct cmocka_group){};
	return NULL;
}

static uint64_t cmocka_stub_address(const struct cmocka *cmocka, int index)
{
	return cmocka->stubs.v + (uint64_t)index * CALLS_STUB_SIZE;
}

/* How many of the order from @first on, as far as it is known, are of the group? */
static size_t cmocka_group_length(const struct run *run, size_t first,
				  uint64_t base, uint64_t n)
{
	size_t length = 0;
	while (first + length < run->n && run->order[first + length] >= base &&
	       run->order[first + length] - base < n)
		length++;
	return length;
}

/*
 * Writes @n wanted tests and entries for all that may follow. The room after them
 * stays reserved for those: entries that are not used do nothing.
 */
static struct err *cmocka_write_entries(struct run *run, uint64_t entries,
					size_t n, size_t room,
					const struct cmocka_unit_test *tests,
					uint64_t base)
{
	struct cmocka *cmocka = run->state;
	size_t all = n + room;
	size_t size = all * sizeof(struct cmocka_unit_test);
	_cleanup_(freep) struct cmocka_unit_test *wanted = calloc(1, size + 1);
	const struct stand_in_stubs stubs = {
		.begin = cmocka_stub_address(cmocka, STUB_BEGIN),
		.body = cmocka_stub_address(cmocka, STUB_BODY),
		.teardown = cmocka_stub_address(cmocka, STUB_TEARDOWN),
	};
	_cleanup_(freep) struct stand_in *originals =
		calloc(n + 1, sizeof(*originals));
	if (!wanted || !originals)
		return err_nomem();
	for (size_t i = 0; i < n; i++) {
		wanted[i] = tests[run->order[run->next + i] - base];
		originals[i] =
			stand_in_replace(run, &stubs, &wanted[i].setup,
					 &wanted[i].test, &wanted[i].teardown);
	}
	bool asks = room && !run_settled(run) && run->next + n == run->n;
	for (size_t i = n; i < all; i++) {
		/* With a name that the user's filters let pass. */
		wanted[i].name = tests[run->order[run->next] - base].name;
		wanted[i].test = cmocka_stub_address(
			cmocka, asks && i == n ? STUB_NEXT : STUB_NOTHING);
	}
	cmocka->first = run->next;
	cmocka->end = run->next + n;
	cmocka->room_n = asks ? room - 1 : 0;
	cmocka->room = entries + (n + 1) * sizeof(*wanted);
	if (size)
		TRY(memory_write(run->tracee, RADDR(entries), wanted, size));
	return n ? memory_write(run->tracee, RADDR(cmocka->originals),
				originals, n * sizeof(*originals))
		 : NULL;
}

/*
 * What the group's tests get: a state of their own, or that of the group, which
 * its set-up makes.
 */
static struct err *cmocka_hold_states(struct run *run,
				      const struct cmocka_group *group,
				      const struct cmocka_unit_test *tests)
{
	run_hold_none(run);
	for (size_t i = 0; run_is_watched(run) && i < group->n; i++) {
		const struct held state = {
			.object = tests[i].state,
			.function =
				tests[i].test ? tests[i].test : tests[i].setup,
			.indirect = true,
			.name = "state",
		};
		TRY(run_hold(run, &state));
	}
	return NULL;
}

/* The next test is about to begin: what it gets may be the group's. */
static struct err *cmocka_hold_group_state(struct run *run)
{
	const struct cmocka *cmocka = run->state;
	uint64_t state, index = run->order[run->next] - cmocka->group_base;
	if (index >= run->given.all.n)
		return NULL;
	TRY(run_u64(run, RADDR(cmocka->record + cmocka->at.state), &state));
	run_hold_at(run, index, state);
	return NULL;
}

/*
 * The thread is at the entry of _cmocka_run_group_tests(): what follows in
 * the order and belongs to the group becomes its array.
 */
static struct err *cmocka_begin_group(struct run *run, struct thread *thread,
				      const struct cmocka_group *group,
				      const struct cmocka_unit_test *tests)
{
	struct cmocka *cmocka = run->state;
	size_t n = cmocka_group_length(run, run->next, group->base, group->n);
	/* Each parting takes an entry, too. */
	size_t room = run->next + n == run->n ? 2 * run_unknown(run) : 0;
	if (room > ROOM_MAX) {
		/* It asks now and needs an answer. */
		run_wanted_at(run, run_known(run));
		return NULL;
	}
	cmocka->group_base = group->base;
	cmocka->group_n = group->n;
	cmocka->group_tests = group->tests;
	cmocka->teardown = group->teardown;
	cmocka->record = 0;
	cmocka->file = 0;
	TRY(cmocka_hold_states(run, group, tests));
	TRY(cmocka_write_entries(run, cmocka->memory, n, room, tests,
				 group->base));
	regs_set_arg(&thread->regs, 0, group->name);
	regs_set_arg(&thread->regs, 1, cmocka->memory);
	regs_set_arg(&thread->regs, 2, n + room);
	regs_set_arg(&thread->regs, 3, group->setup);
	regs_set_arg(&thread->regs, 4,
		     cmocka_stub_address(cmocka, STUB_GROUP_END));
	thread_dirty(thread);
	return NULL;
}

/*
 * The framework's text ends with "[   LINE   ] --- file.c:7: error: Failure!"
 * or "file.c:7: Skipped!", depending on the output format: removes that and returns
 * the place. Compilers may inline _fail(), so a breakpoint there is not enough.
 */
static bool cmocka_cut_place(char *message, const char *end, char **ret_file,
			     unsigned *ret_line)
{
	static const char *const prefix = "[   LINE   ] --- ";
	char *at = strstr(message, end);
	if (!at)
		return false;
	*at = '\0';
	char *start = strrchr(message, '\n');
	start = start ? start + 1 : message;
	char *file = str_starts(start, prefix) ? start + strlen(prefix) : start;
	char *colon = strrchr(file, ':');
	uint64_t line;
	if (colon && str_to_u64(colon + 1, 10, &line)) {
		*ret_file = strndup(file, (size_t)(colon - file));
		*ret_line = (unsigned)line;
	}
	*start = '\0';
	return *ret_file;
}

static struct err *cmocka_read_message(struct run *run, uint64_t record,
				       char **ret)
{
	const struct cmocka *cmocka = run->state;
	uint64_t at;
	TRY(run_u64(run, RADDR(record + cmocka->at.message), &at));
	return at ? run_text(run, RADDR(at), ret) : NULL;
}

/* fail_msg() of 1.1.5 prints its message and keeps it nowhere. */
static struct err *cmocka_printed_message(struct run *run, char **ret)
{
	static const char *const prefix = "ERROR: ";
	_cleanup_(freep) char *output = NULL;
	TRY(run_output(run, &output));
	const char *at = strstr(output, prefix);
	while (at && at > output && at[-1] != '\n')
		at = strstr(at + 1, prefix);
	if (!at)
		return NULL;
	at += strlen(prefix);
	free(*ret);
	*ret = strndup(at, strcspn(at, "\n"));
	return *ret ? NULL : err_nomem();
}

/* Ends the running test with what its record says. */
static struct err *cmocka_end_test(struct run *run)
{
	struct cmocka *cmocka = run->state;
	uint64_t record = cmocka->record;
	uint32_t status;
	unsigned line = cmocka->line;
	_cleanup_(freep) char *file = NULL, *message = NULL;
	if (!record || !run->in_test)
		return NULL;
	cmocka->record = 0;
	TRY(run_point(run, SUITE_BEFORE_TEARDOWN)); /* it has none */
	TRY(run_u32(run, RADDR(record + cmocka->at.status), &status));
	if (status == STATUS_PASSED)
		return run_end(run, OUTCOME_NONE);
	/* It catches signals; the first one's place was noted. */
	if (run->faulted && status != STATUS_SKIPPED)
		return run_end(run, OUTCOME_CRASH);
	err_ignore(cmocka_read_message(run, record, &message));
	bool skipped = status == STATUS_SKIPPED;
	const char *end = skipped ? ": Skipped!" : ": error: Failure!";
	if ((!message || !cmocka_cut_place(message, end, &file, &line)) &&
	    cmocka->file)
		err_ignore(run_text(run, RADDR(cmocka->file), &file));
	if (!skipped && (!message || !*message))
		err_ignore(cmocka_printed_message(run, &message));
	size_t n = message ? strlen(message) : 0;
	while (n && strchr("\n ", message[n - 1]))
		message[--n] = '\0';
	if (skipped)
		TRY(run_skip(run, file, line, n ? message : NULL));
	else
		TRY(run_fail(run, file, line, n ? message : NULL));
	return run_end(run, OUTCOME_NONE);
}

static struct err *cmocka_read_stand_in(struct run *run, size_t at,
					struct stand_in *ret)
{
	const struct cmocka *cmocka = run->state;
	return stand_in_read(
		run, cmocka->originals + (at - cmocka->first) * sizeof(*ret),
		ret);
}

/* In place of the test itself, or of its tear-down. */
static struct err *cmocka_on_point(struct run *run, struct thread *thread,
				   uint64_t point)
{
	const struct cmocka *cmocka = run->state;
	struct stand_in test;
	if (!calls_nested(&cmocka->call, thread) || run->next <= cmocka->first)
		return NULL;
	TRY(cmocka_read_stand_in(run, run->next - 1, &test));
	return stand_in_point(run, thread, &test, (enum suite_point)point);
}

/* In place of a test's first function. */
static struct err *cmocka_on_begin(struct run *run, struct thread *thread,
				   uint64_t arg)
{
	(void)arg;
	struct cmocka *cmocka = run->state;
	struct stand_in test;
	if (!calls_nested(&cmocka->call, thread) || run->next >= cmocka->end)
		return NULL;
	TRY(cmocka_end_test(run));
	TRY(cmocka_read_stand_in(run, run->next, &test));
	cmocka->record = thread_arg(thread, 0) - cmocka->at.state;
	cmocka->file = 0;
	if (test.begin)
		calls_instead(thread, RADDR(test.begin));
	TRY(cmocka_hold_group_state(run));
	TRY(run_begin(run));
	return stand_in_begun(run, &test);
}

/* An entry of ours: the last test that was known has ended. */
static struct err *cmocka_on_next(struct run *run, struct thread *thread,
				  uint64_t arg)
{
	(void)arg;
	struct cmocka *cmocka = run->state;
	if (!calls_nested(&cmocka->call, thread))
		return NULL;
	TRY(cmocka_end_test(run));
	if (run_wanted(run) == RUN_NONE)
		return NULL;
	uint64_t base = cmocka->group_base, all = cmocka->group_n;
	size_t n = cmocka_group_length(run, run->next, base, all);
	size_t room = cmocka->room_n;
	if (!n || !cmocka->group_tests)
		return NULL; /* nothing more of this group */
	if (n > room)
		return err_create(ERR_INTERNAL, "no room for tests");
	_cleanup_(freep) struct cmocka_unit_test *tests =
		malloc(all * sizeof(*tests));
	if (!tests)
		return err_nomem();
	TRY(memory_read(run->tracee, RADDR(cmocka->group_tests), tests,
			all * sizeof(*tests)));
	return cmocka_write_entries(run, cmocka->room, n, room - n, tests,
				    base);
}

/* In place of the group's tear-down. */
static struct err *cmocka_on_group_end(struct run *run, struct thread *thread,
				       uint64_t arg)
{
	(void)arg;
	struct cmocka *cmocka = run->state;
	_cleanup_(freep) char *file = NULL;
	TRY(cmocka_end_test(run));
	/* Tests that were not begun: the set-up of the group failed. */
	if (cmocka->file && run->next < cmocka->end)
		err_ignore(run_text(run, RADDR(cmocka->file), &file));
	bool missed = run->next < cmocka->end;
	while (run->next < cmocka->end) {
		TRY(run_begin(run));
		TRY(run_fail(run, file, cmocka->line,
			     "the set-up of its group failed"));
		TRY(run_end(run, OUTCOME_NONE));
	}
	/* The same holds for the rest of the group, which must be known first. */
	if (missed && run_parts(run) && run_wanted(run) == RUN_NONE)
		return NULL;
	if (cmocka->teardown)
		calls_instead(thread, RADDR(cmocka->teardown));
	return NULL;
}

static struct err *cmocka_on_group_return(struct run *run,
					  struct thread *thread, uint64_t arg)
{
	(void)arg;
	struct cmocka *cmocka = run->state;
	if (!calls_returned(&cmocka->call, thread))
		return NULL;
	size_t test = run_wanted(run);
	struct cmocka_group group = {};
	if (test != RUN_NONE)
		TRY(cmocka_find_group(run, test, &group));
	if (!group.n) {
		/* More tests follow: the program must not stop at a failure. */
		cmocka->call.inside = false;
		calls_leave(thread, &cmocka->call, true);
		if (test != RUN_NONE) {
			regs_set_result(&thread->regs, 0);
			return NULL;
		}
		TRY(run_unbreak(run, cmocka->call.return_to));
		return calls_mute(run, cmocka->function);
	}
	_cleanup_(freep) struct cmocka_unit_test *tests =
		malloc(group.n * sizeof(*tests));
	if (!tests)
		return err_nomem();
	TRY(memory_read(run->tracee, RADDR(group.tests), tests,
			group.n * sizeof(*tests)));
	TRY(calls_again(run, thread, &cmocka->call));
	return cmocka_begin_group(run, thread, &group, tests);
}

/* The thread is at the entry of _cmocka_run_group_tests(). */
static struct err *cmocka_run_group_call(struct run *run, struct thread *thread)
{
	struct cmocka *cmocka = run->state;
	_cleanup_(freep) struct cmocka_unit_test *tests = NULL;
	size_t n, test = run_wanted(run);
	TRY(cmocka_read_group(run, thread, &tests, NULL, &n));
	struct cmocka_group group = {
		.base = cmocka->base,
		.n = n,
		.name = thread_arg(thread, 0),
		.setup = thread_arg(thread, 3),
		.teardown = thread_arg(thread, 4),
	};
	cmocka->base += n;
	if (cmocka->backward)
		TRY(cmocka_keep_group(run, thread, tests, &group));
	if (test == RUN_NONE || test < group.base ||
	    test - group.base >= group.n)
		return calls_skip(run, thread, 0);
	TRY(calls_enter(run, thread, &cmocka->call, cmocka_on_group_return, 0));
	return cmocka_begin_group(run, thread, &group, tests);
}

static struct err *cmocka_on_group(struct run *run, struct thread *thread,
				   uint64_t arg)
{
	(void)arg;
	struct cmocka *cmocka = run->state;
	if (calls_nested(&cmocka->call, thread))
		return NULL; /* a test that runs a group */
	if (run->discovering && run->ready_thread)
		return cmocka_discover_group(run, thread);
	if (!run->order) {
		run_ready(run, thread);
		return NULL;
	}
	return cmocka_run_group_call(run, thread);
}

/* _fail() and _skip(): file, line. */
static struct err *cmocka_on_leave(struct run *run, struct thread *thread,
				   uint64_t arg)
{
	(void)arg;
	struct cmocka *cmocka = run->state;
	if (!cmocka->file) {
		cmocka->file = thread_arg(thread, 0);
		cmocka->line = (uint32_t)thread_arg(thread, 1);
	}
	return NULL;
}

static struct err *cmocka_on_filter(struct run *run, struct thread *thread,
				    uint64_t skip)
{
	struct cmocka *cmocka = run->state;
	*(skip ? &cmocka->skip_filter : &cmocka->filter) =
		thread_arg(thread, 0);
	return NULL;
}

static struct err *cmocka_attach(struct run *run)
{
	struct cmocka *cmocka = run->state;
	static const char *const record = "CMUnitTestState";
	const struct adapter_member rows[] = {
		{ &cmocka->at.state, record, "state", 16, ANYWHERE },
		{ &cmocka->at.message, record, "error_message", 24, ANYWHERE },
		{ &cmocka->at.status, record, "status", 32, ANYWHERE },
	};
	adapter_find_members(run, rows, ARRAY_SIZE(rows));
	if (!program_symbol(run->program, "_cmocka_run_group_tests",
			    &cmocka->function))
		return err_create(ERR_SUITE, "the program does not use cmocka");
	TRY(run_break_symbol(run, "_fail", cmocka_on_leave, 0, NULL));
	TRY(run_break_symbol(run, "_skip", cmocka_on_leave, 0, NULL));
	TRY(run_break_symbol(run, "cmocka_set_test_filter", cmocka_on_filter, 0,
			     NULL));
	TRY(run_break_symbol(run, "cmocka_set_skip_filter", cmocka_on_filter, 1,
			     NULL));
	return run_break(run, cmocka->function, cmocka_on_group, 0);
}

static struct err *cmocka_start(struct run *run, struct thread *thread)
{
	static const struct {
		run_hook *hook;
		uint64_t arg;
	} hooks[STUB_NOTHING] = {
		[STUB_BEGIN] = { cmocka_on_begin, 0 },
		[STUB_GROUP_END] = { cmocka_on_group_end, 0 },
		[STUB_BODY] = { cmocka_on_point, SUITE_AFTER_SETUP },
		[STUB_TEARDOWN] = { cmocka_on_point, SUITE_BEFORE_TEARDOWN },
		[STUB_NEXT] = { cmocka_on_next, 0 },
	};
	struct cmocka *cmocka = run->state;
	for (size_t i = 1; i < run->n; i++) {
		if (run_group(run, run->order[i]) <
		    run_group(run, run->order[i - 1]))
			cmocka->backward = true;
	}
	/* A group may turn out to be wanted after the program passed it. */
	if (!run_settled(run))
		cmocka->backward = true;
	log_debug(LOG_FRAMEWORK, "cmocka: groups %s",
		  cmocka->backward ? "are kept, they may run again"
				   : "run in the program's own order");
	struct raddr memory;
	size_t most = run->n + 2 * run_unknown(run);
	TRY(remote_map(thread,
		       most * (sizeof(struct cmocka_unit_test) +
			       sizeof(struct stand_in)),
		       &memory));
	cmocka->memory = memory.v;
	cmocka->originals = memory.v + most * sizeof(struct cmocka_unit_test);
	TRY(calls_stubs(thread, STUBS, &cmocka->stubs));
	for (int i = 0; i < STUB_NOTHING; i++)
		TRY(run_break(run, RADDR(cmocka_stub_address(cmocka, i)),
			      hooks[i].hook, hooks[i].arg));
	return cmocka_run_group_call(run, thread);
}

/* clang-format off */
static const char *const cmocka_functions[] = {
	"_assert_", "_expect_", "_cmocka_", "cmocka_", "cm_print_", "vcm_",
	"_check_expected$", "_fail$", "_function_called$", "_mock$",
	"_run_group_tests$", "_run_test$", "_run_tests$", "_skip$",
	"_test_calloc$", "_test_free$", "_test_malloc$", "_test_realloc$",
	"_will_return$", "mock_assert$", "print_error$", "print_message$",
	"vprint_error$", "vprint_message$",
	NULL,
};
/* All that change, up to 1.1.7: where it was built without debug information. */
static const char *const cmocka_variables[] = {
	"cm_error_message$", "cm_error_message_enabled$",
	"default_signal_functions$", "global_allocated_blocks$",
	"global_call_ordering_head$", "global_expect_assert_env$",
	"global_expecting_assert$", "global_function_parameter_map_head$",
	"global_function_result_map_head$", "global_last_call_ordering_location$",
	"global_last_failed_assert$", "global_last_mock_value_location$",
	"global_last_parameter_location$", "global_msg_output$",
	"global_run_test_env$", "global_running_test$", "global_skip_filter_pattern$",
	"global_skip_test$", "global_stop_test$", "global_test_filter_pattern$",
	NULL,
};
/* clang-format on */

const struct framework framework_cmocka = {
	.name = "cmocka",
	.state_size = sizeof(struct cmocka),
	.signs = FRAMEWORK_SIGNS(
		FRAMEWORK_USES("_cmocka_run_group_tests")),
	.own = {
		.title = "cmocka",
		.functions = cmocka_functions,
		.symbols = FRAMEWORK_LIST("_cmocka_run_group_tests",
			"_check_expected", "_expect_check"),
		.variables = cmocka_variables,
		.libraries = FRAMEWORK_LIST("libcmocka"),
	},
	.attach = cmocka_attach,
	.discover = cmocka_discover_group,
	.start = cmocka_start,
	.branches = true,
	.catches_faults = true,
};
