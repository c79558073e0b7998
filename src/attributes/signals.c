/* Signals: handlers, the mask, what is pending, the alternate stack. */
#include <signal.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#include "attributes/attributes_internal.h"

#define SIGNALS 64
/* Of the C library itself: cancelling threads, changing ids in all of them. */
#define INTERNAL ((1ULL << 31) | (1ULL << 32))
#define PENDING_MAX 64

void signal_name(int number, char out[16])
{
	static const char *const names[] = {
		[SIGHUP] = "HUP",   [SIGINT] = "INT",
		[SIGQUIT] = "QUIT", [SIGILL] = "ILL",
		[SIGTRAP] = "TRAP", [SIGABRT] = "ABRT",
		[SIGBUS] = "BUS",   [SIGFPE] = "FPE",
		[SIGKILL] = "KILL", [SIGUSR1] = "USR1",
		[SIGSEGV] = "SEGV", [SIGUSR2] = "USR2",
		[SIGPIPE] = "PIPE", [SIGALRM] = "ALRM",
		[SIGTERM] = "TERM", [SIGSTKFLT] = "STKFLT",
		[SIGCHLD] = "CHLD", [SIGCONT] = "CONT",
		[SIGSTOP] = "STOP", [SIGTSTP] = "TSTP",
		[SIGTTIN] = "TTIN", [SIGTTOU] = "TTOU",
		[SIGURG] = "URG",   [SIGXCPU] = "XCPU",
		[SIGXFSZ] = "XFSZ", [SIGVTALRM] = "VTALRM",
		[SIGPROF] = "PROF", [SIGWINCH] = "WINCH",
		[SIGIO] = "IO",	    [SIGPWR] = "PWR",
		[SIGSYS] = "SYS",
	};
	if (number > 0 && number < (int)ARRAY_SIZE(names) && names[number])
		snprintf(out, 16, "SIG%s", names[number]);
	else if (number == 34)
		snprintf(out, 16, "SIGRTMIN");
	else if (number > 34 && number <= SIGNALS)
		snprintf(out, 16, "SIGRTMIN+%d", number - 34);
	else
		snprintf(out, 16, "%d", number);
}

static struct err *signals_text(uint64_t mask, struct str *out)
{
	mask &= ~INTERNAL;
	if (mask && mask == (~0ULL & ~INTERNAL & ~(1ULL << (SIGKILL - 1)) &
			     ~(1ULL << (SIGSTOP - 1))))
		return str_append(out, "all");
	for (int i = 1; i <= SIGNALS; i++) {
		char name[16];
		if (!(mask >> (i - 1) & 1))
			continue;
		signal_name(i, name);
		TRY(text_comma(out, name));
	}
	return out->n ? NULL : str_append(out, "none");
}

static uint64_t signals_read_pending(struct attributes *a, bool shared)
{
	siginfo_t info[PENDING_MAX];
	struct __ptrace_peeksiginfo_args args = {
		.flags = shared ? PTRACE_PEEKSIGINFO_SHARED : 0,
		.nr = PENDING_MAX,
	};
	uint64_t set = 0;
	long n = ptrace(PTRACE_PEEKSIGINFO, a->thread->tid, &args, info);
	for (long i = 0; i < n && i < PENDING_MAX; i++) {
		if (info[i].si_signo > 0 && info[i].si_signo <= SIGNALS)
			set |= 1ULL << (info[i].si_signo - 1);
	}
	return set;
}

struct signal_kernel_action {
	uint64_t handler;
	uint64_t flags;
	uint64_t restorer;
	uint64_t mask;
};

/* Asks which function catches a signal. */
static bool ask_action(struct attributes *a, int number)
{
	struct signal_kernel_action got = {};
	const uint64_t args[6] = { (uint64_t)number, 0, 0, 8 };
	if (!ask_process(a, SYS_rt_sigaction, args, 2, &got, sizeof(got)))
		return false;
	struct wire_signal action = { got.handler, got.flags, got.mask };
	bool same = !memcmp(&action, &a->actions[number], sizeof(action));
	a->actions[number] = action;
	return !same;
}

/*
 * Without the agent. The kernel's masks show which signals are caught, but not
 * by which function: as long as there are few, that is asked each time; else only for
 * those that came or went.
 */
#define ASKED_MAX 4

static bool probe_actions(struct attributes *a)
{
	uint64_t caught = 0, ignored = 0;
	if (!status_number(a, "SigCgt", 16, &caught) ||
	    !status_number(a, "SigIgn", 16, &ignored))
		return false;
	caught &= ~INTERNAL;
	uint64_t moved = a->captured
				 ? (caught ^ a->caught) | (ignored ^ a->ignored)
				 : ~0ULL;
	bool few = __builtin_popcountll(caught) <= ASKED_MAX;
	bool changed = moved;
	for (int i = 1; i <= SIGNALS; i++) {
		uint64_t bit = 1ULL << (i - 1);
		if (caught & bit && (moved & bit || few))
			changed |= ask_action(a, i);
		else if (!(caught & bit))
			a->actions[i] = (struct wire_signal){
				.handler = ignored & bit ? 1 : 0
			};
	}
	a->caught = caught;
	a->ignored = ignored;
	return changed;
}

void signals_probe(struct attributes *a, unsigned *ret)
{
	uint64_t mask = 0;
	ptrace(PTRACE_GETSIGMASK, a->thread->tid, sizeof(mask), &mask);
	uint64_t own = signals_read_pending(a, false),
		 shared = signals_read_pending(a, true);
	if (mask != a->mask || own != a->pending[0] || shared != a->pending[1])
		*ret |= SOURCE_SIGNALS;
	a->mask = mask;
	a->pending[0] = own;
	a->pending[1] = shared;
	if (!a->has_agent && probe_actions(a))
		*ret |= SOURCE_HANDLERS;
}

struct err *read_mask(struct attributes *a, struct items *items)
{
	_cleanup_(str_freep) struct str text = STR_INIT;
	TRY(signals_text(a->mask, &text));
	return items_one(items, text.s);
}

struct err *read_pending(struct attributes *a, struct items *items)
{
	uint64_t set = a->pending[0] | a->pending[1];
	for (int i = 1; i <= SIGNALS; i++) {
		char name[16];
		if (!(set >> (i - 1) & 1))
			continue;
		signal_name(i, name);
		struct item *item;
		TRY(items_add(items, name, &item));
		TRY(item_text(item, NULL, "pending"));
	}
	return NULL;
}

/* ---- handlers ---- */

static struct err *signal_flags_text(uint64_t flags, struct str *out)
{
	static const struct {
		uint64_t bit;
		const char *name;
	} names[] = {
		{ SA_NOCLDSTOP, "SA_NOCLDSTOP" },
		{ SA_NOCLDWAIT, "SA_NOCLDWAIT" },
		{ SA_SIGINFO, "SA_SIGINFO" },
		{ SA_ONSTACK, "SA_ONSTACK" },
		{ SA_RESTART, "SA_RESTART" },
		{ SA_NODEFER, "SA_NODEFER" },
		{ SA_RESETHAND, "SA_RESETHAND" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (flags & names[i].bit & 0xffffffffU)
			TRY(text_comma(out, names[i].name));
	}
	return out->n ? NULL : str_append(out, "none");
}

static struct err *add_handler(struct attributes *a, int number,
			       const struct wire_signal *action,
			       struct items *items)
{
	char name[16], function[256];
	if (INTERNAL >> (number - 1) & 1)
		return NULL;
	signal_name(number, name);
	struct item *item;
	TRY(items_add(items, name, &item));
	if (action->handler <= 1)
		return item_text(item, NULL,
				 action->handler ? "ignored" : "default");
	attributes_function(a, action->handler, function, sizeof(function));
	TRY(item_text(item, NULL, function));
	_cleanup_(str_freep) struct str flags = STR_INIT, mask = STR_INIT;
	TRY(signal_flags_text(action->flags, &flags));
	TRY(item_text(item, "flags", flags.s));
	/* Itself it is blocked anyway. */
	uint64_t itself = action->flags & SA_NODEFER ? 0 : 1ULL << (number - 1);
	TRY(signals_text(action->mask & ~itself, &mask));
	return item_text(item, "mask", mask.s);
}

struct err *read_handlers(struct attributes *a, struct items *items)
{
	const struct wire_signal *actions =
		a->has_agent ? a->wire->signals : a->actions;
	for (int i = 1; i <= SIGNALS; i++)
		TRY(add_handler(a, i, &actions[i], items));
	return NULL;
}

struct err *read_stack(struct attributes *a, struct items *items)
{
	const uint64_t args[6] = {};
	stack_t stack = {};
	if (!ask_process(a, SYS_sigaltstack, args, 1, &stack, sizeof(stack))) {
		items->unknown = true;
		return NULL;
	}
	struct item *item;
	TRY(items_add(items, NULL, &item));
	if (stack.ss_flags & SS_DISABLE)
		return item_text(item, NULL, "none");
	const uint64_t what[] = { (uintptr_t)stack.ss_sp, stack.ss_size };
	item->digest = digest_of(what, sizeof(what), 0);
	return item_textf(item, NULL, "%zu bytes at 0x%llx", stack.ss_size,
			  (unsigned long long)(uintptr_t)stack.ss_sp);
}
