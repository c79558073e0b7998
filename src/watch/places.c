#include "watch/places.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/proc.h"
#include "dwarf/frames.h"
#include "watch/call_stack.h"
#include "watch/readers.h"

/*
 * After this many accesses of one test without a verdict (it writes one byte of
 * eight over and over) there is none.
 */
#define PATIENCE 64
/* Stacks that are walked for a traced place in one test. */
#define WALKS_MAX 200

/* A watchpoint of this process, and what the running test did there. */
struct part {
	size_t place;
	struct raddr address;
	unsigned n;
	uint8_t own; /* bytes that the test has written before */
	unsigned touched;
};

/* A place in memory. */
struct place {
	struct suite_place at;
	bool there;   /* in this process, by now */
	bool past;    /* its last test has ended */
	bool done;    /* nothing more to learn in this test */
	pid_t reader; /* that thread of the test read it; 0: none */
	/* Of a traced one: where this test wrote it last, and read it first. */
	struct call_stack *wrote, *read;
	unsigned walks;
};

struct places {
	struct watch_host host;
	VEC(struct place) all;
	struct part parts[WATCHPOINTS];
	unsigned n_parts;
	size_t ended; /* the last test; PLACES_NO_TEST: none, or one runs */
	struct readers *readers; /* of the other places; NULL: there are none */
	/*
	 * Threads from before the first test, which work for all of them, and
	 * those that an earlier test left: what these do when is chance. So is
	 * what one does that this test leaves; it is known when the test ends.
	 */
	struct pids early, left;
};

/* The largest aligned piece from @address on that has room in @size bytes. */
static unsigned place_aligned_piece(uint64_t address, uint64_t size)
{
	unsigned n = 8;
	while (n > 1 && (address % n || n > size))
		n /= 2;
	return n;
}

/* The next piece of a place that no watchpoint covers yet; false: there is none. */
static bool cover_more(struct places *places, size_t index)
{
	const struct suite_place *place = &places->all.data[index].at;
	uint64_t covered = 0;
	for (unsigned i = 0; i < places->n_parts; i++) {
		if (places->parts[i].place == index)
			covered += places->parts[i].n;
	}
	if (covered >= place->size)
		return false;
	uint64_t at = place->address + covered;
	unsigned n = place_aligned_piece(at, place->size - covered);
	places->parts[places->n_parts++] = (struct part){
		.place = index,
		.address = RADDR(at),
		.n = n,
	};
	return true;
}

/*
 * One watchpoint for each place that counts now; what is left over goes to the
 * larger ones.
 */
static void share_out(struct places *places)
{
	bool any = true;
	places->n_parts = 0;
	while (places->n_parts < WATCHPOINTS && any) {
		any = false;
		for (size_t i = 0;
		     i < places->all.n && places->n_parts < WATCHPOINTS; i++) {
			const struct place *place = &places->all.data[i];
			if (place->there && !place->past)
				any |= cover_more(places, i);
		}
	}
}

struct err *places_create(const struct watch_host *host,
			  const struct suite_place *list, size_t n,
			  struct places **ret)
{
	_cleanup_(places_destroyp) struct places *places =
		calloc(1, sizeof(*places));
	if (!places)
		return err_nomem();
	places->host = *host;
	places->ended = PLACES_NO_TEST;
	for (size_t i = 0; i < n && list[i].where == CHANGE_MEMORY; i++) {
		struct place place = { .at = list[i] };
		TRY(vec_push(&places->all, place));
	}
	TRY(readers_create(host, list, n, &places->readers));
	*ret = take_ptr(places);
	return NULL;
}

bool places_add(struct places *places, const struct suite_place *place,
		size_t test)
{
	const struct place added = { .at = *place, .there = true };
	if (places->all.n >= WATCHPOINTS || places->ended != test)
		return false;
	struct err *err = watchpoint_check_machine();
	if (!err)
		err = vec_push(&places->all, added);
	bool done = !err;
	err_ignore(err);
	return done;
}

static void place_forget_stack(struct call_stack **stack)
{
	if (*stack)
		call_stack_clear(*stack);
	free(*stack);
	*stack = NULL;
}

static void place_forget_stacks(struct place *place)
{
	place_forget_stack(&place->wrote);
	place_forget_stack(&place->read);
	place->walks = 0;
}

bool places_follow(const struct places *places)
{
	return places->readers;
}

void places_destroy(struct places *places)
{
	if (!places)
		return;
	readers_destroy(places->readers);
	for (size_t i = 0; i < places->all.n; i++)
		place_forget_stacks(&places->all.data[i]);
	vec_free(&places->all);
	vec_free(&places->early);
	vec_free(&places->left);
	free(places);
}

static bool was_run(const struct watch_process *process, size_t test)
{
	for (size_t i = 0; i < process->n_before; i++) {
		if (process->before[i] == test)
			return true;
	}
	return false;
}

/* Does this machine have watchpoints at all? Better said before the first test. */
struct err *places_start(struct places *places,
			 const struct watch_process *process)
{
	if (places->readers)
		TRY(readers_start(places->readers, process));
	for (size_t i = 0; i < places->all.n; i++) {
		struct place *place = &places->all.data[i];
		place->there = place->at.from_test == (size_t)-1 ||
			       was_run(process, place->at.from_test);
		place->past |= place->at.up_to &&
			       was_run(process, place->at.up_to - 1);
	}
	places->early.n = 0;
	for (size_t i = 0; i < tracee_threads(process->tracee); i++)
		TRY(vec_push(&places->early,
			     tracee_thread(process->tracee, i)->tid));
	if (!places->all.n)
		return NULL;
	struct raddr somewhere =
		RADDR(regs_sp(&process->thread->regs).v & ~(uint64_t)7);
	TRY(watchpoint_set(process->tracee, 0, somewhere, 8));
	watchpoint_clear(process->tracee, 0);
	return NULL;
}

void places_stop(struct places *places)
{
	if (places->readers)
		readers_stop(places->readers);
}

static void note_left_threads(struct places *places, struct tracee *tracee)
{
	places->left.n = 0;
	for (size_t i = 0; i < tracee_threads(tracee); i++) {
		pid_t tid = tracee_thread(tracee, i)->tid;
		if (!pids_have(&places->early, tid))
			err_ignore(vec_push(&places->left, tid));
	}
}

void places_begin(struct places *places, struct tracee *tracee)
{
	places->ended = PLACES_NO_TEST;
	note_left_threads(places, tracee);
	if (places->readers)
		readers_begin(places->readers, tracee);
	for (size_t i = 0; i < places->all.n; i++) {
		places->all.data[i].done = false;
		places->all.data[i].reader = 0;
		place_forget_stacks(&places->all.data[i]);
	}
	share_out(places);
	for (unsigned i = places->n_parts; i < WATCHPOINTS; i++)
		watchpoint_clear(tracee, i);
	for (unsigned i = 0; i < places->n_parts; i++) {
		const struct part *part = &places->parts[i];
		struct err *err =
			watchpoint_set(tracee, i, part->address, part->n);
		if (err)
			log_debug(LOG_WATCH, "place %zu: %s", part->place,
				  err_message(err));
		err_ignore(err); /* not an address of the program's */
	}
}

static bool has_thread(struct tracee *tracee, pid_t tid)
{
	for (size_t i = 0; i < tracee_threads(tracee); i++) {
		if (tracee_thread(tracee, i)->tid == tid)
			return true;
	}
	return false;
}

static void tell_reader(const struct places *places, size_t test, size_t place)
{
	const struct suite_observer *observer = *places->host.observer;
	log_debug(LOG_WATCH, "test %zu reads place %zu", test, place);
	if (observer && observer->read)
		observer->read(observer->data, test, place, false);
}

static void tell_stack(const struct places *places, size_t test, size_t place,
		       bool writes, const struct call_stack *stack)
{
	const struct suite_observer *observer = *places->host.observer;
	if (stack && stack->n && observer && observer->traced)
		observer->traced(observer->data, test, place, writes,
				 stack->frames, stack->n);
}

void places_end(struct places *places, struct tracee *tracee, size_t test)
{
	if (tracee_threads(tracee) > 1)
		tracee_reap(tracee); /* those that the test waited for */
	for (size_t i = 0; i < places->all.n; i++) {
		struct place *place = &places->all.data[i];
		place->there |= place->at.from_test == test;
		place->past |= place->at.up_to == test + 1;
		if (place->reader && !place->done &&
		    !has_thread(tracee, place->reader))
			tell_reader(places, test, i);
		place->reader = 0;
		tell_stack(places, test, i, true, place->wrote);
		tell_stack(places, test, i, false, place->read);
	}
	places->ended = test;
	if (places->readers)
		readers_end(places->readers, tracee, test);
}

struct places_search {
	const struct program *program;
	bool found;
};

static bool is_allocator(void *data, const struct frame *frame)
{
	static const char *const names[] = {
		"malloc",	 "calloc",	   "realloc",
		"free",		 "cfree",	   "__libc_malloc",
		"__libc_calloc", "__libc_realloc", "__libc_free",
	};
	struct places_search *search = data;
	const struct module *module =
		program_module(search->program, RADDR(frame->pc));
	for (size_t i = 0; frame->function && i < ARRAY_SIZE(names); i++)
		search->found |= !strcmp(frame->function, names[i]);
	return !search->found && module && module->system;
}

/* free() looks at the block for its own purposes. */
static bool by_allocator(const struct places *places,
			 const struct tracee *tracee,
			 const struct thread *thread)
{
	struct places_search search = { places->host.program, false };
	const struct module *module =
		program_module(search.program, regs_pc(&thread->regs));
	if (!module || !module->system)
		return false;
	err_ignore(frames_walk(tracee_pid(tracee), thread->tid, is_allocator,
			       &search));
	return search.found;
}

static void leave_alone(struct places *places, struct tracee *tracee,
			size_t place)
{
	places->all.data[place].done = true;
	for (unsigned i = 0; i < places->n_parts; i++) {
		if (places->parts[i].place == place)
			watchpoint_clear(tracee, i);
	}
}

struct places_walk {
	const struct program *program;
	struct call_stack *stack;
	bool inside; /* the innermost was met */
};

static bool note_frame(void *data, const struct frame *frame)
{
	struct places_walk *walk = data;
	/* The thread has left the instruction that touched the place. */
	uint64_t code = walk->inside ? frame->code : frame->pc - 1;
	walk->inside = true;
	return call_stack_add(walk->stack, walk->program, code);
}

/* Where the thread is, in *@ret, instead of what is there. */
static void walk_stack(const struct places *places, const struct tracee *tracee,
		       pid_t tid, struct call_stack **ret)
{
	struct places_walk walk = { .program = places->host.program };
	if (!*ret)
		*ret = calloc(1, sizeof(**ret));
	if (!*ret)
		return;
	walk.stack = *ret;
	call_stack_clear(*ret);
	/* What was walked until an error counts. */
	err_ignore(frames_walk(tracee_pid(tracee), tid, note_frame, &walk));
	call_stack_finish(*ret);
}

/* Of a traced place: the event comes after the instruction. */
static void trace_touch(struct places *places, struct tracee *tracee,
			struct part *part, const struct tracee_event *event)
{
	struct place *place = &places->all.data[part->place];
	bool reads = event->read & ~part->own;
	log_debug(LOG_WATCH, "traced place %zu: read %x, written %x at %llx",
		  part->place, event->read, event->written,
		  (unsigned long long)regs_pc(&event->thread->regs).v);
	if (place->walks++ == WALKS_MAX) {
		leave_alone(places, tracee, part->place);
		return;
	}
	if (reads && !place->read &&
	    !by_allocator(places, tracee, event->thread))
		walk_stack(places, tracee, event->thread->tid, &place->read);
	if (event->written)
		walk_stack(places, tracee, event->thread->tid, &place->wrote);
	part->own |= event->written;
}

void places_touched(struct places *places, struct tracee *tracee, size_t test,
		    const struct tracee_event *event)
{
	if (event->slot >= places->n_parts)
		return;
	struct part *part = &places->parts[event->slot];
	struct place *place = &places->all.data[part->place];
	if (test == PLACES_NO_TEST || place->done) {
		watchpoint_clear(tracee, event->slot);
		return;
	}
	pid_t tid = event->thread->tid;
	if (pids_have(&places->left, tid))
		return; /* none of the test's */
	if (place->at.traced) {
		trace_touch(places, tracee, part, event);
		return;
	}
	bool reads = event->read & ~part->own;
	if (reads && place->at.from_test != (size_t)-1 &&
	    by_allocator(places, tracee, event->thread))
		reads = false;
	if (reads && pids_have(&places->early, tid)) {
		tell_reader(places, test, part->place);
		leave_alone(places, tracee, part->place);
		return;
	}
	if (reads)
		place->reader = tid;
	part->own |= event->written;
	if (part->own == (1U << part->n) - 1 || ++part->touched == PATIENCE)
		watchpoint_clear(tracee, event->slot);
}
