#include "cli/guard.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/command.h"
#include "nest/descendants.h"

static volatile pid_t controller; /* or the guard below this one */

/* What is sent to the process the user sees is meant for the other one. */
static void guard_forward_signal(int number, siginfo_t *info,
				 void *context _unused_)
{
	/* The terminal sends its signals to both of us. */
	if (controller > 0 && info->si_code <= 0)
		kill(controller, number);
}

/* Stops with it, so that the shell sees a stopped job; continues with it. */
static void follow_stop(void)
{
	raise(SIGSTOP);
	kill(controller, SIGCONT);
}

static void _noreturn_ guard_run(void)
{
	static const int forwarded[] = { SIGINT,  SIGTERM, SIGHUP,
					 SIGQUIT, SIGUSR1, SIGUSR2 };
	struct sigaction action = { .sa_sigaction = guard_forward_signal,
				    .sa_flags = SA_SIGINFO | SA_RESTART };
	for (size_t i = 0; i < ARRAY_SIZE(forwarded); i++)
		sigaction(forwarded[i], &action, NULL);
	signal(SIGTSTP, SIG_IGN);

	int status;
	for (;;) {
		pid_t pid = waitpid(-1, &status, WUNTRACED);
		if (pid < 0 && errno != EINTR)
			break;
		if (pid != controller)
			continue; /* an orphan */
		if (!WIFSTOPPED(status))
			break;
		follow_stop();
	}
	controller = 0;
	descendants_end();
	if (WIFEXITED(status))
		_exit(WEXITSTATUS(status));
	int number = WTERMSIG(status);
	if (number == SIGPIPE) {
		signal(SIGPIPE, SIG_DFL);
		raise(SIGPIPE);
	}
	if (number != SIGINT && number != SIGTERM && number != SIGHUP)
		fprintf(stderr,
			"polygraph: the controller was killed by SIG%s "
			"(%s); no process of the tested program was left "
			"running\n",
			sigabbrev_np(number), strsignal(number));
	fflush(stderr);
	_exit(STATUS_INTERNAL);
}

static struct err *guard_fork_once(void)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	pid_t guard_pid = getpid();

	/* No signal gets lost between the fork and the handlers. */
	sigset_t all, before;
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	pid_t pid = fork();
	if (pid < 0) {
		sigprocmask(SIG_SETMASK, &before, NULL);
		return err_errno(errno, "cannot fork");
	}
	if (pid > 0) {
		controller = pid;
		sigprocmask(SIG_SETMASK, &before, NULL);
		guard_run();
	}
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (getppid() != guard_pid)
		raise(SIGTERM);
	return NULL;
}

struct err *guard_fork(void)
{
	descendants_spare();
	fflush(NULL);
	TRY(guard_fork_once());
	return guard_fork_once();
}
