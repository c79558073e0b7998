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
};

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
	VEC(struct hit) hits;
	bool *polluted; /* by root of the bench */
	size_t roots_n;
	size_t blocks;
	const char *why_not;
	size_t uncompiled; /* stages of which nothing compiles */
	char *missing;	   /* a sentence about a function that is not there */
};

/* Source of a test, and its body; *@ret_found false: not known. */
struct err *search_read_test(const struct search *search, size_t number,
			     struct source_file *ret,
			     struct source_span *ret_body,
			     bool *ret_found) _must_check_;
/* prove.c: how tests end without a patch. */
struct err *search_note_before(struct suite *suite,
			       struct repair_plan *plan) _must_check_;
/* ways.c */
struct err *search_make_ways(struct search *search) _must_check_;
struct err *
search_note_missing(struct search *search,
		    const struct candidate_input *input) _must_check_;
