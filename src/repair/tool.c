#include "repair/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/interrupted.h"
#include "base/log.h"

#define SAID_MAX ((size_t)4 << 20)
#define TICK_MS 200

/* Messages are read: they have to be in English. */
static char **tool_environment(void)
{
	size_t n = 0, kept = 0;
	while (environ[n])
		n++;
	char **all = calloc(n + 2, sizeof(*all));
	if (!all)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		if (strncmp(environ[i], "LC_ALL=", 7) != 0)
			all[kept++] = environ[i];
	}
	static char english[] = "LC_ALL=C";
	all[kept] = english;
	return all;
}

static struct err *tool_spawn(char *const *argv, const char *folder, int out,
			      pid_t *ret)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none;
	_cleanup_(freep) char **environment = tool_environment();
	if (!environment)
		return err_nomem();
	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attributes);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, out, 1);
	posix_spawn_file_actions_adddup2(&actions, out, 2);
	if (folder)
		posix_spawn_file_actions_addchdir_np(&actions, folder);
	sigemptyset(&none);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setpgroup(&attributes, 0);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK |
						      POSIX_SPAWN_SETPGROUP);
	int failed = posix_spawnp(ret, argv[0], &actions, &attributes, argv,
				  environment);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	return failed ? err_errno(failed, "cannot run '%s'", argv[0]) : NULL;
}

/* Until it closes its output or time is over. */
static struct err *tool_listen(int fd, uint64_t deadline, struct str *said)
{
	char buffer[16384];
	while (!interrupted && clock_now() < deadline) {
		struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
		int ready = poll(&poll_fd, 1, TICK_MS);
		if (ready <= 0)
			continue;
		ssize_t n = read(fd, buffer, sizeof(buffer));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return NULL;
		if (said->n < SAID_MAX)
			TRY(str_append_n(said, buffer, (size_t)n));
	}
	return NULL;
}

static int tool_wait(pid_t pid, uint64_t deadline)
{
	int status = -1;
	for (;;) {
		pid_t got = waitpid(pid, &status, WNOHANG);
		if (got == pid)
			return status;
		if (got < 0 && errno != EINTR)
			return -1;
		if (interrupted || clock_now() >= deadline)
			kill(-pid, SIGKILL);
		poll(NULL, 0, 1);
	}
}

struct err *tool_call(char *const *argv, const char *folder, uint64_t limit_ns,
		      struct str *said, bool *ret)
{
	uint64_t deadline = clock_now() + limit_ns;
	int ends[2];
	pid_t pid;
	*ret = false;
	if (pipe2(ends, O_CLOEXEC) < 0)
		return err_errno(errno, "no pipe");
	struct err *err = tool_spawn(argv, folder, ends[1], &pid);
	close(ends[1]);
	if (!err)
		err = tool_listen(ends[0], deadline, said);
	close(ends[0]);
	TRY(err);
	int status = tool_wait(pid, deadline);
	/* What it left running does not outlive it. */
	kill(-pid, SIGKILL);
	if (interrupted)
		return err_create(ERR_INTERRUPTED, "interrupted");
	*ret = WIFEXITED(status) && !WEXITSTATUS(status);
	log_debug(LOG_REPAIR, "%s: %s in %.3f s", argv[0],
		  *ret ? "done" : "failed",
		  (double)(clock_now() - deadline + limit_ns) / 1e9);
	return NULL;
}
