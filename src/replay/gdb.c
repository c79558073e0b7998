/*
 * A debugger at the point of failure: the failing order is run up to its last
 * test, and the debugger gets the process there, with a breakpoint where the
 * test failed a moment ago.
 */
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "base/path.h"
#include "base/str.h"
#include "replay/replay_internal.h"

struct debugger {
	const char *program;
	/* Before the number of the process, and before each command. */
	const char *const *options; /* ends with NULL */
	const char *attach;
	const char *command;
	const char *pass;    /* the command that goes on from the hand-over */
	const char *stop_at; /* the command, up to the place */
};

static const struct debugger debuggers[] = {
	{ "gdb",
	  (const char *const[]){ "-q", "-iex", "set debuginfod enabled off",
				 "-iex", "set pagination off", NULL },
	  "-p", "-ex", "handle SIGSTOP nostop noprint nopass", "tbreak " },
	{ "lldb", (const char *const[]){ NULL }, "-p", "-o",
	  "process handle SIGSTOP --stop false --notify false --pass false",
	  "breakpoint set --one-shot true" },
};

static bool is_there(const char *program)
{
	const char *path = getenv("PATH");
	_cleanup_(freep) char *copy = strdup(path ? path : "/usr/bin:/bin");
	char *rest = copy;
	for (char *folder; rest && (folder = strsep(&rest, ":"));) {
		_cleanup_(freep) char *file = NULL;
		if (asprintf(&file, "%s/%s", *folder ? folder : ".", program) >=
			    0 &&
		    !access(file, X_OK))
			return true;
	}
	return false;
}

static const struct debugger *find_debugger(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(debuggers); i++) {
		if (is_there(debuggers[i].program))
			return &debuggers[i];
	}
	return NULL;
}

/* ---- the debugger ---- */

struct session_of {
	const struct debugger *debugger;
	const char *file; /* NULL: it crashes, and the debugger notices */
	unsigned line;
	bool own_line; /* it is the one that the test is declared in */
};

/*
 * By the last part of its name: debug information may have any other in front. Of
 * a test that is written in one line, the constructor is in that line, too.
 */
static struct err *append_stop(const struct session_of *session,
			       const char *body, struct str *str)
{
	const char *slash = strrchr(session->file, '/');
	const char *name = slash ? slash + 1 : session->file;
	bool is_gdb = !strcmp(session->debugger->program, "gdb");
	TRY(str_append(str, session->debugger->stop_at));
	if (body && session->own_line)
		return is_gdb ? str_appendf(str, "%s:%s", name, body)
			      : str_appendf(str, " --method %s", body);
	return !is_gdb ? str_appendf(str, " --file %s --line %u", name,
				     session->line)
		       : str_appendf(str, "%s:%u", name, session->line);
}

static struct err *make_debugger_words(const struct session_of *session,
				       pid_t pid, const char *body,
				       struct strv *ret)
{
	const struct debugger *debugger = session->debugger;
	_cleanup_(str_freep) struct str stop = STR_INIT;
	TRY(strv_add(ret, debugger->program));
	for (size_t i = 0; debugger->options[i]; i++)
		TRY(strv_add(ret, debugger->options[i]));
	TRY(strv_add(ret, debugger->attach));
	TRY(strv_addf(ret, "%d", (int)pid));
	if (session->file) {
		TRY(append_stop(session, body, &stop));
		TRY(strv_add(ret, debugger->command));
		TRY(strv_take(ret, str_take(&stop)));
	}
	TRY(strv_add(ret, debugger->command));
	TRY(strv_add(ret, debugger->pass));
	TRY(strv_add(ret, debugger->command));
	return strv_add(ret, "continue");
}

/* suite_hand_over(): Ctrl-C is the debugger's while it runs. */
static struct err *run_debugger(void *data, pid_t pid, const char *body)
{
	const struct session_of *session = data;
	_cleanup_(strv_freep) struct strv words = {};
	struct sigaction ignore = { .sa_handler = SIG_IGN }, before;
	pid_t child;
	int status;
	TRY(make_debugger_words(session, pid, body, &words));
	sigaction(SIGINT, &ignore, &before);
	posix_spawnattr_t attributes;
	sigset_t none, usual;
	sigemptyset(&none);
	sigemptyset(&usual);
	sigaddset(&usual, SIGINT);
	sigaddset(&usual, SIGPIPE);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK |
						      POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setsigdefault(&attributes, &usual);
	int number = posix_spawnp(&child, words.data[0], NULL, &attributes,
				  words.data, environ);
	posix_spawnattr_destroy(&attributes);
	while (!number && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	sigaction(SIGINT, &before, NULL);
	return number ? err_errno(number, "cannot start %s",
				  session->debugger->program)
		      : NULL;
}

/* ---- replaying ---- */

static struct err *find_failing_place(struct replay *replay,
				      struct trial *trial,
				      struct suite_result *ret)
{
	bool fails = false;
	for (size_t i = 0; i < REPLAY_UNTIL_RUNS && !fails; i++) {
		suite_result_free(ret);
		*ret = (struct suite_result){};
		TRY(replay->kind->run(replay, trial, ret, &fails));
		if (!replay->kind->until)
			break;
	}
	if (fails)
		return NULL;
	return err_hint(err_create(ERR_SUITE,
				   "the test does not fail any more in its "
				   "failing order"),
			"'polygraph replay %s' says more", replay->finding->id);
}

static bool gdb_is_own_line(const struct replay *replay,
			    const struct trial *trial,
			    const struct suite_result *result)
{
	size_t last = trial->tests.data[trial->tests.n - 1];
	const struct suite_test *test = suite_test(replay->suite, last);
	return result->file && test->file && result->line == test->line &&
	       !strcmp(path_base(result->file), path_base(test->file));
}

static struct err *open_for_debugger(struct replay *replay)
{
	suite_close(take_ptr(replay->suite));
	/* What follows files and restores them needs the tracer. */
	replay->suite_options.restores = false;
	return replay_open_suite(replay);
}

struct err *replay_debug(struct replay *replay)
{
	struct suite_result result = {};
	struct trial *trial = &replay->record.trials.data[0];
	struct session_of session = { .debugger = find_debugger() };
	if (!replay->kind->noun)
		return err_hint(
			err_create(ERR_USAGE,
				   "no assertion fails because of what '%s' is "
				   "about",
				   replay->finding->id),
			"--gdb is for findings that make a test fail");
	if (!session.debugger)
		return err_hint(err_create(ERR_USAGE,
					   "neither gdb nor lldb is installed"),
				"install one: apt-get install gdb");
	TRY(replay_open_suite(replay));
	struct err *err = find_failing_place(replay, trial, &result);
	if (!err) {
		session.file = result.file;
		session.line = result.line;
		session.own_line = gdb_is_own_line(replay, trial, &result);
		fprintf(replay->options->out,
			"%s: process of the last test of "
			"the failing order\n",
			session.debugger->program);
		fflush(replay->options->out);
		err = open_for_debugger(replay);
	}
	if (!err)
		err = suite_hand_over(replay->suite, run_debugger, &session);
	bool as_expected;
	struct suite_result last = {};
	if (!err)
		err = replay->kind->run(replay, trial, &last, &as_expected);
	suite_result_free(&last);
	suite_result_free(&result);
	replay->reproduced = true;
	return err;
}
