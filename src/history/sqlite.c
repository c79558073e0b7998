#include <sqlite3.h>
#include <string.h>

#include "base/macro.h"
#include "history/database.h"

#define BUSY_MS 30000

static struct err *sqlite_error(sqlite3 *db)
{
	return err_create(ERR_SUITE, "SQLite: %s", sqlite3_errmsg(db));
}

static void sqlite_finalizep(sqlite3_stmt **statement)
{
	sqlite3_finalize(*statement);
}

static struct err *add_row(sqlite3_stmt *statement, struct strv *ret)
{
	for (int i = 0; ret && i < sqlite3_column_count(statement); i++) {
		const unsigned char *text = sqlite3_column_text(statement, i);
		TRY(strv_add(ret, text ? (const char *)text : ""));
	}
	return NULL;
}

static struct err *sqlite_run(void *handle, const char *sql,
			      const char *const *parameters, size_t n,
			      struct strv *ret_columns, struct strv *ret_cells)
{
	_cleanup_(sqlite_finalizep) sqlite3_stmt *statement = NULL;
	int status = sqlite3_prepare_v2(handle, sql, -1, &statement, NULL);
	if (status != SQLITE_OK)
		return sqlite_error(handle);
	for (size_t i = 0; i < n; i++) {
		if (sqlite3_bind_text(statement, (int)i + 1, parameters[i], -1,
				      SQLITE_STATIC) != SQLITE_OK)
			return sqlite_error(handle);
	}
	for (int i = 0; ret_columns && i < sqlite3_column_count(statement); i++)
		TRY(strv_add(ret_columns, sqlite3_column_name(statement, i)));
	while ((status = sqlite3_step(statement)) == SQLITE_ROW)
		TRY(add_row(statement, ret_cells));
	return status == SQLITE_DONE ? NULL : sqlite_error(handle);
}

static void sqlite_close(void *handle)
{
	sqlite3_close_v2(handle);
}

static const struct database_ops sqlite_ops = { sqlite_run, sqlite_close };

struct err *database_open_sqlite(const char *path, struct history_database *ret)
{
	sqlite3 *db = NULL;
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
	if (sqlite3_open_v2(path, &db, flags, NULL) != SQLITE_OK) {
		struct err *err =
			err_create(ERR_SUITE, "cannot open '%s': %s", path,
				   db ? sqlite3_errmsg(db) : "out of memory");
		sqlite3_close_v2(db);
		return err;
	}
	sqlite3_busy_timeout(db, BUSY_MS);
	/* What is in the file is not trusted to run anything. */
	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	*ret = (struct history_database){ &sqlite_ops, db };
	return NULL;
}
