/*
 * What both databases can do: statements with parameters $1, $2, …, each used
 * for the first time in that order (so that SQLite numbers them alike).
 */
#pragma once

#include "history/history.h"

struct database_ops {
	/* @ret_columns and @ret_cells may be NULL. */
	struct err *(*run)(void *handle, const char *sql,
			   const char *const *parameters, size_t n,
			   struct strv *ret_columns, struct strv *ret_cells);
	void (*close)(void *handle);
};

struct history_database {
	const struct database_ops *ops;
	void *handle;
};

struct err *database_open_sqlite(const char *path,
				 struct history_database *ret) _must_check_;
struct err *database_open_postgres(const char *url,
				   struct history_database *ret) _must_check_;
