/*
 * What a hand-written runner passes to its tests, so that a test can be called
 * in the place of another one.
 *
 * All registers for arguments are kept, and as much of the stack as the
 * function's parameters take at most (without debug information, some). In
 * another place, what is on the stack is passed further down: nothing of the
 * runner's own frame is overwritten.
 *
 * An argument may point to something that the runner makes for each call: a
 * block of its set-up, a variable in its frame. Where memory at that address was
 * different before the first test, the place's own argument is passed instead,
 * and what it points to counts as part of the place's fixture: its content,
 * addresses of blocks apart, makes arguments_digest().
 */
#pragma once

#include "native/session.h"

struct arguments;

/* At the entry of @function, which the runner calls as @test by itself. */
struct err *arguments_keep(struct run *run, const struct thread *thread,
			   size_t test, struct raddr function) _must_check_;
void arguments_destroy(struct session *session);
struct err *arguments_take_over(struct session *to,
				const struct session *from) _must_check_;
/* Does any function of the suite take some, as far as known? */
bool arguments_taken(struct session *session);
/* 0: nothing of what is passed is the place's. */
uint64_t arguments_digest(const struct session *session, size_t test);
/*
 * At the entry of a function that the runner calls: it gets what @test gets by
 * itself; where that was not kept, the first argument of its discovery (the
 * adapter's group of it). *@ret_lowered: the stack pointer is that much lower, also when it
 * returns.
 */
struct err *arguments_pass(struct run *run, struct thread *thread, size_t test,
			   uint64_t *ret_lowered) _must_check_;
