/*
 * From an order-dependent test to a source patch that makes it reliable.
 *
 *	repair_search(suite, &request, &settings, &plan);   what to insert where
 *	repair_prove(&plan, &settings);                     does that work?
 *
 * Candidates are calls of the program's own functions, statements of tests that
 * clean up, and statements that put process state back, all as source code. Each
 * is compiled, loaded into a process in which the failing order is about to
 * begin its last test, and called in a copy of it (suite/bench.h). Of those that
 * let the test pass the one is chosen that really puts the state back.
 *
 * Invariants:
 *  1. Only what was built from the patched source, and ran as it should in each
 *     order, is called proven.
 *  2. No file is changed but in the folder for work, and while a patch is
 *     proven; whoever calls provides a file system in which that harms nobody.
 *
 * What it does not do: find order-dependent tests, read results, or know how a
 * program is traced.
 */
#pragma once

#include "base/strv.h"
#include "finding/dependence.h"
#include "finding/repair_patch.h"
#include "suite/suite.h"

/* A finding that is to be fixed. Tests are numbers of the suite. */
struct repair_request {
	char *id;
	enum order_class class;
	bool leftover; /* it misleads nobody yet: only its polluter is known */
	size_t test;   /* the one that fails; of a leftover the polluter */
	struct order_tests failing, passing; /* the test stands last */
	struct order_lists polluters, setters, cleaners;
	struct strv polluted;	/* roots */
	struct order_tests kin; /* other tests that the same roots mislead */
	struct order_tests leavers; /* tests that leave those roots changed */
};
void repair_request_free(struct repair_request *request);
static inline void repair_request_freep(struct repair_request *request)
{
	repair_request_free(request);
}

struct repair_settings {
	const struct suite_watch *watch;
	const char *work;    /* a folder of ours */
	const char *project; /* folder of files outside of this one */
	const char *build;   /* a shell command; NULL: nothing is proven */
	uint64_t deadline;   /* clock_now(); 0: none */
	bool keep;	     /* a proven patch stays, built */
	/* The suite once more, as it is built now. */
	struct err *(*open)(void *data, struct suite **ret);
	void *data;
	const struct suite_observer *observer;
};

/* One way to change one file. */
struct repair_way {
	char *path;	/* of the file */
	char *content;	/* the whole file then */
	char *original; /* and before */
	char *patch;
	char *function; /* that is called; NULL: none */
	char *code;	/* what is inserted, in a line */
	char *where;	/* "at the start of T" */
	char *folder;	/* where the patch is to be applied; NULL: here */
	bool after;	/* it cleans up: nothing is left when the next begins */
	bool exact;	/* it puts the polluted state back */
	bool partial;	/* what misled the test; @rest stays as it was left */
	char *rest;	/* what it does not put back, in words; NULL: nothing */
};

struct repair_outcomes;

struct repair_plan {
	const struct repair_request *request;
	VEC(struct repair_way) ways; /* the best first */
	size_t tried;
	char *why_not; /* there are none because …; or a better idea; or NULL */
	/* Of the suite before: how each test ends in its own order … */
	VEC(enum outcome) own;
	/* … and right after the one that is fixed, and its polluter. */
	VEC(enum outcome) after, after_polluter;
	size_t chosen; /* of the ways */
	bool proven;
	char *function; /* without a way: one that would help; or NULL */
	bool fixed;	/* it did not fail any more: nothing is left to do */
	char *unproven; /* why it is not; NULL: nobody tried */
	uint64_t search_ns, prove_ns;
	uint64_t try_ns; /* of the search, in candidates */
};
void repair_plan_free(struct repair_plan *plan);
static inline void repair_plan_freep(struct repair_plan *plan)
{
	repair_plan_free(plan);
}

struct err *repair_search(struct suite *suite,
			  const struct repair_request *request,
			  const struct repair_settings *settings,
			  struct repair_plan *plan) _must_check_;
/*
 * A function that may put back what was polluted, as a call of it is written:
 * "Bus::get().remove(…)". Nothing is tried; *@ret stays NULL where none shows.
 */
struct err *repair_suggest(struct suite *suite,
			   const struct repair_request *request,
			   const struct repair_settings *settings,
			   char **ret) _must_check_;
/*
 * Builds each way in turn until one is proven. The suite is closed by now; the
 * files are as before afterwards.
 */
struct err *repair_prove(struct repair_plan *plan,
			 const struct repair_settings *settings) _must_check_;
/* What a report says of it. */
struct err *repair_finding_make(const struct finding_run *run,
				const struct repair_plan *plan,
				struct finding *ret) _must_check_;
