/* Internals of tracers and tracees; for tracee/ only. */
#pragma once

#include <sched.h>

#include "base/map.h"
#include "base/proc.h"
#include "base/vec.h"
#include "tracee/arch.h"
#include "tracee/tracee.h"

struct breakpoint {
	struct raddr address;
	uint64_t word;
	bool cleared; /* there is one among those shared, but not here */
	uint8_t original[ARCH_BREAK_SIZE];
	bool resting; /* under an overlay */
	/* Determined at the first arrival. */
	bool decoded;
	struct arch_insn insn;
	struct raddr slot;
};

/*
 * Breakpoints that a tracee and its copies have in common: a suite of functions
 * has thousands, and copies are made by the thousand. Never changed; each
 * tracee has its own list of what is new or different.
 */
struct breakpoint_base {
	size_t users;
	VEC(struct breakpoint) all;
	struct map_u64 index; /* address → index */
};

struct overlay {
	struct raddr address;
	uint8_t n;
	uint8_t original[ARCH_INSN_MAX]; /* without breakpoints */
};

struct watched_place {
	struct raddr address;
	unsigned n;    /* 0: this one is free */
	uint64_t seen; /* its value when it was last looked at */
};

/* Memory of our own in the tested process: system call stub, then slots. */
#define REGION_SIZE ((size_t)64 << 10)
struct code_region {
	struct raddr base;
	uint32_t used; /* slots, the first is the stub */
};

/* Pages that memory_write() wrote to and that were not asked for yet. */
#define POKED_MAX 32
struct poked {
	uint64_t pages[POKED_MAX];
	size_t n;
	bool lost; /* there were more, or a child wrote that shares memory */
};

struct tracee {
	struct tracer *tracer;
	/* Shares the memory of this one (vfork): breakpoints are there. */
	struct tracee *owner;
	pid_t pid;
	struct brood *brood; /* NULL: shares memory, and is in its owner's */
	struct pids started; /* what runs because of it: see brood.h */
	int mem_fd;
	bool gone;
	bool pinned;  /* to @cpu, by us */
	bool chooses; /* its own processors: left alone */
	int cpu;
	VEC(struct thread *) threads;
	uint64_t threads_made;
	struct breakpoint_base *base; /* NULL: none are shared */
	/* Its own, which count before those. */
	VEC(struct breakpoint) breakpoints;
	struct map_u64 breakpoint_index; /* address → index */
	/*
	 * Where there were some, and the byte below: a thread may have executed
	 * one before, and the program may write back what it read there.
	 */
	struct map_u64 breakpoints_cleared;
	VEC(struct overlay) overlays;
	struct map_u64 overlay_index; /* address → index */
	bool overlays_kept;	      /* by its children */
	VEC(struct code_region) regions;
	const struct quiet *quiet; /* see quiet.h; NULL: none is */
	struct output *output;
	bool has_tid_address;
	uint64_t tid_address;
	bool has_filters; /* of system calls: see checkpoint_allow_filters() */
	uint64_t filters;
	struct watched_place watches[ARCH_WATCHES];
	unsigned watch_version; /* counts changes; 0: never had any */
	bool has_fault;
	bool reports_faults;
	bool follows; /* its threads: tracee_follow_threads() */
	bool urgent;  /* tracee_tick_urgently() */
	bool (*again)(const struct thread *thread);
	struct poked poked;
	unsigned late_events; /* since it should have ended */
};

struct early_stop {
	pid_t tid;
	int status;
};

struct tracer {
	struct map_u64 threads; /* tid → struct thread * */
	VEC(struct tracee *) tracees;
	/* First stops of tasks whose creation was not yet reported. */
	VEC(struct early_stop) early;
	cpu_set_t cpus; /* as we were started */
	bool pinning;
	bool self_pinned;
	int cpu;
	uint64_t stay_until;
};

/* tracee.c */
struct tracee *tracee_create(struct tracer *tracer, pid_t pid);
struct thread *tracee_add_thread(struct tracee *tracee, pid_t tid);
/* Waits until @thread stops or is gone; others' stops are kept. */
struct err *thread_wait(struct thread *thread, uint64_t deadline,
			int *ret_status) _must_check_;
struct err *thread_fetch(struct thread *thread) _must_check_;
bool status_gone(int status);
/* Takes the stop of a task that is not known yet, if it was seen. */
bool tracer_take_early(struct tracer *tracer, pid_t tid);
struct err *tracer_collect(struct tracer *tracer, bool block,
			   bool *ret_any) _must_check_;
/* How often a wait ends to look at what is not an event. */
enum tracer_pace { TRACER_EASY, TRACER_FAST, TRACER_URGENT };
void tracer_set_pace(enum tracer_pace pace);
/* @group runs from now on; 0: none does. */
void tracer_running(pid_t group);
/* To be called at each tick while one runs. */
void tracer_ticked(void);

/* processors.c */
void processors_turn(struct tracee *tracee);
void processors_release(struct tracee *tracee);
/* A new task that inherited @like's processors. */
void processors_release_task(const struct tracee *like, pid_t tid);

/* breakpoint.c: all breakpoints out of the memory of a forked child. */
struct err *breakpoint_clean(struct tracee *from, pid_t child);
const struct breakpoint *breakpoint_find(const struct tracee *tracee,
					 struct raddr address);
/* All of them, out of our lists alone. */
void breakpoint_forget(struct tracee *tracee);
/* Moves a thread that is at a breakpoint past it (registers only). */
struct err *breakpoint_pass(struct thread *thread,
			    const struct breakpoint *breakpoint) _must_check_;
/* Is @pc in a slot? Then which address of the program it corresponds to. */
bool breakpoint_in_slot(struct tracee *tracee, struct raddr pc,
			struct raddr *ret_address, bool *ret_before);
/* Also: how far into the slot. */
bool breakpoint_slot_offset(struct tracee *tracee, struct raddr pc,
			    uint64_t *ret);
/* @n bytes that were read from @address, as they are without breakpoints. */
/*
 * A break instruction at @at trapped where there is no breakpoint. Was it one of
 * ours? Then it is there no more: it was cleared for another thread, or, where
 * the program has put it there, what was below it is written back.
 */
bool breakpoint_heal(struct tracee *tracee, struct raddr at);
void breakpoint_hide(const struct tracee *tracee, struct raddr address,
		     uint8_t *bytes, size_t n);
struct err *breakpoint_copy(struct tracee *from,
			    struct tracee *to) _must_check_;
/* quiet.c: the same for quiet functions, before that; @fd: its memory. */
struct err *quiet_clean(const struct tracee *from, pid_t child,
			int fd) _must_check_;
struct err *region_any(struct thread *thread, struct raddr *ret) _must_check_;

/* watchpoint.c: gives a stopped thread the watchpoints of its tracee. */
struct err *watchpoint_store(struct thread *thread) _must_check_;
static inline struct err *watchpoint_sync(struct thread *thread)
{
	return thread->watch_version == thread->tracee->watch_version
		       ? NULL
		       : watchpoint_store(thread);
}
/* A thread got SIGTRAP: by a watchpoint? Then notes its hits. */
bool watchpoint_trapped(struct thread *thread);
/* The next hit that was noted. */
bool watchpoint_next(struct thread *thread, struct tracee_event *event);
/* Another program took its place. */
void watchpoint_forget(struct tracee *tracee);

static inline struct tracee *tracee_image(struct tracee *tracee)
{
	return tracee->owner ? tracee->owner : tracee;
}
