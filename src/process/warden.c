#include "process/warden.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "base/macro.h"

/* More tests side by side than --jobs allows. */
#define GROUPS_MAX 65536

struct warden_message {
	int32_t group;
	int32_t watch;
};

static void warden_close_others(int keep)
{
	if (keep > 0)
		syscall(SYS_close_range, 0u, (unsigned)keep - 1, 0u);
	syscall(SYS_close_range, (unsigned)keep + 1, ~0u, 0u);
}

/* After fork in a program that may have threads: no allocation, no stdio. */
static _noreturn_ void warden_run(int fd)
{
	static pid_t groups[GROUPS_MAX];
	size_t n = 0;
	setsid();
	prctl(PR_SET_NAME, "pg-warden");
	prctl(PR_SET_PDEATHSIG, 0);
	for (int i = 1; i < NSIG; i++)
		signal(i, SIG_IGN);
	warden_close_others(fd);
	for (;;) {
		struct warden_message message;
		ssize_t got = recv(fd, &message, sizeof(message), 0);
		if (got < 0 && errno == EINTR)
			continue;
		if (got != sizeof(message))
			break;
		size_t i = 0;
		while (i < n && groups[i] != message.group)
			i++;
		if (message.watch && i == n && n < GROUPS_MAX)
			groups[n++] = message.group;
		else if (!message.watch && i < n)
			groups[i] = groups[--n];
	}
	for (size_t i = 0; i < n; i++)
		kill(-groups[i], SIGKILL);
	_exit(0);
}

void warden_start(struct warden *warden)
{
	int ends[2];
	*warden = (struct warden)WARDEN_INIT;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0) {
		log_debug(LOG_PROCESS, "no warden: %s", strerror(errno));
		return;
	}
	pid_t pid = fork();
	if (!pid)
		warden_run(ends[1]);
	close(ends[1]);
	if (pid < 0) {
		log_debug(LOG_PROCESS, "no warden: %s", strerror(errno));
		close(ends[0]);
		return;
	}
	warden->pid = pid;
	warden->fd = ends[0];
}

static void warden_send(struct warden *warden, pid_t group, bool watch)
{
	struct warden_message message = { .group = group, .watch = watch };
	while (warden->fd >= 0 &&
	       send(warden->fd, &message, sizeof(message), MSG_NOSIGNAL) < 0) {
		if (errno == EINTR)
			continue;
		log_debug(LOG_PROCESS, "the warden is gone: %s",
			  strerror(errno));
		close(take_fd(warden->fd));
	}
}

void warden_watch(struct warden *warden, pid_t group)
{
	warden_send(warden, group, true);
}

void warden_forget(struct warden *warden, pid_t group)
{
	warden_send(warden, group, false);
}

void warden_stop(struct warden *warden)
{
	if (warden->fd >= 0)
		close(take_fd(warden->fd));
	if (warden->pid > 0) {
		while (waitpid(warden->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	warden->pid = -1;
}
