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
#include "base/vec.h"

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

/* Children from before: somebody executed us in their parent's place. */
static VEC(pid_t) spared;

static bool is_spared(pid_t pid)
{
	for (size_t i = 0; i < spared.n; i++) {
		if (spared.data[i] == pid)
			return true;
	}
	return false;
}

/* Calls @each with every child that is not spared; true: there was one. */
static bool for_children(void (*each)(pid_t pid))
{
	DIR *proc = opendir("/proc");
	if (!proc)
		return false;
	bool any = false;
	pid_t self = getpid();
	for (const struct dirent *entry; (entry = readdir(proc));) {
		uint64_t pid;
		if (!str_to_u64(entry->d_name, 10, &pid) ||
		    parent_of(entry->d_name) != self || is_spared((pid_t)pid))
			continue;
		each((pid_t)pid);
		any = true;
	}
	closedir(proc);
	return any;
}

static void spare(pid_t pid)
{
	err_ignore(vec_push(&spared, pid));
}

void descendants_spare(void)
{
	for_children(spare);
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
}

void descendants_end(void)
{
	for (int round = 0; round < ROUNDS; round++) {
		while (waitpid(-1, NULL, __WALL | WNOHANG) > 0)
			;
		if (!for_children(end))
			return;
		nanosleep(&(struct timespec){ .tv_nsec = 500000 }, NULL);
	}
}
