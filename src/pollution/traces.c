/*
 * Where what is left was written, and where its readers read it: call stacks, for
 * those who have to mend it. Each place is watched while its test and a few
 * readers run once more.
 */
#include "base/clock.h"
#include "base/log.h"
#include "pollution/pollution_internal.h"

/* Leftovers that are looked at, and readers of each. */
#define TRACES_MAX 40
#define TRACED_READERS ((size_t)3)
/* It takes no longer than this, or a part of the first run if that is longer. */
#define TRACES_PATIENCE NS_PER_S
#define TRACES_PART 2

struct trace_run {
	struct pollution_search *search;
	struct leftover *leftover;
};

static bool is_reader(const struct leftover *leftover, size_t test)
{
	for (size_t i = 0; i < leftover->readers.n; i++) {
		if (leftover->readers.data[i] == test)
			return true;
	}
	return false;
}

static struct err *add_traced_read(struct leftover *leftover, size_t test,
				   const struct call_frame *stack, size_t n)
{
	struct leftover_trace read = {};
	if (leftover->reads.n == TRACED_READERS)
		return NULL;
	TRY(leftover_trace_fill(&read, test, stack, n));
	struct err *err = vec_push(&leftover->reads, read);
	if (err)
		leftover_trace_free(&read);
	return err;
}

static void trace_told(void *data, size_t test, size_t place, bool writes,
		       const struct call_frame *stack, size_t n)
{
	struct trace_run *run = data;
	struct leftover *leftover = run->leftover;
	(void)place;
	if (writes && test == leftover->test)
		search_fail(run->search, leftover_trace_fill(&leftover->written,
							     test, stack, n));
	else if (!writes && is_reader(leftover, test))
		search_fail(run->search,
			    add_traced_read(leftover, test, stack, n));
}

static void trace_limit(void *data, const char *text)
{
	const struct trace_run *run = data;
	search_limit(run->search, text);
}

/* Runs with that place watched. */
static struct err *trace_order(struct pollution_search *search,
			       struct leftover *leftover,
			       const struct suite_place *place,
			       const size_t *order, size_t n)
{
	struct trace_run run = { search, leftover };
	const struct suite_observer observer = {
		.traced = trace_told,
		.limit = trace_limit,
		.data = &run,
	};
	TRY(suite_watch(search->suite, NULL));
	struct err *err =
		suite_run_places(search->suite, order, n, place, 1, &observer);
	return err ? err : take_ptr(search->err);
}

/*
 * What lies in a block is at that address only if all tests before it ran, too.
 * How much of the order has the readers; 0: that takes too long.
 */
static size_t order_of_block(const struct pollution_search *search,
			     const struct leftover *leftover,
			     const size_t *order, size_t n)
{
	uint64_t ns = 0;
	size_t seen = 0;
	size_t wanted = MIN(leftover->readers.n, TRACED_READERS);
	bool begun = false;
	for (size_t i = 0; i < n; i++) {
		ns += search->took[order[i]];
		begun |= order[i] == leftover->test;
		seen += begun && is_reader(leftover, order[i]);
		if (ns > TRACES_PATIENCE)
			return 0;
		if (seen == wanted)
			return seen ? i + 1 : 0;
	}
	return seen ? n : 0;
}

static struct err *trace_one(struct pollution_search *search,
			     struct leftover *leftover, const size_t *order,
			     size_t n)
{
	size_t tests[TRACED_READERS + 1], m = 0;
	struct suite_place place;
	if (!leftover_place(leftover, &place))
		return NULL;
	place.traced = true;
	if (place.from_test != (size_t)-1) {
		m = order_of_block(search, leftover, order, n);
		return m ? trace_order(search, leftover, &place, order, m)
			 : NULL;
	}
	tests[m++] = leftover->test;
	for (size_t i = 0; i < MIN(leftover->readers.n, TRACED_READERS); i++)
		tests[m++] = leftover->readers.data[i];
	return trace_order(search, leftover, &place, tests, m);
}

struct err *search_traces(struct pollution_search *search, const size_t *order,
			  size_t n)
{
	uint64_t start = clock_now();
	uint64_t patience =
		MAX(TRACES_PATIENCE, search->first_ns / TRACES_PART);
	size_t made = 0;
	if (!suite_places_max(search->suite))
		return NULL;
	/* Those that somebody reads first. */
	for (int unread = 0; unread < 2; unread++) {
		for (size_t i = 0; i < search->leftovers.n; i++) {
			struct leftover *leftover = &search->leftovers.data[i];
			if (leftover->change.where != CHANGE_MEMORY ||
			    (leftover->readers.n == 0) != (unread == 1))
				continue;
			if (made == TRACES_MAX || search_is_late(search) ||
			    clock_now() - start > patience)
				return NULL;
			made++;
			TRY(trace_one(search, leftover, order, n));
		}
	}
	return NULL;
}
