/*
 * Models of calls that a signal interrupts without any handler: Linux lets them
 * fail with EINTR once the process was stopped and continues (signal(7),
 * "Interruption of system calls and library functions by stop signals"). Only
 * calls that would wait can be.
 */
#include "models/short_internal.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>

/* The call that follows an interrupted one is not: loops get on. */
static __thread bool again __attribute__((tls_model("initial-exec")));

static bool short_interrupt_call(enum wire_model model, uint64_t key)
{
	if (again) {
		again = false;
		return false;
	}
	struct choose_keys keys = {
		.equal = choose_mix(model, key),
		.object = choose_mix(model, key),
	};
	if (!choose_pick(model, 2, keys))
		return false;
	choose_did("failed with EINTR, as after a stop signal");
	again = true;
	errno = EINTR;
	return true;
}

/* ---- signals ---- */

static bool signal_pending(const sigset_t *set)
{
	uint64_t pending = 0;
	sys_call(SYS_rt_sigpending, (long)&pending, sizeof(pending), 0, 0, 0,
		 0);
	return !sys_readable((uintptr_t)set) ||
	       pending & *(const uint64_t *)set;
}

_export_ int sigtimedwait(const sigset_t *set, siginfo_t *info,
			  const struct timespec *timeout)
{
	CHOOSE_NEXT(sigtimedwait, -1)
	if (choose_wanted(WIRE_MODEL_sigtimedwait, CHOOSE_CALLER()) &&
	    !signal_pending(set) &&
	    (!timeout || !sys_readable((uintptr_t)timeout) || timeout->tv_sec ||
	     timeout->tv_nsec) &&
	    short_interrupt_call(WIRE_MODEL_sigtimedwait, 0))
		return -1;
	return next(set, info, timeout);
}

_export_ int sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
	CHOOSE_NEXT(sigwaitinfo, -1)
	if (choose_wanted(WIRE_MODEL_sigwaitinfo, CHOOSE_CALLER()) &&
	    !signal_pending(set) &&
	    short_interrupt_call(WIRE_MODEL_sigwaitinfo, 0))
		return -1;
	return next(set, info);
}

/* ---- semaphores ---- */

#define OPERATIONS 16

/*
 * First as if it were not allowed to wait: done, or failed for another reason,
 * there was nothing to interrupt. errno is what it was then.
 */
static bool semaphore_waits(int id, const struct sembuf *operations, size_t n,
			    int (*next)(int, struct sembuf *, size_t), int *ret)
{
	struct sembuf copy[OPERATIONS];
	*ret = 0;
	if (!n || n > OPERATIONS || !sys_readable((uintptr_t)operations) ||
	    !sys_readable((uintptr_t)(operations + n) - 8))
		return true;
	for (size_t i = 0; i < n; i++) {
		copy[i] = operations[i];
		if (copy[i].sem_flg & IPC_NOWAIT)
			return true;
		copy[i].sem_flg |= IPC_NOWAIT;
	}
	int kept = errno;
	*ret = next(id, copy, n);
	if (!*ret || errno != EAGAIN)
		return false;
	errno = kept;
	*ret = 1;
	return true;
}

_export_ int semop(int id, struct sembuf *operations, size_t n)
{
	CHOOSE_NEXT(semop, -1)
	if (choose_wanted(WIRE_MODEL_semop, CHOOSE_CALLER())) {
		int done;
		if (!semaphore_waits(id, operations, n, next, &done))
			return done;
		if (done == 1 &&
		    short_interrupt_call(WIRE_MODEL_semop, (uint64_t)id))
			return -1;
	}
	return next(id, operations, n);
}

_export_ int semtimedop(int id, struct sembuf *operations, size_t n,
			const struct timespec *timeout)
{
	CHOOSE_NEXT(semtimedop, -1)
	if (choose_wanted(WIRE_MODEL_semtimedop, CHOOSE_CALLER())) {
		int done;
		__typeof__(&semop) plain =
			(__typeof__(&semop))lookup_next("semop");
		if (plain && !semaphore_waits(id, operations, n, plain, &done))
			return done;
		if (plain && done == 1 &&
		    short_interrupt_call(WIRE_MODEL_semtimedop, (uint64_t)id))
			return -1;
	}
	return next(id, operations, n, timeout);
}

/* ---- sockets with a time-out ---- */

/* Would it wait for @fd, which has a time-out for receiving? */
static bool socket_waits(int fd)
{
	struct timeval timeout = {};
	socklen_t size = sizeof(timeout);
	struct pollfd ready = { .fd = fd, .events = POLLIN };
	struct timespec none = {};
	if (sys_call(SYS_getsockopt, fd, SOL_SOCKET, SO_RCVTIMEO,
		     (long)&timeout, (long)&size, 0) ||
	    (!timeout.tv_sec && !timeout.tv_usec) || short_nonblocking(fd))
		return false;
	return !sys_call(SYS_ppoll, (long)&ready, 1, (long)&none, 0, 0, 0);
}

bool short_interrupted(int fd, int flags)
{
	return !(flags & MSG_DONTWAIT) && socket_waits(fd) &&
	       short_interrupt_call(WIRE_MODEL_recv_timeout, (uint64_t)fd);
}

_export_ int accept(int fd, struct sockaddr *address, socklen_t *size)
{
	CHOOSE_NEXT(accept, -1)
	if (choose_wanted(WIRE_MODEL_accept, CHOOSE_CALLER()) &&
	    socket_waits(fd) &&
	    short_interrupt_call(WIRE_MODEL_accept, (uint64_t)fd))
		return -1;
	return next(fd, address, size);
}

_export_ int accept4(int fd, struct sockaddr *address, socklen_t *size,
		     int flags)
{
	CHOOSE_NEXT(accept4, -1)
	if (choose_wanted(WIRE_MODEL_accept, CHOOSE_CALLER()) &&
	    socket_waits(fd) &&
	    short_interrupt_call(WIRE_MODEL_accept, (uint64_t)fd))
		return -1;
	return next(fd, address, size, flags);
}
