/*
 * Candidates: statements that may put back what tests left, as source code, the
 * likeliest first.
 */
#pragma once

#include "repair/repair.h"
#include "repair/source.h"
#include "suite/bench.h"

struct repair_candidate {
	char *code;	/* statements, a line each */
	char *function; /* that is called; NULL: none in particular */
	char *include;	/* '#include <x.h>' that it needs; NULL: none */
	/*
	 * If it depends on this machine it is not what a patch says: that saves
	 * in the polluter, and restores there. NULL: the code itself.
	 * @release: @restore is a call that gives 0 where it succeeds, and what
	 * was saved has to be released after it. NULL: @restore is statements.
	 */
	char *save, *restore, *release;
	unsigned arguments;
	unsigned score; /* less is likelier */
	unsigned distance;
	size_t batch, place; /* when it was compiled; place BATCH_NONE: not */
	bool template; /* from the state itself, no call of the program's */
	bool fixture;  /* what its file does around all tests, once more */
};
DEFINE_VEC(candidate_list, struct repair_candidate)
void candidate_free(struct repair_candidate *candidate); /* its parts */
void candidates_free(struct candidate_list *list);
static inline void candidates_freep(struct candidate_list *list)
{
	candidates_free(list);
}

/* What arguments are made of. */
struct argument_pool {
	struct strv texts, numbers; /* as source has them */
	struct strv plain;	    /* texts as they are */
};

struct candidate_input {
	struct suite *suite;
	const struct repair_request *request;
	const struct suite_code *code;
	const struct source_file *source; /* of the test that is fixed */
	const struct suite_bench *bench;
	const bool *polluted; /* by root of the bench: is to be put back */
	const struct argument_pool *pool;
	bool cxx;
};

/* What put process state and files back; what puts visible variables back. */
struct err *candidates_from_state(const struct candidate_input *input,
				  struct candidate_list *ret) _must_check_;
/* Calls of the program's functions. */
struct err *candidates_from_functions(const struct candidate_input *input,
				      struct candidate_list *ret) _must_check_;
/*
 * The likeliest function among them that cleans up, by its name and code, as a call
 * of it is written: "pool_close(…)". *@ret stays NULL where none is.
 */
struct err *candidates_likeliest(const struct candidate_input *input,
				 char **ret) _must_check_;
/* What its file calls around all tests: clean-up, then set-up again. */
struct err *candidates_from_fixtures(const struct candidate_input *input,
				     struct candidate_list *ret) _must_check_;
/* A test, or a part of a fixture, whose statements may help. */
struct trial_body {
	struct strv statements; /* a line each, without assertions */
	struct strv names;	/* what each declares, a blank between two */
	VEC(size_t) parts;	/* of which test each is: a block of its own */
	VEC(bool) asserted;	/* calls out of an assertion, each */
	size_t pinned;		/* so many come first, and none is left out */
};
void trial_body_free(struct trial_body *body);
/* Appends those of a span of the file, as one part. */
struct err *trial_body_read(const struct source_file *source,
			    struct source_span span,
			    struct trial_body *ret) _must_check_;
/* Lines that none of its candidates goes without; before all others. */
struct err *trial_body_pin(const char *code,
			   struct trial_body *ret) _must_check_;
/* Each statement, and runs of them, with the declarations that they need. */
struct err *candidates_from_body(const struct trial_body *body,
				 struct candidate_list *ret) _must_check_;
/* Those of its statements that are chosen, and the declarations they need. */
struct err *candidates_choose(const struct trial_body *body, const bool *chosen,
			      struct candidate_list *ret) _must_check_;
/* Each of some followed by each other. */
struct err *candidates_pair(const struct candidate_list *from, size_t n,
			    struct candidate_list *ret) _must_check_;
void candidates_sort(struct candidate_list *list);
/* A function that could do it and that no other file can name; or NULL. */
const struct routine *candidates_hidden(const struct candidate_input *input,
					const unsigned *distances);
/* Is it one of the suite's tests, or what runs them? */
bool candidate_is_runners(const struct candidate_input *input,
			  const struct routine *routine);
unsigned candidate_score(const struct routine *routine, unsigned distance);
/* A call that needs no compiler, and how it would be written. */
struct raw_candidate {
	struct suite_raw_call call;
	const struct routine *routine;
	unsigned score;
};
DEFINE_VEC(raw_list, struct raw_candidate)
/* The likeliest first; texts are those of @input's pool and live as long. */
struct err *candidates_raw(const struct candidate_input *input,
			   struct raw_list *ret) _must_check_;
/* "counter_set(7)" */
struct err *candidate_raw_text(const struct candidate_input *input,
			       const struct raw_candidate *candidate,
			       char **ret) _must_check_;
struct err *candidates_rank(const struct candidate_input *input,
			    unsigned **ret) _must_check_;
