/* Starting a program under a tracer. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <unistd.h>

#include "base/in_container.h"
#include "base/log.h"
#include "nest/nest.h"
#include "tracee/brood.h"
#include "tracee/output.h"
#include "tracee/tracee_internal.h"

#define OPTIONS                                                                \
	(PTRACE_O_EXITKILL | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK |        \
	 PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC | PTRACE_O_TRACESYSGOOD)

/* What went wrong in the child, through a pipe that exec closes. */
struct start_failure {
	int number;
	char what[60];
};

static void _noreturn_ child_report_failure(int pipe, const char *what)
{
	struct start_failure failure = { .number = errno };
	strncpy(failure.what, what, sizeof(failure.what) - 1);
	(void)!write(pipe, &failure, sizeof(failure));
	_exit(127);
}

struct start_child {
	const struct tracee_command *command;
	int go, go_write;
	int report;
};

static void child_execute(void *data)
{
	const struct start_child *child = data;
	const struct tracee_command *command = child->command;
	int go = child->go, report = child->report;
	setpgid(0, 0);
	close(child->go_write);

	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (null < 0 || dup2(null, STDIN_FILENO) < 0)
		child_report_failure(report, "cannot open /dev/null");
	if (command->output) {
		int out, err;
		output_ends(command->output, &out, &err);
		if (dup2(out, STDOUT_FILENO) < 0 ||
		    dup2(err, STDERR_FILENO) < 0)
			child_report_failure(report, "cannot redirect output");
	}
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);

	/* The same addresses in every run; some containers refuse it. */
	int old = personality(0xffffffff);
	if (old >= 0)
		personality((unsigned)old | ADDR_NO_RANDOMIZE);

	/*
	 * Written memory is found by pages: with large ones that nobody asked
	 * for, one byte looks like two megabytes, and Linux 6.12 does not say
	 * that they were thrown away.
	 */
	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);

	if (command->cwd && chdir(command->cwd) < 0)
		child_report_failure(report,
				     "cannot change to its working directory");

	char byte;
	if (read(go, &byte, 1) != 1)
		_exit(127);
	if (command->no_inherited)
		close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
	execve(command->argv[0], command->argv,
	       command->env ? command->env : environ);
	child_report_failure(report, "cannot execute it");
}

static struct err *explain_seize(int number)
{
	struct err *err = err_with_kind(
		err_errno(number, "cannot trace the program"), ERR_SUITE);
	if (number != EPERM)
		return err;
	return err_hint(
		err, "tracing is forbidden here: see "
		     "/proc/sys/kernel/yama/ptrace_scope (2 and 3 forbid "
		     "it), or start the container with " CONTAINER_FLAG_PTRACE);
}

static struct err *explain_failure(const struct start_failure *failure,
				   const char *path)
{
	return err_with_kind(
		err_errno(failure->number, "'%s': %s", path, failure->what),
		ERR_SUITE);
}

/* From the child that waits to be let go to the stop after its exec. */
static struct err *tracee_wait_for_exec(struct tracee *tracee, int go,
					int report, const char *path)
{
	if (write(go, "", 1) != 1)
		return err_errno(errno, "cannot start '%s'", path);

	struct tracee_event event;
	TRY(tracee_continue(tracee, 0, &event));
	if (event.kind == TRACEE_EXECUTED)
		return NULL;

	struct start_failure failure;
	if (read(report, &failure, sizeof(failure)) == sizeof(failure))
		return explain_failure(&failure, path);
	if (event.kind == TRACEE_INTERRUPTED)
		return err_create(ERR_INTERRUPTED, "interrupted");
	return err_create(ERR_SUITE, "'%s' ended before its first instruction",
			  path);
}

struct err *tracee_start(struct tracer *tracer,
			 const struct tracee_command *command,
			 struct tracee **ret)
{
	_cleanup_(closep) int go_read = -1, go_write = -1;
	_cleanup_(closep) int report_read = -1, report_write = -1;
	int ends[2];
	if (pipe2(ends, O_CLOEXEC) < 0)
		return err_errno(errno, "cannot create a pipe");
	go_read = ends[0];
	go_write = ends[1];
	if (pipe2(ends, O_CLOEXEC) < 0)
		return err_errno(errno, "cannot create a pipe");
	report_read = ends[0];
	report_write = ends[1];

	tracer_unpin(tracer); /* it starts with all processors */
	struct start_child child = { command, go_read, go_write, report_write };
	_cleanup_(nest_endp) struct nest *nest = NULL;
	TRY(nest_start(NEST_REAPS, child_execute, &child, &nest));
	close(take_fd(report_write));
	pid_t pid = nest_program(nest);

	if (ptrace(PTRACE_SEIZE, pid, 0, OPTIONS) < 0)
		return explain_seize(errno);
	_cleanup_(tracee_destroyp) struct tracee *tracee =
		tracee_create(tracer, pid);
	if (!tracee)
		return err_nomem();
	TRY(brood_create(nest, tracee));
	take_ptr(nest);
	tracee->output = command->output;
	TRY(tracee_wait_for_exec(tracee, go_write, report_read,
				 command->argv[0]));
	log_debug(LOG_TRACEE, "started %s as %d", command->argv[0], pid);
	*ret = take_ptr(tracee);
	return NULL;
}
