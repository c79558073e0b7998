#include "tracee/quiet.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/compare.h"
#include "base/log.h"
#include "base/vec.h"
#include "tracee/memory.h"
#include "tracee/tracee_internal.h"

#define PAGE ((uint64_t)4096)
/* Code that is read and written at once. */
#define SPAN_MAX ((uint64_t)64 << 10)

struct quiet_change {
	struct raddr address;
	uint8_t n;
	uint8_t loud[ARCH_INSN_MAX]; /* a breakpoint, and what follows */
	uint8_t quiet[ARCH_INSN_MAX];
};

struct quiet {
	VEC(struct quiet_change) changes; /* by address, none overlap */
};

/* A breakpoint at another place than the entry would be lost. */
static bool has_breakpoint(const struct tracee *tracee, struct raddr address,
			   size_t n)
{
	for (size_t i = 1; i < n; i++) {
		if (breakpoint_find(tracee, raddr_add(address, (int64_t)i)))
			return true;
	}
	return false;
}

static struct err *quiet_add_change(struct tracee *tracee, struct quiet *quiet,
				    const struct quiet_function *function,
				    uint64_t room)
{
	struct quiet_change change = { .address = function->address };
	size_t n = arch_return(&function->result, change.quiet);
	const struct breakpoint *breakpoint =
		breakpoint_find(tracee, function->address);
	if (!breakpoint || breakpoint->resting || n > function->size ||
	    n > room || has_breakpoint(tracee, function->address, n) ||
	    memory_read_some(tracee, change.address, change.loud, n) != n ||
	    memcmp(change.loud, arch_break, ARCH_BREAK_SIZE) != 0) {
		log_debug(
			LOG_TRACEE,
			"function at 0x%llx is not replaced by a return: it is "
			"too short, or has no breakpoint of ours alone",
			(unsigned long long)function->address.v);
		return NULL;
	}
	change.n = (uint8_t)n;
	return vec_push(&quiet->changes, change);
}

struct err *quiet_create(struct tracee *tracee,
			 const struct quiet_function *functions, size_t n,
			 struct quiet **ret)
{
	_cleanup_(freep) struct quiet_function *sorted =
		calloc(n + 1, sizeof(*sorted));
	struct quiet *quiet = calloc(1, sizeof(*quiet));
	if (!sorted || !quiet) {
		free(quiet);
		return err_nomem();
	}
	if (n)
		memcpy(sorted, functions, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), compare_as_u64);
	for (size_t i = 0; i < n; i++) {
		uint64_t room = i + 1 < n ? sorted[i + 1].address.v -
						    sorted[i].address.v
					  : UINT64_MAX;
		if (!room)
			continue; /* another name of it */
		struct err *err =
			quiet_add_change(tracee, quiet, &sorted[i], room);
		if (err) {
			quiet_destroy(quiet);
			return err;
		}
	}
	*ret = quiet;
	return NULL;
}

void quiet_destroy(struct quiet *quiet)
{
	if (!quiet)
		return;
	vec_free(&quiet->changes);
	free(quiet);
}

/* How many changes, from @at on, are in one span; and where that is. */
static size_t find_span(const struct quiet *quiet, size_t at,
			uint64_t *ret_start, uint64_t *ret_end)
{
	const struct quiet_change *changes = quiet->changes.data;
	uint64_t start = changes[at].address.v, end = start + changes[at].n;
	size_t n = 1;
	for (; at + n < quiet->changes.n; n++) {
		const struct quiet_change *next = &changes[at + n];
		/* Pages in between would be copied for nothing. */
		if (next->address.v > (end | (PAGE - 1)) + 1 + PAGE ||
		    next->address.v + next->n - start > SPAN_MAX)
			break;
		end = next->address.v + next->n;
	}
	*ret_start = start;
	*ret_end = end;
	return n;
}

/* Only where it is as it was left: the program may have other code there now. */
static bool quiet_apply_change(const struct quiet_change *change,
			       const uint8_t *from, const uint8_t *to,
			       uint8_t *code)
{
	if (memcmp(code, from, change->n) != 0)
		return false;
	memcpy(code, to, change->n);
	return true;
}

/* Many pages at once if it can be; see memory.c. */
static bool quiet_read_code(pid_t pid, int fd, uint64_t start, uint8_t *out,
			    size_t n)
{
	struct iovec local = { out, n };
	struct iovec remote = { (void *)(uintptr_t)start, n };
	return process_vm_readv(pid, &local, 1, &remote, 1, 0) == (ssize_t)n ||
	       pread(fd, out, n, (off_t)start) == (ssize_t)n;
}

static struct err *change_span(pid_t pid, int fd,
			       const struct quiet_change *changes, size_t n,
			       uint64_t start, uint64_t end, bool begins,
			       struct raddr except)
{
	uint8_t code[SPAN_MAX];
	size_t size = end - start;
	bool any = false;
	BUG_ON(size > sizeof(code));
	if (!quiet_read_code(pid, fd, start, code, size))
		return NULL; /* it is gone */
	for (size_t i = 0; i < n; i++) {
		const struct quiet_change *change = &changes[i];
		if (begins && raddr_eq(change->address, except))
			continue;
		any |= quiet_apply_change(change,
					  begins ? change->loud : change->quiet,
					  begins ? change->quiet : change->loud,
					  code + (change->address.v - start));
	}
	if (any && pwrite(fd, code, size, (off_t)start) != (ssize_t)size)
		return err_errno(errno, "cannot change code at 0x%llx",
				 (unsigned long long)start);
	return NULL;
}

static struct err *change_all(pid_t pid, int fd, const struct quiet *quiet,
			      bool begins, struct raddr except)
{
	for (size_t i = 0; i < quiet->changes.n;) {
		uint64_t start, end;
		size_t n = find_span(quiet, i, &start, &end);
		TRY(change_span(pid, fd, quiet->changes.data + i, n, start, end,
				begins, except));
		i += n;
	}
	return NULL;
}

struct err *quiet_begin(struct tracee *tracee, const struct quiet *quiet,
			struct raddr except)
{
	if (tracee->threads.n != 1 || tracee->owner)
		return NULL;
	TRY(quiet_end(tracee));
	tracee->quiet = quiet;
	return change_all(tracee->pid, tracee->mem_fd, quiet, true, except);
}

static const struct quiet_change *change_around(const struct quiet *quiet,
						struct raddr pc)
{
	size_t low = 0, high = quiet->changes.n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct quiet_change *change =
			&quiet->changes.data[middle];
		if (pc.v < change->address.v)
			high = middle;
		else if (pc.v >= change->address.v + change->n)
			low = middle + 1;
		else
			return change;
	}
	return NULL;
}

/* A thread that is about to leave a function that will no longer be quiet. */
static struct err *lead_out(struct thread *thread, const struct quiet *quiet)
{
	TRY(thread_store(thread));
	TRY(thread_fetch(thread));
	struct raddr pc = regs_pc(&thread->regs), sp = regs_sp(&thread->regs);
	const struct quiet_change *change = change_around(quiet, pc);
	if (!change || raddr_eq(change->address, pc) ||
	    pc.v != change->address.v + change->n - ARCH_RETURN_SIZE)
		return NULL;
	uint64_t return_to;
	TRY(memory_read_u64(thread->tracee, sp, &return_to));
	regs_set_sp(&thread->regs, raddr_add(sp, sizeof(return_to)));
	regs_set_pc(&thread->regs, RADDR(return_to));
	thread_dirty(thread);
	return thread_store(thread);
}

struct err *quiet_end(struct tracee *tracee)
{
	const struct quiet *quiet = tracee->quiet;
	if (!quiet)
		return NULL;
	tracee->quiet = NULL;
	if (tracee->threads.n > 1) {
		TRY(tracee_stop_all(tracee));
		for (size_t i = 0; i < tracee->threads.n; i++) {
			if (tracee->threads.data[i]->stopped)
				err_ignore(lead_out(tracee->threads.data[i],
						    quiet));
		}
	}
	return change_all(tracee->pid, tracee->mem_fd, quiet, false, RADDR(0));
}

bool quiet_is(const struct tracee *tracee)
{
	return tracee->quiet;
}

struct err *quiet_clean(const struct tracee *from, pid_t child, int fd)
{
	return from->quiet ? change_all(child, fd, from->quiet, false, RADDR(0))
			   : NULL;
}
