/*
 * munit, by data: munit_suite_main() takes a tree of suites. It gets a suite of
 * ours instead, with one list of tests, and --no-fork. The list is written as the
 * framework walks along it: when a test has ended, the next wanted one is put
 * behind it, with its full name and with one value for each parameter. So the
 * framework's own loop runs the order, and a test may run twice.
 *
 * Its functions that run a test are static, and compilers inline them. But it keeps
 * what a test writes to stderr in a temporary file: tmpfile() is called before
 * set-up, and fclose() of that file after tear-down. There a test begins and ends,
 * with the same files open. In place of the test's function is one of ours that only
 * stops, to learn what the real one returns.
 *
 * A program may call munit_suite_main() several times. It runs them in its own
 * order; one that is wanted again, or was left out, runs in place of the current
 * one.
 *
 * Seen with the copies in raft 0.22.1, dqlite 1.18.7 and ngtcp2 1.24.0, and with
 * 0.2.0; see docs/frameworks.md.
 */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/str.h"
#include "base/vec.h"
#include "framework/adapter.h"
#include "native/calls.h"
#include "native/framework.h"
#include "tracee/memory.h"
#include "tracee/remote.h"

#define TESTS_MAX 1000000
#define DEPTH_MAX 64
#define PARAMETERS_MAX 256
#define VALUES_MAX 65536
#define ARGUMENTS_MAX 10000
/* Calls of munit_suite_main() that are told apart. */
#define CALLS_MAX 64
/* Of a test in our memory: its name and its parameters. */
#define SLOT_SIZE ((size_t)64 << 10)
/*
 * Without --seed the framework takes one from the clock, and tests that use its
 * random numbers would do something else in each run.
 */
#define OUR_SEED "1"

/* A handle is the address of the test and the number of the combination. */
#define COMBINATION_SHIFT 48
#define COMBINATIONS_MAX 0xffff
#define ADDRESS_MASK ((UINT64_C(1) << COMBINATION_SHIFT) - 1)

enum { RESULT_OK, RESULT_FAIL, RESULT_SKIP, RESULT_ERROR }; /* MunitResult */
enum { RESULT_NONE = -1 }; /* the test's function did not return */
enum { OPTION_TODO = 2 };  /* MunitTestOptions */
enum { LEVEL_ERROR = 3 };  /* MunitLogLevel */
enum {
	STUB_BODY,
	STUB_TEARDOWN,
	STUB_NOTHING, /* has no breakpoint */
	STUBS,
};

/* munit's own structures in memory; these never changed. */
struct munit_test {
	uint64_t name, test, setup, teardown;
	uint32_t options;
	uint64_t parameters;
};
struct munit_suite {
	uint64_t prefix, tests, suites;
	uint32_t iterations, options;
};
struct munit_parameter { /* a name, and its values or its value */
	uint64_t name, value;
};

/* A call of munit_suite_main(), so that it can be made again. */
struct munit_call {
	uint64_t suite, user_data;
};

struct munit {
	struct calls call; /* of munit_suite_main() */
	struct munit_call calls[CALLS_MAX];
	size_t called;	/* calls that the program has made */
	size_t current; /* the one that runs */
	struct raddr stubs;
	/* Memory of ours in the program. */
	uint64_t suite;
	uint64_t arguments;
	uint64_t slots; /* two, used in turn */
	uint64_t entries;
	size_t entry;	/* the one that is written next */
	bool expecting; /* it was written, and has not begun */
	/* The running test. */
	struct munit_test test;
	struct calls body, buffer, closing;
	uint64_t file; /* what takes its stderr; 0: none yet */
	int result;
};

/* One parameter of a test, as the framework will pass it. */
struct munit_choice {
	uint64_t name, value; /* texts in the program */
	uint64_t values;      /* all of its values */
};
DEFINE_VEC(choice_list, struct munit_choice)
DEFINE_VEC(address_list, uint64_t)

/* The program's arguments. */
struct munit_options {
	VEC(char *) filters; /* names of tests; none: all run */
	VEC(char *) names;   /* --param NAME VALUE */
	struct address_list values;
	struct address_list kept; /* what the framework gets of them */
	bool seeded;
	bool shares; /* --no-fork: the user's runs have one process */
};

static void munit_options_free(struct munit_options *options)
{
	for (size_t i = 0; i < options->filters.n; i++)
		free(options->filters.data[i]);
	for (size_t i = 0; i < options->names.n; i++)
		free(options->names.data[i]);
	free(options->filters.data);
	free(options->names.data);
	address_list_freep(&options->values);
	address_list_freep(&options->kept);
}

/* How many words follow an option; -1: the program's own, not known. */
static int munit_option_words(const char *option)
{
	static const struct {
		const char *name;
		int words;
	} known[] = {
		{ "--seed", 1 },	   { "--iterations", 1 },
		{ "--param", 2 },	   { "--color", 1 },
		{ "--log-visible", 1 },	   { "--log-fatal", 1 },
		{ "--help", 0 },	   { "--single", 0 },
		{ "--show-stderr", 0 },	   { "--no-fork", 0 },
		{ "--list", 0 },	   { "--list-params", 0 },
		{ "--fatal-failures", 0 },
	};
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		if (!strcmp(option, known[i].name))
			return known[i].words;
	}
	return -1;
}

/* Options that would end the run early, or choose among parameters. */
static bool munit_drops_option(const char *option)
{
	return !strcmp(option, "--single") ||
	       !strcmp(option, "--fatal-failures") ||
	       !strcmp(option, "--no-fork");
}

static struct err *munit_take_filter(struct munit_options *options, char **text)
{
	TRY(vec_push(&options->filters, *text));
	take_ptr(*text);
	return NULL;
}

/* The words of an option, from @at on; *@ret_n: how many there are. */
static struct err *munit_take_option(struct run *run, const uint64_t *argv,
				     size_t argc, const char *text,
				     struct munit_options *options,
				     size_t *ret_n)
{
	int words = munit_option_words(text);
	size_t n = MIN(1 + (size_t)MAX(words, 0), argc);
	*ret_n = n;
	options->shares |= !strcmp(text, "--no-fork");
	if (munit_drops_option(text))
		return NULL;
	options->seeded |= !strcmp(text, "--seed");
	if (!strcmp(text, "--param") && n == 3) {
		_cleanup_(freep) char *name = NULL;
		TRY(run_text(run, RADDR(argv[1]), &name));
		TRY(vec_push(&options->values, argv[2]));
		TRY(vec_push(&options->names, name));
		take_ptr(name);
	}
	for (size_t i = 0; i < n; i++)
		TRY(vec_push(&options->kept, argv[i]));
	return NULL;
}

/*
 * The thread is at the entry of munit_suite_main(suite, user data, argc, argv). What
 * follows an option of the program's own may be its value: it is left where it is
 * unless it looks like the name of a test.
 */
static struct err *munit_read_options(struct run *run, const struct regs *entry,
				      struct munit_options *options)
{
	size_t argc = (uint32_t)regs_arg(entry, 2);
	bool foreign = false;
	if (argc > ARGUMENTS_MAX)
		return adapter_unknown_version(run, "too many arguments");
	_cleanup_(freep) uint64_t *argv = calloc(argc + 1, sizeof(*argv));
	if (!argv)
		return err_nomem();
	if (argc)
		TRY(memory_read(run->tracee, RADDR(regs_arg(entry, 3)), argv,
				argc * sizeof(*argv)));
	if (argc)
		TRY(vec_push(&options->kept, argv[0]));
	for (size_t i = 1, n; i < argc; i += n) {
		_cleanup_(freep) char *text = NULL;
		TRY(run_text(run, RADDR(argv[i]), &text));
		n = 1;
		if (str_starts(text, "--")) {
			foreign = munit_option_words(text) < 0;
			TRY(munit_take_option(run, argv + i, argc - i, text,
					      options, &n));
		} else if (foreign && *text != '/') {
			TRY(vec_push(&options->kept, argv[i]));
		} else {
			TRY(munit_take_filter(options, &text));
		}
	}
	return NULL;
}

/* As the framework compares them. */
static bool munit_is_listed(const struct munit_options *options,
			    const char *prefix, const char *name)
{
	size_t n = strlen(prefix);
	for (size_t i = 0; i < options->filters.n; i++) {
		const char *filter = options->filters.data[i];
		if (!strncmp(prefix, filter, n) && str_starts(name, filter + n))
			return true;
	}
	return !options->filters.n;
}

static struct err *munit_count_values(struct run *run, uint64_t values,
				      uint64_t *ret)
{
	uint64_t n = 0, value = values;
	while (values && value) {
		if (n == VALUES_MAX)
			return adapter_unknown_version(
				run, "a parameter with too many values");
		TRY(run_u64(run, RADDR(values + n * 8), &value));
		n += value != 0;
	}
	*ret = n;
	return NULL;
}

/* What --param says of it; 0: nothing. */
static struct err *munit_given_value(struct run *run,
				     const struct munit_options *options,
				     uint64_t name, uint64_t *ret)
{
	_cleanup_(freep) char *text = NULL;
	*ret = 0;
	if (!options->names.n)
		return NULL;
	TRY(run_text(run, RADDR(name), &text));
	for (size_t i = 0; i < options->names.n && !*ret; i++) {
		if (!strcmp(options->names.data[i], text))
			*ret = options->values.data[i];
	}
	return NULL;
}

/*
 * The parameters of a test in one of their combinations, in the framework's order:
 * those that --param gives come first. The last one changes fastest. *@ret_n: how
 * many combinations there are.
 */
static struct err *munit_choose(struct run *run,
				const struct munit_options *options,
				const struct munit_test *test,
				uint64_t combination, struct choice_list *list,
				uint64_t *ret_n)
{
	_cleanup_(choice_list_freep) struct choice_list free = {};
	_cleanup_(address_list_freep) struct address_list counts = {};
	uint64_t all = 1;
	for (size_t i = 0; test->parameters; i++) {
		struct munit_parameter found;
		uint64_t n = 0, given = 0;
		TRY(memory_read(run->tracee,
				RADDR(test->parameters + i * sizeof(found)),
				&found, sizeof(found)));
		if (!found.name)
			break;
		TRY(munit_given_value(run, options, found.name, &given));
		TRY(munit_count_values(run, found.value, &n));
		struct munit_choice choice = { found.name, given, found.value };
		if (i == PARAMETERS_MAX ||
		    (!given && n && (all *= n) > COMBINATIONS_MAX))
			return err_create(ERR_SUITE,
					  "a test has too many parameters");
		if (given)
			TRY(vec_push(list, choice));
		else if (n) {
			TRY(vec_push(&free, choice));
			TRY(vec_push(&counts, n));
		}
	}
	for (size_t i = free.n; i-- > 0; combination /= counts.data[i]) {
		struct munit_choice *choice = &free.data[i];
		uint64_t at = combination % counts.data[i];
		TRY(run_u64(run, RADDR(choice->values + at * 8),
			    &choice->value));
	}
	for (size_t i = 0; i < free.n; i++)
		TRY(vec_push(list, free.data[i]));
	*ret_n = all;
	return NULL;
}

/* " name=value, name=value" */
static struct err *munit_append_choices(struct run *run,
					const struct choice_list *list,
					struct str *out)
{
	for (size_t i = 0; i < list->n; i++) {
		_cleanup_(freep) char *name = NULL, *value = NULL;
		TRY(run_text(run, RADDR(list->data[i].name), &name));
		TRY(run_text(run, RADDR(list->data[i].value), &value));
		TRY(str_appendf(out, "%s%s=%s", i ? ", " : " ", name, value));
	}
	return NULL;
}

static struct err *munit_add_test(struct run *run,
				  const struct munit_options *options,
				  uint64_t address,
				  const struct munit_test *test,
				  const char *name, uint64_t call)
{
	const char *file = NULL;
	unsigned line = 0;
	uint64_t n = 1;
	program_function_place(run->program, RADDR(test->test), &file, &line);
	for (uint64_t i = 0; i < n; i++) {
		_cleanup_(choice_list_freep) struct choice_list list = {};
		_cleanup_(str_freep) struct str full = STR_INIT;
		TRY(munit_choose(run, options, test, i, &list, &n));
		TRY(str_appendf(&full, "%s", name));
		TRY(munit_append_choices(run, &list, &full));
		TRY(run_add_test(run, full.s, file, line, false,
				 address | i << COMBINATION_SHIFT, call));
		if (!options->shares)
			run_isolate_test(run);
	}
	return NULL;
}

static struct err *munit_add_suite(struct run *run,
				   const struct munit_options *options,
				   uint64_t address, const char *outer,
				   uint64_t call, int depth)
{
	struct munit_suite suite;
	_cleanup_(freep) char *inner = NULL, *prefix = NULL;
	TRY(memory_read(run->tracee, RADDR(address), &suite, sizeof(suite)));
	if (suite.prefix)
		TRY(run_text(run, RADDR(suite.prefix), &inner));
	TRY(str_format(&prefix, "%s%s", outer, inner ? inner : ""));
	for (uint64_t at = suite.tests; at; at += sizeof(struct munit_test)) {
		struct munit_test test;
		_cleanup_(freep) char *name = NULL, *full = NULL;
		TRY(memory_read(run->tracee, RADDR(at), &test, sizeof(test)));
		if (!test.test)
			break;
		if (test.name)
			TRY(run_text(run, RADDR(test.name), &name));
		TRY(str_format(&full, "%s%s", prefix, name ? name : ""));
		if (run_tests(run) > TESTS_MAX || at & ~ADDRESS_MASK)
			return adapter_unknown_version(
				run, "the list of tests does not end");
		if (munit_is_listed(options, prefix, name ? name : ""))
			TRY(munit_add_test(run, options, at, &test, full,
					   call));
	}
	for (uint64_t at = suite.suites; at; at += sizeof(suite)) {
		uint64_t exists;
		TRY(run_u64(run, RADDR(at), &exists));
		if (!exists)
			break;
		if (depth == DEPTH_MAX || run_tests(run) > TESTS_MAX)
			return adapter_unknown_version(
				run, "the tree of suites does not end");
		TRY(munit_add_suite(run, options, at, prefix, call, depth + 1));
	}
	return NULL;
}

/* The thread is at the entry of munit_suite_main(). */
static struct err *munit_discover_call(struct run *run, struct thread *thread)
{
	struct munit *munit = run->state;
	_cleanup_(munit_options_free) struct munit_options options = {};
	uint64_t call = ++munit->called; /* groups are not 0 */
	if (munit->called > CALLS_MAX)
		return err_create(ERR_SUITE,
				  "more than %d calls of munit_suite_main()",
				  CALLS_MAX);
	TRY(munit_read_options(run, &thread->regs, &options));
	/* It may be built without (MUNIT_NO_FORK). */
	static const char *const forks[] = { "fork" };
	options.shares |=
		!program_uses_any(run->program, forks, ARRAY_SIZE(forks));
	TRY(run_declare_group(run, call, 0));
	TRY(munit_add_suite(run, &options, thread_arg(thread, 0), "", call, 0));
	return calls_skip(run, thread, 0);
}

static uint64_t munit_stub_address(const struct munit *munit, int index)
{
	return munit->stubs.v + (uint64_t)index * CALLS_STUB_SIZE;
}

/* The list that the framework gets: one value for each parameter. */
static struct err *munit_write_parameters(struct run *run,
					  const struct choice_list *list,
					  uint64_t address)
{
	size_t n = list->n;
	uint64_t values = address + (n + 1) * sizeof(struct munit_parameter);
	size_t size = (n + 1) * sizeof(struct munit_parameter) + n * 16;
	_cleanup_(freep) uint64_t *words = calloc(1, size);
	if (!words)
		return err_nomem();
	for (size_t i = 0; i < n; i++) {
		words[2 * i] = list->data[i].name;
		words[2 * i + 1] = values + i * 16;
		words[2 * (n + 1) + 2 * i] = list->data[i].value;
	}
	return memory_write(run->tracee, RADDR(address), words, size);
}

/* The wanted test is the next in the framework's list. */
static struct err *munit_write_entry(struct run *run,
				     const struct munit_options *options,
				     size_t wanted)
{
	struct munit *munit = run->state;
	uint64_t handle = run_handle(run, wanted), n;
	_cleanup_(choice_list_freep) struct choice_list list = {};
	_cleanup_(str_freep) struct str suffix = STR_INIT;
	struct munit_test entry;
	TRY(memory_read(run->tracee, RADDR(handle & ADDRESS_MASK), &munit->test,
			sizeof(munit->test)));
	entry = munit->test;
	TRY(munit_choose(run, options, &entry, handle >> COMBINATION_SHIFT,
			 &list, &n));
	TRY(munit_append_choices(run, &list, &suffix));

	uint64_t slot = munit->slots + munit->entry % 2 * SLOT_SIZE;
	_cleanup_(freep) char *name = strdup(run_name(run, wanted));
	if (!name)
		return err_nomem();
	char *end = suffix.n ? strstr(name, suffix.s) : NULL;
	if (end)
		*end = '\0';
	size_t room = MIN(strlen(name), RUN_TEXT_MAX);
	name[room] = '\0';
	TRY(memory_write(run->tracee, RADDR(slot), name, room + 1));
	entry.name = slot;
	if (entry.parameters) {
		entry.parameters = slot + ((room + 8) & ~(size_t)7);
		TRY(munit_write_parameters(run, &list, entry.parameters));
	}
	entry.test = munit_stub_address(munit, STUB_BODY);
	/*
	 * A copy that always tears down keeps a jump buffer for that, which only
	 * tests with a tear-down renew.
	 */
	if (!entry.teardown)
		entry.teardown = munit_stub_address(munit, STUB_NOTHING);
	else if (run_point_wanted(run, SUITE_BEFORE_TEARDOWN))
		entry.teardown = munit_stub_address(munit, STUB_TEARDOWN);
	uint64_t at = munit->entries + munit->entry++ * sizeof(entry);
	munit->expecting = true;
	return memory_write(run->tracee, RADDR(at), &entry, sizeof(entry));
}

/* What the framework gets: the program's arguments, and ours. */
static struct err *munit_write_arguments(struct run *run, struct thread *thread,
					 struct munit_options *options)
{
	static const char words[] = "--no-fork\0--seed\0" OUR_SEED;
	const struct munit *munit = run->state;
	uint64_t at = munit->arguments + sizeof(words);
	at = (at + 7) & ~UINT64_C(7);
	TRY(vec_push(&options->kept, munit->arguments));
	if (!options->seeded) {
		TRY(vec_push(&options->kept, munit->arguments + 10));
		TRY(vec_push(&options->kept, munit->arguments + 17));
	}
	regs_set_arg(&thread->regs, 2, options->kept.n);
	regs_set_arg(&thread->regs, 3, at);
	thread_dirty(thread);
	TRY(vec_push(&options->kept, 0));
	TRY(memory_write(run->tracee, RADDR(munit->arguments), words,
			 sizeof(words)));
	return memory_write(run->tracee, RADDR(at), options->kept.data,
			    options->kept.n * sizeof(*options->kept.data));
}

/*
 * The thread is at the entry of munit_suite_main(), with the program's own
 * arguments: the wanted test's call is made here.
 */
static struct err *munit_begin_call(struct run *run, struct thread *thread,
				    size_t wanted)
{
	struct munit *munit = run->state;
	_cleanup_(munit_options_free) struct munit_options options = {};
	size_t number = run_group(run, wanted);
	struct munit_suite suite;
	munit->current = number;
	const struct munit_call *call = &munit->calls[number - 1];
	TRY(memory_read(run->tracee, RADDR(call->suite), &suite,
			sizeof(suite)));
	suite.prefix = 0;
	suite.suites = 0;
	suite.tests = munit->entries + munit->entry * sizeof(struct munit_test);
	TRY(memory_write(run->tracee, RADDR(munit->suite), &suite,
			 sizeof(suite)));
	TRY(munit_read_options(run, &thread->regs, &options));
	TRY(munit_write_entry(run, &options, wanted));
	regs_set_arg(&thread->regs, 0, munit->suite);
	regs_set_arg(&thread->regs, 1, call->user_data);
	return munit_write_arguments(run, thread, &options);
}

/* "Error: file:line: message", the first in what the test printed. */
static bool munit_parse_error(char *output, char **ret_file, unsigned *ret_line,
			      char **ret_message)
{
	static const char *const word = "Error: ";
	for (char *at = output; (at = strstr(at, word)); at++) {
		if (at > output && at[-1] != '\n')
			continue;
		at += strlen(word);
		at[strcspn(at, "\n")] = '\0';
		char *end = strstr(at, ": ");
		uint64_t line;
		*ret_message = at;
		if (!end)
			return true;
		*end = '\0';
		char *colon = strrchr(at, ':');
		if (colon && str_to_u64(colon + 1, 10, &line)) {
			*colon = '\0';
			*ret_file = at;
			*ret_line = (unsigned)line;
			*ret_message = end + 2;
		} else {
			*end = ':';
		}
		return true;
	}
	return false;
}

static struct err *munit_note_failure(struct run *run)
{
	const struct munit *munit = run->state;
	_cleanup_(freep) char *output = NULL;
	char *file = NULL, *message = NULL;
	unsigned line = 0;
	bool noted = run->outcome == OUTCOME_FAIL; /* where it was made */
	err_ignore(run_output(run, &output));
	if (output && munit_parse_error(output, &file, &line, &message))
		return noted ? run_note_more(run, message)
			     : run_fail(run, file, line, message);
	if (munit->result == RESULT_ERROR)
		message = (char[]){ "the test returned MUNIT_ERROR" };
	else if (munit->result == RESULT_FAIL)
		message = (char[]){ "the test returned MUNIT_FAIL" };
	return run_fail(run, NULL, 0, message);
}

static struct err *munit_judge(struct run *run)
{
	const struct munit *munit = run->state;
	int result = munit->result;
	bool failed = result == RESULT_NONE || result == RESULT_FAIL ||
		      result == RESULT_ERROR;
	if (munit->test.options & OPTION_TODO)
		return failed || result == RESULT_SKIP
			       ? NULL
			       : run_fail(run, NULL, 0,
					  "marked as TODO, but successful");
	if (failed)
		return munit_note_failure(run);
	return result == RESULT_SKIP ? run_skip(run, NULL, 0, NULL) : NULL;
}

/* After fclose(): the test has ended, and the framework looks for the next. */
static struct err *munit_on_closed(struct run *run, struct thread *thread,
				   uint64_t arg)
{
	(void)arg;
	struct munit *munit = run->state;
	_cleanup_(munit_options_free) struct munit_options options = {};
	if (!calls_returned(&munit->closing, thread))
		return NULL;
	munit->closing.inside = false;
	munit->file = 0;
	TRY(run_point(run, SUITE_BEFORE_TEARDOWN)); /* it has none */
	TRY(munit_judge(run));
	TRY(run_end(run, OUTCOME_NONE));
	size_t wanted = run_wanted(run);
	if (wanted == RUN_NONE || run_group(run, wanted) != munit->current)
		return NULL;
	TRY(munit_read_options(run, &munit->call.entry, &options));
	return munit_write_entry(run, &options, wanted);
}

static struct err *munit_on_close(struct run *run, struct thread *thread,
				  uint64_t arg)
{
	(void)arg;
	struct munit *munit = run->state;
	if (!munit->file || thread_arg(thread, 0) != munit->file ||
	    !calls_same_thread(&munit->call, thread))
		return NULL;
	return calls_enter(run, thread, &munit->closing, munit_on_closed, 0);
}

static struct err *munit_on_buffer_made(struct run *run, struct thread *thread,
					uint64_t arg)
{
	(void)arg;
	struct munit *munit = run->state;
	if (!calls_returned(&munit->buffer, thread))
		return NULL;
	munit->buffer.inside = false;
	munit->file = regs_result(&thread->regs);
	return NULL;
}

/* tmpfile(): the framework begins a test. */
static struct err *munit_on_buffer(struct run *run, struct thread *thread,
				   uint64_t arg)
{
	(void)arg;
	struct munit *munit = run->state;
	if (!munit->expecting || !calls_nested(&munit->call, thread) ||
	    !calls_same_thread(&munit->call, thread))
		return NULL;
	munit->expecting = false;
	munit->result = RESULT_NONE;
	TRY(run_begin(run));
	if (munit->test.options & OPTION_TODO) {
		run_allow_exit(run, RUN_ANY);
		run_allow_signal(run, RUN_ANY);
	}
	return calls_enter(run, thread, &munit->buffer, munit_on_buffer_made,
			   0);
}

static struct err *munit_on_body_return(struct run *run, struct thread *thread,
					uint64_t arg)
{
	(void)arg;
	struct munit *munit = run->state;
	if (!calls_returned(&munit->body, thread))
		return NULL;
	munit->body.inside = false;
	munit->result = (int)regs_result(&thread->regs);
	return NULL;
}

/* In place of the test's function. */
static struct err *munit_on_body(struct run *run, struct thread *thread,
				 uint64_t arg)
{
	(void)arg;
	struct munit *munit = run->state;
	if (!run->in_test)
		return NULL;
	munit->result = RESULT_NONE;
	TRY(calls_enter(run, thread, &munit->body, munit_on_body_return, 0));
	calls_instead(thread, RADDR(munit->test.test));
	return run_point(run, SUITE_AFTER_SETUP);
}

/* In place of its tear-down. */
static struct err *munit_on_teardown(struct run *run, struct thread *thread,
				     uint64_t arg)
{
	(void)arg;
	const struct munit *munit = run->state;
	if (!run->in_test)
		return NULL;
	calls_instead(thread, RADDR(munit->test.teardown));
	return run_point(run, SUITE_BEFORE_TEARDOWN);
}

/* munit_errorf_ex(file, line, …), or with @first munit_logf_ex(level, …). */
static struct err *munit_on_error(struct run *run, struct thread *thread,
				  uint64_t first)
{
	const struct munit *munit = run->state;
	struct raddr fatal;
	uint32_t level = LEVEL_ERROR;
	_cleanup_(freep) char *file = NULL;
	if (program_symbol(run->program, "munit_log_level_fatal", &fatal))
		err_ignore(run_u32(run, fatal, &level));
	if (!run->in_test || munit->test.options & OPTION_TODO ||
	    (first && (uint32_t)thread_arg(thread, 0) < level))
		return NULL;
	uint64_t file_at = thread_arg(thread, (unsigned)first);
	unsigned line = (unsigned)thread_arg(thread, (unsigned)first + 1);
	if (file_at)
		err_ignore(run_text(run, RADDR(file_at), &file));
	return run_fail(run, file, line, NULL);
}

static struct err *munit_mute_calls(struct run *run)
{
	static const char *const names[] = { "munit_suite_main",
					     "munit_suite_main_custom" };
	const struct munit *munit = run->state;
	struct raddr at;
	TRY(run_unbreak(run, munit->call.return_to));
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (program_symbol(run->program, names[i], &at))
			TRY(calls_mute(run, at));
	}
	return NULL;
}

static struct err *munit_on_call_return(struct run *run, struct thread *thread,
					uint64_t arg)
{
	(void)arg;
	struct munit *munit = run->state;
	if (!calls_returned(&munit->call, thread))
		return NULL;
	/* Still expecting: the framework could not begin the test. */
	size_t wanted = munit->expecting ? RUN_NONE : run_wanted(run);
	if (wanted != RUN_NONE && run_group(run, wanted) <= munit->called) {
		TRY(calls_again(run, thread, &munit->call));
		return munit_begin_call(run, thread, wanted);
	}
	munit->call.inside = false;
	calls_leave(thread, &munit->call, true);
	if (wanted == RUN_NONE)
		return munit_mute_calls(run);
	/* More tests follow: the program must not stop at a failure. */
	regs_set_result(&thread->regs, 0);
	return NULL;
}

/* The thread is at the entry of munit_suite_main(). */
static struct err *munit_run_call(struct run *run, struct thread *thread)
{
	struct munit *munit = run->state;
	size_t wanted = run_wanted(run);
	if (munit->called < CALLS_MAX)
		munit->calls[munit->called] = (struct munit_call){
			thread_arg(thread, 0),
			thread_arg(thread, 1),
		};
	munit->called++;
	if (wanted == RUN_NONE || run_group(run, wanted) > munit->called)
		return calls_skip(run, thread, 0);
	TRY(calls_enter(run, thread, &munit->call, munit_on_call_return, 0));
	return munit_begin_call(run, thread, wanted);
}

static struct err *munit_on_call(struct run *run, struct thread *thread,
				 uint64_t arg)
{
	(void)arg;
	struct munit *munit = run->state;
	/*
	 * A test that runs a suite; or munit_suite_main() goes on in
	 * munit_suite_main_custom(), by a call or a jump.
	 */
	if (munit->call.inside &&
	    (!calls_same_thread(&munit->call, thread) ||
	     regs_sp(&thread->regs).v <= regs_sp(&munit->call.entry).v))
		return NULL;
	if (run->discovering && run->ready_thread)
		return munit_discover_call(run, thread);
	if (!run->order) {
		run_ready(run, thread);
		return NULL;
	}
	return munit_run_call(run, thread);
}

static struct err *munit_attach(struct run *run)
{
	TRY(run_break_symbol(run, "munit_suite_main", munit_on_call, 0, NULL));
	TRY(run_break_symbol(run, "munit_suite_main_custom", munit_on_call, 0,
			     NULL));
	TRY(run_break_symbol(run, "munit_errorf_ex", munit_on_error, 0, NULL));
	return run_break_symbol(run, "munit_logf_ex", munit_on_error, 1, NULL);
}

static struct err *munit_start(struct run *run, struct thread *thread)
{
	struct munit *munit = run->state;
	size_t most = run->n + run_unknown(run) + 1;
	size_t arguments = ((uint32_t)thread_arg(thread, 2) + 16) * 8;
	struct raddr memory;
	bool found;
	TRY(run_break_symbol(run, "tmpfile", munit_on_buffer, 0, &found));
	if (found)
		TRY(run_break_symbol(run, "fclose", munit_on_close, 0, &found));
	if (!found)
		return adapter_unknown_version(run, "no tmpfile() or fclose()");
	TRY(remote_map(thread,
		       sizeof(struct munit_suite) + 2 * SLOT_SIZE +
			       most * sizeof(struct munit_test) + arguments,
		       &memory));
	munit->suite = memory.v;
	munit->slots = munit->suite + sizeof(struct munit_suite);
	munit->entries = munit->slots + 2 * SLOT_SIZE;
	munit->arguments = munit->entries + most * sizeof(struct munit_test);
	TRY(calls_stubs(thread, STUBS, &munit->stubs));
	TRY(run_break(run, RADDR(munit_stub_address(munit, STUB_BODY)),
		      munit_on_body, 0));
	TRY(run_break(run, RADDR(munit_stub_address(munit, STUB_TEARDOWN)),
		      munit_on_teardown, 0));
	return munit_run_call(run, thread);
}

static struct err *munit_before_hand_over(struct run *run)
{
	const struct munit *munit = run->state;
	return calls_stub_becomes(run,
				  RADDR(munit_stub_address(munit, STUB_BODY)),
				  RADDR(munit->test.test));
}

const struct framework framework_munit = {
	.name = "munit",
	.state_size = sizeof(struct munit),
	.signs = FRAMEWORK_SIGNS(
		FRAMEWORK_USES("munit_suite_main", "munit_suite_main_custom")),
	.own = {
		.title = "munit",
		.functions = FRAMEWORK_LIST("munit_", "psnip_"),
		.symbols = FRAMEWORK_LIST("munit_suite_main",
			"munit_suite_main_custom"),
		.variables = FRAMEWORK_LIST("munit_"),
		.libraries = FRAMEWORK_LIST("libmunit"),
	},
	.isolation = "as with --no-fork",
	.before_hand_over = munit_before_hand_over,
	.attach = munit_attach,
	.discover = munit_discover_call,
	.start = munit_start,
	.branches = true,
	.failure_aborts = true,
};
