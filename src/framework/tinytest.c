/*
 * tinytest, by data: tinytest_main() walks tables of test cases. Right before
 * that, when it has read its arguments, it calls setvbuf(): there the tables say
 * which tests are wanted. The first group then gets a table of ours, which is the
 * only one. When a test ends, the next wanted one is written after it.
 *
 * Our entries have a set-up and a clean-up of ours, so that the test begins and
 * ends there, and do not ask for a process of their own (TT_FORK). Functions of
 * the test get its own entry. Nothing depends on what the compiler inlines.
 *
 * The verdict is what the functions return and the variable cur_test_outcome. The
 * place and message of a failure are only printed, so they come from the output.
 *
 * Seen with the versions of libevent 2.1.12 and tor 0.4.9; see
 * docs/frameworks.md.
 */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "framework/adapter.h"
#include "native/calls.h"
#include "native/framework.h"
#include "tracee/memory.h"
#include "tracee/remote.h"

#define GROUPS_MAX 100000
#define TESTS_MAX 1000000

#define TT_FORK 1
#define TT_SKIP 2
#define TT_ENABLED 4
#define TT_OFF_BY_DEFAULT 8
#define TT_RETRIABLE 16
#define TT_RETRIES 3

/* enum outcome; a set-up returns the flag instead of the object that it makes */
enum { TINYTEST_FAIL, TINYTEST_OK, TINYTEST_SKIP };

struct tinytest_case { /* struct testcase_t */
	uint64_t name, function, flags, setup, data;
};

struct tinytest_setup { /* struct testcase_setup_t */
	uint64_t setup, cleanup;
};

struct tinytest_group { /* struct testgroup_t */
	uint64_t prefix, cases;
};

enum { STUB_SETUP, STUB_BODY, STUB_CLEANUP, STUBS };

struct tinytest {
	struct raddr main; /* tinytest_main() */
	struct raddr outcome;
	uint64_t groups; /* its table */
	struct raddr stubs;
	uint64_t setup;		   /* a struct testcase_setup_t of ours */
	uint64_t cases;		   /* our table */
	size_t used, room;	   /* its entries */
	uint64_t entry;		   /* of the test that runs, or will */
	struct tinytest_case test; /* it as it is by itself */
	struct tinytest_setup its; /* its functions; 0: it has none */
	size_t attempts;	   /* of it, that did not pass */
	uint32_t failed;	   /* enum outcome of the last of these */
	struct calls setup_call, cleanup_call;
};

/* A test's handle is its entry, its group the text of its prefix. */
static struct err *tinytest_add_test(struct run *run, uint64_t prefix_at,
				     const char *prefix, uint64_t at,
				     const struct tinytest_case *test)
{
	_cleanup_(freep) char *name = NULL, *full = NULL;
	const char *file = NULL;
	unsigned line = 0;
	TRY(run_text(run, RADDR(test->name), &name));
	TRY(str_format(&full, "%s%s", prefix, name));
	program_function_place(run->program, RADDR(test->function), &file,
			       &line);
	bool disabled = test->flags & (TT_SKIP | TT_OFF_BY_DEFAULT);
	TRY(run_add_test(run, full, file, line, disabled, at, prefix_at));
	if (test->flags & TT_FORK && !adapter_has_argument(run, "--no-fork"))
		run_isolate_test(run);
	return NULL;
}

static struct err *tinytest_add_group(struct run *run,
				      const struct tinytest_group *group)
{
	_cleanup_(freep) char *prefix = NULL;
	TRY(run_text(run, RADDR(group->prefix), &prefix));
	for (uint64_t i = 0; i < TESTS_MAX; i++) {
		struct tinytest_case test;
		uint64_t test_at = group->cases + i * sizeof(test);
		TRY(memory_read(run->tracee, RADDR(test_at), &test,
				sizeof(test)));
		if (!test.name)
			return NULL;
		if (test.flags & TT_ENABLED)
			TRY(tinytest_add_test(run, group->prefix, prefix,
					      test_at, &test));
	}
	return adapter_unknown_version(run, "a group does not end");
}

static struct err *tinytest_list(struct run *run, struct thread *thread)
{
	(void)thread;
	const struct tinytest *tinytest = run->state;
	for (uint64_t i = 0; i < GROUPS_MAX; i++) {
		struct tinytest_group group;
		uint64_t at = tinytest->groups + i * sizeof(group);
		TRY(memory_read(run->tracee, RADDR(at), &group, sizeof(group)));
		if (!group.prefix)
			return NULL;
		TRY(tinytest_add_group(run, &group));
	}
	return adapter_unknown_version(run, "the table of groups does not end");
}

static uint64_t tinytest_stub(const struct tinytest *tinytest, int index)
{
	return tinytest->stubs.v + (uint64_t)index * CALLS_STUB_SIZE;
}

static struct err *tinytest_skip_disabled(struct run *run)
{
	size_t test;
	while ((test = run_wanted(run)) != RUN_NONE &&
	       run_disabled(run, test)) {
		TRY(run_begin(run));
		TRY(run_skip(run, NULL, 0, "left out (TT_SKIP)"));
		TRY(run_end(run, OUTCOME_NONE));
	}
	return NULL;
}

static uint64_t tinytest_entry_address(const struct tinytest *tinytest,
				       size_t index)
{
	return tinytest->cases + index * sizeof(struct tinytest_case);
}

static struct err *tinytest_write_entry(struct run *run,
					const struct tinytest_case *entry)
{
	struct tinytest *tinytest = run->state;
	if (tinytest->used == tinytest->room)
		return err_create(ERR_INTERNAL, "no room for tests");
	return memory_write(
		run->tracee,
		RADDR(tinytest_entry_address(tinytest, tinytest->used++)),
		entry, sizeof(*entry));
}

/* The next entry of our table becomes the wanted test, or its end. */
static struct err *tinytest_lead_to_next(struct run *run)
{
	struct tinytest *tinytest = run->state;
	struct tinytest_case entry = {};
	TRY(tinytest_skip_disabled(run));
	size_t test = run_wanted(run);
	if (test == RUN_NONE) {
		/* If it is called again, there is nothing left to do. */
		TRY(calls_mute(run, tinytest->main));
		return tinytest_write_entry(run, &entry);
	}
	TRY(memory_read(run->tracee, RADDR(run_handle(run, test)), &entry,
			sizeof(entry)));
	tinytest->test = entry;
	tinytest->its = (struct tinytest_setup){};
	tinytest->attempts = 0;
	if (entry.setup)
		TRY(memory_read(run->tracee, RADDR(entry.setup), &tinytest->its,
				sizeof(tinytest->its)));
	entry.flags &= ~(uint64_t)TT_FORK;
	entry.setup = tinytest->setup;
	if (!tinytest->its.setup || run_point_wanted(run, SUITE_AFTER_SETUP))
		entry.function = tinytest_stub(tinytest, STUB_BODY);
	tinytest->entry = tinytest_entry_address(tinytest, tinytest->used);
	TRY(tinytest_write_entry(run, &entry));
	/* Our table is that of the first group, which gets the test's name. */
	return memory_write_u64(run->tracee, RADDR(tinytest->groups),
				run_group(run, test));
}

/* The first line "  FAIL file:LINE: message" in what the test printed. */
static struct err *tinytest_note_failure(struct run *run)
{
	static const char *const word = "  FAIL ";
	_cleanup_(freep) char *output = NULL;
	err_ignore(run_output(run, &output));
	for (char *line = output, *next; line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		if (!str_starts(line, word))
			continue;
		char *file = line + strlen(word), *end;
		for (char *at = strchr(file, ':'); at; at = strchr(at, ':')) {
			char *digits = ++at;
			unsigned long number = strtoul(digits, &end, 10);
			if (end == digits || *end != ':')
				continue;
			digits[-1] = '\0';
			end += end[1] == ' ' ? 2 : 1;
			return run_fail(run, file, (unsigned)number, end);
		}
	}
	return run_fail(run, NULL, 0, NULL);
}

static struct err *tinytest_end_test(struct run *run, uint32_t outcome)
{
	if (outcome == TINYTEST_SKIP)
		TRY(run_skip(run, NULL, 0, NULL));
	else if (outcome != TINYTEST_OK)
		TRY(tinytest_note_failure(run));
	TRY(run_end(run, OUTCOME_NONE));
	return tinytest_lead_to_next(run);
}

/*
 * A test with the flag TT_RETRIABLE that does not pass is run again, but in older
 * versions the same bit is a flag of the program's own. So the next entry is one
 * that only says that the test was not run again.
 */
static struct err *tinytest_end_attempt(struct run *run, uint32_t outcome)
{
	struct tinytest *tinytest = run->state;
	TRY(run_point(run, SUITE_BEFORE_TEARDOWN)); /* the set-up failed */
	if (outcome == TINYTEST_OK || tinytest->attempts == TT_RETRIES ||
	    !(tinytest->test.flags & TT_RETRIABLE))
		return tinytest_end_test(run, outcome);
	tinytest->failed = outcome;
	if (tinytest->attempts++)
		return NULL; /* that entry is there */
	const struct tinytest_case entry = {
		.name = tinytest->test.name,
		.function = tinytest_stub(tinytest, STUB_BODY),
		.flags = TT_ENABLED,
		.setup = tinytest->setup,
	};
	return tinytest_write_entry(run, &entry);
}

static struct err *tinytest_on_setup_return(struct run *run,
					    struct thread *thread, uint64_t arg)
{
	(void)arg;
	struct tinytest *tinytest = run->state;
	if (!calls_returned(&tinytest->setup_call, thread))
		return NULL;
	tinytest->setup_call.inside = false;
	uint64_t made = regs_result(&thread->regs);
	if (made && made != TT_SKIP)
		return NULL;
	return tinytest_end_attempt(run, made ? TINYTEST_SKIP : TINYTEST_FAIL);
}

/* In place of the set-up: (struct testcase_t *). */
static struct err *tinytest_on_setup(struct run *run, struct thread *thread,
				     uint64_t arg)
{
	(void)arg;
	struct tinytest *tinytest = run->state;
	uint64_t entry = thread_arg(thread, 0);
	if (entry != tinytest->entry) {
		/* What failed was not run again. */
		if (run->in_test)
			TRY(tinytest_end_test(run, tinytest->failed));
		return calls_skip(run, thread, TT_SKIP);
	}
	if (!run->in_test)
		TRY(run_begin(run));
	if (!tinytest->its.setup)
		return calls_skip(run, thread, entry);
	TRY(calls_enter(run, thread, &tinytest->setup_call,
			tinytest_on_setup_return, 0));
	calls_instead(thread, RADDR(tinytest->its.setup));
	regs_set_arg(&thread->regs, 0, run_handle(run, run->current));
	thread_dirty(thread);
	return NULL;
}

/* In place of the test: (what its set-up made). */
static struct err *tinytest_on_body(struct run *run, struct thread *thread,
				    uint64_t arg)
{
	(void)arg;
	const struct tinytest *tinytest = run->state;
	calls_instead(thread, RADDR(tinytest->test.function));
	if (!tinytest->its.setup)
		regs_set_arg(&thread->regs, 0, 0);
	thread_dirty(thread);
	return run_point(run, SUITE_AFTER_SETUP);
}

/* Its body and its clean-up, if any, are over. */
static struct err *tinytest_judge_attempt(struct run *run, bool cleaned)
{
	const struct tinytest *tinytest = run->state;
	uint32_t outcome;
	TRY(run_u32(run, tinytest->outcome, &outcome));
	return tinytest_end_attempt(run, cleaned ? outcome : TINYTEST_FAIL);
}

static struct err *
tinytest_on_cleanup_return(struct run *run, struct thread *thread, uint64_t arg)
{
	(void)arg;
	struct tinytest *tinytest = run->state;
	if (!calls_returned(&tinytest->cleanup_call, thread))
		return NULL;
	tinytest->cleanup_call.inside = false;
	return tinytest_judge_attempt(run,
				      (uint32_t)regs_result(&thread->regs));
}

/* In place of the clean-up: (struct testcase_t *, what its set-up made). */
static struct err *tinytest_on_cleanup(struct run *run, struct thread *thread,
				       uint64_t arg)
{
	(void)arg;
	struct tinytest *tinytest = run->state;
	if (!run->in_test)
		return NULL;
	TRY(run_point(run, SUITE_BEFORE_TEARDOWN));
	if (!tinytest->its.cleanup) {
		TRY(tinytest_judge_attempt(run, true));
		return calls_skip(run, thread, 1);
	}
	TRY(calls_enter(run, thread, &tinytest->cleanup_call,
			tinytest_on_cleanup_return, 0));
	calls_instead(thread, RADDR(tinytest->its.cleanup));
	regs_set_arg(&thread->regs, 0, run_handle(run, run->current));
	thread_dirty(thread);
	return NULL;
}

static struct err *tinytest_on_main(struct run *run, struct thread *thread,
				    uint64_t arg)
{
	(void)arg;
	struct tinytest *tinytest = run->state;
	if (!run->order && !run->ready_thread)
		tinytest->groups = thread_arg(thread, 2);
	return NULL;
}

/* Is the thread, at the entry of a function, there by a call of that one? */
static bool tinytest_is_called_by(struct run *run, const struct thread *thread,
				  struct raddr function)
{
	uint64_t caller = 0;
	err_ignore(run_u64(run, regs_sp(&thread->regs), &caller));
	const struct module *module =
		program_module(run->program, RADDR(caller));
	struct object_symbol symbol;
	return module && module->object &&
	       object_symbol_at(module->object, caller - module->bias,
				&symbol) &&
	       symbol.value + module->bias == function.v;
}

static struct err *tinytest_on_setvbuf(struct run *run, struct thread *thread,
				       uint64_t arg)
{
	(void)arg;
	const struct tinytest *tinytest = run->state;
	if (!run->order && tinytest->groups &&
	    tinytest_is_called_by(run, thread, tinytest->main))
		run_ready(run, thread);
	return NULL;
}

static struct err *tinytest_attach(struct run *run)
{
	static const char *const hint = "build it without link-time "
					"optimisation and do not strip it";
	struct tinytest *tinytest = run->state;
	if (!program_symbol(run->program, "tinytest_main", &tinytest->main))
		return adapter_function_missing(run, "tinytest_main", hint);
	if (!program_symbol(run->program, "cur_test_outcome",
			    &tinytest->outcome))
		return adapter_function_missing(run, "cur_test_outcome", hint);
	TRY(run_break(run, tinytest->main, tinytest_on_main, 0));
	return run_break_symbol(run, "setvbuf", tinytest_on_setvbuf, 0, NULL);
}

static struct err *tinytest_start(struct run *run, struct thread *thread)
{
	static run_hook *const hooks[STUBS] = {
		[STUB_SETUP] = tinytest_on_setup,
		[STUB_BODY] = tinytest_on_body,
		[STUB_CLEANUP] = tinytest_on_cleanup,
	};
	struct tinytest *tinytest = run->state;
	struct raddr memory;
	/* Each test may take two entries, and the end takes one. */
	tinytest->room = 2 * (run->n + run_unknown(run)) + 1;
	TRY(remote_map(thread,
		       sizeof(struct tinytest_setup) +
			       tinytest->room * sizeof(struct tinytest_case),
		       &memory));
	TRY(calls_stubs(thread, STUBS, &tinytest->stubs));
	for (int i = 0; i < STUBS; i++)
		TRY(run_break(run, RADDR(tinytest_stub(tinytest, i)), hooks[i],
			      0));
	const struct tinytest_setup setup = {
		.setup = tinytest_stub(tinytest, STUB_SETUP),
		.cleanup = tinytest_stub(tinytest, STUB_CLEANUP),
	};
	tinytest->setup = memory.v;
	tinytest->cases = memory.v + sizeof(setup);
	TRY(memory_write(run->tracee, memory, &setup, sizeof(setup)));
	const struct tinytest_group groups[] = {
		{ .prefix = memory.v, .cases = tinytest->cases }, {}
	};
	TRY(memory_write(run->tracee, RADDR(tinytest->groups), groups,
			 sizeof(groups)));
	return tinytest_lead_to_next(run);
}

static struct err *tinytest_before_hand_over(struct run *run)
{
	const struct tinytest *tinytest = run->state;
	if (tinytest->its.cleanup)
		TRY(calls_stub_becomes(
			run, RADDR(tinytest_stub(tinytest, STUB_CLEANUP)),
			RADDR(tinytest->its.cleanup)));
	return calls_stub_becomes(run,
				  RADDR(tinytest_stub(tinytest, STUB_BODY)),
				  RADDR(tinytest->test.function));
}

const struct framework framework_tinytest = {
	.name = "tinytest",
	.state_size = sizeof(struct tinytest),
	.signs = FRAMEWORK_SIGNS(
		FRAMEWORK_USES("tinytest_main"),
		FRAMEWORK_HAS("tinytest_set_test_failed_",
			"tinytest_get_verbosity_")),
	.own = {
		.title = "tinytest",
		.functions = FRAMEWORK_LIST("tinytest_", "testcase_run_",
			"testcase_set_timeout_$", "testcase_reset_timeout_$",
			"process_test_alias$", "process_test_option$"),
		.symbols = FRAMEWORK_LIST("tinytest_main"),
	},
	.isolation = "as with --no-fork",
	.before_hand_over = tinytest_before_hand_over,
	.attach = tinytest_attach,
	.list = tinytest_list,
	.start = tinytest_start,
	.branches = true,
};
