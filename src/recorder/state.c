/*
 * Signals and locales: what they are at the beginning, and what changes them.
 */
#include "recorder/state_internal.h"

#include <locale.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>

/* Some are deprecated, but programs still call them. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

struct wire_state agent_state = {
	.magic = WIRE_STATE_MAGIC,
	.version = WIRE_STATE_VERSION,
};
extern struct wire_state polygraph_agent_state _export_
	__attribute__((alias("agent_state")));

/* As rt_sigaction(2) has it on x86-64. */
struct recorded_kernel_action {
	uint64_t handler, flags, restorer, mask;
};
#define KERNEL_RESTORER 0x04000000UL /* SA_RESTORER: the C library's business */

/*
 * Whose memory this is: a process made by vfork(2) has its own signal handlers,
 * but writes into the memory of its parent. A page that fork(2) empties
 * distinguishes the two (MADV_WIPEONFORK, Linux 4.14).
 */
static int32_t *owner;

static void owner_begin(void)
{
	owner = sys_map(4096, WIRE_MAPPING);
	if (owner &&
	    sys_call(SYS_madvise, (long)owner, 4096, MADV_WIPEONFORK, 0, 0, 0))
		owner = NULL;
}

static bool is_owner(void)
{
	if (!owner)
		return true;
	int32_t self = (int32_t)sys_call(SYS_getpid, 0, 0, 0, 0, 0, 0);
	int32_t none = 0;
	return __atomic_compare_exchange_n(owner, &none, self, false,
					   __ATOMIC_RELAXED,
					   __ATOMIC_RELAXED) ||
	       none == self;
}

static void read_signal(int number)
{
	struct recorded_kernel_action action;
	if (number < 1 || number >= WIRE_SIGNALS ||
	    sys_call(SYS_rt_sigaction, number, 0, (long)&action, 8, 0, 0))
		return;
	struct wire_signal *signal = &agent_state.signals[number];
	signal->handler = action.handler;
	signal->flags = action.flags & ~KERNEL_RESTORER;
	signal->mask = action.mask;
}

static void recorder_note_signal(int number)
{
	if (!is_owner())
		return;
	read_signal(number);
	state_changed();
}

static void recorder_read_locale(void)
{
	__typeof__(&setlocale) next = next_find(NEXT_setlocale);
	for (int i = 0; next && i < WIRE_LOCALES; i++) {
		const char *name = i == LC_ALL ? NULL : next(i, NULL);
		char *to = agent_state.locale[i];
		size_t n = 0;
		for (; name && name[n] && n + 1 < WIRE_LOCALE_NAME; n++)
			to[n] = name[n];
		to[n] = '\0';
	}
}

void state_begin(void)
{
	next_begin();
	owner_begin();
	is_owner();
	for (int i = 1; i < WIRE_SIGNALS; i++)
		read_signal(i);
	recorder_read_locale();
	random_begin();
	agent_state.active = 1;
}

/* A variable's name, which may be followed by a '=' and more, into the ring. */
static void log_name(const char *name, uint32_t wrote)
{
	uint64_t i =
		__atomic_fetch_add(&agent_state.reads_n, 1, __ATOMIC_RELAXED);
	struct wire_read *read = &agent_state.reads[i % WIRE_READS];
	read->what = WIRE_ENVIRONMENT;
	read->wrote = wrote;
	size_t n = 0;
	for (; name[n] && name[n] != '=' && n + 1 < WIRE_READ_NAME; n++)
		read->name[n] = name[n];
	read->name[n] = '\0';
}

void state_asked(enum wire_asked what, const char *name)
{
	uint32_t own =
		__atomic_load_n(&agent_state.overwritten, __ATOMIC_RELAXED);
	if (own & 1U << what)
		return;
	__atomic_fetch_add(&agent_state.asked[what], 1, __ATOMIC_RELAXED);
	if (what == WIRE_ENVIRONMENT && name)
		log_name(name, 0);
}

void state_wrote(enum wire_asked what, const char *name)
{
	if (what == WIRE_ENVIRONMENT) {
		if (name)
			log_name(name, 1);
		return;
	}
	__atomic_fetch_or(&agent_state.overwritten, 1U << what,
			  __ATOMIC_RELAXED);
}

_export_ int sigaction(int number, const struct sigaction *action,
		       struct sigaction *old)
{
	NEXT(sigaction, -1)
	int result = next(number, action, old);
	if (!result && action)
		recorder_note_signal(number);
	return result;
}

int __sigaction(int number, const struct sigaction *action,
		struct sigaction *old);
_export_ int __sigaction(int number, const struct sigaction *action,
			 struct sigaction *old)
{
	NEXT(__sigaction, -1)
	int result = next(number, action, old);
	if (!result && action)
		recorder_note_signal(number);
	return result;
}

/* Those that take a handler and return the last one. */
#define SIGNAL(name)                                                           \
	sighandler_t name(int number, sighandler_t handler);                   \
	_export_ sighandler_t name(int number, sighandler_t handler)           \
	{                                                                      \
		NEXT(name, SIG_ERR)                                            \
		sighandler_t old = next(number, handler);                      \
		if (old != SIG_ERR)                                            \
			recorder_note_signal(number);                          \
		return old;                                                    \
	}

SIGNAL(signal)
SIGNAL(ssignal)
SIGNAL(bsd_signal)
SIGNAL(sysv_signal)
SIGNAL(__sysv_signal)
SIGNAL(sigset)

_export_ int sigignore(int number)
{
	NEXT(sigignore, -1)
	int result = next(number);
	if (!result)
		recorder_note_signal(number);
	return result;
}

_export_ int siginterrupt(int number, int flag)
{
	NEXT(siginterrupt, -1)
	int result = next(number, flag);
	if (!result)
		recorder_note_signal(number);
	return result;
}

_export_ char *setlocale(int category, const char *locale)
{
	NEXT(setlocale, NULL)
	if (!locale)
		state_ask(WIRE_LOCALE, NULL);
	char *result = next(category, locale);
	if (locale && result) {
		recorder_read_locale();
		__atomic_fetch_add(&agent_state.locale_calls, 1,
				   __ATOMIC_RELAXED);
		state_changed();
	}
	return result;
}

_export_ struct lconv *localeconv(void)
{
	NEXT(localeconv, NULL)
	state_ask(WIRE_LOCALE, NULL);
	return next();
}
