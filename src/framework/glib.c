/*
 * GLib's test functions, by data: g_test_run_suite() gets a suite of ours instead
 * of the program's tree of suites. It has the wanted tests as its own cases, in the
 * wanted order, each with its whole path as its name, so that g_test_get_path() and
 * g_test_trap_subprocess() find what they expect.
 *
 * The first function of each test (its set-up, or the test itself) is replaced by
 * one of ours that only stops. There a test begins and the previous one ends. Then
 * the real function runs. There is one stop per test.
 *
 * A failed assertion prints and calls abort(). That is a failure, and the rest of
 * the order runs in a new process, as a person would do it with -p. With -k the
 * framework itself continues after g_test_fail().
 *
 * Seen with 2.74; see docs/frameworks.md.
 */
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/str.h"
#include "framework/stand_in.h"
#include "native/calls.h"
#include "native/framework.h"
#include "native/session.h"
#include "tracee/memory.h"
#include "tracee/remote.h"

#define TESTS_MAX 10000000
#define DEPTH_MAX 64
#define ARGUMENTS_MAX 4096

/* The framework's structures in memory; these never changed. */
struct glib_test_suite { /* GTestSuite */
	uint64_t name, suites, cases;
};
struct glib_test_case { /* GTestCase */
	uint64_t name;
	uint32_t fixture_size;
	uint64_t setup, test, teardown, data;
};
struct glib_list_node { /* GSList */
	uint64_t data, next;
};

enum { STUB_BEGIN, STUB_BODY, STUB_TEARDOWN, STUB_NEXT, STUBS };

struct glib {
	struct calls call;
	uint64_t originals; /* struct stand_in, one per entry of the order */
	struct raddr stubs;
	uint64_t tail; /* list_node after which the order continues; 0: none */
};

/* Is the path at or below the prefix? */
static bool glib_is_below(const char *path, const char *prefix)
{
	size_t n = strlen(prefix);
	return !strncmp(path, prefix, n) && (!path[n] || path[n] == '/');
}

enum glib_choice { CHOICE_NONE, CHOICE_ONLY, CHOICE_SKIP, CHOICE_SKIP_BELOW };

/*
 * Options that choose tests: "-p PATH", "-p=PATH" and others. *@ret_value is
 * NULL where the next word has it.
 */
static enum glib_choice glib_choice_of(const char *word, const char **ret_value)
{
	static const struct {
		const char *name;
		enum glib_choice choice;
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
static bool glib_is_selected(const struct run *run, const char *path)
{
	char *const *argv = run->session->argv;
	bool any = false, match = false;
	/* Parts of other tests, for g_test_trap_subprocess() alone. */
	if (strstr(path, "/subprocess"))
		return false;
	for (size_t i = 1; argv[0] && argv[i]; i++) {
		const char *value = NULL;
		enum glib_choice choice = glib_choice_of(argv[i], &value);
		if (choice == CHOICE_NONE)
			continue;
		if (!value)
			value = argv[i + 1] ? argv[++i] : "";
		if ((choice == CHOICE_SKIP && !strcmp(path, value)) ||
		    (choice == CHOICE_SKIP_BELOW && glib_is_below(path, value)))
			return false;
		any = any || choice == CHOICE_ONLY;
		match = match ||
			(choice == CHOICE_ONLY && glib_is_below(path, value));
	}
	return match || !any;
}

/*
 * g_test_init(&argc, &argv, …): our list respects these options. For the
 * framework they become "-k", or it would run our suite once for each.
 */
static struct err *glib_on_init(struct run *run, struct thread *thread,
				uint64_t arg)
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
		bool ours = takes_next ||
			    glib_choice_of(word, &value) != CHOICE_NONE;
		takes_next = !takes_next && ours && !value;
		/* A value of one letter has no room, and is no path. */
		if (ours && strlen(word) >= 2)
			TRY(memory_write(run->tracee, RADDR(at), "-k", 3));
	}
	return NULL;
}

static struct err *glib_join_path(const char *path, const char *name,
				  char **ret)
{
	bool slash = str_ends(path, "/");
	TRY(str_format(ret, "%s%s%s", path, slash ? "" : "/", name));
	return NULL;
}

static struct err *glib_add_case(struct run *run, uint64_t address,
				 const char *path, uint64_t suite)
{
	struct glib_test_case found;
	_cleanup_(freep) char *name = NULL, *full = NULL;
	const char *file = NULL;
	unsigned line = 0;
	TRY(memory_read(run->tracee, RADDR(address), &found, sizeof(found)));
	TRY(run_text(run, RADDR(found.name), &name));
	TRY(glib_join_path(path, name, &full));
	if (!full || !glib_is_selected(run, full))
		return NULL;
	program_function_place(run->program, RADDR(found.test), &file, &line);
	return run_add_test(run, full, file, line, false, address, suite);
}

static struct err *glib_add_suite(struct run *run, uint64_t address,
				  uint64_t parent, const char *parent_path,
				  unsigned depth);

/* @suite: whose list it is. */
static struct err *glib_add_list(struct run *run, uint64_t list, uint64_t suite,
				 const char *path, unsigned depth, bool suites)
{
	struct glib_list_node node = { 0, list };
	for (size_t i = 0; node.next; i++) {
		if (i > TESTS_MAX)
			return err_create(ERR_SUITE,
					  "GLib's list of tests does not end");
		TRY(memory_read(run->tracee, RADDR(node.next), &node,
				sizeof(node)));
		if (suites)
			TRY(glib_add_suite(run, node.data, suite, path,
					   depth + 1));
		else
			TRY(glib_add_case(run, node.data, path, suite));
	}
	return NULL;
}

static struct err *glib_add_suite(struct run *run, uint64_t address,
				  uint64_t parent, const char *parent_path,
				  unsigned depth)
{
	struct glib_test_suite suite;
	_cleanup_(freep) char *name = NULL, *path = NULL;
	if (depth > DEPTH_MAX)
		return err_create(ERR_SUITE,
				  "GLib's suites are nested too deeply");
	TRY(memory_read(run->tracee, RADDR(address), &suite, sizeof(suite)));
	TRY(run_text(run, RADDR(suite.name), &name));
	TRY(glib_join_path(parent_path, name, &path));
	/* The outermost has all tests. */
	if (depth)
		TRY(run_declare_group(run, address, parent));
	TRY(glib_add_list(run, suite.cases, address, path, depth, false));
	return glib_add_list(run, suite.suites, address, path, depth, true);
}

static struct err *glib_list(struct run *run, struct thread *thread)
{
	return glib_add_suite(run, thread_arg(thread, 0), 0, "/", 0);
}

static struct err *glib_read_stand_in(struct run *run, size_t at,
				      struct stand_in *ret)
{
	const struct glib *glib = run->state;
	return stand_in_read(run, glib->originals + at * sizeof(*ret), ret);
}

/* In place of the test itself, or of its tear-down. */
static struct err *glib_on_point(struct run *run, struct thread *thread,
				 uint64_t point)
{
	const struct glib *glib = run->state;
	struct stand_in test;
	if (!calls_nested(&glib->call, thread) || !run->next)
		return NULL;
	TRY(glib_read_stand_in(run, run->next - 1, &test));
	return stand_in_point(run, thread, &test, (enum suite_point)point);
}

/* In place of a test's first function. */
static struct err *glib_on_begin(struct run *run, struct thread *thread,
				 uint64_t arg)
{
	(void)arg;
	const struct glib *glib = run->state;
	struct stand_in test;
	if (!calls_nested(&glib->call, thread) || run_wanted(run) == RUN_NONE)
		return NULL;
	TRY(glib_read_stand_in(run, run->next, &test));
	calls_instead(thread, RADDR(test.begin));
	TRY(run_point(run, SUITE_BEFORE_TEARDOWN)); /* the last one had none */
	TRY(run_begin(run));
	return stand_in_begun(run, &test);
}

static struct err *glib_on_suite_return(struct run *run, struct thread *thread,
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

static struct err *glib_on_suite(struct run *run, struct thread *thread,
				 uint64_t arg)
{
	(void)arg;
	if (!run->order)
		run_ready(run, thread);
	return NULL;
}

/* g_assertion_message(domain, file, line, function, message) */
static struct err *glib_on_assertion(struct run *run, struct thread *thread,
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

enum glib_verdict { VERDICT_FAIL, VERDICT_SKIP };

/* g_test_fail(), g_test_skip(message) and the like, called by a test. */
static struct err *glib_on_verdict(struct run *run, struct thread *thread,
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
		enum glib_verdict verdict;
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
		TRY(run_break_symbol(run, verdicts[i].name, glib_on_verdict,
				     (uint64_t)verdicts[i].verdict << 1 |
					     verdicts[i].has_message,
				     NULL));
	TRY(run_break_symbol(run, "g_assertion_message", glib_on_assertion, 0,
			     NULL));
	TRY(run_break_symbol(run, "g_test_init", glib_on_init, 0, NULL));
	TRY(run_break_symbol(run, "g_test_run_suite", glib_on_suite, 0,
			     &found));
	return found ? NULL
		     : err_create(ERR_SUITE,
				  "the program does not use GLib's tests");
}

/*
 * g_test_add_data_func_full() frees the test's data in the tear-down: only the
 * last time that the test is run.
 */
static bool glib_frees_data(const struct glib_test_case *found)
{
	return !found->fixture_size && !found->setup && found->teardown;
}

/* A part of the order on its way into the tested program. */
struct glib_layout {
	size_t first, n; /* of the order */
	size_t cases;	 /* with the one after them */
	size_t nodes_at, originals_at, suite_at, names_at;
	uint64_t base;
	uint8_t *data;
	struct str names; /* come after everything else */
};

static struct err *glib_add_case_at(struct glib_layout *layout, size_t i,
				    const char *name,
				    struct glib_test_case *wanted)
{
	struct glib_list_node node = { .data = layout->base +
					       i * sizeof(*wanted) };
	wanted->name = layout->base + layout->names_at + layout->names.n;
	TRY(str_append_n(&layout->names, name + 1, strlen(name)));
	if (i + 1 < layout->cases)
		node.next = layout->base + layout->nodes_at +
			    (i + 1) * sizeof(node);
	memcpy(layout->data + i * sizeof(*wanted), wanted, sizeof(*wanted));
	memcpy(layout->data + layout->nodes_at + i * sizeof(node), &node,
	       sizeof(node));
	return NULL;
}

/* Fills in the cases from the last to the first. */
static struct err *glib_fill_cases(struct run *run, struct glib_layout *layout)
{
	const struct glib *glib = run->state;
	const struct stand_in_stubs stubs = {
		.begin = glib->stubs.v + STUB_BEGIN * CALLS_STUB_SIZE,
		.body = glib->stubs.v + STUB_BODY * CALLS_STUB_SIZE,
		.teardown = glib->stubs.v + STUB_TEARDOWN * CALLS_STUB_SIZE,
	};
	_cleanup_(map_u64_freep) struct map_u64 seen = MAP_INIT;
	for (size_t i = layout->n; i-- > 0;) {
		struct glib_test_case wanted;
		size_t test = run->order[layout->first + i];
		uint64_t handle = run_handle(run, test), known;
		TRY(memory_read(run->tracee, RADDR(handle), &wanted,
				sizeof(wanted)));
		/* What is not known yet may have it once more. */
		if (glib_frees_data(&wanted) &&
		    (map_u64_get(&seen, handle, &known) || !run_settled(run)))
			wanted.teardown = 0;
		TRY(map_u64_put(&seen, handle, 1));
		struct stand_in originals =
			stand_in_replace(run, &stubs, &wanted.setup,
					 &wanted.test, &wanted.teardown);
		memcpy(layout->data + layout->originals_at +
			       i * sizeof(originals),
		       &originals, sizeof(originals));
		TRY(glib_add_case_at(layout, i, run_name(run, test), &wanted));
	}
	if (layout->cases == layout->n)
		return NULL;
	/* In a tree of orders: one of ours that asks what comes next. */
	struct glib_test_case next = {
		.test = glib->stubs.v + STUB_NEXT * CALLS_STUB_SIZE,
	};
	const char *name = run_name(run, run->order[layout->first]);
	return glib_add_case_at(layout, layout->n, name, &next);
}

/* Lays out what is known of the order; *@ret is a suite with it. */
static struct err *glib_lay_out(struct run *run, struct thread *thread,
				uint64_t *ret, uint64_t *ret_nodes)
{
	struct glib *glib = run->state;
	_cleanup_(str_freep) struct str names = STR_INIT;
	struct glib_layout layout = { .first = run->next, .n = run_known(run) };
	layout.cases = layout.n + !run_settled(run);
	size_t names_n = 0;
	for (size_t i = 0; i < layout.n; i++)
		names_n += strlen(run_name(run, run->order[layout.first + i]));
	names_n += strlen(run_name(run, run->order[layout.first]));
	layout.nodes_at = layout.cases * sizeof(struct glib_test_case);
	layout.originals_at =
		layout.nodes_at + layout.cases * sizeof(struct glib_list_node);
	layout.suite_at =
		layout.originals_at + layout.n * sizeof(struct stand_in);
	layout.names_at = layout.suite_at + sizeof(struct glib_test_suite) + 8;
	_cleanup_(freep) uint8_t *data = calloc(1, layout.names_at);
	struct raddr base;
	if (!data)
		return err_nomem();
	TRY(remote_map(thread, layout.names_at + names_n, &base));
	layout.data = data;
	layout.base = base.v;
	struct err *err = glib_fill_cases(run, &layout);
	names = layout.names; /* to be freed */
	TRY(err);
	/* Its name is the empty text after it. */
	struct glib_test_suite suite = {
		.name = base.v + layout.suite_at + sizeof(suite),
		.cases = base.v + layout.nodes_at,
	};
	memcpy(data + layout.suite_at, &suite, sizeof(suite));
	TRY(memory_write(run->tracee, base, data, layout.names_at));
	TRY(memory_write(run->tracee, raddr_add(base, (int64_t)layout.names_at),
			 names.s, names.n));
	glib->originals = base.v + layout.originals_at -
			  layout.first * sizeof(struct stand_in);
	glib->tail = run_settled(run)
			     ? 0
			     : suite.cases +
				       layout.n * sizeof(struct glib_list_node);
	*ret = base.v + layout.suite_at;
	*ret_nodes = suite.cases;
	return NULL;
}

/* In place of a test of ours: the last that was known has ended. */
static struct err *glib_on_next(struct run *run, struct thread *thread,
				uint64_t arg)
{
	(void)arg;
	struct glib *glib = run->state;
	uint64_t tail = glib->tail, suite, nodes;
	if (!calls_nested(&glib->call, thread) || !tail)
		return NULL;
	TRY(run_end(run, OUTCOME_NONE));
	if (run_wanted(run) == RUN_NONE)
		return NULL;
	TRY(glib_lay_out(run, thread, &suite, &nodes));
	return memory_write_u64(
		run->tracee,
		RADDR(tail + offsetof(struct glib_list_node, next)), nodes);
}

/* The data of all tests: some may have the same. */
static struct err *glib_hold_data(struct run *run)
{
	run_hold_none(run);
	for (size_t i = 0; run_is_watched(run) && i < run_tests(run); i++) {
		struct glib_test_case test;
		TRY(memory_read(run->tracee, RADDR(run_handle(run, i)), &test,
				sizeof(test)));
		const struct held data = {
			.object = test.data,
			.function = test.test,
			.parameter = test.fixture_size ? 1 : 0,
			.name = "data",
		};
		TRY(run_hold(run, &data));
	}
	return NULL;
}

static struct err *glib_start(struct run *run, struct thread *thread)
{
	struct glib *glib = run->state;
	const struct {
		run_hook *hook;
		uint64_t arg;
	} hooks[STUBS] = {
		[STUB_BEGIN] = { glib_on_begin, 0 },
		[STUB_BODY] = { glib_on_point, SUITE_AFTER_SETUP },
		[STUB_TEARDOWN] = { glib_on_point, SUITE_BEFORE_TEARDOWN },
		[STUB_NEXT] = { glib_on_next, 0 },
	};
	uint64_t suite, nodes;
	TRY(calls_stubs(thread, STUBS, &glib->stubs));
	for (int i = 0; i < STUBS; i++)
		TRY(run_break(run, raddr_add(glib->stubs, i * CALLS_STUB_SIZE),
			      hooks[i].hook, hooks[i].arg));
	TRY(glib_hold_data(run));
	TRY(glib_lay_out(run, thread, &suite, &nodes));
	TRY(calls_enter(run, thread, &glib->call, glib_on_suite_return, 0));
	regs_set_arg(&thread->regs, 0, suite);
	thread_dirty(thread);
	return NULL;
}

static const char *const glib_arguments[] = { "-k", NULL };

const struct framework framework_glib = {
	.name = "glib",
	.state_size = sizeof(struct glib),
	.signs = FRAMEWORK_SIGNS(
		FRAMEWORK_USES("g_test_init"),
		FRAMEWORK_USES("g_test_run", "g_test_run_suite")),
	.own = {
		.title = "GLib",
		.functions = FRAMEWORK_LIST("g_test_", "g_assertion_message"),
		.symbols = FRAMEWORK_LIST("g_test_run_suite"),
	},
	.arguments = glib_arguments,
	.attach = glib_attach,
	.list = glib_list,
	.start = glib_start,
	.branches = true,
	.failure_aborts = true,
};
