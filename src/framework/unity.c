/*
 * Unity, by calls: UnityDefaultTestRun(), or run_test() of generated runners, runs
 * one test with setUp() and tearDown(). The fixture add-on has UnityTestRunner().
 * For each test a function without arguments, TEST_group_name_run(), calls it; to
 * run another test, that function is called.
 *
 * There is no list: the tests are found by a run in which every call returns
 * immediately. The program always runs normally; in an order that is not its own
 * a call runs another test than the one it is for (native/slots.h).
 *
 * The framework's counters show how a test ended. The place and message of a
 * failure are only printed, so they come from the output.
 *
 * Seen with 2.4.3 and the newest; see docs/frameworks.md.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/str.h"
#include "framework/fixture.h"
#include "native/calls.h"
#include "native/framework.h"
#include "native/slots.h"
#include "tracee/memory.h"

/*
 * A handle is the function's address, the number of the call, and whether
 * it belongs to the fixture add-on. A group is the address of the name and the
 * line, for the call.
 */
#define OCCURRENCE_SHIFT 48
#define OCCURRENCE_MAX 0x7fff
#define ADDRESS_MASK ((UINT64_C(1) << OCCURRENCE_SHIFT) - 1)
#define FIXTURE_BIT (UINT64_C(1) << 63)
#define TESTS_MAX 1000000

enum unity_kind { KIND_PLAIN, KIND_FIXTURE, KIND_IGNORED };

struct unity_layout {
	uint64_t storage; /* struct UNITY_STORAGE_T Unity */
	uint64_t file;
	uint64_t counters; /* NumberOfTests, TestFailures, TestIgnores */
	uint64_t width;	   /* of one of them */
};

struct unity_counters {
	uint64_t tests, failures, ignores;
};

struct unity {
	struct unity_layout at;
	struct calls call;
	struct raddr plain; /* runs a test that is given by function */
	struct slots slots;
	bool entering; /* TEST_group_name_run() will call the runner */
	struct unity_counters began; /* when the test began */
	struct fixture fixture; /* of the running test, if points are wanted */
	struct calls body;	/* the same for its body */
};

/* A call that runs a test. */
struct unity_found {
	uint64_t handle; /* without the occurrence */
	uint64_t group;
	char *name, *file;
	unsigned line;
};

static void unity_found_free(struct unity_found *found)
{
	free(found->name);
	free(found->file);
}

static bool unity_is_function(const struct program *program, uint64_t address)
{
	const struct module *module = program_module(program, RADDR(address));
	struct object_symbol symbol;
	return module && module->object &&
	       object_symbol_at(module->object, address - module->bias,
				&symbol) &&
	       symbol.function && symbol.value == address - module->bias;
}

/* UnityDefaultTestRun(function, name, line) */
static struct err *unity_find_plain(struct run *run,
				    const struct thread *thread,
				    struct unity_found *found)
{
	uint64_t function = thread_arg(thread, 0), name = thread_arg(thread, 1);
	uint64_t line = thread_arg(thread, 2) & 0xffff;
	const char *file = NULL;
	/* It may be something else named run_test. */
	if (!unity_is_function(run->program, function))
		return NULL;
	TRY(run_text(run, RADDR(name), &found->name));
	if (program_function_place(run->program, RADDR(function), &file,
				   &found->line)) {
		found->file = strdup(file);
		if (!found->file)
			return err_nomem();
	}
	found->group = name | line << OCCURRENCE_SHIFT;
	found->handle = function;
	return NULL;
}

/*
 * UnityTestRunner(set-up, body, tear-down, text, group, name, file, line) and
 * UnityIgnoreTest(text, group, name)
 */
static struct err *unity_find_fixture(struct run *run,
				      const struct thread *thread, bool ignored,
				      struct unity_found *found)
{
	_cleanup_(freep) char *group = NULL, *name = NULL, *caller = NULL;
	const char *file = NULL;
	struct raddr body, call;
	TRY(run_text(run, RADDR(thread_arg(thread, ignored ? 1 : 4)), &group));
	TRY(run_text(run, RADDR(thread_arg(thread, ignored ? 2 : 5)), &name));
	TRY(str_format(&found->name, "TEST_%s_%s_", group, name));
	TRY(str_format(&caller, "%srun", found->name));
	if (!program_symbol(run->program, caller, &call))
		return err_hint(err_create(ERR_SUITE,
					   "there is no function '%s'", caller),
				"build the tests without link-time "
				"optimisation and do not strip them");
	if (program_symbol(run->program, found->name, &body) &&
	    program_function_place(run->program, body, &file, &found->line)) {
		found->file = strdup(file);
		if (!found->file)
			return err_nomem();
	}
	found->handle = call.v | FIXTURE_BIT;
	return NULL;
}

/* The test that the call is about; no name: none. */
static struct err *unity_find_test(struct run *run, const struct thread *thread,
				   uint64_t kind, struct unity_found *found)
{
	if (kind == KIND_PLAIN)
		return unity_find_plain(run, thread, found);
	return unity_find_fixture(run, thread, kind == KIND_IGNORED, found);
}

static uint64_t unity_without_occurrence(uint64_t handle)
{
	return handle & (ADDRESS_MASK | FIXTURE_BIT);
}

static struct err *unity_add_discovered(struct run *run, struct thread *thread,
					uint64_t kind)
{
	_cleanup_(unity_found_free) struct unity_found found = {};
	TRY(unity_find_test(run, thread, kind, &found));
	if (!found.name)
		return NULL;
	uint64_t occurrence = 0;
	while (occurrence < OCCURRENCE_MAX &&
	       run_test_by_handle(
		       run, found.handle | occurrence << OCCURRENCE_SHIFT) !=
		       RUN_NONE)
		occurrence++;
	if (run_tests(run) < TESTS_MAX && occurrence < OCCURRENCE_MAX)
		TRY(run_add_test(run, found.name, found.file, found.line, false,
				 found.handle | occurrence << OCCURRENCE_SHIFT,
				 found.group));
	return calls_skip(run, thread, 0);
}

/*
 * The first line "file:LINE:name:FAIL: message" in what the test printed; the
 * word may be in colours.
 */
static bool unity_parse_verdict(char *text, const char *file, const char *word,
				unsigned *ret_line, char **ret_message)
{
	size_t file_n = strlen(file), word_n = strlen(word);
	for (char *at = text; file_n && (at = strstr(at, file));) {
		at += file_n;
		char *end = at + strcspn(at, "\n");
		if (*at != ':' || !isdigit((unsigned char)at[1]))
			continue;
		unsigned long line = strtoul(at + 1, &at, 10);
		char *found = memmem(at, (size_t)(end - at), word, word_n);
		while (found && !strchr(":m", found[-1]))
			found = memmem(found + 1, (size_t)(end - found - 1),
				       word, word_n);
		if (!found)
			continue;
		*end = '\0';
		found += word_n;
		if (*found == '\033')
			found += strcspn(found, "m") +
				 (strchr(found, 'm') != NULL);
		while (*found == ':' || *found == ' ')
			found++;
		*ret_line = (unsigned)line;
		*ret_message = found;
		return true;
	}
	return false;
}

static struct err *unity_read_counters(struct run *run,
				       struct unity_counters *ret)
{
	const struct unity *unity = run->state;
	const struct unity_layout *at = &unity->at;
	uint8_t bytes[24];
	*ret = (struct unity_counters){};
	TRY(memory_read(run->tracee, RADDR(at->storage + at->counters), bytes,
			3 * at->width));
	memcpy(&ret->tests, bytes, at->width);
	memcpy(&ret->failures, bytes + at->width, at->width);
	memcpy(&ret->ignores, bytes + 2 * at->width, at->width);
	return NULL;
}

static struct err *unity_judge_test(struct run *run)
{
	const struct unity *unity = run->state;
	const struct unity_layout *at = &unity->at;
	struct unity_counters now;
	uint64_t file_at;
	TRY(unity_read_counters(run, &now));
	bool failed = now.failures != unity->began.failures;
	if (now.tests == unity->began.tests)
		return run_skip(run, NULL, 0,
				"left out by the program's own options");
	if (!failed && now.ignores == unity->began.ignores)
		return NULL;
	_cleanup_(freep) char *file = NULL, *output = NULL;
	unsigned line = 0;
	char *message = NULL;
	TRY(run_u64(run, RADDR(at->storage + at->file), &file_at));
	if (file_at)
		err_ignore(run_text(run, RADDR(file_at), &file));
	err_ignore(run_output(run, &output));
	bool found =
		file && output &&
		unity_parse_verdict(output, file, failed ? "FAIL" : "IGNORE",
				    &line, &message);
	if (found && !*message)
		message = NULL;
	if (failed)
		return run_fail(run, found ? file : NULL, line, message);
	return run_skip(run, found ? file : NULL, line, message);
}

static struct err *unity_on_body_return(struct run *run, struct thread *thread,
					uint64_t arg)
{
	(void)arg;
	struct unity *unity = run->state;
	if (!calls_returned(&unity->body, thread))
		return NULL;
	unity->body.inside = false;
	return run_point(run, SUITE_BEFORE_TEARDOWN);
}

/*
 * tearDown() may be inlined into a generated runner: then the return from the
 * body is all there is. A body that is left by a failed assertion has none.
 */
static struct err *unity_on_step(struct run *run, struct thread *thread,
				 uint64_t arg)
{
	(void)arg;
	struct unity *unity = run->state;
	bool before = run->point < SUITE_AFTER_SETUP;
	TRY(fixture_step(run, thread, &unity->fixture));
	if (!before || run->point != SUITE_AFTER_SETUP ||
	    !run_point_wanted(run, SUITE_BEFORE_TEARDOWN))
		return NULL;
	return calls_enter(run, thread, &unity->body, unity_on_body_return, 0);
}

/* The thread is at the entry of the function that runs this test. */
static struct err *
unity_watch_points(struct run *run, const struct thread *thread, uint64_t kind)
{
	struct unity *unity = run->state;
	struct fixture *fixture = &unity->fixture;
	if (!fixture_wanted(run) || kind == KIND_IGNORED)
		return NULL;
	if (kind == KIND_FIXTURE) {
		fixture->setup = RADDR(thread_arg(thread, 0));
		fixture->body = RADDR(thread_arg(thread, 1));
		fixture->teardown = RADDR(thread_arg(thread, 2));
	} else {
		fixture->body = RADDR(thread_arg(thread, 0));
		program_symbol(run->program, "setUp", &fixture->setup);
		program_symbol(run->program, "tearDown", &fixture->teardown);
		TRY(run_break(run, fixture->body, unity_on_step, 0));
	}
	return fixture_watch(run, fixture, unity_on_step);
}

/*
 * The thread is at the entry of a function that runs tests, of that kind unless
 * another one runs instead.
 */
static struct err *unity_begin_test(struct run *run, struct thread *thread,
				    size_t test, uint64_t kind, bool instead)
{
	struct unity *unity = run->state;
	uint64_t handle = run_handle(run, test), group = run_group(run, test);
	TRY(unity_read_counters(run, &unity->began));
	if (instead && handle & FIXTURE_BIT) {
		calls_instead(thread, RADDR(handle & ADDRESS_MASK));
		unity->entering = true;
	} else if (instead) {
		calls_instead(thread, unity->plain);
		regs_set_arg(&thread->regs, 0, handle & ADDRESS_MASK);
		regs_set_arg(&thread->regs, 1, group & ADDRESS_MASK);
		regs_set_arg(&thread->regs, 2, group >> OCCURRENCE_SHIFT);
		kind = KIND_PLAIN;
	}
	unity->fixture = (struct fixture){};
	TRY(run_begin(run));
	return unity->entering ? NULL : unity_watch_points(run, thread, kind);
}

static struct err *unity_mute_runners(struct run *run)
{
	struct unity *unity = run->state;
	static const char *const names[] = { "UnityTestRunner",
					     "UnityIgnoreTest" };
	struct raddr at;
	TRY(run_unbreak(run, unity->call.return_to));
	if (unity->plain.v)
		TRY(calls_mute(run, unity->plain));
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (program_symbol(run->program, names[i], &at))
			TRY(calls_mute(run, at));
	}
	return NULL;
}

static struct err *unity_on_return(struct run *run, struct thread *thread,
				   uint64_t arg)
{
	(void)arg;
	struct unity *unity = run->state;
	if (!calls_returned(&unity->call, thread))
		return NULL;
	TRY(unity_judge_test(run));
	TRY(run_end(run, OUTCOME_NONE));
	size_t test = run_wanted(run);
	if (test != RUN_NONE &&
	    slots_stay(run, &unity->slots, run_failed(run))) {
		TRY(calls_again(run, thread, &unity->call));
		return unity_begin_test(run, thread, test, KIND_PLAIN, true);
	}
	unity->call.inside = false;
	calls_leave(thread, &unity->call, false);
	return test == RUN_NONE ? unity_mute_runners(run) : NULL;
}

/* Which test this call is, in the program's own sequence. */
static struct err *unity_test_of_call(struct run *run,
				      const struct thread *thread,
				      uint64_t kind, size_t *ret)
{
	struct unity *unity = run->state;
	_cleanup_(unity_found_free) struct unity_found found = {};
	size_t n = run_tests(run);
	*ret = RUN_NONE;
	if (kind == KIND_PLAIN)
		found.handle = thread_arg(thread, 0);
	else
		TRY(unity_find_test(run, thread, kind, &found));
	for (size_t i = unity->slots.next; i < n; i++) {
		if (unity_without_occurrence(run_handle(run, i)) !=
		    found.handle)
			continue;
		*ret = i;
		unity->slots.next = i + 1;
		break;
	}
	return NULL;
}

static struct err *unity_on_call(struct run *run, struct thread *thread,
				 uint64_t kind)
{
	struct unity *unity = run->state;
	/* A jump instead of a call leaves nothing on the stack. */
	bool entering = unity->entering && kind != KIND_PLAIN;
	if (entering || calls_nested(&unity->call, thread)) {
		unity->entering = false;
		return entering ? unity_watch_points(run, thread, kind) : NULL;
	}
	if (kind == KIND_PLAIN) {
		uint64_t function = thread_arg(thread, 0);
		if (run_test_by_handle(run, function) == RUN_NONE &&
		    !unity_is_function(run->program, function))
			return NULL;
		unity->plain = regs_pc(&thread->regs);
	}
	if (run->discovering && run->ready_thread)
		return unity_add_discovered(run, thread, kind);
	if (!run->order) {
		run_ready(run, thread);
		return NULL;
	}
	size_t test = run_wanted(run), here;
	TRY(unity_test_of_call(run, thread, kind, &here));
	if (test == RUN_NONE || !slots_fit(run, &unity->slots, here, test))
		return calls_skip(run, thread, 0);
	TRY(calls_enter(run, thread, &unity->call, unity_on_return, 0));
	return unity_begin_test(run, thread, test, kind, here != test);
}

static enum unity_kind unity_kind_at(const struct run *run,
				     const struct thread *thread)
{
	struct raddr at, pc = regs_pc(&thread->regs);
	if (program_symbol(run->program, "UnityTestRunner", &at) &&
	    raddr_eq(at, pc))
		return KIND_FIXTURE;
	if (program_symbol(run->program, "UnityIgnoreTest", &at) &&
	    raddr_eq(at, pc))
		return KIND_IGNORED;
	return KIND_PLAIN;
}

static struct err *unity_find_layout(const struct program *program,
				     struct unity_layout *at)
{
	static const char *const storage = "UNITY_STORAGE_T";
	struct raddr address;
	if (!program_symbol(program, "Unity", &address))
		return err_hint(err_create(ERR_SUITE,
					   "Unity's variable 'Unity' is "
					   "missing from the program"),
				"do not strip it");
	at->storage = address.v;
	at->file = program_member(program, storage, "TestFile", 0);
	at->counters = program_member(program, storage, "NumberOfTests", 40);
	at->width = program_member(program, storage, "TestFailures",
				   at->counters + 8) -
		    at->counters;
	if (!at->width || at->width > 8) /* debug information may be anything */
		at->width = 8;
	return NULL;
}

static struct err *unity_attach(struct run *run)
{
	static const struct {
		const char *name;
		enum unity_kind kind;
	} functions[] = {
		{ "UnityDefaultTestRun", KIND_PLAIN },
		{ "run_test", KIND_PLAIN },
		{ "UnityTestRunner", KIND_FIXTURE },
		{ "UnityIgnoreTest", KIND_IGNORED },
	};
	struct unity *unity = run->state;
	TRY(unity_find_layout(run->program, &unity->at));
	if (!program_symbol(run->program, "UnityDefaultTestRun", &unity->plain))
		unity->plain = RADDR(0);
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++)
		TRY(run_break_symbol(run, functions[i].name, unity_on_call,
				     functions[i].kind, NULL));
	return NULL;
}

static struct err *unity_discover(struct run *run, struct thread *thread)
{
	return unity_add_discovered(run, thread, unity_kind_at(run, thread));
}

static struct err *unity_start(struct run *run, struct thread *thread)
{
	struct unity *unity = run->state;
	slots_start(run, &unity->slots);
	return unity_on_call(run, thread, unity_kind_at(run, thread));
}

const struct framework framework_unity = {
	.name = "unity",
	.state_size = sizeof(struct unity),
	.signs = FRAMEWORK_SIGNS(
		FRAMEWORK_USES("UnityBegin"),
		FRAMEWORK_HAS("UnityDefaultTestRun", "UnityTestRunner", "run_test")),
	.own = {
		.title = "Unity",
		.functions = FRAMEWORK_LIST("Unity", "UNITY", "unity_",
			"CMock_"),
		.symbols = FRAMEWORK_LIST("UnityBegin", "UnityMain",
			"UnityMalloc_StartTest"),
		.variables = FRAMEWORK_LIST("Unity$", "UnityFixture$"),
		.libraries = FRAMEWORK_LIST("libunity"),
	},
	.attach = unity_attach,
	.discover = unity_discover,
	.start = unity_start,
	.branches = true,
	.flows = true,
};
