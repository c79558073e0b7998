/* What the parts of the search share: the run, its effects, its readers. */
#pragma once

#include "base/map.h"
#include "base/regexes.h"
#include "pollution/pollution.h"

/* Changes of variables that are left out. */
struct omitted_change {
	size_t test;
	uint64_t place;
};
struct omitted {
	struct map_text numbers; /* place in a variable → its number */
	VEC(uint64_t) counts;	 /* by place: tests that change it */
	VEC(struct omitted_change) changes;
};

/* early.c: places that the first run watches, and who read them in it. */
struct early_place {
	uint64_t address;
	size_t test; /* after which it was watched */
};
struct early_read {
	size_t test, place;
};
struct early_readers {
	VEC(struct early_place) places;
	VEC(struct early_read) reads;
};

struct crew;

/* Parts of a run, as suite_run_rest() divides it. */
enum search_half {
	HALF_FIRST = 1 << 0,
	HALF_REST = 1 << 1,
	HALF_BOTH = HALF_FIRST | HALF_REST,
};

/* Runs in which a test ended otherwise than in the first. */
enum search_unsteady {
	UNSTEADY_AGAIN = 1 << 0, /* right after itself */
	UNSTEADY_SAME = 1 << 1,	 /* in the same order: by itself */
	UNSTEADY_APART = 1 << 2, /* elsewhere: alone, before or after others */
};

struct pollution_search {
	struct suite *suite;
	struct crew *crew; /* while it is determined what changes mean */
	const struct pollution_options *options;
	const struct suite_observer *outer;
	struct pollution *pollution;
	VEC(struct leftover) leftovers; /* that findings are made of */
	size_t finished;		/* entries of the order of this run */
	uint64_t deadline;		/* as pollution_options has it */
	struct suite_watch memory; /* as the options say, of memory alone */
	/* While values are compared. */
	bool *met;	   /* by leftover: seen again; NULL: they are not */
	unsigned compared; /* enum search_half: with what was run again */
	uint64_t first_ns; /* that the first run took */
	size_t middle;	   /* entry from which its rest can be run; 0: none */
	uint8_t *outcomes; /* by test: in the first run */
	uint8_t *ended;	   /* by test: in its last run after that */
	uint64_t *took;	   /* by test: ns of the first run */
	uint8_t *unsteady; /* by test: enum search_unsteady */
	enum search_unsteady how;    /* what runs are now */
	struct map_text left_out;    /* names that are noted */
	struct originals *originals; /* what was there before any change */
	struct omitted omitted;
	struct early_readers early;
	struct keyed *keyed;		 /* while readers run alone */
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
/* What is known of that root after that test; NULL: nothing. */
struct leftover *search_leftover_at(struct pollution_search *search,
				    size_t test, const struct change *change);
/* Observers' functions, with the search as data. */
void search_limit(void *data, const char *text);
void search_left_out(void *data, const char *name, const char *why);
void search_count_finished(void *data, const struct suite_result *result);
/* To be called for each result but those of the first run. */
void search_note_verdict(struct pollution_search *search,
			 const struct suite_result *result,
			 enum search_unsteady how);

/*
 * originals.c: a test that makes it again what it was before the first of them
 * changed it cleans up after others. To be asked about each change once, in the
 * order in which they happened.
 */
struct originals;
struct err *originals_create(struct originals **ret) _must_check_;
void originals_destroy(struct originals *originals); /* NULL is fine */
struct err *originals_restored(struct originals *originals,
			       const struct change *change,
			       bool *ret) _must_check_;

/* Runs each polluter twice in a row, to see what the second run does. */
struct err *search_effects(struct pollution_search *search) _must_check_;
/* About what that takes. */
uint64_t search_effects_ns(const struct pollution_search *search);
/*
 * readers.c: which tests read what was changed, and would they have changed it.
 */
struct err *search_readers(struct pollution_search *search, const size_t *order,
			   size_t n) _must_check_;
/*
 * Does the first run of search_readers() compare values, too? Only of memory: a
 * process can be followed once.
 */
bool search_compares_values(const struct pollution_search *search);
/* How many runs are needed to watch all places in memory. */
size_t search_reader_runs(const struct pollution_search *search,
			  const size_t *order, size_t n);
/* What can be watched of it; false: nothing. */
bool leftover_place(const struct leftover *leftover, struct suite_place *ret);
struct err *leftover_add_reader(struct leftover *leftover, size_t test,
				bool fills) _must_check_;
/* Variables of the leftovers; ends with NULL. */
struct err *leftover_roots(const struct pollution_search *search,
			   const char ***ret) _must_check_;
struct err *search_lazy(struct pollution_search *search) _must_check_;
/* first_users.c: what those leave that are the first to use a variable. */
struct err *search_first_users(struct pollution_search *search) _must_check_;

/*
 * keyed.c: caches with one entry a key. To be told of all changes that any run
 * has shown, by the test that made them.
 */
struct keyed;
struct err *keyed_create(struct keyed **ret) _must_check_;
void keyed_destroy(struct keyed *keyed); /* NULL is fine */
struct err *keyed_note(struct keyed *keyed, size_t test,
		       const struct change *change) _must_check_;
/* Is it of a root whose entries are the same, whichever test adds them? */
bool keyed_is_cache(const struct keyed *keyed, const struct change *change);

/* During the first run: watches the place of what a test has just left. */
void early_watch(struct pollution_search *search,
		 const struct leftover *leftover);
void early_note_read(void *data, size_t test, size_t place,
		     bool fills); /* observer's */
/* NULL: it was not watched. */
const struct early_place *early_find(const struct early_readers *early,
				     const struct suite_place *place);
/* After that run: tells the leftovers who read them. */
struct err *early_tell(struct pollution_search *search) _must_check_;
void early_free(struct early_readers *early);

/*
 * verdicts.c: do tests that read what only counts end alike, whatever it is?
 */
struct err *search_verdicts(struct pollution_search *search,
			    const size_t *order, size_t n) _must_check_;

/* Runs a test after another that ran a few times, to see how it ends there. */
struct err *search_run_after(struct pollution_search *search, size_t other,
			     size_t test) _must_check_;

/* made.c: what tests leave in objects that they are the first to need. */
struct err *search_made(struct pollution_search *search, const size_t *order,
			size_t n) _must_check_;

/*
 * values.c: masks what differs from run to run. Between the two, any run of the
 * whole suite may have search_values_changed() told of its changes; without such
 * a run search_values_end() makes one, and more where some were not met.
 */
struct err *search_values_begin(struct pollution_search *search) _must_check_;
void search_values_changed(void *data, size_t entry, size_t test,
			   const struct change *changes, size_t n);
struct err *search_values_end(struct pollution_search *search,
			      const size_t *order, size_t n) _must_check_;

/* traces.c: where what is left was written, and where readers read it. */
struct err *search_traces(struct pollution_search *search, const size_t *order,
			  size_t n) _must_check_;

/* left_out.c: of pollution.left_out. */
void left_out_sort(struct pollution *pollution);
void left_out_free(struct pollution *pollution);

/* omitted.c: an observer's function; what it means, of so many tests. */
void search_omitted(void *data, size_t test, const char *name, uint64_t offset);
struct err *omitted_judge(struct pollution_search *search,
			  size_t tests) _must_check_;
void omitted_free(struct omitted *omitted);

/* pollution_finding.c: takes @leftover over where it succeeds. */
struct err *pollution_finding_make(const struct finding_run *run,
				   struct leftover *leftover,
				   struct finding *ret) _must_check_;
