/*
 * The table of calls as a program for the kernel.
 *
 * The kernel tries each call number once when the filter is installed, and
 * remembers those that are let pass whatever their arguments (since 5.11): for
 * them the filter is never run again. So nothing but the architecture and the
 * number may be looked at before it is known that the call matters.
 */
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/mman.h>
#include <stddef.h>
#include <sys/syscall.h>

#include "base/macro.h"
#include "follow/follow_internal.h"

/* Numbers with this bit are of the x32 interface: not followed. */
#define X32_BIT 0x40000000U

#define ARG_LOW(n)                                                             \
	((uint32_t)(offsetof(struct seccomp_data, args) +                      \
		    8 * ((unsigned)(n)-A0)))
#define ARG_HIGH(n) (ARG_LOW(n) + 4)

static unsigned short filter_emit(struct filter *filter, unsigned code,
				  uint8_t yes, uint8_t no, uint32_t value)
{
	BUG_ON(filter->n == FILTER_MAX);
	filter->code[filter->n] = (struct sock_filter){
		.code = (uint16_t)code, .jt = yes, .jf = no, .k = value
	};
	return filter->n++;
}

static void filter_load(struct filter *filter, uint32_t offset)
{
	filter_emit(filter, BPF_LD | BPF_W | BPF_ABS, 0, 0, offset);
}

static void jump_if(struct filter *filter, unsigned test, uint32_t value,
		    uint8_t yes, uint8_t no)
{
	filter_emit(filter, BPF_JMP | test | BPF_K, yes, no, value);
}

static void filter_leave(struct filter *filter, uint32_t action)
{
	filter_emit(filter, BPF_RET | BPF_K, 0, 0, action);
}

/* Falls through where the condition holds not; the accumulator is lost. */
static void emit_condition(struct filter *filter, const struct when *when)
{
	const uint32_t tell = SECCOMP_RET_USER_NOTIF;
	if (when->arg)
		filter_load(filter, ARG_LOW(when->arg));
	switch (when->op) {
	case NEVER:
		return;
	case ALWAYS:
		break;
	case ANY:
		jump_if(filter, BPF_JSET, when->value, 0, 1);
		break;
	case NONE:
		jump_if(filter, BPF_JSET, when->value, 1, 0);
		break;
	case GIVEN:
		jump_if(filter, BPF_JEQ, 0, 0, 2);
		filter_load(filter, ARG_HIGH(when->arg));
		jump_if(filter, BPF_JEQ, 0, 1, 0);
		break;
	case NOT:
		jump_if(filter, BPF_JEQ, when->value, 1, 0);
		break;
	case ONE_OF:
		for (const uint32_t *at = when->list; *at; at++) {
			jump_if(filter, BPF_JEQ, *at, 0, 1);
			filter_leave(filter, tell);
		}
		return;
	case MAPS:
		jump_if(filter, BPF_JSET, MAP_DENYWRITE, 3, 0);
		jump_if(filter, BPF_JSET, MAP_SHARED, 1, 0);
		jump_if(filter, BPF_JSET, MAP_ANONYMOUS, 1, 0);
		break;
	}
	filter_leave(filter, tell);
}

static void emit_call(struct filter *filter, const struct call *call,
		      unsigned flags)
{
	const struct when *conditions[4];
	size_t n = call_conditions(call, flags, conditions);
	if (!n)
		return;
	unsigned short test = filter_emit(filter, BPF_JMP | BPF_JEQ | BPF_K, 0,
					  0, call->number);
	bool open = true;
	for (size_t i = 0; open && i < n; i++) {
		open = conditions[i]->op != ALWAYS;
		emit_condition(filter, conditions[i]);
	}
	if (open)
		filter_leave(filter, SECCOMP_RET_ALLOW);
	unsigned skip = filter->n - test - 1U;
	BUG_ON(skip > UINT8_MAX);
	filter->code[test].jf = (uint8_t)skip;
}

/*
 * The numbers of 32-bit programs (asm/unistd_32.h) that change files, apart from
 * open and openat. They are not followed: that there are any is all we learn.
 */
static const uint32_t foreign_calls[] = {
	8 /* creat */,	     9 /* link */,	   10 /* unlink */,
	14 /* mknod */,	     15 /* chmod */,	   16 /* lchown */,
	30 /* utime */,	     38 /* rename */,	   39 /* mkdir */,
	40 /* rmdir */,	     83 /* symlink */,	   92 /* truncate */,
	182 /* chown */,     193 /* truncate64 */, 198 /* lchown32 */,
	212 /* chown32 */,   226 /* setxattr */,   271 /* utimes */,
	296 /* mkdirat */,   297 /* mknodat */,	   298 /* fchownat */,
	299 /* futimesat */, 301 /* unlinkat */,   302 /* renameat */,
	303 /* linkat */,    304 /* symlinkat */,  306 /* fchmodat */,
	320 /* utimensat */, 353 /* renameat2 */,  412 /* utimensat_time64 */,
	437 /* openat2 */,
};
#define FOREIGN_OPEN 5U
#define FOREIGN_OPENAT 295U

static void emit_foreign_open(struct filter *filter, uint32_t number,
			      enum arg flags)
{
	jump_if(filter, BPF_JEQ, number, 0, 4);
	filter_load(filter, ARG_LOW(flags));
	jump_if(filter, BPF_JSET, O_ACCMODE | O_CREAT | O_TRUNC, 0, 1);
	filter_leave(filter, SECCOMP_RET_USER_NOTIF);
	filter_leave(filter, SECCOMP_RET_ALLOW);
}

static void emit_foreign(struct filter *filter)
{
	jump_if(filter, BPF_JEQ, AUDIT_ARCH_I386, 1, 0);
	filter_leave(filter, SECCOMP_RET_ALLOW);
	filter_load(filter, (uint32_t)offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < ARRAY_SIZE(foreign_calls); i++) {
		jump_if(filter, BPF_JEQ, foreign_calls[i], 0, 1);
		filter_leave(filter, SECCOMP_RET_USER_NOTIF);
	}
	emit_foreign_open(filter, FOREIGN_OPEN, A1);
	emit_foreign_open(filter, FOREIGN_OPENAT, A2);
	filter_leave(filter, SECCOMP_RET_ALLOW);
}

bool filter_notes_unseen(struct follow *follow, const struct seccomp_data *data)
{
	unsigned what = data->arch != AUDIT_ARCH_X86_64	 ? FOLLOW_FOREIGN
			: data->nr == SYS_io_uring_setup ? FOLLOW_RINGS
							 : 0;
	atomic_fetch_or(&follow->unseen, what);
	return what;
}

void filter_build(struct filter *filter, unsigned flags)
{
	filter->n = 0;
	filter_load(filter, (uint32_t)offsetof(struct seccomp_data, arch));
	jump_if(filter, BPF_JEQ, AUDIT_ARCH_X86_64, 0, 1);
	unsigned short own = filter_emit(filter, BPF_JMP | BPF_JA, 0, 0, 0);
	if (flags & FOLLOW_FILES)
		emit_foreign(filter);
	else
		filter_leave(filter, SECCOMP_RET_ALLOW);
	filter->code[own].k = filter->n - own - 1U;
	filter_load(filter, (uint32_t)offsetof(struct seccomp_data, nr));
	jump_if(filter, BPF_JGE, X32_BIT, 0, 1);
	filter_leave(filter, SECCOMP_RET_ALLOW);
	if (flags & FOLLOW_FILES) {
		jump_if(filter, BPF_JEQ, SYS_io_uring_setup, 0, 1);
		filter_leave(filter, SECCOMP_RET_USER_NOTIF);
	}
	for (size_t i = 0; i < follow_calls_n; i++)
		emit_call(filter, &follow_calls[i], flags);
	filter_leave(filter, SECCOMP_RET_ALLOW);
}
