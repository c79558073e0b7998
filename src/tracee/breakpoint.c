#include "tracee/breakpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/compare.h"
#include "base/log.h"
#include "base/proc.h"
#include "tracee/memory.h"
#include "tracee/quiet.h"
#include "tracee/remote.h"
#include "tracee/tracee_internal.h"

#define PAGE 4096
/* More of its own than that are shared when a copy is made. */
#define OWN_MIN 16
#define OWN_PART 16
/* A copied function is known by so many bytes at least, without the first. */
#define COPIED_MIN 5U
#define SLOTS (REGION_SIZE / ARCH_SLOT_SIZE)

/* Among its own: also those that only say that one is cleared. */
static struct breakpoint *breakpoint_find_own(const struct tracee *tracee,
					      struct raddr address)
{
	uint64_t index;
	if (!tracee->breakpoints.n ||
	    !map_u64_get(&tracee->breakpoint_index, address.v, &index))
		return NULL;
	return &tracee->breakpoints.data[index];
}

static const struct breakpoint *
breakpoint_find_shared(const struct tracee *tracee, struct raddr address)
{
	const struct breakpoint_base *base = tracee->base;
	uint64_t index;
	if (!base || !map_u64_get(&base->index, address.v, &index))
		return NULL;
	return &base->all.data[index];
}

const struct breakpoint *breakpoint_find(const struct tracee *tracee,
					 struct raddr address)
{
	const struct breakpoint *own = breakpoint_find_own(tracee, address);
	if (own)
		return own->cleared ? NULL : own;
	return breakpoint_find_shared(tracee, address);
}

static struct err *breakpoint_add_own(struct tracee *tracee,
				      const struct breakpoint *breakpoint,
				      struct breakpoint **ret)
{
	BUG_ON(tracee->breakpoints.cap && !tracee->breakpoints.data);
	TRY(vec_push(&tracee->breakpoints, *breakpoint));
	*ret = &tracee->breakpoints.data[tracee->breakpoints.n - 1];
	return map_u64_put(&tracee->breakpoint_index, breakpoint->address.v,
			   tracee->breakpoints.n - 1);
}

/* That at @address, to be changed; NULL: there is none. */
static struct err *breakpoint_make_own(struct tracee *tracee,
				       struct raddr address,
				       struct breakpoint **ret)
{
	const struct breakpoint *shared = NULL;
	*ret = breakpoint_find_own(tracee, address);
	if (!*ret)
		shared = breakpoint_find_shared(tracee, address);
	else if ((*ret)->cleared)
		*ret = NULL;
	return shared ? breakpoint_add_own(tracee, shared, ret) : NULL;
}

/* Calls @each with every breakpoint there is, while it says true. */
static void each_breakpoint(const struct tracee *tracee,
			    bool (*each)(void *data,
					 const struct breakpoint *breakpoint),
			    void *data)
{
	const struct breakpoint_base *base = tracee->base;
	for (size_t i = 0; i < tracee->breakpoints.n; i++) {
		if (!tracee->breakpoints.data[i].cleared &&
		    !each(data, &tracee->breakpoints.data[i]))
			return;
	}
	for (size_t i = 0; base && i < base->all.n; i++) {
		if (!breakpoint_find_own(tracee, base->all.data[i].address) &&
		    !each(data, &base->all.data[i]))
			return;
	}
}

bool breakpoint_at(const struct tracee *tracee, struct raddr address,
		   uint64_t *ret_word)
{
	const struct breakpoint *breakpoint = breakpoint_find(tracee, address);
	if (breakpoint && ret_word)
		*ret_word = breakpoint->word;
	return breakpoint;
}

/* Straight through the mem file: code is never writable by the program. */
static struct err *write_code(int fd, struct raddr address, const void *data,
			      size_t n)
{
	if (pwrite(fd, data, n, (off_t)address.v) != (ssize_t)n)
		return err_errno(errno, "cannot change code at 0x%llx",
				 (unsigned long long)address.v);
	return NULL;
}

static struct overlay *overlay_over(struct tracee *tracee, struct raddr address)
{
	for (uint64_t i = 0; tracee->overlays.n && i < ARCH_INSN_MAX; i++) {
		uint64_t index;
		if (!map_u64_get(&tracee->overlay_index, address.v - i, &index))
			continue;
		struct overlay *overlay = &tracee->overlays.data[index];
		return i < overlay->n ? overlay : NULL;
	}
	return NULL;
}

/* Is our instruction there? The program may have other code there by now. */
static bool breakpoint_holds(struct tracee *tracee, struct raddr address)
{
	uint8_t code[ARCH_BREAK_SIZE];
	return memory_read_some(tracee, address, code, sizeof(code)) ==
		       sizeof(code) &&
	       memcmp(code, arch_break, sizeof(code)) == 0;
}

/* A known one, over the code that is there now. */
static struct err *breakpoint_renew(struct tracee *tracee,
				    const struct breakpoint *known)
{
	struct breakpoint *own;
	if (known->resting || tracee->quiet ||
	    breakpoint_holds(tracee, known->address))
		return NULL;
	TRY(breakpoint_make_own(tracee, known->address, &own));
	BUG_ON(!own);
	TRY(memory_read(tracee, own->address, own->original, ARCH_BREAK_SIZE));
	own->decoded = false;
	return write_code(tracee->mem_fd, own->address, arch_break,
			  ARCH_BREAK_SIZE);
}

struct err *breakpoint_set(struct tracee *tracee, struct raddr address,
			   uint64_t word)
{
	const struct breakpoint *known = breakpoint_find(tracee, address);
	struct breakpoint *own;
	if (known && known->word == word)
		return breakpoint_renew(tracee, known);
	if (known) {
		TRY(breakpoint_make_own(tracee, address, &own));
		BUG_ON(!own);
		own->word = word;
		return breakpoint_renew(tracee, own);
	}
	TRY(quiet_end(tracee));
	struct breakpoint breakpoint = { .address = address, .word = word };
	struct overlay *overlay = overlay_over(tracee, address);
	if (overlay) {
		breakpoint.original[0] =
			overlay->original[address.v - overlay->address.v];
		breakpoint.resting = true;
	} else {
		TRY(memory_read(tracee, address, breakpoint.original,
				ARCH_BREAK_SIZE));
		TRY(write_code(tracee->mem_fd, address, arch_break,
			       ARCH_BREAK_SIZE));
	}
	own = breakpoint_find_own(tracee, address);
	if (!own)
		return breakpoint_add_own(tracee, &breakpoint, &own);
	*own = breakpoint;
	return NULL;
}

struct err *breakpoint_clear(struct tracee *tracee, struct raddr address)
{
	struct breakpoint *known;
	TRY(breakpoint_make_own(tracee, address, &known));
	if (!known)
		return NULL;
	TRY(quiet_end(tracee));
	TRY(map_u64_put(&tracee->breakpoints_cleared, address.v,
			known->original[0]));
	/* Code that the program replaced, or unmapped, is left alone. */
	if (!known->resting && breakpoint_holds(tracee, address))
		TRY(write_code(tracee->mem_fd, address, known->original,
			       ARCH_BREAK_SIZE));
	if (breakpoint_find_shared(tracee, address)) {
		known->cleared = true;
		return NULL;
	}
	map_u64_remove(&tracee->breakpoint_index, address.v);
	*known = tracee->breakpoints.data[--tracee->breakpoints.n];
	if (known->address.v != address.v)
		return map_u64_put(
			&tracee->breakpoint_index, known->address.v,
			(uint64_t)(known - tracee->breakpoints.data));
	return NULL;
}

struct err *breakpoint_overlay(struct tracee *tracee, struct raddr address,
			       const uint8_t *code, size_t n)
{
	BUG_ON(n > ARCH_INSN_MAX);
	if (overlay_over(tracee, address))
		return NULL;
	TRY(quiet_end(tracee));
	struct overlay overlay = { .address = address, .n = (uint8_t)n };
	TRY(memory_read(tracee, address, overlay.original, n));
	for (size_t i = 0; i < n; i++) {
		struct breakpoint *breakpoint;
		TRY(breakpoint_make_own(tracee, raddr_add(address, (int64_t)i),
					&breakpoint));
		if (breakpoint) {
			overlay.original[i] = breakpoint->original[0];
			breakpoint->resting = true;
		}
	}
	TRY(write_code(tracee->mem_fd, address, code, n));
	TRY(vec_push(&tracee->overlays, overlay));
	return map_u64_put(&tracee->overlay_index, address.v,
			   tracee->overlays.n - 1);
}

bool breakpoint_overlaid(struct tracee *tracee, struct raddr address)
{
	return overlay_over(tracee, address);
}

void breakpoint_overlay_children(struct tracee *tracee, bool keep)
{
	tracee->overlays_kept = keep;
}

struct err *breakpoint_overlay_end(struct tracee *tracee, struct raddr address)
{
	struct overlay *overlay = overlay_over(tracee, address);
	if (!overlay)
		return NULL;
	TRY(quiet_end(tracee));
	uint8_t code[ARCH_INSN_MAX];
	memcpy(code, overlay->original, overlay->n);
	for (size_t i = 0; i < overlay->n; i++) {
		struct breakpoint *breakpoint;
		TRY(breakpoint_make_own(tracee,
					raddr_add(overlay->address, (int64_t)i),
					&breakpoint));
		if (breakpoint) {
			code[i] = arch_break[0];
			breakpoint->resting = false;
		}
	}
	TRY(write_code(tracee->mem_fd, overlay->address, code, overlay->n));
	map_u64_remove(&tracee->overlay_index, overlay->address.v);
	size_t index = (size_t)(overlay - tracee->overlays.data);
	*overlay = tracee->overlays.data[--tracee->overlays.n];
	if (index == tracee->overlays.n)
		return NULL;
	return map_u64_put(&tracee->overlay_index, overlay->address.v, index);
}

struct gathered {
	VEC(struct breakpoint) all;
	struct err *err;
};

static void gathered_free(struct gathered *gathered)
{
	vec_free(&gathered->all);
}

static bool breakpoint_gather_one(void *data,
				  const struct breakpoint *breakpoint)
{
	struct gathered *gathered = data;
	gathered->err = vec_push(&gathered->all, *breakpoint);
	return !gathered->err;
}

static struct err *breakpoint_gather_all(const struct tracee *tracee,
					 struct gathered *ret)
{
	each_breakpoint(tracee, breakpoint_gather_one, ret);
	return ret->err;
}

/* A page at a time: a suite of functions has thousands of breakpoints. */
static struct err *breakpoint_clean_page(int fd,
					 const struct breakpoint *breakpoints,
					 size_t n, uint64_t page)
{
	uint8_t code[PAGE];
	if (pread(fd, code, sizeof(code), (off_t)page) != sizeof(code))
		return err_errno(errno, "cannot read code of a child");
	for (size_t i = 0; i < n; i++) {
		uint8_t *at = &code[breakpoints[i].address.v - page];
		if (*at == arch_break[0])
			*at = breakpoints[i].original[0];
	}
	return write_code(fd, RADDR(page), code, sizeof(code));
}

static struct err *breakpoint_clean_one(int fd,
					const struct breakpoint *breakpoint)
{
	uint8_t code[ARCH_BREAK_SIZE];
	off_t at = (off_t)breakpoint->address.v;
	if (pread(fd, code, sizeof(code), at) != sizeof(code) ||
	    memcmp(code, arch_break, sizeof(code)) != 0)
		return NULL;
	return write_code(fd, breakpoint->address, breakpoint->original,
			  ARCH_BREAK_SIZE);
}

struct err *breakpoint_clean(struct tracee *from, pid_t child)
{
	_cleanup_(closep) int fd = proc_open(child, 0, "mem", O_RDWR);
	if (fd < 0)
		return err_errno(errno, "cannot open the memory of child %d",
				 child);
	TRY(quiet_clean(from, child, fd));
	_cleanup_(gathered_free) struct gathered gathered = {};
	TRY(breakpoint_gather_all(from, &gathered));
	const struct breakpoint *sorted = gathered.all.data;
	size_t n = gathered.all.n;
	if (n)
		qsort(gathered.all.data, n, sizeof(*sorted), compare_as_u64);

	for (size_t i = 0; i < n;) {
		uint64_t page = sorted[i].address.v & ~(uint64_t)(PAGE - 1);
		size_t end = i + 1;
		while (end < n && sorted[end].address.v < page + PAGE)
			end++;
		if (end - i > 2)
			TRY(breakpoint_clean_page(fd, sorted + i, end - i,
						  page));
		else
			for (size_t j = i; j < end; j++)
				TRY(breakpoint_clean_one(fd, &sorted[j]));
		i = end;
	}
	for (size_t i = 0; !from->overlays_kept && i < from->overlays.n; i++)
		TRY(write_code(fd, from->overlays.data[i].address,
			       from->overlays.data[i].original,
			       from->overlays.data[i].n));
	return NULL;
}

static void breakpoint_base_release(struct breakpoint_base *base)
{
	if (!base || --base->users)
		return;
	vec_free(&base->all);
	map_u64_free(&base->index);
	free(base);
}

static struct err *breakpoint_base_fill(struct breakpoint_base *base)
{
	for (size_t i = 0; i < base->all.n; i++)
		TRY(map_u64_put(&base->index, base->all.data[i].address.v, i));
	return NULL;
}

/* What it has now is shared from now on. */
static struct err *breakpoint_share_own(struct tracee *tracee)
{
	_cleanup_(gathered_free) struct gathered gathered = {};
	TRY(breakpoint_gather_all(tracee, &gathered));
	struct breakpoint_base *base = calloc(1, sizeof(*base));
	if (!base)
		return err_nomem();
	base->users = 1;
	struct err *err =
		vec_append(&base->all, gathered.all.data, gathered.all.n);
	if (!err)
		err = breakpoint_base_fill(base);
	if (err) {
		breakpoint_base_release(base);
		return err;
	}
	breakpoint_base_release(tracee->base);
	tracee->base = base;
	vec_free(&tracee->breakpoints);
	map_u64_free(&tracee->breakpoint_index);
	return NULL;
}

struct err *breakpoint_copy(struct tracee *from, struct tracee *to)
{
	size_t shared = from->base ? from->base->all.n : 0;
	if (from->breakpoints.n > OWN_MIN + shared / OWN_PART)
		TRY(breakpoint_share_own(from));
	to->base = from->base;
	if (to->base)
		to->base->users++;
	TRY(vec_append(&to->breakpoints, from->breakpoints.data,
		       from->breakpoints.n));
	for (size_t i = 0; i < to->breakpoints.n; i++)
		TRY(map_u64_put(&to->breakpoint_index,
				to->breakpoints.data[i].address.v, i));
	to->overlays_kept = from->overlays_kept;
	TRY(vec_append(&to->overlays, from->overlays.data, from->overlays.n));
	for (size_t i = 0; i < to->overlays.n; i++)
		TRY(map_u64_put(&to->overlay_index,
				to->overlays.data[i].address.v, i));
	to->quiet = from->quiet;
	return vec_append(&to->regions, from->regions.data, from->regions.n);
}

void breakpoint_forget(struct tracee *tracee)
{
	breakpoint_base_release(take_ptr(tracee->base));
	vec_free(&tracee->breakpoints);
	map_u64_free(&tracee->breakpoint_index);
	map_u64_free(&tracee->breakpoints_cleared);
	vec_free(&tracee->overlays);
	map_u64_free(&tracee->overlay_index);
	tracee->quiet = NULL;
}

/*
 * An unmapped hole of REGION_SIZE near to @near. Better below a mapping than
 * above: the heap grows upwards from the end of the program. And not right
 * below the stack, which grows downwards.
 */
#define HEAP_ROOM ((uint64_t)512 << 20)

static bool region_find_hole(pid_t pid, struct raddr near, struct raddr *ret)
{
	_cleanup_(proc_maps_freep) struct proc_maps maps = {};
	struct err *err = proc_read_maps(pid, &maps);
	if (err) {
		err_ignore(err);
		return false;
	}
	uint64_t free_from = 0x10000, best = 0, best_distance = UINT64_MAX;
	for (size_t i = 0; i < maps.n; i++) {
		const struct proc_mapping *mapping = &maps.data[i];
		uint64_t start = mapping->start;
		if (start >= (1ULL << 47))
			break;
		uint64_t at = start - REGION_SIZE;
		if (start > near.v)
			at = free_from + HEAP_ROOM;
		if (start >= REGION_SIZE && at >= free_from &&
		    at + REGION_SIZE <= start &&
		    strcmp(mapping->path, "[stack]") != 0) {
			uint64_t distance =
				at > near.v ? at - near.v : near.v - at;
			if (distance < best_distance) {
				best = at;
				best_distance = distance;
			}
		}
		free_from = mapping->end;
	}
	*ret = RADDR(best);
	return best;
}

static struct err *region_add(struct thread *thread, struct raddr near,
			      struct code_region **ret)
{
	struct tracee *image = tracee_image(thread->tracee);
	struct raddr hole;
	if (!region_find_hole(thread->tracee->pid, near, &hole))
		return err_create(ERR_INTERNAL,
				  "no room in the tested program's memory");
	const uint64_t args[6] = {
		hole.v,
		REGION_SIZE,
		PROT_READ | PROT_EXEC,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
		(uint64_t)-1,
		0,
	};
	int64_t got;
	TRY(remote_syscall(thread, SYS_mmap, args, &got));
	if (got < 0 && got > -4096)
		return err_errno((int)-got, "cannot map memory in the tested "
					    "program");
	struct code_region region = { .base = RADDR(got), .used = 1 };
	TRY(write_code(image->mem_fd, region.base, arch_syscall_stub,
		       ARCH_SYSCALL_STUB_SIZE));
	TRY(vec_push(&image->regions, region));
	log_debug(LOG_TRACEE, "our memory in %d: 0x%llx", image->pid,
		  (unsigned long long)got);
	if (ret)
		*ret = &image->regions.data[image->regions.n - 1];
	return NULL;
}

struct err *region_any(struct thread *thread, struct raddr *ret)
{
	struct tracee *image = tracee_image(thread->tracee);
	if (!image->regions.n)
		TRY(region_add(thread, regs_pc(&thread->regs), NULL));
	*ret = image->regions.data[0].base;
	return NULL;
}

struct err *breakpoint_code(struct thread *thread, struct raddr near,
			    const uint8_t *code, size_t n, struct raddr *ret)
{
	struct tracee *image = tracee_image(thread->tracee);
	struct code_region *region;
	TRY(region_add(thread, near, &region));
	size_t slots = (n + ARCH_SLOT_SIZE - 1) / ARCH_SLOT_SIZE;
	BUG_ON(region->used + slots > SLOTS);
	struct raddr at =
		raddr_add(region->base, (int64_t)region->used * ARCH_SLOT_SIZE);
	TRY(write_code(image->mem_fd, at, code, n));
	region->used += (uint32_t)slots;
	*ret = at;
	return NULL;
}

static struct err *region_find_slot(struct thread *thread,
				    const struct breakpoint *breakpoint,
				    struct raddr *ret)
{
	struct tracee *image = tracee_image(thread->tracee);
	for (int round = 0; round < 2; round++) {
		for (size_t i = 0; i < image->regions.n; i++) {
			struct code_region *region = &image->regions.data[i];
			struct raddr slot =
				raddr_add(region->base, (int64_t)region->used *
								ARCH_SLOT_SIZE);
			if (region->used == SLOTS ||
			    !arch_slot_reaches(&breakpoint->insn,
					       breakpoint->address, slot))
				continue;
			region->used++;
			*ret = slot;
			return NULL;
		}
		if (round == 0)
			TRY(region_add(thread, breakpoint->address, NULL));
	}
	return err_create(ERR_INTERNAL, "no memory of ours in reach of 0x%llx",
			  (unsigned long long)breakpoint->address.v);
}

void breakpoint_hide(const struct tracee *tracee, struct raddr address,
		     uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct breakpoint *breakpoint =
			breakpoint_find(tracee, raddr_add(address, (int64_t)i));
		if (breakpoint && bytes[i] == arch_break[0])
			bytes[i] = breakpoint->original[0];
	}
}

/* A function that the program copied, with our instruction at its entry. */
struct copied_search {
	struct tracee *tracee;
	uint8_t after[ARCH_INSN_MAX]; /* what follows in the copy */
	size_t n;
	uint8_t original;
	bool found, differs;
};

static bool breakpoint_match_copy(void *data,
				  const struct breakpoint *breakpoint)
{
	struct copied_search *search = data;
	uint8_t bytes[ARCH_INSN_MAX];
	struct arch_insn insn;
	size_t n = memory_read_some(search->tracee, breakpoint->address, bytes,
				    sizeof(bytes));
	breakpoint_hide(search->tracee, breakpoint->address, bytes, n);
	struct err *err = arch_decode(bytes, n, breakpoint->address, &insn);
	if (err) {
		err_ignore(err);
		return true;
	}
	size_t length = MAX(insn.length, COPIED_MIN);
	if (length > n || length - 1 > search->n ||
	    memcmp(bytes + 1, search->after, length - 1) != 0)
		return true;
	search->differs |= search->found && search->original != bytes[0];
	search->found = true;
	search->original = bytes[0];
	return true;
}

bool breakpoint_heal(struct tracee *tracee, struct raddr at)
{
	struct copied_search search = { .tracee = tracee };
	uint64_t original;
	if (map_u64_get(&tracee->breakpoints_cleared, at.v, &original)) {
		search.original = (uint8_t)original;
		search.found = true;
	}
	if (!breakpoint_holds(tracee, at))
		return search.found;
	if (!search.found) {
		search.n = memory_read_some(tracee, raddr_add(at, 1),
					    search.after, sizeof(search.after));
		each_breakpoint(tracee, breakpoint_match_copy, &search);
	}
	if (!search.found || search.differs || search.original == arch_break[0])
		return false;
	log_debug(LOG_TRACEE,
		  "the program wrote a break instruction of ours to 0x%llx",
		  (unsigned long long)at.v);
	struct err *err = memory_write(tracee, at, &search.original, 1);
	bool done = !err;
	err_ignore(err);
	return done;
}

bool breakpoint_call_before(struct tracee *tracee, struct raddr return_to,
			    struct raddr *ret)
{
	uint8_t bytes[ARCH_CODE_BEFORE];
	/* At the very beginning of a mapping there is less. */
	uint64_t page = return_to.v & ~(uint64_t)(PAGE - 1);
	size_t n = sizeof(bytes);
	struct raddr start = raddr_add(return_to, -(int64_t)n);
	if (memory_read_some(tracee, start, bytes, n) != n) {
		n = return_to.v - page;
		start = RADDR(page);
		if (n > sizeof(bytes) ||
		    memory_read_some(tracee, start, bytes, n) != n)
			return false;
	}
	breakpoint_hide(tracee, start, bytes, n);
	const struct arch_code code = {
		.bytes = bytes, .n = n, .before = n, .pc = return_to
	};
	size_t length = arch_call_before(&code);
	*ret = raddr_add(return_to, -(int64_t)length);
	return length;
}

bool breakpoint_code_returns(struct tracee *tracee, struct raddr address,
			     size_t n)
{
	uint8_t code[PAGE];
	/* Those that never return are short. */
	if (!n || n > sizeof(code) ||
	    memory_read_some(tracee, address, code, n) != n)
		return true;
	breakpoint_hide(tracee, address, code, n);
	return arch_returns(code, n, address);
}

unsigned breakpoint_code_arguments(struct tracee *tracee, struct raddr address,
				   size_t n)
{
	uint8_t code[PAGE];
	n = memory_read_some(tracee, address, code, MIN(n, sizeof(code)));
	breakpoint_hide(tracee, address, code, n);
	return arch_arguments(code, n, address);
}

static struct err *breakpoint_decode_insn(struct thread *thread,
					  struct breakpoint *breakpoint)
{
	struct tracee *image = tracee_image(thread->tracee);
	uint8_t bytes[ARCH_INSN_MAX];
	size_t n = memory_read_some(image, breakpoint->address, bytes,
				    sizeof(bytes));
	if (!n)
		return err_create(ERR_INTERNAL, "code is gone at 0x%llx",
				  (unsigned long long)breakpoint->address.v);
	breakpoint_hide(image, breakpoint->address, bytes, n);
	struct arch_insn insn;
	TRY(arch_decode(bytes, n, breakpoint->address, &insn));
	if (getenv("POLYGRAPH_FAULT_STEP"))
		insn.kind =
			ARCH_STEP; /* for tests: as if nothing else worked */
	breakpoint->insn = insn;
	if (insn.kind == ARCH_SLOT) {
		uint8_t code[ARCH_SLOT_SIZE];
		struct raddr slot = RADDR(0);
		struct err *err = region_find_slot(thread, breakpoint, &slot);
		if (err) {
			log_debug(LOG_TRACEE, "%s", err_message(err));
			err_destroy(err);
			breakpoint->insn.kind = ARCH_STEP;
		} else {
			arch_slot_write(&insn, breakpoint->address, slot, code);
			TRY(write_code(image->mem_fd, slot, code,
				       sizeof(code)));
			breakpoint->slot = slot;
		}
	}
	if (breakpoint->insn.kind == ARCH_STEP)
		log_debug(LOG_TRACEE,
			  "breakpoint at 0x%llx is stepped with all threads "
			  "stopped: its instruction %s",
			  (unsigned long long)breakpoint->address.v,
			  insn.kind == ARCH_STEP ? "cannot be moved"
						 : "is out of reach of a slot");
	breakpoint->decoded = true;
	return NULL;
}

/*
 * The slow way: all other threads are stopped while the instruction is executed
 * in place.
 */
static struct err *breakpoint_step_in_place(struct thread *thread,
					    const struct breakpoint *breakpoint)
{
	struct tracee *image = tracee_image(thread->tracee);
	struct raddr address = breakpoint->address;
	uint8_t original[ARCH_BREAK_SIZE];
	memcpy(original, breakpoint->original, sizeof(original));

	TRY(tracee_stop_all(image));
	TRY(write_code(image->mem_fd, address, original, ARCH_BREAK_SIZE));
	TRY(thread_store(thread));
	thread->stopped = false;
	if (ptrace(PTRACE_SINGLESTEP, thread->tid, 0, 0) < 0)
		return err_errno(errno, "cannot step");
	int status;
	TRY(thread_wait(thread, 0, &status));
	TRY(write_code(image->mem_fd, address, arch_break, ARCH_BREAK_SIZE));
	if (status_gone(status)) {
		thread->has_waiting = true;
		return NULL;
	}
	/* A signal came first: it is handled like any other. */
	if (status >> 16 || WSTOPSIG(status) != SIGTRAP)
		thread->has_waiting = true;
	else
		watchpoint_trapped(thread); /* by the step, too */
	return NULL;
}

static struct err *breakpoint_take_branch(struct thread *thread,
					  const struct breakpoint *breakpoint)
{
	bool load;
	struct raddr target = arch_branch_target(
		&breakpoint->insn, breakpoint->address, &thread->regs, &load);
	if (load)
		TRY(memory_read_u64(thread->tracee, target, &target.v));
	if (breakpoint->insn.call) {
		struct raddr sp = raddr_add(regs_sp(&thread->regs), -8);
		TRY(memory_write_u64(thread->tracee, sp,
				     breakpoint->address.v +
					     breakpoint->insn.length));
		regs_set_sp(&thread->regs, sp);
	}
	regs_set_pc(&thread->regs, target);
	thread_dirty(thread);
	return NULL;
}

/* Has the program changed the instruction since it was decoded? */
static bool breakpoint_is_stale(struct tracee *image,
				const struct breakpoint *breakpoint)
{
	uint8_t bytes[ARCH_INSN_MAX];
	size_t n = breakpoint->insn.length;
	if (memory_read_some(image, breakpoint->address, bytes, n) != n)
		return false;
	breakpoint_hide(image, breakpoint->address, bytes, n);
	return memcmp(bytes, breakpoint->insn.bytes, n) != 0;
}

struct err *breakpoint_pass(struct thread *thread,
			    const struct breakpoint *breakpoint)
{
	struct tracee *image = tracee_image(thread->tracee);
	bool stale =
		breakpoint->decoded && breakpoint_is_stale(image, breakpoint);
	if (stale && !breakpoint_holds(image, breakpoint->address))
		return NULL; /* other code is there: it runs in place */
	if (!breakpoint->decoded || stale) {
		struct raddr address = breakpoint->address;
		struct breakpoint *own;
		TRY(breakpoint_make_own(tracee_image(thread->tracee), address,
					&own));
		BUG_ON(!own);
		breakpoint = own;
		struct err *err = breakpoint_decode_insn(thread, own);
		if (err)
			return err_prefix(err, "breakpoint at 0x%llx",
					  (unsigned long long)address.v);
	}
	switch (breakpoint->insn.kind) {
	case ARCH_SLOT:
		regs_set_pc(&thread->regs, breakpoint->slot);
		thread_dirty(thread);
		return NULL;
	case ARCH_BRANCH:
		return breakpoint_take_branch(thread, breakpoint);
	default:
		return breakpoint_step_in_place(thread, breakpoint);
	}
}

bool breakpoint_slot_offset(struct tracee *tracee, struct raddr pc,
			    uint64_t *ret)
{
	for (size_t i = 0; i < tracee->regions.n; i++) {
		uint64_t base = tracee->regions.data[i].base.v;
		if (pc.v < base || pc.v >= base + REGION_SIZE)
			continue;
		*ret = (pc.v - base) % ARCH_SLOT_SIZE;
		return true;
	}
	return false;
}

struct slot_search {
	struct raddr pc;
	const struct breakpoint *found;
};

static bool is_in_slot(void *data, const struct breakpoint *breakpoint)
{
	struct slot_search *search = data;
	if (breakpoint->decoded && breakpoint->insn.kind == ARCH_SLOT &&
	    search->pc.v >= breakpoint->slot.v &&
	    search->pc.v < breakpoint->slot.v + ARCH_SLOT_SIZE)
		search->found = breakpoint;
	return !search->found;
}

bool breakpoint_in_slot(struct tracee *tracee, struct raddr pc,
			struct raddr *ret_address, bool *ret_before)
{
	uint64_t offset;
	if (!breakpoint_slot_offset(tracee, pc, &offset))
		return false;
	struct slot_search search = { .pc = pc };
	each_breakpoint(tracee, is_in_slot, &search);
	const struct breakpoint *breakpoint = search.found;
	if (!breakpoint)
		return false;
	*ret_before = raddr_eq(pc, breakpoint->slot);
	*ret_address = raddr_add(breakpoint->address,
				 *ret_before ? 0 : breakpoint->insn.length);
	return true;
}
