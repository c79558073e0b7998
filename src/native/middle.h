/*
 * Copies of a process on its way through an order (suite_keep_middle()): what
 * comes after one of them can be run again without what comes before.
 *
 * The process goes on as if there were none; a copy costs a fork and a fault for
 * each page that is written again. They are made at times that grow with what has
 * passed, so that when the order ends one of them is near its middle.
 *
 * There is none where the process has threads, or tests changed files.
 */
#pragma once

#include "native/session.h"

/* suite_keep_middle() and suite_middle(). */
struct err *middle_keep(struct suite *suite, bool keeps) _must_check_;
size_t middle_find(struct suite *suite, const size_t *order, size_t n);

/* The first process of an order is about to begin; the last one has ended. */
void middle_begin(struct session *session);
void middle_end(struct session *session);
/* run.c, before @hook is called: makes a copy if it is time for one. */
void middle_pass(struct run *run, struct thread *thread, struct hook hook);
/* The process that goes on from there, for session->rest. */
struct err *middle_resume(struct session *session,
			  struct run **ret) _must_check_;
/* What stands there; NULL: none. */
struct tracee *middle_origin(const struct session *session);
void middle_forget(struct session *session);
