#include "cli/storing.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/macro.h"
#include "base/str.h"
#include "history/history.h"
#include "process/process.h"
#include "results/results.h"

#define GIT_MAX 4096
#define GIT_TIMEOUT (10 * NS_PER_S)

static struct {
	bool begun;
	pid_t sender;
	int order; /* a byte: send; closed: do not */
	char *branch, *commit;
} storing;

/* ---- what is known of the run ---- */

/* "" where git does not know, or is not there. */
static char *ask_git(const char *what, const char *how)
{
	char *argv[] = { (char *)"git", (char *)"rev-parse", (char *)what,
			 (char *)how, NULL };
	const struct process_spec spec = { .argv = argv };
	struct process_output output = {};
	char *answer = NULL;
	struct err *err = process_output(&spec, GIT_MAX, GIT_TIMEOUT, &output);
	if (!err && !output.why && !output.status && output.out)
		answer = strndup(output.out, strcspn(output.out, "\n"));
	err_ignore(err);
	process_output_free(&output);
	return answer ? answer : strdup("");
}

/* CI systems check a commit out, not a branch. */
char *storing_find_branch(void)
{
	static const char *const names[] = { "GITHUB_HEAD_REF",
					     "GITHUB_REF_NAME",
					     "CI_COMMIT_REF_NAME" };
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const char *name = getenv(names[i]);
		if (name && *name)
			return strdup(name);
	}
	return ask_git("--abbrev-ref", "HEAD");
}

/* ---- the process that sends ---- */

static void _noreturn_ sender_run(const char *url, int order)
{
	struct history *history = NULL;
	size_t sent = 0;
	char byte;
	signal(SIGINT, SIG_IGN); /* it is short, and what is found is kept */
	prctl(PR_SET_PDEATHSIG, 0);
	if (read(order, &byte, 1) != 1)
		_exit(0);
	struct err *err = history_open(url, &history);
	if (!err)
		err = history_send(history, STORING_FOLDER, &sent);
	if (err)
		log_warn("results were not stored: %s; they are kept "
			 "in " STORING_FOLDER
			 " and sent by the next call with --store",
			 err_message(err));
	err_destroy(err);
	history_close(history);
	fflush(NULL);
	_exit(0);
}

struct err *storing_begin(const char *url)
{
	int ends[2];
	if (!url)
		return NULL;
	if (strstr(url, "://") && !str_starts(url, "postgres"))
		return err_hint(err_create(ERR_USAGE,
					   "--store '%s' is not a place for "
					   "results",
					   url),
				"give a file, or postgresql://…");
	storing.branch = storing_find_branch();
	storing.commit = ask_git("--verify", "HEAD");
	if (!storing.branch || !storing.commit)
		return err_nomem();
	if (mkdir(RESULTS_FOLDER, 0700) < 0 && errno != EEXIST)
		return err_errno(errno, "cannot make '%s'", RESULTS_FOLDER);
	if (pipe2(ends, O_CLOEXEC) < 0)
		return err_errno(errno, "cannot make a pipe");
	fflush(NULL);
	storing.sender = fork();
	if (storing.sender < 0) {
		close(ends[0]);
		close(ends[1]);
		return err_errno(errno, "cannot fork");
	}
	if (!storing.sender) {
		close(ends[1]);
		sender_run(url, ends[0]);
	}
	close(ends[0]);
	storing.order = ends[1];
	storing.begun = true;
	return NULL;
}

bool storing_is_begun(void)
{
	return storing.begun;
}

void storing_add(const char *report)
{
	unsigned char bytes[16];
	char key[33], when[32];
	time_t now = time(NULL);
	struct tm utc;
	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return;
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(key + 2 * i, 3, "%02x", bytes[i]);
	gmtime_r(&now, &utc);
	strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", &utc);
	const struct history_run run = {
		.key = key,
		.when = when,
		.branch = storing.branch,
		.commit = storing.commit,
		.report = report,
	};
	struct err *err = history_keep(STORING_FOLDER, &run);
	if (err)
		log_warn("results are not stored: %s", err_message(err));
	err_destroy(err);
}

void storing_end(void)
{
	if (!storing.begun)
		return;
	if (write(storing.order, "s", 1) != 1)
		log_debug(LOG_CLI, "nobody sends results");
	close(storing.order);
	while (waitpid(storing.sender, NULL, 0) < 0 && errno == EINTR)
		;
	free(take_ptr(storing.branch));
	free(take_ptr(storing.commit));
	storing.begun = false;
}
