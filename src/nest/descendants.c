#include "nest/descendants.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/proc.h"
#include "base/str.h"
#include "nest/nest.h"

/* More rounds than that mean that a process forks faster than we kill. */
#define ROUNDS 4200
#define ROUND_NS 500000
/* Nests end by themselves; one that has not by then is killed. */
#define NEST_ROUNDS 4000

/* Children from before: their parent executed us in its place. */
static struct pids spared;

/* By the parents of all processes: not every kernel has a list of children. */
struct err *descendants_list(struct pids *ret)
{
	DIR *proc = opendir("/proc");
	if (!proc)
		return err_errno(errno, "cannot list processes");
	struct err *err = NULL;
	pid_t self = getpid();
	for (const struct dirent *entry; !err && (entry = readdir(proc));) {
		uint64_t pid;
		struct proc_stat stat;
		if (!str_to_u64(entry->d_name, 10, &pid) ||
		    !proc_read_stat((pid_t)pid, 0, &stat) ||
		    stat.parent != self || pids_have(&spared, (pid_t)pid) ||
		    nest_owns((pid_t)pid))
			continue;
		err = vec_push(ret, (pid_t)pid);
	}
	closedir(proc);
	return err;
}

void descendants_spare_child(pid_t pid)
{
	err_ignore(vec_push(&spared, pid));
}

void descendants_spare(void)
{
	err_ignore(descendants_list(&spared));
}

/*
 * What a nest has in it would be orphaned if the nest were killed first: should
 * somebody kill us at that moment, nobody would end it.
 */
static void descendants_end_one(pid_t pid, int round)
{
	char name[PROC_NAME_MAX];
	if (round < NEST_ROUNDS && proc_read_name(pid, 0, name) &&
	    !strcmp(name, NEST_NAME)) {
		kill(pid, SIGCONT);
		kill(pid, NEST_WAKE_SIGNAL);
	} else {
		kill(pid, SIGKILL);
	}
	waitpid(pid, NULL, __WALL | WNOHANG);
}

void descendants_end(void)
{
	for (int round = 0; round < ROUNDS; round++) {
		_cleanup_(pids_freep) struct pids pids = {};
		err_ignore(descendants_list(&pids));
		for (size_t i = 0; i < pids.n; i++)
			descendants_end_one(pids.data[i], round);
		if (!pids.n)
			return;
		nanosleep(&(struct timespec){ .tv_nsec = ROUND_NS }, NULL);
	}
}
