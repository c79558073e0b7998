/* Models of what is ready at once: children that have ended, events. */
#include "models/order_internal.h"

#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* ---- children ---- */

#define CHILDREN 64
#define NEAR 256   /* process ids after the first that has ended */
#define PATIENCE 5 /* times 200 µs, for the others to end, too */

/*
 * Children that have ended, the one that the kernel would report first. There
 * is no list of children everywhere; those that are started together have ids
 * close to each other, and asking about one that is not a child does no harm.
 */
static size_t count_ended_children(pid_t first, pid_t *pids,
				   size_t *ret_running)
{
	size_t n = 0;
	pids[n++] = first;
	*ret_running = 0;
	for (pid_t pid = first - NEAR / 4; pid < first + NEAR; pid++) {
		siginfo_t info = {};
		if (pid <= 1 || pid == first)
			continue;
		long error = sys_call(SYS_waitid, P_PID, pid, (long)&info,
				      WEXITED | WNOHANG | WNOWAIT, 0, 0);
		if (error)
			continue;
		if (!info.si_pid)
			++*ret_running;
		else if (n < CHILDREN)
			pids[n++] = pid;
	}
	return n;
}

/* Which of several children that have ended; 0: it is the library's to say. */
static pid_t choose_child(enum wire_model model, int options, uintptr_t caller)
{
	pid_t pids[CHILDREN];
	siginfo_t info = {};
	if (options & ~(WNOHANG | WEXITED | WNOWAIT) ||
	    !choose_wanted(model, caller))
		return 0;
	if (sys_call(SYS_waitid, P_ALL, 0, (long)&info,
		     WEXITED | WNOWAIT | WNOHANG, 0, 0) ||
	    !info.si_pid)
		return 0;
	size_t running = 0,
	       n = count_ended_children(info.si_pid, pids, &running);
	for (unsigned i = 0; running && !(options & WNOHANG) && i < PATIENCE;
	     i++) {
		struct timespec pause = { .tv_nsec = 200000 };
		sys_call(SYS_nanosleep, (long)&pause, 0, 0, 0, 0, 0);
		n = count_ended_children(info.si_pid, pids, &running);
	}
	if (n < 2)
		return 0;
	struct choose_keys keys = {
		.equal = n,
		.object = choose_mix(n, choose_object((const void *)caller)),
	};
	uint64_t pick = choose_pick(model, n, keys);
	choose_argument("%zu children have ended", n);
	choose_did("another one was reported first");
	return pick ? pids[pick] : 0;
}

/* Until one has ended; it stays to be waited for. False: as the library does. */
static bool await_ended_child(int options, enum wire_model model,
			      uintptr_t caller)
{
	siginfo_t info = {};
	CHOOSE_NEXT(waitid, false)
	if (options || !choose_wanted(model, caller))
		return false;
	/* The library's: it is a point of cancellation. */
	int saved = errno;
	int result = next(P_ALL, 0, &info, WEXITED | WNOWAIT);
	if (!result)
		errno = saved;
	return !result;
}

static pid_t native_wait4(pid_t pid, int *status, int options,
			  struct rusage *usage)
{
	CHOOSE_NEXT(wait4, -1)
	return next(pid, status, options, usage);
}

struct child_waiting {
	enum wire_model model;
	uintptr_t caller;
	int *status;
	int options;
	struct rusage *usage;
};

/* True: @ret is the result. An error of the first wait is found again. */
static bool wait_any(const struct child_waiting *waiting, pid_t *ret)
{
	if (!waiting->options &&
	    !await_ended_child(waiting->options, waiting->model,
			       waiting->caller)) {
		*ret = -1;
		return choose_wanted(waiting->model, waiting->caller);
	}
	pid_t pid =
		choose_child(waiting->model, waiting->options, waiting->caller);
	if (!pid)
		return false;
	int saved = errno;
	pid_t got = native_wait4(pid, waiting->status, WNOHANG, waiting->usage);
	if (got != pid) { /* another thread was quicker */
		errno = saved;
		return false;
	}
	*ret = got;
	return true;
}

_export_ pid_t wait(int *status)
{
	CHOOSE_NEXT(wait, -1)
	struct child_waiting waiting = { WIRE_MODEL_wait, CHOOSE_CALLER(),
					 status, 0, NULL };
	pid_t pid = 0;
	return wait_any(&waiting, &pid) ? pid : next(status);
}

_export_ pid_t waitpid(pid_t which, int *status, int options)
{
	CHOOSE_NEXT(waitpid, -1)
	struct child_waiting waiting = { WIRE_MODEL_waitpid, CHOOSE_CALLER(),
					 status, options, NULL };
	pid_t pid = 0;
	return which == -1 && wait_any(&waiting, &pid)
		       ? pid
		       : next(which, status, options);
}

_export_ pid_t wait4(pid_t which, int *status, int options,
		     struct rusage *usage)
{
	CHOOSE_NEXT(wait4, -1)
	struct child_waiting waiting = { WIRE_MODEL_wait4, CHOOSE_CALLER(),
					 status, options, usage };
	pid_t pid = 0;
	return which == -1 && wait_any(&waiting, &pid)
		       ? pid
		       : next(which, status, options, usage);
}

_export_ pid_t wait3(int *status, int options, struct rusage *usage)
{
	CHOOSE_NEXT(wait3, -1)
	struct child_waiting waiting = { WIRE_MODEL_wait4, CHOOSE_CALLER(),
					 status, options, usage };
	pid_t pid = 0;
	return wait_any(&waiting, &pid) ? pid : next(status, options, usage);
}

_export_ int waitid(idtype_t type, id_t id, siginfo_t *info, int options)
{
	CHOOSE_NEXT(waitid, -1)
	if (type != P_ALL || !(options & WEXITED) || options & WNOWAIT)
		return next(type, id, info, options);
	if (!(options & ~WEXITED) &&
	    choose_wanted(WIRE_MODEL_waitid, CHOOSE_CALLER()) &&
	    next(P_ALL, 0, info, WEXITED | WNOWAIT))
		return -1;
	pid_t pid = choose_child(WIRE_MODEL_waitid, options, CHOOSE_CALLER());
	if (pid && info) {
		int saved = errno;
		info->si_pid = 0;
		if (!next(P_PID, (id_t)pid, info, options | WNOHANG) &&
		    info->si_pid == pid)
			return 0;
		errno = saved;
	}
	return next(type, id, info, options);
}

/* ---- events ---- */

static int permute_events(enum wire_model model, uintptr_t caller, int epoll,
			  struct epoll_event *events, int n)
{
	if (n < 2 || !choose_wanted(model, caller))
		return n;
	uint64_t equal = choose_hash(events, (size_t)n * sizeof(*events));
	struct choose_keys keys = {
		.equal = equal,
		.object = choose_mix(equal, (uint64_t)epoll),
	};
	uint64_t pick =
		choose_pick(model, choose_permutations((size_t)n), keys);
	choose_argument("%d events", n);
	choose_did("events came in another order");
	choose_permute(pick, events, (size_t)n, sizeof(*events));
	return n;
}

_export_ int epoll_wait(int epoll, struct epoll_event *events, int room,
			int timeout)
{
	CHOOSE_NEXT(epoll_wait, -1)
	return permute_events(WIRE_MODEL_epoll_wait, CHOOSE_CALLER(), epoll,
			      events, next(epoll, events, room, timeout));
}

_export_ int epoll_pwait(int epoll, struct epoll_event *events, int room,
			 int timeout, const sigset_t *mask)
{
	CHOOSE_NEXT(epoll_pwait, -1)
	return permute_events(WIRE_MODEL_epoll_pwait, CHOOSE_CALLER(), epoll,
			      events, next(epoll, events, room, timeout, mask));
}

_export_ int epoll_pwait2(int epoll, struct epoll_event *events, int room,
			  const struct timespec *timeout, const sigset_t *mask)
{
	CHOOSE_NEXT(epoll_pwait2, -1)
	return permute_events(WIRE_MODEL_epoll_pwait, CHOOSE_CALLER(), epoll,
			      events, next(epoll, events, room, timeout, mask));
}

/* ---- time that is left ---- */

/* Linux says how much; others leave what was there, or anything. */
_export_ int select(int n, fd_set *reading, fd_set *writing, fd_set *others,
		    struct timeval *timeout)
{
	CHOOSE_NEXT(select, -1)
	struct timeval before = {};
	bool wanted =
		timeout && choose_wanted(WIRE_MODEL_select, CHOOSE_CALLER());
	if (wanted)
		before = *timeout;
	int result = next(n, reading, writing, others, timeout);
	if (!wanted || result < 0)
		return result;
	struct choose_keys keys = order_array_keys(&before, sizeof(before));
	keys.object = choose_mix(keys.equal, choose_object(timeout));
	uint64_t pick = choose_pick(WIRE_MODEL_select, 4, keys);
	choose_argument("time-out %zd s %zd µs", (ssize_t)before.tv_sec,
			(ssize_t)before.tv_usec);
	choose_did(pick == 1   ? "the time-out was not changed"
		   : pick == 2 ? "the time-out was 0 afterwards"
			       : "the time-out was another afterwards");
	if (pick == 1)
		*timeout = before;
	else if (pick == 2)
		*timeout = (struct timeval){};
	else if (pick == 3)
		*timeout =
			(struct timeval){ before.tv_sec + 1, before.tv_usec };
	return result;
}
