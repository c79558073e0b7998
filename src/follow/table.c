/*
 * The calls that are followed, one row each.
 *
 * Left out on purpose: calls on descriptors that were reported when they were
 * opened (write, copy_file_range, sendfile); munmap, which the allocator makes
 * often, while a mapping that was there before a test and is gone after it is
 * rare; clone3, whose flags lie in memory where no filter sees them: the C
 * library makes each thread with it, while its fork() is clone and its
 * posix_spawn() ends in execve, which is reported as a possible child.
 */
#include <fcntl.h>
#include <linux/mman.h>
#include <linux/prctl.h>
#include <sched.h>
#include <sys/syscall.h>

#include "base/macro.h"
#include "follow/follow_internal.h"

/* Newer than some headers. */
#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif
#ifndef SYS_setxattrat
#define SYS_setxattrat 463
#define SYS_getxattrat 464
#define SYS_listxattrat 465
#define SYS_removexattrat 466
#endif

#define YES                                                                    \
	{                                                                      \
		.op = ALWAYS                                                   \
	}
#define WRITES(at)                                                             \
	{                                                                      \
		.op = ANY, .arg = (at), .value = OPEN_CHANGES                  \
	}
#define OPEN_CHANGES ((uint32_t)(O_ACCMODE | O_CREAT | O_TRUNC))
#define NAMED(at)                                                              \
	{                                                                      \
		.op = NONE, .arg = (at), .value = AT_EMPTY_PATH                \
	}

static const uint32_t fcntl_locks[] = { F_SETLK, F_SETLKW, F_OFD_SETLK,
					F_OFD_SETLKW, 0 };
static const uint32_t fcntl_asks[] = {
	F_SETLK, F_SETLKW, F_OFD_SETLK, F_OFD_SETLKW, F_GETLK, F_OFD_GETLK, 0
};
static const uint32_t prctl_sets[] = {
	PR_SET_PDEATHSIG,
	PR_SET_DUMPABLE,
	PR_SET_UNALIGN,
	PR_SET_KEEPCAPS,
	PR_SET_TIMING,
	PR_SET_NAME,
	PR_SET_SECCOMP,
	PR_CAPBSET_DROP,
	PR_SET_TSC,
	PR_SET_SECUREBITS,
	PR_SET_TIMERSLACK,
	PR_MCE_KILL,
	PR_SET_CHILD_SUBREAPER,
	PR_SET_NO_NEW_PRIVS,
	PR_SET_THP_DISABLE,
	PR_CAP_AMBIENT,
	PR_SET_SPECULATION_CTRL,
	57 /* PR_SET_IO_FLUSHER */,
	0,
};
static const uint32_t prctl_asks[] = {
	PR_GET_PDEATHSIG,
	PR_GET_DUMPABLE,
	PR_GET_KEEPCAPS,
	PR_GET_TIMING,
	PR_GET_NAME,
	PR_GET_SECCOMP,
	PR_GET_TSC,
	PR_GET_SECUREBITS,
	PR_GET_TIMERSLACK,
	PR_MCE_KILL_GET,
	PR_GET_CHILD_SUBREAPER,
	PR_GET_NO_NEW_PRIVS,
	PR_GET_THP_DISABLE,
	0,
};

#define SETS(number_, states_)                                                 \
	{                                                                      \
		.number = SYS_##number_, .sets = YES, .states = (states_)      \
	}
#define ASKS(number_, looks_)                                                  \
	{                                                                      \
		.number = SYS_##number_, .asks = YES, .looks = (looks_)        \
	}
/* Both: what it sets, it also tells or depends on. */
#define BOTH(number_, states_)                                                 \
	{                                                                      \
		.number = SYS_##number_, .sets = YES, .states = (states_),     \
		.asks = YES, .looks = (states_)                                \
	}
#define FILE_(number_, kind_, ...)                                             \
	{                                                                      \
		.number = SYS_##number_, .changes = YES, .kind = (kind_),      \
		__VA_ARGS__                                                    \
	}
#define LOOK_(number_, kind_, ...)                                             \
	{                                                                      \
		.number = SYS_##number_, .reads = YES, .read_kind = (kind_),   \
		__VA_ARGS__                                                    \
	}

/* clang-format off */
const struct call follow_calls[] = {
	/*
	 * First those whose arguments decide: the filter asks for them one
	 * after the other, also where a call is let pass.
	 */
	{ .number = SYS_openat, .waits = true, .changes = WRITES(A2), .kind = FOLLOW_OPEN,
	  .reads = YES, .read_kind = FOLLOW_READ,
	  .dir = A0, .path = A1, .last = LAST_OPEN, .flags = A2, .mode = A3 },
	{ .number = SYS_mmap, .sets = { .op = MAPS, .arg = A3 },
	  .states = STATE_MAPPINGS },
	{ .number = SYS_fcntl, .waits = true,
	  .sets = { .op = ONE_OF, .arg = A1, .list = fcntl_locks },
	  .states = STATE_LOCKS,
	  .asks = { .op = ONE_OF, .arg = A1, .list = fcntl_asks },
	  .looks = STATE_LOCKS },
	{ .number = SYS_open, .waits = true, .changes = WRITES(A1), .kind = FOLLOW_OPEN,
	  .reads = YES, .read_kind = FOLLOW_READ,
	  .path = A0, .last = LAST_OPEN, .flags = A1, .mode = A2 },
	{ .number = SYS_newfstatat, .reads = NAMED(A3), .read_kind = FOLLOW_LOOK,
	  .dir = A0, .path = A1, .last = LAST_AT_NOFOLLOW, .at = A3 },
	{ .number = SYS_statx, .reads = NAMED(A2), .read_kind = FOLLOW_LOOK,
	  .dir = A0, .path = A1, .last = LAST_AT_NOFOLLOW, .at = A2 },
	{ .number = SYS_prctl,
	  .sets = { .op = ONE_OF, .arg = A0, .list = prctl_sets },
	  .states = STATE_PRCTL,
	  .asks = { .op = ONE_OF, .arg = A0, .list = prctl_asks },
	  .looks = STATE_PRCTL },
	{ .number = SYS_clone,
	  .sets = { .op = NONE, .arg = A0, .value = CLONE_THREAD },
	  .states = STATE_CHILDREN },
	{ .number = SYS_prlimit64, .sets = { .op = GIVEN, .arg = A2 },
	  .states = STATE_LIMITS,
	  .asks = { .op = GIVEN, .arg = A3 }, .looks = STATE_LIMITS },
	{ .number = SYS_sigaltstack, .sets = { .op = GIVEN, .arg = A0 },
	  .states = STATE_STACK,
	  .asks = { .op = GIVEN, .arg = A1 }, .looks = STATE_STACK },
	{ .number = SYS_personality,
	  .sets = { .op = NOT, .arg = A0, .value = 0xffffffff },
	  .states = STATE_NAMESPACE, .asks = YES, .looks = STATE_NAMESPACE },
	{ .number = SYS_open_by_handle_at, .waits = true, .changes = WRITES(A2),
	  .kind = FOLLOW_OPEN, .reads = YES, .read_kind = FOLLOW_READ,
	  .flags = A2 },

	/* Files: changed. */
	{ .number = SYS_openat2, .waits = true, .shape = SHAPE_OPENAT2,
	  .changes = YES, .kind = FOLLOW_OPEN,
	  .reads = YES, .read_kind = FOLLOW_READ,
	  .dir = A0, .path = A1, .last = LAST_OPEN },
	FILE_(creat, FOLLOW_OPEN, .waits = true, .shape = SHAPE_CREAT, .path = A0,
	      .last = LAST_YES, .mode = A1),
	FILE_(truncate, FOLLOW_CHANGE, .path = A0, .last = LAST_YES),
	FILE_(ftruncate, FOLLOW_CHANGE, .dir = A0),
	FILE_(fallocate, FOLLOW_CHANGE, .dir = A0, .flags = A1),
	FILE_(mkdir, FOLLOW_CREATE, .path = A0, .mode = A1),
	FILE_(mkdirat, FOLLOW_CREATE, .dir = A0, .path = A1, .mode = A2),
	FILE_(mknod, FOLLOW_CREATE, .path = A0, .mode = A1),
	FILE_(mknodat, FOLLOW_CREATE, .dir = A0, .path = A1, .mode = A2),
	FILE_(symlink, FOLLOW_CREATE, .path = A1),
	FILE_(symlinkat, FOLLOW_CREATE, .dir = A1, .path = A2),
	FILE_(link, FOLLOW_LINK, .path = A0, .path2 = A1),
	FILE_(linkat, FOLLOW_LINK, .dir = A0, .path = A1, .dir2 = A2,
	      .path2 = A3, .last = LAST_AT_FOLLOW, .at = A4, .flags = A4),
	FILE_(unlink, FOLLOW_REMOVE, .path = A0),
	FILE_(unlinkat, FOLLOW_REMOVE, .dir = A0, .path = A1, .flags = A2),
	FILE_(rmdir, FOLLOW_REMOVE, .path = A0),
	FILE_(rename, FOLLOW_RENAME, .path = A0, .path2 = A1),
	FILE_(renameat, FOLLOW_RENAME, .dir = A0, .path = A1, .dir2 = A2,
	      .path2 = A3),
	FILE_(renameat2, FOLLOW_RENAME, .dir = A0, .path = A1, .dir2 = A2,
	      .path2 = A3, .flags = A4),
	FILE_(chmod, FOLLOW_MODE, .path = A0, .last = LAST_YES, .mode = A1),
	FILE_(fchmod, FOLLOW_MODE, .dir = A0, .mode = A1),
	FILE_(fchmodat, FOLLOW_MODE, .dir = A0, .path = A1, .last = LAST_YES,
	      .mode = A2),
	FILE_(fchmodat2, FOLLOW_MODE, .dir = A0, .path = A1,
	      .last = LAST_AT_NOFOLLOW, .at = A3, .mode = A2),
	FILE_(chown, FOLLOW_OWNER, .path = A0, .last = LAST_YES),
	FILE_(lchown, FOLLOW_OWNER, .path = A0),
	FILE_(fchown, FOLLOW_OWNER, .dir = A0),
	FILE_(fchownat, FOLLOW_OWNER, .dir = A0, .path = A1,
	      .last = LAST_AT_NOFOLLOW, .at = A4),
	FILE_(utime, FOLLOW_TIMES, .path = A0, .last = LAST_YES),
	FILE_(utimes, FOLLOW_TIMES, .path = A0, .last = LAST_YES),
	FILE_(futimesat, FOLLOW_TIMES, .dir = A0, .path = A1, .last = LAST_YES),
	FILE_(utimensat, FOLLOW_TIMES, .dir = A0, .path = A1,
	      .last = LAST_AT_NOFOLLOW, .at = A3),
	FILE_(setxattr, FOLLOW_XATTR, .path = A0, .last = LAST_YES),
	FILE_(lsetxattr, FOLLOW_XATTR, .path = A0),
	FILE_(fsetxattr, FOLLOW_XATTR, .dir = A0),
	FILE_(setxattrat, FOLLOW_XATTR, .dir = A0, .path = A1,
	      .last = LAST_AT_NOFOLLOW, .at = A2),
	FILE_(removexattr, FOLLOW_XATTR, .path = A0, .last = LAST_YES),
	FILE_(lremovexattr, FOLLOW_XATTR, .path = A0),
	FILE_(fremovexattr, FOLLOW_XATTR, .dir = A0),
	FILE_(removexattrat, FOLLOW_XATTR, .dir = A0, .path = A1,
	      .last = LAST_AT_NOFOLLOW, .at = A2),
	/* A socket's file, or a port. */
	{ .number = SYS_bind, .shape = SHAPE_ADDRESS,
	  .changes = YES, .kind = FOLLOW_CREATE, .path = A1,
	  .sets = YES, .states = STATE_PORTS,
	  .asks = YES, .looks = STATE_PORTS },

	/* Files: read. */
	{ .number = SYS_execve, .reads = YES, .read_kind = FOLLOW_READ,
	  .path = A0, .last = LAST_YES, .sets = YES, .states = STATE_CHILDREN },
	{ .number = SYS_execveat, .reads = YES, .read_kind = FOLLOW_READ,
	  .dir = A0, .path = A1, .last = LAST_AT_NOFOLLOW, .at = A4,
	  .sets = YES, .states = STATE_CHILDREN },
	{ .number = SYS_connect, .waits = true, .shape = SHAPE_ADDRESS,
	  .reads = YES, .read_kind = FOLLOW_READ, .path = A1, .last = LAST_YES,
	  .asks = YES, .looks = STATE_PORTS },
	LOOK_(stat, FOLLOW_LOOK, .path = A0, .last = LAST_YES),
	LOOK_(lstat, FOLLOW_LOOK, .path = A0),
	LOOK_(access, FOLLOW_LOOK, .path = A0, .last = LAST_YES),
	LOOK_(faccessat, FOLLOW_LOOK, .dir = A0, .path = A1, .last = LAST_YES),
	LOOK_(faccessat2, FOLLOW_LOOK, .dir = A0, .path = A1,
	      .last = LAST_AT_NOFOLLOW, .at = A3),
	LOOK_(readlink, FOLLOW_LOOK, .path = A0),
	LOOK_(readlinkat, FOLLOW_LOOK, .dir = A0, .path = A1),
	LOOK_(getxattr, FOLLOW_LOOK, .path = A0, .last = LAST_YES),
	LOOK_(lgetxattr, FOLLOW_LOOK, .path = A0),
	LOOK_(getxattrat, FOLLOW_LOOK, .dir = A0, .path = A1,
	      .last = LAST_AT_NOFOLLOW, .at = A2),
	LOOK_(listxattr, FOLLOW_LOOK, .path = A0, .last = LAST_YES),
	LOOK_(llistxattr, FOLLOW_LOOK, .path = A0),
	LOOK_(listxattrat, FOLLOW_LOOK, .dir = A0, .path = A1,
	      .last = LAST_AT_NOFOLLOW, .at = A2),
	LOOK_(getdents, FOLLOW_LIST, .dir = A0),
	LOOK_(getdents64, FOLLOW_LIST, .dir = A0),

	/* Process state. */
	{ .number = SYS_chdir, .reads = YES, .read_kind = FOLLOW_READ,
	  .path = A0, .last = LAST_YES,
	  .sets = YES, .states = STATE_DIRECTORY, .moves = true },
	{ .number = SYS_fchdir, .reads = YES, .read_kind = FOLLOW_READ,
	  .dir = A0, .sets = YES, .states = STATE_DIRECTORY, .moves = true },
	ASKS(getcwd, STATE_DIRECTORY),
	{ .number = SYS_chroot, .reads = YES, .read_kind = FOLLOW_READ,
	  .path = A0, .last = LAST_YES,
	  .sets = YES, .states = STATE_ROOT, .moves = true, .roots = true },
	{ .number = SYS_pivot_root, .sets = YES,
	  .states = STATE_ROOT | STATE_NAMESPACE, .moves = true, .roots = true },
	BOTH(umask, STATE_UMASK),
	SETS(setrlimit, STATE_LIMITS),
	ASKS(getrlimit, STATE_LIMITS),
	SETS(setpriority, STATE_PRIORITY),
	SETS(sched_setscheduler, STATE_PRIORITY),
	SETS(sched_setparam, STATE_PRIORITY),
	SETS(sched_setattr, STATE_PRIORITY),
	SETS(ioprio_set, STATE_PRIORITY),
	ASKS(getpriority, STATE_PRIORITY),
	ASKS(sched_getscheduler, STATE_PRIORITY),
	ASKS(sched_getparam, STATE_PRIORITY),
	ASKS(sched_getattr, STATE_PRIORITY),
	ASKS(ioprio_get, STATE_PRIORITY),
	SETS(sched_setaffinity, STATE_AFFINITY),
	ASKS(sched_getaffinity, STATE_AFFINITY),
	{ .number = SYS_setitimer, .sets = YES, .states = STATE_TIMERS,
	  .asks = { .op = GIVEN, .arg = A2 }, .looks = STATE_TIMERS },
	BOTH(alarm, STATE_TIMERS),
	SETS(timer_create, STATE_TIMERS),
	SETS(timer_settime, STATE_TIMERS),
	SETS(timer_delete, STATE_TIMERS),
	ASKS(getitimer, STATE_TIMERS),
	ASKS(timer_gettime, STATE_TIMERS),
	SETS(setuid, STATE_IDS),
	SETS(setgid, STATE_IDS),
	SETS(setreuid, STATE_IDS),
	SETS(setregid, STATE_IDS),
	SETS(setresuid, STATE_IDS),
	SETS(setresgid, STATE_IDS),
	SETS(setfsuid, STATE_IDS),
	SETS(setfsgid, STATE_IDS),
	SETS(setgroups, STATE_IDS),
	SETS(capset, STATE_IDS),
	ASKS(getuid, STATE_IDS),
	ASKS(geteuid, STATE_IDS),
	ASKS(getgid, STATE_IDS),
	ASKS(getegid, STATE_IDS),
	ASKS(getresuid, STATE_IDS),
	ASKS(getresgid, STATE_IDS),
	ASKS(getgroups, STATE_IDS),
	ASKS(capget, STATE_IDS),
	BOTH(shmget, STATE_IPC),
	BOTH(shmctl, STATE_IPC),
	BOTH(semget, STATE_IPC),
	BOTH(semctl, STATE_IPC),
	BOTH(msgget, STATE_IPC),
	BOTH(msgctl, STATE_IPC),
	BOTH(mq_open, STATE_IPC),
	BOTH(mq_unlink, STATE_IPC),
	SETS(shmat, STATE_IPC | STATE_MAPPINGS),
	SETS(shmdt, STATE_IPC | STATE_MAPPINGS),
	SETS(remap_file_pages, STATE_MAPPINGS),
	SETS(listen, STATE_PORTS),
	{ .number = SYS_flock, .waits = true,
	  .sets = YES, .states = STATE_LOCKS,
	  .asks = YES, .looks = STATE_LOCKS },
	SETS(fork, STATE_CHILDREN),
	SETS(vfork, STATE_CHILDREN),
	{ .number = SYS_wait4, .waits = true,
	  .asks = YES, .looks = STATE_CHILDREN },
	{ .number = SYS_waitid, .waits = true,
	  .asks = YES, .looks = STATE_CHILDREN },
	BOTH(setsid, STATE_SESSION),
	BOTH(setpgid, STATE_SESSION),
	ASKS(getpgrp, STATE_SESSION),
	ASKS(getpgid, STATE_SESSION),
	ASKS(getsid, STATE_SESSION),
	{ .number = SYS_unshare, .sets = YES, .states = STATE_NAMESPACE,
	  .moves = true, .roots = true },
	{ .number = SYS_setns, .sets = YES, .states = STATE_NAMESPACE,
	  .moves = true, .roots = true },
	{ .number = SYS_mount, .sets = YES, .states = STATE_NAMESPACE,
	  .moves = true },
	{ .number = SYS_umount2, .sets = YES, .states = STATE_NAMESPACE,
	  .moves = true },
	{ .number = SYS_move_mount, .sets = YES, .states = STATE_NAMESPACE,
	  .moves = true },
	SETS(seccomp, STATE_PRCTL),
	SETS(sethostname, STATE_NAMESPACE),
	SETS(setdomainname, STATE_NAMESPACE),
};
/* clang-format on */
const size_t follow_calls_n = ARRAY_SIZE(follow_calls);

static bool table_lists_value(const uint32_t *list, uint32_t value)
{
	while (*list && *list != value)
		list++;
	return *list != 0;
}

bool when_holds(const struct when *when, const uint64_t args[6])
{
	uint64_t whole = when->arg ? args[when->arg - 1] : 0;
	uint32_t half = (uint32_t)whole;
	switch (when->op) {
	case NEVER:
		return false;
	case ALWAYS:
		return true;
	case ANY:
		return half & when->value;
	case NONE:
		return !(half & when->value);
	case GIVEN:
		return whole != 0;
	case NOT:
		return half != when->value;
	case ONE_OF:
		return table_lists_value(when->list, half);
	case MAPS:
		if (half & MAP_DENYWRITE)
			return false;
		return half & MAP_SHARED || !(half & MAP_ANONYMOUS);
	}
	BUG("condition %d", when->op);
}

size_t call_conditions(const struct call *call, unsigned flags,
		       const struct when *ret[4])
{
	static const struct when always = YES;
	size_t n = 0;
	bool reads = flags & FOLLOW_READS;
	if (flags & FOLLOW_FILES && call->changes.op)
		ret[n++] = &call->changes;
	if (flags & FOLLOW_FILES && reads && call->reads.op)
		ret[n++] = &call->reads;
	if (flags & FOLLOW_STATES && call->sets.op)
		ret[n++] = &call->sets;
	if (flags & FOLLOW_STATES && reads && call->asks.op)
		ret[n++] = &call->asks;
	if (!n && flags & FOLLOW_FILES && (call->moves || call->roots))
		ret[n++] = &always;
	return n;
}
