/*
 * Results of all runs in one place, for questions about time: an SQLite file, or
 * a PostgreSQL database for a team.
 *
 *	sqlite:PATH, or a path		a file; made if it is not there
 *	postgresql://USER@HOST/NAME	whatever libpq takes (PQconnectdb)
 *
 * libpq is loaded when it is needed, so that nobody else has to install it.
 *
 * Invariants:
 *  1. A run is added whole, in one transaction, or not at all; adding it again
 *     changes nothing (its key is in the report that is added).
 *  2. What cannot be added is kept in a folder (history_keep()) and added by the
 *     next call that reaches the place: nothing is lost.
 *  3. Texts are parameters, never part of a statement.
 */
#pragma once

#include <stddef.h>
#include <stdio.h>

#include "base/err.h"
#include "base/strv.h"

struct history;

struct err *history_open(const char *url, struct history **ret) _must_check_;
void history_close(struct history *history); /* NULL is fine */
static inline void history_closep(struct history **history)
{
	history_close(*history);
}

/* A run to be added: a report as JSON, with where and when it was made. */
struct history_run {
	const char *key;    /* of this run alone */
	const char *when;   /* "2026-11-18T00:10:00Z" */
	const char *branch; /* "": not known */
	const char *commit; /* "": not known */
	const char *report; /* JSON, as --format json writes it */
};
struct err *history_add(struct history *history,
			const struct history_run *run) _must_check_;

/* Keeps a run in @folder, to be sent later. */
struct err *history_keep(const char *folder,
			 const struct history_run *run) _must_check_;
/* Adds what was kept, oldest first; @ret: how many. */
struct err *history_send(struct history *history, const char *folder,
			 size_t *ret) _must_check_;

/*
 * A table: for each row as many texts as there are columns. @parameters of the
 * statement ($1 …), as many as it has.
 */
struct err *history_ask(struct history *history, const char *sql,
			const char *const *parameters, size_t n,
			struct strv *ret_columns,
			struct strv *ret_cells) _must_check_;
