#include "tracee/descendants.h"

#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/proc.h"
#include "base/str.h"

/* More rounds than that mean that a process forks faster than we kill. */
#define ROUNDS 200

/* Children from before: their parent executed us in its place. */
static struct pids spared;

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
		struct proc_stat stat;
		if (!str_to_u64(entry->d_name, 10, &pid) ||
		    !proc_read_stat((pid_t)pid, 0, &stat) ||
		    stat.parent != self || pids_have(&spared, (pid_t)pid))
			continue;
		each((pid_t)pid);
		any = true;
	}
	closedir(proc);
	return any;
}

static void descendant_spare(pid_t pid)
{
	err_ignore(vec_push(&spared, pid));
}

void descendants_spare(void)
{
	for_children(descendant_spare);
}

static void descendant_kill(pid_t pid)
{
	kill(pid, SIGKILL);
}

void descendants_end(void)
{
	for (int round = 0; round < ROUNDS; round++) {
		while (waitpid(-1, NULL, __WALL | WNOHANG) > 0)
			;
		if (!for_children(descendant_kill))
			return;
		nanosleep(&(struct timespec){ .tv_nsec = 500000 }, NULL);
	}
}
