/* Timers, and the state of floating-point arithmetic. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/user.h>

#include "attributes/attributes_internal.h"
#include "base/clock.h"

#define POSIX_TIMERS_MAX 64

static struct err *add_interval_timer(struct attributes *a, int which,
				      const char *name, struct items *items)
{
	const uint64_t args[6] = { (uint64_t)which };
	struct itimerval timer = {};
	if (!ask_process(a, SYS_getitimer, args, 1, &timer, sizeof(timer))) {
		items->unknown = true;
		return NULL;
	}
	if (!timer.it_value.tv_sec && !timer.it_value.tv_usec)
		return NULL;
	struct item *item;
	TRY(items_add(items, name, &item));
	items->live = true; /* it runs out by itself */
	uint64_t interval = (uint64_t)timer.it_interval.tv_sec * NS_PER_S +
			    (uint64_t)timer.it_interval.tv_usec * NS_PER_US;
	if (!interval)
		return item_text(item, NULL, "armed");
	char duration[16];
	duration_format(interval, duration);
	return item_textf(item, NULL, "armed, every %s", duration);
}

/* "ID: 0\nsignal: 60/00007fff86e452a8\nnotify: signal/pid.2634\nClockID: 0" */
static struct err *add_posix_timers(struct attributes *a, struct items *items)
{
	char text[8192], notify[64];
	_cleanup_(closep) int fd =
		openat(a->proc, "timers", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (n <= 0)
		return NULL;
	text[n] = '\0';
	unsigned count = 0;
	for (const char *at = text; at && count < POSIX_TIMERS_MAX; count++) {
		int id, signal = 0, clock = 0;
		if (sscanf(at, "ID: %d", &id) != 1)
			break;
		const char *line = strstr(at, "signal:");
		if (line)
			sscanf(line, "signal: %d", &signal);
		line = strstr(at, "notify:");
		snprintf(notify, sizeof(notify), "signal");
		if (line)
			sscanf(line, "notify: %63[^/\n]", notify);
		line = strstr(at, "ClockID:");
		if (line)
			sscanf(line, "ClockID: %d", &clock);
		char key[32], name[16];
		snprintf(key, sizeof(key), "posix %d", id);
		signal_name(signal, name);
		struct item *item;
		TRY(items_add(items, key, &item));
		TRY(item_textf(item, NULL, "clock %d, by %s%s%s", clock, notify,
			       strcmp(notify, "none") ? " " : "",
			       strcmp(notify, "none") ? name : ""));
		at = strstr(at + 1, "\nID: ");
		at = at ? at + 1 : NULL;
	}
	return NULL;
}

struct err *read_timers(struct attributes *a, struct items *items)
{
	TRY(add_interval_timer(a, ITIMER_REAL, "real", items));
	TRY(add_interval_timer(a, ITIMER_VIRTUAL, "virtual", items));
	TRY(add_interval_timer(a, ITIMER_PROF, "profiling", items));
	return add_posix_timers(a, items);
}

/* ---- floating point ---- */

void floats_probe(struct attributes *a, unsigned *ret)
{
	struct user_fpregs_struct regs;
	if (ptrace(PTRACE_GETFPREGS, a->thread->tid, 0, &regs) < 0)
		return;
	uint32_t control =
		regs.cwd & (X87_ROUNDING | X87_PRECISION | FLOAT_EXCEPTIONS);
	uint32_t raised =
		a->options.raised ? FLOAT_EXCEPTIONS | FLOAT_INEXACT : 0;
	uint32_t status = regs.swd & raised;
	uint32_t mxcsr =
		regs.mxcsr & (MXCSR_ROUNDING | MXCSR_FLUSH | MXCSR_DENORMALS |
			      raised | FLOAT_EXCEPTIONS << 7);
	if (control != a->float_control || status != a->float_status ||
	    mxcsr != a->float_mxcsr)
		*ret |= SOURCE_FLOATS;
	a->float_control = control;
	a->float_status = status;
	a->float_mxcsr = mxcsr;
}

struct err *read_rounding(struct attributes *a, struct items *items)
{
	static const char *const modes[] = { "to nearest", "downward", "upward",
					     "toward zero" };
	unsigned mode = (a->float_mxcsr & MXCSR_ROUNDING) >> 13;
	unsigned old = (a->float_control & X87_ROUNDING) >> 10;
	_cleanup_(str_freep) struct str text = STR_INIT;
	TRY(str_append(&text, modes[mode]));
	if (old != mode)
		TRY(str_appendf(&text, ", x87 %s", modes[old]));
	if (a->float_mxcsr & MXCSR_FLUSH)
		TRY(text_comma(&text, "flush to zero"));
	if (a->float_mxcsr & MXCSR_DENORMALS)
		TRY(text_comma(&text, "denormals are zero"));
	unsigned precision = (a->float_control & X87_PRECISION) >> 8;
	if (precision != 3)
		TRY(text_comma(&text, precision == 2 ? "x87 to 53 bits"
						     : "x87 to 24 bits"));
	return items_one(items, text.s);
}

static struct err *exceptions_text(uint32_t set, struct str *out)
{
	static const struct {
		uint32_t bit;
		const char *name;
	} names[] = {
		{ 0x01, "invalid" },	      { 0x04, "division by zero" },
		{ 0x08, "overflow" },	      { 0x10, "underflow" },
		{ FLOAT_INEXACT, "inexact" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (set & names[i].bit)
			TRY(text_comma(out, names[i].name));
	}
	return out->n ? NULL : str_append(out, "none");
}

struct err *read_exceptions(struct attributes *a, struct items *items)
{
	uint32_t raised = (a->float_mxcsr | a->float_status) &
			  (FLOAT_EXCEPTIONS | FLOAT_INEXACT);
	/* Masked is the normal state: a bit that is clear makes it trap. */
	uint32_t traps =
		(~a->float_mxcsr >> 7 | ~a->float_control) & FLOAT_EXCEPTIONS;
	_cleanup_(str_freep) struct str text = STR_INIT, trap = STR_INIT;
	TRY(exceptions_text(raised, &text));
	TRY(exceptions_text(traps, &trap));
	struct item *item;
	TRY(items_add(items, NULL, &item));
	if (!a->options.raised)
		return item_textf(item, NULL, "trapping: %s", trap.s);
	TRY(item_text(item, NULL, text.s));
	return item_text(item, "traps", trap.s);
}
