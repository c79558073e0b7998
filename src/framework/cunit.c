/*
 * CUnit, by data: CU_run_all_tests() walks a list of suites, and for each suite a
 * list of tests. When a test ends, links are changed so that the framework's own
 * loops come to the next wanted test, and restored when that one starts. A test may
 * run twice, and a test sees the lists unchanged.
 *
 * The framework reports its progress to handlers. There are breakpoints at those
 * that the program (or CUnit's own Basic and Automated interfaces) has set. If one
 * is not set, a harmless getter becomes the handler. In the suite's own order there
 * is one stop per test: when a test starts, the previous one of the same suite has
 * ended. Assertions do not stop, because most of them hold; the framework keeps
 * records of those that fail.
 *
 * The first test of a suite begins with the suite's set-up, so that a crash in it
 * is reported as the failure of a test.
 *
 * Seen with 2.1-3; see docs/frameworks.md.
 */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/str.h"
#include "framework/adapter.h"
#include "framework/fixture.h"
#include "native/calls.h"
#include "native/framework.h"
#include "tracee/memory.h"
#include "tracee/remote.h"

#define CALL_LIMIT_NS (5 * UINT64_C(1000000000))
#define SUITES_MAX 1000000
#define TESTS_MAX 10000000
/* The part of a CU_Test and CU_Suite that is read. */
#define NODE_SIZE 88
#define LINKS_MAX 3

/* CU_FailureType */
enum { FAILURE_ASSERTION = 5 };

/* CU_FailureRecord, the same since 2.0. */
struct cunit_failure {
	uint32_t type;
	uint32_t line;
	uint64_t file;
	uint64_t condition;
	uint64_t test;
	uint64_t suite;
	uint64_t next;
};

struct cunit_layout {
	uint64_t suites; /* CU_TestRegistry::pSuite */
	uint64_t suite_name, suite_active, suite_tests, suite_init, suite_next;
	uint64_t suite_setup, suite_teardown;  /* around each test */
	uint64_t name, active, function, next; /* CU_Test */
	uint64_t records; /* CU_RunSummary::nFailureRecords */
};

struct cunit_link {
	uint64_t at;
	uint64_t value;
};

enum cunit_handler {
	SUITE_START,
	TEST_START,
	TEST_COMPLETE,
	INIT_FAILURE,
	HANDLERS
};

struct cunit {
	struct cunit_layout at;
	struct raddr run_all, run_suite, run_test;
	struct raddr handlers[HANDLERS];
	uint64_t registry;
	uint64_t summary;
	struct calls all, complete;
	bool natural;  /* the order is the suite's own */
	bool early;    /* the running test has not come to its own start */
	bool watching; /* there is a breakpoint at a test's end */
	struct fixture fixture; /* of the running test, if points are wanted */
	/* Failures that were read: how many, and the last record. */
	uint32_t seen;
	uint64_t last_record;
	/* Links that were changed, and what they were. */
	struct cunit_link links[LINKS_MAX];
	size_t links_n;
};

static void cunit_find_layout(const struct run *run, struct cunit_layout *at)
{
	static const char *const suite = "CU_Suite", *const test = "CU_Test";
	static const uint64_t end = NODE_SIZE - 7;
	const struct adapter_member rows[] = {
		{ &at->suites, "CU_TestRegistry", "pSuite", 8, ANYWHERE },
		{ &at->suite_name, suite, "pName", 0, end },
		{ &at->suite_active, suite, "fActive", 8, end },
		{ &at->suite_tests, suite, "pTest", 16, end },
		{ &at->suite_init, suite, "pInitializeFunc", 24, ANYWHERE },
		{ &at->suite_setup, suite, "pSetUpFunc", 40, ANYWHERE },
		{ &at->suite_teardown, suite, "pTearDownFunc", 48, ANYWHERE },
		{ &at->suite_next, suite, "pNext", 64, end },
		{ &at->name, test, "pName", 0, end },
		{ &at->active, test, "fActive", 8, end },
		{ &at->function, test, "pTestFunc", 16, end },
		{ &at->next, test, "pNext", 32, end },
		{ &at->records, "CU_RunSummary", "nFailureRecords", 84,
		  ANYWHERE },
	};
	adapter_find_members(run, rows, ARRAY_SIZE(rows));
}

static struct err *cunit_change_link(struct run *run, uint64_t at,
				     uint64_t value)
{
	struct cunit *cunit = run->state;
	BUG_ON(cunit->links_n == LINKS_MAX);
	struct cunit_link link = { .at = at };
	TRY(run_u64(run, RADDR(at), &link.value));
	cunit->links[cunit->links_n++] = link;
	return memory_write_u64(run->tracee, RADDR(at), value);
}

static struct err *cunit_put_links_back(struct run *run)
{
	struct cunit *cunit = run->state;
	while (cunit->links_n) {
		const struct cunit_link *link = &cunit->links[--cunit->links_n];
		TRY(memory_write_u64(run->tracee, RADDR(link->at),
				     link->value));
	}
	return NULL;
}

/* The wanted test that the framework will run next; inactive ones it skips. */
static size_t cunit_next_active(const struct run *run)
{
	for (size_t i = 0;; i++) {
		size_t test = run_wanted_at(run, i);
		if (test == RUN_NONE || !run_disabled(run, test))
			return test;
	}
}

static uint64_t cunit_next_group(const struct run *run)
{
	size_t next = cunit_next_active(run);
	return next == RUN_NONE ? 0 : run_group(run, next);
}

static struct err *cunit_skip_inactive(struct run *run)
{
	size_t test;
	while ((test = run_wanted(run)) != RUN_NONE &&
	       run_disabled(run, test)) {
		TRY(run_begin(run));
		TRY(run_skip(run, NULL, 0, "inactive"));
		TRY(run_end(run, OUTCOME_NONE));
	}
	return NULL;
}

/* The first failed assertion of the running test among the new records. */
static struct err *cunit_note_failures(struct run *run, struct thread *thread)
{
	struct cunit *cunit = run->state;
	uint32_t n;
	TRY(run_u32(run, RADDR(cunit->summary + cunit->at.records), &n));
	if (n == cunit->seen || !run->in_test)
		return NULL;
	uint64_t record = 0;
	struct cunit_failure failure;
	if (cunit->last_record) {
		TRY(memory_read(run->tracee, RADDR(cunit->last_record),
				&failure, sizeof(failure)));
		record = failure.next;
	} else {
		struct raddr get;
		if (!program_symbol(run->program, "CU_get_failure_list", &get))
			return run_fail(run, NULL, 0, NULL);
		TRY(remote_call(thread, get, NULL, 0, CALL_LIMIT_NS, &record));
	}
	for (; record && cunit->seen < n; cunit->seen++) {
		TRY(memory_read(run->tracee, RADDR(record), &failure,
				sizeof(failure)));
		cunit->last_record = record;
		record = failure.next;
		if (failure.type != FAILURE_ASSERTION || run->outcome ||
		    failure.test != run_handle(run, run->current))
			continue;
		_cleanup_(freep) char *file = NULL, *condition = NULL;
		if (failure.file)
			err_ignore(run_text(run, RADDR(failure.file), &file));
		if (failure.condition)
			err_ignore(run_text(run, RADDR(failure.condition),
					    &condition));
		TRY(run_fail(run, file, failure.line, condition));
	}
	cunit->seen = n;
	return NULL;
}

static struct err *cunit_end_test(struct run *run, struct thread *thread)
{
	if (!run->in_test)
		return NULL;
	TRY(run_point(run, SUITE_BEFORE_TEARDOWN)); /* it has none */
	TRY(cunit_note_failures(run, thread));
	return run_end(run, OUTCOME_NONE);
}

/* After @suite the loop over suites comes to the next wanted one. */
static struct err *cunit_lead_to_next_suite(struct run *run, uint64_t suite)
{
	const struct cunit *cunit = run->state;
	size_t next = cunit_next_active(run);
	TRY(cunit_change_link(run, suite + cunit->at.suite_next,
			      cunit_next_group(run)));
	if (next == RUN_NONE)
		return NULL;
	return cunit_change_link(run,
				 run_group(run, next) + cunit->at.suite_tests,
				 run_handle(run, next));
}

static struct err *cunit_on_completed(struct run *run, struct thread *thread,
				      uint64_t arg)
{
	(void)arg;
	struct cunit *cunit = run->state;
	if (!calls_returned(&cunit->complete, thread))
		return NULL;
	cunit->complete.inside = false;
	TRY(run_unbreak(run, cunit->complete.return_to));
	return cunit_end_test(run, thread);
}

/*
 * The handler of a test's end: (test, suite, failures). The end of the last
 * one of a suite is where the handler, which prints, returns.
 */
static struct err *cunit_on_complete(struct run *run, struct thread *thread,
				     uint64_t arg)
{
	(void)arg;
	struct cunit *cunit = run->state;
	uint64_t test = thread_arg(thread, 0);
	if (!run->in_test || test != run_handle(run, run->current))
		return NULL;
	uint64_t suite = run_group(run, run->current);
	bool last = cunit_next_group(run) != suite;
	if (!cunit->natural) {
		TRY(cunit_change_link(
			run, test + cunit->at.next,
			last ? 0 : run_handle(run, cunit_next_active(run))));
		if (last)
			TRY(cunit_lead_to_next_suite(run, suite));
	}
	if (!last)
		return NULL;
	return calls_enter(run, thread, &cunit->complete, cunit_on_completed,
			   0);
}

/* Stops at the end of a test for links and at the end of a suite. */
static struct err *cunit_watch_end(struct run *run)
{
	struct cunit *cunit = run->state;
	bool watch = !cunit->natural ||
		     cunit_next_group(run) != run_group(run, run->current);
	if (watch == cunit->watching)
		return NULL;
	cunit->watching = watch;
	struct raddr handler = cunit->handlers[TEST_COMPLETE];
	return watch ? run_break(run, handler, cunit_on_complete, 0)
		     : run_unbreak(run, handler);
}

/* The running test is about to be set up. */
static struct err *cunit_watch_points(struct run *run)
{
	struct cunit *cunit = run->state;
	const struct cunit_layout *at = &cunit->at;
	uint64_t suite = run_group(run, run->current);
	uint64_t test = run_handle(run, run->current);
	struct fixture *fixture = &cunit->fixture;
	if (!fixture_wanted(run))
		return NULL;
	*fixture = (struct fixture){};
	TRY(run_u64(run, RADDR(suite + at->suite_setup), &fixture->setup.v));
	TRY(run_u64(run, RADDR(test + at->function), &fixture->body.v));
	TRY(run_u64(run, RADDR(suite + at->suite_teardown),
		    &fixture->teardown.v));
	return fixture_watch(run, fixture, NULL);
}

/* The handler of a suite's start: (suite). */
static struct err *cunit_on_suite_start(struct run *run, struct thread *thread,
					uint64_t arg)
{
	(void)arg;
	struct cunit *cunit = run->state;
	uint64_t suite = thread_arg(thread, 0);
	if (!run->order || run->in_test || !suite ||
	    cunit_next_group(run) != suite)
		return NULL;
	TRY(cunit_skip_inactive(run));
	cunit->early = run->early = true;
	return run_begin(run);
}

/* The handler of a test's start: (test, suite). */
static struct err *cunit_on_start(struct run *run, struct thread *thread,
				  uint64_t arg)
{
	(void)arg;
	struct cunit *cunit = run->state;
	uint64_t test = thread_arg(thread, 0);
	if (!run->order)
		return NULL;
	if (!cunit->early) {
		size_t next = cunit_next_active(run);
		if (next == RUN_NONE || test != run_handle(run, next))
			return NULL;
		TRY(cunit_end_test(run, thread));
		TRY(cunit_skip_inactive(run));
		TRY(run_begin(run));
	} else if (test != run_handle(run, run->current)) {
		return NULL;
	}
	cunit->early = false;
	TRY(run_group_ready(run));
	TRY(cunit_put_links_back(run));
	TRY(cunit_watch_points(run));
	return cunit_watch_end(run);
}

/* The handler of a suite whose set-up failed, so that no test is run. */
static struct err *cunit_on_init_failure(struct run *run, struct thread *thread,
					 uint64_t arg)
{
	(void)arg;
	struct cunit *cunit = run->state;
	uint64_t suite = thread_arg(thread, 0), function;
	if (!run->order || !cunit->early ||
	    suite != run_group(run, run->current))
		return NULL;
	const char *file = NULL;
	unsigned line = 0;
	TRY(run_u64(run, RADDR(suite + cunit->at.suite_init), &function));
	program_function_place(run->program, RADDR(function), &file, &line);
	cunit->early = false;
	for (;;) {
		TRY(run_fail(run, file, line,
			     "the suite's initialization function failed"));
		TRY(run_end(run, OUTCOME_NONE));
		TRY(cunit_skip_inactive(run));
		if (cunit_next_group(run) != suite)
			break;
		TRY(run_begin(run));
	}
	TRY(cunit_put_links_back(run));
	return cunit->natural ? NULL : cunit_lead_to_next_suite(run, suite);
}

static struct err *cunit_on_all_return(struct run *run, struct thread *thread,
				       uint64_t arg)
{
	(void)arg;
	struct cunit *cunit = run->state;
	if (!calls_returned(&cunit->all, thread))
		return NULL;
	TRY(cunit_end_test(run, thread));
	TRY(cunit_skip_inactive(run));
	TRY(cunit_put_links_back(run));
	/* Anything else that the program runs passes without a stop. */
	TRY(run_unbreak(run, cunit->all.return_to));
	TRY(calls_mute(run, cunit->run_all));
	TRY(calls_mute(run, cunit->run_suite));
	return calls_mute(run, cunit->run_test);
}

static const struct {
	const char *get, *set;
	run_hook *hook;
} handlers[HANDLERS] = {
	/* clang-format off */
	[SUITE_START]   = { "CU_get_suite_start_handler",
			    "CU_set_suite_start_handler", cunit_on_suite_start },
	[TEST_START]    = { "CU_get_test_start_handler",
			    "CU_set_test_start_handler", cunit_on_start },
	[TEST_COMPLETE] = { "CU_get_test_complete_handler",
			    "CU_set_test_complete_handler", NULL },
	[INIT_FAILURE]  = { "CU_get_suite_init_failure_handler",
			    "CU_set_suite_init_failure_handler",
			    cunit_on_init_failure },
	/* clang-format on */
};

/* The program's handler, or in its place its getter, which does nothing. */
static struct err *cunit_find_handler(struct run *run, struct thread *thread,
				      enum cunit_handler i)
{
	struct cunit *cunit = run->state;
	struct raddr get, set;
	uint64_t handler, nothing;
	if (!program_symbol(run->program, handlers[i].get, &get) ||
	    !program_symbol(run->program, handlers[i].set, &set))
		return adapter_function_missing(
			run, handlers[i].set,
			"build it without -Wl,--gc-sections and without "
			"link-time optimisation");
	TRY(remote_call(thread, get, NULL, 0, CALL_LIMIT_NS, &handler));
	if (!handler) {
		handler = get.v;
		TRY(remote_call(thread, set, &handler, 1, CALL_LIMIT_NS,
				&nothing));
	}
	cunit->handlers[i] = RADDR(handler);
	return handlers[i].hook
		       ? run_break(run, RADDR(handler), handlers[i].hook, 0)
		       : NULL;
}

/* At the entry of one of the functions that run tests. */
static struct err *cunit_on_run(struct run *run, struct thread *thread,
				uint64_t arg)
{
	(void)arg;
	struct cunit *cunit = run->state;
	if (run->order || run->ready_thread)
		return NULL;
	for (int i = 0; i < HANDLERS; i++)
		TRY(cunit_find_handler(run, thread, (enum cunit_handler)i));
	struct raddr get_registry, get_summary;
	if (!program_symbol(run->program, "CU_get_registry", &get_registry) ||
	    !program_symbol(run->program, "CU_get_run_summary", &get_summary))
		return adapter_unknown_version(
			run, "no CU_get_registry or CU_get_run_summary");
	TRY(remote_call(thread, get_registry, NULL, 0, CALL_LIMIT_NS,
			&cunit->registry));
	TRY(remote_call(thread, get_summary, NULL, 0, CALL_LIMIT_NS,
			&cunit->summary));
	run_ready(run, thread);
	return NULL;
}

static struct err *cunit_attach(struct run *run)
{
	struct cunit *cunit = run->state;
	cunit_find_layout(run, &cunit->at);
	const struct {
		const char *name;
		struct raddr *address;
	} functions[] = {
		{ "CU_run_all_tests", &cunit->run_all },
		{ "CU_run_suite", &cunit->run_suite },
		{ "CU_run_test", &cunit->run_test },
	};
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++) {
		if (!program_symbol(run->program, functions[i].name,
				    functions[i].address))
			return err_create(ERR_SUITE,
					  "CUnit's %s() is missing "
					  "from the program",
					  functions[i].name);
		TRY(run_break(run, *functions[i].address, cunit_on_run, 0));
	}
	return NULL;
}

static uint64_t cunit_word_in(const uint8_t *node, uint64_t at)
{
	uint64_t word;
	memcpy(&word, node + at, sizeof(word));
	return word;
}

/* *@ret_next: the test after it. */
static struct err *cunit_add_test(struct run *run, uint64_t suite,
				  const char *suite_name, bool suite_active,
				  uint64_t test, uint64_t *ret_next)
{
	const struct cunit *cunit = run->state;
	const struct cunit_layout *at = &cunit->at;
	uint8_t node[NODE_SIZE] = {};
	size_t n =
		memory_read_some(run->tracee, RADDR(test), node, sizeof(node));
	if (n < at->next + 8)
		return adapter_unknown_version(run, "a test cannot be read");
	_cleanup_(freep) char *name = NULL, *full = NULL;
	TRY(run_text(run, RADDR(cunit_word_in(node, at->name)), &name));
	TRY(str_format(&full, "%s/%s", suite_name, name));
	const char *file = NULL;
	unsigned line = 0;
	program_function_place(run->program,
			       RADDR(cunit_word_in(node, at->function)), &file,
			       &line);
	bool active = suite_active && (uint32_t)cunit_word_in(node, at->active);
	*ret_next = cunit_word_in(node, at->next);
	return run_add_test(run, full, file, line, !active, test, suite);
}

static struct err *cunit_add_suite(struct run *run, uint64_t suite,
				   uint64_t *ret_next)
{
	const struct cunit *cunit = run->state;
	const struct cunit_layout *at = &cunit->at;
	uint8_t node[NODE_SIZE];
	TRY(memory_read(run->tracee, RADDR(suite), node, sizeof(node)));
	_cleanup_(freep) char *name = NULL;
	TRY(run_text(run, RADDR(cunit_word_in(node, at->suite_name)), &name));
	bool active = (uint32_t)cunit_word_in(node, at->suite_active);
	uint64_t test = cunit_word_in(node, at->suite_tests);
	TRY(run_declare_group(run, suite, 0));
	while (test) {
		if (run_tests(run) == TESTS_MAX ||
		    run_test_by_handle(run, test) != RUN_NONE)
			return err_create(ERR_SUITE, "suite '%s' does not end",
					  name);
		TRY(cunit_add_test(run, suite, name, active, test, &test));
	}
	*ret_next = cunit_word_in(node, at->suite_next);
	return NULL;
}

static struct err *cunit_list(struct run *run, struct thread *thread)
{
	(void)thread;
	const struct cunit *cunit = run->state;
	uint64_t suite = 0;
	if (cunit->registry)
		TRY(run_u64(run, RADDR(cunit->registry + cunit->at.suites),
			    &suite));
	for (size_t n = 0; suite; n++) {
		if (n == SUITES_MAX)
			return err_create(ERR_SUITE,
					  "the list of suites does not end");
		TRY(cunit_add_suite(run, suite, &suite));
	}
	return NULL;
}

static struct err *cunit_start(struct run *run, struct thread *thread)
{
	struct cunit *cunit = run->state;
	cunit->natural = run_settled(run) && adapter_runs_naturally(run);
	log_debug(LOG_FRAMEWORK, "CUnit: links between tests %s",
		  cunit->natural ? "stay" : "are changed");
	TRY(cunit_skip_inactive(run));
	size_t next = cunit_next_active(run);
	TRY(cunit_change_link(run, cunit->registry + cunit->at.suites,
			      cunit_next_group(run)));
	if (next != RUN_NONE)
		TRY(cunit_change_link(
			run, run_group(run, next) + cunit->at.suite_tests,
			run_handle(run, next)));
	TRY(calls_enter(run, thread, &cunit->all, cunit_on_all_return, 0));
	/* It may be at the entry of CU_run_suite() or CU_run_test(). */
	regs_set_pc(&thread->regs, cunit->run_all);
	thread_dirty(thread);
	return NULL;
}

const struct framework framework_cunit = {
	.name = "cunit",
	.state_size = sizeof(struct cunit),
	.signs = FRAMEWORK_SIGNS(
		FRAMEWORK_HAS("CU_run_all_tests"),
		FRAMEWORK_HAS("CU_get_run_summary"),
		FRAMEWORK_USES("CU_initialize_registry")),
	.own = {
		.title = "CUnit",
		.functions = FRAMEWORK_LIST("CU_"),
		.symbols = FRAMEWORK_LIST("CU_initialize_registry",
			"CU_run_all_tests", "CU_basic_run_tests",
			"CU_automated_run_tests", "CU_get_error"),
		.libraries = FRAMEWORK_LIST("libcunit"),
	},
	.attach = cunit_attach,
	.list = cunit_list,
	.start = cunit_start,
	.branches = true,
};
