#include <stdlib.h>

#include "whole/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/interrupted.h"
#include "base/macro.h"

#define MESSAGE_MAX ((off_t)4 << 10)

static void _noreturn_ child_exec(const struct child *child, char **argv,
				  int messages, pid_t parent)
{
	int nothing = open("/dev/null", O_RDWR);
	sigset_t none;
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 ||
	    dup2(nothing, STDOUT_FILENO) < 0 ||
	    dup2(messages, STDERR_FILENO) < 0 || getppid() != parent)
		_exit(126);
	if (child->terminal)
		fcntl(child->terminal, F_SETFD, 0);
	if (child->folder && chdir(child->folder)) {
		dprintf(STDERR_FILENO, "cannot enter '%s': %s\n", child->folder,
			strerrordesc_np(errno));
		_exit(126);
	}
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execve("/proc/self/exe", argv, child->env ? child->env : environ);
	dprintf(STDERR_FILENO, "cannot start polygraph: %s\n",
		strerrordesc_np(errno));
	_exit(126);
}

/* Tells it once of an interrupt, and goes on waiting: it keeps its results. */
static struct err *child_wait(pid_t pid, int *ret)
{
	_cleanup_(closep) int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	bool told = false;
	int status;
	while (fd >= 0) {
		struct pollfd ended = { .fd = fd, .events = POLLIN };
		if (poll(&ended, 1, -1) > 0)
			break;
		if (errno != EINTR)
			break;
		if (interrupted && !told)
			told = !kill(pid, SIGINT);
	}
	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return err_errno(errno, "cannot wait for polygraph");
	}
	*ret = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	return NULL;
}

static struct err *child_read_message(int fd, char **ret)
{
	off_t size = lseek(fd, 0, SEEK_END);
	off_t from = MAX(size - MESSAGE_MAX, (off_t)0);
	_cleanup_(freep) char *text = calloc(1, (size_t)MESSAGE_MAX + 1);
	if (!text)
		return err_nomem();
	ssize_t got = pread(fd, text, (size_t)MESSAGE_MAX, from);
	text[MAX(got, (ssize_t)0)] = '\0';
	*ret = take_ptr(text);
	return NULL;
}

struct err *child_run(const struct child *child, struct child_end *ret)
{
	_cleanup_(strv_freep) struct strv argv = {};
	_cleanup_(closep) int messages =
		memfd_create("polygraph-messages", MFD_CLOEXEC);
	struct child_end end = {};
	if (messages < 0)
		return err_errno(errno, "cannot keep messages");
	TRY(strv_add(&argv, "polygraph"));
	TRY(strv_add_all(&argv, child->words->data));
	pid_t parent = getpid();
	pid_t pid = fork();
	if (pid < 0)
		return err_errno(errno, "cannot start polygraph");
	if (!pid)
		child_exec(child, argv.data, messages, parent);
	TRY(child_wait(pid, &end.status));
	TRY(child_read_message(messages, &end.message));
	*ret = end;
	return NULL;
}
