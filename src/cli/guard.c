#include "cli/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/str.h"
#include "cli/command.h"
#include "nest/descendants.h"

static volatile pid_t controller; /* or the guard below this one */
/* From the controller to the first guard, which alone begins again. */
static int again[2] = { -1, -1 };
static struct strv asked;

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

static const int forwarded[] = { SIGINT,  SIGTERM, SIGHUP,
				 SIGQUIT, SIGUSR1, SIGUSR2 };

/* Each word ends with NUL; together they fit into a pipe. */
#define ASKED_MAX 65536

static bool guard_read_asked(void)
{
	static char text[ASKED_MAX];
	ssize_t n = read(again[0], text, sizeof(text));
	if (n <= 0)
		return false;
	strv_free(&asked);
	for (const char *word = text; word < text + n && text[n - 1] == '\0';
	     word += strlen(word) + 1)
		err_ignore(strv_add(&asked, word));
	return true;
}

static void _noreturn_ guard_end(int status)
{
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

/* Returns where another one is to begin. */
static void guard_run(bool is_first)
{
	struct sigaction action = { .sa_sigaction = guard_forward_signal,
				    .sa_flags = SA_SIGINFO | SA_RESTART };
	struct sigaction before[ARRAY_SIZE(forwarded)], before_stop;
	for (size_t i = 0; i < ARRAY_SIZE(forwarded); i++)
		sigaction(forwarded[i], &action, &before[i]);
	action = (struct sigaction){ .sa_handler = SIG_IGN };
	sigaction(SIGTSTP, &action, &before_stop);

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
	if (!is_first || !guard_read_asked())
		guard_end(status);
	for (size_t i = 0; i < ARRAY_SIZE(forwarded); i++)
		sigaction(forwarded[i], &before[i], NULL);
	sigaction(SIGTSTP, &before_stop, NULL);
}

static struct err *guard_fork_once(bool is_first)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	pid_t guard_pid = getpid();

	/* No signal gets lost between the fork and the handlers. */
	sigset_t all, before;
	sigfillset(&all);
	for (;;) {
		sigprocmask(SIG_SETMASK, &all, &before);
		pid_t pid = fork();
		if (pid == 0)
			break;
		controller = MAX(pid, 0);
		sigprocmask(SIG_SETMASK, &before, NULL);
		if (pid < 0)
			return err_errno(errno, "cannot fork");
		guard_run(is_first);
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
	if (pipe2(again, O_CLOEXEC | O_NONBLOCK) < 0)
		return err_errno(errno, "cannot make a pipe");
	TRY(guard_fork_once(true));
	return guard_fork_once(false);
}

struct err *guard_ask_again(const struct strv *words)
{
	_cleanup_(str_freep) struct str text = STR_INIT;
	for (size_t i = 0; i < words->n; i++)
		TRY(str_append_n(&text, words->data[i],
				 strlen(words->data[i]) + 1));
	if (text.n > ASKED_MAX ||
	    write(again[1], text.s, text.n) != (ssize_t)text.n)
		return err_errno(errno, "cannot begin again");
	return NULL;
}

const struct strv *guard_asked(void)
{
	return &asked;
}
