/*
 * Models of signals that are pending together: which of the ordinary ones is
 * first is not said; the kernel takes the lowest. Real-time signals have an order,
 * and those of faults belong to an instruction.
 */
#include "models/threads_internal.h"

#include <pthread.h>
#include <signal.h>

#define BIT(signal) (1ULL << ((signal)-1))
#define FAULTS                                                                 \
	(BIT(SIGSEGV) | BIT(SIGBUS) | BIT(SIGILL) | BIT(SIGFPE) |              \
	 BIT(SIGTRAP) | BIT(SIGSYS))
/* Stop signals and SIGCONT undo each other, SIGKILL ends everything. */
#define STOPS                                                                  \
	(BIT(SIGSTOP) | BIT(SIGTSTP) | BIT(SIGTTIN) | BIT(SIGTTOU) |           \
	 BIT(SIGCONT) | BIT(SIGKILL))
#define ORDINARY ((BIT(32) - 1) & ~FAULTS & ~STOPS)

static uint64_t pending_signals(void)
{
	uint64_t pending = 0;
	sys_call(SYS_rt_sigpending, (long)&pending, sizeof(pending), 0, 0, 0,
		 0);
	return pending & ORDINARY;
}

/*
 * Which of these is first; 0: the kernel decides. @lowest: is the lowest an
 * alternative to that?
 */
static int choose_signal(enum wire_model model, uint64_t signals, bool lowest)
{
	unsigned n = (unsigned)__builtin_popcountll(signals);
	if (n < 2)
		return 0;
	struct choose_keys keys = {
		.equal = choose_mix(model, signals),
		.object = choose_mix(model, signals),
	};
	uint64_t pick = choose_pick(model, lowest ? n + 1 : n, keys);
	if (!pick)
		return 0;
	choose_argument("%u signals are pending", n);
	for (pick -= lowest; pick && signals; pick--)
		signals &= signals - 1;
	int first = __builtin_ffsll((long long)signals);
	choose_did("signal %d came first", first);
	return first;
}

/* Another thread may have been quicker: then nothing changes. */
_export_ int sigwait(const sigset_t *set, int *ret)
{
	CHOOSE_NEXT(sigwait, ENOSYS)
	if (choose_wanted(WIRE_MODEL_sigwait, CHOOSE_CALLER()) &&
	    sys_readable((uintptr_t)set)) {
		int first = choose_signal(
			WIRE_MODEL_sigwait,
			pending_signals() & *(const uint64_t *)set, false);
		uint64_t one = first ? BIT(first) : 0;
		struct timespec none = {};
		if (first &&
		    sys_call(SYS_rt_sigtimedwait, (long)&one, 0, (long)&none,
			     sizeof(one), 0, 0) == first) {
			*ret = first;
			return 0;
		}
	}
	return next(set, ret);
}

/*
 * Before the mask changes, it changes except for those that come later: the one
 * that comes first is delivered on return from that system call. (By itself the
 * kernel puts the frame of one handler upon that of another, so that the lowest
 * signal's runs last.)
 */
static void deliver_first(enum wire_model model, int how, const sigset_t *set)
{
	uint64_t now = 0, then;
	if (!set || !sys_readable((uintptr_t)set))
		return;
	uint64_t given = *(const uint64_t *)set;
	sys_call(SYS_rt_sigprocmask, SIG_BLOCK, 0, (long)&now, sizeof(now), 0,
		 0);
	if (how == SIG_UNBLOCK)
		then = now & ~given;
	else if (how == SIG_SETMASK)
		then = given;
	else
		return;
	uint64_t signals = pending_signals() & now & ~then;
	int first = choose_signal(model, signals, true);
	if (!first)
		return;
	uint64_t mask = now & ~BIT(first);
	sys_call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask, 0, sizeof(mask),
		 0, 0);
	/* What the call returns as the previous mask is unchanged. */
	sys_call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&now, 0, sizeof(now), 0,
		 0);
}

_export_ int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
	CHOOSE_NEXT(sigprocmask, -1)
	if (choose_wanted(WIRE_MODEL_sigprocmask, CHOOSE_CALLER()))
		deliver_first(WIRE_MODEL_sigprocmask, how, set);
	return next(how, set, old);
}

_export_ int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	CHOOSE_NEXT(pthread_sigmask, ENOSYS)
	if (choose_wanted(WIRE_MODEL_pthread_sigmask, CHOOSE_CALLER()))
		deliver_first(WIRE_MODEL_pthread_sigmask, how, set);
	return next(how, set, old);
}
