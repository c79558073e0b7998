/*
 * A program, its copies (checkpoint.h), and all processes that they started:
 * the tracees that live in one nest.
 *
 * Processes that the tested program starts go free, but they end with the
 * process that started them. A copy may rely on what was started before it was
 * made (a server that main() starts), so each tracee has the list of those:
 * what ran when it was made, and what appeared while it ran itself. A process
 * that is on the list of no tracee any more is killed.
 *
 * Without a child that went free nothing is looked at, and nothing costs time.
 */
#pragma once

#include "base/err.h"

struct brood;
struct pids;
struct nest;
struct tracee;

/* @tracee is the first in it. The nest ends with the last. */
struct err *brood_create(struct nest *nest, struct tracee *tracee) _must_check_;
/* @copy was just made of @from. */
struct err *brood_add_copy(struct tracee *from,
			   struct tracee *copy) _must_check_;
/* A child of a tracee in it goes free. */
void brood_note_child(struct tracee *parent);
/* @tracee is about to run. */
void brood_run(struct tracee *tracee);
/* Adds what @tracee started, or those that it was copied from, and what is alive. */
struct err *brood_started(struct tracee *tracee, struct pids *ret) _must_check_;
/* @tracee is about to be killed, or ended on its own. */
void brood_prepare_end(struct tracee *tracee);
/* @tracee is gone: so is, now, what only it had started. */
void brood_leave(struct tracee *tracee);
