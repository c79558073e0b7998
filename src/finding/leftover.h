/*
 * Evidence of pollution: what a test leaves changed under one root, and what
 * that means.
 *
 * The change has at least one path, the first of which the message names.
 */
#pragma once

#include "base/strv.h"
#include "finding/finding.h"
#include "suite/change.h"

enum leftover_effect {
	EFFECT_UNKNOWN,
	EFFECT_SETTLES,	    /* a second run leaves it alone */
	EFFECT_ACCUMULATES, /* a second run changes it again */
};

/* Where a test reads or wrote it: innermost function first. */
struct leftover_trace {
	size_t test;
	struct call_frame *stack;
	size_t n;
};

struct leftover {
	size_t test;
	struct change change;
	struct leftover_trace written;	  /* by the test; empty: not known */
	VEC(struct leftover_trace) reads; /* of some of its readers */
	enum leftover_effect effect;
	VEC(size_t) readers; /* other tests that were seen to read it */
	bool readers_known;
	bool read_plainly; /* not all of them make what they do not find there */
	bool varies;	   /* from process to process */
	bool lazy;   /* whichever test comes first makes the same change */
	size_t same; /* readers that were seen to, alone */
	bool judged; /* whether it is such a cache was determined */
	bool alike;  /* readers that were tried end so without it, too */
	/* An entry of a cache: the same, whichever test adds it. */
	bool keyed;
	bool filled; /* whichever comes first makes some such change */
	size_t fill; /* readers that were seen to, alone */
	/* Of memory: what a second run changed again. */
	unsigned again; /* value_kinds */
	size_t again_places;
	uint64_t
		once; /* digest after the first of the two runs; 0: as before */
	bool came_back; /* the second run ended with the same content */
	/* As it was at first: alone the test leaves it as it is. */
	bool restores;
	/* Its test is the first that uses it: seen where it is there before. */
	bool first_user;
	/* It only counts, and its readers end alike, whatever it is. */
	bool harmless;
	/* It only counts, and a test was seen to end differently because of it. */
	bool followed;
	/* All its readers change it again, too, and end alike right after that. */
	bool used_by_all;
	/* All readers were run right after the test, and passed. */
	bool proven;
	/*
	 * A test that leaves it alone, and alone makes another object where
	 * there was none, plus 1; 0: none.
	 */
	size_t maker;
};

/* A root that a test initialised for the first time: not a finding. */
struct first_use {
	size_t test;
	char *root;
};

/*
 * Variables that were not compared. @why continues "variables …" ("of
 * GoogleTest"); @names is in alphabetical order.
 */
struct left_out {
	char *why;
	struct strv names;
};

extern const struct finding_kind leftover_kind;
/* NULL: of another kind. */
static inline const struct leftover *leftover_of(const struct finding *finding)
{
	return finding->kind == &leftover_kind ? finding->evidence : NULL;
}

void leftover_free(struct leftover *leftover);
void leftover_trace_free(struct leftover_trace *trace);
/* A copy of @stack. */
struct err *leftover_trace_fill(struct leftover_trace *trace, size_t test,
				const struct call_frame *stack,
				size_t n) _must_check_;
/* Numbers that each run counts up or draws anew, and nothing else? */
bool leftover_counts(const struct leftover *leftover);
/* As far as its first change tells. */
bool leftover_may_count(const struct leftover *leftover);
/* The same of what a second run changes; the first did more. */
bool leftover_only_counts_again(const struct leftover *leftover);
/* Nothing but the time at which it was made? */
bool leftover_is_time(const struct leftover *leftover);
/*
 * Of these ids it is proven that all readers pass right after the test: nobody is
 * misled, and they are of low severity; of medium, if everything that comes after
 * depends on it, as on the umask.
 */
struct err *leftovers_prove(struct findings *findings,
			    const struct strv *ids) _must_check_;
/* Would its severity be another one then? */
bool leftover_wants_proof(const struct finding *finding);
/*
 * Does all code that reads it make what it does not find there? Then it is likely a
 * cache, and who reads it does not notice. What was made may have been changed since,
 * though.
 */
bool leftover_is_filled_by_readers(const struct leftover *leftover);
/* Does it point to what is no more? */
bool leftover_is_dead_pointer(const struct leftover *leftover);
/* A cache, a count that no test follows, what another test had changed. */
bool leftover_is_minor(const struct leftover *leftover);
const char *leftover_effect_name(enum leftover_effect effect);
const char *leftover_where_name(enum change_where where);
