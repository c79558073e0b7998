/*
 * acutest, by calls: acutest_do_run_() runs one test, with TEST_INIT and TEST_FINI
 * around it. It is entered again for what is wanted next. The framework is told not
 * to fork (as with --no-exec), which it does by itself where it sees a tracer.
 *
 * There is a list, acutest_list_, but what of it runs is for the program's arguments
 * to say: the tests are found by a run in which every call returns immediately.
 *
 * Stopping at each check would be slow, and the framework prints only the last part
 * of a file's name. So the place of the first failure is that of the stack where the
 * framework begins to report it, and its line and message come from the output.
 *
 * Everything is in one header, which programs contain. Names begin with "acutest_",
 * until 2019 with "test_"; in the predecessor cutest.h they end with "__".
 *
 * Seen with the copies in nng 1.5.2 and neomutt, and with the newest; see
 * docs/frameworks.md.
 */
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "base/str.h"
#include "framework/adapter.h"
#include "native/calls.h"
#include "native/framework.h"
#include "native/session.h"
#include "tracee/memory.h"

#define TESTS_MAX 1000000

/* What acutest_do_run_() returns; before there was TEST_SKIP(), 0 or -1. */
enum { STATE_SUCCESS = 0, STATE_SKIPPED = 2 };

struct acutest_test { /* struct acutest_test_ */
	uint64_t name, function;
};

struct acutest {
	struct calls call; /* of acutest_do_run_() */
	struct raddr do_run;
	struct calls body; /* of the test, if points are wanted */
};

/* In each version's spelling; clang has C++ names for what is static. */
/* clang-format off */
static const char *const acutest_do_run[] = {
	"acutest_do_run_", "_ZL15acutest_do_run_PK13acutest_test_i",
	"test_do_run_", "_ZL12test_do_run_PK5test_i",
	"test_do_run__", "_ZL13test_do_run__PK6test__i",
	NULL,
};
static const char *const acutest_no_exec[] = {
	"acutest_no_exec_", "_ZL16acutest_no_exec_",
	"test_no_exec_", "_ZL13test_no_exec_",
	"test_no_exec__", "_ZL14test_no_exec__",
	NULL,
};
static const char *const acutest_print[] = {
	"acutest_colored_printf_", "_ZL23acutest_colored_printf_iPKcz",
	"test_print_in_color_", "_ZL20test_print_in_color_iPKcz",
	"test_print_in_color__", "_ZL21test_print_in_color__iPKcz",
	NULL,
};
/* clang-format on */

static bool acutest_find(const struct run *run, const char *const *names,
			 struct raddr *ret)
{
	while (*names && !program_symbol(run->program, *names, ret))
		names++;
	return *names;
}

/* Short options may stand together: "-vE". */
static bool acutest_has_short_option(const struct run *run, char option)
{
	char *const *argv = run->session->suite.options.argv;
	for (size_t i = 1; argv[0] && argv[i]; i++) {
		if (argv[i][0] == '-' && argv[i][1] != '-' &&
		    strchr(argv[i], option))
			return true;
	}
	return false;
}

static struct err *acutest_add_test(struct run *run, uint64_t address)
{
	struct acutest_test test;
	const char *file = NULL;
	unsigned line = 0;
	_cleanup_(freep) char *name = NULL;
	TRY(memory_read(run->tracee, RADDR(address), &test, sizeof(test)));
	TRY(run_text(run, RADDR(test.name), &name));
	program_function_place(run->program, RADDR(test.function), &file,
			       &line);
	if (run_tests(run) >= TESTS_MAX)
		return adapter_unknown_version(run, "too many tests");
	TRY(run_add_test(run, name, file, line, false, address, 0));
	if (!adapter_has_argument(run, "--no-exec") &&
	    !adapter_has_argument(run, "--exec=never") &&
	    !acutest_has_short_option(run, 'E'))
		run_isolate_test(run);
	return NULL;
}

/* The thread is at the entry of acutest_do_run_(). */
static struct err *acutest_discover(struct run *run, struct thread *thread)
{
	TRY(acutest_add_test(run, thread_arg(thread, 0)));
	return calls_skip(run, thread, STATE_SUCCESS);
}

/*
 * "file.c:12: message... failed": the first such line, cut into its parts. What
 * TEST_CASE() said is on a line before it; the word may be in colours.
 */
struct acutest_report {
	char *context, *file, *message;
	unsigned line;
};

static char *acutest_find_word(char *line, const char *word)
{
	char *at = line, *last = NULL;
	while ((at = strstr(at, "... "))) {
		char *end = at + strlen("... ");
		if (*end == '\033')
			end += strcspn(end, "m") + (strchr(end, 'm') != NULL);
		if (str_starts(end, word))
			last = at;
		at++;
	}
	return last;
}

static void acutest_cut_place(char *text, struct acutest_report *report)
{
	char *end = strstr(text, ": ");
	report->message = text;
	if (!end)
		return;
	*end = '\0';
	char *colon = strrchr(text, ':');
	uint64_t line;
	if (!colon || !str_to_u64(colon + 1, 10, &line)) {
		*end = ':';
		return;
	}
	*colon = '\0';
	report->file = text;
	report->line = (unsigned)line;
	report->message = end + 2;
	if (str_starts(report->message, "Check "))
		report->message += strlen("Check ");
}

static bool acutest_parse_output(char *output, const char *word,
				 struct acutest_report *report)
{
	for (char *next, *at = output; at; at = next) {
		next = strchr(at, '\n');
		if (next)
			*next++ = '\0';
		at += strspn(at, "# "); /* TAP */
		size_t n = strlen(at);
		if (str_starts(at, "Case ") && at[n - 1] == ':') {
			at[n - 1] = '\0';
			report->context = at;
			continue;
		}
		char *end = acutest_find_word(at, word);
		if (!end)
			continue;
		*end = '\0';
		acutest_cut_place(at, report);
		return true;
	}
	return false;
}

/* The file of the test, if it is that one. */
static struct err *acutest_complete_file(struct run *run, const char *name,
					 const char **ret)
{
	const char *file = NULL;
	struct acutest_test test;
	unsigned line;
	TRY(memory_read(run->tracee, RADDR(run_handle(run, run->current)),
			&test, sizeof(test)));
	bool own = name &&
		   program_function_place(run->program, RADDR(test.function),
					  &file, &line) &&
		   !strcmp(path_base(file), name);
	*ret = own ? file : name;
	return NULL;
}

static struct err *acutest_note_result(struct run *run, bool skipped)
{
	struct acutest_report report = {};
	_cleanup_(freep) char *output = NULL, *message = NULL;
	err_ignore(run_output(run, &output));
	bool found = output &&
		     acutest_parse_output(
			     output, skipped ? "skipped" : "failed", &report);
	if (found)
		TRY(str_format(&message, "%s%s%s",
			       report.context ? report.context : "",
			       report.context ? ": " : "", report.message));
	const char *file = NULL;
	if (found)
		TRY(acutest_complete_file(run, report.file, &file));
	if (skipped)
		return run_skip(run, file, report.line, message);
	if (run->outcome != OUTCOME_FAIL)
		return run_fail(run, file, report.line, message);
	/* Of a call on several lines the framework has another one. */
	if (report.file && run->file &&
	    !strcmp(report.file, path_base(run->file)))
		run->line = report.line;
	return message ? run_note_more(run, message) : NULL;
}

/*
 * acutest_colored_printf_(color, "%s", "failed"): the framework reports a failed
 * check, in the function that made it.
 */
static struct err *acutest_on_print(struct run *run, struct thread *thread,
				    uint64_t arg)
{
	(void)arg;
	static const char word[] = "failed";
	char text[sizeof(word)] = {};
	_cleanup_(freep) char *file = NULL;
	unsigned line = 0;
	if (!run->in_test || run->outcome == OUTCOME_FAIL ||
	    memory_read_some(run->tracee, RADDR(thread_arg(thread, 2)), text,
			     sizeof(text)) != sizeof(text) ||
	    memcmp(text, word, sizeof(word)) != 0)
		return NULL;
	err_ignore(adapter_find_place(run, thread, &file, &line));
	/* A test whose last call was the check is not on the stack. */
	if (!file || str_glob("*cutest.h", file))
		return NULL;
	return run_fail(run, file, line, NULL);
}

static struct err *acutest_on_body_return(struct run *run,
					  struct thread *thread, uint64_t arg)
{
	(void)arg;
	struct acutest *acutest = run->state;
	if (!calls_returned(&acutest->body, thread))
		return NULL;
	acutest->body.inside = false;
	return run_point(run, SUITE_BEFORE_TEARDOWN);
}

static struct err *acutest_on_body(struct run *run, struct thread *thread,
				   uint64_t arg)
{
	(void)arg;
	struct acutest *acutest = run->state;
	if (!run->in_test || run->point >= SUITE_AFTER_SETUP)
		return NULL;
	TRY(calls_enter(run, thread, &acutest->body, acutest_on_body_return,
			0));
	return run_point(run, SUITE_AFTER_SETUP);
}

/* The thread is at the entry of acutest_do_run_(). */
static struct err *acutest_begin_test(struct run *run, struct thread *thread,
				      size_t wanted)
{
	uint64_t address = run_handle(run, wanted), function;
	regs_set_arg(&thread->regs, 0, address);
	thread_dirty(thread);
	TRY(run_begin(run));
	/* In a process of its own, such a test passes. */
	run_allow_exit(run, 0);
	if (!run_point_wanted(run, SUITE_AFTER_SETUP) &&
	    !run_point_wanted(run, SUITE_BEFORE_TEARDOWN))
		return NULL;
	TRY(run_u64(run,
		    RADDR(address + offsetof(struct acutest_test, function)),
		    &function));
	return run_break(run, RADDR(function), acutest_on_body, 0);
}

static struct err *acutest_on_return(struct run *run, struct thread *thread,
				     uint64_t arg)
{
	(void)arg;
	struct acutest *acutest = run->state;
	if (!calls_returned(&acutest->call, thread))
		return NULL;
	int32_t state = (int32_t)regs_result(&thread->regs);
	if (state != STATE_SUCCESS)
		TRY(acutest_note_result(run, state == STATE_SKIPPED));
	TRY(run_end(run, OUTCOME_NONE));
	size_t wanted = run_wanted(run);
	if (wanted != RUN_NONE) {
		TRY(calls_again(run, thread, &acutest->call));
		return acutest_begin_test(run, thread, wanted);
	}
	acutest->call.inside = false;
	calls_leave(thread, &acutest->call, true);
	TRY(run_unbreak(run, acutest->call.return_to));
	return calls_mute(run, acutest->do_run);
}

static struct err *acutest_start(struct run *run, struct thread *thread)
{
	struct acutest *acutest = run->state;
	size_t wanted = run_wanted(run);
	struct raddr print;
	if (wanted == RUN_NONE)
		return calls_skip(run, thread, STATE_SUCCESS);
	if (acutest_find(run, acutest_print, &print))
		TRY(run_break(run, print, acutest_on_print, 0));
	TRY(calls_enter(run, thread, &acutest->call, acutest_on_return, 0));
	return acutest_begin_test(run, thread, wanted);
}

static struct err *acutest_on_call(struct run *run, struct thread *thread,
				   uint64_t arg)
{
	(void)arg;
	const struct acutest *acutest = run->state;
	if (calls_nested(&acutest->call, thread))
		return NULL;
	if (run->discovering && run->ready_thread)
		return acutest_discover(run, thread);
	if (!run->order) {
		run_ready(run, thread);
		return NULL;
	}
	return calls_skip(run, thread, STATE_SUCCESS);
}

static struct err *acutest_attach(struct run *run)
{
	struct acutest *acutest = run->state;
	struct raddr no_exec;
	const uint32_t yes = 1;
	if (!acutest_find(run, acutest_do_run, &acutest->do_run))
		return adapter_function_missing(
			run, acutest_do_run[0],
			"build it with less optimisation and do not strip it");
	if (acutest_find(run, acutest_no_exec, &no_exec))
		TRY(memory_write(run->tracee, no_exec, &yes, sizeof(yes)));
	return run_break(run, acutest->do_run, acutest_on_call, 0);
}

/* clang-format off */
static const char *const acutest_functions[] = {
	"acutest_", "_ZL13acutest_", "_ZL15acutest_", "_ZL20acutest_",
	"_ZL23acutest_", "_ZL25acutest_", "test_abort_$", "test_begin_test_line_$",
	"test_case_$", "test_check_$", "test_do_run_$", "test_dump_$",
	"test_error_$", "test_finish_test_line_$", "test_line_indent_$",
	"test_message_$", "test_print_in_color_$", "test_run_$",
	"test_abort__$", "test_case__$", "test_check__$", "test_do_run__$",
	"test_dump__$", "test_error__$", "test_finish_test_line__$",
	"test_message__$", "test_print_in_color__$", "test_run__$",
	NULL,
};
/* clang-format on */

const struct framework framework_acutest = {
	.name = "acutest",
	.state_size = sizeof(struct acutest),
	.signs = FRAMEWORK_SIGNS(
		FRAMEWORK_HAS("acutest_list_", "test_list_", "test_list__"),
		{ .any = acutest_do_run }),
	.own = {
		.title = "acutest",
		.functions = acutest_functions,
		.symbols = acutest_do_run,
		.variables = FRAMEWORK_LIST("acutest_", "acutest_list_$",
			"test_list_$", "test_list__$"),
	},
	.isolation = "as with --no-exec",
	.attach = acutest_attach,
	.discover = acutest_discover,
	.start = acutest_start,
	.branches = true,
};
