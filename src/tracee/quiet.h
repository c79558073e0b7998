/*
 * Functions that return at once, many at a time.
 *
 * A function with a breakpoint at its entry can be skipped by moving the thread
 * that arrives there, which costs a stop. Where thousands have to be skipped,
 * their code is changed instead: no thread stops at a quiet function.
 *
 * What is needed is gathered once (quiet_create()) and serves the tracee and
 * all of its copies. Functions that are too short or overlap are not touched;
 * neither is code that has changed: they keep their breakpoints, also while the
 * others are quiet. Any change of breakpoints ends it, so callers that depend
 * on it ask for it again; copies of a quiet tracee are quiet.
 */
#pragma once

#include "tracee/tracee.h"

struct quiet;

struct quiet_function {
	struct raddr address;
	uint64_t size;
	struct arch_result result;
};

/*
 * Those that have a breakpoint at their entry; it outlives the quiet tracees.
 */
struct err *quiet_create(struct tracee *tracee,
			 const struct quiet_function *functions, size_t n,
			 struct quiet **ret) _must_check_;
void quiet_destroy(struct quiet *quiet); /* NULL is fine */

/*
 * All but the one at @except. Nothing happens where the tracee has several
 * threads: code that they may be executing cannot be changed.
 */
struct err *quiet_begin(struct tracee *tracee, const struct quiet *quiet,
			struct raddr except) _must_check_;
struct err *quiet_end(struct tracee *tracee) _must_check_;
bool quiet_is(const struct tracee *tracee);
