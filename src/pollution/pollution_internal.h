/* What the parts of the search share: the run, its effects, its readers. */
#pragma once

#include "base/map.h"
#include "base/regexes.h"
#include "pollution/pollution.h"

struct pollution_search {
	struct suite *suite;
	const struct pollution_options *options;
	const struct suite_observer *outer;
	struct pollution *pollution;
	VEC(struct leftover) leftovers; /* that findings are made of */
	size_t finished;		/* entries of the order of this run */
	size_t first_round;		/* entries that only initialise */
	bool *met; /* by leftover: seen again, while values are compared */
	uint64_t first_ns;	   /* that the first run took */
	uint8_t *outcomes;	   /* by test: in the first run */
	struct map_text originals; /* root → digest before its first change */
	struct regexes include, exclude; /* roots, memory's apart */
	struct err *err;
	/* While places are watched. */
	const size_t *places; /* finding → place + 1, of this run */
};

void search_fail(struct pollution_search *search, struct err *err);
bool search_is_late(const struct pollution_search *search);
struct err *search_run(struct pollution_search *search, const size_t *order,
		       size_t n,
		       const struct suite_observer *observer) _must_check_;
/* The suite's own order, with what --eager adds. */
struct err *
search_run_order(struct pollution_search *search, const size_t *order, size_t n,
		 const struct suite_observer *observer) _must_check_;
/* What is known of that root after that test; NULL: nothing. */
struct leftover *search_leftover_at(struct pollution_search *search,
				    size_t test, const struct change *change);
/* Observers' functions, with the search as data. */
void search_limit(void *data, const char *text);
void search_count_finished(void *data, const struct suite_result *result);

/*
 * readers.c: which tests read what was changed, and would they have changed it.
 */
struct err *search_readers(struct pollution_search *search, const size_t *order,
			   size_t n) _must_check_;
struct err *search_lazy(struct pollution_search *search) _must_check_;

/* values.c: masks what differs from run to run. */
struct err *search_values(struct pollution_search *search, const size_t *order,
			  size_t n) _must_check_;

/* pollution_finding.c: takes @leftover over where it succeeds. */
struct err *pollution_finding_make(const struct finding_run *run,
				   struct leftover *leftover,
				   struct finding *ret) _must_check_;
