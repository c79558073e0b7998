#include "nest/descendants.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/proc.h"
#include "base/str.h"
#include "nest/nest.h"

/* More rounds than that mean that a process forks faster than we kill. */
#define ROUNDS 200

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

void descendants_end(void)
{
	for (int round = 0; round < ROUNDS; round++) {
		_cleanup_(pids_freep) struct pids pids = {};
		err_ignore(descendants_list(&pids));
		for (size_t i = 0; i < pids.n; i++) {
			kill(pids.data[i], SIGKILL);
			waitpid(pids.data[i], NULL, __WALL | WNOHANG);
		}
		if (!pids.n)
			return;
		nanosleep(&(struct timespec){ .tv_nsec = 500000 }, NULL);
	}
}
