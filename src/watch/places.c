#include "watch/places.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/proc.h"
#include "dwarf/frames.h"
#include "watch/readers.h"

/*
 * After this many accesses of one test without a verdict (it writes one byte of
 * eight over and over) there is none.
 */
#define PATIENCE 64

/* A watchpoint of this process, and what the running test did there. */
struct part {
	size_t place;
	struct raddr address;
	unsigned n;
	uint8_t own; /* bytes that the test has written before */
	unsigned touched;
};

struct places {
	struct watch_host host;
	const struct suite_place *list;
	size_t n;		/* in memory */
	bool there[PLACES_MAX]; /* in this process, by now */
	bool done[PLACES_MAX];	/* nothing more to learn in this test */
	struct part parts[WATCHPOINTS];
	unsigned n_parts;
	struct readers *readers; /* of the other places; NULL: there are none */
	/*
	 * Threads from before the first test, which work for all of them, and
	 * those that an earlier test left: what these do when is chance. So is
	 * what one does that this test leaves; it is known when the test ends.
	 */
	struct pids early, left;
	pid_t reader[PLACES_MAX]; /* that thread of the test read it; 0: none */
};

/* The largest aligned piece from @address on that has room in @size bytes. */
static unsigned place_aligned_piece(uint64_t address, uint64_t size)
{
	unsigned n = 8;
	while (n > 1 && (address % n || n > size))
		n /= 2;
	return n;
}

/* One watchpoint a place; what is left over goes to the larger ones. */
static void share_out(struct places *places)
{
	uint64_t covered[PLACES_MAX] = {};
	bool any = true;
	while (places->n_parts < WATCHPOINTS && any) {
		any = false;
		for (size_t i = 0;
		     i < places->n && places->n_parts < WATCHPOINTS; i++) {
			const struct suite_place *place = &places->list[i];
			if (covered[i] >= place->size)
				continue;
			uint64_t at = place->address + covered[i];
			unsigned n = place_aligned_piece(
				at, place->size - covered[i]);
			places->parts[places->n_parts++] = (struct part){
				.place = i,
				.address = RADDR(at),
				.n = n,
			};
			covered[i] += n;
			any = true;
		}
	}
}

struct err *places_create(const struct watch_host *host,
			  const struct suite_place *list, size_t n,
			  struct places **ret)
{
	struct places *places = calloc(1, sizeof(*places));
	if (!places)
		return err_nomem();
	places->host = *host;
	places->list = list;
	while (places->n < n && list[places->n].where == CHANGE_MEMORY)
		places->n++;
	BUG_ON(places->n > PLACES_MAX);
	share_out(places);
	struct err *err = readers_create(host, list, n, &places->readers);
	if (err)
		free(places);
	else
		*ret = places;
	return err;
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
	vec_free(&places->early);
	vec_free(&places->left);
	free(places);
}

/* Does this machine have watchpoints at all? Better said before the first test. */
struct err *places_start(struct places *places,
			 const struct watch_process *process)
{
	if (places->readers)
		TRY(readers_start(places->readers, process));
	if (!places->n)
		return NULL;
	for (size_t i = 0; i < places->n; i++)
		places->there[i] = places->list[i].from_test == (size_t)-1;
	places->early.n = 0;
	for (size_t i = 0; i < tracee_threads(process->tracee); i++)
		TRY(vec_push(&places->early,
			     tracee_thread(process->tracee, i)->tid));
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
	note_left_threads(places, tracee);
	if (places->readers)
		readers_begin(places->readers, tracee);
	memset(places->done, 0, sizeof(places->done));
	memset(places->reader, 0, sizeof(places->reader));
	for (unsigned i = 0; i < places->n_parts; i++) {
		struct part *part = &places->parts[i];
		part->own = 0;
		part->touched = 0;
		if (!places->there[part->place])
			continue;
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
		observer->read(observer->data, test, place);
}

void places_end(struct places *places, struct tracee *tracee, size_t test)
{
	if (tracee_threads(tracee) > 1)
		tracee_reap(tracee); /* those that the test waited for */
	for (size_t i = 0; i < places->n; i++) {
		places->there[i] |= places->list[i].from_test == test;
		if (places->reader[i] && !places->done[i] &&
		    !has_thread(tracee, places->reader[i]))
			tell_reader(places, test, i);
	}
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
	places->done[place] = true;
	for (unsigned i = 0; i < places->n_parts; i++) {
		if (places->parts[i].place == place)
			watchpoint_clear(tracee, i);
	}
}

void places_touched(struct places *places, struct tracee *tracee, size_t test,
		    const struct tracee_event *event)
{
	if (event->slot >= places->n_parts)
		return;
	struct part *part = &places->parts[event->slot];
	if (test == PLACES_NO_TEST || places->done[part->place]) {
		watchpoint_clear(tracee, event->slot);
		return;
	}
	pid_t tid = event->thread->tid;
	if (pids_have(&places->left, tid))
		return; /* none of the test's */
	bool reads = event->read & ~part->own;
	if (reads && places->list[part->place].from_test != (size_t)-1 &&
	    by_allocator(places, tracee, event->thread))
		reads = false;
	if (reads && pids_have(&places->early, tid)) {
		tell_reader(places, test, part->place);
		leave_alone(places, tracee, part->place);
		return;
	}
	if (reads)
		places->reader[part->place] = tid;
	part->own |= event->written;
	if (part->own == (1U << part->n) - 1 || ++part->touched == PATIENCE)
		watchpoint_clear(tracee, event->slot);
}
