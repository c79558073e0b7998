/*
 * Which tests read which places (suite_run_places()): hardware watchpoints on
 * them while tests run.
 *
 * A test reads a place when it looks at a byte of it that it has not written
 * itself before. After the first such look, or when the test has overwritten
 * all of it, the place is left alone until the next test: what is read all the
 * time costs one stop per test. Outside tests nothing counts, nor does what the
 * allocator does to a block that is given back.
 *
 * Of traced places, where they are written and read is told instead. The stack of
 * what a breakpoint's own instruction does, which is executed out of place, is
 * not known.
 *
 * What it does not see: reads by the kernel, and more of a large place than
 * there are watchpoints left (four of 8 bytes, at least one a place).
 * Places that are files or process state are for readers.h.
 */
#pragma once

#include "tracee/watchpoint.h"
#include "watch/host.h"

struct places;

/* In memory, at the same time. */
#define PLACES_MAX WATCHPOINTS
#define PLACES_NO_TEST ((size_t)-1)

/*
 * @list outlives it; those in memory come first. Of these, the first PLACES_MAX
 * are watched that are there and have not had their last test (suite_place).
 */
struct err *places_create(const struct watch_host *host,
			  const struct suite_place *list, size_t n,
			  struct places **ret) _must_check_;
void places_destroy(struct places *places); /* NULL is fine */
static inline void places_destroyp(struct places **places)
{
	places_destroy(*places);
}

/*
 * One more in memory, after @test, with the next number; false: there are
 * PLACES_MAX, the machine has no watchpoints, or another test has begun since.
 * Only where @list was empty.
 */
bool places_add(struct places *places, const struct suite_place *place,
		size_t test);

struct err *places_start(struct places *places,
			 const struct watch_process *process) _must_check_;
/* Does it follow the calls of its process, and tell the host's saver? */
bool places_follow(const struct places *places);
void places_stop(struct places *places); /* before its process goes away */
void places_begin(struct places *places, struct tracee *tracee);
void places_end(struct places *places, struct tracee *tracee, size_t test);
/* @test is running; PLACES_NO_TEST: none is. */
void places_touched(struct places *places, struct tracee *tracee, size_t test,
		    const struct tracee_event *event);
