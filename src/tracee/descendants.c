#include "tracee/descendants.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/macro.h"
#include "base/str.h"

/* More than that many rounds means that somebody forks faster than we kill. */
#define ROUNDS 200

static pid_t parent_of(const char *pid)
{
	char path[64], text[512];
	snprintf(path, sizeof(path), "/proc/%.20s/stat", pid);
	_cleanup_(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	ssize_t n = read(fd, text, sizeof(text) - 1);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	/* "pid (name) state ppid …": the name may hold anything. */
	const char *end = strrchr(text, ')');
	char state;
	int parent;
	if (!end || sscanf(end + 1, " %c %d", &state, &parent) != 2)
		return 0;
	return parent;
}

static bool kill_children(void)
{
	DIR *proc = opendir("/proc");
	if (!proc)
		return false;
	bool any = false;
	pid_t self = getpid();
	for (const struct dirent *entry; (entry = readdir(proc));) {
		uint64_t pid;
		if (!str_to_u64(entry->d_name, 10, &pid) ||
		    parent_of(entry->d_name) != self)
			continue;
		kill((pid_t)pid, SIGKILL);
		any = true;
	}
	closedir(proc);
	return any;
}

void descendants_end(void)
{
	for (int round = 0; round < ROUNDS; round++) {
		pid_t pid;
		while ((pid = waitpid(-1, NULL, __WALL | WNOHANG)) > 0)
			;
		if (pid < 0 && errno == ECHILD)
			return;
		kill_children();
		nanosleep(&(struct timespec){ .tv_nsec = 500000 }, NULL);
	}
}
