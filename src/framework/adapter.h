/*
 * What adapters share: where members of a framework's types lie, and the errors
 * of a framework that differs from what an adapter expects.
 */
#pragma once

#include "native/run.h"

#define ANYWHERE UINT64_MAX

/*
 * One member of one of the framework's types, as a row of a table: its offset
 * becomes a member of the adapter's own layout, which is a struct of uint64_t.
 */
struct adapter_member {
	uint64_t *at;	    /* in the layout */
	const char *type;   /* of the framework */
	const char *member; /* NULL: the size of the type */
	uint64_t known;	    /* where there is no debug information */
	uint64_t end;	    /* it begins before this, or ANYWHERE */
};

/*
 * Fills in a layout from debug information, which may be anything: if one offset
 * is out of range, all are as known, and the result is false.
 */
bool adapter_find_members(const struct run *run,
			  const struct adapter_member *rows, size_t n);
/* All as known: the adapter found that they do not fit together. */
void adapter_reset_members(const struct run *run,
			   const struct adapter_member *rows, size_t n);

/*
 * Breaks at functions by symbol, and at what compilers make of them: gcc may leave
 * a function's beginning in its caller and the rest in "f.part.0", or a version
 * for certain arguments in "f.constprop.0". *@ret_found (may be NULL): how many
 * there are.
 */
struct err *adapter_break_parts(struct run *run, const char *const *symbols,
				size_t n, run_hook *hook,
				size_t *ret_found) _must_check_;

/* The framework is there but something in it is not; @what is for the log. */
struct err *adapter_unknown_version(const struct run *run,
				    const char *what) _must_check_;
/* A function through which it is driven is not in the program. */
struct err *adapter_function_missing(const struct run *run, const char *symbol,
				     const char *hint) _must_check_;

/*
 * Would the framework by itself run the order from its first test on? It leaves
 * out tests that are disabled.
 */
bool adapter_runs_naturally(const struct run *run);

/* Did the user give the program this argument? */
bool adapter_has_argument(const struct run *run, const char *argument);

/*
 * Where the thread is in the project's own code, not the framework's; *@ret_file is
 * NULL where that is not known.
 */
struct err *adapter_find_place(struct run *run, struct thread *thread,
			       char **ret_file,
			       unsigned *ret_line) _must_check_;
