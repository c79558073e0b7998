/* What the kernel keeps for a process: folders, limits, priorities, ids. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "attributes/attributes_internal.h"
#include "base/proc.h"
#include "tracee/memory.h"
#include "tracee/remote.h"

/* The status file as it was first asked for in this capture. */
static const char *status_text(struct attributes *a)
{
	if (!a->has_status) {
		err_ignore(proc_read_whole_fd(a->status, &a->status_text));
		a->has_status = true;
	}
	return a->status_text.s ? a->status_text.s : "";
}

bool status_field(struct attributes *a, const char *name, char *out, size_t n)
{
	return proc_status_field(status_text(a), name, out, n);
}

bool status_number(struct attributes *a, const char *name, int base,
		   uint64_t *ret)
{
	return proc_status_number(status_text(a), name, base, ret);
}

/*
 * A filter of system calls that a test installed may not allow what we would
 * have the process ask for, and kill it: from then on it is not asked. Filters
 * are of a thread, and stay.
 */
void filters_probe(struct attributes *a, unsigned changed)
{
	_cleanup_(str_freep) struct str text = STR_INIT;
	uint64_t mode = 0, filters = 0;
	if (a->captured && (a->sealed || !(changed & STATE_PRCTL)))
		return;
	err_ignore(proc_read(a->pid, a->thread->tid, "status", &text));
	if (!text.n)
		return;
	/* The number is known since Linux 5.9; before, only whether there are any. */
	proc_status_number(text.s, "Seccomp", 10, &mode);
	proc_status_number(text.s, "Seccomp_filters", 10, &filters);
	if (!a->captured) {
		a->filter_mode = mode;
		a->filters = filters;
	}
	a->sealed = mode != a->filter_mode || filters > a->filters;
}

/*
 * The answer goes below the red zone of the thread's stack, and what was there
 * comes back.
 */
#define BELOW 512
#define ANSWER_MAX 128
/* What the kernel writes, in the tested process: none of it is followed. */
#define ASKED (STATE_STACK | STATE_TIMERS | STATE_PRCTL)

static struct err *kernel_ask_process(struct attributes *a, long number,
				      const uint64_t *args, unsigned out_at,
				      void *out, size_t n, int64_t *ret)
{
	uint64_t all[6];
	memcpy(all, args, sizeof(all));
	if (!n)
		return remote_syscall(a->thread, number, all, ret);
	BUG_ON(n > ANSWER_MAX);
	uint8_t kept[ANSWER_MAX];
	struct raddr at =
		RADDR((regs_sp(&a->thread->regs).v - BELOW) & ~(uint64_t)15);
	TRY(memory_read(a->tracee, at, kept, n));
	all[out_at] = at.v;
	TRY(remote_syscall(a->thread, number, all, ret));
	TRY(memory_read(a->tracee, at, out, n));
	return memory_write(a->tracee, at, kept, n);
}

bool ask_process(struct attributes *a, long number, const uint64_t *args,
		 unsigned out_at, void *out, size_t n)
{
	int64_t answer = -1;
	if (a->sealed) {
		a->refused = true;
		return false;
	}
	unsigned before = atomic_load(&a->dirty);
	struct err *err =
		kernel_ask_process(a, number, args, out_at, out, n, &answer);
	/* That we asked may have been followed, too. */
	atomic_fetch_and(&a->dirty, before | ~(unsigned)ASKED);
	if (err) {
		err_ignore(err);
		return false;
	}
	if (!n && answer >= 0)
		*(int64_t *)out = answer;
	return answer >= 0;
}

static struct err *kernel_read_link(struct attributes *a, const char *name,
				    struct items *items)
{
	char path[4096];
	ssize_t n = readlinkat(a->proc, name, path, sizeof(path) - 1);
	if (n < 0) {
		items->unknown = true;
		return NULL;
	}
	path[n] = '\0';
	return items_one(items, path);
}

struct err *read_directory(struct attributes *a, struct items *items)
{
	return kernel_read_link(a, "cwd", items);
}

struct err *read_root(struct attributes *a, struct items *items)
{
	return kernel_read_link(a, "root", items);
}

static struct err *read_status(struct attributes *a, const char *field,
			       struct items *items)
{
	char text[1024];
	if (!status_field(a, field, text, sizeof(text))) {
		items->unknown = true;
		return NULL;
	}
	return items_one(items, *text ? text : "none");
}

struct err *read_umask(struct attributes *a, struct items *items)
{
	return read_status(a, "Umask", items);
}

/* "Uid:\treal\teffective\tsaved\tfilesystem" */
static struct err *read_ids(struct attributes *a, const char *field,
			    struct items *items)
{
	char text[128];
	unsigned real, effective, saved, files;
	if (!status_field(a, field, text, sizeof(text)) ||
	    sscanf(text, "%u %u %u %u", &real, &effective, &saved, &files) !=
		    4) {
		items->unknown = true;
		return NULL;
	}
	struct item *item;
	TRY(items_add(items, NULL, &item));
	if (real == effective && real == saved && real == files)
		return item_textf(item, NULL, "%u", real);
	return item_textf(item, NULL,
			  "real %u, effective %u, saved %u, file system %u",
			  real, effective, saved, files);
}

struct err *read_user_ids(struct attributes *a, struct items *items)
{
	return read_ids(a, "Uid", items);
}

struct err *read_group_ids(struct attributes *a, struct items *items)
{
	return read_ids(a, "Gid", items);
}

struct err *read_groups(struct attributes *a, struct items *items)
{
	return read_status(a, "Groups", items);
}

struct err *read_no_new_privileges(struct attributes *a, struct items *items)
{
	uint64_t set;
	if (!status_number(a, "NoNewPrivs", 10, &set)) {
		items->unknown = true;
		return NULL;
	}
	return items_one(items, set ? "set" : "not set");
}

/* ---- limits ---- */

static void limit_text(rlim_t value, char out[24])
{
	if (value == RLIM_INFINITY)
		snprintf(out, 24, "unlimited");
	else
		snprintf(out, 24, "%llu", (unsigned long long)value);
}

const char *const limit_names[RLIM_NLIMITS] = {
	[RLIMIT_AS] = "as",
	[RLIMIT_CORE] = "core",
	[RLIMIT_CPU] = "cpu",
	[RLIMIT_DATA] = "data",
	[RLIMIT_FSIZE] = "fsize",
	[RLIMIT_LOCKS] = "locks",
	[RLIMIT_MEMLOCK] = "memlock",
	[RLIMIT_MSGQUEUE] = "msgqueue",
	[RLIMIT_NICE] = "nice",
	[RLIMIT_NOFILE] = "nofile",
	[RLIMIT_NPROC] = "nproc",
	[RLIMIT_RSS] = "rss",
	[RLIMIT_RTPRIO] = "rtprio",
	[RLIMIT_RTTIME] = "rttime",
	[RLIMIT_SIGPENDING] = "sigpending",
	[RLIMIT_STACK] = "stack",
};

struct err *read_limits(struct attributes *a, struct items *items)
{
	for (unsigned i = 0; i < RLIM_NLIMITS; i++) {
		struct rlimit limit;
		if (!limit_names[i])
			continue;
		if (prlimit(a->pid, i, NULL, &limit) < 0) {
			items->unknown = true;
			return NULL;
		}
		char soft[24], hard[24];
		limit_text(limit.rlim_cur, soft);
		limit_text(limit.rlim_max, hard);
		struct item *item;
		TRY(items_add(items, limit_names[i], &item));
		TRY(item_text(item, NULL, soft));
		TRY(item_text(item, "hard", hard));
	}
	return NULL;
}

/* ---- processors ---- */

struct err *read_priority(struct attributes *a, struct items *items)
{
	errno = 0;
	int nice = getpriority(PRIO_PROCESS, (id_t)a->thread->tid);
	if (nice == -1 && errno) {
		items->unknown = true;
		return NULL;
	}
	struct item *item;
	TRY(items_add(items, NULL, &item));
	return item_textf(item, NULL, "nice %d", nice);
}

struct err *read_scheduling(struct attributes *a, struct items *items)
{
	static const char *const policies[] = {
		[SCHED_OTHER] = "other",    [SCHED_FIFO] = "fifo",
		[SCHED_RR] = "round robin", [SCHED_BATCH] = "batch",
		[SCHED_IDLE] = "idle",
	};
	int policy = sched_getscheduler(a->thread->tid);
	struct sched_param param = {};
	if (policy < 0 || sched_getparam(a->thread->tid, &param) < 0) {
		items->unknown = true;
		return NULL;
	}
	int plain = policy & ~SCHED_RESET_ON_FORK;
	const char *name = plain < (int)ARRAY_SIZE(policies) && policies[plain]
				   ? policies[plain]
				   : "deadline";
	struct item *item;
	TRY(items_add(items, NULL, &item));
	char priority[32] = "";
	if (param.sched_priority)
		snprintf(priority, sizeof(priority), ", priority %d",
			 param.sched_priority);
	return item_textf(item, NULL, "%s%s%s", name, priority,
			  policy & SCHED_RESET_ON_FORK ? ", reset on fork"
						       : "");
}

static struct err *processors_text(const cpu_set_t *set, struct str *out)
{
	for (int i = 0; i < CPU_SETSIZE; i++) {
		if (!CPU_ISSET(i, set))
			continue;
		int end = i;
		while (end + 1 < CPU_SETSIZE && CPU_ISSET(end + 1, set))
			end++;
		TRY(str_appendf(out, out->n ? ",%d" : "%d", i));
		if (end > i)
			TRY(str_appendf(out, "-%d", end));
		i = end;
	}
	return out->n ? NULL : str_append(out, "none");
}

struct err *read_affinity(struct attributes *a, struct items *items)
{
	cpu_set_t set;
	/* On the one processor that it shares with us, by our doing? */
	if (!tracee_pinned(a->tracee, &set) &&
	    sched_getaffinity(a->thread->tid, sizeof(set), &set) < 0) {
		items->unknown = true;
		return NULL;
	}
	_cleanup_(str_freep) struct str text = STR_INIT;
	TRY(processors_text(&set, &text));
	return items_one(items, text.s);
}

/* ---- name, session, prctl ---- */

static struct err *kernel_read_file(struct attributes *a, const char *name,
				    char *out, size_t n, struct items *items)
{
	_cleanup_(closep) int fd = openat(a->proc, name, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, out, n - 1);
	if (got < 0) {
		items->unknown = true;
		return NULL;
	}
	out[got] = '\0';
	out[strcspn(out, "\n")] = '\0';
	return NULL;
}

struct err *read_name(struct attributes *a, struct items *items)
{
	char name[PROC_NAME_MAX];
	if (!proc_read_name(a->pid, 0, name)) {
		items->unknown = true;
		return NULL;
	}
	_cleanup_(str_freep) struct str text = STR_INIT;
	TRY(text_quoted(&text, name, strlen(name)));
	return items_one(items, text.s);
}

struct err *read_dumpable(struct attributes *a, struct items *items)
{
	const uint64_t args[6] = { PR_GET_DUMPABLE };
	int64_t answer;
	if (!ask_process(a, SYS_prctl, args, 0, &answer, 0)) {
		items->unknown = true;
		return NULL;
	}
	/* Another user or group makes the kernel take it away. */
	items->silent = a->ids_moved ||
			(a->changed & STATE_IDS && !(a->changed & STATE_PRCTL));
	return items_one(items, answer == 0   ? "no"
				: answer == 1 ? "yes"
					      : "root only");
}

struct err *read_parent_death(struct attributes *a, struct items *items)
{
	const uint64_t args[6] = { PR_GET_PDEATHSIG };
	int signal = 0;
	if (!ask_process(a, SYS_prctl, args, 1, &signal, sizeof(signal))) {
		items->unknown = true;
		return NULL;
	}
	char name[16] = "none";
	if (signal)
		signal_name(signal, name);
	return items_one(items, name);
}

static struct err *leader_text(struct attributes *a, pid_t leader,
			       struct items *items)
{
	if (leader < 0) {
		items->unknown = true;
		return NULL;
	}
	struct item *item;
	TRY(items_add(items, NULL, &item));
	if (leader == a->pid)
		return item_text(item, NULL, "its own");
	return item_textf(item, NULL, "of process %d", leader);
}

struct err *read_process_group(struct attributes *a, struct items *items)
{
	return leader_text(a, getpgid(a->pid), items);
}

struct err *read_session(struct attributes *a, struct items *items)
{
	return leader_text(a, getsid(a->pid), items);
}

struct err *read_personality(struct attributes *a, struct items *items)
{
	static const struct {
		unsigned bit;
		const char *name;
	} flags[] = {
		{ ADDR_NO_RANDOMIZE, "no address randomisation" },
		{ MMAP_PAGE_ZERO, "page zero mapped" },
		{ ADDR_COMPAT_LAYOUT, "compatible layout" },
		{ READ_IMPLIES_EXEC, "reading implies executing" },
		{ ADDR_LIMIT_32BIT, "32-bit addresses" },
		{ SHORT_INODE, "short inodes" },
		{ WHOLE_SECONDS, "whole seconds" },
		{ STICKY_TIMEOUTS, "sticky timeouts" },
		{ ADDR_LIMIT_3GB, "3 GiB of addresses" },
	};
	char hex[32];
	TRY(kernel_read_file(a, "personality", hex, sizeof(hex), items));
	uint64_t value;
	if (items->unknown || !str_to_u64(hex, 16, &value)) {
		items->unknown = true;
		return NULL;
	}
	_cleanup_(str_freep) struct str text = STR_INIT;
	TRY(str_append(&text, (value & 0xff) == PER_LINUX     ? "Linux"
			      : (value & 0xff) == PER_LINUX32 ? "32-bit Linux"
							      : "another"));
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
		if (value & flags[i].bit)
			TRY(text_comma(&text, flags[i].name));
	}
	return items_one(items, text.s);
}
