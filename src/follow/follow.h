/*
 * Following the system calls of a process and of everything it starts: those
 * that create, change or remove files, those that change what a process hands
 * on from test to test and, where asked for, those that read files.
 *
 * The kernel holds such a call back and notifies us (a seccomp filter with user
 * notification); a thread of ours examines it, calls the sink, and lets the call
 * continue unchanged. All other calls run untouched. The filter is inherited,
 * also by programs that are executed, so that nothing is missed: neither calls
 * of static programs nor those that the C library makes internally.
 *
 * Invariants:
 *  1. The sink is called before the call happens, in the follower's thread, while
 *     the caller waits: what the sink sees in the file system is the state
 *     before. It must be quick, and must not wait for the process.
 *  2. A call is reported at least once; after a signal the kernel may report it
 *     again.
 *  3. After follow_destroy() the remaining processes' calls continue unreported.
 *     Once this process is gone they fail (ENOSYS), so these processes must be
 *     killed first. Forks of a followed process (checkpoint.h) have the filter,
 *     too, and share its follower.
 *  4. A process is followed once: the kernel allows one listener (EBUSY).
 *
 * What it does not see: what io_uring does, calls of 32-bit programs, and calls
 * of processes that were there before (a server that does the work). That there
 * was any of the first two is noticed (follow_unseen()).
 *
 * Signals: a call that waits to be looked at can be taken back by a signal for
 * some 2 µs. The kernel then makes it again, unless the handler was installed
 * without SA_RESTART: EINTR, also from calls that never fail so. In a process
 * that is attached to, the tracer prevents it (tracee_remake_calls()); in its
 * children, and in commands, it is possible, though rare. Before Linux 5.19
 * this lasts until the sink is done.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

struct follow;
struct thread;

enum follow_kind {
	/*
	 * Opened for writing, or created, or cut off: @flags as of open(2),
	 * @mode. Files without a name (O_TMPFILE) are not reported.
	 */
	FOLLOW_OPEN,
	FOLLOW_CREATE, /* mkdir, mknod, symlink, bind of a socket file */
	FOLLOW_LINK,   /* @path gets @path2 as another name */
	FOLLOW_REMOVE, /* unlink, rmdir */
	FOLLOW_RENAME, /* @path becomes @path2; @flags as of renameat2(2) */
	FOLLOW_CHANGE, /* content through the name: truncate; or @path NULL */
	FOLLOW_MODE,
	FOLLOW_OWNER,
	FOLLOW_TIMES,
	FOLLOW_XATTR,
	/* Only with FOLLOW_READS. */
	FOLLOW_READ,   /* opened for reading, executed */
	FOLLOW_LOOK,   /* stat, access, readlink: whether and what it is */
	FOLLOW_LIST,   /* a folder is listed */
	FOLLOW_LOOKED, /* a state was asked for: @states */
	/* Process state: @states may change. */
	FOLLOW_STATE,
};

/* Kinds of process state that only system calls change, as bits. */
enum follow_state {
	STATE_DIRECTORY = 1 << 0, /* chdir, fchdir */
	STATE_ROOT = 1 << 1,	  /* chroot, pivot_root */
	STATE_UMASK = 1 << 2,
	STATE_LIMITS = 1 << 3,	 /* setrlimit, prlimit */
	STATE_PRIORITY = 1 << 4, /* setpriority, sched_setscheduler, … */
	STATE_AFFINITY = 1 << 5,
	STATE_TIMERS = 1 << 6,	  /* setitimer, alarm, timer_* */
	STATE_IDS = 1 << 7,	  /* set*id, setgroups */
	STATE_PRCTL = 1 << 8,	  /* name, dumpable, parent-death signal, … */
	STATE_MAPPINGS = 1 << 9,  /* mmap of files or shared; not munmap */
	STATE_IPC = 1 << 10,	  /* shmget, semget, msgget, mq_open, *ctl */
	STATE_PORTS = 1 << 11,	  /* bind, listen */
	STATE_LOCKS = 1 << 12,	  /* flock, fcntl locks */
	STATE_CHILDREN = 1 << 13, /* fork, vfork, clone, execve; not clone3 */
	STATE_STACK = 1 << 14,	  /* sigaltstack */
	STATE_SESSION = 1 << 15,  /* setsid, setpgid */
	STATE_NAMESPACE = 1 << 16, /* unshare, setns, personality, mount */
	STATE_ALL = (1 << 17) - 1,
};

struct follow_event {
	enum follow_kind kind;
	long number; /* of the system call */
	pid_t tid;   /* who makes it */
	/*
	 * Absolute. Symbolic links in the folders are resolved, one at the end
	 * is followed where the call follows it. NULL where it is not known.
	 */
	const char *path;
	const char *path2;
	/*
	 * @path as the caller gave it, absolute: links on the way may lead
	 * elsewhere another time. NULL: by a descriptor, or it is not known.
	 */
	const char *given;
	const char *given2;
	uint64_t flags;
	unsigned mode;
	unsigned states;
	uint64_t args[2]; /* of FOLLOW_STATE and FOLLOW_LOOKED: the first two */
	bool relative;	  /* the caller gave a path relative to its directory */
};

enum follow_flags {
	FOLLOW_READS = 1 << 0,	/* report reading, too */
	FOLLOW_FILES = 1 << 1,	/* report what concerns files */
	FOLLOW_STATES = 1 << 2, /* report what concerns process state */
};

struct follow_options {
	unsigned flags;
	/* Called in the follower's thread. */
	void (*sink)(void *data, const struct follow_event *event);
	void *data;
};

/*
 * From now on the process of @thread, which is stopped, and everything it
 * starts is followed. Its other threads must be stopped, too. Where the kernel
 * or a sandbox does not allow it, an error of kind ERR_INTERNAL with its
 * err_number(), and nothing has changed.
 */
struct err *follow_attach(struct thread *thread,
			  const struct follow_options *options,
			  struct follow **ret) _must_check_;
/*
 * The same for a program that is about to be executed. The parent prepares,
 * its forked child calls follow_child() just before execve(2), and the parent
 * calls follow_begin() after fork(); it waits until the child came that far.
 * follow_child() is async-signal-safe, leaves no descriptor open and does nothing
 * where it is not allowed: then follow_begin() fails and the child goes on.
 */
struct err *follow_prepare(const struct follow_options *options,
			   struct follow **ret) _must_check_;
void follow_child(struct follow *follow);
struct err *follow_begin(struct follow *follow) _must_check_;

void follow_destroy(struct follow *follow); /* ends the thread; NULL is fine */
static inline void follow_destroyp(struct follow **follow)
{
	follow_destroy(*follow);
}

/* Is no process left that is followed? */
bool follow_is_alone(const struct follow *follow);

/* The error for users who demand following; @why: what prevents it. */
struct err *follow_impossible(const struct err *why) _must_check_;

/* What happened that could not be followed, as bits. */
enum follow_unseen {
	FOLLOW_RINGS = 1 << 0,	 /* io_uring was set up */
	FOLLOW_FOREIGN = 1 << 1, /* a 32-bit program changed files */
};
unsigned follow_unseen(const struct follow *follow);
/* One of them as a sentence for users. */
const char *follow_unseen_text(enum follow_unseen what);

struct follow_counts {
	uint64_t told; /* calls that were held back */
	uint64_t ns;   /* that our side took for them */
};
struct follow_counts follow_counts(const struct follow *follow);
