/* What the parts of a search for a patch share; for repair/ only. */
#pragma once

#include "repair/candidates.h"
#include "repair/compile.h"
#include "repair/repair.h"
#include "repair/source.h"

/* A candidate that lets the test pass. */
struct hit {
	size_t candidate;
	size_t batch, place;
	bool elsewhere;	  /* it also passes where it passed before */
	bool judged;	  /* the rest is known */
	size_t remaining; /* polluted roots that still differ */
	size_t differing; /* all roots that do */
	size_t leaked;	  /* blocks */
	char *rest;	  /* what is not as before, in words; NULL: nothing */
	bool partial;	  /* that is as the polluter left it, all of it */
};

struct seen_value;

struct search {
	struct suite *suite;
	const struct repair_request *request;
	const struct repair_settings *settings;
	struct repair_plan *plan;
	struct source_file source; /* of the test */
	struct source_span body;
	struct suite_code code;
	struct compiler compiler;
	struct strv declarations;
	struct strv includes; /* that candidates need */
	struct argument_pool pool;
	bool generated;
	struct candidate_list all;
	VEC(struct trial_batch) batches;
	VEC(struct hit) hits; /* the best first, up to @judged */
	size_t judged;
	VEC(struct seen_value)
	seen; /* of polluted roots, before the polluter */
	VEC(struct trial_body) bodies;
	size_t singles;	      /* candidates that were generated at first */
	size_t next, stage;   /* of them: what is tried next */
	bool reduced, paired; /* bodies and pairs were tried */
	bool exhausted;	      /* there is nothing more to try */
	uint64_t patience;    /* until when something better is searched */
	bool *polluted;	      /* by root of the bench */
	struct strv parts;    /* of them: what the polluter changed */
	struct strv values;   /* and what it left there */
	struct strv roots;    /* all that differ after it */
	size_t roots_n;
	size_t blocks, clean_blocks;
	bool raw; /* there is nothing to compile, and @why_not says why */
	const char *why_not;
	size_t uncompiled; /* stages of which nothing compiles */
	/* A sentence about a function that is not there; of a hint: the call. */
	char *missing;
};

/* Source of a test, and its body; *@ret_found false: not known. */
struct err *search_read_test(const struct search *search, size_t number,
			     struct source_file *ret,
			     struct source_span *ret_body,
			     bool *ret_found) _must_check_;
/* Names of files as the test's source has its own. */
void search_settle_files(struct search *search);
void search_free(struct search *search); /* its parts */
bool search_has_ended(const struct search *search);
/* Compiles and tries some; *@helped: each of them. */
struct err *search_try_some(struct search *search,
			    const struct suite_bench *bench, size_t from,
			    size_t n, bool *helped) _must_check_;
struct err *search_add_hit(struct search *search,
			   size_t candidate) _must_check_;
/* bodies.c: tests that clean up, and fixtures; whole bodies, reduced to the statements that it takes. */
struct err *search_read_bodies(struct search *search) _must_check_;
struct err *search_try_bodies(struct search *search,
			      const struct suite_bench *bench) _must_check_;
void bodies_free(struct search *search);
struct candidate_input;
/* What candidates are made of, here. */
struct err *search_make_input(struct search *search,
			      const struct suite_bench *bench,
			      struct candidate_input *ret) _must_check_;
/* raw.c: without a compiler; what helps is a sentence of the plan. */
struct err *search_try_raw(struct search *search) _must_check_;
/* judge.c: all hits since it was called last. */
struct err *search_judge_hits(struct search *search) _must_check_;
/* It puts back what was polluted, and harms nobody. */
bool search_hit_is_sound(const struct search *search, const struct hit *hit);
bool search_is_good(enum outcome outcome);
void hits_free(struct search *search);
/* prove.c: how tests end without a patch. */
struct err *search_note_before(struct suite *suite,
			       struct repair_plan *plan) _must_check_;
/* ways.c */
struct err *search_make_ways(struct search *search) _must_check_;
struct err *
search_note_missing(struct search *search,
		    const struct candidate_input *input) _must_check_;
