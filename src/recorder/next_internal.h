/*
 * The functions that are interposed to learn what they change, and where their
 * calls continue: at the first definition after the agent's. All are looked up
 * at the beginning, when there is one thread; those of the C++ runtime again
 * when they are called, for it may be loaded later.
 */
#pragma once

#include <errno.h>

#include "agent/agent.h"

/* clang-format off */
#define NEXT_FUNCTIONS(X)                                                      \
	X(sigaction) X(__sigaction) X(signal) X(ssignal) X(bsd_signal)         \
	X(sysv_signal) X(__sysv_signal) X(sigset) X(sigignore)                 \
	X(siginterrupt)                                                        \
	X(setlocale) X(localeconv)                                             \
	X(initstate) X(setstate) X(seed48)                                     \
	X(rand) X(random) X(drand48) X(lrand48) X(mrand48)                     \
	X(srand) X(srandom) X(srand48)                                         \
	X(getenv) X(secure_getenv) X(setenv) X(unsetenv) X(putenv)             \
	X(localtime) X(localtime_r) X(mktime) X(ctime) X(ctime_r)              \
	X(gmtime) X(asctime) X(strtok_r) X(hcreate) X(hdestroy) X(hsearch)     \
	X(getopt) X(getopt_long) X(getopt_long_only)                           \
	X(getpwnam) X(getpwuid) X(getgrnam) X(getgrgid) X(gethostbyname)       \
	X(inet_ntoa) X(l64a) X(ecvt) X(fcvt)                                   \
	X(__cxa_atexit) X(on_exit) X(__cxa_at_quick_exit)                      \
	X(_ZSt13set_terminatePFvvE) X(_ZSt15set_new_handlerPFvvE)              \
	X(_ZSt14set_unexpectedPFvvE) X(_ZNSt6locale6globalERKS_)               \
	X(_ZNSt3__16locale6globalERKS0_)
/* clang-format on */

enum next_function {
#define X(name) NEXT_##name,
	NEXT_FUNCTIONS(X)
#undef X
		NEXT_N,
};

#pragma GCC visibility push(hidden)

extern void *next_table[NEXT_N];
void next_begin(void);
_cold_ void *next_lookup(enum next_function function);

#pragma GCC visibility pop

static inline void *next_find(enum next_function function)
{
	void *found = __atomic_load_n(&next_table[function], __ATOMIC_RELAXED);
	return likely(found) ? found : next_lookup(function);
}

/*
 * The first line of an interposed function: declares next(). If there is none,
 * the function does not exist, and fails.
 */
#define NEXT(name, failed)                                                     \
	__typeof__(&(name)) next = next_find(NEXT_##name);                     \
	if (unlikely(!next)) {                                                 \
		errno = ENOSYS;                                                \
		return failed;                                                 \
	}
