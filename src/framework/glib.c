/*
 * GLib's test functions, by data: g_test_run_suite() is handed a suite of ours
 * instead of the program's tree of suites. It has the wanted tests as its own
 * cases, in the wanted order, each with its whole path as name, so that
 * g_test_get_path() and g_test_trap_subprocess() find what they expect.
 *
 * The first function of each test (set-up, or the test itself) is replaced by
 * one of ours that only stops: there a test begins and the one before it ends.
 * Then the real function runs. One stop a test.
 *
 * A failed assertion prints and calls abort(); that is a failure, and the rest
 * of the order goes on in a new process, as a person would do it with -p. With
 * -k the framework itself goes on after g_test_fail().
 *
 * Seen with 2.74; see docs/frameworks.md.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/str.h"
#include "native/calls.h"
#include "native/framework.h"
#include "native/session.h"
#include "tracee/memory.h"
#include "tracee/remote.h"

#define TESTS_MAX 10000000
#define DEPTH_MAX 64
#define ARGUMENTS_MAX 4096

/* The framework's structures as they lie in memory; these never changed. */
struct test_suite { /* GTestSuite */
	uint64_t name, suites, cases;
};
struct test_case { /* GTestCase */
	uint64_t name;
	uint32_t fixture_size;
	uint64_t setup, test, teardown, data;
};
struct list_node { /* GSList */
	uint64_t data, next;
};

/* What functions of ours stand for. */
struct originals {
	uint64_t begin, body, teardown;
};
enum { STUB_BEGIN, STUB_BODY, STUB_TEARDOWN, STUBS };

struct glib {
	struct calls call;
	uint64_t originals; /* an array of them, one an entry of the order */
};

static bool glib_recognise(const struct program *program)
{
	return program_uses(program, "g_test_init") &&
	       (program_uses(program, "g_test_run") ||
		program_uses(program, "g_test_run_suite"));
}

/* Does the path lie at or below the prefix? */
static bool below(const char *path, const char *prefix)
{
	size_t n = strlen(prefix);
	return !strncmp(path, prefix, n) && (!path[n] || path[n] == '/');
}

enum choice { CHOICE_NONE, CHOICE_ONLY, CHOICE_SKIP, CHOICE_SKIP_BELOW };

/*
 * Options that choose tests: "-p PATH", "-p=PATH" and others. *@ret_value is
 * NULL where the next word has it.
 */
static enum choice choice_of(const char *word, const char **ret_value)
{
	static const struct {
		const char *name;
		enum choice choice;
	} options[] = {
		{ "-p", CHOICE_ONLY },
		{ "-r", CHOICE_ONLY },
		{ "--run-prefix", CHOICE_ONLY },
		{ "-s", CHOICE_SKIP },
		{ "-x", CHOICE_SKIP_BELOW },
		{ "--skip-prefix", CHOICE_SKIP_BELOW },
	};
	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		size_t n = strlen(options[i].name);
		if (strncmp(word, options[i].name, n) != 0 ||
		    (word[n] && word[n] != '='))
			continue;
		*ret_value = word[n] ? word + n + 1 : NULL;
		return options[i].choice;
	}
	return CHOICE_NONE;
}

/* Would the program run this test, going by its own arguments? */
static bool selected(const struct run *run, const char *path)
{
	char *const *argv = run->session->argv;
	bool any = false, match = false;
	/* Parts of other tests, for g_test_trap_subprocess() alone. */
	if (strstr(path, "/subprocess"))
		return false;
	for (size_t i = 1; argv[0] && argv[i]; i++) {
		const char *value = NULL;
		enum choice choice = choice_of(argv[i], &value);
		if (choice == CHOICE_NONE)
			continue;
		if (!value)
			value = argv[i + 1] ? argv[++i] : "";
		if ((choice == CHOICE_SKIP && !strcmp(path, value)) ||
		    (choice == CHOICE_SKIP_BELOW && below(path, value)))
			return false;
		any = any || choice == CHOICE_ONLY;
		match = match || (choice == CHOICE_ONLY && below(path, value));
	}
	return match || !any;
}

/*
 * g_test_init(&argc, &argv, …): these options are heeded by our list. To the
 * framework they become "-k", or it would go over our suite once for each.
 */
static struct err *on_init(struct run *run, struct thread *thread, uint64_t arg)
{
	(void)arg;
	uint32_t argc;
	uint64_t argv;
	bool takes_next = false;
	TRY(run_u32(run, RADDR(thread_arg(thread, 0)), &argc));
	TRY(run_u64(run, RADDR(thread_arg(thread, 1)), &argv));
	for (uint32_t i = 1; i < MIN(argc, (uint32_t)ARGUMENTS_MAX); i++) {
		_cleanup_(freep) char *word = NULL;
		const char *value = "";
		uint64_t at;
		TRY(run_u64(run, RADDR(argv + (uint64_t)i * 8), &at));
		if (!at)
			break;
		TRY(run_text(run, RADDR(at), &word));
		bool ours =
			takes_next || choice_of(word, &value) != CHOICE_NONE;
		takes_next = !takes_next && ours && !value;
		/* A value of one letter has no room, and is no path. */
		if (ours && strlen(word) >= 2)
			TRY(memory_write(run->tracee, RADDR(at), "-k", 3));
	}
	return NULL;
}

static struct err *join(const char *path, const char *name, char **ret)
{
	bool slash = str_ends(path, "/");
	if (asprintf(ret, "%s%s%s", path, slash ? "" : "/", name) < 0) {
		*ret = NULL;
		return err_nomem();
	}
	return NULL;
}

static struct err *add_case(struct run *run, uint64_t address, const char *path,
			    uint64_t suite)
{
	struct test_case found;
	_cleanup_(freep) char *name = NULL, *full = NULL;
	const char *file = NULL;
	unsigned line = 0;
	TRY(memory_read(run->tracee, RADDR(address), &found, sizeof(found)));
	TRY(run_text(run, RADDR(found.name), &name));
	TRY(join(path, name, &full));
	if (!full || !selected(run, full))
		return NULL;
	program_function_place(run->program, RADDR(found.test), &file, &line);
	return run_add_test(run, full, file, line, false, address, suite);
}

static struct err *add_suite(struct run *run, uint64_t address, uint64_t parent,
			     const char *parent_path, unsigned depth);

/* @suite: whose list it is. */
static struct err *add_list(struct run *run, uint64_t list, uint64_t suite,
			    const char *path, unsigned depth, bool suites)
{
	struct list_node node = { 0, list };
	for (size_t i = 0; node.next; i++) {
		if (i > TESTS_MAX)
			return err_create(ERR_SUITE,
					  "GLib's list of tests has no end");
		TRY(memory_read(run->tracee, RADDR(node.next), &node,
				sizeof(node)));
		if (suites)
			TRY(add_suite(run, node.data, suite, path, depth + 1));
		else
			TRY(add_case(run, node.data, path, suite));
	}
	return NULL;
}

static struct err *add_suite(struct run *run, uint64_t address, uint64_t parent,
			     const char *parent_path, unsigned depth)
{
	struct test_suite suite;
	_cleanup_(freep) char *name = NULL, *path = NULL;
	if (depth > DEPTH_MAX)
		return err_create(ERR_SUITE,
				  "GLib's suites lie too deep in each other");
	TRY(memory_read(run->tracee, RADDR(address), &suite, sizeof(suite)));
	TRY(run_text(run, RADDR(suite.name), &name));
	TRY(join(parent_path, name, &path));
	/* The outermost has all tests. */
	if (depth)
		TRY(run_declare_group(run, address, parent));
	TRY(add_list(run, suite.cases, address, path, depth, false));
	return add_list(run, suite.suites, address, path, depth, true);
}

static struct err *glib_list(struct run *run, struct thread *thread)
{
	return add_suite(run, thread_arg(thread, 0), 0, "/", 0);
}

static struct err *read_originals(struct run *run, size_t at,
				  struct originals *ret)
{
	const struct glib *glib = run->state;
	return memory_read(run->tracee,
			   RADDR(glib->originals + at * sizeof(*ret)), ret,
			   sizeof(*ret));
}

/* In place of the test itself, or of its tear-down. */
static struct err *on_point(struct run *run, struct thread *thread,
			    uint64_t point)
{
	const struct glib *glib = run->state;
	struct originals originals;
	if (!calls_nested(&glib->call, thread) || !run->next)
		return NULL;
	TRY(read_originals(run, run->next - 1, &originals));
	calls_instead(thread,
		      RADDR(point == SUITE_AFTER_SETUP ? originals.body
						       : originals.teardown));
	return run_point(run, (enum suite_point)point);
}

/* In place of a test's first function. */
static struct err *on_begin(struct run *run, struct thread *thread,
			    uint64_t arg)
{
	(void)arg;
	const struct glib *glib = run->state;
	struct originals originals;
	if (!calls_nested(&glib->call, thread) || run_wanted(run) == RUN_NONE)
		return NULL;
	TRY(read_originals(run, run->next, &originals));
	calls_instead(thread, RADDR(originals.begin));
	TRY(run_point(run, SUITE_BEFORE_TEARDOWN)); /* the last one had none */
	TRY(run_begin(run));
	return originals.begin == originals.body
		       ? run_point(run, SUITE_AFTER_SETUP)
		       : NULL;
}

static struct err *on_suite_return(struct run *run, struct thread *thread,
				   uint64_t arg)
{
	(void)arg;
	struct glib *glib = run->state;
	if (!calls_returned(&glib->call, thread))
		return NULL;
	glib->call.inside = false;
	TRY(run_unbreak(run, glib->call.return_to));
	TRY(run_point(run, SUITE_BEFORE_TEARDOWN));
	return run_end(run, OUTCOME_NONE);
}

static struct err *on_suite(struct run *run, struct thread *thread,
			    uint64_t arg)
{
	(void)arg;
	if (!run->order)
		run_ready(run, thread);
	return NULL;
}

/* g_assertion_message(domain, file, line, function, message) */
static struct err *on_assertion(struct run *run, struct thread *thread,
				uint64_t arg)
{
	(void)arg;
	uint64_t file_at = thread_arg(thread, 1);
	uint64_t message_at = thread_arg(thread, 4);
	_cleanup_(freep) char *file = NULL, *message = NULL;
	if (!run->in_test)
		return NULL;
	if (file_at)
		err_ignore(run_text(run, RADDR(file_at), &file));
	if (message_at)
		err_ignore(run_text(run, RADDR(message_at), &message));
	return run_fail(run, file, (unsigned)thread_arg(thread, 2),
			message ? message : "code should not be reached");
}

enum verdict { VERDICT_FAIL, VERDICT_SKIP };

/* g_test_fail(), g_test_skip(message) and the like, called by a test. */
static struct err *on_verdict(struct run *run, struct thread *thread,
			      uint64_t arg)
{
	uint64_t return_to, message_at = thread_arg(thread, 0);
	_cleanup_(freep) char *message = NULL;
	const char *file = NULL;
	unsigned line = 0;
	bool has_message = arg & 1;
	if (!run->in_test)
		return NULL;
	TRY(run_u64(run, regs_sp(&thread->regs), &return_to));
	if (!program_line(run->program, RADDR(return_to - 1), &file, &line))
		file = NULL;
	if (has_message && message_at)
		err_ignore(run_text(run, RADDR(message_at), &message));
	if (arg >> 1 == VERDICT_SKIP)
		return run_skip(run, file, line, message);
	return run_fail(run, file, line, message ? message : "g_test_fail()");
}

static struct err *glib_attach(struct run *run)
{
	static const struct {
		const char *name;
		enum verdict verdict;
		bool has_message;
	} verdicts[] = {
		{ "g_test_fail", VERDICT_FAIL, false },
		{ "g_test_fail_printf", VERDICT_FAIL, true },
		{ "g_test_skip", VERDICT_SKIP, true },
		{ "g_test_skip_printf", VERDICT_SKIP, true },
		{ "g_test_incomplete", VERDICT_SKIP, true },
		{ "g_test_incomplete_printf", VERDICT_SKIP, true },
	};
	bool found;
	for (size_t i = 0; i < ARRAY_SIZE(verdicts); i++)
		TRY(run_break_symbol(run, verdicts[i].name, on_verdict,
				     (uint64_t)verdicts[i].verdict << 1 |
					     verdicts[i].has_message,
				     NULL));
	TRY(run_break_symbol(run, "g_assertion_message", on_assertion, 0,
			     NULL));
	TRY(run_break_symbol(run, "g_test_init", on_init, 0, NULL));
	TRY(run_break_symbol(run, "g_test_run_suite", on_suite, 0, &found));
	return found ? NULL
		     : err_create(ERR_SUITE,
				  "the program does not use GLib's tests");
}

/*
 * g_test_add_data_func_full() frees the test's data in the tear-down: only the
 * last time that the test is run.
 */
static bool frees_data(const struct test_case *found)
{
	return !found->fixture_size && !found->setup && found->teardown;
}

/* Puts functions of ours where we want to stop. */
static struct originals
replace_functions(const struct run *run, struct test_case *test, uint64_t stubs)
{
	struct originals originals = {
		.begin = test->setup ? test->setup : test->test,
		.body = test->test,
		.teardown = test->teardown,
	};
	if (test->setup && run_point_wanted(run, SUITE_AFTER_SETUP))
		test->test = stubs + STUB_BODY * CALLS_STUB_SIZE;
	if (test->teardown && run_point_wanted(run, SUITE_BEFORE_TEARDOWN))
		test->teardown = stubs + STUB_TEARDOWN * CALLS_STUB_SIZE;
	*(test->setup ? &test->setup : &test->test) =
		stubs + STUB_BEGIN * CALLS_STUB_SIZE;
	return originals;
}

/* Fills in the cases from the last to the first; names go behind them. */
static struct err *fill_cases(struct run *run, struct test_case *cases,
			      struct list_node *nodes,
			      struct originals *originals, struct str *names,
			      uint64_t base, uint64_t names_at, uint64_t stubs)
{
	_cleanup_(map_u64_freep) struct map_u64 seen = MAP_INIT;
	for (size_t i = run->n; i-- > 0;) {
		struct test_case *wanted = &cases[i];
		uint64_t handle = run_handle(run, run->order[i]), known;
		TRY(memory_read(run->tracee, RADDR(handle), wanted,
				sizeof(*wanted)));
		if (frees_data(wanted) && map_u64_get(&seen, handle, &known))
			wanted->teardown = 0;
		TRY(map_u64_put(&seen, handle, 1));
		originals[i] = replace_functions(run, wanted, stubs);
		const char *name = run_name(run, run->order[i]);
		wanted->name = names_at + names->n;
		TRY(str_append_n(names, name + 1, strlen(name)));
		nodes[i].data = base + i * sizeof(*cases);
		if (i + 1 < run->n)
			nodes[i].next = base + run->n * sizeof(*cases) +
					(i + 1) * sizeof(*nodes);
	}
	return NULL;
}

static struct err *glib_start(struct run *run, struct thread *thread)
{
	struct glib *glib = run->state;
	struct raddr stubs, base;
	size_t names_n = 0, n = run->n;
	for (size_t i = 0; i < n; i++)
		names_n += strlen(run_name(run, run->order[i]));
	size_t nodes_at = n * sizeof(struct test_case);
	size_t originals_at = nodes_at + n * sizeof(struct list_node);
	size_t suite_at = originals_at + n * sizeof(struct originals);
	size_t names_at = suite_at + sizeof(struct test_suite) + 8;
	_cleanup_(freep) uint8_t *data = calloc(1, names_at);
	_cleanup_(str_freep) struct str names = STR_INIT;
	if (!data)
		return err_nomem();
	TRY(calls_stubs(thread, STUBS, &stubs));
	TRY(run_break(run, stubs, on_begin, 0));
	TRY(run_break(run,
		      raddr_add(stubs, STUB_BODY * (int64_t)CALLS_STUB_SIZE),
		      on_point, SUITE_AFTER_SETUP));
	TRY(run_break(
		run, raddr_add(stubs, STUB_TEARDOWN * (int64_t)CALLS_STUB_SIZE),
		on_point, SUITE_BEFORE_TEARDOWN));
	TRY(remote_map(thread, names_at + names_n, &base));
	TRY(fill_cases(run, (struct test_case *)data,
		       (struct list_node *)(data + nodes_at),
		       (struct originals *)(data + originals_at), &names,
		       base.v, base.v + names_at, stubs.v));
	/* Its name is the empty text that stands behind it. */
	struct test_suite suite = {
		.name = base.v + suite_at + sizeof(suite),
		.cases = base.v + nodes_at,
	};
	memcpy(data + suite_at, &suite, sizeof(suite));
	TRY(memory_write(run->tracee, base, data, names_at));
	TRY(memory_write(run->tracee, raddr_add(base, (int64_t)names_at),
			 names.s, names.n));
	glib->originals = base.v + originals_at;
	TRY(calls_enter(run, thread, &glib->call, on_suite_return, 0));
	regs_set_arg(&thread->regs, 0, base.v + suite_at);
	thread_dirty(thread);
	return NULL;
}

static const char *const glib_arguments[] = { "-k", NULL };

const struct framework framework_glib = {
	.name = "glib",
	.state_size = sizeof(struct glib),
	.recognise = glib_recognise,
	.arguments = glib_arguments,
	.attach = glib_attach,
	.list = glib_list,
	.start = glib_start,
	.failure_aborts = true,
};
